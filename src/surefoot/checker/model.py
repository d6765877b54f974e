"""What a model does: applicable actions and outcomes (docs/semantics.md, Steps).

A Model is a network of Elements. A Joint is one way to move: an action and the label that each
participating element contributes (a silent edge is a joint of one participant without label).
Every choice of enabled edges, one for each participant, is a *combination*.

Evaluation works on valuations: dictionaries from the names of cells to values. A View is the
valuation of a state, in which transient variables have the values that their locations give.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from .arithmetic import Scalar
from .dispatch import Dispatch, Spans, first_spans
from .errors import ModelError
from .expressions import Array, Code, run
from .starts import list_states

State = dict[str, Scalar]


@dataclass(frozen=True)
class Variable:
    """A variable of the state (or a transient one): an array cell and a location are variables."""

    name: str
    kind: str
    lower: Scalar
    upper: Scalar

    def has(self, value: Scalar) -> bool:
        """Return whether a value of the right kind is within the bounds."""
        return self.lower <= value <= self.upper

    def accept(self, value: object) -> Scalar:
        """Return a value from outside in the variable's own kind. Raises ValueError."""
        if self.kind == "real" and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value) + 0.0
        if self.kind == "bool" and isinstance(value, bool):
            return value
        if self.kind == "int" and isinstance(value, int) and not isinstance(value, bool):
            return value
        raise ValueError(f"{self.name} is of kind {self.kind}: {value!r} is not")

    def store(self, value: Scalar) -> Scalar:
        """Return the value as the variable keeps it: within bounds, no negative zero."""
        if not self.has(value):
            bounds = f"{self.lower}..{self.upper}"
            raise ModelError("out-of-range", f"{self.name} := {value} is outside {bounds}")
        return value + 0.0 if isinstance(value, float) else value


@dataclass(frozen=True)
class Assignment:
    """An update: of one cell, of the cell at a position of an array, or of a whole array.

    Has a ``value``, or the two bounds of an ``interval``.
    """

    index: int
    cells: tuple[str, ...]
    position: Code | None
    value: Code | None
    interval: tuple[Code, Code] | None
    where: str


@dataclass(frozen=True)
class Destination:
    """One of the ways an edge may go; without ``probability`` it has probability 1."""

    location: int
    probability: Code | None
    assignments: tuple[Assignment, ...]


@dataclass(frozen=True)
class Edge:
    """An edge; without ``label`` it is silent, without ``guard`` always possible."""

    location: int
    label: str | None
    guard: Code | None
    destinations: tuple[Destination, ...]

    @cached_property
    def is_certain(self) -> bool:
        """Whether every destination is possible, wherever the edge is enabled."""
        return all(each.probability is None or _is_positive(each.probability)
                   for each in self.destinations)  # fmt: skip

    @cached_property
    def single_destinations(self) -> list[tuple[Destination, ...]]:
        """The ways to go where the edge moves alone."""
        return [(each,) for each in self.destinations]


Combination = tuple[tuple[int, ...], tuple[Edge, ...]]  # element numbers and their edges


@dataclass(frozen=True)
class TransientValue:
    """What a location gives to a transient cell: the value of the code, or one element of it."""

    code: Code
    position: int | None


@dataclass(frozen=True)
class Element:
    """A part of the system; ``location`` names its location variable, if it has one."""

    name: str
    automaton: str
    location: str | None
    location_names: tuple[str, ...]
    initial_locations: tuple[int, ...]
    edges: tuple[Edge, ...]
    transient_values: tuple[Mapping[str, TransientValue], ...]

    def position(self, values: Mapping[str, Scalar]) -> int:
        """Return the current location."""
        return 0 if self.location is None else int(values[self.location])

    def edges_here(self, values: Mapping[str, Scalar], label: str | None) -> list[Edge]:
        """Return the edges with a label that leave the current location."""
        return self._edges_from.get((label, self.position(values)), [])

    @cached_property
    def _edges_from(self) -> dict[tuple[str | None, int], list[Edge]]:
        edges: dict[tuple[str | None, int], list[Edge]] = {}
        for edge in self.edges:
            edges.setdefault((edge.label, edge.location), []).append(edge)
        return edges


@dataclass(frozen=True)
class Joint:
    """A way to move: element numbers and the label each of them contributes."""

    action: str
    parts: tuple[tuple[int, str | None], ...]


@dataclass(frozen=True)
class Condition:
    """A conjunction over states, evaluated from left to right; locations come first."""

    locations: tuple[tuple[str, int], ...] = ()
    conjuncts: tuple[Code, ...] = ()

    def holds(self, values: Mapping[str, Scalar]) -> bool:
        """Return whether the valuation satisfies the condition."""
        if any(values[name] != location for name, location in self.locations):
            return False
        return all(run(code, values) for code in self.conjuncts)


