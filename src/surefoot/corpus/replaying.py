"""Replaying the corpus: what a test of a policy begins with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.corpus.folder import corpus_folder, stored
from surefoot.errors import InputError
from surefoot.policies import as_policy
from surefoot.replay import ReplayResult
from surefoot.replay import replayed as replayed_run

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.records import Run
    from surefoot.tasks.task import Task


@dataclass(frozen=True)
class ReplayedEntry:
    """An entry that was tried with a policy: its run in states of the task, and what became of it.

    If its states are not states of the task any more, ``error`` says so, and there is no run.
    """

    finding: Finding
    run: Run | None = None
    result: ReplayResult | None = None
    error: InputError | None = None

    @property
    def still_fails(self) -> bool:
        """Whether the policy fails by this run."""
        return self.result is not None and self.result.still_fails


def entries(
    task: Task, policy: object = None, *, folder: str | Path | None = None
) -> tuple[Finding, ...]:
    """Return the entries that are about this task, by its SHA-256 or its name: first those of this
    policy, by its name, if one is given; the shortest first.

    Entries of other policies are worth a try, too. ``folder`` is the corpus, if it is not the one
    that is found. Raises InputError for a damaged entry.
    """
    name = None if policy is None else as_policy(policy, task).name
    matching = [each for each in stored(corpus_folder(folder)) if is_about(each, task)]
    return tuple(sorted(matching, key=lambda each: (_policy_name(each) != name, each.steps)))


def is_about(finding: Finding, task: Task) -> bool:
    """Return whether an entry is about a task, maybe as it was before somebody changed it."""
    head = finding.content["task"]
    return head["name"] == task.name or bool(head["sha256"] and task.has_sha256(head["sha256"]))


def replayed(
    task: Task, policy: object, *, folder: str | Path | None = None
) -> tuple[ReplayedEntry, ...]:
    """Return what becomes of each of the :func:`entries` with this policy.

    Each decision is asked for again; the outcomes are those of the entry, and must be outcomes in
    this task. So one that still fails is a failing run of this policy on this task. Nothing is
    loaded that an entry names.
    """
    bound_policy = as_policy(policy, task)
    return tuple(
        _replayed(each, bound_policy) for each in entries(task, bound_policy, folder=folder)
    )


def _replayed(finding: Finding, policy: Policy) -> ReplayedEntry:
    try:
        run = finding.run(policy.task)
        return ReplayedEntry(finding, run, replayed_run(policy, run))
    except InputError as error:
        error.at(file=str(finding.file))
        return ReplayedEntry(finding, error=error)


def _policy_name(finding: Finding) -> str:
    return str(finding.content["policy"]["name"])
