"""Bounds of the scores of networks on a box, of what rounded arithmetic computes.

Each layer is ``z = W h + b + e`` where `h` are the numbers that the policy computed before and `e`
is the error of its rounded sum, which is bounded by the number of terms and their size. Sums here
are rounded as well, and bounds are widened by as much as that can be wrong. Scores are bounded
twice: layer by layer with spans, and backwards with linear bounds of the activations (as CROWN,
Zhang et al. 2018), by which also differences of two scores are bounded.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from operator import mul
from typing import Any

from .intervals import Span
from .scores import ROUNDINGS, Cut, Input, middle
from .trees import Trees, TreeScores

_UNIT = {"float32": 2.0**-24, "float64": 2.0**-53}
_TINY = {"float32": 2.0**-149, "float64": 5e-324}
_LARGEST = {"float32": 1e37, "float64": 1e100}
_OWN = 2.0**-53
_MAX_RELATIVE = 0.01  # of rounding errors: sums of more terms are not bounded here


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return float(sum(map(mul, left, right)))


class _Layer:
    """Weights and biases, rounded as the policy has them."""

    def __init__(self, data: Mapping[str, Any], precision: str) -> None:
        to_number = ROUNDINGS[precision]
        self.weights = [[to_number(w) for w in row] for row in data["weights"]]
        self.biases = [to_number(bias) for bias in data["biases"]]
        self.activation = data["activation"]
        self.slope = to_number(data["slope"])
        self.columns = [list(column) for column in zip(*self.weights, strict=True)]
        self.positive = [[max(w, 0.0) for w in row] for row in self.weights]
        self.negative = [[min(w, 0.0) for w in row] for row in self.weights]
        self.sizes = [[abs(w) for w in row] for row in self.weights]
        terms = len(self.weights[0]) + 2
        self.relative = 1.05 * terms * _UNIT[precision]  # of the policy's sums
        self.own = 1.05 * (2 * terms + 8) * _OWN  # of the sums here
        self.tiny = 2 * terms * _TINY[precision]

    @property
    def is_piecewise(self) -> bool:
        """Whether activations have linear bounds here."""
        is_convex = self.activation == "leaky_relu" and 0 <= self.slope <= 1
        return self.activation in ("linear", "relu") or is_convex

    @property
    def negative_slope(self) -> float:
        """The slope of the activation below 0."""
        return {"linear": 1.0, "relu": 0.0}.get(self.activation, self.slope)


class _Values:
    """What is known of a layer's sums on a box, and of what it makes of them."""

    def __init__(self, layer: _Layer, below: Sequence[Span], precision: str) -> None:
        lows, highs = [low for low, _ in below], [high for _, high in below]
        most = [max(-low, high) for low, high in below]
        self.layer = layer
        self.sizes: list[float] = []  # of all terms of each sum together
        self.errors: list[float] = []  # of the policy's sums
        self.sums: list[Span] = []
        for row, bias in enumerate(layer.biases):
            size = abs(bias) + _dot(layer.sizes[row], most)
            error = layer.relative * size + layer.tiny
            wide = error + layer.own * size
            low = bias + _dot(layer.positive[row], lows) + _dot(layer.negative[row], highs)
            high = bias + _dot(layer.positive[row], highs) + _dot(layer.negative[row], lows)
            self.sizes.append(size)
            self.errors.append(error)
            self.sums.append((low - wide, high + wide))
        self.is_bounded = all(size < _LARGEST[precision] for size in self.sizes)
        self.is_bounded &= layer.relative < _MAX_RELATIVE
        self._precision = precision
        self._activate()

    def narrow(self, spans: Sequence[Span]) -> None:
        """Take better bounds of the sums."""
        pairs = zip(self.sums, spans, strict=True)
        self.sums = [(max(a, c), min(b, d)) for (a, b), (c, d) in pairs]
        self._activate()

    def _activate(self) -> None:
        unit = _UNIT[self._precision]
        self.activation_errors = [0.0] * len(self.sums)
        if self.layer.activation == "leaky_relu":
            slope = abs(self.layer.slope)
            self.activation_errors = [
                2 * unit * slope * max(-low, high, 0.0) + _TINY[self._precision]
                for low, high in self.sums
            ]
        self._lines: list[tuple[float, float, float, float]] | None = None
        self.outputs = [
            self._activated(low, high, error)
            for (low, high), error in zip(self.sums, self.activation_errors, strict=True)
        ]

    def _activated(self, low: float, high: float, error: float) -> Span:
        kind, wide = self.layer.activation, 64 * _UNIT[self._precision]
        if kind == "relu":
            return max(low, 0.0), max(high, 0.0)
        if kind == "tanh":
            return math.tanh(low) - wide, math.tanh(high) + wide
        if kind == "sigmoid":
            return _sigmoid(low) - wide, _sigmoid(high) + wide
        if kind == "leaky_relu":
            slope = self.layer.slope
            ends = [x if x >= 0 else slope * x for x in (low, high)]
            ends += [0.0] if low < 0 < high else []
            return min(ends) - error, max(ends) + error
        return low, high

    def through(self, factors: list[float]) -> tuple[list[float], float, float]:
        """Return a lower bound of a sum of multiples of the outputs, in the sums: the factors, a
        constant, and how much was added up for it.
        """
        if self._lines is None:
            self._lines = [self._line(row) for row in range(len(self.sums))]
        new, constant, size = [], 0.0, 0.0
        for factor, (low, high, below, above) in zip(factors, self._lines, strict=True):
            new.append(factor * (low if factor > 0 else high))
            part = factor * (below if factor > 0 else above)
            constant += part
            size += abs(part)
        return new, constant, size

    def _line(self, row: int) -> tuple[float, float, float, float]:
        """Return the slopes of a line below and of one above the activation between the bounds of
        a sum, and their values at 0.
        """
        low, high = self.sums[row]
        error, slope = self.activation_errors[row], self.layer.negative_slope
        if not self.layer.is_piecewise:
            return (0.0, 0.0, *self.outputs[row])
        if low >= 0 or high <= 0:
            same = 1.0 if low >= 0 else slope
            return same, same, -error, error
        steep = (high - slope * low) / (high - low)
        above = max(slope * low - steep * low, high - steep * high, 0.0)
        above += 8 * _OWN * (abs(low) + abs(high))
        return (1.0 if high > -low else slope), steep, -error, above + error


