"""Fitted models of other libraries, as objects. None of these libraries is imported unless the
object is one of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surefoot.errors import InputError, shown
from surefoot.policies.interface import Interface
from surefoot.policies.loaded import Loaded
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task


def loaded_of(thing: Any, task: Task | PythonTask) -> Loaded | None:
    """Return the model of an object with the interface it implies; None if it is no model.

    A classifier's classes are names of actions, or their positions in the task.
    """
    loaded = model_of(thing)
    if loaded is None or loaded.interface is not None:
        return loaded
    positions = _class_positions(getattr(thing, "classes_", None))
    if positions is None:
        return loaded
    return replace(loaded, interface=Interface(outputs=_actions_at(positions, task)))


def model_of(thing: Any) -> Loaded | None:
    """Return the model of an object, with its outputs if these are names; None if it is none."""
    if isinstance(thing, Loaded):
        return _checked(thing)
    if type(thing).__module__ == "surefoot.policies.models":
        return _checked(Loaded(thing))
    reader = _reader_of(type(thing))
    if reader is None:
        return None
    made = reader(thing)
    loaded = made if isinstance(made, Loaded) else Loaded(made)
    names = _class_names(getattr(thing, "classes_", None))
    if loaded.interface is None and names is not None:
        loaded = replace(loaded, interface=Interface(outputs=names))
    return _checked(loaded)


def class_note(thing: Any) -> str | None:
    """Return what to say about classes that only a task can name; None if there are none."""
    positions = _class_positions(getattr(thing, "classes_", None))
    if positions is None:
        return None
    return f"the outputs are the classes {shown(positions)}: name them in an interface"


def _checked(loaded: Loaded) -> Loaded:
    try:
        loaded.model.check()
    except ValueError as error:
        raise InputError("bad-policy", str(error)) from None
    return loaded


def _reader_of(kind: type) -> Callable[[Any], Any] | None:
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        if library in _READERS:
            return _READERS[library]
    return None


def _xgboost(thing: Any) -> Any:
    from surefoot.policies.trees import xgboost

    return xgboost.of(thing)


def _lightgbm(thing: Any) -> Any:
    from surefoot.policies.trees import lightgbm

    return lightgbm.of(thing)


def _sklearn(thing: Any) -> Any:
    from surefoot.policies.trees import scikit_learn

    return scikit_learn.trees_of(thing)


def _torch(thing: Any) -> Any:
    from surefoot.policies.convert.torch_modules import network_of

    return network_of(thing)


_READERS = {"xgboost": _xgboost, "lightgbm": _lightgbm, "sklearn": _sklearn, "torch": _torch}


def _class_names(classes: Any) -> tuple[str, ...] | None:
    """Return classes that are all text; None for others."""
    if classes is None or getattr(classes, "ndim", 1) != 1:
        return None
    names = tuple(classes)
    return tuple(map(str, names)) if all(isinstance(one, str) for one in names) else None


def _class_positions(classes: Any) -> list[int] | None:
    """Return classes that are numbers other than 0, 1, 2 and so on; None for others."""
    if classes is None or getattr(classes, "ndim", 1) != 1:
        return None
    try:
        numbers = [int(one) for one in classes]
    except (TypeError, ValueError):
        return None
    return None if numbers == list(range(len(numbers))) else numbers


def _actions_at(positions: list[int], task: Task | PythonTask) -> tuple[str, ...]:
    actions = [name for name in task.actions if name not in task.silent]
    if not all(0 <= position < len(actions) for position in positions):
        raise InputError(
            "policy-wrong-outputs",
            f"the classes {shown(positions)} are no positions of the task's "
            f"{len(actions):,} actions",
        )
    return tuple(actions[position] for position in positions)
