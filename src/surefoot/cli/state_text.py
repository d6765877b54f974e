"""States as people write them: ``x=3,y=0``, a JSON object, or a file with one object per line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, SurefootError, printable, quoted
from surefoot.files import parse_line, text_lines, without_duplicates

if TYPE_CHECKING:
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

JSON_HINT = 'a state looks like {"x": 3, "y": 0}'


def state_of(task: Task, text: str) -> State:
    """Return the state ``x=3,y=0`` or of a JSON object; every variable must be there."""
    try:
        is_json = text.lstrip().startswith("{")
        return task.state(_object_of(text) if is_json else _assignments_of(text))
    except SurefootError as error:
        # The place of the variable in the model says nothing about the command line.
        error.file, error.place = None, "--state"
        raise


def read_states(task: Task, file: Path) -> list[State]:
    """Return the states of a file, one JSON object per line. Errors name file and line.

    Empty lines are skipped; a file without any state is an error.
    """
    states = []
    for number, line in text_lines(file):
        try:
            states.append(task.state(_object_of(line)))
        except SurefootError as error:
            # The place of the variable in the model says nothing about this file.
            error.file, error.place = str(file), str(number)
            raise
    if not states:
        raise InputError("no-start-state", "the file holds no state", file=str(file))
    return states


def _object_of(text: str) -> dict[str, object]:
    value = parse_line(text, hint=JSON_HINT)
    if not isinstance(value, dict):
        raise InputError("bad-state", "not a JSON object", hint=JSON_HINT)
    return value


def _assignments_of(text: str) -> dict[str, object]:
    return without_duplicates([_assignment_of(part) for part in text.split(",") if part.strip()])


def _assignment_of(text: str) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    if not (name and equals and value):
        raise InputError(
            "bad-state",
            f"{quoted(text)} is not NAME=VALUE",
            hint="a state looks like x=3,y=0 or like a JSON object",
        )
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value  # the name of a location


def labels_of(task: Task) -> dict[str, tuple[str, ...]]:
    """Return the names of the values, for the variables that have such: locations."""
    variables = getattr(task, "variables", ())
    return {v.name: v.labels for v in variables if v.labels is not None}


def text_of(state: State | dict[str, object], labels: dict[str, tuple[str, ...]]) -> str:
    """Return values as ``x=3,y=0``, locations by name: what --state takes."""
    return ",".join(
        f"{printable(name)}={_value(value, labels.get(name))}" for name, value in state.items()
    )


def _value(value: Any, labels: tuple[str, ...] | None) -> str:
    if labels is not None:
        return printable(labels[value])
    return str(value).lower() if isinstance(value, bool) else printable(str(value))
