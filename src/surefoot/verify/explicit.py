"""Explicit verification: look at everything that the policy can reach (core/verify/explicit.h)."""

from __future__ import annotations

import time
from typing import Any

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget
from surefoot.fuzz import num_workers
from surefoot.policies.decisions import ask_core
from surefoot.results import Run, VerifyResult
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import PackedStates
from surefoot.tasks.task import Task
from surefoot.verify.certificate import PolicyCertificate, write_certificate
from surefoot.verify.job import Job, out_of

METHOD = "explicit"
SAMPLED = "start states were sampled"


def verify_explicit(job: Job) -> VerifyResult:
    """Return what a breadth-first search through all that the policy reaches finds.

    What it does: starts from all start states, or where these are infinitely many or do not fit
    from a uniform sample of them, and follows the policy until a state fails or nothing is new.
    Guarantee: ``safe`` comes from all start states only; a failing run is a shortest one from the
    start states looked at. The result does not depend on the number of workers. Cost: each state
    once, its packed values and at most 18 bytes in memory. When to use it: whenever the states fit
    into memory. Paper: none needed.
    """
    return _Explicit(job).run()


class _Explicit:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.task = job.task
        self.begin = time.perf_counter()

    def run(self) -> VerifyResult:
        """Return the result."""
        if not self._can_list_starts():
            return self._sampled()
        found = self._ask(self.task.start_source())
        if found["starts"] == 0 and not found["stopped"]:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )
        if not found["starts_complete"] and found["stopped"] in ("states", "memory"):
            found.clear()  # what was reached takes up the memory
            return self._sampled()
        return self._result(found, are_all=bool(found["starts_complete"]))

    def _can_list_starts(self) -> bool:
        task = self.task
        if isinstance(task, PythonTask) or not task.has_start_condition:
            return True
        return bool(task.core.has_finite_starts())

    def _seconds_left(self) -> float:
        return max(self.job.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(self, states: bytes | None) -> dict[str, Any]:
        """Return what the core finds from these states, or from those of the start condition."""
        how = self.job.options
        found: dict[str, Any] = ask_core(
            self.task,
            _core.verify_explicit,
            self.task.core,
            self.job.policy.core,
            states,
            workers=num_workers(self.job.policy, how.workers),
            max_runs=how.runs,
            max_seconds=self._seconds_left(),
            max_bytes=how.max_bytes,
            max_states=how.max_states,
            progress=self.job.progress,
        )
        return found

    def _sampled(self) -> VerifyResult:
        """Return the result of a sample of the start states, which all together are too many."""
        how = self.job.options
        try:
            drawn = self.task.draw_starts(
                min(how.starts, how.max_states), seed=how.seed, max_seconds=self._seconds_left()
            )
        except OutOfBudget as error:
            return self._nothing(error.message)
        found = self._ask(drawn)
        return self._result(found, are_all=False)

    def _nothing(self, reason: str) -> VerifyResult:
        seconds = time.perf_counter() - self.begin
        return VerifyResult("unknown", METHOD, 0, False, 0, 0, seconds, reason=reason)

    def _result(self, found: dict[str, Any], *, are_all: bool) -> VerifyResult:
        runs = [run_of(self.task, *raw, number=n) for n, raw in enumerate(found["runs"])]
        run = runs[0] if runs else None
        reason = None if run is not None else self._reason(found, are_all=are_all)
        verdict = "unsafe" if run is not None else "unknown" if reason else "safe"
        certificate = None
        if verdict == "safe" and self.job.certificate is not False:
            certificate = self._certificate(found["reached"])
        return VerifyResult(
            verdict=verdict,  # type: ignore[arg-type]
            method=METHOD,
            starts=found["starts"],
            all_starts=are_all,
            states=found["states"],
            depth=found["depth"],
            seconds=time.perf_counter() - self.begin,
            reason=reason,
            run=run,
            others=tuple(runs[1:]),
            certificate=certificate,
        )

    def _certificate(self, reached: Any) -> PolicyCertificate:
        job, most = self.job, self.job.max_certificate_states
        if most is None or len(reached) <= most:
            return write_certificate(job, reached)
        missing = f"it would have more than {most:,} states"
        return PolicyCertificate(
            job.task, job.policy, path=None, size=len(reached), missing=missing
        )

    def _reason(self, found: dict[str, Any], *, are_all: bool) -> str | None:
        """Return why nothing is proved; None if it is."""
        if found["stopped"]:
            return out_of(found["stopped"], self.job.options)
        return None if are_all else SAMPLED


def run_of(task: Task, packed: bytes, actions: list[int], *, number: int = 0) -> Run:
    """Return the failing run of packed states and numbers of actions."""
    return Run(
        run=number,
        states=PackedStates(packed, 8 * task.core.words, task.unpack),
        actions=tuple(task.actions[number] for number in actions),
        result="fail",
    )
