"""``surefoot resume``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.deadline import FOREVER, Deadline
from surefoot.errors import InputError, printable
from surefoot.options import BudgetOptions

Directory = Annotated[Path, Parameter(name="DIR", help="the directory of a campaign")]
OtherTask = Annotated[
    str | None,
    Parameter(name="TASK", help="the task, needed if the campaign's is FILE.py:NAME"),
]

Components = Annotated[
    tuple[str, ...],
    Parameter(
        name="--component",
        help="run this bias, oracle or verification method from outside, which the campaign was "
        "begun with; may be repeated",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ResumeArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float | None = None  # type: ignore[assignment]  # none is what is left to it
    """go on for so many seconds from now, also if it has ended for lack of time"""
    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: the campaign has its own"""
    seed: int = 0
    """not needed here: the campaign has its own"""


@dataclass(frozen=True, kw_only=True)
class CampaignArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float = BudgetOptions.max_seconds
    """not needed here: the campaign has its own"""
    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: the campaign has its own"""
    seed: int = 0
    """not needed here: the campaign has its own"""


def resume(
    directory: Directory,
    task: OtherTask = None,
    /,
    *,
    component: Components = (),
    options: Annotated[ResumeArguments, Parameter(name="*")] = ResumeArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Go on with a campaign that was interrupted.

    The result is the same as if it had not been: what was done is not done again,
    and the rest is done as it would have been. Seconds that were used before count,
    unless --max-seconds gives it some anew: then also a campaign goes on that has
    ended for lack of time. Any other that is finished is shown again.
    Task, policy and version of Surefoot must be those that it began with.
    Exit codes are those of surefoot debug.

    For example:
      surefoot resume debugged
      surefoot resume debugged --max-seconds 600
      surefoot resume debugged --component my_bias.py:BIAS
    """
    from surefoot.cli.debug import Display, for_loop

    options = checked_options(options)
    more = options.max_seconds
    deadline = Deadline(FOREVER if more is None else more)
    with deadline.working("reading the campaign"):
        from surefoot.campaign.given import read_given, task_of
        from surefoot.campaign.running import go_on

        if task is None and task_arguments.given():
            name = next(iter(task_arguments.given())).replace("_", "-")
            raise InputError("bad-option", f"--{name} belongs to a task", hint="give the TASK")
        given = read_given(directory)
        loaded = task_of(given, None if task is None else task_arguments.load(task))
    policy = printable(given.content.policy.name)
    title = f"{printable(loaded.name)}, policy {policy}"
    display = Display("resume", loaded, directory, title, is_json=json)
    arguments = {
        **asdict(options),
        "directory": str(directory),
        "task": task,
        **({"component": list(component)} if component else {}),
        **task_arguments.given(),
    }
    deadline = Deadline(FOREVER if more is None else more, given.options.memory_mb)
    left = None if more is None else lambda: for_loop(deadline)
    with display as watch, deadline.enforced("debugging"):
        result = go_on(directory, loaded, watch, component, left=left)
    return display.end(result, arguments)