def _sigmoid(value: float) -> float:
    if value < -700:
        return 0.0
    return 1 / (1 + math.exp(-value))


class Network:
    """A feed-forward network."""

    def __init__(self, model: Mapping[str, Any], inputs: Sequence[Input]) -> None:
        self.precision = model["precision"]
        self.layers = [_Layer(each, self.precision) for each in model["layers"]]
        self.inputs = inputs

    def on(
        self, box: Mapping[str, Span], before: Any = None, changed: Collection[str] = ()
    ) -> NetworkScores:
        """Return the scores on a box."""
        return NetworkScores(self, box)


class NetworkScores:
    """Bounds of scores and of their differences."""

    def __init__(self, network: Network, box: Mapping[str, Span]) -> None:
        self._network = network
        self._box = box
        to_number = ROUNDINGS[network.precision]
        self._fed: list[Span] = []
        for each in network.inputs:
            low, high = each.span(box)
            self._fed.append((to_number(low), to_number(high)))
        self._values: list[_Values] = []
        below: Sequence[Span] = self._fed
        self.is_bounded = all(math.isfinite(end) for span in below for end in span)
        for layer in network.layers:
            values = _Values(layer, below, network.precision)
            self.is_bounded = self.is_bounded and values.is_bounded
            if not self.is_bounded:
                return
            if self._values and layer is not network.layers[-1]:
                values.narrow(self._linear_spans(values))
            self._values.append(values)
            below = values.outputs
        self._differences: dict[tuple[int, int], float] = {}
        self._slopes: list[float] = [1.0] * len(self._fed)

    def _linear_spans(self, values: _Values) -> list[Span]:
        """Return bounds of the sums of a layer, from backwards through those below."""
        spans = []
        for row, weights in enumerate(values.layer.weights):
            if not values.sums[row][0] < 0 < values.sums[row][1]:
                spans.append(values.sums[row])
                continue
            bias, error = values.layer.biases[row], values.errors[row]
            wide = error + values.layer.own * values.sizes[row]
            low, _ = self._backwards(weights)
            high, _ = self._backwards([-w for w in weights])
            low -= 4 * _OWN * abs(low)
            high -= 4 * _OWN * abs(high)
            spans.append((bias + low - wide, bias - high + wide))
        return spans

    def _backwards(self, factors: list[float]) -> tuple[float, list[float]]:
        """Return a lower bound of a sum of multiples of the last known layer's outputs, and the
        factors of the inputs in it.
        """
        total, size, terms = 0.0, 0.0, 16
        for values in reversed(self._values):
            factors, constant, amount = values.through(factors)
            amounts = list(map(abs, factors))
            total += constant + _dot(factors, values.layer.biases) - _dot(amounts, values.errors)
            size += amount + 2 * _dot(amounts, values.sizes) + _dot(amounts, values.errors)
            terms += 4 * len(factors)
            factors = [_dot(factors, column) for column in values.layer.columns]
        for factor, (low, high) in zip(factors, self._fed, strict=True):
            total += factor * (low if factor > 0 else high)
            size += abs(factor) * max(-low, high)
        terms += 4 * len(factors)
        return total - 2 * terms * _OWN * size - 1e-200, factors

    def span(self, output: int) -> Span:
        """Return the least and the greatest score."""
        return self._values[-1].outputs[output] if self.is_bounded else (-math.inf, math.inf)

    def beats(self, better: int, other: int) -> bool:
        """Return whether one output surely wins against another one."""
        if not self.is_bounded:
            return False
        return self.span(better)[0] > self.span(other)[1] or self.difference(better, other) > 0

    def difference(self, better: int, other: int) -> float:
        """Return a lower bound of the difference of two scores."""
        if not self.is_bounded:
            return -math.inf
        key = better, other
        if key not in self._differences:
            self._differences[key] = self._difference(better, other)
        return self._differences[key]

    def _difference(self, better: int, other: int) -> float:
        last = self._values[-1]
        if last.layer.activation != "linear":
            low, high = last.outputs[better][0], last.outputs[other][1]
            return float(low - high - 4 * _OWN * (abs(low) + abs(high)))
        above = self._values.pop()
        try:
            rows = last.layer.weights
            factors = [a - b for a, b in zip(rows[better], rows[other], strict=True)]
            low, self._slopes = self._backwards(factors)
        finally:
            self._values.append(above)
        size = last.sizes[better] + last.sizes[other]
        wide = last.errors[better] + last.errors[other] + 2 * last.layer.own * size
        wide += 4 * _OWN * abs(low)
        return low + last.layer.biases[better] - last.layer.biases[other] - wide

    def cut(self, outputs: Collection[int]) -> Cut | None:
        """Return the middle of the variable that the last difference depends on most."""
        best, most = None, 0.0
        slopes = self._slopes if self.is_bounded else [1.0] * len(self._fed)
        for given, slope, (low, high) in zip(self._network.inputs, slopes, self._fed, strict=True):
            size = abs(slope) * (high - low)
            if given.variable is not None and size > most:
                best, most = given.variable.name, size
        return None if best is None else (best, middle(*self._box[best]))


