"""Verification with boxes: predicate abstraction without a solver (core/verify/box_search.h)."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget
from surefoot.options import SimulateOptions, VerifyOptions
from surefoot.policies import Policy
from surefoot.policies.decisions import ask_core
from surefoot.results import VerifyResult, counted
from surefoot.simulate import simulate
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.constraints import core_constraints
from surefoot.verify.explicit import run_of
from surefoot.verify.job import Job, ProgressCallback, check_symbolic, out_of

METHOD = "box"
START_ERROR = "the start condition may be an error in some state"
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


def verify_box(job: Job) -> VerifyResult:
    """Return what boxes of states tell about the policy.

    What it does: explores boxes instead of states, splits them where the policy's decision is not
    the same everywhere and matters, and cuts them apart where what they join is too much. Tries
    several degrees of precision in turn. Guarantee: ``safe`` comes with boxes that contain all
    start states and that no step of the policy leaves; a failing run was replayed. Cost: in the
    number of boxes, not of states. When to use it: first. Paper: P-TREE, in spirit.
    """
    check_symbolic(job, METHOD)
    assert isinstance(job.task, CompiledTask)
    return _Boxes(job, job.task).run()


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
    how = VerifyOptions(method=METHOD, max_seconds=max_seconds, memory_mb=memory_mb)
    boxes = _Boxes(Job(task, policy, how, progress, False), task)
    return boxes.bad_states(max_boxes, max_states)


class _Boxes:
    def __init__(self, job: Job, task: CompiledTask) -> None:
        self.job = job
        self.task = task
        self.begin = time.perf_counter()
        self.cuts = _given_cuts(job)
        self.constraints = core_constraints(task)

    def run(self) -> VerifyResult:
        """Return the result of the first try that has a verdict, or of the last one."""
        if self.task.has_reals:
            return self._run_on_grids()
        times = 1.0
        while True:
            for one in TRIES:
                left, seconds = self._seconds_left(), one.seconds * times
                found = self._ask(one, min(seconds, left))
                if found["stopped"] != "seconds" or left <= seconds:
                    return self._result(found)
            times *= LONGER

    def _run_on_grids(self) -> VerifyResult:
        """Return the result on the first of finer and finer grids that has a verdict; if none has,
        how many steps of runs surely do not fail.

        Over real numbers refinement has no end; a grid tells apart as much everywhere.
        """
        given, ranges = self.cuts, _ranges(self.job, self.task)
        for parts in GRIDS:
            if parts ** len(ranges) > MAX_GRID:
                break
            self.cuts = [*given, *_grid(ranges, parts)]
            found = self._ask(ON_GRIDS, self._seconds_left())
            if not found["is_stuck"]:
                return self._result(found)
        return self._result(found, covered=self._steps_covered())

    def _steps_covered(self) -> int:
        """Return so many steps that no run fails within them; -1 if not even that is known."""
        covered = -1
        for steps in BOUNDS:
            found = self._ask(ON_GRIDS, self._seconds_left(), max_steps=steps)
            if found["is_stuck"] or found["stopped"] or found["run"] is not None:
                break
            covered = steps
        return covered

    def bad_states(self, max_boxes: int, max_states: int) -> tuple[bytes, bool]:
        """Return what boxes have not ruled out after so many of them."""
        found = self._ask(
            TRIES[0], self._seconds_left(), max_visited=max_boxes, max_bad_states=max_states
        )
        return bytes(found["bad_states"]), found["run"] is not None

    def _seconds_left(self) -> float:
        return max(self.job.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(
        self,
        how_now: Try,
        seconds: float,
        *,
        max_steps: int | None = None,
        max_visited: int | None = None,
        max_bad_states: int = 0,
    ) -> dict[str, Any]:
        how = self.job.options
        found: dict[str, Any] = ask_core(
            self.task,
            _core.verify_box,
            self.task.core,
            self.job.policy.core,
            self.task.start_source(),
            constraints=self.constraints,
            cuts=self.cuts,
            max_splits=how_now.splits,
            max_growth=how_now.growth,
            max_steps=how.max_steps if max_steps is None else max_steps,
            max_visited=max_visited,
            max_bad_states=max_bad_states,
            max_seconds=seconds,
            max_bytes=how.max_bytes,
            progress=self.job.progress,
        )
        if not found["has_starts"]:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )
        return found

    def _result(self, found: dict[str, Any], *, covered: int | None = None) -> VerifyResult:
        run = None if found["run"] is None else run_of(self.task, *found["run"])
        reason = None if run is not None else self._reason(found, covered)
        verdict = "unsafe" if run is not None else "unknown" if reason else "safe"
        certificate = None
        if verdict == "safe" and self.job.certificate is not False:
            constraints = [
                ({self.task.names[v]: factor for v, factor in terms}, lower, upper)
                for terms, lower, upper in found["constraints"]
            ]
            certificate = write_box_certificate(self.job, found["boxes"], constraints)
        return VerifyResult(
            verdict=verdict,  # type: ignore[arg-type]
            method=METHOD,
            starts=0,
            all_starts=True,
            states=0,
            depth=found["depth"],
            seconds=time.perf_counter() - self.begin,
            reason=reason,
            run=run,
            certificate=certificate,
            boxes=len(found["boxes"]) or found["reached"],
            refinements=found["refinements"],
            failing_starts=tuple(found["failing_starts"]) if run is not None else None,
            rounding=found["rounding"],
        )

    def _reason(self, found: dict[str, Any], covered: int | None) -> str | None:
        """Return why nothing is proved; None if it is."""
        how = self.job.options
        if found["stopped"] == "states":
            return "too many values must be told apart to make boxes of them"
        if found["stopped"]:
            return out_of(found["stopped"], how)
        if found["may_raise_at_start"]:
            return START_ERROR
        if covered is not None:
            known = "not even whether a start state fails is known"
            if covered >= 0:
                known = f"no run fails within {counted(covered, 'step')}"
            return f"boxes over real numbers are not precise enough to tell; {known}"
        if found["is_stuck"]:
            return "an abstract run could be neither replayed nor ruled out"
        if found["is_cut"]:
            return f"only runs of at most {how.max_steps:,} steps were looked at"
        return None


def _ranges(job: Job, task: CompiledTask) -> dict[int, tuple[float, float]]:
    """Return, by its number, between which values each real variable is in some runs."""
    how = SimulateOptions(runs=GRID_RUNS, max_steps=GRID_STEPS, seed=job.options.seed)
    try:
        found = simulate(task, policy=job.policy, options=how)
    except OutOfBudget:
        return {}
    rows = [state.values_tuple for run in found.runs for state in run.states]
    numbers = [n for n, one in enumerate(task.variables) if one.type == "real"]
    return {n: (min(row[n] for row in rows), max(row[n] for row in rows)) for n in numbers}


def _grid(ranges: dict[int, tuple[float, float]], parts: int) -> list[tuple[int, float]]:
    """Return cuts of each range into so many parts, and at its ends."""
    return [
        (number, low + (high - low) * at / parts)
        for number, (low, high) in ranges.items()
        for at in range(parts + 1)
        if parts > 1
    ]


def _given_cuts(job: Job) -> list[tuple[int, float]]:
    """Return the cuts that the job asks for, and those of the file of predicates."""
    numbers = {name: number for number, name in enumerate(job.task.names)}
    cuts = [(numbers[name], float(value)) for name, value in job.bounds]
    if job.options.predicates is None:
        return cuts
    from surefoot.verify.predicates import read_cuts

    return cuts + read_cuts(job.options.predicates, job.task)
