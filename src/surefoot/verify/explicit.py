"""Explicit verification: look at everything that the policy can reach (core/verify/explicit.h)."""

from __future__ import annotations

import time

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Refusal
from surefoot.fuzz import num_workers
from surefoot.policies.decisions import ask_core
from surefoot.records import Run, RunEnd, VerifyResult
from surefoot.tasks.state import PackedStates
from surefoot.tasks.task import Task
from surefoot.verify.certificate import PolicyCertificate, write_certificate
from surefoot.verify.method import Method
from surefoot.verify.question import Question, out_of

NAME = "explicit"
SAMPLED = Refusal("starts-sampled", "start states were sampled")


def verify_explicit(question: Question) -> VerifyResult:
    """Return what a breadth-first search through all that the policy reaches finds.

    What it does: starts from all start states, or where these are infinitely many or do not fit
    from a uniform sample of them, and follows the policy until a state fails or nothing is new.
    Guarantee: ``safe`` comes from all start states only; a failing run is a shortest one from the
    start states examined. The result does not depend on the number of workers. Cost: each state
    once, its packed values and at most 18 bytes in memory. When to use it: whenever the states fit
    into memory. Paper: none needed.
    """
    return _Explicit(question).run()


class _Explicit:
    def __init__(self, question: Question) -> None:
        self.question = question
        self.task = question.task
        self.begin = time.perf_counter()

    def run(self) -> VerifyResult:
        """Return the result."""
        if not self._can_list_starts():
            return self._sampled()
        answer = self._ask(self.task.start_source())
        if answer.starts == 0 and not answer.stopped:
            raise InputError(
                "no-start-state", "there is no state to start from", file=self.task.file
            )
        if not answer.starts_complete and answer.stopped in ("states", "memory"):
            del answer  # what was reached takes up the memory
            return self._sampled()
        return self._result(answer, are_all=answer.starts_complete)

    def _can_list_starts(self) -> bool:
        task = self.task
        if not task.has_start_condition:
            return True
        return bool(task.core.has_finite_starts())

    def _seconds_left(self) -> float:
        return max(self.question.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def _ask(self, states: bytes | None) -> _core.ExplicitResult:
        """Return what the core finds from these states, or from those of the start condition."""
        options = self.question.options
        answer: _core.ExplicitResult = ask_core(
            self.task,
            _core.verify_explicit,
            self.task.core,
            self.question.policy.core,
            states,
            workers=num_workers(self.question.policy, options.workers),
            max_runs=options.runs,
            max_seconds=self._seconds_left(),
            max_bytes=options.max_bytes,
            max_states=options.max_states,
            progress=self.question.progress,
        )
        return answer

    def _sampled(self) -> VerifyResult:
        """Return the result of a sample of the start states, which all together are too many."""
        options = self.question.options
        try:
            drawn = self.task.draw_starts(
                min(options.starts, options.max_states),
                seed=options.seed,
                max_seconds=self._seconds_left(),
            )
        except OutOfBudget as error:
            return self._nothing(Refusal(error.code, error.message))
        answer = self._ask(drawn)
        return self._result(answer, are_all=False)

    def _nothing(self, why: Refusal) -> VerifyResult:
        seconds = time.perf_counter() - self.begin
        return VerifyResult(
            *("unknown", NAME, 0, False, 0, 0, seconds), reason=why.sentence, code=why.code
        )

    def _result(self, answer: _core.ExplicitResult, *, are_all: bool) -> VerifyResult:
        runs = [
            run_of(self.task, failing.states, failing.actions, number=number)
            for number, failing in enumerate(answer.runs)
        ]
        run = runs[0] if runs else None
        why = None if run is not None else self._why_unknown(answer, are_all=are_all)
        verdict = "unsafe" if run is not None else "safe" if why is None else "unknown"
        certificate = None
        if verdict == "safe" and self.question.certificate is not False:
            certificate = self._certificate(answer.reached)
        return VerifyResult(
            verdict=verdict,  # type: ignore[arg-type]
            method=NAME,
            starts=answer.starts,
            all_starts=are_all,
            states=answer.states,
            depth=answer.depth,
            seconds=time.perf_counter() - self.begin,
            reason=None if why is None else why.sentence,
            code=None if why is None else why.code,
            run=run,
            others=tuple(runs[1:]),
            certificate=certificate,
        )

    def _certificate(self, reached: _core.ReachedStates) -> PolicyCertificate:
        question, most = self.question, self.question.max_certificate_states
        if most is None or len(reached) <= most:
            return write_certificate(question, reached)
        missing = f"it would have more than {most:,} states"
        return PolicyCertificate(
            question.task, question.policy, path=None, size=len(reached), missing=missing
        )

    def _why_unknown(self, answer: _core.ExplicitResult, *, are_all: bool) -> Refusal | None:
        """Return why nothing is proved; None if it is."""
        if answer.stopped:
            return out_of(answer.stopped, self.question.options)
        return None if are_all else SAMPLED


def run_of(task: Task, packed: bytes, actions: list[int], *, number: int = 0) -> Run:
    """Return the failing run of packed states and numbers of actions."""
    return Run(
        run=number,
        states=PackedStates(packed, 8 * task.core.words, task.unpack),
        actions=tuple(task.actions[number] for number in actions),
        result=RunEnd.FAIL,
    )


METHOD = Method(NAME, verify_explicit)
