"""Fitted models of other libraries, as objects: for each library a file of its name. None of these
libraries is imported unless the object is one of theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from surefoot.errors import InputError, printable
from surefoot.policies.classes import interface_of
from surefoot.policies.fitted.library import Fitted
from surefoot.policies.loaded import Loaded
from surefoot.registry import Registry, of_class

FITTED: Registry[Fitted] = Registry(
    "library of fitted models",
    group="surefoot.fitted",
    component=of_class("library of fitted models", Fitted),
    package="surefoot.policies.fitted",
    constant="FITTED",
    made_by="Fitted",
    plural="libraries of fitted models",
)
"""by the name under which a library is imported"""

_HOMES = ("builtins", "__main__")
"""modules of classes that are of no library"""


def model_of(thing: Any) -> Loaded | None:
    """Return the model of an object with the interface it implies; None if it is not a model.

    A classifier's classes are names of actions, or their positions in the task.
    """
    if isinstance(thing, Loaded):
        return _checked_model(thing)
    if type(thing).__module__ == "surefoot.policies.models":
        return _checked_model(Loaded(thing))
    fitted = fitted_of(type(thing))
    if fitted is None:
        return None
    _check_fitted(thing)
    made = fitted.read(thing)
    loaded = made if isinstance(made, Loaded) else Loaded(made)
    if loaded.interface is None:
        classes = getattr(thing, "classes_", None)
        loaded = replace(loaded, interface=interface_of(classes, loaded.model.num_outputs))
    return _checked_model(loaded)


def _check_fitted(thing: object) -> None:
    is_fitted = getattr(thing, "__sklearn_is_fitted__", None)
    if is_fitted is not None and not is_fitted():
        kind = printable(type(thing).__name__)
        raise InputError("policy-not-fitted", f"the {kind} is not fitted")


def _checked_model(loaded: Loaded) -> Loaded:
    try:
        loaded.model.check()
    except ValueError as error:
        raise InputError("bad-policy", str(error)) from None
    return loaded


def fitted_of(cls: type) -> Fitted | None:
    """Return how models of a class are read, by the library that it or a base of it is from."""
    for base in cls.__mro__:
        library = base.__module__.partition(".")[0]
        if library not in _HOMES and library in FITTED:
            return FITTED[library]
    return None
