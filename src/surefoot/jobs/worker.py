"""The process of one job; ``processes`` starts it.

It reads an order from standard input, one line of JSON, and answers with events, a line each, on
what was its standard output: whatever libraries print goes to standard error. It ends when its
standard input does, because then nobody waits for it any more, and takes its folder and whatever it
started along.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import BinaryIO, NoReturn

import msgspec

from surefoot.errors import OutOfBudget, SurefootError
from surefoot.jobs.events import Done, Event, Progress, failed, line_of
from surefoot.jobs.job import Order
from surefoot.jobs.stages import Work, stage_of

PROGRESS_SECONDS = 0.5
_ENDING = threading.Lock()


def main() -> int:
    """Run the job of an order, tell what it tells, and return the exit code. The last argument of
    the program is the folder of the job.
    """
    orders, answers = _taken_pipes()
    line = orders.readline()
    if not line.endswith(b"\n"):  # whoever gives orders was killed before this one was complete
        _end(sys.argv[-1])
    order = msgspec.json.decode(line, type=Order)
    threading.Thread(target=_end_with, args=[orders, order.scratch], daemon=True).start()
    if order.data_mb is not None:
        _limit(order.data_mb)
    teller = _Teller(answers, order.scratch)
    work = Work(order.job, order.pair, teller.tell, Path(order.scratch))
    try:
        result = stage_of(order.job.stage)(work)
        teller.write(Done(result.content, result.files))
    except SurefootError as error:
        teller.write(failed(error))
    except MemoryError:
        teller.write(failed(OutOfBudget("out-of-memory", "ran out of memory")))
    return 0


def _taken_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output for ourselves alone. From now on others read nothing, and
    write to standard error.
    """
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    return orders, answers


def _end_with(orders: BinaryIO, scratch: str) -> None:
    """End the process when its orders end."""
    while orders.read(4096):
        pass
    _end(scratch)


def _end(scratch: str) -> NoReturn:
    """End the process and all that it started, without leaving its folder behind: whoever would
    remove that was killed.
    """
    with _ENDING:
        shutil.rmtree(scratch, ignore_errors=True)
        with contextlib.suppress(AttributeError, OSError):
            if os.getpgrp() == os.getpid():
                os.killpg(0, signal.SIGKILL)
        os._exit(1)


def _limit(data_mb: int) -> None:
    """Let the system refuse more memory than this, and write no core files."""
    try:
        import resource
    except ImportError:
        return
    limit = data_mb * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class _Teller:
    """Writes events, progress not more often than it is read."""

    def __init__(self, answers: BinaryIO, scratch: str) -> None:
        self._answers = answers
        self._scratch = scratch
        self._lock = threading.Lock()
        self._next = 0.0

    def tell(self, event: Event) -> None:
        """Write an event, unless it is progress and there was some just now."""
        now = time.monotonic()
        if isinstance(event, Progress):
            if now < self._next:
                return
            self._next = now + PROGRESS_SECONDS
        self.write(event)

    def write(self, event: Event) -> None:
        """Write an event; if nobody reads it, this is the end."""
        line = line_of(event)
        with self._lock:
            try:
                self._answers.write(line)
                self._answers.flush()
            except OSError:
                _end(self._scratch)


if __name__ == "__main__":
    sys.exit(main())
