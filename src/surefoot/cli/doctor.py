"""``surefoot doctor``."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.options import DoctorOptions

if TYPE_CHECKING:
    from surefoot.doctor import DoctorReport

FINE, DIFFERS = 0, 1


def doctor(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[DoctorOptions, Parameter(name="*")] = DoctorOptions(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Tell what a task contains, what looks unusual about it, and whether a policy fits it.

    Walks at random through some states to see dead ends, overlapping guards and
    updates that leave a variable's range. What it does not find may still be there.
    With --policy: which variable feeds which input, which output is which action,
    and whether the decisions are those of the library that the file comes from.
    Exit code 1 if they are not, else 0, whatever looks unusual.

    For example:
      surefoot doctor truck.jani --property safety.jani
      surefoot doctor truck.jani --policy truck.onnx
      surefoot doctor "domain:one-way-line?packages=3&locations=4" --json
    """
    from surefoot.cli.output import document, json_text

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    begin = time.perf_counter()
    with deadline.working("examining the task"):
        from surefoot.doctor import examine

        loaded = task_arguments.load(task)
        loaded_policy = policy.load_if_given(loaded, seed=options.seed)
        report = examine(loaded, policy=loaded_policy, options=deadline.within(options))
    if json:
        content = document(
            "doctor",
            loaded,
            options={**asdict(options), **policy.given(), **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result=report.to_dict(),
        )
        print(json_text(content))
    else:
        _print_report(report)
    is_different = any(finding.code == "policy-differs" for finding in report.findings)
    return DIFFERS if is_different else FINE


def _print_report(report: DoctorReport) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    for line in str(report).splitlines():
        style = "yellow" if line.startswith("  ! ") else "" if line.startswith(" ") else "bold"
        out.print(Text(line, style=style))
