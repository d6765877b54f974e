"""Tasks defined by Python code, for simulators that no model file describes.

Write a class with five methods (:class:`Definition`) over states that are tuples, dictionaries or
anything hashable, and wrap it::

    task = PythonTask(MySimulator(), name="simulator")

Every stage takes it like any other task. Each step calls Python, so expect tens of thousands of
states per second instead of millions. The methods must be functions of their arguments: the same
state always has the same actions and outcomes.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from surefoot import _core
from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.tasks.sampling import draw_positions
from surefoot.tasks.state import FAIL, GOAL, State

_MAX_ACTIONS = 2**31


class Definition(Protocol):
    """What a task is made of. States are tuples or dictionaries of plain values."""

    def start(self) -> Iterable[Any]:
        """Return all start states."""

    def actions(self, state: Any) -> Iterable[str]:
        """Return the names of the applicable actions; none makes the state terminal."""

    def outcomes(self, state: Any, action: str) -> Iterable[Any]:
        """Return the states that may follow; at least one."""

    def is_goal(self, state: Any) -> bool:
        """Return whether runs stop here because the goal is reached."""

    def is_fail(self, state: Any) -> bool:
        """Return whether the state fails; tested before the goal."""


class PythonTask:
    """A task whose steps Python computes. States get numbers as they are met; the core works on
    these.
    """

    file = None
    silent: frozenset[str] = frozenset()
    has_start_condition = False

    def __init__(
        self, definition: Definition, *, name: str = "task", names: Sequence[str] | None = None
    ) -> None:
        self.definition = definition
        self.name = name
        self._given_names = tuple(names) if names is not None else None
        self._states: list[Any] = []
        self._numbers: dict[Hashable, int] = {}
        self._actions: list[str] = []
        self._action_numbers: dict[str, int] = {}
        self.core = _core.PythonTask(
            num_actions=_MAX_ACTIONS,
            kind=self._kind,
            applicable=self._applicable,
            outcomes=self._outcomes,
        )

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions met so far, in the order in which they were first seen applicable."""
        return tuple(self._actions)

    # -- the core's side: numbers ------------------------------------------------------------

    def _number(self, state: Any) -> int:
        key = _key(state)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._states)
            self._states.append(state)
        return number

    def _action_number(self, action: str) -> int:
        number = self._action_numbers.get(action)
        if number is None:
            number = self._action_numbers[action] = len(self._actions)
            self._actions.append(action)
        return number

    def _kind(self, number: int) -> int:
        state = self._states[number]
        if self.definition.is_fail(state):
            return FAIL
        return GOAL if self.definition.is_goal(state) else 0

    def _applicable(self, number: int) -> list[int]:
        state = self._states[number]
        return sorted({self._action_number(name) for name in self.definition.actions(state)})

    def _outcomes(self, number: int, action: int) -> list[int]:
        state, name = self._states[number], self._actions[action]
        found = [self._number(s) for s in self.definition.outcomes(state, name)]
        if not found:
            raise InputError(
                "no-outcome",
                f"action {quoted(name)} is applicable but has no outcome, in state {state!r:.200}",
                hint="an action without effect has the state itself as outcome",
            )
        return found

    # -- the user's side: states -------------------------------------------------------------

    def state(self, values: Any = None, /, **more: Any) -> State:
        """Return a state given as the definition's own value, or by variable names."""
        if values is None or more:
            values = {**(values or {}), **more}
        return self.unpack(self.packed(values))

    def packed(self, state: Any) -> bytes:
        """Return the core's bytes of a state; tuples may also be given by variable names."""
        if isinstance(state, State):
            return state.packed
        if isinstance(state, Mapping) and not self._has_named_states():
            state = self._from_names(state)
        return struct.pack("<Q", self._number(state))

    def _has_named_states(self) -> bool:
        """Return whether the definition's own states are dictionaries."""
        if not self._states:
            self.start_source()
        return bool(self._states) and isinstance(self._states[0], Mapping)

    def _from_names(self, state: Mapping[str, Any]) -> Any:
        names = self._names_of(self._states[0]) if self._states else ()
        for name in state:
            if name not in names:
                raise InputError(
                    "unknown-variable",
                    f"the task has no variable {quoted(name)}",
                    hint=nearest_hint(name, names),
                )
        missing = [name for name in names if name not in state]
        if missing:
            raise InputError(
                "missing-variable", f"the state gives no value to {quoted(missing[0])}"
            )
        values = tuple(state[name] for name in names)
        return values if isinstance(self._states[0], tuple) else values[0]

    def _names_of(self, value: Any) -> tuple[str, ...]:
        count = len(value) if isinstance(value, tuple) else 1
        return self._given_names or tuple(f"x{i}" for i in range(count))

    def unpack(self, packed: bytes) -> State:
        """Return the state of the core's bytes."""
        value = self._states[struct.unpack("<Q", packed)[0]]
        if isinstance(value, Mapping):
            return State(tuple(value), tuple(value.values()), packed)
        return State(self._names_of(value), value if isinstance(value, tuple) else (value,), packed)

    def _number_of(self, state: Any) -> int:
        return int(struct.unpack("<Q", self.packed(state))[0])

    def applicable(self, state: Any) -> tuple[str, ...]:
        """Return the applicable actions."""
        return tuple(self._actions[i] for i in self._applicable(self._number_of(state)))

    def outcomes(self, state: Any, action: str) -> tuple[State, ...]:
        """Return the outcomes of an action, without duplicates; empty if it is not applicable."""
        applicable = self.applicable(state)
        if action not in self._action_numbers:
            raise InputError(
                "unknown-action",
                f"the task has no action {quoted(action)}",
                hint=nearest_hint(action, self._actions),
            )
        if action not in applicable:
            return ()
        found = self._outcomes(self._number_of(state), self._action_numbers[action])
        return tuple(self.unpack(struct.pack("<Q", n)) for n in dict.fromkeys(found))

    def is_fail(self, state: Any) -> bool:
        """Return whether the state fails."""
        return self._kind(self._number_of(state)) == FAIL

    def is_goal(self, state: Any) -> bool:
        """Return whether the state is a goal and does not fail."""
        return self._kind(self._number_of(state)) == GOAL

    def start_source(self) -> bytes:
        """Return the packed start states one after the other."""
        return b"".join(struct.pack("<Q", self._number(s)) for s in self.definition.start())

    def sample_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> list[State]:
        """Return ``count`` start states drawn uniformly by index."""
        starts = list(self.definition.start())
        if not starts:
            raise InputError("no-start-state", "the task has no start state")
        return [self.state(starts[i]) for i in draw_positions(count, total=len(starts), seed=seed)]

    def initial_state(self) -> State:
        """Return the first start state."""
        packed = self.start_source()
        if not packed:
            raise InputError("no-start-state", "the task has no start state")
        return self.unpack(packed[:8])

    def model_error(self, error: Exception) -> InputError:
        """Return the user's view of an error of the model (Python code raises its own)."""
        return InputError("model-error", str(error))

    def __repr__(self) -> str:
        return f"<PythonTask {self.name!r}>"


def _key(state: Any) -> Hashable:
    if isinstance(state, Mapping):
        return tuple(sorted(state.items()))
    if isinstance(state, list):
        return tuple(state)
    return state  # type: ignore[no-any-return]
