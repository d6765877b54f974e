"""``surefoot minimise``."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.replay import FindingFile, OtherTask
from surefoot.cli.saving import SaveArguments, print_saved, saved_member
from surefoot.errors import InputError, OutOfBudget, printable
from surefoot.options import BudgetOptions, FaultOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.minimise import MinimiseResult
    from surefoot.policies import Policy

New = Annotated[
    Path, Parameter(name=("--out", "-o"), help="the new finding, a JSON file that is written")
]

SEARCH_SHARE = 0.8  # of the time that is left: the rest is for checking what was found


@dataclass(frozen=True, kw_only=True)
class MinimiseArguments(BudgetOptions):
    """How long to look for something smaller, and who decides what is safe."""

    max_seconds: float = 60.0
    """stop after this many seconds, checking included, with the smallest finding so far"""
    oracle: str = FaultOptions.oracle
    """which algorithm decides whether states are safe"""
    state_seconds: float = FaultOptions.state_seconds
    """give up a question about a state after this many seconds"""
    max_states: int = FaultOptions.max_states
    """give up a question about a state when it has stored this many new states"""
    seed: int = 0
    """of the policy random, if --policy gives that; same finding and options: same result"""


def minimise(
    finding: FindingFile,
    task: OtherTask = None,
    /,
    *,
    out: New,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[MinimiseArguments, Parameter(name="*")] = MinimiseArguments(),
    check_seconds: float = 60.0,
    saving: Annotated[SaveArguments, Parameter(name="*")] = SaveArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Make a smaller finding of a finding: a shorter run, from a simpler start state.

    Looks for shorter ways to a fault and from there to fail, and for other start
    states nearer to the variables' initial values. The new run has a fault on it,
    too, but maybe another one. It is checked by independent code before it is
    written. Exit code 0, also if nothing smaller is found.

    For example:
      surefoot minimise findings/fault-2c26b46b68ffc68f.json -o small.json

    Parameters
    ----------
    check_seconds: float
        say that the new finding is unchecked if checking it takes longer
    """
    from surefoot.cli.checking import seconds_to_check
    from surefoot.cli.output import document, json_text

    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    seconds_to_check(check_seconds, no_check=False)
    saving.check()
    begin = time.perf_counter()
    with deadline.working("reading the task"):
        from surefoot.cli.replay import policy_of, task_of
        from surefoot.findings import read_finding

        _check_new(out)
        before = read_finding(finding)
        loaded = task_of(before, task, task_arguments, must_be_same=True)
        loaded_policy = policy_of(before, loaded, policy, seed=options.seed, must_be_same=True)
    with deadline.working("minimising") as progress:
        from surefoot.minimise import minimise as run

        within = deadline.within(options, share=SEARCH_SHARE)
        result = run(before, loaded_policy, task=loaded, progress=progress.note, **asdict(within))
        seconds = min(check_seconds, deadline.left)
        is_checked = _is_checked(result, loaded_policy, seconds)
        result.after.write(out)
    left = max(options.max_seconds - (time.perf_counter() - begin), 0.0)
    saved = saving.saved(loaded_policy, [result.after], seed=options.seed, seconds=left)
    if json:
        arguments = {**asdict(options), "finding": str(finding), "task": task, "out": str(out)}
        content = document(
            "minimise",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**arguments, **policy.given(), **saving.given(), **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result={**result.to_dict(), "checked": is_checked, **saved_member(saved)},
        )
        print(json_text(content))
    else:
        _print(loaded_policy, result, out, is_checked=is_checked)
        print_saved(saved)
    return 0


def _check_new(file: Path) -> None:
    """Raise InputError if the file cannot be written: before the work is done."""
    if file.suffix != ".json" or file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(
            "bad-option",
            "--out must be the name of a JSON file in a directory that is there",
            hint="as in -o small.json",
        )


def _is_checked(result: MinimiseResult, policy: Policy, seconds: float) -> bool:
    try:
        result.after.check(policy.task, policy, max_seconds=seconds)
    except OutOfBudget:
        return False
    return True


def _print(policy: Policy, result: MinimiseResult, out: Path, *, is_checked: bool) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    screen = console()
    task = policy.task
    screen.print(Text(f"{printable(task.name)}, policy {printable(policy.name)}", style="bold"))
    screen.print(f"before  {_line(result.before, policy)}")
    screen.print(f"after   {_line(result.after, policy)}")
    cost = f"{counted(result.tried, 'candidate')} in {result.seconds:,.3f} s"
    text = "smaller" if result.is_smaller else "nothing smaller was found"
    more = f"; ran out of {result.stopped}" if result.stopped else ""
    screen.print(f"{text}; {cost}{more}")
    state = "checked" if is_checked else "unchecked"
    screen.print(f"{state}: {printable(str(out))}")


def _line(finding: Finding, policy: Policy) -> str:
    from surefoot.cli.state_text import labels_of, text_of

    start = finding.run(policy.task).start
    state = text_of(start, labels_of(policy.task))
    return f"{counted(finding.steps, 'step')} from {state}"
