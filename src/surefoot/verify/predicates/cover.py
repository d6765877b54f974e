"""Certificates: abstract states as boxes.

A cell without predicates over several variables is a box. Others are split until each box is all in
or all out, so the boxes are exactly the states of the cells; that may be too many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from surefoot.verify.predicates.atoms import Atoms, Cut, Literal, Sum
from surefoot.verify.predicates.cells import Cell, cut_side
from surefoot.verify.predicates.ranges import Box

MAX_BOXES = 200_000


def boxes_of(atoms: Atoms, cells: Iterable[Cell], tick: Callable[[], None]) -> list[Box] | None:
    """Return boxes that together are the cells; None if they are more than can be written."""
    boxes: list[Box] = []
    waiting = [(cell.box, cell.literals) for cell in cells]
    work = 0
    while waiting:
        box, literals = waiting.pop()
        work += 1
        if work % 1000 == 0:
            tick()
        if work > 2 * MAX_BOXES:
            return None
        truths = [atoms.truth(predicate, box) for predicate, _ in literals]
        pairs = list(zip(truths, literals, strict=True))
        if any(truth is not None and truth is not value for truth, (_, value) in pairs):
            continue
        left = tuple(literal for truth, literal in pairs if truth is None)
        if not left:
            boxes.append(box)
            continue
        cut = _split(left[0], box)
        waiting += [(cut_side(cut, side, box), left) for side in (0, 1)]
    return boxes


def _split(literal: Literal, box: Box) -> Cut:
    """Return a cut in the middle of the variable that matters most to a literal."""
    predicate, _ = literal
    if isinstance(predicate, Sum):
        width = [(abs(f) * (box[v][1] - box[v][0]), v) for v, f in predicate.terms]
    else:
        width = [(high - low, v) for v, (low, high) in enumerate(box)]
    _, number = max(width)
    low, high = box[number]
    return Cut(number, (low + high + 1) // 2)
