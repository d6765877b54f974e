"""Values that depend on the state, as decision diagrams.

The cast: a Boolean value is one diagram, the set of states in which it is true. :class:`Int` is a
vector of them, one for each bit. A real value is a dictionary (:data:`Cases`) that says for each
number it can be in which states it is that number. :class:`Algebra` computes with all three.

Sums, comparisons and products work on the bits, so domains may be large. Everything else (``%``,
``pow``, all reals) lists the values that can occur, evaluates each combination in the core, and is
not supported beyond ``MAX_CASES`` of them.

Values are only meaningful in *valid* states: those whose variables are all within their bounds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from surefoot.errors import InputError, Unsupported
from surefoot.tasks.expressions import INT_MAX, INT_MIN, Type, make
from surefoot.tasks.lowering import constant_value

Diagram = Any
"""a set of states: a function object of the library oxidd"""

MAX_CASES = 2**16


@dataclass(frozen=True, eq=False)
class Int:
    """An integer between ``lower`` and ``upper``: two's complement, least significant bit first,
    with as many bits as these two need.
    """

    bits: tuple[Diagram, ...]
    lower: int
    upper: int


Cases = Mapping[Any, Diagram]
Value = Any
"""a Diagram, an Int or Cases"""


def width_of(lower: int, upper: int) -> int:
    """Return how many bits hold all integers from ``lower`` to ``upper``, sign included."""
    return 1 + max(_magnitude(lower), _magnitude(upper))


def _magnitude(number: int) -> int:
    return (number if number >= 0 else ~number).bit_length()


class Algebra:
    """Computes with values over the variables of one manager.

    ``valid`` is set once the variables are encoded. ``tick`` is called before everything that may
    take long; it may raise.
    """

    def __init__(self, manager: Any, tick: Callable[[], None]) -> None:
        self.manager = manager
        self.tick = tick
        self.true: Diagram = manager.true()
        self.false: Diagram = manager.false()
        self.valid: Diagram = self.true

    # -- sets --------------------------------------------------------------------------------

    def union(self, sets: Iterable[Diagram]) -> Diagram:
        """Return the union, taken pairwise: small sets meet small ones first."""
        left = list(sets)
        while len(left) > 1:
            self.tick()
            pairs = itertools.zip_longest(left[::2], left[1::2], fillvalue=self.false)
            left = [a | b for a, b in pairs]
        return left[0] if left else self.false

    # -- integers ----------------------------------------------------------------------------

    def integer(self, number: int) -> Int:
        """Return the constant."""
        bits = (number >> i & 1 for i in range(width_of(number, number)))
        return Int(tuple(self.true if bit else self.false for bit in bits), number, number)

    def from_field(self, stored: Sequence[Diagram], lower: int, upper: int) -> Int:
        """Return the variable whose value minus ``lower`` is kept in the bits ``stored``."""
        plain = Int((*stored, self.false), 0, upper - lower)
        return self.bounded(self._sum(plain, self.integer(lower), self.false), lower, upper)

    def to_field(self, value: Int, lower: int, count: int) -> list[Diagram]:
        """Return the ``count`` bits in which a variable with this lower bound keeps the value."""
        return list(self._extended(self._sum(value, self.integer(-lower), self.false), count))

    def bounded(self, value: Int, lower: int, upper: int) -> Int:
        """Return the value, which is known to lie between the bounds, with no more bits than
        these need.
        """
        lower, upper = max(lower, value.lower), min(upper, value.upper)
        if lower > upper:  # it never does: every state in which it is looked at is an error
            return self.integer(0)
        return Int(self._extended(value, width_of(lower, upper)), lower, upper)

    def _extended(self, value: Int, width: int) -> tuple[Diagram, ...]:
        sign = value.bits[-1]
        return (*value.bits, *[sign] * (width - len(value.bits)))[:width]

    def _sum(self, a: Int, b: Int, carry: Diagram, *, subtract: bool = False) -> Int:
        lower = a.lower - b.upper if subtract else a.lower + b.lower
        upper = a.upper - b.lower if subtract else a.upper + b.upper
        width = width_of(lower, upper)
        bits = []
        for x, y in zip(self._extended(a, width), self._extended(b, width), strict=True):
            y = ~y if subtract else y
            half = x ^ y
            bits.append(half ^ carry)
            carry = half.ite(carry, x)
        return Int(tuple(bits), lower, upper)

    def add(self, a: Int, b: Int) -> Int:
        return self._sum(a, b, self.false)

    def subtract(self, a: Int, b: Int) -> Int:
        return self._sum(a, b, self.true, subtract=True)

    def negate(self, a: Int) -> Int:
        return self.subtract(self.integer(0), a)

    def multiply(self, a: Int, b: Int) -> Int:
        corners = [x * y for x in (a.lower, a.upper) for y in (b.lower, b.upper)]
        lower, upper = min(corners), max(corners)
        width = width_of(lower, upper)
        if a.lower == a.upper:
            a, b = b, a
        factors, bits = self._extended(b, width), self._extended(a, width)
        total: list[Diagram] = [self.false] * width
        for i, factor in enumerate(factors):
            if not factor.satisfiable():
                continue
            self.tick()
            carry = self.false
            for j in range(i, width):
                summand = bits[j - i] & factor
                half = total[j] ^ summand
                total[j], carry = half ^ carry, half.ite(carry, summand)
        return Int(tuple(total), lower, upper)

    def less(self, a: Int, b: Int) -> Diagram:
        """Return where ``a < b``."""
        return self.subtract(a, b).bits[-1]

    def equal(self, a: Int, b: Int) -> Diagram:
        """Return where ``a = b``."""
        if a.upper < b.lower or b.upper < a.lower:
            return self.false
        width = max(len(a.bits), len(b.bits))
        same = self.true
        for x, y in zip(self._extended(a, width), self._extended(b, width), strict=True):
            same = same & x.equiv(y)
        return same

    def smaller(self, a: Int, b: Int) -> Int:
        """Return the smaller of the two."""
        bits = self._chosen(self.less(a, b), a, b)
        return self.bounded(bits, min(a.lower, b.lower), min(a.upper, b.upper))

    def larger(self, a: Int, b: Int) -> Int:
        """Return the larger of the two."""
        bits = self._chosen(self.less(a, b), b, a)
        return self.bounded(bits, max(a.lower, b.lower), max(a.upper, b.upper))

    def _chosen(self, condition: Diagram, a: Int, b: Int) -> Int:
        lower, upper = min(a.lower, b.lower), max(a.upper, b.upper)
        width = width_of(lower, upper)
        pairs = zip(self._extended(a, width), self._extended(b, width), strict=True)
        return Int(tuple(condition.ite(x, y) for x, y in pairs), lower, upper)

    def within(self, value: Int, lower: int, upper: int) -> Diagram:
        """Return where ``lower <= value <= upper``."""
        result = self.true
        if value.lower < lower:
            result = ~self.less(value, self.integer(lower))
        if value.upper > upper:
            result = result & ~self.less(self.integer(upper), value)
        return result

    def fitted(self, value: Int) -> tuple[Int, Diagram]:
        """Return the value within 64 bits, and where it does not fit."""
        if value.lower >= INT_MIN and value.upper <= INT_MAX:
            return value, self.false
        overflow = ~self.within(value, INT_MIN, INT_MAX)
        return self.bounded(value, INT_MIN, INT_MAX), overflow

    # -- choices -----------------------------------------------------------------------------

    def select(self, condition: Diagram, a: Value, b: Value) -> Value:
        """Return ``a`` where the condition holds, else ``b``; both are of one type."""
        if isinstance(a, Int) and isinstance(b, Int):
            return self._chosen(condition, a, b)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            chosen = [(number, where & condition) for number, where in a.items()]
            chosen += [(number, where & ~condition) for number, where in b.items()]
            return self._gathered(chosen)
        return condition.ite(a, b)

    def same(self, a: Value, b: Value) -> Diagram:
        """Return where two values of one type are equal."""
        if isinstance(a, Int) and isinstance(b, Int):
            return self.equal(a, b)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            return self.union(where & b[number] for number, where in a.items() if number in b)
        return a.equiv(b)

    # -- by cases ----------------------------------------------------------------------------

    def cases(self, value: Int | Cases) -> Cases:
        """Return for each number that the value can be where it is that number."""
        if isinstance(value, Mapping):
            return value
        cases = [(0, self.valid)]
        for i in reversed(range(len(value.bits))):
            weight = -(1 << i) if i == len(value.bits) - 1 else 1 << i
            cases = [
                (number, part)
                for before, where in cases
                for number, part in (
                    (before, where & ~value.bits[i]),
                    (before + weight, where & value.bits[i]),
                )
                if part.satisfiable()
            ]
            self._check_count(len(cases))
        return dict(cases)

    def to_real(self, value: Int | Cases) -> Cases:
        """Return an int as a real."""
        if isinstance(value, Mapping):
            return value
        return self._gathered([(float(n), where) for n, where in self.cases(value).items()])

    def by_cases(
        self, op: str, operands: Sequence[Int | Cases], type: Type
    ) -> tuple[Value, Diagram]:
        """Return the operator's value, found by evaluating it in the core for every combination of
        the operands' values, and where that is an error. ``type`` is that of the result.
        """
        results: list[tuple[object, Diagram]] = []
        errors: list[Diagram] = []
        for numbers, where in self._combinations([self.cases(each) for each in operands]):
            try:
                results.append((constant_value(make(op, *numbers)), where))
            except InputError:
                errors.append(where)
        return self.from_cases(self._gathered(results), type), self.union(errors)

    def _combinations(self, operands: Sequence[Cases]) -> list[tuple[tuple[object, ...], Diagram]]:
        combinations: list[tuple[tuple[object, ...], Diagram]] = [((), self.valid)]
        for cases in operands:
            self._check_count(len(combinations) * len(cases))
            combinations = [
                ((*numbers, number), both)
                for numbers, where in combinations
                for number, there in cases.items()
                if (both := where & there).satisfiable()
            ]
            self.tick()
        return combinations

    def from_cases(self, cases: Cases, type: Type) -> Value:
        """Return the cases as a value of this type."""
        if type == "real":
            return cases
        if type == "bool":
            return cases.get(True, self.false)
        lower, upper = min(cases, default=0), max(cases, default=0)
        bits = [
            self.union(where for number, where in cases.items() if number >> i & 1)
            for i in range(width_of(lower, upper))
        ]
        return Int(tuple(bits), lower, upper)

    def _gathered(self, chosen: Iterable[tuple[object, Diagram]]) -> Cases:
        parts: dict[object, list[Diagram]] = {}
        for number, where in chosen:
            if where.satisfiable():
                parts.setdefault(number, []).append(where)
        self._check_count(len(parts))
        return {number: self.union(sets) for number, sets in parts.items()}

    def _check_count(self, count: int) -> None:
        if count > MAX_CASES:
            raise Unsupported(
                "too-many-values",
                f"an expression with %, /, pow or reals takes more than {MAX_CASES:,} values, "
                "too many for decision diagrams",
                hint="use another oracle",
            )
