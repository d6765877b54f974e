"""From single trees, as files have them, to one ensemble.

Nodes that cannot be reached (XGBoost leaves pruned ones in its files) are dropped, the others
numbered tree by tree, each from its root downwards. More trees can be put behind those of an
ensemble, which keep their numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.policies.models import Precision, Trees
from surefoot.policies.trees.reading import Integers, Reals

MAX_LEVELS = 10_000
"""how many nodes may be below each other; the deepest trees in use have a few hundred"""

CHUNK = 2**16
"""how many leaves are looked for at once: so many fit into the processor's memory"""

ZERO = float(np.float32(1e-35))
"""LightGBM takes inputs of at most this size for zero"""

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Tree:
    """One tree: arrays over its nodes, of which number 0 is the root.

    ``features``, ``thresholds`` and the children count for inner nodes only. A leaf has the value
    at position ``places`` of ``values`` for one output, or from there on one for each.
    """

    leaf: Flags
    features: Integers
    thresholds: Reals
    left: Integers
    right: Integers
    places: Integers
    values: Reals
    output: int
    """the one output its leaves add to, or -1 for all"""


def at_most(thresholds: Reals) -> Reals:
    """Return the thresholds with which ``x < t`` is what ``x <= t`` was with these."""
    with np.errstate(over="ignore"):  # the largest number of all becomes infinite
        return np.nextafter(thresholds, np.inf)


def assemble(
    trees: Sequence[Tree],
    *,
    num_inputs: int,
    base: Reals,
    input_precision: Precision,
    sum_precision: Precision,
    divide_by: float = 1.0,
) -> Trees:
    """Return the ensemble of the trees. Raises ValueError if they are invalid."""
    joined = _joined(trees, num_inputs)
    order = _order(joined)
    new = np.full(len(joined.leaf), -1, dtype=np.int64)
    new[order] = np.arange(len(order))
    leaf = joined.leaf[order]
    outputs = joined.outputs[order]
    values, places = _values(joined.values, joined.places[order][leaf], outputs[leaf], len(base))
    left, right = new[joined.left[order]], new[joined.right[order]]
    left[leaf], right[leaf] = places, outputs[leaf]
    made = Trees(
        num_inputs=num_inputs,
        num_outputs=len(base),
        roots=new[joined.roots].astype(np.int32),
        features=np.where(leaf, -1, joined.features[order]).astype(np.int32),
        thresholds=np.where(leaf, 0.0, joined.thresholds[order]),
        left=left.astype(np.int32),
        right=right.astype(np.int32),
        values=values,
        base=base,
        input_precision=input_precision,
        sum_precision=sum_precision,
        divide_by=divide_by,
    )
    made.check()
    return made


@dataclass(frozen=True)
class _Joined:
    """All trees in one row of nodes; children and places of values are numbered in that row."""

    roots: Integers
    tree: Integers
    leaf: Flags
    features: Integers
    thresholds: Reals
    left: Integers
    right: Integers
    places: Integers
    outputs: Integers
    values: Reals


def _joined(trees: Sequence[Tree], num_inputs: int) -> _Joined:
    sizes = np.array([len(tree.leaf) for tree in trees], dtype=np.int64)
    if not sizes.all():
        raise ValueError(f"tree {int(np.argmin(sizes))} has no nodes")
    number = np.repeat(np.arange(len(trees)), sizes)
    roots = np.cumsum(sizes) - sizes
    counts = np.array([len(tree.values) for tree in trees], dtype=np.int64)
    first_values = np.cumsum(counts) - counts
    leaf = np.concatenate([np.zeros(0, dtype=bool), *(tree.leaf for tree in trees)])
    whole = {
        name: np.concatenate([np.zeros(0, dtype=np.int64), *(getattr(t, name) for t in trees)])
        for name in ("features", "left", "right", "places")
    }
    reals = {
        name: np.concatenate([np.zeros(0), *(getattr(tree, name) for tree in trees)])
        for name in ("thresholds", "values")
    }
    _check_inner(whole, ~leaf, sizes[number], num_inputs)
    for child in ("left", "right"):
        whole[child] = np.where(leaf, 0, whole[child] + roots[number])
    outputs = np.array([tree.output for tree in trees], dtype=np.int64)[number]
    _check_places(whole["places"][leaf], counts[number][leaf], outputs[leaf])
    whole["places"] += first_values[number]
    return _Joined(roots=roots, tree=number, leaf=leaf, outputs=outputs, **whole, **reals)


def _check_inner(
    nodes: dict[str, Integers], inner: Flags, sizes: Integers, num_inputs: int
) -> None:
    features = nodes["features"][inner]
    if ((features < 0) | (features >= num_inputs)).any():
        raise ValueError(f"a feature is not one of the {num_inputs:,} inputs")
    for name in ("left", "right"):
        children = nodes[name][inner]
        if ((children < 0) | (children >= sizes[inner])).any():
            raise ValueError("a node has a child that is not there")


