"""Where to cut a box of which something is not known, and boxes in messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .arithmetic import BINARY, RELATIONS
from .box_sets import above, below
from .box_steps import BoxView
from .evidence import Key, Rejected, shown
from .expressions import Code
from .intervals import EITHER, Box, Operation, bounds
from .model import Condition
from .scores import Cut, widest

_MAX_REAL_CUTS = 40  # of each real variable, one within the other


def _text(names: Iterable[str], values: Iterable[object]) -> str:
    text = ", ".join(f"{name} = {value}" for name, value in zip(names, values, strict=True))
    return f"({text[:200]}{'...' if len(text) > 200 else ''})"


def state_text(names: Iterable[str], key: Key) -> str:
    return _text(names, map(shown, key))


def box_text(box: Box) -> str:
    spans = [shown(a) if a == b else f"{shown(a)}..{shown(b)}" for a, b in box.values()]
    return _text(box, spans)


def cuts_in(code: Code) -> Iterator[Cut]:
    """Yield variables and values from which on a comparison in the code has another answer."""
    steps = code.steps
    for number, (what, function) in enumerate(steps):
        if what != "apply to two" or function not in _RELATIONS or number < 2:
            continue
        (first, left), (second, right) = steps[number - 2], steps[number - 1]
        op = _RELATIONS[function]
        if (first, second) == ("push", "load"):
            left, right, op = right, left, _MIRRORED[op]
        elif (first, second) != ("load", "push"):
            continue
        if op in ("<", "≥", "=", "≠"):
            yield left, right
        if op in ("≤", ">", "=", "≠"):
            yield left, above(right)


_RELATIONS: dict[Operation, str] = {
    **{function: op for op, function in RELATIONS.items()},
    **{BINARY[op][1]: op for op in RELATIONS},
}
_MIRRORED = {"=": "=", "≠": "≠", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}


def first_inside(box: Box, cuts: Iterable[Cut]) -> Cut | None:
    """Return the first cut with states of the box on both sides."""
    for name, value in cuts:
        if name in box:
            low, high = box[name]
            if low < value <= high and isinstance(value, float) == isinstance(low, float):
                return name, value
    return None


def cut_for(box: Box, code: Code | None) -> Cut | None:
    """Return a cut by which more may be known of an expression."""
    if code is None:
        return None
    names = [name for name in box if name in code.reads]
    return first_inside(box, cuts_in(code)) or widest(box, names)


def cut_for_condition(box: Box, condition: Condition, view: BoxView) -> Cut | None:
    cut = first_inside(box, location_cuts(condition.locations))
    for code in condition.conjuncts:
        if cut is None and bounds(code, view) == EITHER:
            cut = cut_for(box, code)
    return cut


def location_cuts(locations: Iterable[tuple[str, int]]) -> Iterator[Cut]:
    for name, place in locations:
        yield name, place
        yield name, place + 1


def halves(box: Box, cut: Cut) -> tuple[Box, Box]:
    """Return the parts of a box below a value and from there on."""
    name, value = cut
    low, high = box[name]
    value = type(low)(value)
    return {**box, name: (low, below(value))}, {**box, name: (value, high)}


def any_cut(box: Box) -> Cut:
    cut = widest(box, list(box))
    assert cut is not None  # a box that is no point
    return cut


class RealCuts:
    """Counts cuts of real variables, of which parts may get ever smaller.

    A box is cut ``left`` times more, which says how small its parts may get.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    @classmethod
    def of(cls, box: Box) -> RealCuts:
        """Return the cuts that a box may have."""
        wide = sum(isinstance(low, float) and low < high for low, high in box.values())
        return cls(_MAX_REAL_CUTS * wide)

    def after(self, box: Box, cut: Cut, what: str) -> RealCuts:
        """Return what is left after one cut. Raises Rejected if ``what`` is not shown till then."""
        if not isinstance(box[cut[0]][0], float):
            return self
        if not self._left:
            raise Rejected(f"it is not shown of the box {box_text(box)} that {what}")
        return RealCuts(self._left - 1)
