"""``surefoot show``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.replay import OtherTask, ReplayArguments
from surefoot.errors import printable
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.campaign import Campaign
    from surefoot.cli.run_text import Choice, Draw
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.records import Run

What = Annotated[
    Path, Parameter(name="WHAT", help="the directory of a campaign, or the file of a finding")
]


def show(
    what: What,
    task: OtherTask = None,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[ReplayArguments, Parameter(name="*")] = ReplayArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Show the faults of a campaign, or the run of a finding step by step.

    Of a campaign the smallest faults come first. Of a finding: the fault with the
    safe alternatives, then the run; below each step stand the actions that were
    applicable, with their scores, and a picture where the task has one. Task and
    policy are those that the finding names.

    For example:
      surefoot show debugged
      surefoot show debugged/findings/fault-2c26b46b68ffc68f.json
    """
    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    if what.is_dir():
        return _show_campaign(what, is_json=json)

    with deadline.working("reading the finding"):
        from surefoot.cli.replay import policy_of, task_of
        from surefoot.findings import read_finding

        stored = read_finding(what)
        loaded = task_of(stored, task, task_arguments, must_be_same=True)
        loaded_policy = policy_of(stored, loaded, policy, seed=options.seed, must_be_same=True)
        shown = _Shown(stored, loaded_policy)
    if json:
        from surefoot.cli.output import json_text

        print(json_text(shown.document()))
    else:
        shown.print()
    return 0


# -- a campaign --------------------------------------------------------------------------------


def _show_campaign(directory: Path, *, is_json: bool) -> int:
    from surefoot.campaign import read_campaign
    from surefoot.cli.output import console, json_text

    campaign = read_campaign(directory)
    if is_json:
        content = campaign.to_dict()
        names = ("surefoot", "task", "policy", "state", "outcome", "faults")
        shown = {name: content[name] for name in names}
        print(json_text({**shown, "command": "show", "directory": str(directory)}))
        return 0
    out = console()
    for line in _campaign_lines(campaign, directory):
        out.print(line)
    return 0


def _campaign_lines(campaign: Campaign, directory: Path) -> Iterator[object]:
    from rich.text import Text

    from surefoot.cli.debug_text import fault_lines
    from surefoot.cli.faults_text import SHOWN_FAULTS

    given = campaign.given.content
    task, policy = printable(given.task.name), printable(given.policy.name)
    yield Text(f"{task}, policy {policy}", style="bold")
    faults = campaign.faults
    for fault in faults[:SHOWN_FAULTS]:
        yield from fault_lines(fault, directory, {})
    if len(faults) > SHOWN_FAULTS:
        yield f"... and {len(faults) - SHOWN_FAULTS:,} more, see --json"
    ended = campaign.outcome or campaign.state
    yield f"{counted(len(faults), 'fault')}; the campaign: {printable(ended)}"


# -- a finding ---------------------------------------------------------------------------------


class _Shown:
    """A finding with what there was to choose from in each step."""

    def __init__(self, finding: Finding, policy: Policy) -> None:
        from surefoot.cli.run_text import choices_of

        self._finding = finding
        self._policy = policy
        self._run: Run = finding.run(policy.task)
        self._choices: list[Choice] = choices_of(policy, self._run)

    def document(self) -> dict[str, object]:
        """Return the finding as plain data, its certificates left out."""
        from surefoot.cli.simulate import explained_run

        content = {k: v for k, v in self._finding.to_dict().items() if k != "certificates"}
        run = explained_run(self._policy, self._run, self._draw())
        return {**content, "command": "show", "run": run}

    def _draw(self) -> Draw | None:
        from surefoot.cli.run_text import picture_text

        task = self._policy.task
        return None if getattr(task, "draw", None) is None else picture_text(task)

    def print(self) -> None:
        """Print the fault, and the run step by step."""
        from rich.text import Text

        from surefoot.cli.output import console
        from surefoot.cli.run_text import head_of, lines_of
        from surefoot.cli.state_text import labels_of

        out = console()
        task = self._policy.task
        name = self._finding.content["policy"]["name"]
        out.print(Text(f"{printable(task.name)}, policy {printable(name)}", style="bold"))
        for line in self._about_lines():
            out.print(line)
        out.print(head_of(self._run))
        lines = lines_of(self._run, labels_of(task), self._choices, self._draw())
        print("\n".join(lines))

    def _about_lines(self) -> Iterator[object]:
        """Yield what is wrong on the run."""
        from rich.text import Text

        about, kind = self._finding.about, self._finding.kind
        if kind == "run":
            return
        step = about["step"]
        action = printable(about["action"]) if kind == "fault" else "a safe state"
        where = f": {action}, at step {step + 1} of {counted(self._finding.steps, 'step')}"
        yield Text.assemble((kind, "bold red"), where)
        if kind == "fault":
            names = [printable(str(name)) for name in about["alternatives"]]
            more = ["possibly others"] if about.get("more_unknown") is True else []
            yield f"  safe alternative: {', '.join([*names, *more])}"