def _check_places(places: Integers, counts: Integers, outputs: Integers) -> None:
    if ((places < 0) | (places >= counts)).any():
        raise ValueError("a leaf has no values")
    if (outputs < -1).any():
        raise ValueError("a tree adds to an output that is not there")


def _order(joined: _Joined) -> Integers:
    """Return the nodes that are reached, tree by tree, each level by level from the root.

    The children of a node stand side by side, as XGBoost takes it that they do.
    """
    mark = np.full(len(joined.leaf), -1, dtype=np.int64)
    layer, levels, reached = joined.roots, [np.zeros(0, dtype=np.int64)], 0
    while len(layer):
        if len(levels) > MAX_LEVELS:
            raise ValueError(f"a tree has more than {MAX_LEVELS:,} levels")
        positions = reached + np.arange(len(layer))
        if (mark[layer] != -1).any():
            raise ValueError("the nodes do not form trees: one is shared or cyclic")
        mark[layer] = positions
        if (mark[layer] != positions).any():
            raise ValueError("the nodes do not form trees: one is shared")
        levels.append(layer)
        reached += len(layer)
        inner = layer[~joined.leaf[layer]]
        layer = np.stack([joined.left[inner], joined.right[inner]], axis=1).ravel()
    order = np.concatenate(levels)
    return order[np.argsort(joined.tree[order], kind="stable")]


def _values(
    values: Reals, places: Integers, outputs: Integers, num_outputs: int
) -> tuple[Reals, Integers]:
    """Return the values of the leaves in their order, and where those of each leaf begin."""
    if not len(places):
        return np.zeros(0), places
    is_vector = bool(outputs[0] == -1)
    if ((outputs == -1) != is_vector).any():
        raise ValueError("some trees add to one output and some to all")
    if not is_vector:
        return values[places], np.arange(len(places))
    if (places + num_outputs > len(values)).any():
        raise ValueError("a leaf has no values")
    if len(np.unique(places)) != len(places) or (places % num_outputs).any():
        raise ValueError("leaves share values")
    rows = values[places[:, None] + np.arange(num_outputs)]
    return rows.ravel(), np.arange(len(places)) * num_outputs


# -- more trees ------------------------------------------------------------------------------


def appended(model: Trees, trees: Sequence[Tree]) -> Trees:
    """Return the ensemble with more trees, whose leaves have a value for each output.

    Nodes, roots and values of the ensemble stay where they are; the new ones follow. If its leaves
    add to one output each, a new tree becomes one for each output, all of the same structure: what
    boosting adds in a round. If they all add to the second of two outputs (a margin), it becomes
    one, with the differences as values. The mean of some trees becomes the mean of more.
    Thresholds are brought to numbers that the libraries compare with (see :func:`_comparable`).
    Raises ValueError if a tree is invalid.
    """
    if any(tree.output != -1 for tree in trees):
        raise ValueError("a tree that is appended has a value for each output")
    new = [part for tree in trees for part in _parts(model, tree)]
    behind = assemble(
        new,
        num_inputs=model.num_inputs,
        base=model.base,
        input_precision=model.input_precision,
        sum_precision=model.sum_precision,
    )
    leaf = behind.features == -1
    shifts = np.where(leaf, len(model.values), len(model.features))
    arrays: dict[str, npt.NDArray[Any]] = {
        "roots": behind.roots + len(model.features),
        "features": behind.features,
        "thresholds": behind.thresholds,
        "left": behind.left + shifts,
        "right": np.where(leaf, behind.right, behind.right + len(model.features)),
        "values": behind.values,
    }
    joined: dict[str, Any] = {
        name: np.concatenate([given := getattr(model, name), more.astype(given.dtype)])
        for name, more in arrays.items()
    }
    return replace(model, divide_by=_divisor(model, len(trees)), **joined)


def adds_to_one(model: Trees) -> bool:
    """Return whether leaves add to one output each."""
    return bool((model.right[model.features == -1] >= 0).any())


def is_margin(model: Trees) -> bool:
    """Return whether all leaves add to the second of two outputs."""
    return model.num_outputs == 2 and bool(
        len(model.roots) and (model.right[model.features == -1] == 1).all()
    )


def _parts(model: Trees, tree: Tree) -> list[Tree]:
    """Return a tree as one with a leaf for each output, or as trees that add to one output each."""
    tree = replace(tree, thresholds=_comparable(tree.thresholds, model.input_precision))
    if not adds_to_one(model):
        return [tree]
    places = np.where(tree.leaf, tree.places, 0)
    if (places < 0).any() or (places + model.num_outputs > len(tree.values)).any():
        raise ValueError("a leaf has no values")
    if is_margin(model):
        margins = tree.values[places + 1] - tree.values[places]
        return [_with_values(tree, margins, 1)]
    return [_with_values(tree, tree.values[places + o], o) for o in range(model.num_outputs)]


