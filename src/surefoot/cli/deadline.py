"""When a command must be done: one deadline from its start, which goes to all that it does."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from types import FrameType
from typing import NoReturn

from surefoot.cli.progress import Progress
from surefoot.errors import OutOfBudget
from surefoot.options import Options

GRACE_SECONDS = 1.0  # that work has to say itself that its time is over
GRACE_SHARE = 0.05  # of all seconds, for the same
AGAIN_SECONDS = 0.5  # until it is interrupted again, if something swallowed that
FOREVER = 1e8


class Deadline:
    """So many seconds from now, for the whole of a command."""

    def __init__(self, max_seconds: float) -> None:
        self.seconds = max_seconds if 0 <= max_seconds < FOREVER else FOREVER
        self._end = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """How many seconds are left: none once it is over."""
        return max(self._end - time.monotonic(), 0.0)

    def within(self, options: Options, *, share: float = 1.0) -> Options:
        """Return the options of a stage with no more time than is left, or than a share of it."""
        return replace(options, max_seconds=min(options.max_seconds, share * self.left))

    @contextmanager
    def working(self, what: str) -> Iterator[Progress]:
        """Let a ``with`` block work: it shows signs of life, keeps standard output clean, and is
        interrupted with OutOfBudget if it does not see itself that the time is over.
        """
        with redirect_stdout(sys.stderr), self.enforced(what), Progress(what) as progress:
            yield progress

    @contextmanager
    def enforced(self, what: str) -> Iterator[None]:
        """Raise OutOfBudget in a ``with`` block that is at work some time after the deadline.

        That needs a signal, which only the main thread gets, and not on every system.
        """
        if not _has_alarm():
            yield
            return
        grace = max(GRACE_SECONDS, GRACE_SHARE * self.seconds)
        with _alarm(self._end + grace, lambda: self._interrupt(what)):
            yield

    def _interrupt(self, what: str) -> NoReturn:
        text = f"ran out of seconds ({self.seconds:g}) {what}"
        raise OutOfBudget("out-of-seconds", text, hint="give more with --max-seconds")


def _has_alarm() -> bool:
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


@contextmanager
def _alarm(at: float, interrupt: Callable[[], NoReturn]) -> Iterator[None]:
    """Interrupt a ``with`` block at this moment, and again if it goes on. An alarm that was set
    before comes back, with the time that is left to it.
    """

    def handle(_: int, __: FrameType | None) -> None:
        interrupt()

    begin = time.monotonic()
    left = max(at - begin, 1e-3)
    handler_before = signal.signal(signal.SIGALRM, handle)
    left_before, again_before = signal.setitimer(signal.ITIMER_REAL, left, AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler_before)
        if left_before:
            left = max(left_before - (time.monotonic() - begin), 1e-3)
            signal.setitimer(signal.ITIMER_REAL, left, again_before)
