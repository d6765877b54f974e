"""Tasks compiled from a :class:`~surefoot.tasks.description.Description`, by expressions."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeGuard, TypeVar

from surefoot import _core
from surefoot.errors import (
    InputError,
    OutOfBudget,
    SurefootError,
    Unsupported,
    nearest_hint,
    printable,
    quoted,
)
from surefoot.files import write_pieces
from surefoot.tasks.description import (
    Assignment,
    Description,
    Edge,
    Outcome,
    Variable,
    check_value,
    shown,
    sizes_of,
)
from surefoot.tasks.distance import distance_to
from surefoot.tasks.expressions import Expr
from surefoot.tasks.lowering import ERROR_TEXTS, NO_NODE, TYPES, Nodes, bits_of
from surefoot.tasks.sampling import check_draw, draw_positions
from surefoot.tasks.source import Source
from surefoot.tasks.state import GOAL, State
from surefoot.tasks.task import MAX_STATE_TEXT, Feature, Task, split_states

P = ParamSpec("P")
T = TypeVar("T")
REJECTION_TRIES = 1_000_000


class CompiledTask(Task):
    """A description that the core has compiled. Make one with ``load_task``, ``domain`` or
    ``Description.compile``.
    """

    features = frozenset(Feature)

    def __init__(self, description: Description) -> None:
        self.description = description
        self.name = description.name
        self.file = description.file
        self.variables = _ordered(description)
        self._actions = (*description.actions, *description.silent)
        self.silent = frozenset(description.silent)
        self.observed = description.observed
        self._names = tuple(v.name for v in self.variables)
        self._index = {name: i for i, name in enumerate(self._names)}
        self._action_index = {name: i for i, name in enumerate(self._actions)}
        spec = _Compiler(description, self.variables, self._action_index).spec()
        try:
            self.core = _core.CompiledTask(**spec)
        except (ValueError, MemoryError) as error:
            raise InputError("bad-description", f"the core refuses the task: {error}") from None
        self._starts = self._packed_starts()
        self._sha256 = ""
        self._spec: dict[str, Any] | None = spec  # until somebody asks for the hash of it

    def __deepcopy__(self, memo: object) -> CompiledTask:
        return self  # nothing about it changes

    def __reduce__(self) -> tuple[object, ...]:
        return _made_again, (self.description, self.source, self.draw)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables, in their order."""
        return self._names

    @property
    def actions(self) -> tuple[str, ...]:
        """The actions, those that are silent last."""
        return self._actions

    # -- states ------------------------------------------------------------------------------

    def state(self, values: Mapping[str, object] | None = None, /, **more: object) -> State:
        """Return the state with these values; every variable must be given, in its range.

        Location variables also take the name of a location. ``task.state(x=3, y=0)``, or a
        dictionary for names that are not Python identifiers.
        """
        if not (values is None or isinstance(values, Mapping)):
            raise InputError(
                "bad-state",
                f"a state is a dictionary or State, not {shown(values)}",
                hint='a state looks like {"x": 3, "y": 0}',
            )
        given = {**(values or {}), **more}
        for name in given:
            if not isinstance(name, str):
                raise InputError("bad-state", f"a state maps names to values, not {shown(name)}")
            if name not in self._index:
                raise InputError(
                    "unknown-variable",
                    f"the task has no variable {quoted(name)}",
                    hint=nearest_hint(name, self.names),
                )
        missing = [name for name in self.names if name not in given]
        if missing:
            raise InputError(
                "missing-variable",
                f"the state gives no value to {', '.join(map(quoted, missing[:5]))}",
            )
        return self._make([check_value(v, given[v.name]) for v in self.variables])

    def _make(self, values: Sequence[Any]) -> State:
        bits = [bits_of(value, v.type) for value, v in zip(values, self.variables, strict=True)]
        return self.unpack(self.core.pack(bits))

    def unpack(self, packed: bytes) -> State:
        """Return the state of the core's bytes."""
        return State(self.names, self.core.unpack(packed), packed)

    def columns(self, packed: bytes) -> list[list[Any]]:
        """Return the values of packed states that stand one after the other, a list for each
        variable.
        """
        return list(self.core.columns(packed))

    def packed(self, state: State | Mapping[str, object]) -> bytes:
        """Return the core's bytes of a state."""
        if isinstance(state, State) and state._names is self.names:
            return state.packed  # the tuple of names is this task's own: so is the state
        return self.state(state).packed

    def _ask(self, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Return what the core answers; its errors of the model come out as InputError."""
        try:
            return call(*args, **options)
        except _core.ModelError as error:
            raise self.model_error(error) from None

    # -- steps -------------------------------------------------------------------------------

    def action_number(self, action: str) -> int | None:
        """Return the core's number of an action; None if there is no such action."""
        return self._action_index.get(action)

    def applicable(self, state: State | Mapping[str, object]) -> tuple[str, ...]:
        """Return the applicable actions in the order of ``task.actions``, silent ones included.

        Goal and fail are ignored: runs stop there, but the model may well have edges.
        """
        return tuple(self.actions[i] for i in self._ask(self.core.applicable, self.packed(state)))

    def outcomes(self, state: State | Mapping[str, object], action: str) -> tuple[State, ...]:
        """Return the outcomes of an action, a set; empty if it is not applicable."""
        number = self._action_index.get(action)
        if number is None:
            raise InputError(
                "unknown-action",
                f"the task has no action {quoted(action)}",
                hint=nearest_hint(action, self.actions),
            )
        packed_outcomes = self._ask(self.core.outcomes, self.packed(state), number)
        return tuple(self.unpack(outcome) for outcome in packed_outcomes)

    def is_fail(self, state: State | Mapping[str, object]) -> bool:
        """Return whether the state satisfies the fail condition."""
        return bool(self._ask(self.core.is_fail, self.packed(state)))

    def is_goal(self, state: State | Mapping[str, object]) -> bool:
        """Return whether the state satisfies the goal condition and does not fail."""
        return int(self._ask(self.core.kind, self.packed(state))) == GOAL

    @property
    def fail_condition(self) -> Expr | None:
        """The fail condition, if there is one."""
        return self.description.fail_condition

    @property
    def goal_condition(self) -> Expr | None:
        """The goal condition, if there is one."""
        return self.description.goal_condition

    def distance_to_fail(self, state: State | Mapping[str, object]) -> float:
        """Return how far the state is from fail: 0 if it fails, infinity if the task has no fail
        condition.
        """
        return float(self._ask(self.core.distance_to_fail, self.packed(state)))

    def guidance_to(self, condition: Expr) -> _core.Guidance:
        """Return how far states are from where a condition holds, for the core's searches."""
        self.description.check_names(condition)
        nodes = _Compiler(self.description, self.variables, self._action_index).nodes
        root = nodes.add(distance_to(condition), as_type="real")
        return _core.Guidance(self.core, nodes.tuples, root)

    # -- start states ------------------------------------------------------------------------

    @property
    def has_start_condition(self) -> bool:
        """Whether the start states are described by a condition rather than listed."""
        return self._starts is None

    def start_source(self) -> bytes | None:
        """Return the packed start states one after the other; None for a condition."""
        return self._starts

    def is_start(self, state: State | Mapping[str, object]) -> bool:
        """Return whether the state is a start state."""
        packed = self.packed(state)
        if self._starts is not None:
            return packed in self._listed_starts
        return bool(self._ask(self.core.is_start, packed))

    @functools.cached_property
    def start_sampler(self) -> _core.StartSampler:
        """What draws and counts the states of the start condition: it keeps what it once made."""
        return _core.StartSampler(self.core)

    @functools.cached_property
    def _listed_starts(self) -> frozenset[bytes]:
        return frozenset(split_states(self._starts or b"", self.core.words))

    def list_starts(self, *, max_states: int = 1_000_000, max_seconds: float = 60.0) -> list[State]:
        """Return all start states, each once. Raises OutOfBudget if there are more than
        ``max_states``.
        """
        if self._starts is not None:
            fits = len(self._starts) <= max_states * self.core.words * 8
            packed, ran_out = self._starts, "" if fits else "states"
        elif not self.core.has_finite_starts():
            raise self.infinite_starts()
        else:
            starts: _core.Starts = self._ask(
                self.core.list_starts, max_states=max_states, max_seconds=max_seconds
            )
            packed, ran_out = starts.states, starts.stopped
        if ran_out:
            limit = f"{max_states:,} states" if ran_out == "states" else f"{max_seconds:g} seconds"
            raise OutOfBudget(
                f"out-of-{ran_out}",
                f"the start states cannot be listed within {limit}",
                file=self.file,
            )
        return list(dict.fromkeys(self.unpack_all(packed)))

    def infinite_starts(self) -> InputError:
        """Return the error for where all start states are needed but a real one is free."""
        return InputError(
            "start-not-finite",
            "the start condition leaves a real variable free: it has infinitely many states",
            file=self.file,
            hint="give the states with --states FILE, one JSON object per line",
        )

    def sample_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> list[State]:
        """Return ``count`` start states drawn uniformly and independently.

        Listed starts are drawn by index; the states of a condition over integers by counting them
        or, if that takes too much memory, by listing them; reals by rejection. Raises InputError if
        there is no start state and OutOfBudget if neither works in time.
        """
        return self.unpack_all(self.draw_starts(count, seed=seed, max_seconds=max_seconds))

    def draw_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> bytes:
        """Return what ``sample_starts`` does as packed states, one after the other."""
        count, seed = check_draw(count, seed)
        if self._starts is not None:
            return self._draw_listed(count, seed)
        starts: _core.Starts = self._ask(
            self.start_sampler.sample,
            count=count,
            seed=seed,
            max_seconds=max_seconds,
            max_tries=REJECTION_TRIES,
        )
        packed = starts.states
        if starts.stopped or (
            len(packed) < count * self.core.words * 8 and not self.core.has_finite_starts()
        ):
            raise OutOfBudget(
                "start-not-sampled",
                f"no uniform sample of the start condition within {max_seconds:g} seconds",
                file=self.file,
                hint="allow more time, or give start states where a command takes --states FILE",
            )
        if count and not packed:
            raise self._no_start()
        return packed

    def _draw_listed(self, count: int, seed: int) -> bytes:
        assert self._starts is not None
        listed = split_states(self._starts, self.core.words)
        if not listed:
            raise self._no_start()
        return b"".join(listed[i] for i in draw_positions(count, total=len(listed), seed=seed))

    def _no_start(self) -> InputError:
        return InputError(
            "no-start-state", "no state satisfies the start condition", file=self.file
        )

    def initial_state(self) -> State:
        """Return the state of the variables' initial values. Raises InputError if one has none."""
        for v in self.variables:
            if v.initial is None:
                raise InputError(
                    "no-initial-value",
                    f"variable {quoted(v.name)} has no initial value",
                    file=self.file,
                )
        return self._make([v.initial for v in self.variables])

    def _packed_starts(self) -> bytes | None:
        states = self.description.start_states
        if self.description.start_condition is not None:
            return None
        if states is None:
            return (
                None
                if any(v.initial is None for v in self.variables)
                else self.initial_state().packed
            )
        initial = {v.name: v.initial for v in self.variables if v.initial is not None}
        return b"".join(self.state({**initial, **given}).packed for given in states)

    # -- files and errors --------------------------------------------------------------------

    def write_jani(self, path: str | Path) -> None:
        """Write the task as a JANI file with our property inside.

        Raises Unsupported (``writer-costs``) if edges have costs, which JANI cannot express.
        """
        from surefoot.tasks.front_ends import JANI

        self.write(path, front_end=JANI)

    def write(self, path: str | Path, *, front_end: str) -> None:
        """Write the task as a file of a front end that can write."""
        from surefoot.tasks.front_ends import task_text

        if not isinstance(path, str | Path):
            raise InputError("bad-option", f"path is a str or Path, not {shown(path)}")
        if "\0" in str(path):
            raise InputError(
                "file-not-written", "a path cannot contain a NUL character", file=str(path)
            )
        if any(edge.cost is not None for edge in self.description.edges):
            raise Unsupported(
                "writer-costs",
                "edges of the task have costs, which JANI cannot express",
                hint="give the task itself, as FILE.py:NAME",
            )
        try:
            write_pieces(path, task_text(self.description, front_end), what="task")
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                "file-not-written", f"the file cannot be written: {reason}", file=str(path)
            ) from None

    @property
    def sha256(self) -> str:
        """A hash of what was compiled: equal for equal tasks, whatever they came from. It begins
        with a word that says how it was made.
        """
        from surefoot.tasks.identity import identity_of

        spec = self._spec
        if spec is not None:
            self._sha256 = identity_of(self, spec)
            self._spec = None  # in this order: another thread may ask at the same time
        return self._sha256

    def has_sha256(self, digest: str) -> bool:
        """Return whether this is the hash of the task, as made today or before version 0.2."""
        from surefoot.tasks.identity import PREFIX

        return digest == (self.sha256 if digest.startswith(PREFIX) else self._jani_sha256)

    @functools.cached_property
    def _jani_sha256(self) -> str:
        """The SHA-256 of the task as a JANI file, by which versions before 0.2 knew it."""
        from surefoot.tasks.front_ends import old_sha256

        return old_sha256(self.description)

    def model_error(self, error: Exception) -> InputError:
        """Return the user's view of an error the core met in the model: it names edge and state."""
        kind, edge, variable, value, packed = error.args
        text = ERROR_TEXTS.get(kind, kind) + self._about_variable(variable, value)
        place = None
        if edge >= 0:
            at = self.description.edges[edge]
            place = at.place
            text += f", by action {quoted(at.action)} (edge {edge})"
        state = printable(str(self.unpack(packed)), MAX_STATE_TEXT) if packed else ""
        hint = "mend the model: guards must keep updates within the bounds"
        return InputError(
            f"model-{kind}",
            f"{text}, in state {state}",
            file=self.file,
            place=place,
            hint=hint if kind == "out-of-range" else None,
        )

    def _about_variable(self, variable: int, value: str) -> str:
        """Return what an error says about the variable it met, if it met one."""
        if variable < 0:
            return ""
        declared = self.description.variables.values()
        known = [*self.variables, *(v for v in declared if v.is_scratch)][variable]
        text = f": {quoted(known.name)}"
        if value:
            text += f" would become {value}, it ranges from {known.lower} to {known.upper}"
        return text

    def __repr__(self) -> str:
        return f"<Task {self.name!r}: {sizes_of(self.description)}>"


