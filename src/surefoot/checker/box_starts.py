"""Check that all start states are in a set of boxes, box by box."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from .arithmetic import Scalar
from .box_cuts import RealCuts, any_cut, cut_for, first_inside, halves, state_text
from .box_sets import BoxSet, Gap, is_point
from .box_steps import BoxView, kinds
from .errors import ModelError
from .evidence import Clock, Rejected
from .expressions import Code, run
from .intervals import EITHER, FALSE, Box, Unsure, bounds
from .linear import facts_of, tightened
from .model import Model, StartSet
from .scores import Cut, widest

_MAX_TRIES = 20_000  # boxes in which a start state of a task with reals is looked for


class Starts:
    """All start states must be in the set, and there must be one."""

    def __init__(self, model: Model, states: BoxSet, clock: Clock) -> None:
        self._model = model
        self._states = states
        self._clock = clock
        self._start: StartSet = model.start
        kind_of = kinds(model)
        self._codes = [code for condition in model.start.conditions for code in condition.conjuncts]
        self._facts = [fact for code in self._codes for fact in facts_of(code, kind_of)]
        self._known = [
            constraint
            for constraint in states.constraints
            if any(fact.implies(constraint) for fact in self._facts)
        ]

    def check(self) -> None:
        """Raise Rejected if the rule is broken."""
        if not any(self._has_state(pattern) for pattern in self._start.patterns):
            raise Rejected("there is no start state")
        for pattern in self._start.patterns:
            box = self._box(pattern)
            waiting = [(box, RealCuts.of(box))]
            while waiting:
                self._clock.look()
                waiting += self._parts(*waiting.pop(), pattern)

    def _box(self, pattern: Mapping[str, Collection[Scalar]]) -> Box:
        """Return the smallest box with all states of a pattern."""
        box = dict(self._states.everything)
        for name, values in pattern.items():
            if name in box:
                box[name] = min(values), max(values)
        return box

    def _has_state(self, pattern: Mapping[str, Collection[Scalar]]) -> bool:
        """Return whether there is a start state, looking for one in ever smaller boxes."""
        waiting, tries = [self._box(pattern)], 0
        has_reals = any(variable.kind == "real" for variable in self._model.variables)
        while waiting and (tries := tries + has_reals) < _MAX_TRIES:
            self._clock.tick()
            cut_box = self._narrowed(waiting.pop(), pattern)
            if cut_box is None:
                continue
            box, _ = cut_box
            if self._is_start({name: low for name, (low, _) in box.items()}, pattern):
                return True
            cut = widest(box, list(box))
            waiting += [] if cut is None else halves(box, cut)[::-1]
        return False

    def _narrowed(
        self, box: Box, pattern: Mapping[str, Collection[Scalar]]
    ) -> tuple[Box, Code | None] | None:
        """Return the part of a box with its start states, and a condition that might raise an
        error there; None if there are none.
        """
        narrower = tightened(box, self._facts)
        if narrower is None or not _may_fit(narrower, pattern):
            return None
        view, unsure = BoxView(narrower, self._model), None
        for code in self._codes:
            try:
                if bounds(code, view) == FALSE:
                    return None
            except Unsure:
                unsure = code
        return narrower, unsure

    def _is_start(
        self, state: Mapping[str, Scalar], pattern: Mapping[str, Collection[Scalar]]
    ) -> bool:
        """Return whether a state is one: an error counts only if no conjunct rules it out."""
        if not all(state[name] in values for name, values in pattern.items() if name in state):
            return False
        view = self._model.view(state)
        for code in self._codes:
            try:
                if not run(code, view):
                    return False
            except ModelError:
                continue
        return all(condition.holds(view) for condition in self._start.conditions)

    def _parts(
        self, box: Box, cuts: RealCuts, pattern: Mapping[str, Collection[Scalar]]
    ) -> Iterable[tuple[Box, RealCuts]]:
        """Return boxes whose start states have still to be found in the set."""
        narrowed = self._narrowed(box, pattern)
        if narrowed is None:
            return ()
        box, unsure = narrowed
        if is_point(box):
            self._point({name: low for name, (low, _) in box.items()}, pattern)
            return ()
        cut = cut_for(box, unsure)
        if unsure is None:
            gap, cut = self._gap(box)
            if gap is None and cut is None:
                return ()
            self._point({name: high for name, (_, high) in box.items()}, pattern)
            cut = cut or self._condition_cut(box)
            cut = cut or first_inside(box, gap.cuts() if gap else ())
        cut = cut or any_cut(box)
        left = cuts.after(box, cut, "its start states are in the set")
        return [(part, left) for part in halves(box, cut)]

    def _gap(self, box: Box) -> tuple[Gap | None, Cut | None]:
        """Return what is not found in the set, or a cut by which a constraint may be decided."""
        for fact in self._states.constraints:
            low, high = fact.span(box)
            if fact not in self._known and not fact.lower <= low <= high <= fact.upper:
                return None, widest(box, [name for name, _ in fact.factors]) or any_cut(box)
        return self._states.gap(box, self._states.constraints), None

    def _condition_cut(self, box: Box) -> Cut | None:
        view = BoxView(box, self._model)
        for code in self._codes:
            if bounds(code, view) == EITHER and len(code.reads) == 1:
                cut = cut_for(box, code)
                if cut is not None:
                    return cut
        return None

    def _point(
        self, state: Mapping[str, Scalar], pattern: Mapping[str, Collection[Scalar]]
    ) -> None:
        key = tuple(state.values())
        if self._is_start(state, pattern) and key not in self._states:
            where = state_text(self._states.names, key)
            raise Rejected(f"the start state {where} is not in the set")


def _may_fit(box: Box, pattern: Mapping[str, Collection[Scalar]]) -> bool:
    """Return whether some state of a box fits a pattern."""
    return all(
        any(box[name][0] <= value <= box[name][1] for value in values)
        for name, values in pattern.items()
        if name in box
    )
