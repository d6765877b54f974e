"""``surefoot export``."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError, printable
from surefoot.files import neighbour_hint
from surefoot.options import BudgetOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.policies.shield import ShieldedPolicy
    from surefoot.tasks.task import Task

Found = TypeVar("Found")
Named = tuple["Task", Callable[[], "Policy"]]
"""a task, and who loads its policy"""

Sources = Annotated[
    Path,
    Parameter(
        name="FILE",
        help="where the faults are: the directory of a campaign, findings, a folder of findings, "
        "or what faults --json printed",
    ),
]
OtherTask = Annotated[
    str | None,
    Parameter(help="the task; needed if the files do not say it, or if it is FILE.py:NAME"),
]
Shield = Annotated[
    Path | None, Parameter(help="write the shield to this JSON file, a policy for every command")
]
Python = Annotated[
    Path | None,
    Parameter(name="--python", help="write it as a Python module that needs nothing else"),
]


@dataclass(frozen=True, kw_only=True)
class ExportArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float = BudgetOptions.max_seconds
    """stop after this many seconds: then nothing is said or written"""
    memory_mb: int = BudgetOptions.memory_mb
    """stop when more than this many megabytes are needed"""
    seed: int = 0
    """of the policy random, if --policy gives that"""


def export(
    *files: Sources,
    shield: Shield = None,
    python: Python = None,
    task: OtherTask = None,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[ExportArguments, Parameter(name="*")] = ExportArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Write the safe alternatives of faults as a shield around the policy.

    A shield takes a safe action in the states of known faults, and elsewhere what
    the policy decides. It knows these states only: it is not a repair, but it works
    for every policy, and at once. Task and policy are those that a campaign or
    finding names, or those given. The file of --shield is a policy for all
    commands; it names the file of the policy, which must stay where it is. The
    module of --python has a function shield(state, action) for your own program.

    For example:
      surefoot export campaign --shield shield.json
      surefoot export findings/fault-*.json --shield shield.json --python shield.py
      surefoot evaluate truck.jani --policy shield.json
    """
    from surefoot.cli.output import document, json_text

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    begin = time.perf_counter()
    with deadline.working("reading faults"):
        _check_given(files, shield, python)
        loaded, loaded_policy = _task_and_policy(
            files, task, policy, task_arguments, seed=options.seed
        )
        made, count = _shielded(files, loaded_policy)
        written = _written(made, shield, python)
    if json:
        arguments = {"files": list(map(str, files)), "task": task, **policy.given()}
        result = {"faults": count, "decisions": len(made.decisions)}
        content = document(
            "export",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**arguments, **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result={**result, **{name: str(file) for name, file in written.items()}},
        )
        print(json_text(content))
    else:
        _print(loaded_policy, made, count, written)
    return 0


def _check_given(files: Sequence[Path], shield: Path | None, python: Path | None) -> None:
    """Raise InputError if something is missing, or cannot be written."""
    from surefoot.policies.writing import check_place

    if not files:
        hint = "give the directory of a campaign, or findings"
        raise InputError("bad-option", "there is nothing to export", hint=hint)
    if shield is None and python is None:
        hint = "as in --shield shield.json"
        raise InputError("bad-option", "give --shield FILE or --python FILE.py", hint=hint)
    if shield is not None:
        check_place(shield, (".json",))
    if python is not None:
        check_place(python, (".py",))


def _task_and_policy(
    files: Sequence[Path],
    task: str | None,
    policy: PolicyArguments,
    arguments: TaskArguments,
    *,
    seed: int,
) -> tuple[Task, Policy]:
    """Return the task and the policy that are given, or else those of a campaign or finding."""
    from surefoot.findings.faults import is_campaign

    if task is None and arguments.given():
        name = next(iter(arguments.given())).replace("_", "-")
        raise InputError("bad-option", f"--{name} belongs to a task", hint="give --task, too")
    given = None if task is None else arguments.load(task)
    if given is not None and policy.policy is not None:
        return given, policy.load(given, seed=seed)
    for file in files:
        if not file.exists():
            hint = neighbour_hint(file)
            raise InputError("file-not-found", "there is no such file", file=str(file), hint=hint)
        source = _of_campaign if is_campaign(file) else _of_finding
        named = source(file, given)
        if named is not None:
            loaded, load = named
            return loaded, policy.load_if_given(loaded, seed=seed) or load()
    raise InputError(
        "bad-option",
        "the files do not say which task and policy their faults are of",
        hint="give --task and --policy",
    )


def _of_campaign(directory: Path, given: Task | None) -> Named | None:
    """Return the task of a campaign, and who loads its policy."""
    from surefoot.campaign.given import read_given, task_of

    stored = read_given(directory)
    task = task_of(stored, given)

    def load() -> Policy:
        policy = stored.load_policy(stored.policy_file, task)
        policy.name = str(policy.file)
        return policy

    return task, load


def _of_finding(path: Path, given: Task | None) -> Named | None:
    """Return the task of a finding, or of the first one in a folder, and who loads its policy;
    None if it is not a finding.
    """
    from surefoot.files import read_json
    from surefoot.findings import check_same_policy, check_same_task, finding_from

    for file in sorted(path.glob("*.json")) if path.is_dir() else [path]:
        content = read_json(file) if file.suffix == ".json" else None
        if not isinstance(content, dict) or "finding" not in content:
            continue
        finding = finding_from(content, file)
        find = partial(finding.find_task, given)
        task = _trusted(find, "--task", content["task"]["source"])
        check_same_task(finding, task)

        def load(finding: Finding = finding, task: Task = task) -> Policy:
            name = finding.content["policy"]["name"]
            policy = _trusted(lambda: finding.find_policy(task), "--policy", name)
            check_same_policy(finding, policy)
            return policy

        return task, load
    return None


def _trusted(find: Callable[[], Found], option: str, name: object) -> Found:
    """Return what a finding names. The error, if reading it would run code, says how to give it."""
    try:
        return find()
    except InputError as error:
        if error.code == "finding-runs-code":
            error.hint = f"if you trust it: {option} {shlex.quote(printable(str(name)))}"
        raise


def _shielded(files: Sequence[Path], policy: Policy) -> tuple[ShieldedPolicy, int]:
    from surefoot.findings.faults import read_faults
    from surefoot.policies.shield import shield

    faults = read_faults(files, policy.task)
    if not faults:
        raise InputError("no-faults", "there are no faults, so there is nothing to shield")
    return shield(policy, faults), len(faults)


def _written(made: ShieldedPolicy, shield: Path | None, python: Path | None) -> dict[str, Path]:
    from surefoot.policies.shield import write_module, write_shield

    written = {}
    if shield is not None:
        written["shield"] = write_shield(made, shield)
    if python is not None:
        written["python"] = write_module(made, python)
    return written


def _print(policy: Policy, made: ShieldedPolicy, count: int, written: dict[str, Path]) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    name = f"{printable(policy.task.name)}, policy {printable(policy.name)}"
    out.print(Text(name, style="bold"))
    states = counted(len(made.decisions), "state")
    out.print(f"{counted(count, 'fault')}: a safe action in {states}, elsewhere the policy decides")
    out.print(Text(f"written: {', '.join(printable(str(file)) for file in written.values())}"))
    out.print("a shield knows these states only; surefoot evaluate tells what it is worth")
