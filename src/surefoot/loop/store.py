"""What the loop needs of whoever keeps its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

from surefoot.policies import Policy

Line = Mapping[str, Any]


class Store(Protocol):
    """Keeps the results of stages, line by line, and the files that these name.

    The loop asks for the lines that are there from before, one after the other, and adds new ones
    when there are no more. What a line does not say was not done.
    """

    @property
    def seconds(self) -> float:
        """How many seconds were used, those of earlier processes included."""

    def next(self) -> Line | None:
        """Return the next line that is there from before; None if the loop has come to new work.

        The same line is returned until it is taken.
        """

    def take(self) -> Line:
        """Return the next line from before, and go on to the one behind it."""

    def record(self, kind: str, content: Mapping[str, Any], files: Iterable[str] = ()) -> Line:
        """Add a line, and return it. The files are on disk before the line is."""

    def path(self, relative: str) -> Path:
        """Return where a file of this name, below the store, is or will be."""

    def policy(self, relative: str) -> Policy:
        """Return the policy of a file of the store."""
