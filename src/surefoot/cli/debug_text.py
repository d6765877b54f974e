"""What ``debug``, ``resume``, ``status`` and ``show`` print for people about a campaign."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.campaign.reading import as_argument
from surefoot.errors import printable
from surefoot.loop import Numbers, Watch
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.campaign import Campaign
    from surefoot.cli.progress import Progress
    from surefoot.records import EvaluateResult, Fault, Iteration

STYLES = {"safe": "bold green", "improved": "bold yellow", "stopped": "bold red"}


@dataclass(frozen=True)
class Column:
    """A column of the table of rounds. Those of the lowest ``rank`` go first where the terminal is
    too narrow; those without one always stay.
    """

    name: str
    width: int
    rank: int | None = None
    is_seconds: bool = False


COLUMNS: tuple[Column, ...] = (
    Column("iteration", 9),
    Column("failing", 8),
    Column("new", 6),
    Column("faults", 7),
    Column("trees", 6, rank=4),
    Column("changed", 8, rank=3),
    Column("distance", 9, rank=0),
    Column("kept", 12, rank=1),
    Column("fuzz", 7, rank=2, is_seconds=True),
    Column("faults", 7, rank=2, is_seconds=True),
    Column("repair", 7, rank=2, is_seconds=True),
    Column("verify", 7, rank=2, is_seconds=True),
)
VERDICT_WIDTH = len("  verified: unknown")
Labels = dict[str, tuple[str, ...]]


class DebugDisplay(Watch):
    """Prints rounds, row by row, while the loop runs; without a console it only notes progress."""

    def __init__(
        self, progress: Progress, out: Console | None, directory: Path, labels: Labels
    ) -> None:
        self._progress = progress
        self._out = out
        self._directory = directory
        self._labels = labels
        self._has_head = False
        self._has_fault = False
        self._stage = ""

    def stage(self, name: str, iteration: int) -> Numbers | None:
        """Note what goes on now; numbers follow."""
        self._stage = f"iteration {iteration}, {name}"
        self._progress.note(self._stage)
        return self._tell

    def _tell(self, states: int, done: int, depth: int, memory: int, seconds: float) -> None:
        size = f", {memory / 1e6:,.0f} MB" if memory else ""
        self._progress.note(f"{self._stage}: {counted(states, 'state')}{size}")

    def note(self, text: str) -> None:
        """Note how far the stage is."""
        self._progress.note(f"{self._stage}: {printable(text)}")

    def evaluated(self, which: str, result: EvaluateResult) -> None:
        """Print how good the policy is before."""
        if which == "before":
            self._print([f"before: {evaluation_text(result.to_dict())}"])

    def found(self, iteration: int, faults: Sequence[Fault]) -> None:
        """Print the smallest fault of the first round that has one."""
        if faults and not self._has_fault:
            self._has_fault = True
            self._print(fault_lines(faults[0], self._directory, self._labels))

    def iterated(self, iteration: Iteration) -> None:
        """Print the row of a round."""
        width = None if self._out is None else places_of(self._out)
        head = [] if self._has_head else list(head_lines(width))
        self._has_head = True
        self._print([*head, *row_lines(iteration.to_dict(), width)])

    def _print(self, lines: Iterator[object] | Sequence[object]) -> None:
        if self._out is not None:
            with self._progress.aside():
                for line in lines:
                    self._out.print(line)
                self._out.file.flush()


def places_of(out: Console) -> int | None:
    """Return how many columns a terminal has; None for what is none, where lines may be long."""
    return out.width if out.is_terminal else None


# -- rounds ------------------------------------------------------------------------------------


def shown_columns(width: int | None) -> tuple[Column, ...]:
    """Return the columns that fit into so many places beside the verdict; all if it is None."""
    columns = COLUMNS
    for rank in sorted({column.rank for column in COLUMNS if column.rank is not None}):
        if width is None or _width_of(columns) + VERDICT_WIDTH <= width:
            break
        columns = tuple(column for column in columns if column.rank != rank)
    return columns


def _width_of(columns: Sequence[Column]) -> int:
    return sum(column.width + 1 for column in columns) - 1


def head_lines(width: int | None = None) -> Iterator[str]:
    """Yield the head of the table of rounds, for a terminal of so many columns."""
    columns = shown_columns(width)
    before = [column for column in columns if not column.is_seconds]
    if len(before) < len(columns):
        yield f"{'':{_width_of(before) + 1}}seconds"
    yield " ".join(f"{column.name:>{column.width}}" for column in columns)


def row_lines(iteration: Mapping[str, Any], width: int | None = None) -> Iterator[str]:
    """Yield the row of a round, for a terminal of so many columns; what is not in a column goes to
    a line of its own where there is no place beside it.
    """
    shown = shown_columns(width)
    cells = zip(_cells(iteration), COLUMNS, strict=True)
    row = " ".join(f"{cell:>{column.width}}" for cell, column in cells if column in shown)
    if iteration["verdict"]:
        row += f"  verified: {printable(iteration['verdict'])}"
    more = f"  {counted(iteration['suspects'], 'suspect')}" if iteration["suspects"] else ""
    if width is not None and len(row + more) > width:
        yield row
        yield f"{'':{COLUMNS[0].width}}{more}"
    else:
        yield row + more


def _cells(iteration: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands in the columns."""
    yield str(iteration["iteration"])
    yield f"{iteration['unsafe_runs']:,}"
    yield f"{iteration['new_faults']:,}"
    yield f"{iteration['faults']:,}"
    if iteration["policy"] is None:
        yield from ["-"] * 4
    else:
        kept = iteration["keep_states"] - iteration["keep_lost"]
        yield f"{iteration['trees_added']:,}"
        yield f"{iteration['changed_parameters']:,}"
        yield f"{iteration['distance']:.4g}"
        yield f"{kept:,}/{iteration['keep_states']:,}"
    for name in _STAGES:
        yield f"{iteration['seconds'].get(name, 0.0):,.1f}"


