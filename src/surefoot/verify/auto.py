"""Several methods of verification with one budget: the first verdict counts."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import replace
from typing import Any

from surefoot.errors import InputError, OutOfBudget, Unsupported
from surefoot.fuzz import fuzz
from surefoot.options import FuzzOptions, VerifyOptions
from surefoot.policies.models import Trees
from surefoot.results import EngineReport, VerifyResult, counted
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.task import Task, split_states
from surefoot.verify.children import can_be_written, verify_side_by_side
from surefoot.verify.job import Job, check_symbolic

METHOD, FUZZ = "auto", "fuzz"
FEW_STARTS = 10_000  # start states with which a short search is worth while before all others
FEW_STATES, FEW_SECONDS = 20_000, 10.0  # that this search looks at, and may take
COUNT_SECONDS = 1.0
FUZZ_RUNS = 1_000
FUZZ_SECONDS, FUZZ_SHARE = 1.0, 0.02
FUZZ_LOOKAHEAD = 10  # steps: more takes too long where many states are near
BOX_SECONDS, BOX_SHARE = 10.0, 0.4
SHORT_SECONDS = 3.0  # mostly it decides in less, networks at least; or not in ten seconds either
EXPLICIT_SHARE = 0.5
RACE_SHARE = 0.7  # the rest is for boxes that are cut as IC3 has blocked them
FED_SHARE = 0.5
SAMPLE_SECONDS, SAMPLE_SHARE = 60.0, 0.1
REACHED_PER_START = 2  # a guess: how many states there are for each start state
STATES_PER_SECOND = 500_000  # a guess, too
DOUBT = 4  # times as fast the search may be as this guess says
BYTES_BESIDE = 18  # that explicit search needs for a state besides its values
OUT_OF_SECONDS = "ran out of seconds"


def verify_auto(job: Job) -> VerifyResult:
    """Return the first verdict that one of the methods finds.

    What it does: a search of all that is reachable if that is little; some fuzzing; ``box`` for
    three or ten seconds; ``explicit`` if the start states are few enough, else on a sample of them;
    then ``box`` and ``ic3`` side by side in processes of their own. Policies and tasks that only
    ``explicit`` can read are left to it alone. Guarantee: that of the method that decides, which
    the result names. Cost: the seconds and the memory of the options for all of them together.
    When to use it: always, unless you know better. Paper: none needed.
    """
    return _Portfolio(job).run()


class _Portfolio:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.how = job.options
        self.begin = time.perf_counter()
        self.reports: dict[str, EngineReport] = {}
        self.results: dict[str, VerifyResult] = {}
        self.is_sample = False
        self.error: InputError | None = None

    def run(self) -> VerifyResult:
        """Return the result."""
        try:
            check_symbolic(self.job, "box")
        except Unsupported as error:
            self._report("box", "unknown", 0.0, error.message)
            return self._told(self._ask("explicit", self.how))
        steps = (
            self._few,
            self._fuzz,
            self._box,
            self._explicit,
            self._race,
            self._fed,
            self._rest,
        )
        for step in steps:
            found = step()
            if found is not None:
                return self._told(found)
        if self.error is not None:
            raise self.error
        return self._unknown()

    # -- what all steps share ------------------------------------------------------------------

    @functools.cached_property
    def starts(self) -> int | None:
        """How many start states there are; None if nobody knows, or infinitely many."""
        return count_starts(self.job.task)

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return max(self.how.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(
        self, method: str, how: VerifyOptions, *, bounds: tuple[tuple[str, int], ...] = ()
    ) -> VerifyResult:
        """Return what a method finds with these options, in this process."""
        from surefoot.verify import METHODS

        if self.job.watch is not None:
            self.job.watch(method)
        begin = time.perf_counter()
        job = replace(self.job, options=replace(how, method=method), bounds=bounds)
        found = METHODS[method](job)
        self._report(method, found.verdict, time.perf_counter() - begin, found.reason)
        self.results[method] = found
        return found

    def _report(self, method: str, verdict: Any, seconds: float, reason: str | None) -> None:
        """Write down what a method did; what it did before is part of it."""
        before = self.reports.get(method)
        total = seconds + (0.0 if before is None else before.seconds)
        self.reports[method] = EngineReport(method, verdict, total, reason)

    def _told(self, found: VerifyResult) -> VerifyResult:
        seconds = time.perf_counter() - self.begin
        return replace(found, seconds=seconds, engines=tuple(self.reports.values()))

    def _unknown(self) -> VerifyResult:
        """Return that nothing was found, with what each method says and what was looked at."""
        explicit, box = self.results.get("explicit"), self.results.get("box")
        said = [f"{one.method}: {one.reason}" for one in self.reports.values()]
        if not self.left:
            said.append(f"{OUT_OF_SECONDS} ({_rounded(self.how.max_seconds):g})")
        found = VerifyResult(
            verdict="unknown",
            method=METHOD,
            starts=explicit.starts if explicit else 0,
            all_starts=explicit.all_starts if explicit else False,
            states=explicit.states if explicit else 0,
            depth=explicit.depth if explicit else 0,
            seconds=0.0,
            reason="; ".join(said),
            boxes=box.boxes if box else 0,
            refinements=box.refinements if box else 0,
            rounding=box.rounding if box else 0,
        )
        return self._told(found)

    # -- steps, each of which returns a verdict or None ----------------------------------------

    def _few(self) -> VerifyResult | None:
        """Look at everything where that is little: the answer does not depend on time then."""
        if self.starts is None or self.starts > FEW_STARTS:
            return None
        most, seconds = min(self.how.max_states, FEW_STATES), min(self.left, FEW_SECONDS)
        how = replace(self.how, max_states=most, max_seconds=seconds)
        return _decided(self._ask("explicit", how))

    def _fuzz(self) -> VerifyResult | None:
        """Try some runs: a failing one is found so most quickly."""
        if self.job.watch is not None:
            self.job.watch(FUZZ)
        begin = time.perf_counter()
        try:
            found = fuzz(self.job.task, self.job.policy, options=self._fuzzing())
        except OutOfBudget as error:
            self._report(FUZZ, "unknown", time.perf_counter() - begin, error.message)
            return None
        done = sum(found.counts.values())
        if not found.failing:
            reason = f"{counted(done, 'run')}, none of which fails"
            self._report(FUZZ, "unknown", time.perf_counter() - begin, reason)
            return None
        self._report(FUZZ, "unsafe", time.perf_counter() - begin, None)
        shortest = sorted(found.failing, key=lambda run: (run.steps, run.run))
        some = shortest[: max(self.how.runs, 1)]
        runs = [replace(run, run=number, same=()) for number, run in enumerate(some)]
        return VerifyResult(
            *("unsafe", FUZZ, done, False, found.states, runs[0].steps, found.seconds),
            run=runs[0],
            others=tuple(runs[1:]),
        )

    def _fuzzing(self) -> FuzzOptions:
        seconds = min(FUZZ_SECONDS, FUZZ_SHARE * self.how.max_seconds, self.left)
        return FuzzOptions(
            runs=FUZZ_RUNS,
            lookahead=FUZZ_LOOKAHEAD,
            workers=self.how.workers,
            seed=self.how.seed,
            max_seconds=seconds,
            memory_mb=self.how.memory_mb,
        )

    def _box(self) -> VerifyResult | None:
        """Look at boxes."""
        seconds = _rounded(min(self._box_seconds(), BOX_SHARE * self.left))
        if not seconds:
            return None
        try:
            return _decided(self._ask("box", replace(self.how, max_seconds=seconds)))
        except Unsupported as error:
            self._report("box", "unknown", 0.0, error.message)
        except InputError as error:
            if error.code == "no-start-state":
                raise
            # Some run comes to an error of the model or the policy. Others may still fail.
            self._report("box", "unknown", 0.0, error.message)
            self.error = error
        return None

    def _box_seconds(self) -> float:
        """Return how long to look at boxes: not for long where a search through all states may
        decide next, unless that takes long, too, and the policy is trees.
        """
        if not self._is_within_reach():
            return BOX_SECONDS
        if not isinstance(self.job.policy.model, Trees):
            return SHORT_SECONDS
        return min(max(SHORT_SECONDS, self._guessed_seconds() / 2), BOX_SECONDS)

    def _explicit(self) -> VerifyResult | None:
        """Look at what is reachable, unless there are too many start states: then from a sample."""
        if not self.left or self._is_known_to_be_too_large():
            return None
        self.is_sample = not self._is_within_reach()
        most, seconds = self.how.max_states, EXPLICIT_SHARE * self.left
        if self.is_sample:
            seconds = min(SAMPLE_SECONDS, SAMPLE_SHARE * self.left)
            if self.starts is not None:  # fewer states than start states: that makes it a sample
                most = max(min(most, self.starts - 1), 1)
        how = replace(self.how, max_seconds=_rounded(seconds), max_states=most)
        return _decided(self._ask("explicit", how))

    def _is_known_to_be_too_large(self) -> bool:
        """Return whether the short search before has come to a limit that holds for all."""
        before = self.results.get("explicit")
        if before is None or (before.reason or "").startswith(OUT_OF_SECONDS):
            return False
        return before.states >= self.how.max_states or "memory" in (before.reason or "")

    def _is_within_reach(self) -> bool:
        """Return whether all that is reachable may be seen, as far as the start states tell."""
        if self.starts is None:
            task = self.job.task
            return isinstance(task, CompiledTask) and bool(task.core.has_finite_starts())
        states = self.starts * REACHED_PER_START
        needed_bytes = states * (8 * self.job.task.core.words + BYTES_BESIDE)
        has_room = needed_bytes <= self.how.max_bytes and states <= self.how.max_states
        return has_room and self._guessed_seconds() <= DOUBT * EXPLICIT_SHARE * self.left

    def _guessed_seconds(self) -> float:
        """Return how long a search through all states may take, as the start states tell."""
        return (self.starts or 0) * REACHED_PER_START / STATES_PER_SECOND

    def _race(self) -> VerifyResult | None:
        """Let methods on sets of states have the rest of the time, in processes of their own."""
        methods = ["box"] if self._is_cut("box") else []
        methods += ["ic3"]
        if self.left <= 0 or not can_be_written(self.job):
            return None
        seconds = RACE_SHARE * self.left
        job = replace(self.job, options=replace(self.how, max_seconds=_rounded(seconds)))
        found, reports, unknown = verify_side_by_side(job, methods)
        for one in reports:
            self._report(one.method, one.verdict, one.seconds, one.reason)
        self.results |= {one.method: one for one in unknown}
        return found

    def _fed(self) -> VerifyResult | None:
        """Let ``box`` try again with bounds of what ``ic3`` has blocked."""
        before = self.results.get("ic3")
        if before is None or not before.bounds or not self._is_cut("box"):
            return None
        seconds = self.left * (FED_SHARE if self._is_cut("explicit") else 1.0)
        how = replace(self.how, max_seconds=_rounded(seconds))
        return _decided(self._ask("box", how, bounds=before.bounds)) if how.max_seconds else None

    def _rest(self) -> VerifyResult | None:
        """Let explicit search have the time that the others leave, if it had too little."""
        if self.left <= 0 or self.is_sample or not self._is_cut("explicit"):
            return None
        return _decided(self._ask("explicit", replace(self.how, max_seconds=_rounded(self.left))))

    def _is_cut(self, method: str) -> bool:
        """Return whether a method could go on if it had more time."""
        found = self.results.get(method)
        return found is not None and (found.reason or "").startswith(OUT_OF_SECONDS)


def _rounded(seconds: float) -> float:
    """Return seconds as people like to read them in a reason, never more than there are."""
    parts = 10 if seconds >= 1 else 10_000
    return math.floor(seconds * parts) / parts


def _decided(found: VerifyResult) -> VerifyResult | None:
    return None if found.verdict == "unknown" else found


def count_starts(task: Task) -> int | None:
    """Return how many start states there are, counted without listing them; None if nobody knows,
    or if there are infinitely many.
    """
    listed = task.start_source()
    if listed is not None:
        return len(set(split_states(listed, task.core.words)))
    assert isinstance(task, CompiledTask)
    if not task.core.has_finite_starts():
        return None
    counted_starts: Any = task.core.count_starts(max_seconds=COUNT_SECONDS)
    if counted_starts is not None:
        return int(counted_starts)
    try:
        return len(task.list_starts(max_states=FEW_STARTS, max_seconds=COUNT_SECONDS))
    except OutOfBudget:
        return None