@dataclass(frozen=True)
class StartSet:
    """The states that fit one of the patterns and satisfy all conditions.

    A pattern maps variables to the values they may have; one that it leaves out is free.
    """

    patterns: tuple[Mapping[str, tuple[Scalar, ...]], ...]
    conditions: tuple[Condition, ...]


class View(dict[str, Scalar]):
    """The valuation of a state, transient variables included; these are evaluated when read.

    Remembers the combinations of each action once they are found.
    """

    def __init__(self, values: Mapping[str, Scalar], model: Model) -> None:
        super().__init__(values)
        self.model = model
        self.combinations: dict[str, list[Combination]] = {}

    def __missing__(self, name: str) -> Scalar:
        self[name] = value = self.model.transient_value(self, name)
        return value


@dataclass(frozen=True)
class Model:
    """A task as its files define it. Build one with `load`."""

    name: str
    variables: tuple[Variable, ...]
    actions: tuple[str, ...]
    silent: frozenset[str]
    elements: tuple[Element, ...]
    joints: tuple[Joint, ...]
    transient: Mapping[str, Variable]
    transient_initial: Mapping[str, Scalar]
    cells: Mapping[str, Variable]
    initial: StartSet
    start: StartSet
    fail: Condition | None
    goal: Condition | None

    def applicable(self, state: Mapping[str, Scalar]) -> tuple[str, ...]:
        """Return the actions that have an outcome, in the order of ``actions``.

        Does not ask whether the state is terminal.
        """
        view = self.view(state)
        return tuple(action for action in self.actions if self._has_outcome(view, action))

    def outcomes(self, state: Mapping[str, Scalar], action: str) -> list[State]:
        """Return the distinct outcomes of an action: none if it is not applicable."""
        view = self.view(state)
        outcomes: dict[tuple[Scalar, ...], State] = {}
        for numbers, edges in self._combinations(view, action):
            for destinations in _possible_destinations(view, edges):
                for outcome in self._update(view, numbers, destinations):
                    outcomes.setdefault(tuple(outcome.values()), outcome)
        return list(outcomes.values())

    def is_fail(self, state: Mapping[str, Scalar]) -> bool:
        """Return whether the fail condition holds."""
        return self.fail is not None and self.fail.holds(self.view(state))

    def is_goal(self, state: Mapping[str, Scalar]) -> bool:
        """Return whether the goal condition holds, also where the fail condition does."""
        return self.goal is not None and self.goal.holds(self.view(state))

    def is_start(self, state: Mapping[str, Scalar]) -> bool:
        """Return whether runs may start here."""
        view = self.view(state)
        if not all(variable.has(view[variable.name]) for variable in self.variables):
            return False
        fits = any(
            all(view[name] in allowed for name, allowed in pattern.items())
            for pattern in self.start.patterns
        )
        return fits and all(condition.holds(view) for condition in self.start.conditions)

    def starts(self, limit: int) -> list[State] | None:
        """Return all start states, or None if that takes more than `limit` candidates."""
        return list_states(self, self.start, limit)

    def initial_states(self, limit: int) -> list[State] | None:
        """Return the states that the model itself starts in, like `starts`."""
        return list_states(self, self.initial, limit)

    def view(self, state: Mapping[str, Scalar]) -> View:
        """Return the valuation of a state. Raises ValueError if it is not one of this model.

        Who asks several questions about a state asks them about its view: then guards are evaluated
        once.
        """
        if isinstance(state, View) and state.model is self:
            return state
        if len(state) == len(self.variables) and not self._has_reals:
            given = [state.get(variable.name) for variable in self.variables]
            if list(map(type, given)) == self._types:
                return View(state, self)
        missing = [variable.name for variable in self.variables if variable.name not in state]
        if missing or len(state) != len(self.variables):
            raise ValueError(f"not a state of {self.name}: missing {missing} or too many variables")
        values = {each.name: each.accept(state[each.name]) for each in self.variables}
        return View(values, self)

    @cached_property
    def _types(self) -> list[type]:
        """The types of values that the variables take as they are."""
        kinds: dict[str, type] = {"int": int, "bool": bool, "real": float}
        return [kinds[variable.kind] for variable in self.variables]

    @cached_property
    def _has_reals(self) -> bool:
        return any(variable.kind == "real" for variable in self.variables)

    def transient_value(self, view: View, name: str) -> Scalar:
        """Return what the current locations say about a transient cell, else its initial value.

        Of several elements that say something the first one counts.
        """
        for element in self.elements:
            given = element.transient_values[element.position(view)].get(name)
            if given is not None:
                value = run(given.code, view)
                part = value if given.position is None else value[given.position]
                return self.transient[name].store(part)
        return self.transient_initial[name]

    def _has_outcome(self, view: View, action: str) -> bool:
        """Return whether some combination has an outcome; looks at every one, for its errors."""
        combinations = self._combinations(view, action)
        if all(edge.is_certain for _, edges in combinations for edge in edges):
            return any(all(edge.destinations for edge in edges) for _, edges in combinations)
        possible = [bool(_possible_destinations(view, edges)) for _, edges in combinations]
        return any(possible)

    def _combinations(self, view: View, action: str) -> list[Combination]:
        """Return the element numbers and enabled edges of every combination of an action."""
        combinations = view.combinations.get(action)
        if combinations is None:
            if action not in self._joints_of:
                raise ValueError(f'{self.name} has no action "{action}"')
            combinations = [
                each for joint in self._joints_of[action] for each in self._enabled(view, joint)
            ]
            view.combinations[action] = combinations
        return combinations

    def _enabled(self, view: View, joint: Joint) -> list[Combination]:
        """Return the combinations of one joint; a guard is evaluated if those before it hold."""
        if len(joint.parts) > 1 and not self._is_anywhere(view, joint):
            return []
        chosen: list[tuple[Edge, ...]] = [()]
        for number, label in joint.parts:
            edges = self._candidates(view, number, label)
            chosen = [
                (*before, edge)
                for before in chosen
                for edge in edges
                if edge.guard is None or run(edge.guard, view)
            ]
            if not chosen:
                return []
        numbers = tuple(number for number, _ in joint.parts)
        return [(numbers, edges) for edges in chosen]

    def _is_anywhere(self, view: View, joint: Joint) -> bool:
        """Return whether every part of a joint has an edge at its current location."""
        return all(self.elements[number].edges_here(view, label) for number, label in joint.parts)

    def _candidates(self, view: View, number: int, label: str | None) -> Sequence[Edge]:
        """Return the edges of an element whose guards are to be evaluated."""
        element = self.elements[number]
        key = number, label, element.position(view)
        dispatch = self._dispatches.get(key)
        if dispatch is None:
            edges = element.edges_here(view, label)
            dispatch = Dispatch([(each, self._spans(each.guard)) for each in edges])
            self._dispatches[key] = dispatch
        return dispatch.at(view)

    def _spans(self, guard: Code | None) -> Spans:
        return {} if guard is None else first_spans(guard.steps, self._plain)

    @cached_property
    def _dispatches(self) -> dict[tuple[int, str | None, int], Dispatch[Edge]]:
        return {}

    @cached_property
    def _plain(self) -> frozenset[str]:
        """The names of the integer and Boolean variables, which can be read without error."""
        return frozenset(each.name for each in self.variables if each.kind in ("int", "bool"))

    @cached_property
    def _joints_of(self) -> dict[str, list[Joint]]:
        return {
            name: [each for each in self.joints if each.action == name] for name in self.actions
        }

    def _update(
        self, view: View, numbers: tuple[int, ...], destinations: tuple[Destination, ...]
    ) -> list[State]:
        """Return the states after the assignments of all destinations: several with intervals."""
        plan = self._plan(numbers, destinations)
        return self._update_in_groups(view, numbers, destinations) if plan is None else [plan(view)]

    def _plan(
        self, numbers: tuple[int, ...], destinations: tuple[Destination, ...]
    ) -> _Plan | None:
        """Return the shorter way to update, if there is one."""
        key = tuple(map(id, destinations))
        if key not in self._plans:
            elements = [self.elements[number].location for number in numbers]
            self._plans[key] = None if self.transient else _plan_of(self, elements, destinations)
        return self._plans[key]

    @cached_property
    def _plans(self) -> dict[tuple[int, ...], _Plan | None]:
        return {}

    def _update_in_groups(
        self, view: View, numbers: tuple[int, ...], destinations: tuple[Destination, ...]
    ) -> list[State]:
        state: dict[str, Scalar] = {each.name: view[each.name] for each in self.variables}
        branches = [state | dict(self.transient_initial)]
        updates = [update for each in destinations for update in each.assignments]
        for index in sorted({update.index for update in updates}):
            group = [update for update in updates if update.index == index]
            branches = [after for values in branches for after in self._run_group(values, group)]
        for values in branches:
            for number, destination in zip(numbers, destinations, strict=True):
                location = self.elements[number].location
                if location is not None:
                    values[location] = destination.location
        return [{name: values[name] for name in state} for values in branches]

    def _run_group(self, values: dict[str, Scalar], group: list[Assignment]) -> list[State]:
        """Return the valuations after assignments that all read the same valuation."""
        choices = [self._stores(values, assignment) for assignment in group]
        return [
            values | self._merge([store for stores in chosen for store in stores])
            for chosen in itertools.product(*choices)
        ]

    def _stores(
        self, values: Mapping[str, Scalar], assignment: Assignment
    ) -> list[list[tuple[str, Scalar]]]:
        """Return the lists of (cell, value), one for each way the assignment may go."""
        cells = assignment.cells
        if assignment.position is not None:
            position = run(assignment.position, values)
            if not 0 <= position < len(cells):
                detail = f"{assignment.where}: index {position}, length {len(cells)}"
                raise ModelError("index-out-of-bounds", detail)
            cells = (cells[position],)
        if assignment.interval is not None:
            return [[(cells[0], value)] for value in self._interval(values, cells[0], assignment)]
        assert assignment.value is not None  # the reader builds one of the two
        value = run(assignment.value, values)
        return [list(zip(cells, value if isinstance(value, tuple) else (value,), strict=True))]

    def _interval(self, values: Mapping[str, Scalar], cell: str, assignment: Assignment) -> range:
        """Return the integers of an interval assignment, cut to the range of its variable."""
        assert assignment.interval is not None
        lower, upper = (run(bound, values) for bound in assignment.interval)
        variable = self.cells[cell]
        span = range(max(lower, int(variable.lower)), min(upper, int(variable.upper)) + 1)
        if not span:
            raise ModelError("empty-interval", f"{assignment.where}: {cell} in {lower}..{upper}")
        return span

    def _merge(self, stores: list[tuple[str, Scalar]]) -> dict[str, Scalar]:
        """Return the new values of the cells that one group stores."""
        merged: dict[str, Scalar] = {}
        for cell, raw in stores:
            value = self.cells[cell].store(raw)
            if merged.setdefault(cell, value) != value:
                detail = f"{cell} := {merged[cell]} and {cell} := {value}"
                raise ModelError("conflicting-assignments", detail)
        return merged


