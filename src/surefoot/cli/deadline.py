"""When a command must be done, and how much memory it may hold: one limit for all that it does."""

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

from surefoot.cli.memory import Memory, MemoryWatch
from surefoot.cli.progress import Progress
from surefoot.errors import OutOfBudget
from surefoot.options import Options

GRACE_SECONDS = 1.0  # that work has to say itself that its time is over
GRACE_SHARE = 0.05  # of all seconds, for the same
AGAIN_SECONDS = 0.5  # until it is interrupted again, if something swallowed that
FOREVER = 1e8


_begin: float | None = None


@contextmanager
def command_begun(at: float) -> Iterator[None]:
    """Let deadlines within a ``with`` block count from here: reading the arguments takes time."""
    global _begin
    before, _begin = _begin, at
    try:
        yield
    finally:
        _begin = before


class Deadline:
    """So many seconds for the whole of a command, from where it has begun; and so much memory."""

    def __init__(self, max_seconds: float, memory_mb: int | None = None) -> None:
        self.seconds = max_seconds if 0 <= max_seconds < FOREVER else FOREVER
        begin = time.monotonic() if _begin is None else _begin
        self._end = begin + self.seconds
        self._memory = None if memory_mb is None else Memory(memory_mb)

    @property
    def left(self) -> float:
        """How many seconds are left: none once it is over."""
        return max(self._end - time.monotonic(), 0.0)

    def within(self, options: Options, *, share: float = 1.0) -> Options:
        """Return the options of a stage with no more time than is left, or than a share of it, and
        with no more memory than is left.
        """
        seconds = min(options.max_seconds, share * self.left)
        if self._memory is None:
            return replace(options, max_seconds=seconds)
        memory_mb = self._memory.for_states(options.memory_mb)
        return replace(options, max_seconds=seconds, memory_mb=memory_mb)

    @contextmanager
    def working(self, what: str) -> Iterator[Progress]:
        """Let a ``with`` block work: it shows signs of life, keeps standard output clean, and is
        interrupted with OutOfBudget if it does not see itself that the time is over.
        """
        with redirect_stdout(sys.stderr), self.enforced(what), Progress(what) as progress:
            yield progress

    @contextmanager
    def enforced(self, what: str) -> Iterator[None]:
        """Raise OutOfBudget in a ``with`` block that is at work some time after the deadline, or
        holds too much memory.

        That needs a signal, which only the main thread gets, and not on every system.
        """
        if not _has_alarm():
            yield
            return
        grace = max(GRACE_SECONDS, GRACE_SHARE * self.seconds)
        at = max(self._end, time.monotonic() - grace / 2) + grace
        if self._memory is None:
            with _alarm(at, lambda: self._interrupt(what)):
                yield
            return
        watch = MemoryWatch(self._memory)
        with _alarm(at, lambda: self._interrupt(what, watch)), watch:
            yield

    def _interrupt(self, what: str, watch: MemoryWatch | None = None) -> NoReturn:
        if watch is not None and watch.has_struck and self._memory is not None:
            text = f"ran out of memory ({self._memory.megabytes:,} MB) {what}"
            raise OutOfBudget("out-of-memory", text, hint="give more with --memory-mb")
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
