"""Small trees that tell states apart, and trees that know a single state.

A separating tree has leaves of value zero: appended to a policy it changes no decision, but gives
the program parameters of its own for what lies in each leaf (Cascioli et al., section 5.3). A
penalty tree takes something from the scores of some outputs in one state and nothing elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from surefoot.policies.trees.forest import Tree
from surefoot.repair.decisions import Flags, Numbers, Reals

MAX_LEAVES = 4096
IsPure = Callable[[Numbers], bool]


@dataclass
class _Growing:
    """Nodes of a tree in the making; a leaf has its values, an inner node its children."""

    features: list[int] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    values: dict[int, Reals] = field(default_factory=dict)

    def node(self) -> int:
        """Add a node that is a leaf until it is split."""
        for numbers in (self.features, self.thresholds, self.left, self.right):
            numbers.append(-1)
        return len(self.features) - 1

    def split(self, node: int, feature: int, threshold: float) -> tuple[int, int]:
        """Make a leaf an inner node and return its children."""
        children = self.node(), self.node()
        self.features[node], self.thresholds[node] = feature, threshold
        self.left[node], self.right[node] = children
        return children

    def finished(self, num_outputs: int) -> Tree:
        """Return the tree; leaves without values are zero."""
        features = np.array(self.features, dtype=np.int64)
        leaf = features == -1
        table = np.zeros((len(features), num_outputs))
        for node, values in self.values.items():
            table[node] = values
        return Tree(
            leaf=leaf,
            features=np.where(leaf, 0, features),
            thresholds=np.where(leaf, 0.0, np.array(self.thresholds, dtype=float)),
            left=np.where(leaf, 0, np.array(self.left, dtype=np.int64)),
            right=np.where(leaf, 0, np.array(self.right, dtype=np.int64)),
            places=np.arange(len(features)) * num_outputs,
            values=table.ravel(),
            output=-1,
        )


def separating_tree(
    rows: Reals, labels: Numbers, weights: Reals, is_pure: IsPure, *, num_outputs: int
) -> Tree | None:
    """Return a tree with zero leaves in which ``is_pure`` holds for the rows in every leaf, as far
    as their inputs differ; None if nothing can be told apart.

    ``rows`` are as the policy compares them. Splits are those that make labels purest, by weight.
    """
    growing = _Growing()
    open_nodes = [(growing.node(), np.arange(len(rows)))]
    leaves = 1
    while open_nodes and leaves < MAX_LEAVES:
        node, inside = open_nodes.pop()
        if is_pure(inside):
            continue
        split = _best_split(rows[inside], labels[inside], weights[inside])
        if split is None:
            continue
        feature, threshold = split
        goes_left = rows[inside, feature] < threshold
        left, right = growing.split(node, feature, threshold)
        open_nodes += [(right, inside[~goes_left]), (left, inside[goes_left])]
        leaves += 1
    return growing.finished(num_outputs) if leaves > 1 else None


def _best_split(rows: Reals, labels: Numbers, weights: Reals) -> tuple[int, float] | None:
    """Return the input and threshold that leave the least impurity; None if all rows are equal."""
    kinds, label = np.unique(labels, return_inverse=True)
    mass = np.zeros((len(rows), len(kinds)))
    mass[np.arange(len(rows)), label] = weights
    best: tuple[float, int, float] | None = None
    for feature in np.flatnonzero(np.ptp(rows, axis=0) > 0):
        order = np.argsort(rows[:, feature], kind="stable")
        values = rows[order, feature]
        ends = np.flatnonzero(values[1:] > values[:-1])
        below = np.cumsum(mass[order], axis=0)[ends]
        impurity = _gini(below) + _gini(mass.sum(axis=0) - below)
        at = int(np.argmin(impurity))
        if best is None or impurity[at] < best[0] - 1e-12:
            threshold = between(float(values[ends[at]]), float(values[ends[at] + 1]))
            best = (float(impurity[at]), int(feature), threshold)
    return None if best is None else best[1:]


def _gini(mass: Reals) -> Reals:
    total = mass.sum(axis=1)
    impurity: Reals = total - (mass**2).sum(axis=1) / np.maximum(total, 1e-300)
    return impurity


def between(low: float, high: float) -> float:
    """Return a threshold with ``low < t <= high``, short if possible."""
    middle = float(np.float32((low + high) / 2))
    return middle if low < middle <= high else high


def constant_tree(num_outputs: int) -> Tree:
    """Return a tree of one leaf, which is zero."""
    growing = _Growing()
    growing.node()
    return growing.finished(num_outputs)


def penalty_tree(row: Reals, penalties: Reals, *, is_float: bool) -> Tree:
    """Return a tree that adds ``penalties`` to the scores of this row, and zero to others."""
    growing = _Growing()
    node = growing.node()
    for feature, value in enumerate(row.tolist()):
        _, node = growing.split(node, feature, value)
        node, _ = growing.split(node, feature, _next(value, is_float=is_float))
    growing.values[node] = penalties
    return growing.finished(len(penalties))


def _next(value: float, *, is_float: bool) -> float:
    """Return the next larger number of the inputs' precision."""
    return (
        float(np.nextafter(np.float32(value), np.float32(np.inf)))
        if is_float
        else float(np.nextafter(value, np.inf))
    )


def no_conflict(is_fault: Flags, labels: Numbers) -> IsPure:
    """Return what tells whether faults are with nobody of another label."""

    def is_pure(inside: Numbers) -> bool:
        if not is_fault[inside].any():
            return True
        first = labels[inside][0]
        return bool((labels[inside] == first).all())

    return is_pure


def distinct_rows(rows: Reals) -> Numbers:
    """Return a number for each row, the same for equal rows."""
    _, numbers = np.unique(rows, axis=0, return_inverse=True)
    return numbers.ravel()


def as_compared(rows: Reals, precision: str) -> Reals:
    """Return inputs as the trees compare them."""
    return rows.astype(np.float32).astype(np.float64) if precision == "float32" else rows
