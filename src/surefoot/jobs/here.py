"""Jobs in this process, each in a thread of its own or in that of the caller."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from surefoot.errors import OutOfBudget, SurefootError
from surefoot.jobs.events import Done, Event, event_of, failed, line_of
from surefoot.jobs.job import Job, Limits, Pair, Result
from surefoot.jobs.runner import JobBroken, JobCancelled
from surefoot.jobs.stages import Work, stage_of


class Here:
    """Runs jobs in this process. Seconds and memory are limited by the options of the stage alone;
    a job that is cancelled ends when it tells its next event.
    """

    def __init__(self, *, in_threads: bool = True) -> None:
        self._in_threads = in_threads
        self._pairs: dict[str, Pair] = {}
        self._open: list[_Thread] = []

    def __enter__(self) -> Here:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def hand_over(self, pair: Pair) -> str:
        """Take a pair for jobs to come; return its key."""
        key = pair.key
        self._pairs[key] = pair
        return key

    def submit(self, job: Job, limits: Limits = Limits()) -> _Thread:
        """Begin a job; without threads, run it to its end."""
        running = _Thread(job, None if job.pair is None else self._pairs[job.pair])
        if self._in_threads:
            self._open.append(running)
            running.start()
        else:
            running.run()
        return running

    def close(self) -> None:
        """Cancel all jobs and wait until they have ended."""
        for running in self._open:
            running.cancel()
        for running in self._open:
            running.join()
        self._open.clear()


class _Thread:
    """A job at work in this process."""

    def __init__(self, job: Job, pair: Pair | None) -> None:
        self.job = job
        self._pair = pair
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._done = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self.run, daemon=True)

    def start(self) -> None:
        """Run the job in a thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread."""
        self._thread.join()

    def run(self) -> None:
        """Run the job in this thread."""
        try:
            self._result = self._run()
        except SurefootError as error:
            self._error = error
            self._add(failed(error))
        except MemoryError:
            self._error = OutOfBudget("out-of-memory", "ran out of memory")
            self._add(failed(self._error))
        except JobCancelled as error:
            self._error = error
        except (Exception, SystemExit) as error:
            self._error = JobBroken(f"{type(error).__name__}: {error}")
            self._error.__cause__ = error
        finally:
            self._done.set()

    def _run(self) -> Result:
        with tempfile.TemporaryDirectory(prefix="surefoot-") as scratch:
            work = Work(self.job, self._pair, self._emit, Path(scratch))
            result = stage_of(self.job.stage)(work)
        done = event_of(line_of(Done(result.content, result.files)))  # as it would travel
        assert isinstance(done, Done)
        self._add(done)
        return Result(done.content, done.files)

    def _emit(self, event: Event) -> None:
        if self._is_cancelled:
            raise JobCancelled("cancelled")
        self._add(event)

    def _add(self, event: Event) -> None:
        with self._lock:
            self._events.append(event)

    def events(self) -> list[Event]:
        """Return the events since they were last asked for."""
        with self._lock:
            events, self._events = self._events, []
        return events

    def is_done(self) -> bool:
        """Return whether the job has ended."""
        return self._done.is_set()

    def result(self) -> Result:
        """Wait for the result."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result

    def cancel(self) -> None:
        """Let the next event end the job."""
        self._is_cancelled = True
