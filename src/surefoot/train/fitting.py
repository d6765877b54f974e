"""Fitting trees to decisions: boosted trees of XGBoost, and forests and trees of scikit-learn.

Everything runs on one thread: sums are then added in the same order on every machine, and the same
examples and seed give the same trees. Outputs are positions from 0 on; those that no example has
are there all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.errors import Unsupported
from surefoot.options import DistillOptions
from surefoot.policies.fitted import model_of
from surefoot.policies.libraries import library
from surefoot.policies.models import Trees
from surefoot.train.examples import Numbers, Rows

LIBRARIES = {"xgboost": "xgboost", "forest": "sklearn.ensemble", "tree": "sklearn.tree"}
"""which kinds of trees there are, and the library that fits them"""
MAX_SEED = 2**31
Tell = Callable[[int, int], object]


@dataclass(frozen=True)
class FittedTrees:
    """An ensemble, and the bytes that XGBoost would save it as, if it is its own."""

    trees: Trees
    original: bytes | None = None


def fitting_library(kind: str) -> Any:
    """Return the library that fits such trees. Raises Unsupported if it is not installed."""
    return library(LIBRARIES[kind], extra="trees", what=f"fitting trees of kind {kind}")


def fit(
    rows: Rows, labels: Numbers, num_outputs: int, options: DistillOptions, tell: Tell
) -> FittedTrees:
    """Return trees with an output for each label, fitted to tell the labels of the rows.

    ``tell`` is called with how many rounds or trees are done, of how many; it may raise.
    """
    if options.kind == "xgboost":
        booster = fitted_booster(rows, labels, num_outputs, options, tell)
        return FittedTrees(_trees_of(booster), bytes(booster.save_raw("ubj")))
    grow = _fitted_forest if options.kind == "forest" else _fitted_tree
    return FittedTrees(_with_outputs(grow(rows, labels, options, tell), num_outputs))


def fitted_booster(
    rows: Rows,
    labels: Numbers,
    num_outputs: int,
    options: DistillOptions,
    tell: Tell = lambda done, total: None,
) -> Any:
    """Return a Booster of XGBoost with one tree per output and round (P-TREE's way)."""
    xgboost = fitting_library("xgboost")
    parameters = {
        "objective": "multi:softprob",
        "num_class": num_outputs,
        "max_depth": options.depth,
        "learning_rate": options.rate,
        "tree_method": "hist",
        "nthread": 1,
        "verbosity": 0,
        "seed": options.seed % MAX_SEED,
    }
    matrix = xgboost.DMatrix(rows, labels, nthread=1)
    booster = xgboost.Booster(parameters, [matrix])
    for number in range(options.trees):
        booster.update(matrix, number)
        tell(number + 1, options.trees)
    return booster


def _fitted_forest(rows: Rows, labels: Numbers, options: DistillOptions, tell: Tell) -> object:
    """Return a forest, grown tree by tree: it is the same as one grown at once."""
    forest = fitting_library("forest").RandomForestClassifier(
        max_depth=options.depth, random_state=options.seed % MAX_SEED, n_jobs=1, warm_start=True
    )
    for number in range(options.trees):
        forest.set_params(n_estimators=number + 1)
        forest.fit(rows, labels)
        tell(number + 1, options.trees)
    return forest


def _fitted_tree(rows: Rows, labels: Numbers, options: DistillOptions, tell: Tell) -> object:
    tree = fitting_library("tree").DecisionTreeClassifier(
        max_depth=options.depth, random_state=options.seed % MAX_SEED
    )
    tree.fit(rows, labels)
    tell(1, 1)
    return tree


def _trees_of(model: object) -> Trees:
    loaded = model_of(model)
    if loaded is None or not isinstance(loaded.model, Trees):
        raise Unsupported("trees-unsupported", "the library made no trees")
    return loaded.model


def _with_outputs(estimator: Any, num_outputs: int) -> Trees:
    """Return the trees of a classifier with outputs, of score 0, for classes that it never met."""
    trees = _trees_of(estimator)
    classes = np.asarray(estimator.classes_, dtype=np.int64)
    base = np.zeros(num_outputs)
    base[classes] = trees.base
    leaf = trees.features == -1
    if len(classes) == 1:  # leaves have one value, for the one output
        right = np.where(leaf, classes[0], trees.right).astype(np.int32)
        return replace(trees, num_outputs=num_outputs, base=base, right=right)
    values = np.zeros((len(trees.values) // len(classes), num_outputs))
    values[:, classes] = trees.values.reshape(-1, len(classes))
    places = trees.left // len(classes) * num_outputs
    left = np.where(leaf, places, trees.left).astype(np.int32)
    return replace(trees, num_outputs=num_outputs, base=base, left=left, values=values.ravel())
