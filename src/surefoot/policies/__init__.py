"""Every way to get a policy.

A :class:`Policy` belongs to one task and decides among the applicable actions that are not silent.
It is a function: the same state, the same decision. :func:`as_policy` makes one of a table, a
callable, a fitted model or a name, :func:`load_policy` of what stands on the command line. What
learned policies are made of is in ``models``, which file is read by whom in ``formats``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import _core
from surefoot.errors import InputError, Unsupported, nearest_hint, printable, quoted, shown
from surefoot.files import sha256_of
from surefoot.options import MAX_INT, whole
from surefoot.policies import builtin
from surefoot.policies.callables import (
    Batched,
    fed,
    first_of,
    many,
    outputs_of,
    predicting,
    predicts,
    random_of,
    single,
    state_rows,
)
from surefoot.policies.decisions import policy_error
from surefoot.policies.foreign import check_not_foreign
from surefoot.policies.tables import Table, read_table
from surefoot.python_file import as_script, named_in, split_name
from surefoot.tasks import require_task
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Feature, Task

if TYPE_CHECKING:
    from surefoot.policies.interface import Interface
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Model, ModelKind

RULES = ("first", "random")
SEED_SIGN = "?seed="
_OF_FORMAT = re.compile(r"(.+?\.py:\w+):(.+)", re.DOTALL)
BUILT_IN = re.compile(rf"first|random(\?seed=\d+)?|{builtin.PREFIX}.*", re.ASCII | re.DOTALL)
"""policies that come with Surefoot: to load one by its name reads nobody else's file"""


class Policy:
    """A policy of one task. Make one with ``load_policy``, or give a callable, a table or a fitted
    model where a policy is wanted.

    ``name`` is what ``load_policy`` takes, where it came from there; ``file`` and ``sha256`` are of
    its file, if it has one (several files that belong together have one SHA-256). A learned policy
    has a ``model`` and the ``interface`` between the task and this. It decides for the best-scored
    applicable action, or, if it is ``unfiltered``, for the best-scored one of all. ``notes`` say
    what had to be assumed. A policy that comes with Surefoot has a ``card``. ``alone`` is what its
    file says without an interface from elsewhere, ``file_sha256`` the hash of that file; both are
    None where the file alone does not tell the model. ``format`` is the one from outside that was
    named to read the file, None where the file tells its own.
    """

    def __init__(
        self,
        task: Task,
        name: str,
        *,
        core: Any,
        sha256: str | None = None,
        file: Path | None = None,
        model: Model | None = None,
        interface: Interface | None = None,
        unfiltered: bool = False,
        notes: tuple[str, ...] = (),
    ) -> None:
        self.task = task
        self.name = name
        self.core = core
        self.sha256 = sha256
        self.file = file
        self.model = model
        self.interface = interface
        self.unfiltered = unfiltered
        self.notes = notes
        self.card: builtin.Card | None = None
        self.alone: Loaded | None = None
        self.file_sha256: str | None = None
        self.format: str | None = None
        self._batched: Batched | None = None
        self._scorer: object = None
        self._table: Table | None = None

    def decide(self, state: object) -> str:
        """Return the action the policy takes. Raises InputError if there is nothing to decide, or
        if the policy's decision cannot be taken.
        """
        return self._asked(self.core.decide, [state])[0]

    def decide_all(self, states: Iterable[object]) -> list[str]:
        """Return the actions the policy takes in many states, faster than one by one."""
        return self._asked(self.core.decide_all, states)

    def _asked(self, ask: Any, states: Iterable[object]) -> list[str]:
        packed = b"".join(map(self.task.packed, states))
        try:
            choice = ask(self.task.core, packed)
        except _core.ModelError as error:
            raise self.task.model_error(error) from None
        except _core.PolicyError as error:
            raise policy_error(self.task, error) from None
        numbers = [choice] if isinstance(choice, int) else choice
        names = self.task.actions
        return [names[number] for number in numbers]

    def scores(self, state: object) -> dict[str, float]:
        """Return what the policy thinks of each action it was made for, applicable or not.

        Raises InputError (``no-scores``) for a policy that gives none.
        """
        packed = self.task.packed(state)
        if self.model is not None and self.interface is not None:
            row = self.scorer.scores(fed(self.interface, self.task, packed))[0]
            return dict(zip(self.interface.outputs, map(float, row), strict=True))
        if self._batched is not None:
            answer: Any = self._batched(state_rows(self.task, packed))
            if getattr(answer, "ndim", 0) == 2:
                outputs = outputs_of(self._batched, self.task)
                return dict(zip(outputs, map(float, answer[0]), strict=True))
        raise InputError("no-scores", f"policy {quoted(self.name)} gives no scores")

    def renamed(self, name: str, *, file: Path | None, sha256: str | None) -> Policy:
        """Return the same policy under another name, as read from another file or from none."""
        made = object.__new__(type(self))
        made.__dict__ |= self.__dict__
        made.name, made.file, made.sha256, made.card = name, file, sha256, None
        made.format = self.format if file == self.file else None
        return made

    def copied(self, name: str, *, file: Path) -> Policy:
        """Return the policy as it is read from a copy of its file, with the same interface given as
        plain data.
        """
        from surefoot.policies.interface import Origin

        assert self.interface is not None and self.alone is not None
        made = self.renamed(name, file=file, sha256=self.file_sha256)
        made.interface = replace(self.interface, origin=Origin())
        return made

    @property
    def is_python(self) -> bool:
        """Whether code that is not ours decides: nothing but asking tells what it is."""
        is_callable = isinstance(self.core, _core.CallablePolicy)
        return is_callable and self.model is None and not BUILT_IN.fullmatch(self.name)

    @property
    def model_kind(self) -> ModelKind | None:
        """Of which kind the model is; None without a model."""
        return None if self.model is None else self.model.kind

    @property
    def scorer(self) -> Any:
        """The core's form of the model, which scores rows of inputs. None without a model."""
        if self._scorer is None and self.model is not None:
            self._scorer = self.model.scorer()
        return self._scorer

    def __reduce__(self) -> tuple[object, ...]:
        """Say how to make the policy again: with the same decisions, and from the same file."""
        return _made_again, (*self._recipe(), self.__getstate__())

    def __getstate__(self) -> dict[str, object]:
        kept = ("name", "sha256", "file", "notes", "card", "alone", "file_sha256", "format")
        return {member: getattr(self, member) for member in kept}

    def _recipe(self) -> tuple[Callable[..., Policy], tuple[object, ...]]:
        """Return what makes the policy, and of what."""
        if self.model is not None and self.interface is not None:
            parts = (self.model, self.interface, self.unfiltered)
            return _learned_again, (self.name, self.task, *parts)
        if self._table is not None:
            return _table, (self.name, self.task, self._table)
        if isinstance(self.core, _core.FirstPolicy):
            return load_policy, ("first", self.task)
        if isinstance(self.core, _core.RandomPolicy):
            return load_policy, (f"random{SEED_SIGN}{self.core.seed}", self.task)
        raise Unsupported(
            "policy-not-picklable",
            f"policy {quoted(self.name)} cannot be pickled: it is Python code",
            hint="load it by its name, FILE.py:NAME, where it is needed",
        )

    def __repr__(self) -> str:
        return f"<Policy {self.name!r} of {self.task.name!r}>"


