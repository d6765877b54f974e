"""How much memory this process and its children hold, and what happens where that is too much."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

LOOK_SECONDS = 0.1
AGAIN_SECONDS = 1.0  # for what was interrupted to end, before it is interrupted again
GRACE_SHARE = 0.15  # of the memory, for what is not stored states
GRACE_MB = 128.0  # at least, on top of what there is at the beginning, for libraries
SMALL_SHARE = 0.1  # of the memory: what Python needs is not counted if it is less


def used_mb() -> float:
    """Return how many megabytes the process and its children hold; 0 where nobody can tell."""
    return sum(map(_resident, [os.getpid(), *_children(os.getpid())])) / 1e6


def _resident(pid: int) -> int:
    """Return the bytes that a process holds; none if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _children(pid: int) -> list[int]:
    """Return the processes that this one has started, and those that they have."""
    known: list[int] = []
    left = [pid]
    while left:
        for task in Path(f"/proc/{left.pop()}/task").glob("*/children"):
            try:
                new = list(map(int, task.read_text().split()))
            except (OSError, ValueError):
                continue
            known += new
            left += new
    return known


class Memory:
    """So many megabytes for the whole of a command, its children included."""

    def __init__(self, memory_mb: int) -> None:
        self.megabytes = memory_mb
        self.most = max((1 + GRACE_SHARE) * memory_mb, used_mb() + GRACE_MB)

    @property
    def is_exceeded(self) -> bool:
        """Whether the command holds more than it may."""
        return used_mb() > self.most

    def for_states(self, memory_mb: int) -> int:
        """Return how much a stage may store, beside what Python holds already, which is not counted
        while it is little: then the same seed stores as many states on any machine.
        """
        used = used_mb()
        if used <= SMALL_SHARE * self.megabytes:
            return memory_mb
        return min(memory_mb, max(int(self.megabytes - used), self.megabytes // 2))


class MemoryWatch:
    """Sends a signal to the main thread while a ``with`` block holds too much memory."""

    def __init__(self, memory: Memory) -> None:
        self.has_struck = False
        self._memory = memory
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> MemoryWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        main = threading.main_thread().ident
        while not self._done.wait(LOOK_SECONDS):
            if main is not None and self._memory.is_exceeded:
                self.has_struck = True
                signal.pthread_kill(main, signal.SIGALRM)
                self._done.wait(AGAIN_SECONDS)
