"""A terminal: runs ``surefoot`` in one of a given width, and says what can be read on it then."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from collections.abc import Sequence
from pathlib import Path

TOKENS = re.compile(r"\x1b\[(?P<number>\??\d*(?:;\d+)*)(?P<code>[A-Za-z])|(?P<char>[^\x1b])")


def run_in_terminal(arguments: Sequence[str], *, folder: Path, columns: int) -> Screen:
    """Return the screen after ``surefoot ARGUMENTS`` has ended in a terminal of so many columns."""
    pid, handle = pty.fork()
    if pid == 0:
        os.chdir(folder)
        env = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        env |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"}
        os.execve(sys.executable, [sys.executable, "-m", "surefoot", *arguments], env)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    said = b"".join(iter(lambda: _piece(handle), b""))
    os.close(handle)
    os.waitpid(pid, 0)
    screen = Screen(columns)
    screen.write(said.decode())
    return screen


def _piece(handle: int) -> bytes:
    try:
        return os.read(handle, 65_536)
    except OSError:  # the program has ended
        return b""


class Screen:
    """What stands on a terminal: enough of it for text, lines that wrap, and lines written over."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.ever = ""
        """all that was written, without what moves the cursor"""
        self._rows = [""]
        self._wraps: set[int] = set()
        self._row = self._column = 0

    @property
    def lines(self) -> list[str]:
        """The lines that can be read, those that the terminal has wrapped in one."""
        whole: list[str] = []
        for number, row in enumerate(self._rows):
            if number in self._wraps and whole:
                whole[-1] += row
            else:
                whole.append(row)
        return [line.rstrip() for line in whole]

    @property
    def wrapped(self) -> int:
        """How many rows go on from the one before."""
        return len(self._wraps)

    def write(self, text: str) -> None:
        """Take what a program writes."""
        for token in TOKENS.finditer(text):
            if token["char"] is not None:
                self._put(token["char"])
            elif token["code"] == "A":
                self._row = max(self._row - int(token["number"] or 1), 0)
            elif token["code"] == "K":
                self._rows[self._row] = ""
                self._wraps.discard(self._row)

    def _put(self, char: str) -> None:
        self.ever += char
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._down()
        else:
            if self._column == self.columns:
                self._down()
                self._column = 0
                self._wraps.add(self._row)
            row = self._rows[self._row].ljust(self._column)
            self._rows[self._row] = row[: self._column] + char + row[self._column + 1 :]
            self._column += 1

    def _down(self) -> None:
        self._row += 1
        if self._row == len(self._rows):
            self._rows.append("")
