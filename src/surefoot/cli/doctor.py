"""``surefoot doctor``."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options
from surefoot.options import DoctorOptions

Policy = Annotated[str | None, Parameter(help="a policy to examine too: random or first")]


def doctor(
    task: TaskSource,
    /,
    *,
    policy: Policy = None,
    options: Annotated[DoctorOptions, Parameter(name="*")] = DoctorOptions(),  # noqa: B008
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),  # noqa: B008
) -> int:
    """Tell what a task contains and what looks unusual about it.

    Walks at random through some states to see dead ends, overlapping guards and
    updates that leave a variable's range. What it does not find may still be there.

    For example:
      surefoot doctor truck.jani --property safety.jani
      surefoot doctor "domain:one-way-line?packages=3&locations=4" --json
    """
    from surefoot.cli.output import check_policy, document, json_text
    from surefoot.cli.progress import Progress

    options = checked_options(options)
    begin = time.perf_counter()
    with redirect_stdout(sys.stderr), Progress("examining the task"):
        from surefoot.doctor import examine
        from surefoot.simulate import POLICIES

        if policy is not None:
            check_policy(policy, known=POLICIES)
        loaded = task_arguments.load(task)
        report = examine(loaded, options=options)
    if json:
        content = document(
            "doctor",
            loaded,
            policy=policy,
            options={**asdict(options), **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result=report.to_dict(),
        )
        print(json_text(content))
    else:
        _print_report(str(report), policy)
    return 0


def _print_report(text: str, policy: str | None) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    for line in text.splitlines():
        style = "yellow" if line.startswith("  ! ") else "" if line.startswith(" ") else "bold"
        out.print(Text(line, style=style))
    if policy is not None:
        out.print(Text("policy", style="bold"))
        out.print(f"  {policy}: built in, needs no file")
