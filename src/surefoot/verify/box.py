"""Verification with boxes: predicate abstraction without a solver (core/verify/box_search.h)."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Refusal
from surefoot.options import SimulateOptions, VerifyOptions
from surefoot.policies import Policy
from surefoot.policies.decisions import ask_core
from surefoot.records import VerifyResult
from surefoot.simulate import simulate
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.text import counted
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.constraints import core_constraints
from surefoot.verify.explicit import run_of
from surefoot.verify.method import BOX_NUMBERS, ON_SETS, Method, boxes_text
from surefoot.verify.question import (
    ProgressCallback,
    Question,
    check_symbolic,
    only_short_runs,
    out_of,
)

NAME = "box"
START_ERROR = "the start condition may be an error in some state"
STUCK = Refusal("stuck", "an abstract run could be neither replayed nor ruled out")
TOO_MANY_VALUES = Refusal(
    "too-many-values", "too many values must be told apart to make boxes of them"
)
ALWAYS = 0xFFFFFFFF


class Try(NamedTuple):
    """How to look at boxes, and for how long at first, each time longer."""

    splits: int  # of hulls before steps may be coarse
    growth: int  # of hulls before steps into them may be
    seconds: float


TRIES = (
    Try(ALWAYS, 50, 8.0),
    Try(12, 10, 1.0),
    Try(2, 0, 1.0),
)
LONGER = 4  # times, when all have been tried
GRIDS = (1, 4, 8, 16, 32, 64, 128)  # parts of the range of each real variable
MAX_GRID = 20_000  # places of a grid
ON_GRIDS = Try(4, ALWAYS, math.inf)
BOUNDS = (
    0,
    1,
    2,
    3,
    4,
    6,
    8,
    12,
    16,
    24,
    32,
    64,
    128,
)  # steps, where runs of any length are too much
GRID_RUNS, GRID_STEPS = 100, 200  # that show which values real variables take


def verify_box(question: Question) -> VerifyResult:
    """Return what boxes of states tell about the policy.

    What it does: explores boxes instead of states, splits them where the policy's decision is not
    the same everywhere and matters, and cuts them apart where what they join is too much. Tries
    several degrees of precision in turn. Guarantee: ``safe`` comes with boxes that contain all
    start states and that no step of the policy leaves; a failing run was replayed. Cost: in the
    number of boxes, not of states. When to use it: first. Paper: P-TREE, in spirit.
    """
    check_symbolic(question, NAME)
    assert has_description(question.task)
    return _Boxes(question, question.task).run()


def find_bad_states(
    task: CompiledTask,
    policy: Policy,
    *,
    max_boxes: int,
    max_states: int,
    max_seconds: float,
    memory_mb: int = VerifyOptions.memory_mb,
    progress: ProgressCallback | None = None,
) -> tuple[bytes, bool]:
    """Return packed states from which runs of the policy fail, and of which boxes cannot tell soon
    whether runs come there; none if boxes prove that the policy is safe. And whether a run from a
    start state is known to fail.

    Which these are depends on ``max_boxes``, the boxes to look at, and not on how fast that is.
    """
    options = VerifyOptions(method=NAME, max_seconds=max_seconds, memory_mb=memory_mb)
    boxes = _Boxes(Question(task, policy, options, progress, False), task)
    return boxes.bad_states(max_boxes, max_states)


class _Boxes:
    def __init__(self, question: Question, task: CompiledTask) -> None:
        self.question = question
        self.task = task
        self.begin = time.perf_counter()
        self.cuts = _given_cuts(question)
        self.constraints = core_constraints(task)

    def run(self) -> VerifyResult:
        """Return the result of the first try that has a verdict, or of the last one."""
        if self.task.has_reals:
            return self._run_on_grids()
        times = 1.0
        while True:
            for attempt in TRIES:
                left, seconds = self._seconds_left(), attempt.seconds * times
                answer = self._ask(attempt, min(seconds, left))
                if answer.stopped != "seconds" or left <= seconds:
                    return self._result(answer)
            times *= LONGER

    def _run_on_grids(self) -> VerifyResult:
        """Return the result on the first of finer and finer grids that has a verdict; if none has,
        how many steps of runs surely do not fail.

        Over real numbers refinement has no end; a grid tells apart as much everywhere.
        """
        given, ranges = self.cuts, _ranges(self.question, self.task)
        for parts in GRIDS:
            if parts ** len(ranges) > MAX_GRID:
                break
            self.cuts = [*given, *_grid(ranges, parts)]
            answer = self._ask(ON_GRIDS, self._seconds_left())
            if not answer.is_stuck:
                return self._result(answer)
        return self._result(answer, covered=self._steps_covered())

    def _steps_covered(self) -> int:
        """Return so many steps that no run fails within them; -1 if not even that is known."""
        covered = -1
        for steps in BOUNDS:
            answer = self._ask(ON_GRIDS, self._seconds_left(), max_steps=steps)
            if answer.is_stuck or answer.stopped or answer.run is not None:
                break
            covered = steps
        return covered

    def bad_states(self, max_boxes: int, max_states: int) -> tuple[bytes, bool]:
        """Return what boxes have not ruled out after so many of them."""
        answer = self._ask(
            TRIES[0], self._seconds_left(), max_visited=max_boxes, max_bad_states=max_states
        )
        return answer.bad_states, answer.run is not None

    def _seconds_left(self) -> float:
        return max(self.question.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(
        self,
        how_now: Try,
        seconds: float,
        *,
        max_steps: int | None = None,
        max_visited: int | None = None,
        max_bad_states: int = 0,
    ) -> _core.BoxResult:
        options = self.question.options
        answer = ask_core(
            self.task,
            _core.verify_box,
            self.task.core,
            self.question.policy.core,
            self.task.start_source(),
            constraints=self.constraints,
            cuts=self.cuts,
            max_splits=how_now.splits,
            max_growth=how_now.growth,
            max_steps=options.max_steps if max_steps is None else max_steps,
            max_visited=max_visited,
            max_bad_states=max_bad_states,
            max_seconds=seconds,
            max_bytes=options.max_bytes,
            progress=self.question.progress,
        )
        assert answer is not None  # check_symbolic refuses policies that cannot be bounded
        if not answer.has_starts:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )
        return answer

    def _result(self, answer: _core.BoxResult, *, covered: int | None = None) -> VerifyResult:
        run = (
            None if answer.run is None else run_of(self.task, answer.run.states, answer.run.actions)
        )
        why = None if run is not None else self._why_unknown(answer, covered)
        verdict = "unsafe" if run is not None else "safe" if why is None else "unknown"
        certificate = None
        if verdict == "safe" and self.question.certificate is not False:
            constraints = [
                ({self.task.names[v]: factor for v, factor in each.terms}, each.lower, each.upper)
                for each in answer.constraints
            ]
            certificate = write_box_certificate(self.question, answer.boxes, constraints)
        return VerifyResult(
            verdict=verdict,  # type: ignore[arg-type]
            method=NAME,
            starts=0,
            all_starts=True,
            states=0,
            depth=answer.depth,
            seconds=time.perf_counter() - self.begin,
            reason=None if why is None else why.sentence,
            code=None if why is None else why.code,
            run=run,
            certificate=certificate,
            boxes=len(answer.boxes) or answer.reached,
            refinements=answer.refinements,
            failing_starts=None if answer.failing_starts is None else tuple(answer.failing_starts),
            rounding=answer.rounding,
        )

    def _why_unknown(self, answer: _core.BoxResult, covered: int | None) -> Refusal | None:
        """Return why nothing is proved; None if it is."""
        options = self.question.options
        if answer.stopped == "states":
            return TOO_MANY_VALUES
        if answer.stopped:
            return out_of(answer.stopped, options)
        if answer.may_raise_at_start:
            return Refusal("start-error", START_ERROR)
        if covered is not None:
            known = "not even whether a start state fails is known"
            if covered >= 0:
                known = f"no run fails within {counted(covered, 'step')}"
            sentence = f"boxes over real numbers are not precise enough to tell; {known}"
            return Refusal("not-precise", sentence)
        if answer.is_stuck:
            return STUCK
        if answer.is_cut:
            return only_short_runs(options)
        return None


def _ranges(question: Question, task: CompiledTask) -> dict[int, tuple[float, float]]:
    """Return, by its number, between which values each real variable is in some runs."""
    options = SimulateOptions(runs=GRID_RUNS, max_steps=GRID_STEPS, seed=question.options.seed)
    try:
        simulated = simulate(task, policy=question.policy, options=options)
    except OutOfBudget:
        return {}
    rows = [state.values_tuple for run in simulated.runs for state in run.states]
    numbers = [n for n, variable in enumerate(task.variables) if variable.type == "real"]
    return {n: (min(row[n] for row in rows), max(row[n] for row in rows)) for n in numbers}


def _grid(ranges: dict[int, tuple[float, float]], parts: int) -> list[tuple[int, float]]:
    """Return cuts of each range into so many parts, and at its ends."""
    return [
        (number, low + (high - low) * at / parts)
        for number, (low, high) in ranges.items()
        for at in range(parts + 1)
        if parts > 1
    ]


def _given_cuts(question: Question) -> list[tuple[int, float]]:
    """Return the cuts that the question asks for, and those of the file of predicates."""
    numbers = {name: number for number, name in enumerate(question.task.names)}
    cuts = [(numbers[name], float(value)) for name, value in question.bounds]
    if question.options.predicates is None:
        return cuts
    from surefoot.verify.predicates import read_cuts

    return cuts + read_cuts(question.options.predicates, question.task)


METHOD = Method(
    NAME,
    verify_box,
    reads=ON_SETS,
    takes_predicates=True,
    numbers=BOX_NUMBERS,
    progress=boxes_text,
)
