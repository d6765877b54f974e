"""Many findings at once: read from files and folders, their tasks and policies loaded once each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, SurefootError
from surefoot.files import read_json
from surefoot.findings.sources import check_same_policy, check_same_task

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task

CAMPAIGN_FINDINGS = "findings"
Read = tuple[Path, "Finding | SurefootError"]
"""a file with its finding, or with why it has none"""


def read_findings(paths: Iterable[str | Path]) -> Iterator[Read]:
    """Yield the findings of files and folders, those of a folder in the order of their names.

    In a folder files that are not findings are passed over; the directory of a campaign has them in
    its ``findings``. Raises InputError (``no-findings``) for a folder without any.
    """
    for path in map(Path, paths):
        if _is_folder(path):
            yield from _in_folder(path)
        else:
            yield path, _read(path)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _in_folder(folder: Path) -> Iterator[Read]:
    inner = folder / CAMPAIGN_FINDINGS
    where = inner if (folder / "campaign.json").is_file() and inner.is_dir() else folder
    findings = [(path, _read(path)) for path in _listed(where) if _may_be_one(path)]
    if not findings:
        raise InputError("no-findings", "there are no findings in this folder", file=str(folder))
    yield from findings


def _listed(folder: Path) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if name.endswith(".json")]
    except OSError as error:
        text = f"the folder cannot be read: {error.strerror}"
        raise InputError("file-not-readable", text, file=str(folder)) from None


def _may_be_one(path: Path) -> bool:
    """Return whether a file is a finding, maybe a bad one: other JSON files say that they are not.

    One that cannot be read is told of: it may be a damaged finding.
    """
    try:
        content = read_json(path)
    except InputError:
        return True
    return isinstance(content, dict) and "finding" in content


def _read(path: Path) -> Finding | SurefootError:
    from surefoot.findings import read_finding

    try:
        return read_finding(path)
    except SurefootError as error:
        return error.at(file=str(path))


class Sources:
    """The tasks and policies with which findings are tried, each loaded once.

    They are those given; or else those that a finding names, which must not have changed since, and
    are not loaded if that would run code. Those given are taken whatever they are, unless they
    ``must_be_same``.
    """

    def __init__(
        self,
        task: Task | None = None,
        policy: Callable[[Task], Policy | None] = lambda _: None,
        *,
        must_be_same: bool = False,
    ) -> None:
        self.task = task
        self._policy = policy
        self._must_be_same = must_be_same
        self._tasks: dict[str, Task] = {}
        self._policies: dict[tuple[int, str], tuple[Policy, bool]] = {}

    def policy_of(self, finding: Finding) -> Policy:
        """Return the policy, on its task, for a finding. Raises InputError."""
        task = self._task_of(finding)
        key = id(task), _key(finding, "policy")
        if key not in self._policies:
            given = self._policy(task)
            self._policies[key] = finding.find_policy(task, given), given is not None
        policy, is_given = self._policies[key]
        if self._must_be_same or not is_given:
            check_same_policy(finding, policy)
        return policy

    def _task_of(self, finding: Finding) -> Task:
        key = _key(finding, "task")
        if self.task is None and key not in self._tasks:
            self._tasks[key] = finding.find_task()
        task = self._tasks[key] if self.task is None else self.task
        if self._must_be_same or self.task is None:
            check_same_task(finding, task)
        return task


def _key(finding: Finding, member: str) -> str:
    """Return what a finding says about its task or policy, and where paths in it may begin."""
    base = "" if finding.file is None else str(finding.file.parent)
    return json.dumps([base, finding.content[member]], default=repr, sort_keys=True)
