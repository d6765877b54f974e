"""Fitted models of other libraries, as objects. None of these libraries is imported unless the
object is one of theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from surefoot.errors import InputError, printable
from surefoot.policies.classes import interface_of
from surefoot.policies.loaded import Loaded


def model_of(thing: Any) -> Loaded | None:
    """Return the model of an object with the interface it implies; None if it is not a model.

    A classifier's classes are names of actions, or their positions in the task.
    """
    if isinstance(thing, Loaded):
        return _checked_model(thing)
    if type(thing).__module__ == "surefoot.policies.models":
        return _checked_model(Loaded(thing))
    reader = _reader_of(type(thing))
    if reader is None:
        return None
    _check_fitted(thing)
    made = reader(thing)
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


def _reader_of(kind: type) -> Callable[[object], Any] | None:
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        if library in _READERS:
            return _READERS[library]
    return None


def _xgboost(thing: object) -> object:
    from surefoot.policies.trees import xgboost

    return xgboost.of(thing)


def _lightgbm(thing: object) -> object:
    from surefoot.policies.trees import lightgbm

    return lightgbm.of(thing)


def _sklearn(thing: object) -> object:
    from surefoot.policies import pipelines
    from surefoot.policies.trees import scikit_learn

    if pipelines.is_pipeline(thing):
        return pipelines.loaded_of(thing)
    return scikit_learn.trees_of(thing)


def _torch(thing: object) -> object:
    from surefoot.policies.convert.torch_modules import network_of

    return network_of(thing)


_READERS = {"xgboost": _xgboost, "lightgbm": _lightgbm, "sklearn": _sklearn, "torch": _torch}
