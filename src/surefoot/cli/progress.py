"""Signs of life on standard error: a moving line on a terminal, plain lines elsewhere.

The moving line is never longer than the terminal is wide, and it is gone while anything else is
printed: so it overwrites nothing.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from surefoot.verify.method import Numbers

FIRST_SECONDS = 2.0
PLAIN_SECONDS = 60.0
FRAME_SECONDS = 0.2
WIDTH = 80  # of a terminal that does not tell
FRAMES, PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "|/-\\"
ERASE = "\r\x1b[2K"


class Signs:
    """What all signs of life of a command have in common: none if it is quiet, and when the next
    plain line is due.
    """

    def __init__(self, *, is_quiet: bool = False) -> None:
        self.is_quiet = is_quiet
        self._next_line = 0.0

    def is_due(self) -> bool:
        """Return whether a plain line is due now; then the next one is in a minute."""
        now = time.monotonic()
        if now < self._next_line:
            return False
        self._next_line = now + PLAIN_SECONDS
        return True


_signs = Signs()


@contextmanager
def signs_of_life(signs: Signs) -> Iterator[None]:
    """Let all progress within a ``with`` block show itself like this."""
    global _signs
    before, _signs = _signs, signs
    try:
        yield
    finally:
        _signs = before


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
        self._signs = _signs
        self._live: LiveLine | None = None
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

    def go_on(self, what: str) -> None:
        """Note that something else goes on now."""
        self._what = self._now = what

    def note(self, text: str) -> None:
        """Note how far the work is, in words."""
        self._now = f"{self._what}: {text}"

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let a ``with`` block print to the terminal: the moving line is gone meanwhile."""
        with self._lock:
            self._erase()
            yield

    def __enter__(self) -> Progress:
        _at_work.append(self)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _at_work.remove(self)
        self._done.set()
        self._thread.join()

    def _text(self) -> str:
        return f"{self._now}, {time.monotonic() - self._begin:.0f} s"

    def _watch(self) -> None:
        if self._signs.is_quiet or self._done.wait(FIRST_SECONDS):
            return
        try:
            self._show_live() if _moves(sys.stderr) else self._show_lines()
        except (OSError, ValueError):
            return  # nobody reads standard error any more

    def _show_lines(self) -> None:
        while True:
            if self._signs.is_due():
                print(self._text(), file=sys.stderr, flush=True)
            if self._done.wait(FIRST_SECONDS):
                return

    def _show_live(self) -> None:
        live = LiveLine(sys.stderr)
        while not self._done.wait(FRAME_SECONDS):
            with self._lock:
                self._live = live
                live.show(self._text())
        with self._lock:
            self._erase()

    def _erase(self) -> None:
        if self._live is not None:
            self._live.erase()


class LiveLine:
    """One line of a terminal that is written again and again, cut where the terminal ends."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._frames = FRAMES if "utf" in (stream.encoding or "").lower() else PLAIN_FRAMES
        self._shown = 0

    def show(self, text: str) -> None:
        """Write the line anew."""
        from rich.cells import cell_len, set_cell_size

        frame = self._frames[self._shown % len(self._frames)]
        self._shown += 1
        line, most = f"{frame} {text}", terminal_width(self._stream) - 1
        if cell_len(line) > most:
            line = set_cell_size(line, most - 3) + "..."
        self._write(ERASE + line)

    def erase(self) -> None:
        """Leave an empty line, with the cursor where it begins."""
        self._write(ERASE)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def terminal_width(stream: TextIO) -> int:
    """Return how many columns the terminal behind a stream has."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or WIDTH
    except (OSError, ValueError):
        return WIDTH


def _moves(stream: TextIO) -> bool:
    """Return whether a stream is a terminal on which a line can be written over."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


_at_work: list[Progress] = []


def tell(what: str) -> None:
    """Say that this goes on now, if something is shown: what reads a policy does not know by whom
    it is called.
    """
    if _at_work:
        _at_work[-1].go_on(what)
