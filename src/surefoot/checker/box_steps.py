"""What a model does on a box: which moves are possible in some or in all of its states, and the
boxes that they may lead to.

A Move is one way to move: edges of some elements that fire together, for one action. Everything
here is about all states of a box at once. Answers are spans of Booleans; Unsure is raised where a
state of the box might raise a ModelError.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .errors import ModelError
from .evidence import Rejected
from .expressions import Code, run
from .intervals import EITHER, FALSE, TRUE, Box, Span, Unsure, bounds, hull
from .linear import Fact, Form, Kind, Known, facts_of, form_of
from .model import Assignment, Condition, Destination, Edge, Joint, Model

_MAX_MOVES = 100_000


class BoxView(dict[str, Span]):
    """The spans of a box, transient variables included; these are evaluated when read."""

    def __init__(self, box: Mapping[str, Span], model: Model) -> None:
        super().__init__(box)
        self._model = model

    def __missing__(self, name: str) -> Span:
        self[name] = span = self._transient(name)
        return span

    def _transient(self, name: str) -> Span:
        """Return what transient variables may be: the first element that says something counts."""
        common: Span | None = None
        for element in self._model.elements:
            location = (0, 0) if element.location is None else self[element.location]
            low, high = map(int, location)
            given = [element.transient_values[place].get(name) for place in range(low, high + 1)]
            for each in given:
                if each is not None:
                    value = bounds(each.code, self)
                    span = value if each.position is None else value[each.position]
                    span = stored(self._model, name, span)
                    common = span if common is None else hull(common, span)
            if None not in given:
                assert common is not None
                return common
        initial = self._model.transient_initial[name]
        return (initial, initial) if common is None else hull(common, (initial, initial))


def stored(model: Model, cell: str, span: Span) -> Span:
    """Return the span as a variable keeps it. Raises Unsure if some of it is out of range."""
    variable = model.cells[cell]
    if not (variable.has(span[0]) and variable.has(span[1])):
        raise Unsure
    return (span[0] + 0.0, span[1] + 0.0) if isinstance(span[0], float) else span


def holds(condition: Condition | None, view: Mapping[str, Span]) -> Span:
    """Return whether a condition holds on a box."""
    if condition is None:
        return FALSE
    return _all_hold(condition.locations, condition.conjuncts, view)


def _all_hold(
    locations: Iterable[tuple[str, int]], codes: Iterable[Code], view: Mapping[str, Span]
) -> Span:
    """Return whether a box is in these locations and all conditions hold there, asked in turn."""
    truth = TRUE
    for name, location in locations:
        low, high = view[name]
        if not low <= location <= high:
            return FALSE
        truth = truth if low == high else EITHER
    for code in codes:
        span = bounds(code, view)
        if span == FALSE:
            return FALSE
        truth = truth if span == TRUE else EITHER
    return truth


@dataclass(frozen=True, eq=False)
class End:
    """One way that a move may go: what it assigns, in groups, and the locations after it.

    ``chances`` are the positions of its probabilities among those of the move.
    """

    chances: tuple[int, ...]
    groups: tuple[tuple[Assignment, ...], ...]
    locations: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Move:
    """Edges that fire together; ``facts`` hold wherever their guards do.

    ``chances`` are the probabilities that are not positive constants.
    """

    action: str
    locations: tuple[tuple[str, int], ...]
    guards: tuple[Code, ...]
    facts: tuple[Fact, ...]
    chances: tuple[Code, ...]
    ends: tuple[End, ...]

    def is_enabled(self, view: Mapping[str, Span]) -> Span:
        """Return whether the edges are enabled."""
        return _all_hold(self.locations, self.guards, view)

    def possible_ends(self, view: Mapping[str, Span]) -> tuple[tuple[End, bool], ...]:
        """Return the ways that some state may go, and whether all states of the box may."""
        if not self.chances:
            return tuple((end, True) for end in self.ends)
        spans = [bounds(code, view) for code in self.chances]
        for code, span in zip(self.chances, spans, strict=True):
            if span[0] < 0:
                raise Unsure(code)
        ends = []
        for end in self.ends:
            own = [spans[position] for position in end.chances]
            if all(high > 0 for _, high in own):
                ends.append((end, all(low > 0 for low, _ in own)))
        return tuple(ends)


@dataclass(frozen=True, eq=False)
class Live:
    """A move that is possible on a box, in all of its states if ``is_sure``, and its ways to go;
    an action is surely applicable if its move and one of the ways are sure.
    """

    move: Move
    is_sure: bool
    ends: tuple[tuple[End, bool], ...]

    @property
    def is_applicable(self) -> bool:
        """Whether there is surely an outcome."""
        return self.is_sure and any(is_sure for _, is_sure in self.ends)

    @property
    def is_settled(self) -> bool:
        """Whether the same can be said of every part of the box."""
        return self.is_sure and all(is_sure for _, is_sure in self.ends)


def live(move: Move, view: Mapping[str, Span]) -> Live | None:
    """Return how a move is possible on a box; None if it is not."""
    enabled = move.is_enabled(view)
    if enabled == FALSE:
        return None
    ends = move.possible_ends(view)
    return Live(move, enabled == TRUE, ends) if ends else None


# -- all moves of a model ----------------------------------------------------------------------


def moves_of(model: Model) -> list[Move]:
    """Return all moves. Raises Rejected if there are too many."""
    moves: list[Move] = []
    for joint in model.joints:
        edges = [
            [edge for edge in model.elements[number].edges if edge.label == label]
            for number, label in joint.parts
        ]
        for chosen in itertools.product(*edges):
            if len(moves) == _MAX_MOVES:
                raise Rejected("the task has too many combinations of edges to check boxes")
            moves.append(_move(model, joint, chosen))
    return moves


def _move(model: Model, joint: Joint, edges: tuple[Edge, ...]) -> Move:
    names = [model.elements[number].location for number, _ in joint.parts]
    guards = tuple(edge.guard for edge in edges if edge.guard is not None)
    locations = [(n, e.location) for n, e in zip(names, edges, strict=True) if n is not None]
    facts = [Fact(((name, 1),), location, location) for name, location in locations]
    facts += [fact for guard in guards for fact in facts_of(guard, kinds(model))]
    chances = _chances(edges)
    chosen = itertools.product(*(edge.destinations for edge in edges))
    ends = tuple(_end(names, each, chances) for each in chosen)
    return Move(joint.action, tuple(locations), guards, tuple(facts), tuple(chances), ends)


def _chances(edges: tuple[Edge, ...]) -> dict[Code, int]:
    """Return the probabilities of all destinations that have to be looked at, with numbers."""
    chances: dict[Code, int] = {}
    for edge in edges:
        for destination in edge.destinations:
            code = destination.probability
            if code is not None and not _is_surely_positive(code):
                chances.setdefault(code, len(chances))
    return chances


def _end(
    names: list[str | None], destinations: tuple[Destination, ...], chances: Mapping[Code, int]
) -> End:
    updates = [update for each in destinations for update in each.assignments]
    indices = sorted({update.index for update in updates})
    own = (each.probability for each in destinations if each.probability is not None)
    pairs = zip(names, destinations, strict=True)
    return End(
        tuple(chances[code] for code in own if code in chances),
        tuple(tuple(update for update in updates if update.index == index) for index in indices),
        tuple((name, each.location) for name, each in pairs if name is not None),
    )


def _is_surely_positive(code: Code) -> bool:
    """Return whether a probability is a positive constant."""
    try:
        return not code.reads and run(code, {}) > 0
    except ModelError:
        return False


def kinds(model: Model) -> Kind:
    """Return the function from the name of a variable of the state to its kind."""
    transient = model.transient
    return lambda name: "transient" if name in transient else model.cells[name].kind


# -- what a move leads to ----------------------------------------------------------------------


def image(model: Model, end: End, box: Box) -> Box:
    """Return the spans that change if a move goes this way from the states of a box.

    Every outcome is in the box with these changes. Raises Unsure where a state of the box might
    raise a ModelError.
    """
    values: Box = dict(box)
    for name, value in model.transient_initial.items():
        values[name] = (value, value)
    changes: Box = {}
    for group in end.groups:
        new = _merged(
            model, [each for change in group for each in _stores(model, change, values)], values
        )
        values.update(new)
        changes.update(new)
    changes.update({name: (place, place) for name, place in end.locations})
    return {name: span for name, span in changes.items() if name in box}


Store = tuple[str, Span, bool]  # cell, values, and whether it is surely stored


def _stores(model: Model, update: Assignment, values: Mapping[str, Span]) -> Iterator[Store]:
    """Yield the cells that an assignment may store to."""
    cells, is_sure = update.cells, True
    if update.position is not None:
        low, high = bounds(update.position, values)
        if low < 0 or high >= len(cells):
            raise Unsure(update.position)
        cells, is_sure = cells[low : high + 1], low == high
    if update.interval is not None:
        spans = [_interval(model, update, cell, values) for cell in cells]
    else:
        assert update.value is not None
        value = bounds(update.value, values)
        spans = value if isinstance(value, list) else [value] * len(cells)
    for cell, span in zip(cells, spans, strict=True):
        yield cell, stored(model, cell, span), is_sure


def _interval(model: Model, update: Assignment, cell: str, values: Mapping[str, Span]) -> Span:
    assert update.interval is not None
    lower, upper = (bounds(code, values) for code in update.interval)
    variable = model.cells[cell]
    if max(lower[1], variable.lower) > min(upper[0], variable.upper):
        raise Unsure(update.interval[0])  # the interval might be empty
    return max(lower[0], variable.lower), min(upper[1], variable.upper)


def _merged(model: Model, stores: list[Store], values: Mapping[str, Span]) -> Box:
    """Return the spans of the cells that one group stores to."""
    merged: Box = {}
    surely: set[str] = set()
    for cell, span, is_sure in stores:
        if cell in merged and not merged[cell] == span == (span[0], span[0]):
            raise Unsure  # two values might differ
        merged[cell] = span
        surely |= {cell} if is_sure else set()
    return {
        cell: span if cell in surely else hull(span, values[cell]) for cell, span in merged.items()
    }


def change(
    model: Model, end: End, fact: Fact, box: Mapping[str, Span], changes: Mapping[str, Span]
) -> Span:
    """Return the span of how much the sum of a fact changes on this way from the states of a box;
    ``changes`` is the image of the box.
    """
    moved = [(name, factor) for name, factor in fact.factors if name in changes]
    if not moved:
        return 0, 0
    new = _forms_after(model, end, box)
    total: Form = Form({})
    low: float = 0
    high: float = 0
    for name, factor in moved:
        form = new.get(name)
        if isinstance(form, Form):
            total = total.plus(form.plus(Form({name: 1}), -1), factor)
        else:
            span = Form({"new": factor, "old": -factor}).span(
                {"new": changes[name], "old": box[name]}
            )
            low, high = low + span[0], high + span[1]
    least, most = total.span(box)
    return low + least, high + most


def _forms_after(model: Model, end: End, box: Mapping[str, Span]) -> dict[str, Form | None]:
    """Return what the cells are that the assignments store to, as sums of what they were before;
    None where that is not known.
    """
    known: dict[str, Form | None] = {
        name: Form({}, int(low))
        for name, (low, high) in box.items()
        if low == high and not isinstance(low, float)
    }
    for name, value in model.transient_initial.items():
        known[name] = None if isinstance(value, float) else Form({}, int(value))
    kind_of = kinds(model)
    for group in end.groups:
        new: dict[str, Form | None] = {}
        for update in group:
            for cell, form in _forms(update, known, kind_of):
                new[cell] = None if cell in new and new[cell] != form else form
        known.update(new)
    known.update({name: Form({}, place) for name, place in end.locations})
    return known


def _forms(update: Assignment, known: Known, kind_of: Kind) -> Iterator[tuple[str, Form | None]]:
    cells = update.cells
    if update.position is not None:
        position = form_of(update.position, known, kind_of)
        at = position.constant if isinstance(position, Form) and not position.factors else -1
        if not 0 <= at < len(cells):
            yield from ((cell, None) for cell in cells)
            return
        cells = (cells[at],)
    value = None if update.value is None else form_of(update.value, known, kind_of)
    if len(update.cells) > 1 and update.position is None:
        values = value if isinstance(value, list) else [None] * len(cells)
    else:
        values = [value if isinstance(value, Form) else None]
    yield from zip(cells, values, strict=True)
