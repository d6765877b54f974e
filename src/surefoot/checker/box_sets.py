"""Sets of states that a certificate describes by boxes and linear sums.

A BoxSet is either the union of its boxes, or all states that are in none of them (*blocked* ones);
of these, it has the states that satisfy all constraints. It answers whether a box lies in the set.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arithmetic import Scalar
from .evidence import Clock, Key, Rejected, read_list, read_names, read_value, shown
from .intervals import Box, Span
from .linear import Fact, tightened
from .model import Model, Variable

_MAX_PIECES = 64  # of a box that lies in no single box of the set
_MAX_LOOSE = 0.2  # the share of boxes that may have several values where others have one


def below(value: Scalar) -> Scalar:
    """Return the greatest value that is less."""
    if isinstance(value, bool):
        return False
    return value - 1 if isinstance(value, int) else math.nextafter(value, -math.inf)


def above(value: Scalar) -> Scalar:
    """Return the least value that is greater."""
    if isinstance(value, bool):
        return True
    return value + 1 if isinstance(value, int) else math.nextafter(value, math.inf)


def is_point(box: Mapping[str, Span]) -> bool:
    """Return whether there is one state in the box."""
    return all(low == high for low, high in box.values())


def contains(outer: Sequence[Span], inner: Sequence[Span]) -> bool:
    """Return whether all of a box is in another one."""
    for (low, high), (first, last) in zip(outer, inner, strict=True):
        if first < low or last > high:
            return False
    return True


def meets(mine: Sequence[Span], other: Sequence[Span]) -> bool:
    """Return whether two boxes have a state in common."""
    for (low, high), (first, last) in zip(mine, other, strict=True):
        if first > high or last < low:
            return False
    return True


Spans = tuple[Span, ...]  # of a box, in the order of the variables


@dataclass(frozen=True)
class Gap:
    """A part of a box that was not found in the set."""

    names: Sequence[str]
    spans: Spans

    def cuts(self) -> Iterator[tuple[str, Scalar]]:
        """Yield values from which on a variable is in the gap, or is no longer."""
        for name, (low, high) in zip(self.names, self.spans, strict=True):
            yield name, low
            yield name, above(high)


class BoxSet:
    """The set. ``boxes`` are as the certificate has them, cut with the constraints."""

    def __init__(
        self,
        variables: Sequence[Variable],
        boxes: Iterable[Spans],
        constraints: Sequence[Fact],
        *,
        is_blocked: bool,
    ) -> None:
        self.names = [variable.name for variable in variables]
        self.constraints = list(constraints)
        self.is_blocked = is_blocked
        self.everything = {each.name: (each.lower, each.upper) for each in variables}
        self.boxes = list(dict.fromkeys(box for box in map(self._cut, boxes) if box is not None))
        self._index = _Index(self.boxes)

    def _cut(self, spans: Spans) -> Spans | None:
        box = tightened(dict(zip(self.names, spans, strict=True)), self.constraints)
        return None if box is None else tuple(box.values())

    def box_of(self, spans: Spans) -> Box:
        """Return a box with the names of its variables."""
        return dict(zip(self.names, spans, strict=True))

    def __contains__(self, key: Key) -> bool:
        """Return whether a state is in the set."""
        point = tuple((value, value) for value in key)
        box = self.box_of(point)
        for fact in self.constraints:
            if not fact.lower <= fact.span(box)[0] <= fact.upper:
                return False
        is_inside = any(contains(each, point) for each in self._index.near(point))
        return is_inside is not self.is_blocked

    def gap(self, box: Box, facts: Sequence[Fact]) -> Gap | None:
        """Return a part of the box that may not be in the set; None if all of it is.

        Only states of the box count that satisfy the facts, which are known of them. That they
        satisfy the constraints is not asked here.
        """
        spans = tuple(box[name] for name in self.names)
        near = self._index.near(spans)
        if not self.is_blocked and any(contains(each, spans) for each in near):
            return None
        cut = tightened(box, facts)
        if cut is None:
            return None
        spans = tuple(cut[name] for name in self.names)
        near = [each for each in near if meets(each, spans)]
        return self._hit(spans, near, facts) if self.is_blocked else self._left(spans, near, facts)

    def blocked_near(self, spans: Spans, among: Iterable[Spans]) -> list[Spans]:
        """Return the boxes among some that have states in common with a box."""
        return [each for each in among if meets(each, spans)]

    def _hit(self, spans: Spans, near: Sequence[Spans], facts: Sequence[Fact]) -> Gap | None:
        for each in near:
            common = _common(spans, each)
            if tightened(self.box_of(common), facts) is not None:
                return Gap(self.names, common)
        return None

    def _left(self, spans: Spans, near: Sequence[Spans], facts: Sequence[Fact]) -> Gap | None:
        """Return what is left of a box without the boxes near it."""
        waiting, pieces = [(spans, list(near))], 0
        while waiting:
            piece, others = waiting.pop()
            others = [each for each in others if meets(each, piece)]
            if any(contains(each, piece) for each in others):
                continue
            pieces += 1
            if not others or pieces > _MAX_PIECES:
                return Gap(self.names, piece)
            for part in _without(piece, max(others, key=lambda each: _common_size(piece, each))):
                cut = tightened(self.box_of(part), facts)
                if cut is not None:
                    waiting.append((tuple(cut.values()), others))
        return None


def _common(first: Spans, other: Spans) -> Spans:
    pairs = zip(first, other, strict=True)
    return tuple((max(a, c), min(b, d)) for (a, b), (c, d) in pairs)


def _common_size(mine: Spans, other: Spans) -> float:
    """Return how much of a box is in another one, as a logarithm."""
    size = 0.0
    for (low, high), (first, last) in zip(mine, _common(mine, other), strict=True):
        if low != high:
            step = 0 if isinstance(low, float) else 1
            size += math.log2((last - first + step) / (high - low + step) + 1e-9)
    return size


def _without(spans: Spans, other: Spans) -> Iterator[Spans]:
    """Yield boxes that together have the states of a box that are not in the other one."""
    left = list(spans)
    for number, ((low, high), (first, last)) in enumerate(zip(spans, other, strict=True)):
        if low < first:
            yield (*left[:number], (low, below(first)), *left[number + 1 :])
        if last < high:
            yield (*left[:number], (above(last), high), *left[number + 1 :])
        left[number] = (max(low, first), min(high, last))


class _Index:
    """Finds the boxes that may have states in common with a box.

    Most boxes have a single value for some variables; boxes are kept by these values.
    """

    def __init__(self, boxes: Sequence[Spans]) -> None:
        self._boxes = boxes
        width = len(boxes[0]) if boxes else 0
        loose = [sum(box[i][0] != box[i][1] for box in boxes) for i in range(width)]
        self._columns = [i for i in range(width) if loose[i] <= _MAX_LOOSE * len(boxes)]
        self._by_values: dict[Key, list[Spans]] = {}
        self._others: list[Spans] = []
        for box in boxes:
            values = self._values(box)
            group = self._others if values is None else self._by_values.setdefault(values, [])
            group.append(box)

    def _values(self, spans: Spans) -> Key | None:
        own = [spans[column] for column in self._columns]
        return None if any(low != high for low, high in own) else tuple([low for low, _ in own])

    def near(self, spans: Spans) -> Sequence[Spans]:
        """Return boxes, among them all that have states in common with this one."""
        values = self._values(spans)
        if values is None:
            return self._boxes
        return [*self._by_values.get(values, ()), *self._others]


# -- reading -----------------------------------------------------------------------------------


def read_constraints(given: object, model: Model) -> list[Fact]:
    """Return the constraints of a certificate. Raises Rejected."""
    kind_of = {variable.name: variable.kind for variable in model.variables}
    constraints = []
    for number, each in enumerate(read_list(given, "constraints")):
        what = f"constraint {number}"
        if not isinstance(each, Mapping) or set(each) != {"factors", "lower", "upper"}:
            raise Rejected(f"{what} must have the members factors, lower, upper")
        factors = each["factors"]
        if not isinstance(factors, Mapping):
            raise Rejected(f"{what}: factors must be an object, not {shown(factors)}")
        read_names(list(factors), what, [name for name in kind_of if kind_of[name] != "real"])
        numbers = [*factors.values(), each["lower"], each["upper"]]
        if not all(type(value) is int for value in numbers):
            raise Rejected(f"{what}: factors and bounds are integers")
        used = tuple((name, factor) for name, factor in factors.items() if factor)
        constraints.append(Fact(used, each["lower"], each["upper"]))
    return constraints


def read_box(row: object, columns: Sequence[tuple[Variable, int]], number: int) -> Spans:
    """Return the box of a line, whose values stand in these columns. Raises Rejected."""
    values = read_list(row, f"box {number}", len(columns))
    return tuple([_read_span(values[i], variable, number) for variable, i in columns])


def _read_span(given: object, variable: Variable, number: int) -> Span:
    if not isinstance(given, list):
        value = read_value(given, variable, number, what="box")
        return value, value
    ends = read_list(given, f"box {number}: {variable.name}", 2)
    low, high = (read_value(end, variable, number, what="box") for end in ends)
    if low > high:
        raise Rejected(f"box {number}: {variable.name} is from {shown(low)} to {shown(high)}")
    return low, high


def read_set(
    model: Model, head: Mapping[str, Any], rows: Iterable[tuple[int, object]], clock: Clock
) -> BoxSet:
    """Return the set of all lines: as many boxes as the first line says."""
    is_blocked = "blocked" in head
    if is_blocked and any(variable.kind == "real" for variable in model.variables):
        raise Rejected("blocked boxes are for tasks without real variables")
    own_names = [variable.name for variable in model.variables]
    names = read_names(head["variables"], "variables", own_names)
    if len(names) != len(own_names):
        raise Rejected(f"there are {len(own_names)} variables, not {len(names)}")
    columns = [(variable, names.index(variable.name)) for variable in model.variables]
    count = head["blocked" if is_blocked else "boxes"]
    constraints = read_constraints(head["constraints"], model)
    boxes: list[Spans] = []
    for number, row in rows:
        clock.tick()
        if number >= count:
            raise Rejected(f"there are more than {count} boxes")
        boxes.append(read_box(row, columns, number))
    if len(boxes) != count:
        raise Rejected(f"there are {len(boxes)} boxes, not {count}")
    return BoxSet(model.variables, boxes, constraints, is_blocked=is_blocked)
