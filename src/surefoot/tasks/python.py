"""The front end of ``FILE.py:NAME``: runs the file and takes a task, or what makes one, from it."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, quoted
from surefoot.python_file import as_script, named_in, split_name
from surefoot.tasks import as_task
from surefoot.tasks.front_end import FrontEnd, FrontEndOptions
from surefoot.tasks.python_task import REQUIRED_METHODS, can_be_called
from surefoot.tasks.task import Task


def load(address: str, options: FrontEndOptions) -> Task:
    """Return the task of ``FILE.py:NAME``."""
    place = split_name(address, what="task")
    if place is None:
        raise InputError(
            "missing-name", f"{quoted(address)} is not a Python file", hint="give FILE.py:NAME"
        )
    file, name = place
    component = named_in(file, name)
    with as_script(file):
        thing = component if _is_ready(component) else _made_by(component, file, name)
    return as_task(thing, name=name)


def _is_ready(component: object) -> bool:
    """Return whether this is an object rather than a class or function that makes one."""
    is_definition = all(hasattr(component, method) for method in REQUIRED_METHODS)
    return not callable(component) or (is_definition and not inspect.isclass(component))


def _made_by(maker: Any, file: Path, name: str) -> object:
    if not can_be_called(maker):
        raise InputError(
            "not-a-task",
            f"{quoted(name)} cannot be called without arguments",
            file=str(file),
            hint="give all arguments default values, or name a task that is made of it",
        )
    return maker()


FRONT_END = FrontEnd(
    "python",
    load,
    FrontEndOptions,
    about="Python files",
    takes_files=False,
    runs_code=lambda address: True,
)