def _ordered(description: Description) -> tuple[Variable, ...]:
    return tuple(v for v in description.variables.values() if not v.is_scratch)


class _Compiler:
    """Turns a description into what the core takes: numbers for names, tuples for nodes."""

    def __init__(
        self, description: Description, variables: tuple[Variable, ...], actions: dict[str, int]
    ) -> None:
        self.description = description
        self.variables = variables
        self.actions = actions
        self.scratch = [v for v in description.variables.values() if v.is_scratch]
        self.numbers = {v.name: i for i, v in enumerate([*variables, *self.scratch])}
        self.numbers |= {name: self.numbers[f"{name}[0]"] for name in description.arrays}
        self.nodes = Nodes(self.numbers, description.arrays)

    def spec(self) -> dict[str, Any]:
        d = self.description
        edges = [self._edge(number, edge) for number, edge in enumerate(d.edges)]
        fail = self._condition(d.fail_condition)
        distance = None if d.fail_condition is None else distance_to(d.fail_condition)
        start = d.start_condition
        if start is None and d.start_states is None:
            start = d.initial_condition()
        return {
            "variables": [self._variable(v) for v in [*self.variables, *self.scratch]],
            "scratch_start": [bits_of(v.initial or 0, v.type) for v in self.scratch],
            "num_actions": len(self.actions),
            "first_silent": len(d.actions),
            "edges": edges,
            "fail": fail,
            "goal": self._condition(d.goal_condition),
            "start": self._condition(start),
            "distance": self.nodes.add(distance, as_type="real"),
            "nodes": self.nodes.tuples,
        }

    def _variable(self, v: Variable) -> tuple[int, int, int, bool]:
        lower, upper = bits_of(v.lower, v.type), bits_of(v.upper, v.type)
        return TYPES[v.type], lower, upper, v.is_scratch

    def _condition(self, condition: Expr | None) -> int:
        if condition is None:
            return NO_NODE
        self.description.check_names(condition)
        return self.nodes.add(condition)

    def _edge(self, number: int, edge: Edge) -> tuple[int, int, list[Any], int]:
        try:
            guard = self._condition(edge.guard)
            outcomes = [
                (
                    [self._number(p, "a probability") for p in outcome.probabilities],
                    [self._assignment(a) for a in outcome.assignments],
                    _weight_of(outcome),
                )
                for outcome in edge.outcomes
            ]
            cost = NO_NODE if edge.cost is None else self._number(edge.cost, "a cost")
        except SurefootError as error:
            place = edge.place or f"edge {number} of {quoted(edge.action)}"
            raise error.at(file=self.description.file, place=place) from None
        return self.actions[edge.action], guard, outcomes, cost

    def _number(self, expression: Expr, what: str) -> int:
        self.description.check_names(expression)
        if expression.type == "bool":
            raise InputError("type-mismatch", f"{what} is a number, not a Boolean")
        return self.nodes.add(expression, as_type="real")

    def _assignment(self, a: Assignment) -> tuple[int, int, int, int, int, int, int]:
        target = a.target
        if target.op not in ("variable", "cell"):
            raise InputError("bad-target", f"cannot assign to {target}")
        self.description.check_names(target)
        for given in (a.value, a.lower, a.upper):
            if given is not None:
                self.description.check_names(given)
                _check_assignable(target, given)
        if a.value is None:
            _check_interval(a)
        number, length, position = self.numbers[target.value], 0, NO_NODE
        if target.op == "cell":
            length = self.description.arrays[target.value].length
            position = self.nodes.add(target.args[0])
        lower, upper = self.nodes.add(a.lower), self.nodes.add(a.upper)
        value = self.nodes.add(a.value, as_type=target.type)
        if not -(2**63) <= a.index < 2**63:
            raise InputError("number-too-large", "the index of an assignment does not fit 64 bits")
        return number, length, position, value, lower, upper, a.index


