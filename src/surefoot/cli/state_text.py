"""States as people write them: ``x=3,y=0``, a JSON object, or a file with one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, SurefootError, quoted
from surefoot.files import neighbour_hint

if TYPE_CHECKING:
    from surefoot.tasks.python_task import PythonTask
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task

MAX_LINE = 10_000_000


def state_of(task: Task | PythonTask, text: str) -> State:
    """Return the state ``x=3,y=0`` or of a JSON object; every variable must be there."""
    try:
        is_json = text.lstrip().startswith("{")
        return task.state(_object_of(text) if is_json else _assignments_of(text))
    except SurefootError as error:
        # The place of the variable in the model says nothing about the command line.
        error.file, error.place = None, "--state"
        raise


def read_states(task: Task | PythonTask, file: Path) -> list[State]:
    """Return the states of a file, one JSON object per line. Errors name file and line.

    Empty lines are skipped; a file without any state is an error.
    """
    found = []
    for number, line in _lines(file):
        try:
            found.append(task.state(_object_of(line)))
        except SurefootError as error:
            # The place of the variable in the model says nothing about this file.
            error.file, error.place = str(file), str(number)
            raise
    if not found:
        raise InputError("no-start-state", "the file holds no state", file=str(file))
    return found


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        with file.open(encoding="utf-8-sig") as lines:
            while line := lines.readline(MAX_LINE):
                number += 1
                if line.strip():
                    yield number, line
    except OSError as error:
        raise _unreadable(file, error) from None
    except UnicodeDecodeError:
        raise InputError("not-utf8", "the file is not UTF-8 text", file=str(file)) from None


def _unreadable(file: Path, error: OSError) -> InputError:
    """Return the error in the words of ``files``, which reads no pipes; here they are welcome."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        hint = neighbour_hint(file)
        return InputError("file-not-found", "there is no such file", file=str(file), hint=hint)
    if isinstance(error, IsADirectoryError):
        return InputError("not-a-file", "this is not a regular file", file=str(file))
    message = f"the file cannot be read: {error.strerror}"
    return InputError("file-not-readable", message, file=str(file))


def _object_of(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, object_pairs_hook=_without_duplicates)
    except json.JSONDecodeError as error:
        raise InputError(
            "bad-json",
            f"{error.msg} at column {error.colno}",
            hint='a state looks like {"x": 3, "y": 0}',
        ) from None
    except (ValueError, RecursionError):
        raise InputError("bad-json", "a number is too long or the nesting too deep") from None
    if not isinstance(value, dict):
        raise InputError(
            "bad-state", "not a JSON object", hint='a state looks like {"x": 3, "y": 0}'
        )
    return value


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError("duplicate-name", f"{quoted(name)} is given twice")
        found[name] = value
    return found


def _assignments_of(text: str) -> dict[str, Any]:
    return _without_duplicates([_assignment_of(part) for part in text.split(",") if part.strip()])


def _assignment_of(text: str) -> tuple[str, Any]:
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