_STAGES = ("fuzz", "faults", "repair", "verify")


# -- faults ------------------------------------------------------------------------------------


def fault_lines(fault: Fault, directory: Path, labels: Labels) -> Iterator[object]:
    """Yield a fault: where, what may happen, what would be safe, and where its finding is."""
    from rich.text import Text

    from surefoot.cli.state_text import text_of

    action = printable(fault.action)
    before, after = fault.state.to_dict(), dict(fault.outcome or {})
    state = text_of(before, labels)
    yield Text.assemble(("fault", "bold red"), f": {action} in {state}")
    changed = {
        name: value for name, value in after.items() if name not in before or before[name] != value
    }
    where = text_of(changed, labels) or "(nothing changes)"
    yield f"  may lead to {where}, which is unsafe"
    more = [*(["possibly others"] if fault.has_unknown_alternatives else [])]
    instead = ", ".join([*map(printable, fault.alternatives), *more])
    yield f"  safe alternative: {instead or 'unknown'}"
    run = f"a run that fails after {counted(fault.steps, 'step')}"
    place = f"step {fault.step + 1} of {run}, iteration {fault.iteration}"
    yield f"  {place}{_finding_text(fault, directory)}"


def _finding_text(fault: Fault, directory: Path) -> str:
    if fault.finding is None:
        return ""
    checked = "checked" if fault.checked else "unchecked"
    return f"; {checked}: {printable(str(directory / fault.finding))}"


# -- the end -----------------------------------------------------------------------------------


def evaluation_text(result: Mapping[str, Any]) -> str:
    """Return how good a policy is: ``unsafe 0.1429, goal 0.7738 on 84 start states``."""
    return (
        f"unsafe {_unsafe_text(result)}, goal {result['goal_fraction']:.4f}, "
        f"on {counted(result['starts'], 'start state')}"
    )


def _unsafe_text(result: Mapping[str, Any]) -> str:
    is_bound = result["exhaustive"] != result["starts"] and result["unsafe"] < result["starts"]
    return f"{'at least ' if is_bound else ''}{result['unsafe_fraction']:.4f}"


def end_lines(campaign: Mapping[str, Any], directory: Path) -> Iterator[object]:
    """Yield how a finished campaign ended, and where everything is."""
    from rich.text import Text

    outcome = str(campaign["outcome"])
    style = STYLES.get(outcome, "bold yellow")
    reason = printable(campaign["reason"], 2000)
    yield Text.assemble((printable(outcome), style), f": {reason}")
    yield from change_lines(campaign)
    yield f"policy: {printable(str(directory / campaign['final_policy']))}"
    yield from _certificate_lines(campaign["verification"], directory)
    yield f"report: surefoot report {shlex.quote(printable(as_argument(directory)))}"


def more_time_lines(campaign: Campaign) -> Iterator[str]:
    """Yield how a campaign goes on that has ended for lack of time."""
    if campaign.lacks_time:
        place = shlex.quote(printable(as_argument(campaign.directory)))
        yield f"go on: surefoot resume {place} --max-seconds {campaign.given.options.max_seconds:g}"


def change_lines(campaign: Mapping[str, Any]) -> Iterator[str]:
    """Yield how good the policy was before and is after."""
    before, after, starts = (campaign[name] for name in ("before", "after", "starts"))
    if before is None:
        return
    which = "others than it was debugged on" if starts["disjoint"] else "as it was debugged on"
    on = f"on {counted(before['starts'], 'start state')}"
    which = "all there are" if starts["all"] else which
    later = "" if after is None else f" -> {_unsafe_text(after)}"
    yield f"unsafe  {_unsafe_text(before)}{later}  {on}, {which}"
    later = "" if after is None else f" -> {after['goal_fraction']:.4f}"
    yield f"goal    {before['goal_fraction']:.4f}{later}"


def _certificate_lines(certificate: Mapping[str, Any] | None, directory: Path) -> Iterator[str]:
    if certificate is None or certificate["verdict"] != "safe":
        return
    why = (
        ""
        if certificate["why_unchecked"] is None
        else f" ({printable(certificate['why_unchecked'])})"
    )
    checked = "checked" if certificate["checked"] else f"not checked{why}"
    if certificate["certificate"] is None:
        yield f"certificate: none{why}"
    else:
        yield f"certificate: {printable(str(directory / certificate['certificate']))}, {checked}"
