"""Bounds of the scores of rules on a box."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .intervals import Span
from .scores import Cut, Input, surely_better, widest


class Rules:
    """Rules over atoms ``input == value``: the weights of true ones are added up."""

    def __init__(self, model: Mapping[str, Any], inputs: Sequence[Input]) -> None:
        self._model = model
        self._inputs = inputs

    def on(
        self, box: Mapping[str, Span], before: Any = None, changed: Collection[str] = ()
    ) -> RuleScores:
        """Return the scores on a box."""
        fed = [each.span(box) for each in self._inputs]
        flags: list[Span] = []
        for number, value in self._model["atoms"]:
            low, high = fed[number]
            flags.append((low == high == value, low <= value <= high))
        for is_and, terms in self._model["rules"]:
            flags.append(_rule(is_and, [_term(flags[n], is_not) for n, is_not in terms]))
        lows, highs = list(self._model["base"]), list(self._model["base"])
        for rule, output, weight in self._model["weights"]:
            surely, perhaps = flags[len(self._model["atoms"]) + rule]
            if perhaps:
                lows[output] += weight if surely else min(weight, 0.0)
                highs[output] += weight if surely else max(weight, 0.0)
        return RuleScores(box, self._variables(), list(zip(lows, highs, strict=True)))

    def _variables(self) -> list[str]:
        return [each.variable.name for each in self._inputs if each.variable is not None]


def _term(flag: Span, is_negated: bool) -> Span:
    return (not flag[1], not flag[0]) if is_negated else flag


def _rule(is_and: bool, terms: Sequence[Span]) -> Span:
    some = all if is_and else any
    return some(low for low, _ in terms), some(high for _, high in terms)


class RuleScores:
    """Sums of weights of rules that are surely, or perhaps, true."""

    def __init__(
        self, box: Mapping[str, Span], names: Collection[str], spans: Sequence[Span]
    ) -> None:
        self._box = box
        self._names = names
        self._spans = spans

    def span(self, output: int) -> Span:
        """Return the least and the greatest score."""
        return self._spans[output]

    def beats(self, better: int, other: int) -> bool:
        """Return whether one output surely wins against another one."""
        return surely_better(self._spans, better, other)

    def cut(self, outputs: Collection[int]) -> Cut | None:
        """Return the middle of the variable with most values."""
        return widest(self._box, self._names)
