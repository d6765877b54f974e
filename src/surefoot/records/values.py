"""What a policy achieves and what any policy could: values, intervals, and bounds with evidence.

A :class:`Value` is an exact number or infinite. :class:`Interval` certainly contains a value;
:class:`Bounds` is such an interval around the best value of a state, with the evidence for each of
its ends. Which direction is better, and so what a gap is, the objective says.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.certificates import Certificate

JsonNumber = int | float | str


@dataclass(frozen=True, order=True)
class Value:
    """An exact number, or plus or minus infinity.

    ``number`` is a Fraction, or a float where it is infinite. Make one with :meth:`of`.
    """

    number: Fraction | float

    def __post_init__(self) -> None:
        if isinstance(self.number, float) and not math.isinf(self.number):
            raise ValueError(f"a finite value is a fraction, not {self.number!r}")

    @classmethod
    def of(cls, number: Value | Fraction | JsonNumber) -> Value:
        """Return the value of a number; of text such as ``inf``, ``-inf``, ``0.5`` or ``1/3``.

        Floats are taken for exactly what they are. Raises ValueError for what is not a number.
        """
        if isinstance(number, Value):
            return number
        if isinstance(number, float | str) and str(number) in ("inf", "-inf"):
            return cls(float(number))
        return cls(Fraction(number))

    @property
    def is_finite(self) -> bool:
        """Whether the value is a number."""
        return not isinstance(self.number, float)

    def __sub__(self, other: Value) -> Value:
        """Return the difference; that of two equal infinities is 0."""
        if self == other:
            return ZERO
        if self.is_finite and other.is_finite:
            return Value(Fraction(self.number) - Fraction(other.number))
        return Value(float(self.number) if not self.is_finite else -float(other.number))

    def to_json(self) -> JsonNumber:
        """Return the value as users mean it: a number where JSON has it exactly, else text."""
        if isinstance(self.number, float):
            return "inf" if self.number > 0 else "-inf"
        if self.number.denominator == 1:
            return int(self.number)
        return float(self.number) if Fraction(float(self.number)) == self.number else str(self)

    def __str__(self) -> str:
        if isinstance(self.number, float):
            return "inf" if self.number > 0 else "-inf"
        decimal = float(self.number)
        return f"{decimal:g}" if Fraction(f"{decimal:g}") == self.number else str(self.number)


ZERO, ONE = Value(Fraction(0)), Value(Fraction(1))


def _check_order(lo: Value, hi: Value) -> None:
    """Raise ValueError if no value is in between; every answer of an oracle comes by here."""
    if lo is not hi and lo > hi:
        raise ValueError(f"no value is at least {lo} and at most {hi}")


@dataclass(frozen=True)
class Interval:
    """``lo <= value <= hi``, certainly."""

    lo: Value
    hi: Value

    def __post_init__(self) -> None:
        _check_order(self.lo, self.hi)

    @classmethod
    def exactly(cls, value: Value) -> Interval:
        """Return the interval that contains this value alone."""
        return cls(value, value)

    @classmethod
    def mean(cls, values: Sequence[Interval]) -> Interval:
        """Return where the mean of these values is; an infinite one makes it infinite."""
        least, most = [each.lo for each in values], [each.hi for each in values]
        return cls(_mean(least, min), _mean(most, max))

    def meet(self, other: Interval) -> Interval | None:
        """Return where the value is if both contain it; None if they contradict each other."""
        lo, hi = max(self.lo, other.lo), min(self.hi, other.hi)
        return Interval(lo, hi) if lo <= hi else None

    @property
    def is_exact(self) -> bool:
        """Whether the value is known."""
        return self.lo == self.hi

    def to_json(self) -> list[JsonNumber]:
        """Return both ends."""
        return [self.lo.to_json(), self.hi.to_json()]

    def __str__(self) -> str:
        return str(self.lo) if self.is_exact else f"[{self.lo}, {self.hi}]"


def _mean(values: Sequence[Value], of_infinite: Callable[[list[Value]], Value]) -> Value:
    infinite = [value for value in values if not value.is_finite]
    if infinite:
        return of_infinite(infinite)
    return Value(sum((Fraction(value.number) for value in values), Fraction(0)) / len(values))


@dataclass(frozen=True)
class RunValues:
    """What runs of a policy are worth under an objective: in the mean, and the worst of them.

    ``worst_runs`` of the ``runs`` certainly have the worst value that there is.
    """

    objective: str
    mean: Interval
    worst: Interval
    worst_runs: int
    runs: int

    def to_dict(self) -> dict[str, object]:
        """Return the values as plain data."""
        return {
            "objective": self.objective,
            "mean_value": self.mean.to_json(),
            "worst_value": self.worst.to_json(),
            "worst_runs": self.worst_runs,
            "valued_runs": self.runs,
        }


class Evidence:
    """What proves one end of bounds; it is made when it is first asked for.

    ``certificate`` can be checked by others. ``plan`` is a sequence of actions that achieves
    the end.
    """

    def __init__(
        self,
        make_certificate: Callable[[], Certificate] | None = None,
        *,
        plan: tuple[str, ...] | None = None,
    ) -> None:
        self._make_certificate = make_certificate
        self.plan = plan

    @functools.cached_property
    def certificate(self) -> Certificate | None:
        """The certificate; None if there is only a plan. Raises OutOfBudget."""
        return None if self._make_certificate is None else self._make_certificate()


@dataclass(frozen=True)
class Bounds:
    """``lo <= best value <= hi`` of a state, each end with its evidence.

    An end without evidence is one that every state has. ``lo > hi`` would be a wrong answer of
    Surefoot: it raises ValueError at once.
    """

    lo: Value
    hi: Value
    lo_evidence: Evidence | None = None
    hi_evidence: Evidence | None = None

    def __post_init__(self) -> None:
        _check_order(self.lo, self.hi)

    @property
    def interval(self) -> Interval:
        """The bounds without their evidence."""
        return Interval(self.lo, self.hi)

    @property
    def is_exact(self) -> bool:
        """Whether the best value is known."""
        return self.lo == self.hi

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The evidence there is, that of the lower end first."""
        return tuple(end for end in (self.lo_evidence, self.hi_evidence) if end is not None)

    def __str__(self) -> str:
        return str(self.interval)
