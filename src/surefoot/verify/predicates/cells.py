"""Abstract states: cells of a tree of tests.

A :class:`Cell` is a box of states with predicates that hold in it, or do not. One that has a test
is divided in two; the others are the abstract states. Halves are made when somebody comes to them,
so only cells that are reached exist, however many tests there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from surefoot import _core
from surefoot.verify.predicates.atoms import Atoms, Cut, Literal, Test, narrowed_by
from surefoot.verify.predicates.ranges import Box, meet, whole


class Cell:
    """A box, ``literals`` that hold in it and, if it is divided, the test that divides it.

    ``tests`` wait for its halves. ``round`` is when it was last reached.
    """

    __slots__ = ("box", "depth", "halves", "literals", "patience", "root", "round", "test", "tests")

    def __init__(self, box: Box, literals: tuple[Literal, ...], tests: tuple[Test, ...]) -> None:
        self.box = box
        self.literals = literals
        self.tests = tests
        self.test: Test | None = None
        self.halves: list[Cell | None] | None = None
        self.root: Any = None
        self.round = 0
        self.depth = 0
        self.patience = 0


class Cells:
    """The tree. ``count`` is how many cells were made."""

    def __init__(self, atoms: Atoms, boxes: _core.Boxes, tests: Sequence[Test]) -> None:
        self.atoms = atoms
        self.boxes = boxes
        self.count = 0
        self.root = self._made(atoms.full, (), tuple(tests))

    def narrowed(self, box: Box | None) -> Box | None:
        """Return a box without what no constraint allows; None if nothing is left."""
        if box is None:
            return None
        narrower: Any = self.boxes.narrowed(list(box))
        return None if narrower is None else whole(narrower)

    def common(
        self, first: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]
    ) -> Box | None:
        """Return what two boxes have in common, narrowed."""
        return self.narrowed(meet(first, other))

    def _made(
        self, box: Box | None, literals: tuple[Literal, ...], tests: tuple[Test, ...]
    ) -> Cell | None:
        """Return a new cell; None if it is empty."""
        for literal in literals:
            box = None if box is None else narrowed_by(literal, box)
        box = self.narrowed(box)
        if box is None:
            return None
        self.count += 1
        cell = Cell(box, literals, tests)
        self._divide(cell)
        return cell

    def _divide(self, cell: Cell) -> bool:
        """Divide a cell by the first of its tests that does so; return whether there is one."""
        known = {predicate for predicate, _ in cell.literals}
        for position, test in enumerate(cell.tests):
            if test not in known and self.atoms.truth(test, cell.box) is None:
                cell.test, cell.tests = test, cell.tests[position + 1 :]
                cell.halves = [None, None]
                return True
        cell.tests = ()
        return False

    def refine(self, cell: Cell, tests: Sequence[Test]) -> bool:
        """Divide an abstract state; return whether the tests do so."""
        cell.tests = tuple(tests)
        if not self._divide(cell):
            return False
        cell.root = None
        return True

    def _half(self, cell: Cell, side: int) -> Cell | None:
        """Return a half of a divided cell, where the test holds (1) or not (0); None if empty."""
        assert cell.test is not None
        assert cell.halves is not None
        half = cell.halves[side]
        if half is None:
            box: Box | None = cell.box
            literals = cell.literals
            if isinstance(cell.test, Cut):
                box = cut_side(cell.test, side, cell.box)
            else:
                literals = (*literals, (cell.test, bool(side)))
            half = self._made(box, literals, cell.tests)
            cell.halves[side] = EMPTY if half is None else half
        return None if half is EMPTY else half

    def under(self, cell: Cell | None, box: Box) -> Iterator[Cell]:
        """Yield the abstract states within a cell that a box may meet."""
        waiting = [] if cell is None else [cell]
        while waiting:
            at = waiting.pop()
            both = meet(at.box, box)
            if both is None:
                continue
            if at.test is None:
                if self.narrowed(both) is not None:
                    yield at
                continue
            truth = self.atoms.truth(at.test, both)
            sides = (0, 1) if truth is None else (int(truth),)
            waiting += [half for side in sides if (half := self._half(at, side)) is not None]


EMPTY = Cell((), (), ())
"""stands for halves that are known to be empty"""


def cut_side(cut: Cut, side: int, box: Box) -> Box:
    """Return the part of a box where a cut holds (1), or does not (0)."""
    low, high = box[cut.variable]
    new = (max(low, cut.value), high) if side else (low, min(high, cut.value - 1))
    return (*box[: cut.variable], new, *box[cut.variable + 1 :])


def balanced(cuts: Sequence[Cut]) -> list[Cut]:
    """Return the cuts so that each halves what the ones before it leave, as far as possible."""
    by_variable: dict[int, list[Cut]] = {}
    for cut in sorted(set(cuts)):
        by_variable.setdefault(cut.variable, []).append(cut)
    chosen: list[Cut] = []
    waiting = list(by_variable.values())[::-1]
    while waiting:
        some = waiting.pop()
        middle = len(some) // 2
        chosen.append(some[middle])
        waiting += [part for part in (some[middle + 1 :], some[:middle]) if part]
    return chosen
