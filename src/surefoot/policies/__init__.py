"""Every way to get a policy.

A :class:`Policy` belongs to one task and decides among the applicable actions that are not silent.
It is a function: the same state, the same decision. :func:`as_policy` makes one of a table, a
callable or a name, :func:`load_policy` of what stands on the command line. Policies learned by
other programs follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surefoot import _core
from surefoot.errors import InputError, Unsupported, nearest_hint, quoted, shown
from surefoot.options import MAX_INT, whole
from surefoot.policies.decisions import Decide, checked_number, policy_error
from surefoot.policies.tables import Table, read_table
from surefoot.tasks import require_task
from surefoot.tasks.python_file import as_script, named_in, split_name
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task

BUILT_IN = ("first", "random")
SEED_SIGN = "?seed="


class Policy:
    """A policy of one task. Make one with ``load_policy``, or give a callable or a table where a
    policy is wanted.

    ``name`` is what ``load_policy`` takes, where it came from there; ``sha256`` is that of its
    file, if it has one.
    """

    def __init__(
        self,
        task: Task | PythonTask,
        name: str,
        *,
        core: Any,
        sha256: str | None = None,
    ) -> None:
        self.task = task
        self.name = name
        self.core = core
        self.sha256 = sha256

    def decide(self, state: Any) -> str:
        """Return the action the policy takes. Raises InputError if there is nothing to decide, or
        if the policy's decision cannot be taken.
        """
        packed = self.task.packed(state)
        try:
            number: int = self.core.decide(self.task.core, packed)
        except _core.ModelError as error:
            raise self.task.model_error(error) from None
        except _core.PolicyError as error:
            raise policy_error(self.task, error) from None
        return self.task.actions[number]

    def __repr__(self) -> str:
        return f"<Policy {self.name!r} of {self.task.name!r}>"


def as_policy(policy: Any, task: Task | PythonTask, *, seed: int = 0) -> Policy:
    """Return ``policy`` as a policy of the task.

    It may be a Policy of this task; text, which goes to :func:`load_policy`; a mapping from states
    to names of actions; or a callable that takes a State and returns the name of an action.
    """
    task = require_task(task)
    if isinstance(policy, Policy):
        if policy.task is not task:
            raise InputError("policy-other-task", f"{policy!r} is not a policy of {task!r}")
        return policy
    if isinstance(policy, str):
        return load_policy(policy, task, seed=seed)
    return _made_of(policy, task, name=getattr(policy, "__name__", type(policy).__name__))


def load_policy(text: str, task: Task | PythonTask, *, seed: int = 0) -> Policy:
    """Return the policy ``first``, ``random``, ``FILE.py:NAME`` or of a table ``FILE.jsonl``.

    ``first`` takes the applicable action that comes first in the task. ``random`` takes one that
    depends on the seed and the state only; ``random?seed=3`` gives the seed with it.
    ``FILE.py:NAME`` runs that file; NAME is a function from State to the name of an action, a
    mapping, or a class without arguments of which objects can be called.
    A table has one ``{"state": {...}, "action": "..."}`` per line.
    """
    task = require_task(task)
    name, sign, seed_text = text.partition(SEED_SIGN)
    if text == "first":
        return Policy(task, text, core=_core.FirstPolicy())
    if name == "random" and (sign or text == name):
        return _random(task, _seed(seed_text, text) if sign else seed)
    if (python := split_name(text, what="policy")) is not None:
        return _of_file(text, task, *python)
    if text.endswith(".jsonl"):
        return _table(text, task, read_table(text, task))
    raise _unknown(text)


def _random(task: Task | PythonTask, seed: int) -> Policy:
    number = whole(seed)
    if number is None:
        raise InputError("bad-option", f"seed must be a whole number, not {shown(seed)}")
    name = f"random{SEED_SIGN}{number}" if number else "random"
    return Policy(task, name, core=_core.RandomPolicy(number))


def _seed(text: str, whole_text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 20 and int(text) <= MAX_INT):
        raise InputError(
            "unknown-policy", f"{quoted(whole_text)} gives no seed", hint="as in random?seed=3"
        )
    return int(text)


def _of_file(text: str, task: Task | PythonTask, file: Any, name: str) -> Policy:
    from surefoot.policies.tables import sha256_of

    found = named_in(file, name)
    with as_script(file):
        made = found() if isinstance(found, type) else found
    policy = as_policy(made, task) if isinstance(made, Policy) else _made_of(made, task, name=text)
    policy.name, policy.sha256 = text, sha256_of(file)
    return policy


def _made_of(thing: Any, task: Task | PythonTask, *, name: str) -> Policy:
    if isinstance(thing, Mapping):
        return _table(name, task, Table.of(thing.items(), task))
    if callable(thing):
        return Policy(task, name, core=_core.CallablePolicy(_asked(task, thing)))
    raise InputError(
        "not-a-policy",
        f"{shown(thing)} is not a policy",
        hint="give a name, a callable from State to the name of an action, or a table of these",
    )


def _table(name: str, task: Task | PythonTask, table: Table) -> Policy:
    core = _core.TablePolicy(task.core, table.states, table.actions)
    return Policy(task, name, core=core, sha256=table.sha256)


def _asked(task: Task | PythonTask, decide: Decide) -> Callable[[bytes, list[int]], int]:
    """Return the callable as the core takes it: numbers for names, every decision checked."""

    def ask(packed: bytes, applicable: list[int]) -> int:
        state = task.unpack(packed)
        return checked_number(task, decide(state), state, applicable)

    return ask


def _unknown(text: str) -> InputError | Unsupported:
    hint = nearest_hint(text, BUILT_IN) or (
        f"policies are: {', '.join(BUILT_IN)}, FILE.py:NAME, or a table FILE.jsonl"
    )
    if any(sign in text for sign in "./:\\"):
        return Unsupported(
            "policy-file",
            f"policies from files like {quoted(text)} come with a later release",
            hint=hint,
        )
    return InputError("unknown-policy", f"there is no policy {quoted(text)}", hint=hint)
