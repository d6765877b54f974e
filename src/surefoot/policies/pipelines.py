"""Pipelines of scikit-learn: a StandardScaler or MinMaxScaler, then an estimator.

A StandardScaler computes ``(x - mean) / scale`` in double, which is what an interface does to its
inputs, bit for bit. A MinMaxScaler computes ``x * scale + min``, which is not. It is monotone,
though: each threshold of a tree becomes the least double that the scaler takes to it or above, so
that decisions and scores are the same bit for bit. Networks are fed ``(x + min / scale) / (1 /
scale)``, which agrees to rounding, as their sums do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError, Unsupported, printable
from surefoot.policies.interface import Input, Interface
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Network, Reals, Trees

SCALERS = ("StandardScaler", "MinMaxScaler")
HINT = "fit the estimator alone, on the values of states as they are, or give it as a function: "
HINT += "surefoot.batched(pipeline.predict_proba)"


def is_pipeline(thing: object) -> bool:
    """Return whether an object is a Pipeline of scikit-learn."""
    return any(
        each.__name__ == "Pipeline" and each.__module__.startswith("sklearn.")
        for each in type(thing).__mro__
    )


def loaded_of(pipeline: Any) -> Loaded:
    """Return the model of the last step, which scores what the scaler before it makes of inputs."""
    from surefoot.policies.fitted import model_of

    steps = [step for _, step in pipeline.steps if step is not None and step != "passthrough"]
    *before, last = steps or [None]
    kinds = [_scaler_kind(step) for step in before]
    if len(kinds) > 1:
        raise _unsupported(f"pipelines with {len(kinds)} steps before the estimator")
    loaded = model_of(last)
    if loaded is None:
        raise _unsupported(f"pipelines that end in a {printable(type(last).__name__)}")
    if not before:
        return loaded
    scaled = _standard if kinds[0] == "StandardScaler" else _min_max
    return scaled(loaded, before[0])


def _scaler_kind(step: object) -> str:
    name = type(step).__name__
    if name not in SCALERS or not type(step).__module__.startswith("sklearn."):
        raise _unsupported(f"pipelines with a {printable(name)}")
    if not hasattr(step, "n_features_in_"):
        raise InputError("policy-not-fitted", f"the {name} is not fitted")
    return name


def _unsupported(what: str) -> Unsupported:
    return Unsupported("trees-unsupported", f"{what} are not supported", hint=HINT)


def _numbers(given: object, default: float, count: int) -> Reals:
    numbers = np.full(count, default) if given is None else np.asarray(given, dtype=np.float64)
    if numbers.shape != (count,) or not np.isfinite(numbers).all():
        raise InputError("bad-policy", "the scaler has other or no numbers for the inputs")
    return numbers


def _with_inputs(loaded: Loaded, means: Reals, scales: Reals) -> Loaded:
    pairs = zip(means.tolist(), scales.tolist(), strict=True)
    inputs = tuple(Input(mean=mean, scale=scale) for mean, scale in pairs)
    return replace(loaded, interface=replace(loaded.interface or Interface(), inputs=inputs))


def _standard(loaded: Loaded, scaler: Any) -> Loaded:
    count = loaded.model.num_inputs
    scales = _numbers(scaler.scale_, 1.0, count)
    if not scales.all():
        raise InputError("bad-policy", "the scaler divides by 0")
    means = scaler.mean_ if scaler.with_mean else None  # it is there in both cases
    return _with_inputs(loaded, _numbers(means, 0.0, count), scales)


def _min_max(loaded: Loaded, scaler: Any) -> Loaded:
    count = loaded.model.num_inputs
    scales, offsets = _numbers(scaler.scale_, 1.0, count), _numbers(scaler.min_, 0.0, count)
    if not (scales > 0).all():
        raise InputError("bad-policy", "the scaler turns the order of inputs round")
    least, most = map(float, scaler.feature_range)
    limits = (least, most) if getattr(scaler, "clip", False) else None
    if isinstance(loaded.model, Trees):
        return replace(loaded, model=_moved(loaded.model, scales, offsets, limits))
    if limits is not None or not isinstance(loaded.model, Network):
        raise _unsupported("networks behind a MinMaxScaler that clips")
    return _with_inputs(loaded, -offsets / scales, 1.0 / scales)


# -- thresholds ------------------------------------------------------------------------------


def _moved(
    trees: Trees, scales: Reals, offsets: Reals, limits: tuple[float, float] | None
) -> Trees:
    """Return the trees with thresholds for inputs that are not scaled."""
    inner = trees.features >= 0
    features, wanted = trees.features[inner], trees.thresholds[inner]
    rounded = np.float32 if trees.input_precision == "float32" else np.float64

    def is_left(inputs: Reals) -> npt.NDArray[np.bool_]:
        with np.errstate(over="ignore"):
            scaled = inputs * scales[features] + offsets[features]
            if limits is not None:
                scaled = scaled.clip(*limits)
            left: npt.NDArray[np.bool_] = scaled.astype(rounded).astype(np.float64) < wanted
            return left

    thresholds = trees.thresholds.copy()
    thresholds[inner] = _least_right(is_left, len(wanted))
    return replace(trees, thresholds=thresholds, input_precision="float64")


def _least_right(is_left: Callable[[Reals], npt.NDArray[np.bool_]], count: int) -> Reals:
    """Return the least double each for which ``is_left`` is false; the largest if it never is.

    It is true up to somewhere. The search halves what is left of all doubles, in their order.
    """
    most = int(np.finfo(np.float64).max.view(np.int64))
    low, high = np.full(count, -most), np.full(count, most)
    while (low < high).any():
        middle = (low >> 1) + (high >> 1) + (low & high & 1)
        goes_left = is_left(_doubles(middle))
        low = np.where(goes_left & (low < high), middle + 1, low)
        high = np.where(goes_left, high, middle)
    return _doubles(low)


def _doubles(places: npt.NDArray[np.int64]) -> Reals:
    """Return the doubles at places in their order, which are counted from 0.0."""
    bits = np.where(places < 0, np.int64(-(2**63)) - places, places)
    return np.ascontiguousarray(bits, dtype=np.int64).view(np.float64)
