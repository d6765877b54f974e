"""Check that a policy is safe with a set of states that is described by boxes.

The rules are those of lists of states (policy_safety.py), shown for many states at once: all start
states are in the set, none of its states fails, and no step of the policy leads out of it. What
cannot be shown of a box is tried on parts of it, down to single states; these are looked at one by
one, and only a single state (or a part of a box of reals that is too small to be cut any further)
makes a certificate rejected.

On a box the policy may decide for several actions (box_choices.py); all of their outcomes must be
in the set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .arithmetic import Scalar
from .box_choices import Chooser, Item, Options, Undecided
from .box_cuts import (
    RealCuts,
    any_cut,
    cut_for,
    cut_for_condition,
    first_inside,
    halves,
    location_cuts,
    state_text,
)
from .box_sets import BoxSet, Gap, contains, is_point, meets
from .box_starts import Starts
from .box_steps import BoxView, End, Live, change, holds, image, live, moves_of
from .certificates import Place
from .errors import ModelError
from .evidence import Clock, Key, Rejected
from .expressions import Code
from .intervals import EITHER, FALSE, TRUE, Box, Unsure, bounds
from .linear import tightened
from .model import Model
from .scores import Cut, widest

Decide = Callable[[Sequence[Mapping[str, Scalar]]], Sequence[str | None]]

_BATCH = 256  # states in which the policy is asked at once
_PROBE = 6  # every so many cuts one state of the box is looked at


def check_box_safety(
    model: Model,
    states: BoxSet,
    *,
    policy: Decide,
    scores: Mapping[str, Any] | None,
    is_unfiltered: bool,
    clock: Clock,
) -> None:
    """Return if the set proves that no run of the policy fails, and raise Rejected if not.

    ``scores`` are plain data (scores.py) of what the policy scores actions with, if it does.
    """
    Starts(model, states, clock).check()
    points = _Points(model, states, policy, is_unfiltered, clock)
    _Steps(model, states, points, Chooser(model, scores, is_unfiltered), clock).check()
    points.flush()


# -- single states -----------------------------------------------------------------------------


class _Points:
    """Looks at states one by one, as in a list of states. Decisions are asked for many at once."""

    def __init__(
        self, model: Model, states: BoxSet, policy: Decide, is_unfiltered: bool, clock: Clock
    ) -> None:
        self._model = model
        self._states = states
        self._policy = policy
        self._is_unfiltered = is_unfiltered
        self._clock = clock
        self._waiting: list[Place] = []

    def add(self, key: Key) -> None:
        """Look at a state of the set."""
        try:
            self._look(key)
        except ModelError as error:
            raise self._wrong(key, error) from None

    def _wrong(self, key: Key, error: ModelError) -> Rejected:
        """Return that the model has an error in a state, which need not be reachable."""
        where = state_text(self._states.names, key)
        return Rejected(f"the task has an error in {where}: {error.detail}")

    def _look(self, key: Key) -> None:
        place = Place(self._model, key)
        if place.is_fail:
            raise Rejected(f"the state {state_text(self._states.names, key)} fails")
        if place.choices == (None,):
            self._stays(place, None)
        elif place.choices:
            self._waiting.append(place)
        if len(self._waiting) >= _BATCH:
            self.flush()

    def flush(self) -> None:
        """Look at what the policy decides in the states that wait for that."""
        places, self._waiting = self._waiting, []
        if not places:
            return
        decisions = self._policy([place.state for place in places])
        for place, decision in zip(places, decisions, strict=True):
            self._clock.tick()
            key = tuple(place.state.values())
            if decision in place.choices and decision is not None:
                try:
                    self._stays(place, decision)
                except ModelError as error:
                    raise self._wrong(key, error) from None
            elif not self._is_unfiltered:
                where = state_text(self._states.names, key)
                raise Rejected(f"what the policy decides is not applicable in {where}")

    def _stays(self, place: Place, action: str | None) -> None:
        names = self._states.names
        for outcome in place.outcomes(action):
            if outcome not in self._states:
                where = state_text(names, tuple(place.state.values()))
                name, after = action or "the forced step", state_text(names, outcome)
                raise Rejected(
                    f"{name} in {where} has the outcome {after}, which is not in the set"
                )


# -- steps -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Problem:
    """Why it is not shown that a move stays in the set."""

    move: Live
    code: Code | None = None
    gap: Gap | None = None
    changes: Box = field(default_factory=dict)
    names: Collection[str] = ()


class _Steps:
    """No state of the set may fail, and no step of the policy may lead out of it."""

    def __init__(
        self, model: Model, states: BoxSet, points: _Points, chooser: Chooser, clock: Clock
    ) -> None:
        self._model = model
        self._states = states
        self._points = points
        self._chooser = chooser
        self._clock = clock
        self._moves = [Live(move, False, ()) for move in moves_of(model)]

    def check(self) -> None:
        """Raise Rejected if a rule is broken."""
        states = self._states
        if states.is_blocked:
            boxes, near = [dict(states.everything)], states.boxes
        else:
            boxes, near = list(map(states.box_of, states.boxes)), []
        waiting = [Item(box, RealCuts.of(box), moves=self._moves, near=near) for box in boxes]
        while waiting:
            self._clock.look()
            waiting += self._parts(waiting.pop())

    def _parts(self, item: Item) -> Iterable[Item]:
        """Return the parts of an item that nothing is shown of yet."""
        box = tightened(item.box, self._states.constraints)
        if box is None or self._is_blocked(item, box):
            return ()
        item.box = box
        if is_point(box):
            self._points.add(tuple(low for low, _ in box.values()))
            return ()
        try:
            cut = self._cut(item)
        except Unsure as unsure:
            cut = cut_for(box, unsure.code) or any_cut(box)
        if cut is None:
            return ()
        if item.depth % _PROBE == _PROBE - 1:
            self._probe(box)
        cuts = item.cuts.after(box, cut, "the policy stays in the set")
        parts = halves(box, cut)
        return [replace(item, box=part, cuts=cuts, depth=item.depth + 1) for part in parts]

    def _is_blocked(self, item: Item, box: Box) -> bool:
        """Return whether no state of a box is in the set as all are in one blocked box."""
        if not item.near:
            return False
        spans = tuple(box.values())
        item.near = [each for each in item.near if meets(each, spans)]
        return any(contains(each, spans) for each in item.near)

    def _probe(self, box: Box) -> None:
        """Look at one state of a box, which may tell soon that the claim is wrong."""
        key = tuple(low for low, _ in box.values())
        if key in self._states:
            self._points.add(key)
            self._points.flush()

    def _cut(self, item: Item) -> Cut | None:
        """Return where to cut a box of which something is not shown; None if all is shown."""
        view = BoxView(item.box, self._model)
        cut = self._fail_cut(item, view)
        if cut is not None:
            return cut
        if item.is_goal_open:
            is_goal = holds(self._model.goal, view)
            if is_goal == TRUE:
                return None
            item.is_goal_open = is_goal == EITHER
        try:
            moves = [each if each.is_settled else live(each.move, view) for each in item.moves]
            item.moves = [each for each in moves if each is not None]
        except Unsure:
            if not item.is_goal_open or self._model.goal is None:
                raise
            return cut_for_condition(item.box, self._model.goal, view) or any_cut(item.box)
        return self._step_cut(item, view)

    def _fail_cut(self, item: Item, view: BoxView) -> Cut | None:
        if not item.is_fail_open or self._model.fail is None:
            return None
        is_fail = holds(self._model.fail, view)
        if is_fail == EITHER:
            cut = cut_for_condition(item.box, self._model.fail, view)
            return cut or any_cut(item.box)
        if is_fail == TRUE:
            self._probe(item.box)
            return self._near_cut(item) or any_cut(item.box)
        item.is_fail_open = False
        return None

    def _step_cut(self, item: Item, view: BoxView) -> Cut | None:
        by_action: dict[str, list[Live]] = {}
        for each in item.moves:
            by_action.setdefault(each.move.action, []).append(each)
        silent = [
            each for name in by_action if name in self._model.silent for each in by_action[name]
        ]
        loud = [name for name in by_action if name not in self._model.silent]
        surely = [name for name in loud if any(each.is_applicable for each in by_action[name])]
        choices: list[str] = []
        problems: list[_Problem] = []
        try:
            choices = self._chooser.choices(item, Options(loud, surely)) if loud else []
        except Undecided as unknown:
            return self._open_cut(item, view, loud, by_action, unknown.cut)
        for name in choices:
            problems += self._problems(item, by_action[name])
        if not surely:
            problems += self._problems(item, silent)
        if not problems:
            return None
        maybe = [each for name in loud for each in by_action[name] if not each.is_settled]
        return self._problem_cut(item, view, problems[0], choices, maybe)

    def _open_cut(
        self,
        item: Item,
        view: BoxView,
        loud: Sequence[str],
        by_action: Mapping[str, Sequence[Live]],
        cut: Cut | None,
    ) -> Cut:
        maybe = [each for name in loud for each in by_action[name] if not each.is_settled]
        proposed = self._move_cut(item.box, view, maybe) or self._goal_cut(item, view)
        return proposed or self._near_cut(item) or cut or any_cut(item.box)

    def _problems(self, item: Item, moves: Iterable[Live]) -> list[_Problem]:
        """Return the first thing that is not shown of some moves, if there is one."""
        for each in moves:
            problem = self._problem(item.box, each)
            if problem is not None:
                return [problem]
        return []

    def _problem(self, whole: Box, move: Live) -> _Problem | None:
        box: Box | None = whole
        if not move.is_sure:
            box = tightened(whole, [*self._states.constraints, *move.move.facts])
        if box is None:
            return None
        for end, _ in move.ends:
            try:
                changes = image(self._model, end, box)
            except Unsure as unsure:
                return _Problem(move, code=unsure.code)
            problem = self._left(move, end, box, changes)
            if problem is not None:
                return problem
        return None

    def _left(self, move: Live, end: End, box: Box, changes: Box) -> _Problem | None:
        """Return what outcomes might not be in the set."""
        after = {**box, **changes}
        for fact in self._states.constraints:
            low, high = change(self._model, end, fact, box, changes)
            if low == high == 0:
                continue
            least, most = fact.span(box)
            first, last = fact.span(after)
            low = max(first, max(least, fact.lower) + low)
            high = min(last, min(most, fact.upper) + high)
            if low < fact.lower or high > fact.upper:
                return _Problem(move, changes=changes, names=[name for name, _ in fact.factors])
        gap = self._states.gap(after, self._states.constraints)
        return None if gap is None else _Problem(move, gap=gap, changes=changes)

    # Where to cut

    def _problem_cut(
        self,
        item: Item,
        view: BoxView,
        problem: _Problem,
        choices: Sequence[str],
        maybe: Sequence[Live],
    ) -> Cut:
        box = item.box
        own = [] if problem.move.is_settled else [problem.move]
        cut = self._move_cut(box, view, own)
        if cut is None and len(choices) != 1:
            cut = self._move_cut(box, view, maybe)
        cut = cut or self._goal_cut(item, view) or self._near_cut(item)
        if cut is None and len(choices) > 1:
            cut = self._chooser.cut(item, choices)
        cut = cut or cut_for(box, problem.code) or _gap_cut(box, problem)
        return cut or widest(box, list(problem.names)) or any_cut(box)

    def _move_cut(self, box: Box, view: BoxView, moves: Iterable[Live]) -> Cut | None:
        """Return a cut by which it may be decided whether moves are possible."""
        for each in moves:
            cut = first_inside(box, location_cuts(each.move.locations))
            for code in (*each.move.guards, *each.move.chances):
                if cut is None and bounds(code, view) not in (TRUE, FALSE):
                    cut = cut_for(box, code)
            if cut is not None:
                return cut
        return None

    def _goal_cut(self, item: Item, view: BoxView) -> Cut | None:
        if not item.is_goal_open or self._model.goal is None:
            return None
        return cut_for_condition(item.box, self._model.goal, view)

    def _near_cut(self, item: Item) -> Cut | None:
        """Return a bound of a blocked box near by."""
        for spans in item.near:
            cut = first_inside(item.box, Gap(self._states.names, spans).cuts())
            if cut is not None:
                return cut
        return None


def _gap_cut(box: Box, problem: _Problem) -> Cut | None:
    """Return the bound of a gap, before the step that leads there."""
    if problem.gap is None:
        return None
    return first_inside(box, _before(box, problem.changes, problem.gap.cuts()))


def _before(box: Box, changes: Box, cuts: Iterable[Cut]) -> Iterator[Cut]:
    for name, value in cuts:
        if name not in changes:
            yield name, value
        elif isinstance(value, int) and not isinstance(value, bool):
            (low, high), (first, last) = box[name], changes[name]
            if first - low == last - high:
                yield name, value - (first - low)
