"""Minimise: from a finding to a smaller one that shows the same kind of thing.

What it does: looks for shorter failing runs. From a given start state a shortest failing run of the
policy is found by breadth-first search; the way to the fault loses its detours. Then other start
states are tried: states of the run that are start states themselves, the start with variables moved
to their initial values or towards them, one and two at a time, and all start states, or a sample.

What it guarantees: the new run is never longer. Each candidate is analysed anew: it is a failing
run of the policy from a start state, with a fault on it (a bug, if the finding is one). The order
of preference is steps, then the distance of the start from the initial values, then the values; it
decreases strictly, so this ends. Same finding and options: same result, unless time runs out.

Cost: a breadth-first search of what the policy reaches for each start state that might do.

When to use it: before a person looks at a finding.

Paper: none; shrinking as property-based testing does it.
"""

from __future__ import annotations

import functools
import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget
from surefoot.faults import FaultFinder
from surefoot.findings import (
    Finding,
    check_same_policy,
    check_same_task,
    finding_of,
    read_finding,
)
from surefoot.options import FaultOptions, chosen
from surefoot.options.keywords import FaultChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import ask_core
from surefoot.records import Bug, Fault, Run, RunEnd
from surefoot.records.common import Result
from surefoot.replay import replayed
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.state import State
from surefoot.tasks.task import Task
from surefoot.text import counted

MAX_STARTS = 10_000
SAMPLED_STARTS = 2_000
LISTING_SECONDS = 5.0
MAX_PAIRS = 20_000
Note = Callable[[str], object]


@dataclass(frozen=True)
class MinimiseResult(Result):
    """A finding before and after; ``tried`` counts candidates. ``stopped`` is what ran out."""

    before: Finding
    after: Finding
    tried: int
    seconds: float
    stopped: str | None = None

    @property
    def is_smaller(self) -> bool:
        """Whether something smaller was found."""
        return self.after is not self.before

    def to_dict(self) -> dict[str, object]:
        """Return the sizes before and after as plain data."""
        return {
            "before": {"steps": self.before.steps, "start": _start_of(self.before)},
            "after": {"steps": self.after.steps, "start": _start_of(self.after)},
            "smaller": self.is_smaller,
            "tried": self.tried,
            "stopped": self.stopped,
        }

    def __str__(self) -> str:
        what = "" if self.is_smaller else ", nothing smaller was found"
        return (
            f"before: {counted(self.before.steps, 'step')}, after: "
            f"{counted(self.after.steps, 'step')}{what}; "
            f"{counted(self.tried, 'candidate')} in {self.seconds:,.3f} s"
        )


def _start_of(finding: Finding) -> dict[str, object]:
    run = finding.content["run"]
    return dict(zip(run["variables"], run["states"][0], strict=True))


def minimise(
    finding: object,
    policy: Any = None,
    fault: Fault | Bug | Run | Finding | None = None,
    *,
    task: Task | None = None,
    same_fault: bool = False,
    options: FaultOptions | None = None,
    progress: Note | None = None,
    **changes: Unpack[FaultChanges],
) -> MinimiseResult:
    """Return a smaller finding: ``minimise(finding)``, or ``minimise(task, policy, fault)``.

    A finding may be given as a file. Its task and policy are those it names, or those given. With
    ``same_fault`` it stays about the same state and action; only the way there and on may change.
    Options are those of :class:`FaultOptions`, also as keywords; ``max_seconds`` bounds the whole.
    ``progress`` is called with a few words now and then.
    """
    if isinstance(finding, Task):
        if not isinstance(fault, Fault | Bug | Run | Finding):
            raise InputError("bad-option", "give a task, a policy and a fault, or a finding")
        task = finding
    else:
        fault = finding if isinstance(finding, Finding) else read_finding(_path(finding))
    before, loaded, bound_policy = _resolved(fault, task, policy)
    wanted = {
        "radius": before.radius,
        "bugs_only": before.kind == "bug",
        "deviations": before.about.get("deviations") is not None,
    }
    settings = chosen(FaultOptions, options, {**changes, **wanted})
    note = progress or (lambda _: None)
    search = _Search(loaded, bound_policy, before, settings, note, same_fault=same_fault)
    return search.result()


def _path(given: object) -> str | Path:
    if not isinstance(given, str | Path):
        raise InputError("not-a-finding", f"{type(given).__name__} is neither finding nor file")
    return given


