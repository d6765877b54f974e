"""Ensembles changed by hand as repair changes them: other leaf values, and appended trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.policies.models import Corrected, Trees
from surefoot.policies.trees.forest import Tree, appended
from tests.support.networks import random_network


def separating(point: Any, values: Any, *, radius: float = 0.5) -> Tree:
    """Return a tree whose leaves are all zero but the one for inputs within a radius of a point.

    It is a chain of tests: two for each input, first of not being below, then of being below.
    """
    inputs, outputs = len(point), len(values)
    inner = 2 * inputs
    nodes = 2 * inner + 1  # inner nodes, their zero leaves, and the leaf at the end
    number = np.arange(nodes)
    is_leaf = number >= inner
    below = np.minimum(number + 1, inner)  # the next test, at the end the leaf with the values
    is_lower = number % 2 == 0
    bounds = np.where(is_lower, -radius, radius) + np.asarray(point)[number // 2 % inputs]
    zero = inner + 1 + number
    left, right = np.where(is_lower, zero, below), np.where(is_lower, below, zero)
    places = np.where(is_leaf, (number - inner) * outputs, 0)
    leaves = np.zeros((inner + 1, outputs))
    leaves[0] = values
    return Tree(
        leaf=is_leaf,
        features=np.where(is_leaf, 0, number // 2 % inputs),
        thresholds=np.where(is_leaf, 0.0, bounds),
        left=np.where(is_leaf, 0, left),
        right=np.where(is_leaf, 0, right),
        places=places,
        values=leaves.ravel(),
        output=-1,
    )


def branching(rng: np.random.Generator, inputs: int, outputs: int, *, depth: int = 3) -> Tree:
    """Return a tree that splits on both sides, as separating trees do."""
    leaf, features, thresholds, left, right = [], [], [], [], []

    def grow(level: int) -> int:
        number = len(leaf)
        is_leaf = level == depth or (level > 1 and rng.random() < 0.3)
        for numbers, value in (
            (leaf, is_leaf),
            (features, 0 if is_leaf else int(rng.integers(inputs))),
            (thresholds, 0.0 if is_leaf else float(rng.integers(10)) + 0.5),
            (left, 0),
            (right, 0),
        ):
            numbers.append(value)  # type: ignore[attr-defined]
        if not is_leaf:
            left[number] = grow(level + 1)
            right[number] = grow(level + 1)
        return number

    grow(0)
    count = len(leaf)
    return Tree(
        leaf=np.array(leaf),
        features=np.array(features, dtype=np.int64),
        thresholds=np.array(thresholds),
        left=np.array(left, dtype=np.int64),
        right=np.array(right, dtype=np.int64),
        places=np.arange(count) * outputs,
        values=rng.normal(size=count * outputs),
        output=-1,
    )


def bumped(trees: Trees, rng: np.random.Generator, *, share: float = 0.3) -> Trees:
    """Return the ensemble with some leaf values changed, in its precision."""
    is_changed = rng.random(len(trees.values)) < share
    values = trees.values + np.where(is_changed, rng.normal(size=len(trees.values)), 0.0)
    return replace(trees, values=values.astype(trees.sum_precision).astype(np.float64))


def repaired(trees: Trees, rng: np.random.Generator, *, more: int = 2) -> Trees:
    """Return the ensemble with changed leaf values and separating trees."""
    changed = bumped(trees, rng)
    new = []
    for number in range(more):
        if number % 2:
            new.append(branching(rng, trees.num_inputs, trees.num_outputs))
            continue
        point = rng.integers(0, 10, trees.num_inputs).astype(float)
        new.append(separating(point, rng.normal(size=trees.num_outputs), radius=1.5))
    found = appended(changed, new)
    return replace(found, values=found.values.astype(trees.sum_precision).astype(np.float64))


def corrected(seed: int = 0, *, precision: str = "float32", **changes: Any) -> Corrected:
    """Return a network of three inputs and four outputs with some trees that correct it."""
    rng = np.random.default_rng(seed)
    nothing = np.zeros(0, dtype=np.int32)
    empty = Trees(
        num_inputs=3,
        num_outputs=4,
        roots=nothing,
        features=nothing,
        thresholds=np.zeros(0),
        left=nothing,
        right=nothing,
        values=np.zeros(0),
        base=rng.normal(size=4),
        input_precision="float64",
        sum_precision="float64",
    )
    some = [separating(rng.normal(size=3), rng.normal(size=4)) for _ in range(seed + 1)]
    network = random_network(seed, 3, 5, 4, precision=precision)
    return Corrected(network, replace(appended(empty, some), **changes))