def _weight_of(outcome: Outcome) -> float:
    """Return the weight. Raises InputError unless it is positive: what has the probability 0 is not
    an outcome.
    """
    weight = outcome.weight
    if isinstance(weight, int | float) and 0 < weight < math.inf:
        return float(weight)
    raise InputError(
        "bad-weight",
        f"the weight of an outcome is positive and finite, not {shown(weight)}",
        hint="leave out what cannot happen",
    )


def _check_interval(a: Assignment) -> None:
    if a.lower is None or a.upper is None:
        raise InputError("no-value", f"the assignment to {a.target} has neither value nor interval")
    if a.target.type != "int":
        raise InputError(
            "type-mismatch",
            f"{a.target} is {a.target.type}: only integers are chosen from intervals",
        )


def _check_assignable(target: Expr, value: Expr) -> None:
    if value.type != target.type and not (target.type == "real" and value.type == "int"):
        raise InputError(
            "type-mismatch", f"{target} is {target.type}: a value of type {value.type} does not fit"
        )


def _made_again(description: Description, source: Source | None, draw: Any) -> CompiledTask:
    """Return the task of a pickle."""
    task = CompiledTask(description)
    task.source, task.draw = source, draw
    return task


def has_description(task: Task) -> TypeGuard[CompiledTask]:
    """Return whether the steps of a task can be read, not only taken."""
    return Feature.DESCRIPTION in task.features
