"""Integers in order encoding: one literal for each ``x >= k``.

The cast: :class:`Unary` is an integer with its literals. :class:`Sum` is a linear sum of some of
these, put into literals of its own only where somebody needs them: most comparisons are about one
of them and a constant, and these are literals that are there already. :class:`OrderAlgebra`
computes with sums where decision diagrams compute with binary numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from surefoot.errors import Unsupported
from surefoot.oracles.bdd_values import Algebra, Cases, Diagram, Int, Value
from surefoot.tasks.expressions import INT_MAX, Type
from surefoot.verify.ic3.circuit import FALSE, TRUE, Circuit, Gate

MAX_VALUES = 4096
MAX_CASES = 2**14
MAX_PAIRS = 2**20


def lacks(feature: str) -> Unsupported:
    """Return the error for what this engine cannot encode."""
    return Unsupported(
        "engine-lacks-feature",
        f"the engine ic3 lacks {feature}",
        hint="use another method, such as explicit",
    )


class Unary:
    """An integer from ``lower`` to ``upper``. ``bits`` has a literal for each value from
    ``lower + 1`` on: whether it is at least that.
    """

    __slots__ = ("bits", "lower", "upper")

    def __init__(self, bits: Sequence[int], lower: int) -> None:
        self.bits = tuple(bits)
        self.lower = lower
        self.upper = lower + len(self.bits)

    def at_least(self, number: int) -> int:
        """Return the literal for being at least this number."""
        if number <= self.lower:
            return TRUE
        return FALSE if number > self.upper else self.bits[number - self.lower - 1]


Term = tuple[Unary, int]


class Sum(Int):
    """``constant`` plus some integers times their factors."""

    def __init__(self, terms: Sequence[Term], constant: int) -> None:
        lows = (f * (u.lower if f > 0 else u.upper) for u, f in terms)
        highs = (f * (u.upper if f > 0 else u.lower) for u, f in terms)
        for name, value in (
            ("terms", tuple(terms)),
            ("constant", constant),
            ("lower", constant + sum(lows)),
            ("upper", constant + sum(highs)),
            ("bits", ()),
        ):
            object.__setattr__(self, name, value)

    terms: tuple[Term, ...]
    constant: int


class OrderAlgebra(Algebra):
    """Computes with literals: what it needs from the circuit, it adds there."""

    def __init__(self, circuit: Circuit) -> None:
        super().__init__(circuit, circuit.tick)
        self.circuit = circuit
        self._made: dict[tuple[object, ...], tuple[Sum, Unary]] = {}  # sums keep their ids alive

    def gate(self, literal: int) -> Gate:
        """Return the gate of a literal."""
        return Gate(self.circuit, literal)

    def union(self, sets: Iterable[Diagram]) -> Diagram:
        """Return where one of them holds."""
        return self.gate(self.circuit.some([each.literal for each in sets]))

    # -- linear sums -------------------------------------------------------------------------

    def integer(self, number: int) -> Sum:
        """Return the constant."""
        return Sum((), number)

    def variable(self, unary: Unary) -> Sum:
        """Return an integer as a sum."""
        return Sum([(unary, 1)], 0) if unary.bits else Sum((), unary.lower)

    def _combined(self, a: Any, b: Any, factor: int) -> Sum:
        terms: dict[int, Term] = {id(u): (u, f) for u, f in a.terms}
        for unary, own in b.terms:
            before = terms.pop(id(unary), (unary, 0))[1]
            if before + own * factor:
                terms[id(unary)] = (unary, before + own * factor)
        return Sum(tuple(terms.values()), a.constant + factor * b.constant)

    def add(self, a: Int, b: Int) -> Int:
        return self._combined(a, b, 1)

    def subtract(self, a: Int, b: Int) -> Int:
        return self._combined(a, b, -1)

    def negate(self, a: Int) -> Int:
        return self._combined(self.integer(0), a, -1)

    def multiply(self, a: Int, b: Int) -> Int:
        if b.lower == b.upper:
            return self._combined(self.integer(0), a, b.lower)
        if a.lower == a.upper:
            return self._combined(self.integer(0), b, a.lower)
        if max(abs(a.lower), abs(a.upper)) * max(abs(b.lower), abs(b.upper)) > INT_MAX:
            raise lacks("products that may not fit 64 bits")
        value, _ = self.by_cases("mul", (a, b), "int")
        assert isinstance(value, Int)
        return value

    def bounded(self, value: Int, lower: int, upper: int) -> Int:
        """Return the value, which is known to lie between the bounds."""
        if lower <= value.lower and value.upper <= upper:
            return value
        lower, upper = max(lower, value.lower), min(upper, value.upper)
        if lower > upper:
            return self.integer(0)
        return self.variable(self.unary(value, lower, upper))

    # -- literals of their own ---------------------------------------------------------------

    def unary(self, value: Any, lower: int | None = None, upper: int | None = None) -> Unary:
        """Return the value, cut to the bounds if there are some, as literals."""
        lower = value.lower if lower is None else lower
        upper = value.upper if upper is None else upper
        check_size(lower, upper)
        key = (tuple((id(u), f) for u, f in value.terms), value.constant, lower, upper)
        if key not in self._made:
            below, above = lower - value.constant, upper - value.constant
            made = self._tree(list(value.terms), below, above)
            self._made[key] = value, Unary(made.bits, lower)
        return self._made[key][1]

    def _single(self, value: Sum, lower: int, upper: int) -> Unary:
        numbers = range(lower + 1, upper + 1)
        return Unary([self._term_at_least(value, number) for number in numbers], lower)

    def _term_at_least(self, value: Sum, number: int) -> int:
        """Return the literal for a sum of at most one term to be at least a number."""
        if not value.terms:
            return TRUE if value.constant >= number else FALSE
        ((unary, factor),) = value.terms
        wanted = number - value.constant
        if factor > 0:
            return unary.at_least(-(-wanted // factor))
        return -unary.at_least(wanted // factor + 1)

    def _tree(self, terms: list[Term], lower: int, upper: int) -> Unary:
        """Return the sum of terms cut to the bounds: of halves, each cut to what matters."""
        if len(terms) <= 1:
            return self._single(Sum(terms, 0), lower, upper)
        self.tick()
        halves = terms[: len(terms) // 2], terms[len(terms) // 2 :]
        sums = [Sum(half, 0) for half in halves]
        parts = [
            self._tree(half, *_relevant(own, other, lower, upper))
            for half, own, other in zip(halves, sums, reversed(sums), strict=True)
        ]
        return self._added(parts[0], parts[1], lower, upper)

    def _added(self, a: Unary, b: Unary, lower: int, upper: int) -> Unary:
        """Return ``a + b`` cut to the bounds."""
        check_size(lower, upper)
        if len(a.bits) * len(b.bits) > MAX_PAIRS:
            raise lacks("sums over ranges as large as that of an expression of the task")
        circuit = self.circuit
        made = Unary([circuit.new() for _ in range(lower, upper)], lower)
        for i in range(a.lower, a.upper + 1):
            for j in range(b.lower, b.upper + 1):
                least, most = min(i + j, upper), max(i + j, lower)
                circuit.add(-a.at_least(i), -b.at_least(j), made.at_least(least))
                circuit.add(a.at_least(i + 1), b.at_least(j + 1), -made.at_least(most + 1))
        for low, high in zip(made.bits, made.bits[1:], strict=False):
            circuit.add(low, -high)
        return made

    # -- comparisons -------------------------------------------------------------------------

    def at_least(self, value: Int, number: int) -> int:
        """Return the literal for the value to be at least a number."""
        if number <= value.lower:
            return TRUE
        if number > value.upper:
            return FALSE
        return self.unary(value, number - 1, number + 1).at_least(number)

    def less(self, a: Int, b: Int) -> Diagram:
        """Return where ``a < b``."""
        return self.gate(self.at_least(self._combined(b, a, -1), 1))

    def equal(self, a: Int, b: Int) -> Diagram:
        """Return where ``a = b``."""
        return self.gate(self.is_number(self._combined(a, b, -1), 0))

    def is_number(self, value: Int, number: int) -> int:
        """Return the literal for the value to be this number."""
        if not value.lower <= number <= value.upper:
            return FALSE
        cut = self.unary(value, number - 1, number + 1)
        return self.circuit.every((cut.at_least(number), -cut.at_least(number + 1)))

    def within(self, value: Int, lower: int, upper: int) -> Diagram:
        """Return where ``lower <= value <= upper``."""
        ends = (self.at_least(value, lower), -self.at_least(value, upper + 1))
        return self.gate(self.circuit.every(ends))

    # -- choices -----------------------------------------------------------------------------

    def smaller(self, a: Int, b: Int) -> Int:
        """Return the smaller of the two."""
        lower, upper = min(a.lower, b.lower), min(a.upper, b.upper)
        return self._zipped(self.circuit.every, a, b, lower, upper)

    def larger(self, a: Int, b: Int) -> Int:
        """Return the larger of the two."""
        lower, upper = max(a.lower, b.lower), max(a.upper, b.upper)
        return self._zipped(self.circuit.some, a, b, lower, upper)

    def _zipped(self, join: Any, a: Int, b: Int, lower: int, upper: int) -> Int:
        x, y = self.unary(a), self.unary(b)
        check_size(lower, upper)
        numbers = range(lower + 1, upper + 1)
        bits = [join((x.at_least(number), y.at_least(number))) for number in numbers]
        return self.variable(Unary(bits, lower))

    def _chosen(self, condition: Diagram, a: Int, b: Int) -> Int:
        if condition.literal in (TRUE, FALSE):
            return a if condition.literal == TRUE else b
        lower, upper = min(a.lower, b.lower), max(a.upper, b.upper)

        def join(pair: tuple[int, int]) -> int:
            return self.circuit.choice(condition.literal, *pair)

        return self._zipped(join, a, b, lower, upper)

    # -- by cases ----------------------------------------------------------------------------

    def cases(self, value: Int | Cases) -> Cases:
        """Return for each number that the value can be where it is that number."""
        if isinstance(value, Mapping):
            return value
        unary = self.unary(value)
        numbers = range(unary.lower, unary.upper + 1)
        self._check_count(len(numbers))
        both = {n: (unary.at_least(n), -unary.at_least(n + 1)) for n in numbers}
        return {number: self.gate(self.circuit.every(ends)) for number, ends in both.items()}

    def from_cases(self, cases: Cases, type: Type) -> Value:
        """Return the cases as a value of this type."""
        if type != "int":
            return super().from_cases(cases, type)
        if not cases:
            return self.integer(0)
        lower, upper = min(cases), max(cases)
        check_size(lower, upper)
        numbers, bits, above = sorted(cases), [FALSE] * (upper - lower), FALSE
        for number, below in zip(numbers[:0:-1], numbers[-2::-1], strict=True):
            above = self.circuit.some((above, cases[number].literal))
            for k in range(below + 1, number + 1):
                bits[k - lower - 1] = above
        return self.variable(Unary(bits, lower))

    def _check_count(self, count: int) -> None:
        if count > MAX_CASES:
            raise lacks(f"operators by cases over more than {MAX_CASES:,} combinations of values")


def check_size(lower: int, upper: int) -> None:
    """Raise Unsupported if there are too many values for a literal each."""
    if upper - lower > MAX_VALUES:
        raise lacks(f"integers with more than {MAX_VALUES:,} values")


def _relevant(own: Sum, other: Sum, lower: int, upper: int) -> tuple[int, int]:
    """Return the bounds beyond which a part of a sum is as good as at them, if only what the sum is
    between ``lower`` and ``upper`` matters.
    """
    low = max(own.lower, lower - other.upper)
    high = min(own.upper, upper - other.lower)
    return min(low, own.upper), max(high, own.lower)