def _resolved(fault: Any, task: Task | None, policy: object) -> tuple[Finding, Task, Policy]:
    if not isinstance(fault, Finding):
        loaded = require_task(task)
        bound_policy = as_policy(policy, loaded)
        return finding_of(loaded, bound_policy, fault), loaded, bound_policy
    loaded = fault.find_task(task)
    check_same_task(fault, loaded)
    bound_policy = fault.find_policy(loaded, policy)
    check_same_policy(fault, bound_policy)
    return fault, loaded, bound_policy


class _Search:
    """The smallest run so far, and what is known while looking for smaller ones."""

    def __init__(
        self,
        task: Task,
        policy: Policy,
        before: Finding,
        options: FaultOptions,
        note: Note,
        *,
        same_fault: bool,
    ) -> None:
        self.same_fault = same_fault
        self.task = task
        self.policy = policy
        self.before = before
        self.options = options
        self.note = note
        self.begin = time.perf_counter()
        self.tried = 0
        self.stopped: str | None = None
        self.finder = FaultFinder(task, policy, options=options)
        self.origin = _origin(task)
        self.run = before.run(task)
        self.decision = self._decision_on(self.run)
        self.lost: set[bytes] = set()
        self.least: dict[bytes, float] = {}  # steps of shortest failing runs
        if self.decision is None:
            raise InputError(
                "not-a-failing-run",
                f"the finding has no failing run of the policy with a {before.kind} on it",
                file=None if before.file is None else str(before.file),
                hint="surefoot check tells what is wrong with it",
            )

    def result(self) -> MinimiseResult:
        """Return the smallest finding that was found, or the given one."""
        before = self.run
        try:
            self._shrink()
        except OutOfBudget as error:
            self.stopped = error.code.removeprefix("out-of-")
        assert self.decision is not None
        is_same = self.run is before
        seed = self.before.content["run"]["seed"]
        after = (
            self.before if is_same else finding_of(self.task, self.policy, self.decision, seed=seed)
        )
        seconds = time.perf_counter() - self.begin
        return MinimiseResult(self.before, after, self.tried, seconds, self.stopped)

    def _shrink(self) -> None:
        """Take what is better until nothing is."""
        while self._improve_way() or self._improve_start():
            self.note(f"{counted(self.run.steps, 'step')}, {counted(self.tried, 'candidate')}")

    # -- the same start ------------------------------------------------------------------------

    def _improve_way(self) -> bool:
        """Try a shortest failing run from the same start, then the way to the fault without
        detours and a shortest failing run after it.
        """
        states, actions = self.run.states, self.run.actions
        shortest = self._nearest([self.run.start])
        if shortest is not None and self._accept(shortest):
            return True
        kept = _without_detours(self.task, states, actions)
        for steps in (kept, kept[: self._step_in(kept) + 1]):
            there = steps[-1]
            outcomes = self._outcomes_after(there)
            for outcome in outcomes if there < len(actions) else ():
                rest = self._nearest([outcome])
                if rest is None:
                    continue
                way = [states[step] for step in steps]
                taken = [actions[step] for step in steps]
                if self._accept(self._run_of([*way, *rest.states], [*taken, *rest.actions])):
                    return True
        return False

    def _step_in(self, steps: Sequence[int]) -> int:
        """Return the place of the fault, or of the last step before, among the steps kept."""
        state = self.run.states[getattr(self.decision, "step", 0)]
        last = max(step for step, each in enumerate(self.run.states) if each == state)
        return max((place for place, each in enumerate(steps) if each <= last), default=0)

    def _outcomes_after(self, step: int) -> list[State]:
        """Return the outcomes of a step, that of the fault first."""
        if step >= len(self.run.actions):
            return []
        own = [self.decision.outcome] if isinstance(self.decision, Fault) else []
        outcomes = self.task.outcomes(self.run.states[step], self.run.actions[step])
        return [*(each for each in own if each in outcomes), self.run.states[step + 1]]

    # -- other starts --------------------------------------------------------------------------

    def _improve_start(self) -> bool:
        """Try all other start states at once for a shorter run; then, one by one, those that are
        nearer to the initial values for one as short.
        """
        starts = self._starts()
        while starts:
            shortest = self._nearest(starts)
            if shortest is None or shortest.steps >= self.run.steps:
                break
            if self._accept(shortest):
                return True
            self.lost.add(shortest.start.packed)  # unavoidable from there: no fault
            starts = [each for each in starts if each.packed not in self.lost]
        limit, steps = self._start_key(self.run.start), self.run.steps
        nearer = [each for each in starts if self._start_key(each) < limit]
        nearer = [each for each in nearer if self.least.get(each.packed, 0) <= steps]
        shortest = self._nearest(nearer) if nearer else None
        if shortest is None or shortest.steps > steps:
            return False
        return any(map(self._try_start, sorted(nearer, key=self._start_key)))

    def _try_start(self, start: State) -> bool:
        """Try a shortest failing run from a start state."""
        shortest = self._nearest([start])
        self.least[start.packed] = math.inf if shortest is None else shortest.steps
        if shortest is None or shortest.steps > self.run.steps:
            return False
        if self._accept(shortest):
            return True
        self.lost.add(start.packed)
        return False

    def _starts(self) -> list[State]:
        """Return the start states to try, each once, in an order that depends on the run only."""
        candidates = [state for state in self.run.states[1:] if self._is_start(state)]
        if self.same_fault:  # what leads there from elsewhere is not known
            return [each for each in dict.fromkeys(candidates) if each.packed not in self.lost]
        listed, are_all = self._listed
        candidates += listed
        if has_description(self.task) and not are_all:
            candidates += [each for each in self._moved() if self._is_start(each)]
        unique = {each.packed: each for each in candidates if each.packed not in self.lost}
        unique.pop(self.run.start.packed, None)
        return list(unique.values())

    def _is_start(self, state: State) -> bool:
        if has_description(self.task):
            return self.task.is_start(state)
        return state in self._listed[0]

    @functools.cached_property
    def _listed(self) -> tuple[list[State], bool]:
        """All start states if they are not too many, else a sample; and whether it is all."""
        return _listed_starts(self.task)

    def _moved(self) -> Iterator[State]:
        """Yield the start with one or two variables moved to their initial values or towards."""
        assert has_description(self.task)
        start = self.run.start.to_dict()
        moves = {name: _moves(start[name], self.origin.get(name)) for name in start}
        singles = [(name, value) for name, values in moves.items() for value in values]
        pairs = itertools.islice(itertools.combinations(singles, 2), MAX_PAIRS)
        for changes in itertools.chain(((each,) for each in singles), pairs):
            if len({name for name, _ in changes}) == len(changes):
                self._check_time()
                yield self.task.state({**start, **dict(changes)})
        yield from self._exchanged(start)

    def _exchanged(self, start: dict[str, Any]) -> Iterator[State]:
        """Yield the start with one moved from one integer to another, which keeps their sum."""
        assert has_description(self.task)
        whole = [v for v in self.task.variables if type(start[v.name]) is int]
        for first, other in itertools.islice(itertools.permutations(whole, 2), MAX_PAIRS):
            here, there = start[first.name], start[other.name]
            goal, is_known = self.origin.get(first.name), first.name in self.origin
            if is_known and goal is not None and here > goal and there < int(other.upper):
                self._check_time()
                amount = min(here - goal, int(other.upper) - there)
                for step in {amount, 1}:
                    values = {first.name: here - step, other.name: there + step}
                    yield self.task.state({**start, **values})

    # -- candidates ----------------------------------------------------------------------------

    def _nearest(self, starts: Iterable[State]) -> Run | None:
        """Return a shortest failing run of the policy from one of the states; None without one."""
        self.tried += 1
        nearest: _core.NearestFail = ask_core(
            self.task,
            _core.nearest_fail,
            self.task.core,
            self.policy.core,
            b"".join(each.packed for each in starts),
            max_seconds=self._check_time(),
            max_bytes=self.options.max_bytes,
            max_states=self.options.max_states,
            progress=None,
        )
        if nearest.run is None:
            if nearest.stopped == "seconds":
                raise OutOfBudget("out-of-seconds", "ran out of seconds")
            return None
        states = self.task.unpack_all(nearest.run.states)
        return self._run_of(states, [self.task.actions[number] for number in nearest.run.actions])

    def _check_time(self) -> float:
        """Return the seconds that are left. Raises OutOfBudget if there are none."""
        left = self.options.max_seconds - (time.perf_counter() - self.begin)
        if left <= 0:
            raise OutOfBudget("out-of-seconds", "ran out of seconds")
        return left

    def _run_of(self, states: Sequence[State], actions: Sequence[str]) -> Run:
        """Return a candidate; it is not known to be reachable if the finding's run is not, and it
        begins where that does.
        """
        is_ours = states[0] == self.run.start
        made = self.run.made if is_ours else None
        return Run(self.run.run, tuple(states), tuple(actions), RunEnd.FAIL, made=made)

    def _accept(self, run: Run) -> bool:
        """Take a candidate if it is better and shows what the finding shows."""
        self._check_time()
        if not self._key(run) < self._key(self.run):
            return False
        decision = self._decision_on(run)
        if decision is None:
            return False
        self.run, self.decision = run, decision
        return True

    def _decision_on(self, run: Run) -> Fault | Bug | Run | None:
        """Return the fault (or bug) on a run: the finding's own if it is there, else the first;
        None if there is none, or if that is not a failing run of the policy from a start state.
        """
        kind = self.before.kind
        if not replayed(self.policy, run).still_fails:
            return None
        if kind == "run":
            return run
        faults = self.finder.add(run)
        if kind == "bug":
            bugs = {bug.state: bug for bug in self.finder.bugs}
            decisions = [(i, state) for i, state in enumerate(run.states) if state in bugs]
            own = [(i, state) for i, state in decisions if self._is_own(state)]
            for step, state in own if own or self.same_fault else decisions:
                return replace(bugs[state], run=run.run, step=step, failing=run)
            return None
        own_faults = [each for each in faults if self._is_own(each.state)]
        for fault in own_faults if own_faults or self.same_fault else faults:
            return replace(fault, run=run, step=run.states.index(fault.state), runs=(run.run,))
        return None

    def _is_own(self, state: State) -> bool:
        values = self.before.about["state"]
        names = self.before.content["run"]["variables"]
        return bool([state[name] for name in names] == values)

    # -- what is better ------------------------------------------------------------------------

    def _key(self, run: Run) -> tuple[object, ...]:
        return (run.steps, self._start_key(run.start), *map(self._values, run.states), run.actions)

    def _start_key(self, state: State) -> tuple[object, ...]:
        distance = sum(_apart(state[name], value) for name, value in self.origin.items())
        return distance, self._values(state)

    def _values(self, state: State) -> object:
        """Return the values so that they can be compared, whatever they are."""
        return state.values_tuple if has_description(self.task) else repr(state.values_tuple)


