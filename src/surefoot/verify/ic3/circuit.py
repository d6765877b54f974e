"""Boolean functions of the state as clauses.

The cast: :class:`Circuit` hands out literals and collects clauses; each literal it makes for a gate
is fully determined by the literals below it, so that a state determines all of them. :class:`Gate`
is one literal with the operators of a decision diagram, for the code that both encodings share
(``oracles.bdd_expressions``, ``oracles.bdd_steps``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

Clause = Sequence[int]

TRUE = 1
FALSE = -1


class Circuit:
    """The clauses so far. ``tick`` is called now and then; it may raise.

    Literals are integers, negative where negated; variable 1 is true. Gates that were made before
    are found again.
    """

    def __init__(self, tick: Callable[[], None]) -> None:
        self.tick = tick
        self.num_variables = 1
        self.clauses: list[Clause] = [(TRUE,)]
        self._gates: dict[tuple[object, ...], int] = {}

    def new(self) -> int:
        """Return a literal of a new variable."""
        self.num_variables += 1
        return self.num_variables

    def add(self, *literals: int) -> None:
        """Add a clause."""
        if TRUE in literals:
            return
        self.clauses.append([each for each in literals if each != FALSE])
        if len(self.clauses) % 4096 == 0:
            self.tick()

    # -- gates -------------------------------------------------------------------------------

    def every(self, literals: Iterable[int]) -> int:
        """Return the conjunction."""
        parts = sorted({each for each in literals if each != TRUE})
        if FALSE in parts or any(-each in parts for each in parts if each < 0):
            return FALSE
        if len(parts) < 2:
            return parts[0] if parts else TRUE
        key = ("and", *parts)
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = self.new()
            for each in parts:
                self.add(-gate, each)
            self.add(gate, *(-each for each in parts))
        return gate

    def some(self, literals: Iterable[int]) -> int:
        """Return the disjunction."""
        return -self.every(-each for each in literals)

    def choice(self, condition: int, a: int, b: int) -> int:
        """Return ``a`` where the condition holds, else ``b``."""
        if condition in (TRUE, FALSE) or a == b:
            return b if condition == FALSE else a
        if condition < 0:
            return self.choice(-condition, b, a)
        if a == -b and abs(a) != TRUE:
            return self.same(condition, a)
        if abs(a) == TRUE or abs(b) == TRUE:
            return self._constant_choice(condition, a, b)
        key = ("ite", condition, a, b)
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = self.new()
            for other, value in ((-condition, a), (condition, b)):
                self.add(other, -value, gate)
                self.add(other, value, -gate)
            self.add(-a, -b, gate)
            self.add(a, b, -gate)
        return gate

    def _constant_choice(self, condition: int, a: int, b: int) -> int:
        if a == TRUE:
            return self.some((condition, b))
        if a == FALSE:
            return self.every((-condition, b))
        return self.some((-condition, a)) if b == TRUE else self.every((condition, a))

    def same(self, a: int, b: int) -> int:
        """Return whether both have the same value."""
        sign = 1 if (a < 0) == (b < 0) else -1
        a, b = sorted((abs(a), abs(b)))
        if a == b:
            return sign * TRUE
        if a == TRUE:
            return sign * b
        key = ("same", a, b)
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = self.new()
            for x, y, z in ((a, b, gate), (-a, -b, gate), (a, -b, -gate), (-a, b, -gate)):
                self.add(x, y, z)
        return sign * gate

    def majority(self, a: int, b: int, c: int) -> int:
        """Return whether at least two of them hold."""
        a, b, c = sorted((a, b, c))
        if abs(a) == TRUE or abs(b) == TRUE or abs(c) == TRUE:
            return self._constant_majority(a, b, c)
        if a == b or b == c:
            return b
        if a == -c or b == -c or a == -b:
            return c if a == -b else b if a == -c else a
        key = ("majority", a, b, c)
        gate = self._gates.get(key)
        if gate is None:
            gate = self._gates[key] = self.new()
            for x, y in ((a, b), (a, c), (b, c)):
                self.add(-x, -y, gate)
                self.add(x, y, -gate)
        return gate

    def _constant_majority(self, *literals: int) -> int:
        left = list(literals)
        constant = next(each for each in left if abs(each) == TRUE)
        left.remove(constant)
        return self.some(left) if constant == TRUE else self.every(left)

    # -- what a decision diagram's manager has -----------------------------------------------

    def true(self) -> Gate:
        """Return the gate that is true everywhere."""
        return Gate(self, TRUE)

    def false(self) -> Gate:
        """Return the gate that is true nowhere."""
        return Gate(self, FALSE)


@dataclass(frozen=True)
class Gate:
    """A literal of a circuit, with operators."""

    circuit: Circuit
    literal: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gate) and other.literal == self.literal

    def __hash__(self) -> int:
        return hash(self.literal)

    def _made(self, literal: int) -> Gate:
        return Gate(self.circuit, literal)

    def __and__(self, other: Gate) -> Gate:
        return self._made(self.circuit.every((self.literal, other.literal)))

    def __or__(self, other: Gate) -> Gate:
        return self._made(self.circuit.some((self.literal, other.literal)))

    def __invert__(self) -> Gate:
        return self._made(-self.literal)

    def __xor__(self, other: Gate) -> Gate:
        return self._made(-self.circuit.same(self.literal, other.literal))

    def ite(self, a: Gate, b: Gate) -> Gate:
        """Return ``a`` where this holds, else ``b``."""
        return self._made(self.circuit.choice(self.literal, a.literal, b.literal))

    def equiv(self, other: Gate) -> Gate:
        """Return where both have the same value."""
        return self._made(self.circuit.same(self.literal, other.literal))

    def imp(self, other: Gate) -> Gate:
        """Return where this does not hold or the other does."""
        return self._made(self.circuit.some((-self.literal, other.literal)))

    def satisfiable(self) -> bool:
        """Return False if it is known to hold nowhere; no solver is asked."""
        return self.literal != FALSE
