"""Methods of verification side by side, each in a process of its own: the first verdict wins.

The task is written as a JANI file and the policy as a file of our own, both of which are read as
what they were; ``child`` is what runs there. Processes get no signals from the terminal, and are
killed when a verdict is there, time or memory are used up, or the caller is interrupted; if the
caller is killed they end because nobody holds their standard input any more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from surefoot.errors import OutOfBudget, SurefootError, Unsupported, printable
from surefoot.findings import run_from
from surefoot.policies.writing import SUFFIXES_OF, write_policy
from surefoot.results import EngineReport, VerifyResult
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.certificate import PolicyCertificate, write_box_certificate
from surefoot.verify.child import CERTIFICATE, ERRORS, JOB, TASK
from surefoot.verify.job import Job, out_of

POLL_SECONDS = 0.05
GRACE_SECONDS = 1.0  # that a method has to say itself that its time is over
TURN_SECONDS = 2.0  # that progress of one method is shown before that of the next one
PROCESS_MB = 150  # of a process that has nothing to do yet
STOPPED = "stopped: another method was faster"
PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from surefoot.verify.child import main; sys.exit(main(sys.argv[2]))"
)


def can_be_written(job: Job) -> bool:
    """Return whether task and policy can be handed to another process."""
    kind = getattr(job.policy.model, "kind", None)
    return isinstance(job.task, CompiledTask) and kind in SUFFIXES_OF and bool(sys.executable)


def verify_side_by_side(
    job: Job, methods: Sequence[str]
) -> tuple[VerifyResult | None, list[EngineReport], list[VerifyResult]]:
    """Return the first verdict of these methods if there is one, what each of them did, and the
    results without verdict.

    Together they get the seconds and the memory of the job. Raises what a method raises about the
    task or the policy, but not Unsupported.
    """
    share = max(job.options.memory_mb // len(methods), 1)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="surefoot-")))
        children = []
        for method in methods:
            place = _written(job, folder / method, method, share)
            children.append(stack.enter_context(_running(method, place, share)))
        return _Race(job, children).run()


# -- handing over ------------------------------------------------------------------------------


def _written(job: Job, place: Path, method: str, memory_mb: int) -> Path:
    """Write what the process of a method needs; return its folder."""
    assert isinstance(job.task, CompiledTask) and job.policy.model is not None
    assert job.policy.interface is not None
    place.mkdir()
    job.task.write_jani(place / TASK)
    policy = f"policy{SUFFIXES_OF[job.policy.model.kind][0]}"
    write_policy(job.policy, place / policy)
    how = replace(job.options, method=method, memory_mb=memory_mb)
    if how.predicates is not None:
        how = replace(how, predicates=str(Path(how.predicates).absolute()))
    content = {
        "policy": policy,
        "interface": job.policy.interface.to_dict(),
        "unfiltered": job.policy.unfiltered,
        "options": asdict(how),
        "certificate": job.certificate is not False,
        "until": time.time() + how.max_seconds,
    }
    (place / JOB).write_text(json.dumps(content))
    return place


class _Child:
    """A process at work on one method. ``last`` is its last line, None if it has not said any."""

    def __init__(self, method: str, place: Path, memory_mb: int, process: Any) -> None:
        self.method = method
        self.place = place
        self.memory_mb = memory_mb
        self.process = process
        self.begin = time.monotonic()
        self.numbers: tuple[Any, ...] | None = None
        self.said: dict[str, Any] | None = None
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            try:
                content = json.loads(line)
            except ValueError:
                continue  # somebody's library prints
            if isinstance(content, dict) and "progress" in content:
                self.numbers = tuple(content["progress"])
            elif isinstance(content, dict):
                self.said = content

    @property
    def seconds(self) -> float:
        """How long it is at work."""
        return time.monotonic() - self.begin

    def is_done(self) -> bool:
        """Return whether the process has ended, and everything that it said was read."""
        if self.process.poll() is None:
            return False
        self.reader.join()
        return True

    def is_too_large(self) -> bool:
        """Return whether it holds more memory than its share; never where nobody can tell."""
        most = (self.memory_mb + PROCESS_MB) * 1_000_000
        try:
            text = Path(f"/proc/{self.process.pid}/statm").read_text()
        except OSError:
            return False
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE") > most

    def kill(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()

    def why_broken(self) -> str:
        """Return why a process ended without result: the last line of its standard error."""
        text = (self.place / "stderr").read_text(errors="replace").strip()
        last = text.splitlines()[-1] if text else f"exit code {self.process.returncode}"
        return f"it broke off ({printable(last)})"


@contextmanager
def _running(method: str, place: Path, memory_mb: int) -> Iterator[_Child]:
    """Run a method in a process that is gone when the ``with`` block is left."""
    with (place / "stderr").open("wb") as errors:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM, json.dumps(list(map(str, sys.path))), str(place)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
            text=True,
        )
    child = _Child(method, place, memory_mb, process)
    try:
        yield child
    finally:
        child.kill()
        child.reader.join()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


# -- the race ----------------------------------------------------------------------------------


class _Race:
    def __init__(self, job: Job, children: Sequence[_Child]) -> None:
        self.job = job
        self.open = list(children)
        self.reports: list[EngineReport] = []
        self.unknown: list[VerifyResult] = []
        self.begin = time.monotonic()
        self.until = self.begin + job.options.max_seconds + GRACE_SECONDS

    def run(self) -> tuple[VerifyResult | None, list[EngineReport], list[VerifyResult]]:
        """Return the first verdict, the reports, and results without verdict."""
        while self.open:
            for child in list(self.open):
                result = self._look_at(child)
                if result is not None:
                    self._stop_others()
                    return result, self.reports, self.unknown
            self._show()
            time.sleep(POLL_SECONDS)
        return None, self.reports, self.unknown

    def _look_at(self, child: _Child) -> VerifyResult | None:
        """Return the verdict of a process, if it has one. One that is at its end is left out."""
        if child.is_done():
            return self._ended(child)
        why = None
        if child.is_too_large():
            why = f"ran out of memory ({child.memory_mb:,} MB)"
        elif time.monotonic() > self.until:
            why = out_of("seconds", self.job.options)
        if why is not None:
            child.kill()
            self._leave(child, why)
        return None

    def _ended(self, child: _Child) -> VerifyResult | None:
        said = child.said
        if said is None:
            self._leave(child, child.why_broken())
            return None
        if "error" in said:
            self._leave(child, _why(said["error"], child))
            return None
        result = _result(self.job, child, said["result"])
        if result.verdict == "unknown":
            self.unknown.append(result)
            self._leave(child, result.reason or "")
            return None
        self.open.remove(child)
        self.reports.append(EngineReport(child.method, result.verdict, child.seconds))
        return result

    def _leave(self, child: _Child, reason: str) -> None:
        self.open.remove(child)
        self.reports.append(EngineReport(child.method, "unknown", child.seconds, reason))

    def _stop_others(self) -> None:
        for child in list(self.open):
            child.kill()
            self._leave(child, STOPPED)

    def _show(self) -> None:
        """Hand the numbers of one process on, of another one after a while."""
        shown = [child for child in self.open if child.numbers is not None]
        if not shown or self.job.progress is None:
            return
        turn = int((time.monotonic() - self.begin) / TURN_SECONDS)
        child = shown[turn % len(shown)]
        if self.job.watch is not None:
            self.job.watch(child.method)
        self.job.progress(*child.numbers)  # type: ignore[misc]


def _why(error: Mapping[str, Any], child: _Child) -> str:
    """Return why a method has no verdict. Raises what is wrong with the task or the policy."""
    if error["kind"] == "memory":
        return f"ran out of memory ({child.memory_mb:,} MB)"
    names = ("file", "place", "hint")
    made: SurefootError = ERRORS[error["kind"]](
        error["code"], error["message"], **{name: error[name] for name in names}
    )
    if not isinstance(made, Unsupported | OutOfBudget):
        raise made
    return made.message


def _result(job: Job, child: _Child, content: Mapping[str, Any]) -> VerifyResult:
    """Return the result of a process as one of the job: its run in states of the task, and its
    certificate where it should be.
    """
    assert isinstance(job.task, CompiledTask)
    if content["sha256"] != job.task.sha256:
        raise AssertionError("the task was not read as it was written")
    apart = ("run", "others", "certificate", "engines", "failing_starts", "bounds")
    names = [field.name for field in fields(VerifyResult) if field.name not in apart]
    runs = [run_from(one, job.task) for one in (content["run"], *content.get("others", ())) if one]
    bounds = content["failing_starts"]
    found = VerifyResult(
        **{name: content[name] for name in names},
        run=runs[0] if runs else None,
        others=tuple(runs[1:]),
        failing_starts=None if bounds is None else tuple((lo, hi) for lo, hi in bounds),
        bounds=tuple((name, value) for name, value in content["bounds"]),
    )
    if found.verdict == "safe" and job.certificate is not False:
        found = replace(found, certificate=_certificate(job, child, content))
    return found


def _certificate(job: Job, child: _Child, content: Mapping[str, Any]) -> PolicyCertificate | None:
    """Return the certificate that a process wrote, written again: it is about the same task and
    policy under other names. None if there is none of boxes.
    """
    file = child.place / CERTIFICATE
    if not file.is_file():
        return None
    with file.open(encoding="utf-8") as lines:
        head = json.loads(next(lines))
        if "boxes" not in head and "blocked" not in head:
            return None
        rows = [json.loads(line) for line in lines]
    boxes = [[tuple(one) if isinstance(one, list) else (one, one) for one in row] for row in rows]
    constraints = [(one["factors"], one["lower"], one["upper"]) for one in head["constraints"]]
    return write_box_certificate(job, boxes, constraints, blocked="blocked" in head)