@dataclass(frozen=True)
class _Plan:
    """What destinations store that assign each cell once and all at the same time: values, and
    codes for the cells of variables.
    """

    names: tuple[str, ...]
    values: Mapping[str, Scalar]
    codes: tuple[tuple[Variable, Code], ...]

    def __call__(self, view: View) -> State:
        """Return the state behind a step."""
        raw = [(variable, run(code, view)) for variable, code in self.codes]
        state = {name: view[name] for name in self.names}
        state.update(self.values)
        for variable, value in raw:
            state[variable.name] = variable.store(value)
        return state


def _plan_of(
    model: Model, locations: Sequence[str | None], destinations: tuple[Destination, ...]
) -> _Plan | None:
    """Return the plan of destinations of a model without transient variables; None if they need
    more than one.
    """
    values: dict[str, Scalar] = {}
    codes: list[tuple[Variable, Code]] = []
    updates = [update for each in destinations for update in each.assignments]
    cells = [cell for update in updates for cell in update.cells]
    is_plain = all(_is_plain(update) for update in updates)
    is_at_once = len({update.index for update in updates}) <= 1
    if not is_plain or not is_at_once or len(set(cells)) < len(cells):
        return None
    for update in updates:
        assert update.value is not None
        variable = model.cells[update.cells[0]]
        value = _constant(variable, update.value)
        if value is None:
            codes.append((variable, update.value))
        else:
            values[variable.name] = value
    for location, destination in zip(locations, destinations, strict=True):
        if location is not None:
            values[location] = destination.location
    return _Plan(tuple(each.name for each in model.variables), values, tuple(codes))


