"""``surefoot replay``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError, printable
from surefoot.options import BudgetOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.replay import ReplayResult
    from surefoot.tasks.task import Task

Given = Annotated[
    str,
    Parameter(
        name="FINDING",
        help="findings, JSON files of faults, or folders of them; one more at the end that is "
        "neither a folder nor called something.json is the TASK to try them with, instead of those "
        "that they name; needed if that is FILE.py:NAME",
    ),
]
FindingFile = Annotated[Path, Parameter(name="FINDING", help="a finding, a JSON file of faults")]
OtherTask = Annotated[
    str | None,
    Parameter(
        name="TASK",
        help="try it with this task, instead of the one that the finding names; needed if that is "
        "FILE.py:NAME",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReplayArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float = BudgetOptions.max_seconds
    """stop after this many seconds: then nothing is said or written"""
    memory_mb: int = BudgetOptions.memory_mb
    """stop when more than this many megabytes are needed"""
    seed: int = 0
    """of the policy random, if --policy gives that"""


def replay(
    *given: Given,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[ReplayArguments, Parameter(name="*")] = ReplayArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Tell whether the runs of findings still fail.

    Asks the policy again for each decision; the outcomes are those of the finding.
    Task and policy are those that the finding names, and must not have changed
    since. A TASK or --policy that is given is tried whatever it is: a repaired
    policy, or a mended model. Several findings, or a folder, get a line each.
    Exit code 1 if a run still fails, else 2 if task or policy of one changed or it
    cannot be replayed, else 0.

    For example:
      surefoot replay findings/fault-2c26b46b68ffc68f.json
      surefoot replay findings/fault-2c26b46b68ffc68f.json --policy repaired.ubj
      surefoot replay findings truck.jani --policy repaired.ubj
    """
    options = checked_options(options)
    begin = time.perf_counter()
    paths, task = findings_and_task(given)
    if len(paths) > 1 or paths[0].is_dir():
        from surefoot.cli.replaying import Replaying

        work = Replaying(paths, task, policy, task_arguments, seed=options.seed)
        return work.run({**asdict(options), **work.given()} if json else None)
    return _replay_one(paths[0], task, policy, options, task_arguments, begin=begin, json=json)


def findings_and_task(given: Sequence[str]) -> tuple[list[Path], str | None]:
    """Return the findings and folders, and the task, which may be the last of what is given."""
    paths, task = list(given), None
    if len(paths) > 1 and _is_task(paths[-1]):
        task = paths.pop()
    if not paths:
        raise InputError("bad-option", "give a finding, or a folder of findings")
    return list(map(Path, paths)), task


def _is_task(text: str) -> bool:
    return not text.endswith(".json") and not Path(text).is_dir()


def _replay_one(
    finding: Path,
    task: str | None,
    policy: PolicyArguments,
    options: ReplayArguments,
    task_arguments: TaskArguments,
    *,
    begin: float,
    json: bool,
) -> int:
    from surefoot.cli.output import document, json_text

    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("replaying"):
        from surefoot.findings import read_finding
        from surefoot.replay import replayed

        stored = read_finding(finding)
        loaded = task_of(stored, task, task_arguments)
        loaded_policy = policy_of(stored, loaded, policy, seed=options.seed)
        result = replayed(loaded_policy, stored.run(loaded))
    if json:
        arguments = {**asdict(options), "finding": str(finding), "task": task}
        content = document(
            "replay",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**arguments, **policy.given(), **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result=result.to_dict(),
        )
        print(json_text(content))
    else:
        _print(stored, loaded_policy, result)
    return int(result.still_fails)


def task_of(
    finding: Finding, given: str | None, arguments: TaskArguments, *, must_be_same: bool = False
) -> Task:
    """Return the task given, or that of the finding. Raises InputError if this one has changed;
    also if one given is another, where it ``must_be_same``.
    """
    from surefoot.findings import check_same_task

    check_task_given(given, arguments)
    task = finding.find_task(None if given is None else arguments.load(given))
    if given is None or must_be_same:
        check_same_task(finding, task)
    return task


def check_task_given(given: str | None, arguments: TaskArguments) -> None:
    """Raise InputError for options of a task where there is none."""
    if given is None and arguments.given():
        name = next(iter(arguments.given())).replace("_", "-")
        raise InputError("bad-option", f"--{name} belongs to a task", hint="give the TASK, too")


def policy_of(
    finding: Finding,
    task: Task,
    arguments: PolicyArguments,
    *,
    seed: int,
    must_be_same: bool = False,
) -> Policy:
    """Return the policy given, or that of the finding, as ``task_of`` does."""
    from surefoot.findings import check_same_policy

    given = arguments.load_if_given(task, seed=seed)
    policy = finding.find_policy(task, given)
    if given is None or must_be_same:
        check_same_policy(finding, policy)
    return policy


def _print(finding: Finding, policy: Policy, result: ReplayResult) -> None:
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of, text_of

    out = console()
    task = policy.task
    out.print(Text(f"{printable(task.name)}, policy {printable(policy.name)}", style="bold"))
    state = text_of(result.state, labels_of(task))
    steps = counted(result.steps, "step")
    if result.still_fails:
        out.print(Text.assemble(("still fails", "bold red"), f" after {steps}, in {state}"))
        return
    ends = f" any more: at step {result.step + 1} of {result.steps:,}, in {state}"
    out.print(Text.assemble(("does not fail", "bold green"), ends))
    if result.reason is not None:
        out.print(f"  {printable(result.reason, 2000)}")
    else:
        now, was = printable(result.now or ""), printable(result.was or "")
        out.print(f"  the policy now decides on {now}; it was {was}")
