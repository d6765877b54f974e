"""Methods of verification side by side, each as a job in a process of its own: the first verdict
wins, and the others are stopped.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

from surefoot.errors import OutOfBudget, Refusal, Unsupported
from surefoot.findings import run_from
from surefoot.jobs.events import Progress
from surefoot.jobs.job import Job, Limits, Result
from surefoot.jobs.processes import Processes
from surefoot.jobs.runner import POLL_SECONDS, JobBroken, LimitReached, Running
from surefoot.policies.handing import can_be_handed_over, pair_of, plain_options
from surefoot.records import EngineReport, VerifyResult
from surefoot.tasks.compiled_task import has_description
from surefoot.verify.as_job import CERTIFICATE, PREDICATES
from surefoot.verify.certificate import PolicyCertificate, write_box_certificate
from surefoot.verify.question import OUT_OF_MEMORY, Question, out_of

GRACE_SECONDS = 1.0  # that a method has to say itself that its time is over
TURN_SECONDS = 2.0  # that progress of one method is shown before that of the next one
STOPPED = Refusal("other-method-faster", "stopped: another method was faster")


class Outcome(NamedTuple):
    """The first verdict if there is one, what each method did, and results without verdict."""

    verdict: VerifyResult | None
    reports: list[EngineReport]
    unknown: list[VerifyResult]


def can_be_written(question: Question) -> bool:
    """Return whether task and policy can be handed to another process."""
    is_compiled = has_description(question.task)
    return is_compiled and can_be_handed_over(question.policy) and bool(sys.executable)


def verify_side_by_side(question: Question, methods: Sequence[str]) -> Outcome:
    """Return the first verdict of these methods if there is one, what each of them did, and the
    results without verdict.

    Together they get the seconds and the memory of the question. Raises what a method raises about
    the task or the policy, but not Unsupported.
    """
    share = max(question.options.memory_mb // len(methods), 1)
    limits = Limits(max_seconds=question.options.max_seconds + GRACE_SECONDS, memory_mb=share)
    with Processes() as runner:
        key = runner.hand_over(pair_of(question.task, question.policy))
        racers = []
        for method in methods:
            job = job_of(question, method, pair=key, memory_mb=share)
            racers.append(_Racer(method, runner.submit(job, limits)))
        return _Race(question, racers, share).run()


def job_of(question: Question, method: str, *, pair: str, memory_mb: int) -> Job:
    """Return the job of one method."""
    options = replace(question.options, method=method, memory_mb=memory_mb)
    files = {}
    if options.predicates is not None:
        files[PREDICATES] = Path(options.predicates).read_bytes()
        options = replace(options, predicates=None)
    arguments: dict[str, object] = {
        "certificate": question.certificate is not False,
        "until": time.time() + options.max_seconds,
    }
    return Job("verify", pair, plain_options(options), arguments, files)


class _Racer:
    """A method at work. ``latest`` is how far it was when it told so last."""

    def __init__(self, method: str, running: Running) -> None:
        self.method = method
        self.running = running
        self.begin = time.monotonic()
        self.latest: Progress | None = None

    @property
    def seconds(self) -> float:
        """How long it is at work."""
        return time.monotonic() - self.begin

    def is_done(self) -> bool:
        """Return whether the method has ended; read what it told until now."""
        is_done = self.running.is_done()
        for event in self.running.events():
            if isinstance(event, Progress):
                self.latest = event
        return is_done


class _Race:
    def __init__(self, question: Question, racers: Sequence[_Racer], share: int) -> None:
        self.question = question
        self.share = share
        self.open = list(racers)
        self.reports: list[EngineReport] = []
        self.unknown: list[VerifyResult] = []
        self.begin = time.monotonic()

    def run(self) -> Outcome:
        """Return the first verdict, the reports, and results without verdict."""
        while self.open:
            for racer in [racer for racer in self.open if racer.is_done()]:
                verdict = self._ended(racer)
                if verdict is not None:
                    self._stop_others()
                    return Outcome(verdict, self.reports, self.unknown)
            self._show()
            time.sleep(POLL_SECONDS)
        return Outcome(None, self.reports, self.unknown)

    def _ended(self, racer: _Racer) -> VerifyResult | None:
        """Return the verdict of a method that has ended, if it has one."""
        try:
            answer = racer.running.result()
        except (Unsupported, OutOfBudget, JobBroken) as error:
            self._leave(racer, self._why(error))
            return None
        result = _result(self.question, answer)
        if result.verdict == "unknown":
            self.unknown.append(result)
            self._leave(racer, Refusal(result.code or "", result.reason or ""))
            return None
        self.open.remove(racer)
        self.reports.append(EngineReport(racer.method, result.verdict, racer.seconds))
        return result

    def _why(self, error: Unsupported | OutOfBudget | JobBroken) -> Refusal:
        """Return why a method has no verdict."""
        if isinstance(error, JobBroken):
            return Refusal("broken", f"it broke off ({error})")
        if isinstance(error, OutOfBudget) and error.code == OUT_OF_MEMORY:
            return Refusal(OUT_OF_MEMORY, f"ran out of memory ({self.share:,} MB)")
        if isinstance(error, LimitReached):
            return out_of("seconds", self.question.options)
        return Refusal(error.code, error.message)

    def _leave(self, racer: _Racer, why: Refusal) -> None:
        self.open.remove(racer)
        self.reports.append(
            EngineReport(racer.method, "unknown", racer.seconds, why.sentence, why.code)
        )

    def _stop_others(self) -> None:
        for racer in list(self.open):
            racer.running.cancel()
            self._leave(racer, STOPPED)

    def _show(self) -> None:
        """Hand the numbers of one method on, of another one after a while."""
        shown = [(racer, racer.latest) for racer in self.open if racer.latest is not None]
        if not shown or self.question.progress is None:
            return
        turn = int((time.monotonic() - self.begin) / TURN_SECONDS)
        racer, latest = shown[turn % len(shown)]
        if self.question.watch is not None:
            self.question.watch(racer.method)
        progress: Callable[..., object] = self.question.progress
        progress(*latest.numbers.values(), latest.seconds)


# -- results -----------------------------------------------------------------------------------


def _result(question: Question, answer: Result) -> VerifyResult:
    """Return the answer of a job as a result of the question: its run in states of the task, and
    its certificate where it should be.
    """
    content: Mapping[str, object] = answer.content
    assert has_description(question.task)
    if content["sha256"] != question.task.sha256:
        raise AssertionError("the task was not read as it was written")
    apart = ("run", "others", "certificate", "engines", "failing_starts", "bounds")
    names = [field.name for field in fields(VerifyResult) if field.name not in apart]
    others = content.get("others", ())
    assert isinstance(others, Sequence)
    runs = [run_from(each, question.task) for each in (content["run"], *others) if each]
    result = VerifyResult(
        **{name: content[name] for name in names},  # type: ignore[arg-type]
        run=runs[0] if runs else None,
        others=tuple(runs[1:]),
        failing_starts=_failing_starts(content["failing_starts"]),
        bounds=_pairs(content["bounds"]),
    )
    if result.verdict == "safe" and question.certificate is not False:
        result = replace(result, certificate=_certificate(question, answer))
    return result


def _pairs(rows: object) -> tuple[tuple[str, int], ...]:
    assert isinstance(rows, Sequence)
    return tuple((name, value) for name, value in rows)


def _failing_starts(rows: object) -> tuple[tuple[object, object], ...] | None:
    """Return bounds as they were before they travelled: infinity is a word there."""
    if rows is None:
        return None
    assert isinstance(rows, Sequence)
    return tuple((_number(low), _number(high)) for low, high in rows)


def _number(value: object) -> object:
    return float(value) if isinstance(value, str) else value


def _certificate(question: Question, answer: Result) -> PolicyCertificate | None:
    """Return the certificate that a job made, written again: it is about the same task and policy
    under other names. None if there is none of boxes.
    """
    if CERTIFICATE not in answer.files:
        return None
    first, *lines = answer.files[CERTIFICATE].splitlines()
    head = json.loads(first)
    rows = [json.loads(line) for line in lines]
    boxes = [
        [tuple(value) if isinstance(value, list) else (value, value) for value in row]
        for row in rows
    ]
    constraints = [(row["factors"], row["lower"], row["upper"]) for row in head["constraints"]]
    return write_box_certificate(question, boxes, constraints, blocked="blocked" in head)
