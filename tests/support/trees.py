"""Small trained ensembles, their scores by their own library, and states near their thresholds."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

NUM_INPUTS = 4


def random_states(rng: np.random.Generator, count: int, *, real: bool = True) -> Any:
    """Return states of real numbers around 0, or of whole numbers from 0 to 9."""
    if real:
        return rng.normal(scale=2.0, size=(count, NUM_INPUTS))
    return rng.integers(0, 10, size=(count, NUM_INPUTS)).astype(float)


def labelled(
    rng: np.random.Generator,
    count: int,
    *,
    real: bool,
    classes: int = 4,
    noise: float = 0.1,
) -> tuple[Any, Any]:
    """Return states and the classes of a rule that is not easy, with some wrong ones."""
    states = random_states(rng, count, real=real)
    middle = states.mean()
    labels = (states[:, 0] > middle) * 2 + (states[:, 1] + states[:, 2] > 2 * middle)
    wrong = rng.random(count) < noise
    labels = np.where(wrong, rng.integers(0, 4, count), labels) % classes
    labels[:classes] = np.arange(classes)
    return states, labels


def boundary_states(trees: Any, rng: np.random.Generator, *, double: bool = False) -> Any:
    """Return, for every threshold, states at it and at its neighbours on both sides."""
    inner = np.flatnonzero(trees.features >= 0)
    kind = np.float64 if double else np.float32
    at = trees.thresholds[inner].astype(kind)
    below = np.nextafter(at, kind(-np.inf))
    rows = [at, below, np.nextafter(at, kind(np.inf)), np.nextafter(below, kind(-np.inf))]
    states = random_states(rng, 4 * len(inner))
    columns = np.tile(trees.features[inner], 4)
    states[np.arange(len(states)), columns] = np.concatenate(rows).astype(np.float64)
    return states


def rows_of(trees: Any) -> dict[str, Any]:
    """Return the fields of an ensemble as plain data, to compare."""
    found = {field.name: getattr(trees, field.name) for field in fields(trees)}
    return {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in found.items()}


def xgboost_booster(
    parameters: dict[str, Any], *, depth: int, seed: int, real: bool = True, rounds: int = 12
) -> Any:
    """Return a Booster trained with the parameters; ``targets`` is how many a regression has."""
    import xgboost

    rng = np.random.default_rng(seed)
    is_binary = parameters["objective"].startswith("binary")
    features, labels = labelled(rng, 600, real=real, classes=2 if is_binary else 4)
    settings = {"max_depth": depth, "eta": 0.4, "nthread": 1, "seed": seed, **parameters}
    targets = labels
    if count := settings.pop("targets", 0):
        targets = np.eye(4)[labels][:, :count] + rng.random((len(labels), count))
    return xgboost.train(settings, xgboost.DMatrix(features, targets), rounds)


def xgboost_scores(booster: Any, states: Any) -> Any:
    """Return the margins that XGBoost gives."""
    import xgboost

    return booster.predict(xgboost.DMatrix(states), output_margin=True)


def lightgbm_booster(
    parameters: dict[str, Any], *, leaves: int, seed: int, real: bool = True, rounds: int = 12
) -> Any:
    """Return a LightGBM Booster trained with the parameters."""
    import lightgbm

    rng = np.random.default_rng(seed)
    is_binary = parameters["objective"] == "binary"
    features, labels = labelled(rng, 600, real=real, classes=2 if is_binary else 4)
    settings = {"num_leaves": leaves, "min_data_in_leaf": 3, "verbose": -1, "num_threads": 1}
    settings |= {"seed": seed, **parameters}
    return lightgbm.train(settings, lightgbm.Dataset(features, labels), rounds)


def lightgbm_scores(booster: Any, states: Any) -> Any:
    """Return the raw scores that LightGBM gives."""
    return booster.predict(np.ascontiguousarray(states), raw_score=True, num_threads=1)
