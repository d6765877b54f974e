"""Every way to get a task."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.tasks.description import Description
from surefoot.tasks.python_task import PythonTask
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
) -> Task | PythonTask:
    """Return the task of a JANI file, of ``domain:NAME?param=value``, or of ``FILE.py:NAME``.

    Start, goal and fail stand in the model, in a property file (``properties``), or in files of
    their own. ``constants`` sets constants or overrides the model's values. ``int_range`` bounds
    integer variables that the model does not bound.

    ``FILE.py:NAME`` runs that file: NAME is a Description, a Task, a class with the five methods
    of a Python-defined task, or a function that returns one of these. Built-in domains and Python
    files take none of the other arguments: InputError (``bad-option``) if one is given.
    """
    text = str(source)
    file, _, name = text.rpartition(":")
    is_complete = text.startswith("domain:") or file.endswith(".py")
    if is_complete:
        given = (properties, property_name, start, goal, fail, constants, int_range)
        _refuse(text, dict(zip(JANI_OPTIONS, given, strict=True)))
    if text.startswith("domain:"):
        from surefoot.domains import domain_from_text

        return domain_from_text(text)
    if file.endswith(".py"):
        return _python_task(Path(file), name)
    from surefoot.tasks.jani import load_jani

    description = load_jani(
        source,
        properties=properties,
        start=start,
        goal=goal,
        fail=fail,
        constants=constants,
        int_range=int_range,
        property_name=property_name,
    )
    return description.compile()


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


def _python_task(file: Path, name: str) -> Task | PythonTask:
    if not file.is_file():
        raise InputError("file-not-found", f"there is no file {quoted(str(file))}")
    spec = importlib.util.spec_from_file_location(f"surefoot_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if found is None:
        raise InputError(
            "unknown-name",
            f"{quoted(file.name)} defines no {quoted(name)}",
            hint=nearest_hint(name, vars(module)),
        )
    return as_task(found() if callable(found) else found, name=name)


def as_task(thing: Any, *, name: str = "task") -> Task | PythonTask:
    """Return ``thing`` as a task: a Description, a Task, or an object like a Definition."""
    if isinstance(thing, Task | PythonTask):
        return thing
    if isinstance(thing, Description):
        return thing.compile()
    missing = [
        m for m in ("start", "actions", "outcomes", "is_goal", "is_fail") if not hasattr(thing, m)
    ]
    if missing:
        raise InputError(
            "not-a-task",
            f"{quoted(name)} is neither a Description nor a task: it has no {', '.join(missing)}",
        )
    return PythonTask(thing, name=name)
