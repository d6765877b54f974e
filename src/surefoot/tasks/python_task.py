"""Tasks defined by Python code, for simulators that no model file describes.

Write a class with five methods (:class:`Definition`) over states that are tuples, dictionaries or
anything hashable, and wrap it::

    task = PythonTask(MySimulator(), name="simulator")

Every stage takes it like any other task. Each step calls Python, so expect tens of thousands of
states per second instead of millions. The methods must be functions of their arguments: the same
state always has the same actions and outcomes.
"""

from __future__ import annotations

import inspect
import numbers
import struct
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from surefoot import _core
from surefoot.errors import InputError, Unsupported, nearest_hint, quoted, shown
from surefoot.tasks.sampling import check_draw, draw_positions
from surefoot.tasks.state import FAIL, GOAL, State
from surefoot.tasks.task import Feature, Task

REQUIRED_METHODS = ("start", "actions", "outcomes", "is_goal", "is_fail")
_MAX_ACTIONS = 2**24  # oracles keep action numbers in 25 bits


class Definition(Protocol):
    """What a task is made of. States are tuples or dictionaries of plain values, all of one
    shape: tuples of one length, dictionaries with the same keys.
    """

    def start(self) -> Iterable[object]:
        """Return all start states."""

    def actions(self, state: object) -> Iterable[str]:
        """Return the names of the applicable actions; none makes the state terminal."""

    def outcomes(self, state: object, action: str) -> Iterable[object]:
        """Return the states that may follow; at least one."""

    def is_goal(self, state: object) -> bool:
        """Return whether runs stop here because the goal is reached."""

    def is_fail(self, state: object) -> bool:
        """Return whether the state fails; tested before the goal."""


