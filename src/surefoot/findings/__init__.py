"""Findings: a failing run with what is wrong on it, in one file that others can check.

A :class:`Finding` is of one of three kinds: a ``fault``, a ``bug``, or a ``run`` alone. ``check``
hands all of it to the checker. Its file is one JSON object:

* ``surefoot`` (version), ``finding`` (version of the format: 1), ``kind``
* ``task``: as in certificates; ``policy``: name, sha256, interface (a file or what stands in one),
  unfiltered. A path is as it was given: it begins in the current directory, or where the finding is
* ``run``: number, seed, ``known_reachable``, ``made`` if the start was made, ``variables``, the
  ``actions``, and the ``states``, each the values of the variables in their order
* ``fault``: step, state, action, an unsafe outcome, the alternatives, those of them that are
  ``uncertified``, ``more_unknown`` if others may be safe, radius, and deviations (a number, "inf"
  or null); ``bug``: step, state, radius, deviations
* ``certificates`` of a fault: ``outcome``, ``alternatives`` by name, ``deviations``; of a bug:
  ``state``, ``deviations``. That deviations are a number takes two: enough, and one fewer is not
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from surefoot import checker
from surefoot.certificates import (
    FASTEST_CHECK,
    checkers_policy,
    model_of,
    run_checker,
)
from surefoot.errors import InputError, OutOfBudget, printable
from surefoot.files import read_json, write_pieces
from surefoot.findings.making import finding_of
from surefoot.findings.runs import run_from, run_in
from surefoot.findings.sources import (
    check_same_policy,
    check_same_task,
    never_stuck,
    policy_again,
    task_again,
)
from surefoot.findings.writing import (
    all_actions,
    content_pieces,
    num_certificates,
    num_entries,
    plain_content,
)
from surefoot.policies import Policy, as_policy
from surefoot.records import Run
from surefoot.records.parts import PolicyPart, TaskPart
from surefoot.tasks import require_task
from surefoot.tasks.task import Task

__all__ = [
    "Finding",
    "check_same_policy",
    "check_same_task",
    "finding_from",
    "finding_of",
    "read_finding",
    "run_from",
]


class Finding:
    """A failing run of a policy, and the fault or bug on it.

    Make one with :func:`finding_of`, or read one with :func:`read_finding`. ``kind`` is ``fault``,
    ``bug`` or ``run``; ``steps`` is the length of the run. One that was read knows its task and
    policy by name only.
    """

    def __init__(
        self,
        content: Mapping[str, Any],
        *,
        task: Task | None = None,
        policy: Policy | None = None,
        file: Path | None = None,
    ) -> None:
        self.content = content
        self.task = task
        self.policy = policy
        self.file = file

    @property
    def kind(self) -> str:
        """What was found: a fault, a bug, or a run alone."""
        return str(self.content["kind"])

    @property
    def claim(self) -> str:
        """The kind, which begins the name of the file."""
        return self.kind

    @property
    def about(self) -> Mapping[str, Any]:
        """The fault or the bug as plain data; empty for a run alone."""
        content: Mapping[str, object] = (
            self.content.get(self.kind, {}) if self.kind != "run" else {}
        )
        return content

    @property
    def radius(self) -> int | None:
        """Within how many differences from the policy states are safe; None for any policy."""
        return self.about.get("radius")

    @property
    def steps(self) -> int:
        """How many steps the run has."""
        return len(self.content["run"]["actions"])

    @property
    def size(self) -> int:
        """How many certificates there are."""
        return num_certificates(self.content)

    @property
    def num_entries(self) -> int:
        """How many steps, choices and ranks there are to check."""
        return 1 + self.steps + num_entries(self.content)

    def to_dict(self) -> dict[str, object]:
        """Return the content of the finding's file."""
        return plain_content(self.content)

    def question(self) -> dict[str, object]:
        """Return what the finding is about, without the evidence and without the way there."""
        run, about = self.content["run"], self.about
        content = {name: self.content[name] for name in ("kind", "task")}
        content["policy"] = {name: self.content["policy"][name] for name in ("name", "sha256")}
        content["variables"] = run["variables"]
        if self.kind == "run":
            return {**content, "states": run["states"], "actions": run["actions"]}
        wanted = ("state", "action", "radius")
        return {**content, **{name: about[name] for name in wanted if name in about}}

    def pieces(self) -> Iterator[str]:
        """Return the JSON text of the finding, piece by piece."""
        return content_pieces(self.content)

    def write(self, path: str | Path) -> None:
        """Write the finding as a JSON file, which is there completely or not at all.

        Raises InputError (``file-exists``) rather than to replace a file that is not a finding.
        """
        file = Path(path)
        if file.exists() and not _is_finding(file):
            raise InputError(
                "file-exists",
                "there is already a file here, and it is not a finding",
                file=str(path),
            )
        write_pieces(file, self.pieces(), what="finding")

    def check(
        self,
        task: Task | None = None,
        policy: object = None,
        *,
        max_seconds: float | None = None,
        recompute: bool = True,
    ) -> None:
        """Return if the checker accepts everything in the finding.

        Task and policy are found by name if they are not given. The policy's decisions are asked
        for again unless ``recompute`` is False; then those of the finding are taken. Raises
        CertificateRejected, OutOfBudget, and InputError if task or policy are not those of the
        finding.
        """
        task = self.find_task(task)
        check_same_task(self, task)
        resolved_policy = self.find_policy(task, policy) if recompute else None
        if resolved_policy is not None:
            check_same_policy(self, resolved_policy)
        asked = (
            None if resolved_policy is None else never_stuck(checkers_policy(task, resolved_policy))
        )
        if max_seconds is not None and self.num_entries > FASTEST_CHECK * max_seconds:
            raise OutOfBudget(
                "out-of-seconds", f"the finding cannot be checked within {max_seconds:,.3g} seconds"
            )
        content = self.to_dict()
        model = model_of(task, all_actions(content))
        run_checker(checker.check_finding, model, content, asked, max_seconds)

    def run(self, task: Task) -> Run:
        """Return the run, in states of this task. Raises InputError if they are none of them.

        Whether the task has its actions, and the run fails, is not asked: see ``replay``.
        """
        return run_in(self.content["run"], task, file=self.file)

    def find_task(self, given: Task | None = None) -> Task:
        """Return the task given, or that of the finding. Raises InputError if it cannot be found,
        or if finding it would run code.
        """
        if given is not None:
            return require_task(given)
        if self.task is not None:
            return self.task
        return task_again(TaskPart(**self.content["task"]), file=self.file)

    def find_policy(self, task: Task, given: object = None) -> Policy:
        """Return the policy given, or that of the finding, as ``find_task`` does."""
        if given is not None:
            return as_policy(given, task)
        is_own = self.policy is not None and self.policy.task is task
        if is_own and self.policy is not None:
            return self.policy
        return policy_again(PolicyPart(**self.content["policy"]), task, file=self.file)

    def __str__(self) -> str:
        names = (self.content["task"]["name"], self.content["policy"]["name"])
        task, policy = (printable(str(name)) for name in names)
        return f"{self.kind} of policy {policy} on {task}, a run of {self.steps:,} steps"

    def __repr__(self) -> str:
        return f"<Finding: {self}>"


def read_finding(path: str | Path) -> Finding:
    """Return the finding of a file: whether it has the members of one is checked here, whether what
    it says is true by ``check``.

    Raises InputError if the file is not a finding (``not-a-finding``), or of another version
    (``finding-version``).
    """
    return finding_from(read_json(path), path)


def finding_from(content: object, path: str | Path) -> Finding:
    """Return the finding that was read from a file. Raises InputError as ``read_finding`` does."""
    from surefoot.records.evidence import finding_record

    try:
        finding_record(content)
    except InputError as error:
        raise error.at(file=str(path)) from None
    assert isinstance(content, dict)  # it is a finding
    return Finding(content, file=Path(path))


def _is_finding(file: Path) -> bool:
    try:
        read_finding(file)
    except InputError as error:
        return error.code == "finding-version"
    return True
