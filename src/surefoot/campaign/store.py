"""The directory of a campaign as the loop's store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from surefoot.campaign import journal
from surefoot.campaign.faults import line_of, read_known
from surefoot.campaign.folder import (
    check_files,
    check_folders,
    check_name,
    hash_of,
    remove_others,
)
from surefoot.campaign.given import Given
from surefoot.errors import InputError
from surefoot.files import to_disk, write_pieces
from surefoot.findings import Finding
from surefoot.loop import (
    CERTIFICATE,
    Made,
    finding_name,
    lines_in_force,
    max_seconds_of,
    named,
)
from surefoot.policies import Policy
from surefoot.policies.like import write_like
from surefoot.records import Fault
from surefoot.records.faults import POSSIBLE_LOSS
from surefoot.records.lines import ExtendLine, FaultsLine, Line, RepairLine, VerifyLine
from surefoot.tasks.task import Task


class DirectoryStore:
    """Keeps lines in the journal and files below the directory; see :class:`surefoot.loop.Store`.

    Whoever makes one has the lock. Opened on a campaign that was interrupted, it checks that
    everything there is as it was written, and removes what no line names. ``original`` is the
    policy as its copy has it, for those who know it.
    """

    def __init__(self, given: Given, task: Task, original: Policy | None = None) -> None:
        self.given = given
        self.task = task
        lines, read = read_lines(given)
        self.lines = lines_in_force(lines)
        self.max_seconds = max_seconds_of(lines, given.options.max_seconds)
        self._left = list(reversed(self.lines))
        self._journal = journal.Journal(given.directory / journal.NAME, read)
        self._before = used_seconds(lines)
        self._begin = time.monotonic()
        self._policies = {} if original is None else {given.policy_file: original}
        self._check_directory()

    def _check_directory(self) -> None:
        directory = self.given.directory
        check_folders(directory)
        known = set(self.given.content.policy.files)
        for line in self.lines:
            check_files(directory, line.files)
            known |= set(line.files)
        remove_others(directory, known)

    @property
    def seconds(self) -> float:
        """How many seconds were used, those of earlier processes included."""
        return self._before + time.monotonic() - self._begin

    def next(self) -> Line | None:
        """Return the next line that is there from before; None if there is none left."""
        return self._left[-1] if self._left else None

    @property
    def certificate(self) -> Path:
        """Where verification writes its certificate."""
        return self.path(CERTIFICATE)

    def take(self) -> Made:
        """Return the next line from before with its values, and go on to the one behind it."""
        line = self._left.pop()
        if isinstance(line, RepairLine):
            return Made(line, policy=self.policy(line.policy))
        return self._faults_of(line) if isinstance(line, FaultsLine) else Made(line)

    def _faults_of(self, line: FaultsLine) -> Made:
        """Return the faults and suspects of a line, as they stand in its files."""
        faults, suspects, number = [], [], line.iteration
        for part in line.findings:
            self.path(part.file)  # refuses names that are not of the campaign
        if line.faults is not None:
            faults = read_known(self.path(line.faults), self.task, number, line.findings)
        if line.suspects is not None:
            path = self.path(line.suspects)
            suspects = read_known(path, self.task, number, loss=POSSIBLE_LOSS)
        return Made(line, faults=tuple(faults), suspects=tuple(suspects))

    def record(self, made: Made) -> Made:
        """Write the values of a stage to files, and then its line."""
        made = named(made, keep=self._keep)
        line = made.line
        if isinstance(line, RepairLine):
            return self._record_policy(made, line)
        files: list[str | None] = []
        if isinstance(line, FaultsLine):
            self._write(line.faults, made.faults, "file of faults")
            self._write(line.suspects, made.suspects, "file of suspects")
            files = [line.faults, line.suspects, *(part.file for part in line.findings)]
        elif isinstance(line, VerifyLine):
            files = [line.certificate]
        kept = self.append(line, [name for name in files if name is not None])
        return replace(made, line=kept)

    def _keep(self, finding: Finding) -> str:
        name = finding_name(finding)
        finding.write(self.path(name))
        return name

    def _write(self, name: str | None, faults: Sequence[Fault], what: str) -> None:
        if name is not None:
            write_pieces(self.path(name), map(line_of, faults), what=what)

    def _record_policy(self, made: Made, line: RepairLine) -> Made:
        """Write a repaired policy in the format of the one that was repaired; what goes on is the
        policy as it is read again.
        """
        assert made.policy is not None and made.base is not None
        files = write_like(made.policy, made.base, self.path(line.policy), reads_back=False)
        policy = self.policy(line.policy)
        changes = msgspec.structs.replace(line.changes, sha256=policy.sha256)
        line = msgspec.structs.replace(line, changes=changes)
        kept = self.append(line, [f"{file.parent.name}/{file.name}" for file in files])
        return replace(made, line=kept, policy=policy)

    def append(self, line: Line, files: Iterable[str] = ()) -> Line:
        """Add a line to the journal; its files are on the disk before, and their hashes in it."""
        hashes = {}
        for name in files:
            path = self.path(name)
            to_disk(path)
            hashes[name] = hash_of(path)
        kept = self._journal.append(
            msgspec.structs.replace(line, files=hashes, total_seconds=self.seconds)
        )
        self.lines.append(kept)
        return kept

    def extend(self, seconds: float) -> None:
        """Give the campaign so many seconds from now on; how it ended counts no more."""
        most = self.seconds + seconds
        line = ExtendLine(max_seconds=most, total_seconds=self.seconds, seconds={})
        self.lines = lines_in_force([*self.lines, self._journal.append(line)])
        self.max_seconds = most
        self._left = list(reversed(self.lines))

    def path(self, relative: str) -> Path:
        """Return where a file of the campaign is or will be. Raises InputError for others."""
        return self.given.directory / check_name(relative)

    def policy(self, relative: str) -> Policy:
        """Return a policy of the campaign, as its file says it."""
        if relative not in self._policies:
            self._policies[relative] = self.given.load_policy(relative, self.task)
        return self._policies[relative]


def read_lines(given: Given) -> tuple[list[Line], journal.Read]:
    """Return the lines of a campaign's journal; none if nothing was done yet."""
    path = given.directory / journal.NAME
    try:
        read = journal.read_journal(path, given.check)
    except InputError as error:
        if error.code != "file-not-found":
            raise
        read = journal.Read((), 0, given.check)
    return list(read.lines), read


def used_seconds(lines: Sequence[Line]) -> float:
    """Return how many seconds the stages took that these lines tell of."""
    return max(lines[-1].total_seconds, 0.0) if lines else 0.0