class PythonTask(Task):
    """A task whose steps Python computes. States get numbers as they are met; the core works on
    these. Threads may share it: they give numbers one after the other.
    """

    features = frozenset({Feature.EVERY_OUTCOME})

    def __init__(
        self, definition: Definition, *, name: str = "task", names: Sequence[str] | None = None
    ) -> None:
        _check_definition(definition)
        self.definition = definition
        self.name = name
        self._given_names = tuple(names) if names is not None else None
        self._states: list[object] = []
        self._first_shape: tuple[str, object] = ("", None)
        self._numbers: dict[Hashable, int] = {}
        self._actions: list[str] = []
        self._action_numbers: dict[str, int] = {}
        self._numbering = threading.RLock()  # methods of a state may ask the task again
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

    def _number(self, state: object) -> int:
        try:
            key = _key(state)
            number = self._numbers.get(key)
        except TypeError as error:
            raise InputError(
                "bad-state",
                f"{shown(state)} cannot be a state: {error}",
                hint="states are tuples or dictionaries of plain values",
            ) from error
        return self._new_number(key, state) if number is None else number

    def _new_number(self, key: Hashable, state: object) -> int:
        """Return the number of a state that has none, unless another thread gave it one by now."""
        with self._numbering:
            number = self._numbers.get(key)
            if number is None:
                self._check_shape(state)
                number = len(self._states)
                self._states.append(state)
                self._numbers[key] = number  # last: who finds a number finds its state
            return number

    def _check_shape(self, state: object) -> None:
        """Raise InputError unless the state looks like the first one."""
        shape = _shape(state)
        if not self._states:
            self._check_given_names(state)
            self._first_shape = shape
        elif shape != self._first_shape:
            raise InputError(
                "bad-state",
                f"state {shown(state)} is {_named_shape(shape)}, but the first state "
                f"{shown(self._states[0])} is {_named_shape(self._first_shape)}",
                hint="start() and outcomes() return lists of states, all of one shape",
            )

    def _check_given_names(self, state: object) -> None:
        count = len(state) if isinstance(state, tuple) else 1
        given = self._given_names
        if given is None or isinstance(state, Mapping) or len(given) == count:
            return
        raise InputError(
            "bad-option", f"names gives {len(given)} names, but state {shown(state)} needs {count}"
        )

    def _action_number(self, action: object, state: object) -> int:
        number = self._action_numbers.get(action) if isinstance(action, str) else None
        if number is None:
            if not (isinstance(action, str) and action):
                raise InputError(
                    "bad-actions",
                    f"{shown(action)} is not a name of an action, in state {shown(state)}",
                    hint="actions() returns a list of strings that are not empty",
                )
            with self._numbering:
                number = self._action_numbers.get(action)
                if number is None:
                    number = len(self._actions)
                    self._actions.append(action)
                    self._action_numbers[action] = number
        return number

    def _kind(self, number: int) -> int:
        state = self._states[number]
        if self.definition.is_fail(state):
            return FAIL
        return GOAL if self.definition.is_goal(state) else 0

    def _applicable(self, number: int) -> list[int]:
        state = self._states[number]
        names = self.definition.actions(state)
        if type(names) is not list and not _is_listing(names):
            raise InputError(
                "bad-actions",
                f"actions() returned {shown(names)}, in state {shown(state)}",
                hint="return a list of names; an empty one makes the state terminal",
            )
        return sorted({self._action_number(name, state) for name in names})

    def _outcomes(self, number: int, action: int) -> list[int]:
        state, name = self._states[number], self._actions[action]
        outcomes = self.definition.outcomes(state, name)
        if type(outcomes) is not list and not _is_listing(outcomes, may_be_mapping=False):
            raise InputError(
                "bad-outcomes",
                f"outcomes() returned {shown(outcomes)} for action {quoted(name)}, "
                f"in state {shown(state)}",
                hint="return a list of states, also if there is only one",
            )
        numbers = [self._number(s) for s in outcomes]
        if not numbers:
            raise InputError(
                "no-outcome",
                f"action {quoted(name)} is applicable but has no outcome, in state {shown(state)}",
                hint="an action without effect has the state itself as outcome",
            )
        return numbers

    # -- the user's side: states -------------------------------------------------------------

    def state(self, values: Any = None, /, **more: object) -> State:
        """Return a state given as the definition's own value, or by variable names."""
        if more and not (values is None or isinstance(values, Mapping)):
            raise InputError("bad-state", f"{shown(values)} cannot be given along with names")
        if values is None or more:
            values = {**(values or {}), **more}
        return self.unpack(self.packed(values))

    def packed(self, state: object) -> bytes:
        """Return the core's bytes of a state; tuples may also be given by variable names."""
        if isinstance(state, State):
            if self._knows(state):
                return state.packed
            state = dict(state)
        if not self._states:
            self.start_source()  # the start states say what states look like
        if isinstance(state, Mapping) and self._states:
            state = self._from_names(state)
        return struct.pack("<Q", self._number(state))

    def _knows(self, state: State) -> bool:
        """Return whether the state is this task's own rather than another one's."""
        if len(state.packed) != 8:
            return False
        number = struct.unpack("<Q", state.packed)[0]
        return number < len(self._states) and self.unpack(state.packed) == state

    def _from_names(self, state: Mapping[str, object]) -> object:
        """Return the definition's own state with these values, all of them given."""
        first = self._states[0]
        names = tuple(first) if isinstance(first, Mapping) else self._names_of(first)
        _check_variables(state, names)
        if isinstance(first, Mapping):
            return state
        values = tuple(state[name] for name in names)
        return values if isinstance(first, tuple) else values[0]

    def _names_of(self, value: object) -> tuple[str, ...]:
        count = len(value) if isinstance(value, tuple) else 1
        return self._given_names or tuple(f"x{i}" for i in range(count))

    def unpack(self, packed: bytes) -> State:
        """Return the state of the core's bytes."""
        value = self._states[struct.unpack("<Q", packed)[0]]
        if isinstance(value, Mapping):
            return State(tuple(value), tuple(value.values()), packed)
        return State(self._names_of(value), value if isinstance(value, tuple) else (value,), packed)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, as the first state that was met has them."""
        if not self._states:
            self.start_source()
        if not self._states:
            return self._given_names or ()
        first = self._states[0]
        return tuple(first) if isinstance(first, Mapping) else self._names_of(first)

    def columns(self, packed: bytes) -> list[list[object]]:
        """Return the values of packed states that stand one after the other, a list for each
        variable.
        """
        states = self.unpack_all(packed)
        return [[state[name] for state in states] for name in self.names]

    def own_state(self, values: Mapping[str, object]) -> object:
        """Return the state that the definition itself would use for these values."""
        return self._states[self._number_of(values)]

    def _number_of(self, state: object) -> int:
        return int(struct.unpack("<Q", self.packed(state))[0])

    def action_number(self, action: str) -> int | None:
        """Return the core's number of an action; None if it was not met yet."""
        return self._action_numbers.get(action)

    def applicable(self, state: object) -> tuple[str, ...]:
        """Return the applicable actions."""
        return tuple(self._actions[i] for i in self._applicable(self._number_of(state)))

    def outcomes(self, state: object, action: str) -> tuple[State, ...]:
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
        numbers = self._outcomes(self._number_of(state), self._action_numbers[action])
        return tuple(self.unpack(struct.pack("<Q", n)) for n in dict.fromkeys(numbers))

    def is_fail(self, state: object) -> bool:
        """Return whether the state fails."""
        return self._kind(self._number_of(state)) == FAIL

    def is_goal(self, state: object) -> bool:
        """Return whether the state is a goal and does not fail."""
        return self._kind(self._number_of(state)) == GOAL

    def start_source(self) -> bytes:
        """Return the packed start states one after the other."""
        return b"".join(struct.pack("<Q", self._number(s)) for s in self._start_states())

    def _start_states(self) -> list[object]:
        states = self.definition.start()
        if not _is_listing(states, may_be_mapping=False):
            raise InputError(
                "bad-start",
                f"start() returned {shown(states)}",
                hint="return a list of states, also if there is only one",
            )
        return list(states)

    def draw_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> bytes:
        """Return what ``sample_starts`` does as packed states, one after the other."""
        count, seed = check_draw(count, seed)
        starts = self._start_states()
        if not starts:
            raise self._no_start()
        drawn = draw_positions(count, total=len(starts), seed=seed)
        return b"".join(self.packed(starts[i]) for i in drawn)

    def _no_start(self) -> InputError:
        return InputError("no-start-state", "the task has no start state")

    def initial_state(self) -> State:
        """Return the first start state."""
        packed = self.start_source()
        if not packed:
            raise self._no_start()
        return self.unpack(packed[:8])

    def model_error(self, error: Exception) -> InputError:
        """Return the user's view of an error of the model (Python code raises its own)."""
        return InputError("model-error", str(error))

    def __reduce__(self) -> tuple[object, ...]:
        raise Unsupported(
            "task-not-picklable",
            f"task {quoted(self.name)} cannot be pickled: it is Python code",
            hint="make it again where it is needed",
        )

    def __repr__(self) -> str:
        return f"<PythonTask {self.name!r}>"


