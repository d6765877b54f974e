"""``surefoot debug``."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    TaskArguments,
    TaskSource,
    check_objective,
    checked_options,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.debug_flags import DebugFlags, as_typed
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import OutOfBudget, printable
from surefoot.options import DebugOptions, plain, to_plain

if TYPE_CHECKING:
    from surefoot.campaign import Campaign
    from surefoot.loop import Watch
    from surefoot.records import DebugResult
    from surefoot.tasks.task import Task

SAFE, UNSAFE, UNKNOWN = 0, 1, 4
LOOP_SHARE = 0.98  # of the time that is left: the result is to be written and read
END_SECONDS = 0.4  # for the same, however little time there is
Directory = Annotated[
    Path,
    Parameter(name=("--out", "-o"), help="a new directory, where everything that is found is kept"),
]


def debug(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    out: Directory,
    options: Annotated[DebugFlags, Parameter(name="*")] = DebugFlags(),
    objective: ObjectiveName = "safety",
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Find the faults of a policy, repair them, and verify the result.

    Fuzzes the policy from a fixed set of start states, finds the faults on failing
    runs, repairs all faults so far, and begins again, until there is no new fault.
    Then verifies the policy; a failing run that this finds goes back to the fault
    analysis. Prints a row for each iteration, and evaluates before and after on
    other start states. Policies, faults, findings and certificates are kept in the
    directory; surefoot resume goes on if this is interrupted.
    Exit code 0 if the repaired policy was proved safe; 1 if it may still fail; 4 if
    no failing run is left, but nothing was proved.

    For example:
      surefoot debug truck.jani --policy truck.ubj -o debugged
      surefoot debug "domain:two-way-line?packages=2&locations=6&variant=icy" \\
          --policy builtin:two-way-line-icy-trees -o debugged
      surefoot debug truck.jani --policy truck.onnx --fuzz.perturb actions -o near
      surefoot debug truck.jani --policy truck.onnx --starts 500 --verify none \\
          -o quick --json
    """
    policy.check_given()
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.campaign import can_handle
        from surefoot.campaign.folder import check_new
        from surefoot.campaign.running import begin, check_options

        settings = checked_options(plain(DebugOptions, options), spelled=as_typed)
        check_options(settings, spelled=as_typed)
        check_new(out)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=settings.seed)
        check_objective(objective, loaded_policy, can_handle)
    given = {**to_plain(settings), "out": str(out), **policy.given(), **task_arguments.given()}
    title = f"{printable(loaded.name)}, policy {printable(loaded_policy.name)}"
    display = Display("debug", loaded, out, title, is_json=json)
    with display as watch, deadline.enforced("debugging"):
        result = begin(loaded_policy, out, settings, watch, left=lambda: for_loop(deadline))
    return display.end(result, given)


def for_loop(deadline: Deadline) -> float:
    """Return how much of the time that is left the loop may use."""
    return max(LOOP_SHARE * deadline.left - END_SECONDS, 0.0)


@dataclass
class Display:
    """Shows a campaign while it runs within the ``with`` block, and its end. Ctrl-C there says how
    to go on.
    """

    command: str
    task: Task
    directory: Path
    title: str
    is_json: bool
    _begin: float = field(default_factory=time.perf_counter)
    _open: ExitStack = field(default_factory=ExitStack)

    def __enter__(self) -> Watch:
        from rich.text import Text

        from surefoot.cli.debug_text import DebugDisplay
        from surefoot.cli.output import console
        from surefoot.cli.progress import Progress
        from surefoot.cli.state_text import labels_of

        out = None if self.is_json else console()
        if out is not None:
            out.print(Text(self.title, style="bold"))
            out.file.flush()
        self._open.enter_context(redirect_stdout(sys.stderr))
        progress = self._open.enter_context(Progress("debugging"))
        return DebugDisplay(progress, out, self.directory, labels_of(self.task))

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._open.close()
        if isinstance(error, KeyboardInterrupt | OutOfBudget):
            self._tell_saved()

    def end(self, result: DebugResult, given: dict[str, object]) -> int:
        """Show how the campaign ended; return the exit code."""
        from surefoot.campaign import read_campaign

        campaign = read_campaign(self.directory)
        if self.is_json:
            self._print_document(
                campaign.to_dict(), result, given, time.perf_counter() - self._begin
            )
        else:
            self._print_end(campaign)
        return exit_code_of(result)

    def _tell_saved(self) -> None:
        if (self.directory / "campaign.json").is_file():
            place = shlex.quote(printable(str(self.directory)))
            print(f"the campaign is saved: surefoot resume {place} continues it", file=sys.stderr)

    def _print_end(self, campaign: Campaign) -> None:
        from surefoot.cli.debug_text import end_lines, more_time_lines
        from surefoot.cli.output import console

        out = console()
        for line in end_lines(campaign.to_dict(), self.directory):
            out.print(line)
        for line in more_time_lines(campaign):
            out.print(line)

    def _print_document(
        self,
        campaign: dict[str, Any],
        result: DebugResult,
        given: dict[str, object],
        seconds: float,
    ) -> None:
        from surefoot.cli.output import document, json_text

        policy = campaign["policy"]
        more = {name: campaign[name] for name in ("final_policy", "final_sha256", "reproduce")}
        content = document(
            self.command,
            self.task,
            policy=policy["name"],
            policy_sha256=policy["sha256"],
            options=given,
            seed=campaign["seed"],
            seconds=seconds,
            result={**result.to_dict(), "directory": str(self.directory), **more},
        )
        print(json_text(content))


def exit_code_of(result: DebugResult) -> int:
    """Return 0 if the policy was proved safe, else 1 if it may fail, else 4."""
    if result.outcome == "safe":
        return SAFE
    last = result.iterations[-1] if result.iterations else None
    is_unsafe = result.after.unsafe > 0 or (last is not None and last.verdict == "unsafe")
    return UNSAFE if is_unsafe or result.outcome == "stopped" else UNKNOWN
