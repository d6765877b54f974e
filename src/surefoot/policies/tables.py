"""Policies as tables: what is decided in each state, listed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import InputError, SurefootError
from surefoot.files import parse_line, sha256_of, text_lines
from surefoot.policies.decisions import checked_number
from surefoot.tasks.task import Task

LOOKS_LIKE = 'a line looks like {"state": {"x": 3, "y": 0}, "action": "move"}'


@dataclass(frozen=True)
class Table:
    """Packed states one after the other, and the numbers of the actions decided there."""

    states: bytes
    actions: list[int]
    sha256: str | None = None

    @classmethod
    def of(cls, decisions: Iterable[tuple[object, object]], task: Task) -> Table:
        """Return the table of pairs of state and name of an action.

        Raises InputError for anything that is not a state or an action of the task.
        """
        actions = {}
        for given, action in decisions:
            packed = task.packed(given)
            actions[packed] = _number(task, packed, action)
        return cls(b"".join(actions), list(actions.values()))


def _number(task: Task, packed: bytes, action: object) -> int:
    state = task.unpack(packed)
    applicable = task.applicable(state)  # Python-defined tasks know their actions only now
    numbers = [task.action_number(name) for name in applicable]
    return checked_number(task, action, state, [n for n in numbers if n is not None])


def read_table(path: str | Path, task: Task) -> Table:
    """Return the table of a file with one ``{"state": {...}, "action": "..."}`` per line.

    Errors name file and line; a state that is there twice is one.
    """
    decisions: dict[bytes, int] = {}
    for number, line in text_lines(path):
        try:
            packed, action = _entry(parse_line(line, hint=LOOKS_LIKE), task)
            if packed in decisions:
                raise InputError("duplicate-state", "this state is listed twice")
            decisions[packed] = action
        except SurefootError as error:
            # The place of the variable in the model says nothing about this file.
            error.file, error.place = str(path), str(number)
            raise
    if not decisions:
        message = "the table has no decisions"
        raise InputError("bad-policy-table", message, file=str(path), hint=LOOKS_LIKE)
    return Table(b"".join(decisions), list(decisions.values()), sha256_of(path))


def _entry(line: object, task: Task) -> tuple[bytes, int]:
    if not isinstance(line, dict) or set(line) != {"state", "action"}:
        raise InputError("bad-policy-table", "this is not a decision", hint=LOOKS_LIKE)
    if not isinstance(line["state"], dict):
        raise InputError("bad-policy-table", "the state is not a JSON object", hint=LOOKS_LIKE)
    packed = task.state(line["state"]).packed
    return packed, _number(task, packed, line["action"])
