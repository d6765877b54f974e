"""Bounds of the scores of tree ensembles on a box.

Rounded addition is monotone: adding the least leaves that a box meets, tree by tree as the policy
does, gives the least score that it can compute.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from .intervals import Span
from .model import Variable
from .scores import ROUNDINGS, Cut, Input, surely_better


class Trees:
    """A tree ensemble. A node asks whether a variable is at least its ``cut``."""

    def __init__(self, model: Mapping[str, Any], inputs: Sequence[Input]) -> None:
        self.round = ROUNDINGS[model["sum_precision"]]
        self._feed = ROUNDINGS[model["input_precision"]]
        self._inputs = inputs
        self._cuts: dict[tuple[int, float], float] = {}
        self.num_outputs = model["num_outputs"]
        self.base = [self.round(value) for value in model["base"]]
        self.is_base_last = model["base_last"]
        self.divide_by = model["divide_by"]
        count = len(model["features"])
        self.names: list[str | None] = [None] * count
        self.cuts: list[float] = [0] * count
        self.less = list(model["left"])
        self.more = list(model["right"])
        self.values: list[dict[int, float]] = [{}] * count  # of leaves: by output
        constant: dict[int, int] = {}  # nodes that always go the same way
        for node in range(count):
            self._read(node, model, constant)
        self._skip(constant)
        self.roots = [_target(root, constant) for root in model["roots"]]
        self.variables = self._variables_below()
        self._adds = self._outputs_of_trees()

    def _read(self, node: int, model: Mapping[str, Any], constant: dict[int, int]) -> None:
        feature, left, right = (model[name][node] for name in ("features", "left", "right"))
        if feature == -1:
            count = self.num_outputs if right == -1 else 1
            values = [self.round(value) for value in model["values"][left : left + count]]
            self.values[node] = dict(enumerate(values)) if right == -1 else {right: values[0]}
            return
        given, threshold = self._inputs[feature], model["thresholds"][node]
        if given.variable is None:
            is_more = self._feed(given.value(given.constant)) >= threshold
            constant[node] = right if is_more else left
            return
        self.names[node] = given.variable.name
        self.cuts[node] = self._cut(feature, threshold)
        if given.scale < 0:  # the greater the variable, the less is fed
            self.less[node], self.more[node] = right, left

    def _skip(self, constant: Mapping[int, int]) -> None:
        """Let no node lead to one that always goes the same way."""
        for node, name in enumerate(self.names):
            if name is not None:
                self.less[node] = _target(self.less[node], constant)
                self.more[node] = _target(self.more[node], constant)

    def _cut(self, feature: int, threshold: float) -> float:
        """Return the least value of the variable for which the node goes the other way than for
        lesser ones; one above its range if there is none.
        """
        key = feature, threshold
        if key not in self._cuts:
            given = self._inputs[feature]
            assert given.variable is not None  # the others are constant
            is_up = given.scale > 0
            self._cuts[key] = first_value(
                given.variable, lambda x: (self._feed(given.value(x)) >= threshold) is is_up
            )
        return self._cuts[key]

    def _variables_below(self) -> list[frozenset[str]]:
        """Return the variables that each node and those below it ask about."""
        variables: list[frozenset[str]] = [frozenset()] * len(self.names)
        waiting = [(root, False) for root in self.roots]
        while waiting:
            node, is_ready = waiting.pop()
            name = self.names[node]
            if name is None:
                continue
            below = self.less[node], self.more[node]
            if is_ready:
                variables[node] = variables[below[0]] | variables[below[1]] | {name}
            else:
                waiting += [(node, True), (below[0], False), (below[1], False)]
        return variables

    def _outputs_of_trees(self) -> list[tuple[int, ...]]:
        """Return the outputs that each tree adds to."""
        everything: dict[str, Span] = {
            each.variable.name: (each.variable.lower, each.variable.upper)
            for each in self._inputs
            if each.variable is not None
        }
        return [
            tuple(sorted({o for leaf in self.leaves(root, everything)[1] for o in leaf}))
            for root in self.roots
        ]

    def leaves(self, node: int, box: Mapping[str, Span]) -> tuple[int, list[dict[int, float]]]:
        """Return the node that the box comes to undivided, and the leaves below that it meets."""
        names, cuts, less, more = self.names, self.cuts, self.less, self.more
        top, waiting, leaves = -1, [node], []
        while waiting:
            node = waiting.pop()
            name = names[node]
            if name is None:
                leaves.append(self.values[node])
                continue
            low, high = box[name]
            cut = cuts[node]
            if high < cut:
                waiting.append(less[node])
            elif low >= cut:
                waiting.append(more[node])
            else:
                top = node if top < 0 else top
                waiting += (less[node], more[node])
        return (node if top < 0 else top), leaves

    def on(
        self,
        box: Mapping[str, Span],
        before: TreeScores | None = None,
        changed: Collection[str] = (),
    ) -> TreeScores:
        """Return the scores on a box."""
        parts: list[tuple[int, dict[int, Span]]] = []
        for number, outputs in enumerate(self._adds):
            part = None if before is None else before.parts[number]
            if part is not None and self.variables[part[0]].isdisjoint(changed):
                parts.append(part)
                continue
            top, leaves = self.leaves(self.roots[number] if part is None else part[0], box)
            spans = {}
            for output in outputs:
                values = [leaf.get(output, 0.0) for leaf in leaves]
                spans[output] = min(values), max(values)
            parts.append((top, spans))
        return TreeScores(self, box, parts)


class TreeScores:
    """Sums of the least and of the greatest leaves, added as the policy adds them."""

    def __init__(
        self, trees: Trees, box: Mapping[str, Span], parts: list[tuple[int, dict[int, Span]]]
    ) -> None:
        self._trees = trees
        self._box = box
        self.parts = parts
        self._spans = self._sums()

    def _sums(self) -> list[Span]:
        trees, to_number = self._trees, self._trees.round
        start = [0.0] * trees.num_outputs if trees.is_base_last else trees.base
        lows, highs = list(start), list(start)
        for _, spans in self.parts:
            for output, (low, high) in spans.items():
                lows[output] = to_number(lows[output] + low)
                highs[output] = to_number(highs[output] + high)
        return [self._finished(o, lows[o], highs[o]) for o in range(trees.num_outputs)]

    def _finished(self, output: int, low: float, high: float) -> Span:
        trees = self._trees
        if trees.is_base_last:
            low = trees.round(low + trees.base[output])
            high = trees.round(high + trees.base[output])
        if trees.divide_by != 1:
            low, high = trees.round(low / trees.divide_by), trees.round(high / trees.divide_by)
        if not (math.isfinite(low) and math.isfinite(high)):
            return -math.inf, math.inf
        return low, high

    def span(self, output: int) -> Span:
        """Return the least and the greatest score."""
        return self._spans[output]

    def beats(self, better: int, other: int) -> bool:
        """Return whether one output surely wins against another one."""
        return surely_better(self._spans, better, other)

    def weights(self, outputs: Collection[int]) -> dict[Cut, float]:
        """Return how much leaves differ below undecided nodes at the top of trees, by cuts."""
        weights: dict[Cut, float] = {}
        trees = self._trees
        for top, spans in self.parts:
            name = trees.names[top]
            if name is None or not self._box[name][0] < trees.cuts[top] <= self._box[name][1]:
                continue
            size = max((spans[o][1] - spans[o][0] for o in outputs if o in spans), default=0.0)
            if size > 0:
                cut = name, trees.cuts[top]
                weights[cut] = weights.get(cut, 0.0) + size
        return weights

    def cut(self, outputs: Collection[int]) -> Cut | None:
        """Return the cut on which most depends."""
        weights = self.weights(outputs)
        return max(weights, key=lambda cut: weights[cut]) if weights else None


def _target(node: int, constant: Mapping[int, int]) -> int:
    while node in constant:
        node = constant[node]
    return node


def first_value(variable: Variable, is_from_here: Callable[[float], bool]) -> float:
    """Return the least value of a variable from which on something holds, by bisection; one above
    its greatest value if it holds nowhere.
    """
    if variable.kind == "real":
        first, end = _order(variable.lower), _order(variable.upper) + 1
        value_of: Callable[[int], float] = _double
    else:
        first, end, value_of = int(variable.lower), int(variable.upper) + 1, int
    while first < end:
        half = (first + end) // 2
        first, end = (first, half) if is_from_here(value_of(half)) else (half + 1, end)
    return value_of(first)


def _order(value: float) -> int:
    """Return the place of a double among all doubles; that of 0 is 0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return int(bits) if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _double(order: int) -> float:
    """Return the double at a place."""
    (value,) = struct.unpack("<d", struct.pack("<q", abs(order)))
    return float(value if order >= 0 else -value)
