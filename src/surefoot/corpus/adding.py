"""Adding to the corpus: shrunk first, and each finding once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.corpus.folder import corpus_folder, entry_of, name_of
from surefoot.errors import InputError, OutOfBudget, SurefootError
from surefoot.findings import read_finding
from surefoot.minimise import minimise
from surefoot.options import FaultOptions
from surefoot.records.corpus import CorpusEntry, Status
from surefoot.replay import replayed

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy

SHRINK_SECONDS = 10.0
"""for each finding"""
Prepared = Callable[[], "tuple[Finding, Policy]"]
"""makes a finding, or loads what it names; raises SurefootError"""


@dataclass(frozen=True)
class Added:
    """What became of findings that were to be added, in this folder."""

    folder: Path
    entries: tuple[CorpusEntry, ...]

    def count(self, status: Status) -> int:
        """Return how many entries have this status."""
        return sum(entry.status == status for entry in self.entries)

    def __str__(self) -> str:
        words: tuple[Status, ...] = ("new", "replaced", "known", "refused")
        counts = [f"{self.count(word):,} {word}" for word in words if self.count(word)]
        return f"{self.folder}: {', '.join(counts) or 'nothing to add'}"


def add(
    finding: Finding,
    policy: Policy,
    *,
    folder: str | Path | None = None,
    max_seconds: float = SHRINK_SECONDS,
) -> CorpusEntry:
    """Put a finding into the corpus, shrunk, and return what became of it.

    The policy, on its task, is the one that fails by the finding: InputError
    (``not-a-failing-run``) if it does not. There are so many seconds for shrinking; then the
    smallest so far is taken. One that is there already stays, unless it is longer or does not fail
    any more.
    """
    where = corpus_folder(folder)
    known = _known(finding, policy, where)
    if known is not None:
        return entry_of(known, status="known")
    small = _shrunk(finding, policy, max_seconds)
    known = _known(small, policy, where)
    if known is not None:
        return entry_of(known, status="known")
    file = where / name_of(small)
    status: Status = "replaced" if file.exists() else "new"
    _make(where)
    small.write(file)
    return entry_of(small, file, status=status)


def add_all(
    prepared: Iterable[tuple[CorpusEntry, Prepared]], folder: Path, *, seconds: float
) -> Added:
    """Add one finding after the other, within so many seconds for shrinking all of them.

    Each comes with what is known of it; that is its entry if it cannot be added.
    """
    until = time.monotonic() + seconds
    entries = []
    for about, prepare in prepared:
        try:
            finding, policy = prepare()
            left = min(SHRINK_SECONDS, until - time.monotonic())
            entry = add(finding, policy, folder=folder, max_seconds=max(left, 0.0))
        except SurefootError as error:
            entry = _refused(about, error)
        entries.append(entry)
    return Added(folder, tuple(entries))


def _refused(about: CorpusEntry, error: SurefootError) -> CorpusEntry:
    return replace(about, status="refused", error=error)


def _known(finding: Finding, policy: Policy, folder: Path) -> Finding | None:
    """Return the entry about the same, if it is as short and still fails; None without one."""
    file = folder / name_of(finding)
    if not file.exists():
        return None
    there = read_finding(file)
    if there.steps > finding.steps:
        return None
    try:
        still_fails = replayed(policy, there.run(policy.task)).still_fails
    except InputError:
        return None  # its states are those of the task as it was
    return there if still_fails else None


def _shrunk(finding: Finding, policy: Policy, max_seconds: float) -> Finding:
    """Return a smallest finding of the same fault that was found in time: another one would not
    tell whether this one comes back.
    """
    result = replayed(policy, finding.run(policy.task))
    if not result.still_fails:
        raise InputError(
            "not-a-failing-run",
            f"the run does not fail with this policy: it {result}",
            file=None if finding.file is None else str(finding.file),
        )
    if max_seconds <= 0:
        return finding
    try:
        options = FaultOptions(max_seconds=max_seconds)
        task = policy.task
        return minimise(finding, policy, task=task, same_fault=True, options=options).after
    except OutOfBudget:
        return finding
    except InputError as error:
        if error.code != "not-a-failing-run":  # there was no time to find its fault again
            raise
        return finding


def _make(folder: Path) -> None:
    """Make the folder unless it is there. Raises InputError if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"the corpus cannot be made: {error.strerror or error}"
        raise InputError("bad-option", text, file=str(folder)) from None
