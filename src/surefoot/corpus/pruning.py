"""Pruning the corpus: entries that no longer fail are removed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.corpus.folder import corpus_folder, entry_of, stored
from surefoot.errors import SurefootError
from surefoot.records.corpus import CorpusEntry, Status
from surefoot.replay import replayed

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy


def prune(
    policy_of: Callable[[Finding], Policy],
    *,
    folder: str | Path | None = None,
    is_wanted: Callable[[Finding], bool] = lambda _: True,
    dry_run: bool = False,
) -> tuple[CorpusEntry, ...]:
    """Remove the entries that no longer fail, and return what became of each that is wanted.

    ``policy_of`` returns the policy, on its task, to try an entry with; if it raises, the entry is
    refused and stays. With ``dry_run`` nothing is removed.
    """
    wanted = [each for each in stored(corpus_folder(folder)) if is_wanted(each)]
    return tuple(_pruned(finding, policy_of, dry_run=dry_run) for finding in wanted)


def _pruned(
    finding: Finding, policy_of: Callable[[Finding], Policy], *, dry_run: bool
) -> CorpusEntry:
    try:
        policy = policy_of(finding)
        if replayed(policy, finding.run(policy.task)).still_fails:
            return entry_of(finding, status="fails")
        status: Status = "mended" if dry_run else "removed"
        if not dry_run:
            assert finding.file is not None  # it was read
            finding.file.unlink()
        return entry_of(finding, status=status)
    except SurefootError as error:
        return entry_of(finding, status="refused", error=error)
