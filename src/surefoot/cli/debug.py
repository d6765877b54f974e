"""``surefoot debug``."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import printable
from surefoot.options import DebugOptions

if TYPE_CHECKING:
    from surefoot.loop import Watch
    from surefoot.results import DebugResult
    from surefoot.tasks.task import Task

SAFE, UNSAFE, UNKNOWN = 0, 1, 4
Directory = Annotated[
    Path,
    Parameter(name=("--out", "-o"), help="a new directory, where everything that is found is kept"),
]


@dataclass(frozen=True, kw_only=True)
class DebugArguments(DebugOptions):
    """The options as the command line takes them."""

    any_other: Annotated[bool, Parameter(show_default=False)] = False
    """any other action will do in the state of a fault, not only those known to be safe"""

    def plain(self) -> DebugOptions:
        """Return the options. Raises InputError for a bad value."""
        values = {field.name: getattr(self, field.name) for field in fields(DebugOptions)}
        return checked_options(DebugOptions(**values))


def debug(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    out: Directory,
    options: Annotated[DebugArguments, Parameter(name="*")] = DebugArguments(),
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
      surefoot debug truck.jani --policy truck.onnx --starts 500 --verify none \\
          -o quick --json
    """
    from surefoot.cli.progress import Progress

    policy.check_given()
    with redirect_stdout(sys.stderr), Progress("reading the task"):
        from surefoot.campaign.folder import check_new
        from surefoot.campaign.running import begin

        how = options.plain()
        check_new(out)
        loaded = task_arguments.load(task)
        who = policy.load(loaded, seed=how.seed)
    given = {**asdict(how), "out": str(out), **policy.given(), **task_arguments.given()}
    title = f"{printable(loaded.name)}, policy {printable(who.name)}"
    job = Job("debug", loaded, out, title, is_json=json)
    return job.run(lambda watch: begin(who, out, how, watch), given)


@dataclass(frozen=True)
class Job:
    """A campaign that is to be run, and shown."""

    command: str
    task: Task
    directory: Path
    title: str
    is_json: bool

    def run(self, work: Callable[[Watch], DebugResult], given: dict[str, Any]) -> int:
        """Run the campaign and return the exit code. Ctrl-C says how to go on."""
        begin = time.perf_counter()
        try:
            result = self._shown(work)
        except KeyboardInterrupt:
            self._tell_saved()
            raise
        campaign = self._campaign()
        if self.is_json:
            self._print_document(campaign, result, given, time.perf_counter() - begin)
        else:
            self._print_end(campaign)
        return exit_code_of(result)

    def _shown(self, work: Callable[[Watch], DebugResult]) -> DebugResult:
        from rich.text import Text

        from surefoot.cli.debug_text import Shown
        from surefoot.cli.output import console
        from surefoot.cli.progress import Progress
        from surefoot.cli.state_text import labels_of

        out = None if self.is_json else console()
        if out is not None:
            out.print(Text(self.title, style="bold"))
            out.file.flush()
        with redirect_stdout(sys.stderr), Progress("debugging") as progress:
            return work(Shown(progress, out, self.directory, labels_of(self.task)))

    def _campaign(self) -> dict[str, Any]:
        from surefoot.campaign import read_campaign

        return read_campaign(self.directory).to_dict()

    def _tell_saved(self) -> None:
        if (self.directory / "campaign.json").is_file():
            place = shlex.quote(printable(str(self.directory)))
            print(f"the campaign is saved: surefoot resume {place} goes on", file=sys.stderr)

    def _print_end(self, campaign: dict[str, Any]) -> None:
        from surefoot.cli.debug_text import end_lines
        from surefoot.cli.output import console

        out = console()
        for line in end_lines(campaign, self.directory):
            out.print(line)

    def _print_document(
        self,
        campaign: dict[str, Any],
        result: DebugResult,
        given: dict[str, Any],
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
