"""Failing runs from files: documents of fuzz and simulate, findings, or a run alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError
from surefoot.files import read_json
from surefoot.findings import check_same_policy, check_same_task, finding_from, run_from
from surefoot.replay import replayed

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.records import Run


def read_runs(files: Iterable[Path], policy: Policy) -> list[Run]:
    """Return the failing runs of files, each of which was verified: the policy fails by it.

    Of a document with many runs only those count that fail. Runs get new numbers if two have the
    same one. Raises InputError for a run that does not fail, or not any more.
    """
    runs = [run for file in files for run in _runs_in(file, policy)]
    numbers = [number for run in runs for number in (run.run, *run.same)]
    if len(set(numbers)) == len(numbers):
        return runs
    return list(_renumbered(runs))


def _renumbered(runs: Sequence[Run]) -> Iterator[Run]:
    following = 0
    for run in runs:
        after = following + 1 + len(run.same)
        yield replace(run, run=following, same=tuple(range(following + 1, after)))
        following = after


def _runs_in(file: Path, policy: Policy) -> Iterator[Run]:
    content = read_json(file)
    if isinstance(content, dict) and "finding" in content:
        finding = finding_from(content, file)
        check_same_task(finding, policy.task)
        check_same_policy(finding, policy)
        yield _verified(finding.run(policy.task), policy, file)
        return
    runs = content.get("runs") if isinstance(content, dict) else None
    for each in runs if isinstance(runs, list) else [content]:
        if isinstance(runs, list) and not _is_failing_run(each):
            continue
        yield _verified(run_from(each, policy.task, file=file), policy, file)


def _is_failing_run(content: object) -> bool:
    """Return whether this is to be looked at: it says that it fails, and is not an earlier run."""
    if not isinstance(content, dict):
        return True
    return content.get("result", "fail") == "fail" and "same_as" not in content


def _verified(run: Run, policy: Policy, file: Path) -> Run:
    result = replayed(policy, run)
    if result.still_fails:
        return run
    hint = None
    if result.step == 0 and result.reason == "runs do not start here":
        hint = 'a run from another state must say "known_reachable": false'
    raise InputError(
        "not-a-failing-run",
        f"run {run.run} is not a failing run of the policy: it {result}",
        file=str(file),
        hint=hint,
    )
