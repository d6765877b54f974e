"""From single trees, as files have them, to one ensemble.

Nodes that cannot be reached (XGBoost leaves pruned ones in its files) are dropped, the others
numbered tree by tree, each from its root downwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from surefoot.policies.models import Precision, Trees
from surefoot.policies.trees.reading import Integers, Reals

MAX_LEVELS = 10_000
"""how many nodes may be below each other; the deepest trees in use have a few hundred"""

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
    """Return the ensemble of the trees. Raises ValueError if they are none."""
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
    """Return the nodes that are reached, tree by tree, each level by level from the root."""
    mark = np.full(len(joined.leaf), -1, dtype=np.int64)
    layer, levels, reached = joined.roots, [np.zeros(0, dtype=np.int64)], 0
    while len(layer):
        if len(levels) > MAX_LEVELS:
            raise ValueError(f"a tree has more than {MAX_LEVELS:,} levels")
        positions = reached + np.arange(len(layer))
        if (mark[layer] != -1).any():
            raise ValueError("the nodes are no trees: one is shared or cyclic")
        mark[layer] = positions
        if (mark[layer] != positions).any():
            raise ValueError("the nodes are no trees: one is shared")
        levels.append(layer)
        reached += len(layer)
        inner = layer[~joined.leaf[layer]]
        layer = np.concatenate([joined.left[inner], joined.right[inner]])
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
