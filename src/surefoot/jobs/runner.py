"""What every runner of jobs can do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from surefoot.errors import OutOfBudget
from surefoot.jobs.events import Event
from surefoot.jobs.job import Job, Limits, Pair, Result

POLL_SECONDS = 0.05


class JobBroken(Exception):
    """A job ended without result and without an error of Surefoot's: its process was killed, or
    there is a bug. ``args[0]`` says what is known.
    """


class LimitReached(OutOfBudget):
    """A runner ended a job at one of its limits; the code says which: ``out-of-seconds`` or
    ``out-of-memory``.
    """


class JobCancelled(Exception):
    """The job was cancelled before it was done."""


class Running(Protocol):
    """A job that was submitted."""

    @property
    def job(self) -> Job:
        """What was submitted."""

    def events(self) -> Sequence[Event]:
        """Return the events since they were last asked for, in their order."""

    def is_done(self) -> bool:
        """Return whether :meth:`result` returns or raises at once."""

    def result(self) -> Result:
        """Wait for the result. Raises the job's own InputError, Unsupported, OutOfBudget or
        CertificateRejected; LimitReached where a limit of the runner ended it; JobBroken;
        JobCancelled.
        """

    def cancel(self) -> None:
        """End the job. One that is done stays so."""


class Runner(Protocol):
    """Where jobs run."""

    def hand_over(self, pair: Pair) -> str:
        """Take a pair of task and policy for jobs to come; return the key that they name it by."""

    def submit(self, job: Job, limits: Limits = ...) -> Running:
        """Begin a job."""

    def close(self) -> None:
        """End all jobs, and give back everything that was taken for them."""


def wait(running: Running, listener: Callable[[Event], object] | None = None) -> Result:
    """Return the result of a job, and tell the listener its events as they come.

    Whatever ends the waiting (Ctrl-C, an error of the listener) cancels the job.
    """
    try:
        while True:
            is_done = running.is_done()
            for event in running.events():
                if listener is not None:
                    listener(event)
            if is_done:
                return running.result()
            time.sleep(POLL_SECONDS)
    except BaseException:
        running.cancel()
        raise
