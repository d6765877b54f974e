"""Every way to get a task."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, quoted, shown
from surefoot.tasks.description import Description
from surefoot.tasks.python_file import as_script, named_in, split_name
from surefoot.tasks.python_task import METHODS, PythonTask, can_be_called
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task

JANI_OPTIONS = {
    "properties": "--property",
    "property_name": "--property-name",
    "start": "--start",
    "goal": "--goal",
    "fail": "--fail",
    "constants": "--const",
    "int_range": "--int-range",
}
"""what only JANI files take, and how the command line spells it"""


def load_task(
    source: str | Path,
    *,
    properties: str | Path | None = None,
    start: str | Path | None = None,
    goal: str | Path | None = None,
    fail: str | Path | None = None,
    constants: Mapping[str, Any] | None = None,
    int_range: tuple[int, int] | None = None,
    property_name: str | None = None,
) -> Task:
    """Return the task of a JANI file, of ``domain:NAME?param=value``, or of ``FILE.py:NAME``.

    Start, goal and fail stand in the model, in a property file (``properties``), or in files of
    their own. ``constants`` sets constants or overrides the model's values. ``int_range`` bounds
    integer variables that the model does not bound.

    ``FILE.py:NAME`` runs that file: NAME is a Description, a Task, a class with the five methods
    of a Python-defined task, or a function that returns one of these. Built-in domains and Python
    files take none of the other arguments: InputError (``bad-option``) if one is given.
    """
    text = str(source)
    is_domain = text.startswith("domain:")
    python = None if is_domain else split_name(text, what="task")
    given: dict[str, Any] = {
        "properties": properties,
        "property_name": property_name,
        "start": start,
        "goal": goal,
        "fail": fail,
        "constants": constants,
        "int_range": int_range,
    }
    if is_domain or python is not None:
        _refuse(text, given)
    if is_domain:
        from surefoot.domains import domain_from_text

        return _from(Source(text=text), domain_from_text(text))
    if python is not None:
        return _from(Source(text=text), _python_task(*python))
    if int_range is not None:
        _check_range(int_range)
    from surefoot.tasks.jani import load_jani

    description = load_jani(source, **given)
    used = {name: description.constants[name] for name in constants or {}}
    return _from(_jani_source(text, {**given, "constants": used}), description.compile())


def _from(source: Source, task: Task) -> Task:
    """Return the task, with its source unless it knows one: a Python file may load a JANI file."""
    task.source = task.source or source
    return task


def _jani_source(text: str, given: Mapping[str, Any]) -> Source:
    paths = ("properties", "start", "goal", "fail")
    as_text = {name: None if given[name] is None else str(given[name]) for name in paths}
    range_given = given["int_range"]
    as_pair = {"int_range": None if range_given is None else tuple(range_given)}
    return Source(text=text, **{**given, **as_text, **as_pair})


def _refuse(source: str, given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value is None or value == {}:
            continue
        is_parameter = name == "constants" and source.startswith("domain:")
        raise InputError(
            "bad-option",
            f"{name} ({JANI_OPTIONS[name]}) is for JANI files; {quoted(source)} brings its own",
            hint="give parameters as in domain:NAME?param=value" if is_parameter else None,
        )


def _check_range(given: object) -> None:
    numbers = list(given) if isinstance(given, tuple | list) else []
    are_whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
    if len(numbers) != 2 or not are_whole or numbers[0] > numbers[1]:
        raise InputError(
            "bad-option",
            f"int_range is a pair of integers, the smaller first, not {shown(given)}",
            hint="for example int_range=(-100, 100)",
        )


def _python_task(file: Path, name: str) -> Task:
    found = named_in(file, name)
    with as_script(file):
        thing = found if _is_ready(found) else _made_by(found, file, name)
    return as_task(thing, name=name)


def _is_ready(found: Any) -> bool:
    """Return whether this is an object rather than a class or function that makes one."""
    is_definition = all(hasattr(found, method) for method in METHODS)
    return not callable(found) or (is_definition and not inspect.isclass(found))


def _made_by(found: Any, file: Path, name: str) -> Any:
    if not can_be_called(found):
        raise InputError(
            "not-a-task",
            f"{quoted(name)} cannot be called without arguments",
            file=str(file),
            hint="give all arguments default values, or name a task that is made of it",
        )
    return found()


def require_task(thing: Any) -> Task:
    """Return ``thing`` if it is a task; else raise InputError that says how to get one from it."""
    if isinstance(thing, Task):
        return thing
    hint = "make one with load_task, domain, Description.compile or PythonTask"
    if isinstance(thing, Description):
        hint = "call compile() first"
    elif isinstance(thing, str | Path):
        hint = "use load_task(...)"
    elif all(hasattr(thing, method) for method in METHODS):
        hint = "wrap it: PythonTask(...)"
    raise InputError("not-a-task", f"{shown(thing)} is not a task", hint=hint)


def as_task(thing: Any, *, name: str = "task") -> Task:
    """Return ``thing`` as a task: a Description, a Task, or an object like a Definition."""
    if isinstance(thing, Task):
        return thing
    if isinstance(thing, Description):
        return thing.compile()
    missing = [m for m in METHODS if not hasattr(thing, m)]
    if missing:
        raise InputError(
            "not-a-task",
            f"{quoted(name)} is neither a Description nor a task: it has no {', '.join(missing)}",
        )
    return PythonTask(thing, name=name)
