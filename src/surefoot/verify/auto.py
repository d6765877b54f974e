"""Several methods of verification with one budget: the first verdict counts."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from surefoot.errors import InputError, OutOfBudget, Refusal, SurefootError, Unsupported
from surefoot.fuzz import fuzz
from surefoot.options import FuzzOptions, VerifyOptions
from surefoot.policies.models import Trees
from surefoot.records import EngineReport, Verdict, VerifyResult
from surefoot.records.runs import shortest_first
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.task import Task, split_states
from surefoot.text import counted
from surefoot.verify.children import can_be_written, verify_side_by_side
from surefoot.verify.method import Method
from surefoot.verify.question import (
    OUT_OF_MEMORY,
    OUT_OF_SECONDS,
    Question,
    cannot_read,
    out_of,
)

NAME, FUZZ = "auto", "fuzz"
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


def verify_auto(question: Question) -> VerifyResult:
    """Return the first verdict that one of the methods finds.

    What it does: a search of all that is reachable if that is little; some fuzzing; ``box`` for
    three or ten seconds; ``explicit`` if the start states are few enough, else on a sample of them;
    then ``box`` and ``ic3`` side by side in processes of their own. Policies and tasks that only
    ``explicit`` can read are left to it alone. Guarantee: that of the method that decides, which
    the result names. Cost: the seconds and the memory of the options for all of them together.
    When to use it: always, unless you know better. Paper: none needed.
    """
    return _Portfolio(question).run()


class _Portfolio:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.options = question.options
        self.begin = time.perf_counter()
        self.reports: dict[str, EngineReport] = {}
        self.results: dict[str, VerifyResult] = {}
        self.is_sample = False
        self.error: InputError | None = None

    def run(self) -> VerifyResult:
        """Return the result."""
        refusal = cannot_read(self.question.task, self.question.policy, method="box")
        if refusal is not None:
            self._report("box", 0.0, why=refusal)
            return self._told(self._ask("explicit", self.options))
        for step in STEPS:
            result = step.run(self) if step.is_due(self) else None
            if result is not None and result.verdict != "unknown":
                return self._told(result)
        if self.error is not None:
            raise self.error
        return self._unknown()

    # -- what all steps share ------------------------------------------------------------------

    @functools.cached_property
    def starts(self) -> int | None:
        """How many start states there are; None if nobody knows, or infinitely many."""
        return count_starts(self.question.task)

    @property
    def left(self) -> float:
        """How many seconds are left."""
        return max(self.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(
        self, method: str, options: VerifyOptions, *, bounds: tuple[tuple[str, int], ...] = ()
    ) -> VerifyResult:
        """Return what a method finds with these options, in this process."""
        from surefoot.verify import METHODS

        if self.question.watch is not None:
            self.question.watch(method)
        begin = time.perf_counter()
        question = replace(self.question, options=replace(options, method=method), bounds=bounds)
        result = METHODS[method](question)
        why = None if result.reason is None else Refusal(result.code or "", result.reason)
        self._report(method, time.perf_counter() - begin, verdict=result.verdict, why=why)
        self.results[method] = result
        return result

    def _report(
        self, method: str, seconds: float, *, verdict: Verdict = "unknown", why: Refusal | None
    ) -> None:
        """Write down what a method did; what it did before is part of it."""
        before = self.reports.get(method)
        total = seconds + (0.0 if before is None else before.seconds)
        sentence, code = (None, None) if why is None else (why.sentence, why.code or None)
        self.reports[method] = EngineReport(method, verdict, total, sentence, code)

    def _told(self, result: VerifyResult) -> VerifyResult:
        seconds = time.perf_counter() - self.begin
        return replace(result, seconds=seconds, engines=tuple(self.reports.values()))

    def _unknown(self) -> VerifyResult:
        """Return that nothing was found, with what each method says and what was looked at."""
        explicit, box = self.results.get("explicit"), self.results.get("box")
        reasons = [f"{report.method}: {report.reason}" for report in self.reports.values()]
        if not self.left:
            limit = replace(self.options, max_seconds=_rounded(self.options.max_seconds))
            reasons.append(out_of("seconds", limit).sentence)
        result = VerifyResult(
            verdict="unknown",
            method=NAME,
            starts=explicit.starts if explicit else 0,
            all_starts=explicit.all_starts if explicit else False,
            states=explicit.states if explicit else 0,
            depth=explicit.depth if explicit else 0,
            seconds=0.0,
            reason="; ".join(reasons),
            code="no-method-decided" if self.left else OUT_OF_SECONDS,
            boxes=box.boxes if box else 0,
            refinements=box.refinements if box else 0,
            rounding=box.rounding if box else 0,
        )
        return self._told(result)

    # -- conditions of steps -------------------------------------------------------------------

    def is_small(self) -> bool:
        """Return whether the start states are few enough to look at everything first."""
        return self.starts is not None and self.starts <= FEW_STARTS

    def is_search_open(self) -> bool:
        """Return whether explicit search may find more than it did before, if it did."""
        return self.left > 0 and not self._is_known_to_be_too_large()

    def can_race(self) -> bool:
        """Return whether there is time for processes, and they can be given task and policy."""
        return self.left > 0 and can_be_written(self.question)

    def has_bounds(self) -> bool:
        """Return whether ``ic3`` has left bounds for ``box``, which had too little time."""
        before = self.results.get("ic3")
        return before is not None and bool(before.bounds) and self._is_cut("box")

    def is_search_cut(self) -> bool:
        """Return whether explicit search of all start states had too little time."""
        return self.left > 0 and not self.is_sample and self._is_cut("explicit")

    def _is_cut(self, method: str) -> bool:
        """Return whether a method could go on if it had more time."""
        result = self.results.get(method)
        return result is not None and result.code == OUT_OF_SECONDS

    def _is_known_to_be_too_large(self) -> bool:
        """Return whether the short search before has come to a limit that holds for all."""
        before = self.results.get("explicit")
        if before is None or self._is_cut("explicit"):
            return False
        return before.states >= self.options.max_states or before.code == OUT_OF_MEMORY

    def _is_within_reach(self) -> bool:
        """Return whether all that is reachable may be seen, as far as the start states tell."""
        if self.starts is None:
            task = self.question.task
            return has_description(task) and bool(task.core.has_finite_starts())
        states = self.starts * REACHED_PER_START
        needed_bytes = states * (8 * self.question.task.core.words + BYTES_BESIDE)
        has_room = needed_bytes <= self.options.max_bytes and states <= self.options.max_states
        return has_room and self._guessed_seconds() <= DOUBT * EXPLICIT_SHARE * self.left

    def _guessed_seconds(self) -> float:
        """Return how long a search through all states may take, as the start states tell."""
        return (self.starts or 0) * REACHED_PER_START / STATES_PER_SECOND

    # -- steps, each of which returns a result or None -----------------------------------------

    def search_shortly(self) -> VerifyResult:
        """Look at everything where that is little: the answer does not depend on time then."""
        most, seconds = min(self.options.max_states, FEW_STATES), min(self.left, FEW_SECONDS)
        return self._ask("explicit", replace(self.options, max_states=most, max_seconds=seconds))

    def try_runs(self) -> VerifyResult | None:
        """Try some runs: a failing one is found so most quickly."""
        if self.question.watch is not None:
            self.question.watch(FUZZ)
        begin = time.perf_counter()
        try:
            fuzzed = fuzz(self.question.task, self.question.policy, options=self._fuzzing())
        except OutOfBudget as error:
            self._report(FUZZ, time.perf_counter() - begin, why=refusal_of(error))
            return None
        done = sum(fuzzed.counts.values())
        if not fuzzed.failing:
            why = Refusal("no-run-fails", f"{counted(done, 'run')}, none of which fails")
            self._report(FUZZ, time.perf_counter() - begin, why=why)
            return None
        self._report(FUZZ, time.perf_counter() - begin, verdict="unsafe", why=None)
        some = shortest_first(fuzzed.failing)[: max(self.options.runs, 1)]
        runs = [replace(run, run=number, same=()) for number, run in enumerate(some)]
        return VerifyResult(
            *("unsafe", FUZZ, done, False, fuzzed.states, runs[0].steps, fuzzed.seconds),
            run=runs[0],
            others=tuple(runs[1:]),
        )

    def _fuzzing(self) -> FuzzOptions:
        seconds = min(FUZZ_SECONDS, FUZZ_SHARE * self.options.max_seconds, self.left)
        return FuzzOptions(
            runs=FUZZ_RUNS,
            bias="greedy",
            lookahead=FUZZ_LOOKAHEAD,
            workers=self.options.workers,
            seed=self.options.seed,
            max_seconds=seconds,
            memory_mb=self.options.memory_mb,
        )

    def try_boxes(self) -> VerifyResult | None:
        """Look at boxes."""
        seconds = _rounded(min(self._box_seconds(), BOX_SHARE * self.left))
        if not seconds:
            return None
        try:
            return self._ask("box", replace(self.options, max_seconds=seconds))
        except Unsupported as error:
            self._report("box", 0.0, why=refusal_of(error))
        except InputError as error:
            if error.code == "no-start-state":
                raise
            # Some run comes to an error of the model or the policy. Others may still fail.
            self._report("box", 0.0, why=refusal_of(error))
            self.error = error
        return None

    def _box_seconds(self) -> float:
        """Return how long to look at boxes: not for long where a search through all states may
        decide next, unless that takes long, too, and the policy is trees.
        """
        if not self._is_within_reach():
            return BOX_SECONDS
        if not isinstance(self.question.policy.model, Trees):
            return SHORT_SECONDS
        return min(max(SHORT_SECONDS, self._guessed_seconds() / 2), BOX_SECONDS)

    def search(self) -> VerifyResult:
        """Look at what is reachable, unless there are too many start states: then from a sample."""
        self.is_sample = not self._is_within_reach()
        most, seconds = self.options.max_states, EXPLICIT_SHARE * self.left
        if self.is_sample:
            seconds = min(SAMPLE_SECONDS, SAMPLE_SHARE * self.left)
            if self.starts is not None:  # fewer states than start states: that makes it a sample
                most = max(min(most, self.starts - 1), 1)
        options = replace(self.options, max_seconds=_rounded(seconds), max_states=most)
        return self._ask("explicit", options)

    def race(self) -> VerifyResult | None:
        """Let methods on sets of states have the rest of the time, in processes of their own."""
        methods = ["box", "ic3"] if self._is_cut("box") else ["ic3"]
        options = replace(self.options, max_seconds=_rounded(RACE_SHARE * self.left))
        result, reports, unknown = verify_side_by_side(
            replace(self.question, options=options), methods
        )
        for report in reports:
            why = None if report.reason is None else Refusal(report.code or "", report.reason)
            self._report(report.method, report.seconds, verdict=report.verdict, why=why)
        self.results |= {each.method: each for each in unknown}
        return result

    def cut_where_ic3_blocked(self) -> VerifyResult | None:
        """Let ``box`` try again with bounds of what ``ic3`` has blocked."""
        seconds = self.left * (FED_SHARE if self._is_cut("explicit") else 1.0)
        options = replace(self.options, max_seconds=_rounded(seconds))
        bounds = self.results["ic3"].bounds
        return self._ask("box", options, bounds=bounds) if options.max_seconds else None

    def search_on(self) -> VerifyResult:
        """Let explicit search have the time that the others leave."""
        return self._ask("explicit", replace(self.options, max_seconds=_rounded(self.left)))


class _Step(NamedTuple):
    """What the portfolio does if it is due; a verdict ends the portfolio."""

    is_due: Callable[[_Portfolio], bool]
    run: Callable[[_Portfolio], VerifyResult | None]


def _always(_: _Portfolio) -> bool:
    return True


STEPS = (
    _Step(_Portfolio.is_small, _Portfolio.search_shortly),
    _Step(_always, _Portfolio.try_runs),
    _Step(_always, _Portfolio.try_boxes),
    _Step(_Portfolio.is_search_open, _Portfolio.search),
    _Step(_Portfolio.can_race, _Portfolio.race),
    _Step(_Portfolio.has_bounds, _Portfolio.cut_where_ic3_blocked),
    _Step(_Portfolio.is_search_cut, _Portfolio.search_on),
)
"""what is tried, in this order, each with the part of the budget that its function takes"""


def _rounded(seconds: float) -> float:
    """Return seconds as people like to read them in a reason, never more than there are."""
    parts = 10 if seconds >= 1 else 10_000
    return math.floor(seconds * parts) / parts


def refusal_of(error: SurefootError) -> Refusal:
    """Return an error as a reason."""
    return Refusal(error.code, error.message)


def count_starts(task: Task) -> int | None:
    """Return how many start states there are, counted without listing them; None if nobody knows,
    or if there are infinitely many.
    """
    listed = task.start_source()
    if listed is not None:
        return len(set(split_states(listed, task.core.words)))
    assert has_description(task)
    if not task.core.has_finite_starts():
        return None
    counted_starts: int | None = task.start_sampler.count(max_seconds=COUNT_SECONDS)
    if counted_starts is not None:
        return counted_starts
    try:
        return len(task.list_starts(max_states=FEW_STARTS, max_seconds=COUNT_SECONDS))
    except OutOfBudget:
        return None


METHOD = Method(NAME, verify_auto, takes_predicates=True)
