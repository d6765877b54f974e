"""Jobs in processes of their own, one for each.

Processes get no signals from the terminal. They are killed, with all that they started, when the
job is done, a limit is reached, or the runner is closed; if the caller is killed they end because
nobody holds their standard input any more. A process that dies is reported by its job.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import msgspec

from surefoot.errors import printable
from surefoot.jobs.events import Done, Event, Failed, event_of
from surefoot.jobs.job import Job, Limits, Order, Pair, Result
from surefoot.jobs.runner import POLL_SECONDS, JobBroken, JobCancelled, LimitReached

PROCESS_MB = 150  # of a process that has nothing to do yet
MAX_EVENTS = 100_000  # that wait for somebody to ask
MAX_LINE = 2**20  # bytes of an event that is not the last one
KEPT_BYTES = 4_000  # of what a process writes to standard error
JOIN_SECONDS = 2.0  # for pipes that something holds which left the group of its process
PROGRAM = "import sys; from surefoot.jobs.worker import main; sys.exit(main())"
WITH_PATHS = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); " + PROGRAM


class Processes:
    """Runs each job in a new process.

    ``is_isolated`` is for jobs that run code of strangers: the worker finds modules only where a
    new Python does, works in its scratch folder with one thread and without graphics cards, and the
    system itself limits its memory. ``folder`` is where scratch folders are made.
    """

    def __init__(self, *, is_isolated: bool = False, folder: Path | None = None) -> None:
        self._is_isolated = is_isolated
        self._folder = folder
        self._pairs: dict[str, Pair] = {}
        self._open: list[_Process] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hand_over(self, pair: Pair) -> str:
        """Take a pair for jobs to come; return its key."""
        key = pair.key
        self._pairs[key] = pair
        return key

    def submit(self, job: Job, limits: Limits = Limits()) -> _Process:
        """Begin a job."""
        pair = None if job.pair is None else self._pairs[job.pair]
        prefix = ".surefoot-" if self._folder is not None else "surefoot-"
        scratch = Path(tempfile.mkdtemp(prefix=prefix, dir=self._folder)).resolve()
        data_mb = limits.memory_mb if self._is_isolated else None
        order = Order(job, pair, str(scratch), data_mb)
        running = _Process(job, limits, scratch, is_isolated=self._is_isolated)
        self._open.append(running)
        running.begin(msgspec.json.encode(order) + b"\n")
        return running

    def close(self) -> None:
        """End all processes and remove their folders."""
        for running in self._open:
            running.close()
        self._open.clear()


class _Process:
    """A job at work in a process."""

    def __init__(self, job: Job, limits: Limits, scratch: Path, *, is_isolated: bool) -> None:
        self.job = job
        self.limits = limits
        self._scratch = scratch
        self._is_isolated = is_isolated
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._closing = threading.Lock()
        self._end: Done | Failed | None = None
        self._error: Exception | None = None
        self._said = b""
        self._rubbish: str | None = None
        self._is_closed = False
        self._begin = time.monotonic()
        self._process: subprocess.Popen[bytes] | None = None
        self._threads: list[threading.Thread] = []

    def begin(self, order: bytes) -> None:
        """Start the process and send it the order; threads read what it answers."""
        try:
            self._process = self._started()
        except BaseException:
            self.close()
            raise
        work = (self._read, self._read_errors, lambda: self._send(order))
        self._threads = [threading.Thread(target=each, daemon=True) for each in work]
        for thread in self._threads:
            thread.start()

    def _started(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-c", PROGRAM]
        if not self._is_isolated:
            command[-1:] = [WITH_PATHS, json.dumps(list(map(str, sys.path)))]
        command.append(str(self._scratch))
        more = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""} if self._is_isolated else {}
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._scratch if self._is_isolated else None,
            env={**os.environ, **more},
            start_new_session=True,
        )

    # -- threads -------------------------------------------------------------------------------

    def _send(self, order: bytes) -> None:
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):  # it is gone before it has read this
            self._process.stdin.write(order)
            self._process.stdin.flush()

    def _read(self) -> None:
        """Take one event after the other. What is none is the end: nobody can tell what follows."""
        assert self._process is not None and self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError):
            while line := self._process.stdout.readline(self.limits.max_answer_bytes + 1):
                try:
                    event = event_of(line)
                except ValueError:
                    self._rubbish = "it sent something that is not an event"
                    break
                is_end = isinstance(event, Done | Failed)
                if len(line) > (self.limits.max_answer_bytes if is_end else MAX_LINE):
                    self._rubbish = "it sent more than it may"
                    break
                with self._lock:
                    self._events.append(event)
                    count = len(self._events)
                if count > MAX_EVENTS:
                    self._rubbish = "it sent too many events"
                    break
                if isinstance(event, Done | Failed):
                    self._end = event
                    break

    def _read_errors(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._process.stderr.fileno(), 65_536):
                self._said = (self._said + piece)[-KEPT_BYTES:]

    # -- what the caller sees ------------------------------------------------------------------

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def seconds(self) -> float:
        """How long ago the job was submitted."""
        return time.monotonic() - self._begin

    def events(self) -> list[Event]:
        """Return the events since they were last asked for."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def is_done(self) -> bool:
        """Return whether the job has ended, or was ended just now because of a limit."""
        if self._is_closed:
            return True
        assert self._process is not None
        if self._end is None and self._rubbish is None and self._process.poll() is None:
            self._error = self._exceeded()
            if self._error is None:
                return False
        self.close()
        return True

    def _exceeded(self) -> LimitReached | None:
        """Return which limit the process has reached."""
        seconds, memory_mb = self.limits.max_seconds, self.limits.memory_mb
        if seconds is not None and self.seconds > seconds:
            return LimitReached("out-of-seconds", f"ran out of seconds ({seconds:g})")
        if memory_mb is not None and not self._is_isolated and self._is_above(memory_mb):
            return LimitReached("out-of-memory", f"ran out of memory ({memory_mb:,} MB)")
        return None

    def _is_above(self, memory_mb: int) -> bool:
        """Return whether it holds more memory than this; never where nobody can tell."""
        try:
            text = Path(f"/proc/{self.pid}/statm").read_text()
            pages = int(text.split()[1])
        except (OSError, IndexError):
            return False
        return pages * os.sysconf("SC_PAGE_SIZE") > (memory_mb + PROCESS_MB) * 1_000_000

    def result(self) -> Result:
        """Wait for the result."""
        while not self.is_done():
            time.sleep(POLL_SECONDS)
        if isinstance(self._end, Done):
            return Result(self._end.content, self._end.files)
        if self._error is not None:
            raise self._error
        if isinstance(self._end, Failed):
            raise self._end.error()
        raise JobBroken(self._rubbish or self._last_line())

    def _last_line(self) -> str:
        """Return the last line that a process wrote to standard error before it died."""
        lines = self._said.decode("utf-8", "replace").strip().splitlines()
        assert self._process is not None
        return printable(lines[-1], 300) if lines else f"exit code {self._process.returncode}"

    def cancel(self) -> None:
        """End the process, unless the job is done."""
        if not self._is_closed:
            self._error = JobCancelled("cancelled")
            self.close()

    def close(self) -> None:
        """End the process and whatever it started, and remove its folder.

        Whoever comes while another thread does this waits: all that was answered is read then.
        """
        with self._closing:
            if self._is_closed:
                return
            if self._process is not None:
                _kill(self._process)
                for thread in self._threads:
                    thread.join(timeout=JOIN_SECONDS)
                if not any(thread.is_alive() for thread in self._threads):
                    self._close_pipes()
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._is_closed = True

    def _close_pipes(self) -> None:
        assert self._process is not None
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process and its group, if they still run."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # it is gone, or the system has no groups
        process.kill()
    process.wait()