def _origin(task: Task) -> dict[str, object]:
    """Return the initial values, of those variables that have one."""
    if has_description(task):
        return {v.name: v.initial for v in task.variables if v.initial is not None}
    return task.initial_state().to_dict()


def _apart(value: Any, origin: Any) -> float:
    """Return how far apart two values are: 0 or 1 if they are not numbers."""
    is_number = isinstance(value, int | float) and isinstance(origin, int | float)
    return abs(float(value) - float(origin)) if is_number else float(value != origin)


def _moves(value: object, origin: object) -> list[object]:
    """Return the initial value, and values on the way to it: halfway, and one step."""
    if origin is None or value == origin:
        return []
    if type(value) is not int or type(origin) is not int:
        return [origin]
    halfway = origin + math.trunc((value - origin) / 2)
    step = value - 1 if value > origin else value + 1
    return list(dict.fromkeys([origin, halfway, step]))


def _listed_starts(task: Task) -> tuple[list[State], bool]:
    if not has_description(task):
        return task.list_starts(), True
    try:
        return task.list_starts(max_states=MAX_STARTS, max_seconds=LISTING_SECONDS), True
    except (InputError, OutOfBudget):
        pass
    try:
        drawn = task.sample_starts(SAMPLED_STARTS, seed=0, max_seconds=LISTING_SECONDS)
    except (InputError, OutOfBudget):
        return [], False
    return list(dict.fromkeys(drawn)), False


def _without_detours(task: Task, states: Sequence[State], actions: Sequence[str]) -> list[int]:
    """Return the steps of a run without those that can be left out: after each state the latest one
    of the run that is an outcome of what is decided there.
    """
    last = {state: step for step, state in enumerate(states)}
    kept = [last[states[0]]]
    while kept[-1] < len(actions):
        step = kept[-1]
        outcomes = task.outcomes(states[step], actions[step])
        kept.append(max(last[each] for each in outcomes if last.get(each, -1) > step))
    return kept[:-1] or [0]