def _made_again(
    make: Callable[..., Policy], parts: tuple[object, ...], state: Mapping[str, object]
) -> Policy:
    policy = make(*parts)
    for member, value in state.items():
        setattr(policy, member, value)
    return policy


def _learned_again(
    name: str, task: Task, model: Model, interface: Interface, unfiltered: bool
) -> Policy:
    from surefoot.policies.loaded import Loaded

    return _learned(name, task, Loaded(model, interface=interface, unfiltered=unfiltered))


# -- from objects ----------------------------------------------------------------------------


def as_policy(
    policy: object,
    task: Task,
    *,
    seed: int = 0,
    interface: Any = None,
    unfiltered: bool | None = None,
) -> Policy:
    """Return ``policy`` as a policy of the task.

    It may be a Policy of this task; text or a path, which goes to :func:`load_policy`; a mapping
    from states to names of actions; a callable that takes a State and returns the name of an
    action; what ``surefoot.batched`` returns; a Network, Trees or Rules; or a fitted model of
    XGBoost, LightGBM, scikit-learn or Stable-Baselines3, or a ``torch.nn.Sequential``. A model of
    Stable-Baselines3 on a task of an environment that is stepped is asked with observations.
    """
    task = require_task(task)
    if isinstance(policy, Policy):
        if policy.task is not task:
            raise InputError("policy-other-task", f"{policy!r} is not a policy of {task!r}")
        return policy
    more = {"interface": interface, "unfiltered": unfiltered}
    if isinstance(policy, str | Path):
        return load_policy(str(policy), task, seed=seed, **more)
    name = getattr(policy, "__name__", type(policy).__name__)
    return _made_of(policy, task, name=name, **more)


