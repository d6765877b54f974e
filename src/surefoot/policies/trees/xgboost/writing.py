"""Repaired ensembles as models of XGBoost: the original with other leaf values and more trees.

Everything else in the file stays. New trees are rounds of their own behind the others, and XGBoost
predicts with all of them: what limits it to its best iteration is left out. The weights of a
``dart`` model are multiplied into its leaves, which gives the same scores.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.policies.models import Trees
from surefoot.policies.trees.forest import Tree, leaf_values, same_trees, trees_behind
from surefoot.policies.trees.reading import Reals
from surefoot.policies.trees.ubjson import to_ubjson
from surefoot.policies.trees.xgboost import Parts, parts_of, trees_of

NO_PARENT = 2**31 - 1
NOT_USED = float(np.finfo(np.float32).smallest_subnormal)
"""what stands for the threshold of a leaf with a vector"""
BEST = ("best_iteration", "best_score", "best_ntree_limit")

Arrays = dict[str, npt.NDArray[Any]]


def to_bytes(content: object, model: Trees, suffix: str) -> bytes:
    """Return the file, by its suffix, of the content of an original with the trees of a model."""
    changed = with_trees(content, model)
    if suffix == ".ubj":
        return to_ubjson(changed)
    compact: dict[str, Any] = {"separators": (",", ":"), "ensure_ascii": False}  # no \\u: not read
    return json.dumps(changed, allow_nan=False, default=_plain, **compact).encode()


def with_trees(content: Any, model: Trees) -> object:
    """Return the content of an original, as its JSON says it, with the trees of a model.

    Raises ValueError if that cannot be: the result would not be read as the very same trees.
    """
    changed = copy.deepcopy(content)
    parts = parts_of(changed)
    _set_leaves(parts, model)
    _append(parts, trees_behind(model, len(parts.trees)))
    learner = changed["learner"]
    booster = learner["gradient_booster"]
    if "weight_drop" in booster:
        is_array = isinstance(booster["weight_drop"], np.ndarray)
        ones = np.ones(len(model.roots), dtype=np.float32)
        booster["weight_drop"] = ones if is_array else ones.tolist()
    for name in BEST:
        learner.get("attributes", {}).pop(name, None)
    if not same_trees(trees_of(changed), model):
        raise ValueError("the trees are not those of the original with more behind them")
    return changed


# -- leaves ----------------------------------------------------------------------------------


def _set_leaves(parts: Parts, model: Trees) -> None:
    contents = parts.model["trees"]
    values = leaf_values(parts.trees, model)
    for content, tree, new in zip(contents, parts.trees, values, strict=True):
        if tree.output == -1:
            content["leaf_weights"] = new.astype(np.float32)
            _set_rows(content, tree, new, model.num_outputs)
            continue
        for name in ("split_conditions", "base_weights"):
            old = np.asarray(content[name], dtype=np.float32)
            content[name] = np.where(tree.leaf, new.astype(np.float32), old)


def _set_rows(content: Any, tree: Tree, values: Reals, width: int) -> None:
    """Set what the file says about the weights of leaves besides their values."""
    weights = np.array(content.get("base_weights", []), dtype=np.float32)
    if len(weights) == len(tree.leaf) * width:
        rows = weights.reshape(-1, width)
        rows[tree.leaf] = values[tree.places[tree.leaf][:, None] + np.arange(width)]
        content["base_weights"] = rows.ravel()


# -- trees -----------------------------------------------------------------------------------


def _append(parts: Parts, trees: list[Tree]) -> None:
    model, width = parts.model, len(parts.base)
    if not trees:
        return
    first = len(model["trees"])
    model["trees"] += [
        _content(tree, parts, number) for number, tree in enumerate(trees, start=first)
    ]
    outputs = [max(tree.output - parts.first_output, 0) for tree in trees]
    model["tree_info"] = _extended(model["tree_info"], outputs)
    model["gbtree_model_param"]["num_trees"] = str(len(model["trees"]))
    if len(model.get("iteration_indptr", ())):
        per_round = 1 if trees[0].output == -1 else width - parts.first_output
        ends = range(first + per_round, len(model["trees"]) + 1, per_round)
        model["iteration_indptr"] = _extended(model["iteration_indptr"], list(ends))


def _extended(given: Any, more: list[int]) -> object:
    """Return numbers with more behind them, in an array if they are in one."""
    if isinstance(given, np.ndarray):
        return np.append(given, np.array(more, dtype=given.dtype))
    return [*given, *more]


def _content(tree: Tree, parts: Parts, number: int) -> dict[str, object]:
    """Return a tree as XGBoost describes it."""
    count, is_vector = len(tree.leaf), tree.output == -1
    width = len(parts.base) if is_vector else 1
    arrays = _vector_arrays(tree, width) if is_vector else _scalar_arrays(tree)
    nothing = np.zeros(count)
    arrays |= {
        "split_indices": np.where(tree.leaf, 0, tree.features).astype(np.int32),
        "default_left": nothing.astype(np.uint8),
        "split_type": nothing.astype(np.uint8),
        "loss_changes": nothing.astype(np.float32),
        "sum_hessian": nothing.astype(np.float32),
        "left_children": np.where(tree.leaf, -1, tree.left).astype(np.int32),
        "parents": _parents(tree, -1 if is_vector else NO_PARENT),
        "categories": np.zeros(0, dtype=np.int32),
        "categories_nodes": np.zeros(0, dtype=np.int32),
        "categories_segments": np.zeros(0, dtype=np.int64),
        "categories_sizes": np.zeros(0, dtype=np.int64),
    }
    sizes = {"num_deleted": 0, "num_feature": parts.num_inputs, "num_nodes": count}
    sizes["size_leaf_vector"] = width
    return {**arrays, "id": number, "tree_param": {key: str(n) for key, n in sizes.items()}}


def _scalar_arrays(tree: Tree) -> Arrays:
    values = np.zeros(len(tree.leaf))
    values[tree.leaf] = tree.values[tree.places[tree.leaf]]
    return {
        "split_conditions": np.where(tree.leaf, values, tree.thresholds).astype(np.float32),
        "base_weights": values.astype(np.float32),
        "right_children": np.where(tree.leaf, -1, tree.right).astype(np.int32),
    }


def _vector_arrays(tree: Tree, width: int) -> Arrays:
    """Return the arrays of a tree with vectors; a leaf names its row of values as right child."""
    rows = tree.places // width
    weights = np.zeros((len(tree.leaf), width))
    weights[tree.leaf] = tree.values.reshape(-1, width)[rows[tree.leaf]]
    return {
        "split_conditions": np.where(tree.leaf, NOT_USED, tree.thresholds).astype(np.float32),
        "base_weights": weights.ravel().astype(np.float32),
        "right_children": np.where(tree.leaf, rows, tree.right).astype(np.int32),
        "leaf_weights": tree.values.astype(np.float32),
    }


def _parents(tree: Tree, none: int) -> npt.NDArray[np.int32]:
    parents = np.full(len(tree.leaf), none, dtype=np.int32)
    inner = np.flatnonzero(~tree.leaf)
    parents[tree.left[inner]] = parents[tree.right[inner]] = inner
    return parents


def _plain(array: Any) -> list[object]:
    """Return an array as a list; float32 numbers as the shortest decimals that stand for them."""
    if array.dtype == np.float32:
        return [float(str(number)) for number in array]
    values: list[object] = array.tolist()
    return values
