"""Signs of life on standard error: a moving line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.status import Status

    from surefoot.verify.method import Numbers

FIRST_SECONDS = 2.0
PLAIN_SECONDS = 5.0


class Progress:
    """Shows what goes on while a ``with`` block runs, once it has run for two seconds.

    A thread of its own does the showing: what is watched leaves numbers behind, or nothing at all.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._now = what
        self._begin = time.monotonic()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._status: Status | None = None
        self._method = ""
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def explored(
        self, states: int, expanded: int, depth: int, bytes_used: int, seconds: float
    ) -> None:
        """Note how far an exploration is: the callback that ``explore`` takes."""
        if not expanded:
            self._now = f"listing start states: {states:,}"
            return
        size = f"depth {depth:,}, {bytes_used / 1e6:,.0f} MB"
        self._now = f"{self._what}: {states:,} states, {expanded:,} expanded, {size}"

    def method(self, name: str) -> None:
        """Note which method of verification works now."""
        if name != self._method:
            self._method = name
            self.note(name)

    def verified(self, *numbers: *Numbers) -> None:
        """Note how far a method of verification is: the callback that ``verify`` takes."""
        from surefoot.verify import progress_text

        self.note(progress_text(self._method, numbers))

    def note(self, text: str) -> None:
        """Note how far the work is, in words."""
        self._now = f"{self._what}: {text}"

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let a ``with`` block print to the terminal: the moving line is gone meanwhile."""
        with self._lock:
            if self._status is not None:
                self._status.stop()
            try:
                yield
            finally:
                if self._status is not None:
                    self._status.start()

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._done.set()
        self._thread.join()

    def _text(self) -> str:
        return f"{self._now}, {time.monotonic() - self._begin:.0f} s"

    def _watch(self) -> None:
        if self._done.wait(FIRST_SECONDS):
            return
        try:
            self._show_live() if sys.stderr.isatty() else self._show_lines()
        except (OSError, ValueError):
            return  # nobody reads standard error any more

    def _show_lines(self) -> None:
        while True:
            print(self._text(), file=sys.stderr, flush=True)
            if self._done.wait(PLAIN_SECONDS):
                return

    def _show_live(self) -> None:
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        with console.status(Text(self._text())) as status:
            self._status = status
            while not self._done.wait(0.2):
                with self._lock:
                    status.update(Text(self._text(), no_wrap=True, overflow="ellipsis"))
            self._status = None
