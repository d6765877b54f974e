"""Tasks and policies on their way to a job: as plain data and bytes, and back."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import TypeVar

import msgspec

from surefoot.errors import InputError, Unsupported, nearest_hint, quoted
from surefoot.jobs.job import Pair, PolicySource, TaskSource
from surefoot.jobs.stages import Work
from surefoot.options import BudgetOptions
from surefoot.policies import Policy, load_policy
from surefoot.policies.writing import policy_bytes, suffixes_of
from surefoot.tasks import load_task
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.front_ends import task_text
from surefoot.tasks.task import Task

Options = TypeVar("Options", bound=BudgetOptions)


def pair_of(task: Task, policy: Policy | None = None) -> Pair:
    """Return task and policy as jobs take them. Raises Unsupported for what is only in memory."""
    return Pair(_task_source(task), None if policy is None else _policy_source(policy))


def can_be_handed_over(policy: Policy) -> bool:
    """Return whether a policy has a model that is written as bytes."""
    return policy.model is not None and bool(suffixes_of(policy.model.kind))


def _task_source(task: Task) -> TaskSource:
    if has_description(task):
        return TaskSource("file", "".join(task_text(task.description)).encode())
    if task.source is None:
        raise Unsupported(
            "job-task",
            f"task {quoted(task.name)} is defined by Python code in memory: it cannot be handed to "
            "a job",
            hint="load it as FILE.py:NAME",
        )
    return TaskSource("address", task.source.text.encode())


def _policy_source(policy: Policy) -> PolicySource:
    if can_be_handed_over(policy):
        assert policy.model is not None and policy.interface is not None
        suffix = suffixes_of(policy.model.kind)[0]
        content = policy_bytes(policy, suffix)
        return PolicySource("file", content, suffix, policy.interface.to_dict(), policy.unfiltered)
    if policy.name == "first" or policy.name.startswith(("random", "builtin:")):
        return PolicySource("address", policy.name.encode())
    raise Unsupported(
        "job-policy",
        f"policy {quoted(policy.name)} has no model that can be sent: it cannot be handed to a job",
        hint="networks and trees can be sent, and first, random and builtin:NAME",
    )


def task_of(work: Work) -> Task:
    """Return the task of a job."""
    source = _pair(work).task
    if source.kind == "address":
        return load_task(source.content.decode())
    file = work.scratch / "task.jani"
    file.write_bytes(source.content)
    return load_task(str(file))


def policy_of(work: Work, task: Task) -> Policy:
    """Return the policy of a job."""
    source = _pair(work).policy
    if source is None:
        raise InputError("job-without-policy", f"the stage {work.job.stage} needs a policy")
    if source.kind == "address":
        return load_policy(source.content.decode(), task)
    file = work.scratch / f"policy{source.suffix}"
    file.write_bytes(source.content)
    return load_policy(str(file), task, interface=source.interface, unfiltered=source.unfiltered)


def _pair(work: Work) -> Pair:
    if work.pair is None:
        raise InputError("job-without-task", f"the stage {work.job.stage} needs a task")
    return work.pair


def options_of(work: Work, kind: type[Options]) -> Options:
    """Return the options of a job. Raises InputError for those that the stage does not have."""
    known = [field.name for field in fields(kind)]
    for name in work.job.options:
        if name not in known:
            raise InputError(
                "unknown-option",
                f"there is no option {quoted(name)}",
                hint=nearest_hint(name, known),
            )
    try:
        return msgspec.convert(work.job.options, kind)
    except msgspec.ValidationError as error:
        raise InputError("bad-option", f"the options cannot be read: {error}") from None


def plain_options(options: BudgetOptions) -> dict[str, object]:
    """Return options as a job takes them."""
    plain: dict[str, object] = msgspec.to_builtins(options)
    return plain


def plain(content: object) -> dict[str, object]:
    """Return a result's plain data with nothing left in it that JSON does not have: tuples are
    lists, and numbers that are not finite are words (``inf``, ``-inf``, ``nan``).
    """
    made = _finite(msgspec.to_builtins(content, str_keys=True))
    assert isinstance(made, dict)
    return made


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if isinstance(value, list) else value


def scratch_file(work: Work, name: str) -> Path:
    """Write a file of the job into its folder; return where it is."""
    file = work.scratch / name
    file.write_bytes(work.job.files[name])
    return file