def _made_of(
    thing: object, task: Task, *, name: str, interface: object, unfiltered: bool | None
) -> Policy:
    from surefoot.policies.fitted import model_of

    if isinstance(thing, type):
        kind = printable(thing.__name__)
        raise InputError(
            "not-a-policy",
            f"{quoted(kind)} is a class, not a policy",
            hint=f"give an object of it: {kind}(...)",
        )
    if task.observation is not None and predicts(thing):
        _refuse_options(name, interface=interface, unfiltered=unfiltered)
        return Policy(task, name, core=predicting(task, thing))
    if (loaded := model_of(thing)) is not None:
        return _learned(name, task, loaded, interface=interface, unfiltered=unfiltered)
    check_not_foreign(thing)
    _refuse_options(name, interface=interface, unfiltered=unfiltered)
    if isinstance(thing, Mapping):
        return _table(name, task, Table.of(thing.items(), task))
    if isinstance(thing, Batched):
        made = Policy(task, name, core=many(task, thing))
        made._batched = thing
        return made
    if callable(thing):
        return Policy(task, name, core=single(task, thing))
    raise InputError(
        "not-a-policy",
        f"{shown(thing)} is not a policy",
        hint="give a name, a callable from State to the name of an action, or a table of these",
    )


def _learned(
    name: str,
    task: Task,
    loaded: Loaded,
    *,
    interface: object = None,
    unfiltered: bool | None = None,
    hint: str | None = None,
) -> Policy:
    """Return the policy of a model, held against the task."""
    from surefoot.policies.binding import bound_to, core_of
    from surefoot.policies.formats import given_interface, with_interface

    loaded = with_interface(loaded, given_interface(interface))
    loaded = bound_to(loaded, task, hint=hint)
    assert loaded.interface is not None
    is_unfiltered = bool(loaded.unfiltered) if unfiltered is None else unfiltered
    scorer = loaded.model.scorer()
    core = core_of(task, scorer, loaded.interface, unfiltered=is_unfiltered)
    policy = Policy(
        task,
        name,
        core=core,
        model=loaded.model,
        interface=loaded.interface,
        unfiltered=is_unfiltered,
        notes=loaded.notes,
    )
    policy._scorer = scorer
    return policy


def _refuse_options(name: str, *, interface: object, unfiltered: bool | None) -> None:
    if interface is not None or unfiltered:
        option = "interface" if interface is not None else "unfiltered"
        raise InputError(
            "bad-option",
            f"{quoted(name)} takes no {option}",
            hint="networks, trees and rules do",
        )


# -- from text -------------------------------------------------------------------------------


def load_policy(
    source: object,
    task: Task,
    *,
    seed: int = 0,
    interface: Any = None,
    unfiltered: bool | None = None,
) -> Policy:
    """Return the policy of a file, ``first``, ``random``, ``builtin:NAME`` or ``FILE.py:NAME``.

    ``first`` takes the applicable action that comes first in the task. ``random`` takes one that
    depends on the seed and the state only; ``random?seed=3`` gives the seed with it.
    ``builtin:NAME`` is a trained policy that comes with Surefoot, for one of the built-in families.
    ``FILE.py:NAME`` runs that file; NAME is a function from State to the name of an action, a
    mapping, or a class without arguments of which objects can be called.
    A table has one ``{"state": {...}, "action": "..."}`` per line.

    Other files are networks, trees and rules. ``interface`` (a file, plain data or an Interface)
    says which variable feeds which input and which output is which action, where the file itself
    does not. ``unfiltered``: decide for the best of all actions, applicable or not.
    ``FILE.py:NAME:POLICY`` runs that file and reads the policy with the format that it calls NAME.

    ``source`` may also be what a policy is made of: a table, a callable, a Network, Trees or Rules,
    or a fitted model of XGBoost, LightGBM, scikit-learn or torch.
    """
    task = require_task(task)
    if not isinstance(source, str | Path):
        return as_policy(source, task, seed=seed, interface=interface, unfiltered=unfiltered)
    text = str(source)
    more = {"interface": interface, "unfiltered": unfiltered}
    name, sign, seed_text = text.partition(SEED_SIGN)
    if text.startswith(builtin.PREFIX):
        return _of_card(text, task, **more)
    if (read_by := _OF_FORMAT.fullmatch(text)) is not None:
        return _of_file(text, task, file=read_by[2], form=read_by[1], **more)
    if (python := split_name(text, what="policy")) is not None:
        return _of_python(text, task, *python, **more)
    is_random = name == "random" and bool(sign or text == name)
    if text == "first" or is_random or text.endswith(".jsonl"):
        _refuse_options(text, **more)
    if text == "first":
        core = first_of(task) if isinstance(task, PythonTask) else _core.FirstPolicy()
        return Policy(task, text, core=core)
    if is_random:
        return _random(task, _seed(seed_text, text) if sign else seed)
    if text.endswith(".jsonl"):
        return _table(text, task, read_table(text, task))
    if any(sign in text for sign in "./:\\"):
        return _of_file(text, task, **more)
    raise _unknown(text)


