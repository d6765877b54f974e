"""Boxes: bounds for each variable, and their literals.

A box is a cube of the order encoding, and what a clause takes out of a set is a box.
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.verify.ic3.numbers import Unary

Bounds = tuple[int, int]
Box = tuple[Bounds, ...]


def contains(outer: Box, inner: Box) -> bool:
    """Return whether a box lies within another one."""
    return all(a <= c and d <= b for (a, b), (c, d) in zip(outer, inner, strict=True))


def meet(first: Box, other: Box) -> Box:
    """Return what two boxes that have a state in common have in common."""
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, other, strict=True))


def literals(box: Box, variables: Sequence[Unary]) -> list[int]:
    """Return the literals that hold together exactly in the box."""
    bits = []
    for (lower, upper), unary in zip(box, variables, strict=True):
        if lower > unary.lower:
            bits.append(unary.at_least(lower))
        if upper < unary.upper:
            bits.append(-unary.at_least(upper + 1))
    return bits


class Bounding:
    """The literals of a state's variables, and back from literals to boxes."""

    def __init__(self, variables: Sequence[Unary]) -> None:
        self.variables = variables
        self.full: Box = tuple((unary.lower, unary.upper) for unary in variables)
        self._meaning: dict[int, tuple[int, int, bool]] = {}
        for number, unary in enumerate(variables):
            for k, literal in enumerate(unary.bits, unary.lower + 1):
                self._meaning[literal] = number, k, True
                self._meaning[-literal] = number, k - 1, False

    def literals(self, box: Box) -> list[int]:
        """Return the literals that hold together exactly in the box."""
        return literals(box, self.variables)

    def clause(self, box: Box) -> list[int]:
        """Return the clause that takes the box out."""
        return [-each for each in self.literals(box)]

    def chain(self, box: Box) -> list[int]:
        """Return the literals of the box and all weaker ones, weaker ones first.

        A solver that is given assumptions in this order and finds that they cannot be met names
        weak ones: the box it then blames is larger.
        """
        chain_bits: list[tuple[float, int]] = []
        for (lower, upper), unary in zip(box, self.variables, strict=True):
            below, above = lower - unary.lower, unary.upper - upper
            chain_bits += ((i / below, unary.bits[i - 1]) for i in range(1, below + 1))
            chain_bits += ((i / above, -unary.bits[-i]) for i in range(1, above + 1))
        return [literal for _, literal in sorted(chain_bits, key=lambda pair: pair[0])]

    def box(self, chain: Sequence[int], core: set[int]) -> Box:
        """Return the box of those literals of a chain that are in a core."""
        bounds = [list(each) for each in self.full]
        for literal in core.intersection(chain):
            number, k, is_lower = self._meaning[literal]
            if is_lower:
                bounds[number][0] = max(bounds[number][0], k)
            else:
                bounds[number][1] = min(bounds[number][1], k)
        return tuple((lower, upper) for lower, upper in bounds)

    def state(self, model: Sequence[int]) -> tuple[int, ...]:
        """Return the values of the variables in a model."""
        return tuple(
            unary.lower + sum(model[literal - 1] > 0 for literal in unary.bits)
            for unary in self.variables
        )


def box_of(state: Sequence[int]) -> Box:
    """Return the box of one state."""
    return tuple((value, value) for value in state)
