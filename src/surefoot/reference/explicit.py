"""Tasks written out as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from surefoot.checker import Model, State, Variable

Outcomes = tuple[int, ...]
Row = tuple[Outcomes, ...]  # the outcomes of each action; none where it is not applicable
Choice = int | None  # the number of an action, or None for the forced step


@dataclass(frozen=True)
class ExplicitTask:
    """A small task: ``table[state][action]`` are the outcomes, all of them numbers.

    An action that a row leaves out, or that has no outcomes, is not applicable. ``silent_table`` is
    the same for silent actions. Fail and goal states may have actions, which nobody takes.

    It can be given to the checker as a model: a state then is a valuation of ``variables``, by
    default of one variable that is its number, and ``values`` has the valuations.
    """

    table: tuple[Row, ...]
    fail: Collection[int] = frozenset()
    goal: Collection[int] = frozenset()
    silent_table: tuple[Row, ...] = ()
    names: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()
    values: tuple[tuple[Any, ...], ...] = ()

    def __post_init__(self) -> None:
        count = len(self.table)
        width = max(map(len, self.table), default=0)
        defaults: dict[str, object] = {
            "silent_table": ((),) * count,
            "names": tuple(f"a{number}" for number in range(width)),
            "variables": (Variable("state", "int", 0, max(count - 1, 0)),),
            "values": tuple((number,) for number in range(count)),
        }
        for name, value in defaults.items():
            object.__setattr__(self, name, getattr(self, name) or value)

    @property
    def states(self) -> range:
        """The numbers of all states."""
        return range(len(self.table))

    def choices(self, state: int) -> Mapping[Choice, Outcomes]:
        """Return the outcomes of whatever can be decided in a state: nothing if it is terminal.

        Where only silent actions are applicable, the one choice is the forced step: the outcomes of
        all of them.
        """
        return self._choices[state]

    # The task as a model of the checker

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """The names of the silent actions."""
        return tuple(f"silent{n}" for n in range(max(map(len, self.silent_table), default=0)))

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of all actions, silent ones last."""
        return self.names + self.silent

    def number(self, state: Mapping[str, object]) -> int:
        """Return the number of a state given by its values."""
        return self._numbers[tuple(state[variable.name] for variable in self.variables)]

    def state(self, number: int) -> State:
        """Return the values of a state given by its number."""
        names = [variable.name for variable in self.variables]
        return dict(zip(names, self.values[number], strict=True))

    def applicable(self, state: Mapping[str, object]) -> tuple[str, ...]:
        """Return the names of the applicable actions."""
        return tuple(action for action in self.actions if self.outcomes(state, action))

    def outcomes(self, state: Mapping[str, object], action: str) -> list[State]:
        """Return the outcomes of an action."""
        number, place = self.number(state), self.actions.index(action)
        row = self.table[number]
        if action in self.silent:
            row, place = self.silent_table[number], place - len(self.names)
        return [self.state(outcome) for outcome in (row[place] if place < len(row) else ())]

    def is_fail(self, state: Mapping[str, object]) -> bool:
        """Return whether a state is fail."""
        return self.number(state) in self.fail

    def is_goal(self, state: Mapping[str, object]) -> bool:
        """Return whether a state is goal; it may be fail as well."""
        return self.number(state) in self.goal

    @cached_property
    def _choices(self) -> list[dict[Choice, Outcomes]]:
        return [self._choices_in(state) for state in self.states]

    def _choices_in(self, state: int) -> dict[Choice, Outcomes]:
        if state in self.fail or state in self.goal:
            return {}
        loud = [(number, each) for number, each in enumerate(self.table[state]) if each]
        forced = {outcome for outcomes in self.silent_table[state] for outcome in outcomes}
        if loud or not forced:
            return dict(loud)
        return {None: tuple(sorted(forced))}

    @cached_property
    def _numbers(self) -> dict[tuple[object, ...], int]:
        return {values: number for number, values in enumerate(self.values)}


def explicit_of(
    model: Model, states: Iterable[Mapping[str, Any]], *, max_states: int | None = None
) -> ExplicitTask:
    """Return the part of a model that can be reached from some states, which come first.

    Fail and goal states are not left. Where only silent actions are applicable they become one,
    with the outcomes of all; where others are applicable they are left out. Raises ValueError if
    there are more than `max_states`.
    """
    names = [variable.name for variable in model.variables]
    keys: list[tuple[object, ...]] = []
    numbers: dict[tuple[object, ...], int] = {}

    def number_of(state: Mapping[str, object]) -> int:
        key = tuple(state[name] for name in names)
        if key not in numbers:
            numbers[key] = len(keys)
            keys.append(key)
        return numbers[key]

    for state in states:
        number_of(state)
    table, silent_table, fail, goal = [], [], set(), set()
    for number, key in enumerate(keys):  # which grows
        if max_states is not None and len(keys) > max_states:
            raise ValueError(f"there are more than {max_states} states")
        state = dict(zip(names, key, strict=True))
        if model.is_fail(state):
            fail.add(number)
        elif model.is_goal(state):
            goal.add(number)
        is_over = number in fail or number in goal
        rows = ((), ()) if is_over else _rows(model, state)
        row, silent_row = (tuple(tuple(map(number_of, each)) for each in row) for row in rows)
        table.append(row)
        silent_table.append(silent_row)
    loud = tuple(name for name in model.actions if name not in model.silent)
    return ExplicitTask(
        table=tuple(table),
        fail=fail,
        goal=goal,
        silent_table=tuple(silent_table),
        names=loud,
        variables=model.variables,
        values=tuple(keys),
    )


_Rows = tuple[Sequence[Sequence[State]], Sequence[Sequence[State]]]


def _rows(model: Model, state: State) -> _Rows:
    """Return the outcomes of each action, and of the forced step if it is the only choice."""
    row = [model.outcomes(state, name) for name in model.actions if name not in model.silent]
    if any(row):
        return row, ()
    forced = [model.outcomes(state, name) for name in model.actions if name in model.silent]
    return (), [[outcome for outcomes in forced for outcome in outcomes]]