class Corrected:
    """A network with trees that correct it: the sum of both, as doubles."""

    def __init__(self, network: Network, trees: Trees) -> None:
        self.network = network
        self.trees = trees

    def on(
        self, box: Mapping[str, Span], before: Any = None, changed: Collection[str] = ()
    ) -> CorrectedScores:
        """Return the scores on a box."""
        trees = self.trees.on(box, None if before is None else before.trees, changed)
        return CorrectedScores(self.network.on(box), trees)


class CorrectedScores:
    """Bounds of the sums, and of their differences."""

    def __init__(self, network: NetworkScores, trees: TreeScores) -> None:
        self.network = network
        self.trees = trees
        self._turn = 0

    def span(self, output: int) -> Span:
        """Return the least and the greatest score."""
        (a, b), (c, d) = self.network.span(output), self.trees.span(output)
        low, high = a + c, b + d
        return (low, high) if math.isfinite(low) and math.isfinite(high) else (-math.inf, math.inf)

    def beats(self, better: int, other: int) -> bool:
        """Return whether one output surely wins against another one."""
        spans = [self.span(better), self.span(other)]
        if not all(math.isfinite(end) for span in spans for end in span):
            return False
        if spans[0][0] > spans[1][1]:
            return True
        parts = [each.span(o) for each in (self.network, self.trees) for o in (better, other)]
        size = sum(max(-low, high) for low, high in parts)
        trees: float = self.trees.span(better)[0] - self.trees.span(other)[1]
        return bool(self.network.difference(better, other) + trees - 16 * _OWN * size > 0)

    def cut(self, outputs: Collection[int]) -> Cut | None:
        """Return where the trees differ most, else where the network depends most on."""
        weights = self.trees.weights(outputs)
        widths = [high - low for low, high in map(self.network.span, outputs)]
        if weights and max(weights.values()) >= max(widths, default=0.0) / 8:
            return max(weights, key=lambda cut: weights[cut])
        return self.network.cut(outputs) or self.trees.cut(outputs)
