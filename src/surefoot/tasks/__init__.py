"""Every way to get a task."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.tasks.description import Description
from surefoot.tasks.python_task import METHODS, PythonTask, can_be_called
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
    if text.endswith((".py", ".py:")) and not text.startswith("domain:"):
        raise InputError(
            "missing-name",
            f"{quoted(text)} does not say which task of the file is meant",
            hint="give FILE.py:NAME",
        )
    is_complete = text.startswith("domain:") or file.endswith(".py")
    if is_complete:
        given = (properties, property_name, start, goal, fail, constants, int_range)
        _refuse(text, dict(zip(JANI_OPTIONS, given, strict=True)))
    if text.startswith("domain:"):
        from surefoot.domains import domain_from_text

        return domain_from_text(text)
    if file.endswith(".py"):
        return _python_task(Path(file), name)
    if int_range is not None:
        _check_range(int_range)
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


def _check_range(given: object) -> None:
    numbers = list(given) if isinstance(given, tuple | list) else []
    are_whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
    if len(numbers) != 2 or not are_whole or numbers[0] > numbers[1]:
        raise InputError(
            "bad-option",
            f"int_range is a pair of integers, the smaller first, not {shown(given)}",
            hint="for example int_range=(-100, 100)",
        )


def _python_task(file: Path, name: str) -> Task | PythonTask:
    if not os.path.isfile(file):
        raise InputError("file-not-found", f"there is no file {quoted(str(file))}")
    with _as_script(file):
        found = _named(_module_of(file), file, name)
        thing = found if _is_ready(found) else _made_by(found, file, name)
    return as_task(thing, name=name)


@contextmanager
def _as_script(file: Path) -> Iterator[None]:
    """Run the body with the arguments of ``python FILE``; leaving Python is an InputError."""
    arguments = sys.argv
    sys.argv = [str(file)]
    try:
        yield
    except SystemExit as error:
        raise InputError(
            "python-error",
            f"the file raises SystemExit({shown(error.code)}) when it is run",
            file=str(file),
            hint='put what only a script does under if __name__ == "__main__":',
        ) from error
    finally:
        sys.argv = arguments


def _module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"surefoot_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _named(module: ModuleType, file: Path, name: str) -> Any:
    found = getattr(module, name, None)
    if found is None:
        raise InputError(
            "unknown-name",
            f"{quoted(file.name)} defines no {quoted(name)}",
            hint=nearest_hint(name, vars(module)),
        )
    return found


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


def require_task(thing: Any) -> Task | PythonTask:
    """Return ``thing`` if it is a task; else raise InputError that says how to get one from it."""
    if isinstance(thing, Task | PythonTask):
        return thing
    hint = "make one with load_task, domain, Description.compile or PythonTask"
    if isinstance(thing, Description):
        hint = "call compile() first"
    elif isinstance(thing, str | Path):
        hint = "use load_task(...)"
    elif all(hasattr(thing, method) for method in METHODS):
        hint = "wrap it: PythonTask(...)"
    raise InputError("not-a-task", f"{shown(thing)} is not a task", hint=hint)


def as_task(thing: Any, *, name: str = "task") -> Task | PythonTask:
    """Return ``thing`` as a task: a Description, a Task, or an object like a Definition."""
    if isinstance(thing, Task | PythonTask):
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