def _random(task: Task, seed: int) -> Policy:
    number = whole(seed)
    if number is None:
        raise InputError("bad-option", f"seed must be a whole number, not {shown(seed)}")
    name = f"random{SEED_SIGN}{number}" if number else "random"
    if Feature.ACTIONS not in task.features:
        return Policy(task, name, core=random_of(task, number))
    return Policy(task, name, core=_core.RandomPolicy(number))


def _seed(text: str, whole_text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= MAX_INT):
        raise InputError(
            "unknown-policy", f"{quoted(whole_text)} gives no seed", hint="as in random?seed=3"
        )
    return int(text)


def _of_python(text: str, task: Task, file: Path, name: str, **more: Any) -> Policy:
    named = named_in(file, name)
    with as_script(file):
        made = named() if isinstance(named, type) else named
    if isinstance(made, Policy):
        policy = as_policy(made, task)
    else:
        policy = _made_of(made, task, name=text, **more)
    policy.name, policy.sha256, policy.file = text, sha256_of(file), file
    policy.alone = policy.file_sha256 = None
    return policy


def _of_card(text: str, task: Task, *, interface: object, unfiltered: bool | None) -> Policy:
    if interface is not None:
        hint = "it has an interface of its own"
        raise InputError("bad-option", f"{quoted(text)} takes no interface", hint=hint)
    card = builtin.card(text.removeprefix(builtin.PREFIX))
    loaded = builtin.read(card, task)
    policy = _learned(text, task, loaded, interface=None, unfiltered=unfiltered)
    policy.card, policy.file, policy.sha256 = card, card.path, sha256_of(card.path)
    policy.alone, policy.file_sha256 = loaded.alone, policy.sha256
    return policy


def _of_file(
    text: str,
    task: Task,
    *,
    interface: object,
    unfiltered: bool | None,
    file: str | None = None,
    form: str | None = None,
) -> Policy:
    from surefoot.policies.formats import given_interface, read_policy

    path = Path(text if file is None else file)
    try:
        loaded = read_policy(path, interface=given_interface(interface), form=form)
    except InputError as error:
        if error.code != "policy-is-shield":
            raise
        from surefoot.policies.shield import read_shield

        return read_shield(text, task, interface=interface, unfiltered=unfiltered)
    try:
        policy = _learned(
            text, task, loaded, interface=None, unfiltered=unfiltered, hint=_hint_beside(path)
        )
    except InputError as error:
        error.at(file=text)
        raise
    digests = [sha256_of(file) for file in (path, *loaded.files)]
    policy.file, policy.sha256 = path, _sha256_of_all(digests)
    policy.format = form
    policy.alone = loaded.alone if form is None else None
    policy.file_sha256 = None if policy.alone is None else digests[0]
    return policy


def _hint_beside(path: Path) -> str | None:
    """Return where the interface of a network stands, if it stands beside it."""
    from surefoot.policies.formats import format_of, kind_of

    suffix = format_of(kind_of(path)).interface_suffix
    if suffix is not None and (sibling := path.with_suffix(suffix)).is_file():
        return f"its interface stands beside it: give {sibling}"
    return None


def _sha256_of_all(digests: list[str]) -> str:
    """Return the SHA-256 of a file, or of those of several files, from that of each."""
    if len(digests) == 1:
        return digests[0]
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def _table(name: str, task: Task, table: Table) -> Policy:
    core = _core.TablePolicy(task.core, table.states, table.actions)
    file = None if table.sha256 is None else Path(name)
    policy = Policy(task, name, core=core, sha256=table.sha256, file=file)
    policy._table = table
    return policy


def _unknown(text: str) -> InputError:
    known = [*RULES, *(builtin.PREFIX + name for name in builtin.names())]
    with_prefix = builtin.PREFIX + text
    hint = nearest_hint(with_prefix if with_prefix in known else text, known) or (
        f"policies are: {', '.join(RULES)}, {builtin.PREFIX}NAME, FILE.py:NAME, or a policy file "
        "such as truck.onnx"
    )
    return InputError("unknown-policy", f"there is no policy {quoted(text)}", hint=hint)
