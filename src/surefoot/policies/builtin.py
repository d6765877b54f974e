"""The policies that come with Surefoot: ``builtin:NAME``.

Each is a policy file in the folder ``shipped`` with a card beside it, ``NAME.card.json``, that says
for which task it was made, how, and how good it is. A policy may be used on every task with the
variables and actions of its own one.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, listed_hint, quoted, shown
from surefoot.files import read_json
from surefoot.policies.interface import Interface, Origin
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.task import Feature, Task

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded

PREFIX = "builtin:"
FOLDER = Path(__file__).parent / "shipped"
KEY = "surefoot_card"
SUFFIX = ".card.json"


@dataclass(frozen=True, kw_only=True)
class Card:
    """What is known about a policy that comes with Surefoot.

    It was made for ``task``, with ``steps`` steps of training in ``training_seconds``; or it
    imitates ``teacher``, another such policy, and decides as that one in the fraction ``agreement``
    of states. ``command`` makes one like it, not the very same: several seeds were tried, and the
    one that is shipped, the last of ``tries``, was picked for reaching its goal and yet not being
    safe. Seconds are those of all tries together. Of ``starts`` start states the policy may fail
    from ``unsafe_fraction`` (at least, unless ``exact``), ``goal_fraction`` of the runs reach the
    goal; a run has ``mean_steps`` steps. ``file`` is the name of the policy file.
    """

    name: str
    task: str
    task_sha256: str
    file: str
    kind: str
    seed: int
    steps: int | None = None
    tries: int | None = None
    training_seconds: float | None = None
    teacher: str | None = None
    agreement: float | None = None
    goal_fraction: float
    unsafe_fraction: float
    starts: int
    exact: bool
    mean_steps: float
    command: str

    @property
    def policy(self) -> str:
        """The policy as ``load_policy`` takes it."""
        return PREFIX + self.name

    @property
    def path(self) -> Path:
        """Where the policy file is."""
        return FOLDER / self.file


# -- finding cards ---------------------------------------------------------------------------


def names() -> tuple[str, ...]:
    """Return the names of all policies that come with Surefoot, sorted."""
    return tuple(sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob("*" + SUFFIX)))


def cards() -> tuple[Card, ...]:
    """Return the cards of all policies that come with Surefoot, sorted by name."""
    return tuple(map(card, names()))


def card(name: str) -> Card:
    """Return the card of a policy. Raises InputError (``unknown-policy``) if there is none."""
    known = names()
    if name not in known:
        raise InputError(
            "unknown-policy",
            f"there is no built-in policy {quoted(name)}",
            hint=listed_hint(name, known or ("none",), "built-in policies"),
        )
    return _card_of(name)


_KINDS: dict[str, type | tuple[type, ...]] = {
    "int": int,
    "float": (int, float),
    "str": str,
    "bool": bool,
}


def _card_of(name: str) -> Card:
    path = FOLDER / f"{name}{SUFFIX}"
    content = read_json(path)
    if not isinstance(content, Mapping) or content.get(KEY) != 1 or content.get("name") != name:
        message = f"this is not the card of a policy {quoted(name)}"
        raise InputError("bad-card", message, file=str(path))
    try:
        return Card(
            **{field.name: _value(content, field.name, str(field.type)) for field in fields(Card)}
        )
    except InputError as error:
        error.at(file=str(path))
        raise


def _value(content: Mapping[str, object], name: str, type_text: str) -> Any:
    """Return what a card says under a name. Raises InputError if it should say something else."""
    kind, _, optional = type_text.partition(" | ")
    value = content.get(name)
    if value is None and optional:
        return None
    is_kind = isinstance(value, _KINDS[kind]) and isinstance(value, bool) == (kind == "bool")
    if not is_kind:
        raise InputError(
            "bad-card", f"{shown(value)} is not a valid {quoted(name)}", place=f"/{name}"
        )
    return value


# -- holding one against a task --------------------------------------------------------------


def read(card: Card, task: Task) -> Loaded:
    """Return the policy of a card, for a task with the same variables and actions as its own.

    A note says so if the task is another one. Raises InputError (``policy-other-task``) if the
    variables or actions have other names.
    """
    from surefoot.policies.formats import read_policy

    loaded = read_policy(card.path)
    interface = loaded.interface or Interface()
    if not _is_for(card, interface, task):
        raise _other_task(card, task)
    interface = replace(interface, origin=Origin(card.policy))
    notes = loaded.notes if _is_own_task(card, task) else (*loaded.notes, _note(card))
    return replace(loaded, interface=interface, notes=notes)


def _is_for(card: Card, interface: Interface, task: Task) -> bool:
    """Return whether the names of a task's variables and actions are those of the card's task.

    That one is made only if the policy is not fed with all variables, or does not score all
    actions. The actions of a task that Python code defines are known only as they are met.
    """
    inputs = {name for entry in interface.inputs for name in entry.variables}
    outputs = set(interface.outputs)
    is_closed = Feature.ACTIONS in task.features
    actions = set(task.actions) - task.silent if is_closed else outputs
    if not (inputs <= set(task.names) and outputs <= actions):
        return False
    if (inputs, outputs) == (set(task.names), actions):
        return True
    own = task_of(card)
    same_actions = not is_closed or set(own.actions) - own.silent == actions
    return set(own.names) == set(task.names) and same_actions


def task_of(card: Card) -> CompiledTask:
    """Return the task that a policy was made for."""
    from surefoot.domains import domain_from_text

    return domain_from_text(card.task)


def _is_own_task(card: Card, task: Task) -> bool:
    """Return whether it is the very task of the card. The hash of a large one takes its time."""
    if task.sha256 is None:
        return False
    is_named = task.source is not None and task.source.text == card.task
    return is_named or task.has_sha256(card.task_sha256)


def _note(card: Card) -> str:
    return (
        f"the policy was made for {card.task}; the variables and actions of this task have the "
        "same names, but it is another one"
    )


def _other_task(card: Card, task: Task) -> InputError:
    command = f"surefoot fuzz {shlex.quote(card.task)} --policy {card.policy}"
    return InputError(
        "policy-other-task",
        f"{quoted(card.policy)} was made for {card.task}, and the variables or actions of "
        f"{quoted(task.name)} are others",
        hint=_fitting(task) or f"use it on its own task: {command}",
    )


def _fitting(task: Task) -> str | None:
    """Return which policies were made for a task, if any were."""
    fitting = [card.policy for card in cards() if _is_own_task(card, task)]
    return f"for this task there are: {', '.join(fitting)}" if fitting else None
