"""The task and the policy of a finding: found again by name, and whether they are the same.

A finding comes from anywhere: nothing that it names is read if that would run code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot import checker
from surefoot.certificates import task_member
from surefoot.errors import InputError, printable, quoted
from surefoot.policies import BUILT_IN, Policy, load_policy
from surefoot.tasks import load_task
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.findings import Finding


def check_same_task(finding: Finding, task: Task) -> None:
    """Raise InputError (``finding-other-task``) if the finding is about another task."""
    said, real = finding.content["task"]["sha256"], task_member(task)["sha256"]
    if said != real:
        raise InputError(
            "finding-other-task",
            f"the finding is about {_task_text(said)}, but {quoted(task.name)} is "
            f"{_task_text(real)}",
            file=_file_text(finding),
            hint="the task has changed since, or other files or options are needed",
        )


def _task_text(digest: str) -> str:
    return f"a task with SHA-256 {quoted(digest[:12] + '...')}" if digest else "one of Python code"


def check_same_policy(finding: Finding, policy: Policy) -> None:
    """Raise InputError (``finding-other-policy``) if the finding is about another policy."""
    said = finding.content["policy"]
    if said["sha256"] != policy.sha256 and said["sha256"] and policy.sha256:
        raise InputError(
            "finding-other-policy",
            f"the finding is about a policy with SHA-256 {quoted(said['sha256'][:12] + '...')}, "
            f"but {quoted(policy.name)} has {quoted(policy.sha256[:12] + '...')}",
            file=_file_text(finding),
            hint="it has changed since; try the new one: surefoot replay FINDING --policy POLICY",
        )


def _file_text(finding: Finding) -> str | None:
    return None if finding.file is None else str(finding.file)


def _found(path: str, finding: Finding) -> Path:
    """Return a path of a finding: from the current directory, or else from where the finding is."""
    if finding.file is None:
        return Path(path)
    beside = finding.file.parent / path
    return beside if not Path(path).exists() and beside.exists() else Path(path)


def task_again(finding: Finding) -> Task:
    """Return the task that the finding names. Raises InputError if it cannot be found, or if
    reading it would run code.
    """
    said = finding.content["task"]
    text, options = said["source"], said["options"]
    file = _file_text(finding)
    if text is None:
        raise InputError(
            "finding-no-task",
            "the finding does not say where its task is from",
            file=file,
            hint="give the task: surefoot replay FINDING TASK",
        )
    source = Source(text=text)
    if source.runs_code:
        raise InputError(
            "finding-runs-code",
            f"the task is {quoted(text)}, and reading it would run that file",
            file=file,
            hint="if you trust it, give the task: surefoot replay FINDING TASK",
        )
    more = _task_options(options, finding)
    return load_task(text if source.is_domain else _found(text, finding), **more)


PATHS = {"property": "properties", "start": "start", "goal": "goal", "fail": "fail"}


def _task_options(options: Mapping[str, Any], finding: Finding) -> dict[str, Any]:
    """Return the options of a finding's task as load_task takes them."""
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name in PATHS and isinstance(value, str):
            values[PATHS[name]] = _found(value, finding)
        elif name == "property_name" and isinstance(value, str):
            values[name] = value
        elif name == "const" and isinstance(value, list):
            values["constants"] = dict(_constant(each, finding) for each in value)
        elif name == "int_range" and isinstance(value, str) and _RANGE.fullmatch(value):
            lower, upper = value.split("..")
            values[name] = (int(lower), int(upper))
        else:
            raise _bad_option(str(name), finding)
    return values


_RANGE = re.compile(r"-?\d{1,19}\.\.-?\d{1,19}", re.ASCII)


def _constant(text: Any, finding: Finding) -> tuple[str, Any]:
    name, sign, value = text.partition("=") if isinstance(text, str) else ("", "", "")
    try:
        number = json.loads(value)
    except (ValueError, RecursionError):
        number = None
    if not sign or not isinstance(number, bool | int | float):
        raise _bad_option("const", finding)
    return name, number


def _bad_option(name: str, finding: Finding) -> InputError:
    message = f"the option {quoted(name)} of the task means nothing"
    return InputError("not-a-finding", message, file=_file_text(finding))


def policy_again(finding: Finding, task: Task) -> Policy:
    """Return the policy that the finding names, as ``task_again`` does."""
    said = finding.content["policy"]
    name, interface = said["name"], said["interface"]
    file = _file_text(finding)
    if BUILT_IN.fullmatch(name):
        return load_policy(name, task, unfiltered=said["unfiltered"] or None)
    if ".py:" in name:
        raise InputError(
            "finding-runs-code",
            f"the policy is {quoted(name)}, and reading it would run that file",
            file=file,
            hint=f"if you trust it: --policy {printable(name)}",
        )
    path = _found(name, finding)
    if not path.exists():
        raise InputError(
            "unknown-policy",
            f"there is no policy file {quoted(name)}",
            file=file,
            hint="give the policy: surefoot replay FINDING --policy POLICY",
        )
    if path.suffix == ".jsonl":
        return load_policy(path, task)
    if isinstance(interface, str):
        interface = _found(interface, finding)
    return load_policy(path, task, interface=interface, unfiltered=said["unfiltered"])


def never_stuck(policy: Any) -> Any:
    """Return the checker's policy, for which being unable to decide is no error but a rejection:
    then the run is not one of this policy.
    """

    def decide(state: Mapping[str, Any], choices: tuple[str, ...]) -> Any:
        try:
            return policy(state, choices)
        except InputError as error:
            if not error.code.startswith("policy-"):
                raise
            raise checker.Rejected(f"the policy does not decide: {error.message}") from None

    return decide