def can_be_called(function: Callable[..., object]) -> bool:
    """Return whether a function or class can be called without arguments, as far as it tells."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # written in C without saying what it takes
        return True
    try:
        signature.bind()
    except TypeError:
        return False
    return True


def _check_definition(definition: object) -> None:
    missing = [m for m in REQUIRED_METHODS if not callable(getattr(definition, m, None))]
    if missing:
        raise InputError(
            "not-a-task",
            f"{shown(definition)} does not define a task: it has no method {', '.join(missing)}",
            hint=f"a task has the methods {', '.join(REQUIRED_METHODS)}",
        )
    if isinstance(definition, type) and not can_be_called(definition.start):  # type: ignore[attr-defined]
        name = definition.__name__
        raise InputError(
            "not-a-task", f"{quoted(name)} is a class", hint=f"give an object: {name}()"
        )


def _check_variables(state: Mapping[str, object], names: Sequence[str]) -> None:
    for name in state:
        if name not in names:
            raise InputError(
                "unknown-variable",
                f"the task has no variable {quoted(str(name))}",
                hint=nearest_hint(str(name), map(str, names)),
            )
    missing = [name for name in names if name not in state]
    if missing:
        raise InputError(
            "missing-variable", f"the state gives no value to {quoted(str(missing[0]))}"
        )


def _is_listing(candidate: object, *, may_be_mapping: bool = True) -> bool:
    """Return whether somebody listed several things, rather than nothing or a single one."""
    if isinstance(candidate, str | bytes) or (
        isinstance(candidate, Mapping) and not may_be_mapping
    ):
        return False
    return hasattr(type(candidate), "__iter__")


def _shape(state: object) -> tuple[str, object]:
    """Return what all states of a task have in common, as word and detail."""
    if isinstance(state, tuple):
        return "tuple", len(state)
    if isinstance(state, list):
        return "list", len(state)
    if isinstance(state, Mapping):
        return "dictionary", frozenset(state)
    return "value", "number" if isinstance(state, numbers.Number) else type(state).__name__


def _named_shape(shape: tuple[str, Any]) -> str:
    word, detail = shape
    if word == "dictionary":
        return f"a dictionary with the keys {shown(sorted(map(str, detail)))}"
    return f"a value of type {detail}" if word == "value" else f"a {word} of length {detail}"


def _key(state: Any) -> Hashable:
    if isinstance(state, Mapping):
        return tuple(sorted(state.items()))
    if isinstance(state, list):
        return tuple(state)
    return state  # type: ignore[no-any-return]
