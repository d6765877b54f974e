"""Verification with boxes: predicate abstraction without a solver (core/verify/box_search.h)."""

from __future__ import annotations

import time
from typing import Any

from surefoot import _core
from surefoot.errors import InputError
from surefoot.policies.decisions import ask_core
from surefoot.results import VerifyResult
from surefoot.tasks.task import Task
from surefoot.verify.certificate import write_box_certificate
from surefoot.verify.explicit import run_of
from surefoot.verify.job import Job, check_symbolic

METHOD = "box"
ALWAYS = 0xFFFFFFFF
TRIES = ((ALWAYS, 50), (12, 10), (ALWAYS, ALWAYS), (2, 0))
"""how often hulls are split, and may grow, before steps may be coarse: tried in turn, each time
with more seconds"""
FIRST_SECONDS = 1.0


def verify_box(job: Job) -> VerifyResult:
    """Return what boxes of states tell about the policy.

    What it does: explores boxes instead of states, splits them where the policy's decision is not
    the same everywhere and matters, and cuts them apart where what they join is too much. Tries
    several degrees of precision in turn. Guarantee: ``safe`` comes with boxes that contain all
    start states and that no step of the policy leaves; a failing run was replayed. Cost: in the
    number of boxes, not of states. When to use it: first. Paper: P-TREE, in spirit.
    """
    check_symbolic(job, METHOD)
    assert isinstance(job.task, Task)
    return _Boxes(job, job.task).run()


class _Boxes:
    def __init__(self, job: Job, task: Task) -> None:
        self.job = job
        self.task = task
        self.begin = time.perf_counter()
        self.cuts = _given_cuts(job)

    def run(self) -> VerifyResult:
        """Return the result of the first try that has a verdict, or of the last one."""
        seconds = FIRST_SECONDS
        while True:
            for splits, growth in TRIES:
                left = self._seconds_left()
                found = self._ask(splits, growth, min(seconds, left))
                if found["stopped"] != "seconds" or left <= seconds:
                    return self._result(found)
            seconds *= 4

    def _seconds_left(self) -> float:
        return max(self.job.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(self, splits: int, growth: int, seconds: float) -> dict[str, Any]:
        how = self.job.options
        found: dict[str, Any] = ask_core(
            self.task,
            _core.verify_box,
            self.task.core,
            self.job.policy.core,
            self.task.start_source(),
            cuts=self.cuts,
            max_splits=splits,
            max_growth=growth,
            max_steps=how.max_steps,
            max_seconds=seconds,
            max_bytes=how.max_bytes,
            progress=self.job.progress,
        )
        if not found["has_starts"]:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )
        return found

    def _result(self, found: dict[str, Any]) -> VerifyResult:
        run = None if found["run"] is None else run_of(self.task, *found["run"])
        reason = None if run is not None else self._reason(found)
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

    def _reason(self, found: dict[str, Any]) -> str | None:
        """Return why nothing is proved; None if it is."""
        how = self.job.options
        limits = {
            "seconds": f"ran out of seconds ({how.max_seconds:g})",
            "memory": f"ran out of memory ({how.memory_mb:,} MB)",
        }
        if found["stopped"]:
            return limits[found["stopped"]]
        if found["is_stuck"]:
            return "an abstract run could be neither replayed nor ruled out"
        if found["is_cut"]:
            return f"only runs of at most {how.max_steps:,} steps were looked at"
        return None


def _given_cuts(job: Job) -> list[tuple[int, float]]:
    """Return the cuts of the file of predicates, if there is one."""
    if job.options.predicates is None:
        return []
    from surefoot.verify.predicates import read_cuts

    return read_cuts(job.options.predicates, job.task)
