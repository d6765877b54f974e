"""Bounds of what a policy thinks of its actions on a box, from the plain data of its model.

Scores are the numbers that the policy itself computes, rounded as it rounds. The data have

* ``inputs``: for each the ``variable`` (or None and a ``constant``), ``mean`` and ``scale``; it is
  fed ``(x - mean) / scale``;
* ``outputs``: the actions that the scores are of;
* ``model``: an object with its ``kind``, ``trees``, ``network``, ``corrected`` (the sum of both) or
  ``rules``, and the fields of that kind as lists, numbers and strings.

For policies without scores there is the ``rule`` instead: ``first`` decides for the first
applicable action of the model, ``any`` for one that may be any applicable one.

A Scorer is made of such a model; ``scorer.on(box)`` are the Scores on a box.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .arithmetic import Scalar
from .intervals import Span
from .model import Variable

Rounding = Callable[[float], float]
Cut = tuple[str, Scalar]  # a variable, and a value from which on something may be different
_CELL = array("f", [0.0])


def to_float32(value: float) -> float:
    """Return the nearest number that 32 bits hold."""
    _CELL[0] = value
    return _CELL[0]


ROUNDINGS: dict[str, Rounding] = {"float32": to_float32, "float64": float}


class Scores(Protocol):
    """What is known of the scores on a box; outputs are given by their numbers."""

    def span(self, output: int) -> Span:
        """Return the least and the greatest score; infinite if it might not be a number."""
        ...

    def beats(self, better: int, other: int) -> bool:
        """Return whether one output surely wins against another one: ties go to the lower one."""
        ...

    def cut(self, outputs: Collection[int]) -> Cut | None:
        """Return where to cut the box so that more is known of these outputs."""
        ...


class Scorer(Protocol):
    """Gives Scores. What is known of a larger box helps: there, ``changed`` had other spans."""

    def on(
        self, box: Mapping[str, Span], before: Any = None, changed: Collection[str] = ()
    ) -> Scores: ...


@dataclass(frozen=True)
class Input:
    """What is fed to one input."""

    variable: Variable | None
    constant: float
    mean: float
    scale: float

    @classmethod
    def of(cls, data: Mapping[str, Any], variables: Mapping[str, Variable]) -> Input:
        """Return the input of plain data."""
        variable = None if data["variable"] is None else variables[data["variable"]]
        return cls(variable, data["constant"] or 0.0, data["mean"], data["scale"])

    def value(self, plain: Scalar) -> float:
        """Return what is fed for a value of the variable."""
        return (float(plain) - self.mean) / self.scale

    def span(self, box: Mapping[str, Span]) -> Span:
        """Return what may be fed: rounded differences and quotients are monotone."""
        if self.variable is None:
            return self.value(self.constant), self.value(self.constant)
        ends = [self.value(end) for end in box[self.variable.name]]
        return min(ends), max(ends)


def surely_better(spans: Sequence[Span], better: int, other: int) -> bool:
    """Return whether the spans of two scores leave no doubt."""
    low, high = spans[better][0], spans[other][1]
    if not (math.isfinite(low) and math.isfinite(high)):
        return False
    return low > high or (low == high and better < other)


def widest(box: Mapping[str, Span], names: Collection[str]) -> Cut | None:
    """Return the middle of the variable with most values, of these."""
    variable = None
    most = 0.0
    for name in names:
        low, high = box[name]
        size = float(high) - float(low)
        if size > most:
            variable, most = name, size
    return None if variable is None else (variable, middle(*box[variable]))


def middle(low: Scalar, high: Scalar) -> Scalar:
    """Return a value in the middle, above the least."""
    if isinstance(low, float):
        half = low / 2 + high / 2
        return half if low < half <= high else high
    return True if isinstance(low, bool) else (low + high + 1) // 2
