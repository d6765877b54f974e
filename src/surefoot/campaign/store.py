"""The directory of a campaign as the loop's store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from surefoot.campaign import journal
from surefoot.campaign.folder import (
    check_files,
    check_folders,
    check_name,
    remove_others,
    sha256_of,
    to_disk,
)
from surefoot.campaign.given import Given
from surefoot.errors import InputError
from surefoot.loop import Line
from surefoot.policies import Policy
from surefoot.tasks.task import Task


class DirectoryStore:
    """Keeps lines in the journal and files below the directory; see :class:`surefoot.loop.Store`.

    Whoever makes one has the lock. Opened on a campaign that was interrupted, it checks that
    everything there is as it was written, and removes what no line names.
    """

    def __init__(self, given: Given, task: Task) -> None:
        self.given = given
        self.task = task
        self.lines, read = read_lines(given)
        self._left = list(reversed(self.lines))
        self._journal = journal.Journal(given.directory / journal.NAME, read)
        self._before = used_seconds(self.lines)
        self._begin = time.monotonic()
        self._policies: dict[str, Policy] = {}
        self._check_directory()

    def _check_directory(self) -> None:
        directory = self.given.directory
        check_folders(directory)
        known = set(self.given.content["policy"]["files"])
        for line in self.lines:
            check_files(directory, line["files"])
            known |= set(line["files"])
        remove_others(directory, known)

    @property
    def seconds(self) -> float:
        """How many seconds were used, those of earlier processes included."""
        return self._before + time.monotonic() - self._begin

    def next(self) -> Line | None:
        """Return the next line that is there from before; None if there is none left."""
        return self._left[-1] if self._left else None

    def take(self) -> Line:
        """Return the next line from before, and go on to the one behind it."""
        line: Line = self._left.pop()
        return line

    def record(self, kind: str, content: Mapping[str, Any], files: Iterable[str] = ()) -> Line:
        """Add a line to the journal; its files are on the disk before, and their hashes in it."""
        hashes = {}
        for name in files:
            path = self.path(name)
            to_disk(path)
            hashes[name] = sha256_of(path)
        said = {**content, "total_seconds": self.seconds}
        line: dict[str, Any] = self._journal.append(kind, said, hashes)
        self.lines.append(line)
        return line

    def path(self, relative: str) -> Path:
        """Return where a file of the campaign is or will be. Raises InputError for others."""
        return self.given.directory / check_name(relative)

    def policy(self, relative: str) -> Policy:
        """Return a policy of the campaign, as its file says it."""
        if relative not in self._policies:
            self._policies[relative] = self.given.load_policy(relative, self.task)
        return self._policies[relative]


def read_lines(given: Given) -> tuple[list[dict[str, Any]], journal.Read]:
    """Return the lines of a campaign's journal; none if nothing was done yet."""
    path = given.directory / journal.NAME
    try:
        read = journal.read_journal(path, given.check)
    except InputError as error:
        if error.code != "file-not-found":
            raise
        read = journal.Read((), 0, given.check)
    return list(read.lines), read


def used_seconds(lines: list[dict[str, Any]]) -> float:
    """Return how many seconds the stages took that these lines tell of."""
    last = lines[-1].get("total_seconds", 0.0) if lines else 0.0
    is_number = isinstance(last, int | float) and not isinstance(last, bool) and last >= 0
    return float(last) if is_number else 0.0
