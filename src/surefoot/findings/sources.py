"""The task and the policy of a finding: found again by name, and whether they are the same.

A finding comes from anywhere: nothing that it names is read if that would run code.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import checker
from surefoot.certificates import identity_of
from surefoot.errors import CertificateRejected, InputError, printable, quoted
from surefoot.policies import BUILT_IN, Policy, load_policy
from surefoot.policies.identity import disagreement, is_other
from surefoot.records.parts import PolicyPart, TaskPart
from surefoot.tasks import load_task
from surefoot.tasks.front_end import FrontEndOptions
from surefoot.tasks.identity import short_identity
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.findings import Finding


def check_same_task(finding: Finding, task: Task) -> None:
    """Raise InputError (``finding-other-task``) if the finding is about another task."""
    digest = finding.content["task"]["sha256"]
    if not task.has_sha256(digest):
        raise InputError(
            "finding-other-task",
            f"the finding is about {_task_text(digest)}, but {quoted(task.name)} is "
            f"{_task_text(identity_of(task))}",
            file=_file_text(finding),
            hint="the task has changed since, or other files or options are needed",
        )


def _task_text(digest: str) -> str:
    if not digest:
        return "one of Python code"
    return f"a task with SHA-256 {quoted(short_identity(digest))}"


def check_same_policy(finding: Finding, policy: Policy) -> None:
    """Raise InputError (``finding-other-policy``) if the finding is about another policy by its
    SHA-256, or by its name where there is none, and CertificateRejected if it says anything else
    about it that is not so.
    """
    head = finding.content["policy"]
    if is_other(policy, head):
        raise InputError(
            "finding-other-policy",
            f"the finding is about {_policy_text(head['name'], head['sha256'])}, "
            f"not about {_policy_text(policy.name, policy.sha256)}",
            file=_file_text(finding),
            hint="it has changed since; try the new one: surefoot replay FINDING --policy POLICY",
        )
    if (reason := disagreement(policy, head)) is not None:
        raise CertificateRejected(
            "finding-other-policy",
            f"the finding is about another policy than {quoted(policy.name)}: {reason}",
            file=_file_text(finding),
            hint="give the policy as it was: --policy, --interface, --unfiltered",
        )


def _policy_text(name: str, digest: str | None) -> str:
    if digest is None:
        return f"the policy {quoted(name)}"
    return f"the policy {quoted(name)} with SHA-256 {quoted(digest[:12] + '...')}"


def _file_text(finding: Finding) -> str | None:
    return None if finding.file is None else str(finding.file)


def _path(name: str, base: Path | None) -> Path:
    """Return a path that a file names: from the current directory, or else from ``base``."""
    beside = None if base is None else base / name
    is_beside = beside is not None and not Path(name).exists() and beside.exists()
    return beside if beside is not None and is_beside else Path(name)


def task_again(
    task: TaskPart,
    *,
    file: Path | None,
    base: Path | None = None,
    command: str = "surefoot replay FINDING TASK",
) -> Task:
    """Return the task that a file names, with paths from ``base``, or else where the file is.

    Raises InputError if it cannot be found, or if reading it would run code; the hint is the
    ``command`` to which it can be given.
    """
    at = None if file is None else str(file)
    if task.source is None:
        raise InputError(
            "finding-no-task",
            "the file does not say where its task is from",
            file=at,
            hint=f"give the task: {command}",
        )
    source = Source(text=task.source)
    if source.runs_code:
        raise InputError(
            "finding-runs-code",
            f"the task is {quoted(task.source)}, and reading it would run {source.code}",
            file=at,
            hint=f"if you trust it, give the task: {command}",
        )
    if base is None and file is not None:
        base = file.parent
    try:
        options = _task_options(source, task.options, base)
    except InputError as error:
        error.at(file=at)
        raise
    return load_task(source.located(lambda name: _path(name, base)), options=options)


def _task_options(
    source: Source, words: Mapping[str, object], base: Path | None
) -> FrontEndOptions:
    """Return the options of a file's task as its front end takes them."""
    known = source.front_end.options
    for word, value in words.items():
        try:
            known.from_words({word: value}, locate=lambda name: _path(name, base))
        except InputError:
            raise InputError(
                "not-a-finding", f"the task has no option {quoted(str(word))}"
            ) from None
    return known.from_words(words, locate=lambda name: _path(name, base))


def policy_again(named: PolicyPart, task: Task, *, file: Path | None) -> Policy:
    """Return the policy that a file names, as ``task_again`` does."""
    at = None if file is None else str(file)
    base = None if file is None else file.parent
    if BUILT_IN.fullmatch(named.name):
        return load_policy(named.name, task, unfiltered=named.unfiltered or None)
    if ".py:" in named.name:
        raise InputError(
            "finding-runs-code",
            f"the policy is {quoted(named.name)}, and reading it would run that file",
            file=at,
            hint=f"if you trust it: --policy {printable(named.name)}",
        )
    path = _path(named.name, base)
    if not path.exists():
        raise InputError(
            "unknown-policy",
            f"there is no policy file {quoted(named.name)}",
            file=at,
            hint="give the policy: surefoot replay FINDING --policy POLICY",
        )
    if path.suffix == ".jsonl":
        return load_policy(path, task)
    is_file = isinstance(named.interface, str)
    interface = _path(str(named.interface), base) if is_file else named.interface
    return load_policy(path, task, interface=interface, unfiltered=named.unfiltered)


def never_stuck(policy: Any) -> object:
    """Return the checker's policy, that rejects a run instead of raising where it cannot
    decide: such a run is not one of this policy.
    """

    def decide(state: Mapping[str, object], choices: tuple[str, ...]) -> object:
        try:
            return policy(state, choices)
        except InputError as error:
            if not error.code.startswith("policy-"):
                raise
            raise checker.Rejected(f"the policy does not decide: {error.message}") from None

    return decide
