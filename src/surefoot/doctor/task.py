"""What a task contains, and what looks unusual about it.

What follows from the description alone is certain (an action without edge never fires); the rest
is looked for in states met on random walks.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from surefoot import _core
from surefoot.doctor.report import (
    ActionFacts,
    DoctorReport,
    Remark,
    VariableFacts,
    agreeing,
    named,
    variables_text,
)
from surefoot.errors import InputError, OutOfBudget, SurefootError, printable, quoted
from surefoot.options import DoctorOptions
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import text_of, variables_in
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import FAIL, State
from surefoot.tasks.task import Task
from surefoot.text import counted

WALK_STEPS = 200
MAX_STARTS = 500
MAX_ERRORS = 20


def examine_task(task: Task, options: DoctorOptions) -> tuple[DoctorReport, list[bytes]]:
    """Return what the task contains and what looks unusual about it, and the states met.

    Errors of the model that the walks meet are findings; nothing is raised for them. The report is
    short for a task that Python code defines.
    """
    if isinstance(task, PythonTask):
        return _examine_python(task, options)
    assert has_description(task)
    walks = _Walks(task, options)
    walks.walk()
    return _report(task, walks), list(walks.seen)


def _report(task: CompiledTask, walks: _Walks) -> DoctorReport:
    d = task.description
    per_action = Counter(edge.action for edge in d.edges)
    return DoctorReport(
        name=task.name,
        file=None if task.file is None else str(task.file),
        sha256=task.sha256,
        variables=tuple(
            VariableFacts(v.name, v.type, v.lower, v.upper, v.initial, v.labels)
            for v in task.variables
        ),
        constants=dict(d.constants),
        actions=tuple(ActionFacts(a, a in task.silent, per_action[a]) for a in task.actions),
        edges=len(d.edges),
        outcomes=sum(len(edge.outcomes) for edge in d.edges),
        bits=task.core.bits,
        words=task.core.words,
        residuals=task.core.residuals,
        start=_start_text(d),
        goal=None if d.goal_condition is None else text_of(d.goal_condition),
        fail=None if d.fail_condition is None else text_of(d.fail_condition),
        sampled=len(walks.seen),
        warnings=tuple(Remark("warning", w.message, w.place) for w in d.warnings),
        findings=(*_static_findings(task), *walks.findings()),
    )


def _start_text(d: Description) -> str:
    if d.start_condition is not None:
        return text_of(d.start_condition)
    if d.start_states is not None:
        return counted(len(d.start_states), "listed state")
    return "the initial values"


# -- what follows from the description ---------------------------------------------------------


def _static_findings(task: CompiledTask) -> Iterator[Remark]:
    d = task.description
    if d.goal_condition is None:
        message = "there is no goal: no state is a goal state"
        yield Remark("no-goal", message + _to_give(task, "goal"))
    if d.fail_condition is None:
        message = "there is no fail condition: no state fails, everything is safe"
        yield Remark("no-fail", message + _to_give(task, "fail"))
    fires = {edge.action for edge in d.edges}
    if idle := [action for action in task.actions if action not in fires]:
        yield Remark(
            "action-without-edge",
            f"no edge has {counted(len(idle), 'action')} ({named(idle)}): "
            + agreeing(len(idle), "it never fires", "they never fire"),
        )
    yield from _free_variables(task)
    targets = {a.target.value for e in d.edges for o in e.outcomes for a in o.assignments}
    changed = _with_cells(d, targets)
    if constant := [name for name in task.names if name not in changed]:
        yield Remark("never-assigned", f"no edge assigns to {variables_text(constant)}")


def _to_give(task: CompiledTask, name: str) -> str:
    """Return how a condition is given, where that is an option."""
    source = task.source
    if source is None or name not in source.front_end.options.names():
        return ""
    variable = next((v for v in task.variables if v.type == "int"), None)
    example = f"'{variable.name} = {variable.upper}'" if variable else "'CONDITION'"
    return f"; --{name} gives one, as --{name} {printable(example)}, or a property of kind PA"


def _free_variables(task: CompiledTask) -> Iterator[Remark]:
    """Yield what the start leaves free: there any value of the range is a start."""
    d = task.description
    if d.start_condition is not None:
        mentioned = _with_cells(d, variables_in(d.start_condition))
        free = [v.name for v in task.variables if v.name not in mentioned and v.lower < v.upper]
        why = "the start condition does not mention"
    else:
        given = [set(state) for state in d.start_states or [{}]]
        free = [
            v.name
            for v in task.variables
            if v.initial is None and not all(v.name in g for g in given)
        ]
        why = "no initial value is given for"
    if free:
        yield Remark(
            "start-leaves-free", f"{why} {variables_text(free)}: any value of the range is a start"
        )
    if task.has_start_condition and not task.core.has_finite_starts():
        yield Remark(
            "start-not-finite",
            "the start leaves a real variable free: explore needs --states FILE",
        )


def _with_cells(d: Description, names: set[str]) -> set[str]:
    """Return the names, and for each that is an array those of its cells."""
    arrays = [d.arrays[name] for name in names if name in d.arrays]
    return names | {f"{array.name}[{i}]" for array in arrays for i in range(array.length)}


# -- what random walks meet --------------------------------------------------------------------


@dataclass
class _Walks:
    """Walks through a task at random and keeps count of what is unusual in the states met."""

    task: CompiledTask
    options: DoctorOptions
    seen: dict[bytes, None] = field(default_factory=dict)
    starts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    overlaps: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    examples: dict[str, State] = field(default_factory=dict)
    errors: dict[object, Remark] = field(default_factory=dict)
    out_of_time: bool = False

    def walk(self) -> None:
        """Walk until enough states were seen, time is up, or many steps brought nothing new."""
        self.rng = random.Random(self.options.seed)
        self.deadline = time.monotonic() + self.options.max_seconds
        starts = self._starts()
        patience = 4 * self.options.samples
        while starts and patience > 0 and self._goes_on():
            state: bytes | None = self.rng.choice(starts)
            for _ in range(WALK_STEPS):
                patience -= 1
                if state is None or not self._goes_on():
                    break
                state = self._step(state)
            patience -= 1

    def _goes_on(self) -> bool:
        self.out_of_time = time.monotonic() > self.deadline
        return not self.out_of_time and len(self.seen) < self.options.samples

    def _starts(self) -> list[bytes]:
        """Return some start states, or what can be had instead."""
        try:
            drawn = self.task.sample_starts(
                MAX_STARTS, seed=self.options.seed, max_seconds=self.options.max_seconds / 2
            )
        except (InputError, OutOfBudget) as error:
            self._note_error(error, key="start")
            try:
                return [self.task.initial_state().packed]
            except InputError:
                return []
        starts = list(dict.fromkeys(state.packed for state in drawn))
        self.starts = len(starts)
        for start in starts:
            try:
                self.counts["start-fails"] += self.task.core.kind(start) == FAIL
            except _core.ModelError:
                continue  # met again, and noted, on the walk
        return starts

    def _step(self, state: bytes) -> bytes | None:
        """Look at a state and return one that may follow; None where a run would end."""
        core = self.task.core
        is_new = state not in self.seen
        self.seen[state] = None
        try:
            kind = core.kind(state)
            if kind:
                if is_new and kind == FAIL and core.is_goal_condition(state):
                    self._count("goal-and-fail", state)
                return None
            applicable = list(core.applicable(state))
            if is_new:
                self._look(state, applicable)
        except _core.ModelError as error:
            self._note_model_error(error)
            return None
        return self._outcome(state, applicable, all_actions=is_new)

    def _outcome(self, state: bytes, applicable: list[int], *, all_actions: bool) -> bytes | None:
        """Return an outcome of a random action, a silent one only where no other is applicable."""
        first_silent = len(self.task.description.actions)
        choices = [a for a in applicable if a < first_silent] or applicable
        chosen = None
        for action in self.rng.sample(choices, len(choices)):
            try:
                outcomes = self.task.core.outcomes(state, action)
            except _core.ModelError as error:
                self._note_model_error(error)
                continue
            chosen = chosen or self.rng.choice(outcomes)
            if not all_actions:
                break
        return chosen

    def _look(self, state: bytes, applicable: list[int]) -> None:
        if not applicable:
            self._count("dead-end", state)
            return
        edges = self.task.description.edges
        enabled = Counter(edges[i].action for i in self.task.core.enabled_edges(state))
        self.overlaps.update(action for action, count in enabled.items() if count > 1)
        if any(name not in self.task.silent for name in enabled):
            self.ignored.update(name for name in enabled if name in self.task.silent)

    def _count(self, code: str, state: bytes) -> None:
        self.counts[code] += 1
        if code not in self.examples:
            self.examples[code] = self.task.unpack(state)

    def _note_model_error(self, error: Exception) -> None:
        kind, edge, variable, *_ = error.args
        if (kind, edge, variable) not in self.errors:
            self._note_error(self.task.model_error(error), key=(kind, edge, variable))

    def _note_error(self, error: SurefootError, key: object) -> None:
        self.errors[key] = Remark(error.code, error.message, error.place)

    def findings(self) -> Iterator[Remark]:
        """Yield what was met, with the number of states in which it was."""
        total = f"of {counted(len(self.seen), 'sampled state')}"
        yield from list(self.errors.values())[:MAX_ERRORS]
        if len(self.errors) > MAX_ERRORS:
            more = counted(len(self.errors) - MAX_ERRORS, "more error")
            yield Remark("more-errors", f"{more} of the model")
        if count := self.counts["start-fails"]:
            of_starts = f"of {counted(self.starts, 'sampled start state')}"
            fail = agreeing(count, "fails", "fail")
            yield Remark("start-fails", f"{count:,} {of_starts} {fail} already")
        for code in ("goal-and-fail", "dead-end"):
            if count := self.counts[code]:
                text = _states_text(code, count)
                yield Remark(code, f"{count:,} {total} {text}, for example {self.examples[code]}")
        if self.overlaps:
            text = (
                "two or more edges of one action are enabled together (their outcomes are united)"
            )
            yield Remark("overlapping-edges", f"{text}: {_tally(self.overlaps, total)}")
        if self.ignored:
            text = "silent actions are applicable beside others (no policy takes them there)"
            yield Remark("silent-beside-others", f"{text}: {_tally(self.ignored, total)}")
        if self.out_of_time:
            seen = counted(len(self.seen), "sampled state")
            yield Remark("walk-cut", f"time ran out after {seen}")


def _states_text(code: str, count: int) -> str:
    """Return what so many states do that were noted under this code."""
    if code == "dead-end":
        what = agreeing(count, "is a dead end", "are dead ends")
        return f"{what}: no action is applicable, and neither goal nor fail"
    what = agreeing(count, "satisfies", "satisfy")
    return f"{what} goal and fail ({agreeing(count, 'it counts', 'they count')} as fail)"


def _tally(counts: Counter[str], total: str) -> str:
    parts = [f"{quoted(name)} in {count:,}" for name, count in counts.most_common(5)]
    more = f" and {counted(len(counts) - 5, 'more action')}" if len(counts) > 5 else ""
    return f"{', '.join(parts)} {total}{more}"


# -- tasks in Python ---------------------------------------------------------------------------


def _examine_python(task: PythonTask, options: DoctorOptions) -> tuple[DoctorReport, list[bytes]]:
    """Return the short report, what a walk through the first states shows, and these states."""
    rng = random.Random(options.seed)
    deadline = time.monotonic() + options.max_seconds
    starts = task.sample_starts(MAX_STARTS, seed=options.seed)
    seen: dict[bytes, None] = {}
    counts: Counter[str] = Counter()
    patience = 4 * options.samples
    while patience > 0 and len(seen) < options.samples and time.monotonic() < deadline:
        state: State | None = rng.choice(starts)
        for _ in range(WALK_STEPS):
            patience -= 1
            if state is None or len(seen) >= options.samples or time.monotonic() > deadline:
                break
            is_new = state.packed not in seen
            seen[state.packed] = None
            state = _python_step(task, state, rng, counts if is_new else Counter())
    return _python_report(task, starts, counts, len(seen)), list(seen)


def _python_report(
    task: PythonTask, starts: list[State], counts: Counter[str], sampled: int
) -> DoctorReport:
    example = starts[0].to_dict()
    total = f"of {counted(sampled, 'sampled state')}"
    return DoctorReport(
        name=task.name,
        file=None if task.file is None else str(task.file),
        sha256=getattr(task, "sha256", None),
        variables=tuple(
            VariableFacts(name, type(value).__name__, None, None, None)
            for name, value in example.items()
        ),
        constants={},
        actions=tuple(ActionFacts(a, False, None) for a in task.actions),
        edges=None,
        outcomes=None,
        bits=None,
        words=None,
        residuals=None,
        start=counted(len(task.start_source()) // 8, "listed state"),
        goal="defined by Python code",
        fail="defined by Python code",
        sampled=sampled,
        warnings=(),
        findings=tuple(
            Remark(code, f"{counts[code]:,} {total} {_states_text(code, counts[code])}")
            for code in ("dead-end", "goal-and-fail")
            if counts[code]
        ),
    )


def _python_step(
    task: PythonTask, state: State, rng: random.Random, counts: Counter[str]
) -> State | None:
    if task.is_fail(state):
        value = task._states[int.from_bytes(state.packed, "little")]
        counts["goal-and-fail"] += bool(task.definition.is_goal(value))
        return None
    if task.is_goal(state):
        return None
    applicable = task.applicable(state)
    if not applicable:
        counts["dead-end"] += 1
        return None
    return rng.choice(task.outcomes(state, rng.choice(applicable)))