def _comparable(thresholds: Reals, precision: Precision) -> Reals:
    """Return thresholds that mean the same for inputs of a precision: float32 numbers for those.

    Compared in double, thresholds closer to zero than ``ZERO`` are moved there, as LightGBM takes
    inputs that near to zero for zero.
    """
    if precision == "float32":
        with np.errstate(over="ignore"):
            near = thresholds.astype(np.float32)
            above = np.nextafter(near, np.float32(np.inf))
        return np.where(near < thresholds, above, near).astype(np.float64)
    moved = np.where(thresholds > 0, at_most(np.full_like(thresholds, ZERO)), -ZERO)
    return np.where(np.abs(thresholds) <= ZERO, moved, thresholds)


def _with_values(tree: Tree, values: Reals, output: int) -> Tree:
    """Return the tree with a value for each node and one output."""
    return replace(tree, places=np.arange(len(tree.leaf)), values=values, output=output)


def _divisor(model: Trees, more: int) -> float:
    return model.divide_by + more if model.divide_by > 1 else model.divide_by


# -- back to single trees --------------------------------------------------------------------


def leaf_values(trees: Sequence[Tree], model: Trees) -> list[Reals]:
    """Return the ``values`` of each tree with those of the leaves as an ensemble has them that
    begins with these trees, assembled. Raises ValueError if it does not.
    """
    joined = _joined(trees, model.num_inputs)
    order = _order(joined)
    leaves = order[joined.leaf[order]]
    width = model.num_outputs if len(leaves) and joined.outputs[leaves[0]] == -1 else 1
    if len(leaves) * width > len(model.values):
        raise ValueError("the ensemble has fewer leaves than the original")
    values = joined.values.copy()
    rows = model.values[: len(leaves) * width].reshape(-1, width)
    values[joined.places[leaves][:, None] + np.arange(width)] = rows
    ends = np.cumsum([len(tree.values) for tree in trees], dtype=np.int64)
    return [values[end - len(tree.values) : end] for tree, end in zip(trees, ends, strict=True)]


def trees_behind(model: Trees, count: int) -> list[Tree]:
    """Return the trees of an ensemble after the first ones, each with nodes that are numbered from
    0 and values in the order of its leaves. Raises ValueError if nodes of trees are mixed.
    """
    ends = np.append(model.roots, len(model.features))[1:]
    if (ends < model.roots).any():
        raise ValueError("the nodes of the trees are not in the order of the trees")
    spans = zip(model.roots[count:].tolist(), ends[count:].tolist(), strict=True)
    return [_cut_out(model, begin, end) for begin, end in spans]


def _cut_out(model: Trees, begin: int, end: int) -> Tree:
    leaf = model.features[begin:end] == -1
    first, outputs = (each[begin:end][leaf].astype(np.int64) for each in (model.left, model.right))
    left, right = (each[begin:end].astype(np.int64) - begin for each in (model.left, model.right))
    width = model.num_outputs if (outputs == -1).all() else 1
    places = np.zeros(end - begin, dtype=np.int64)
    places[leaf] = np.arange(len(first)) * width
    if (outputs != outputs[0]).any():
        raise ValueError("the leaves of a tree add to different outputs")
    return Tree(
        leaf=leaf,
        features=model.features[begin:end].astype(np.int64),
        thresholds=model.thresholds[begin:end],
        left=np.where(leaf, 0, left),
        right=np.where(leaf, 0, right),
        places=places,
        values=model.values[first[:, None] + np.arange(width)].ravel(),
        output=int(outputs[0]),
    )


def same_trees(first: Trees, other: Trees) -> bool:
    """Return whether two ensembles are the same in every number."""
    return all(
        np.array_equal(getattr(first, field.name), getattr(other, field.name))
        for field in fields(Trees)
    )


# -- leaves ----------------------------------------------------------------------------------


def leaf_places(model: Trees, inputs: Reals) -> Integers:
    """Return the leaf that each row of inputs reaches in each tree: (rows, trees), node numbers."""
    given = np.asarray(inputs, dtype=np.float64)
    if model.input_precision == "float32":
        given = given.astype(np.float32).astype(np.float64)
    count = len(model.roots)
    rows = max(1, CHUNK // max(count, 1))
    chunks = [given[begin : begin + rows] for begin in range(0, len(given), rows)]
    walked = [_walked(model, chunk) for chunk in chunks]
    return np.concatenate([np.zeros(0, dtype=np.int64), *walked]).reshape(len(given), count)


def _walked(model: Trees, rows: Reals) -> Integers:
    """Return the leaf of each row in each tree, row by row; what is not a leaf yet walks on."""
    count = len(model.roots)
    at = np.tile(model.roots.astype(np.int64), len(rows))
    moving = np.flatnonzero(model.features[at] >= 0)
    flat, width = np.ascontiguousarray(rows).ravel(), rows.shape[1]
    while len(moving):
        nodes = at[moving]
        inputs = flat[moving // count * width + model.features[nodes]]
        is_less = inputs < model.thresholds[nodes]
        children = np.where(is_less, model.left[nodes], model.right[nodes])
        at[moving] = children
        moving = moving[model.features[children] >= 0]
    return at
