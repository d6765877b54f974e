"""Every way to get a task."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from surefoot.errors import InputError, quoted, shown
from surefoot.options.keywords import TaskChanges
from surefoot.tasks.description import Description
from surefoot.tasks.front_end import FrontEndOptions
from surefoot.tasks.front_ends import (
    FRONT_ENDS,
    Address,
    address_of,
    options_of,
    options_of_words,
)
from surefoot.tasks.python_task import REQUIRED_METHODS, PythonTask
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task


def load_task(
    source: object,
    *,
    options: FrontEndOptions | None = None,
    **changes: Unpack[TaskChanges],
) -> Task:
    """Return the task of a JANI file, of ``domain:NAME?param=value``, ``gym:ENV-ID`` or
    ``FILE.py:NAME``.

    ``NAME:...`` and the suffix of a file name another front end (docs/extending.md). Each has
    options of its own, also as keywords, which win over ``options``; those of another are refused:
    InputError (``bad-option``).

    Of JANI files, start, goal and fail stand in the model, in a property file (``properties``), in
    files of their own, or are given as expressions: ``fail="x = 9 & wind"``. ``constants`` sets
    constants or overrides the model's values. ``int_range`` bounds integer variables that the model
    does not bound.

    ``FILE.py:NAME`` runs that file: NAME is a Description, a Task, a class with the five methods
    of a Python-defined task, or a function that returns one of these.

    ``source`` may also be an environment of Gymnasium, as for ``from_gym``.
    """
    if not isinstance(source, str | PathLike):
        return _of_object(source, options, changes)
    text = str(source)
    address = address_of(text)
    given: dict[str, object] = {} if options is None else dict(vars(options))
    return _loaded(text, address, options_of(address, text, {**given, **changes}))


def _of_object(
    thing: object, options: FrontEndOptions | None, changes: Mapping[str, object]
) -> Task:
    """Return the task of an environment, or what is a task already. Raises InputError."""
    if isinstance(thing, Task) and options is None and not changes:
        return thing
    if options is None and not changes and _is_environment(thing):
        return as_task(thing)
    hint = "load_task takes a file, domain:NAME, gym:ENV-ID or FILE.py:NAME"
    if _is_environment(thing):
        hint = "environments take options as in from_gym(env, fail=...)"
    raise InputError("not-a-task", f"{shown(thing)} is not a task", hint=hint)


def _is_environment(thing: object) -> bool:
    from surefoot.tasks.gym.making import is_environment

    return is_environment(thing)


def load_task_of_words(text: str, words: Mapping[str, object]) -> Task:
    """Return the task with options in the names and words of the command line."""
    address = address_of(text)
    return _loaded(text, address, options_of_words(address, text, words))


def _loaded(text: str, address: Address, options: FrontEndOptions) -> Task:
    """Return the task, with its source unless it knows one: a Python file may load a JANI file."""
    front_end = FRONT_ENDS[address.front_end]
    task = as_task(front_end.load(address.rest, options), name=address.rest)
    if front_end.settled is not None:
        options = front_end.settled(task, options)
    task.source = task.source or Source(text=text, options=options)
    return task


def require_task(thing: object) -> Task:
    """Return ``thing`` if it is a task; else raise InputError that says how to get one from it."""
    if isinstance(thing, Task):
        return thing
    hint = "make one with load_task, domain, Description.compile or PythonTask"
    if isinstance(thing, Description):
        hint = "call compile() first"
    elif isinstance(thing, str | Path):
        hint = "use load_task(...)"
    elif all(hasattr(thing, method) for method in REQUIRED_METHODS):
        hint = "wrap it: PythonTask(...)"
    elif _is_environment(thing):
        hint = "make a task of the environment: from_gym(env)"
    raise InputError("not-a-task", f"{shown(thing)} is not a task", hint=hint)


def as_task(thing: Any, *, name: str = "task") -> Task:
    """Return ``thing`` as a task: a Description, a Task, an object like a Definition, or an
    environment of Gymnasium.
    """
    if isinstance(thing, Task):
        return thing
    if isinstance(thing, Description):
        return thing.compile()
    if _is_environment(thing):
        from surefoot.tasks.gym.task import from_gym

        return from_gym(thing)
    missing = [m for m in REQUIRED_METHODS if not hasattr(thing, m)]
    if missing:
        raise InputError(
            "not-a-task",
            f"{quoted(name)} is neither a Description nor a task: it has no {', '.join(missing)}",
        )
    return PythonTask(thing, name=name)