def _is_plain(update: Assignment) -> bool:
    """Return whether an update stores one value in one cell."""
    is_scalar = update.value is not None and not isinstance(update.value.type, Array)
    return is_scalar and update.position is None and len(update.cells) == 1


def _constant(variable: Variable, code: Code) -> Scalar | None:
    """Return what a code stores in every state; None if that depends on it, or is an error."""
    if code.reads:
        return None
    try:
        return variable.store(run(code, {}))
    except ModelError:
        return None


def _possible_destinations(view: View, edges: tuple[Edge, ...]) -> list[tuple[Destination, ...]]:
    """Return the combinations of destinations, one for each edge, without a probability of 0."""
    if len(edges) == 1 and edges[0].is_certain:
        return edges[0].single_destinations
    choices = [[each for each in edge.destinations if _is_possible(view, each)] for edge in edges]
    return list(itertools.product(*choices))


def _is_positive(code: Code) -> bool:
    """Return whether a probability is a positive constant."""
    try:
        return not code.reads and bool(run(code, {}) > 0)
    except ModelError:
        return False


def _is_possible(view: View, destination: Destination) -> bool:
    if destination.probability is None:
        return True
    probability = run(destination.probability, view)
    if probability < 0:
        raise ModelError("negative-probability", f"{destination.probability.where}: {probability}")
    return bool(probability > 0)
