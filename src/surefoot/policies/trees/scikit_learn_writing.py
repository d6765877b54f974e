"""Repaired models as estimators of scikit-learn: copies of the original with other leaf values and
more trees, or with another last layer.

Gradient boosting multiplies values by its learning rate when it predicts. A copy has the products
as values and the rate 1, so that its scores are those of the repaired model to the last bit.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from surefoot.policies.models import Layer, Network, Trees
from surefoot.policies.trees.forest import Tree, leaf_values, same_trees, trees_behind
from surefoot.policies.trees.scikit_learn import (
    BOOSTED,
    SINGLE,
    kind_of,
    members_of,
    parts_of,
    trees_of,
)

LEAF, UNDEFINED = -1, -2


def with_trees(estimator: Any, model: Trees) -> object:
    """Return a copy of an estimator with the trees of a model.

    Raises ValueError if that cannot be: the copy would not be read as the very same trees.
    """
    made = copy.deepcopy(estimator)
    parts = parts_of(made)
    values = leaf_values(parts, model)
    for member, new in zip(members_of(made), values, strict=True):
        member.tree_.value[...] = new.reshape(member.tree_.value.shape)
    if kind_of(made) in BOOSTED:
        made.learning_rate = 1.0
    if new_trees := trees_behind(model, len(parts)):
        _append(made, new_trees)
    if not same_trees(trees_of(made).model, model):  # type: ignore[arg-type]
        raise ValueError("the trees are not those of the original with more behind them")
    return made


def _append(estimator: Any, trees: list[Tree]) -> None:
    kind, members = kind_of(estimator), members_of(estimator)
    if kind in SINGLE or len(members) == 1:
        what = "a single decision tree" if kind in SINGLE else "a forest of one tree"
        raise ValueError(f"{what} cannot take more trees")
    new = [_member(members[0], tree) for tree in trees]
    if kind in BOOSTED:
        row = estimator.estimators_.shape[1]
        rounds = np.array([*members, *new], dtype=object).reshape(-1, row)
        estimator.estimators_ = rounds
        estimator.n_estimators = estimator.n_estimators_ = len(rounds)
        return
    estimator.estimators_ = [*members, *new]
    estimator.n_estimators = len(estimator.estimators_)


def _member(like: Any, tree: Tree) -> object:
    """Return a decision tree of scikit-learn that is like another but for its nodes."""
    made = copy.deepcopy(like)
    kind, arguments, state = like.tree_.__reduce__()
    count, leaf = len(tree.leaf), tree.leaf
    nodes = np.zeros(count, dtype=state["nodes"].dtype)
    nodes["left_child"] = np.where(leaf, LEAF, tree.left)
    nodes["right_child"] = np.where(leaf, LEAF, tree.right)
    nodes["feature"] = np.where(leaf, UNDEFINED, tree.features)
    nodes["threshold"] = np.where(leaf, UNDEFINED, np.nextafter(tree.thresholds, -np.inf))
    nodes["n_node_samples"] = nodes["weighted_n_node_samples"] = 1
    values = np.zeros((count, *state["values"].shape[1:]))
    width = values[0].size
    rows = tree.values.reshape(-1, width)[tree.places[leaf] // width]
    values[leaf] = rows.reshape(-1, *values.shape[1:])
    made.tree_ = kind(*arguments)
    state |= {"max_depth": _depth(tree), "node_count": count, "nodes": nodes, "values": values}
    made.tree_.__setstate__(state)
    return made


def _depth(tree: Tree) -> int:
    depth, layer = 0, np.zeros(1, dtype=np.int64)
    while len(inner := layer[~tree.leaf[layer]]):
        depth, layer = depth + 1, np.concatenate([tree.left[inner], tree.right[inner]])
    return depth


def with_network(estimator: Any, model: Network) -> object:
    """Return a copy of an MLPClassifier with the last layer of a network.

    Of two classes it has one score, which is then the difference of the two.
    """
    made = copy.deepcopy(estimator)
    weights, biases = model.layers[-1].weights, model.layers[-1].biases
    if made.coefs_[-1].shape[1] == 1 and len(biases) == 2:
        weights, biases = weights[1:] - weights[:1], biases[1:] - biases[:1]
    if made.coefs_[-1].shape != weights.T.shape:
        raise ValueError("the last layer has another size than that of the original")
    made.coefs_[-1][...] = weights.T
    made.intercepts_[-1][...] = biases
    return made


def with_layer(estimator: Any, layer: Layer) -> object:
    """Return a copy of a linear classifier with other numbers; of two classes it has one score."""
    made = copy.deepcopy(estimator)
    weights, biases = layer.weights, layer.biases
    if made.coef_.size < weights.size:
        weights, biases = weights[1:] - weights[:1], biases[1:] - biases[:1]
    kind = made.coef_.dtype
    made.coef_ = weights.reshape(made.coef_.shape).astype(kind)
    made.intercept_ = biases.astype(kind)
    return made
