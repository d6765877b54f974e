"""What ``decide`` prints for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import printable
from surefoot.records.common import UNKNOWN
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from surefoot.cli.checking import Row
    from surefoot.cli.deciding import Answers, Deciding
    from surefoot.cli.progress import Progress
    from surefoot.evidence.findings import Evidence
    from surefoot.objectives import Objective
    from surefoot.oracles.compare import Comparison
    from surefoot.records import DecideResult
    from surefoot.tasks.task import Task

STYLES = {"safe": "bold green", "unsafe": "bold red", "unknown": "bold yellow"}
SHOWN_ROWS = 20
SHOWN_FILES = 5
WIDTHS = {
    **{"verdict": 7, "value": 5, "deviations": 10, "expanded": 8, "time": 7},
    **{"certificate": 11, "state": 0},
}
RIGHT = {"value", "deviations", "expanded", "time"}


class AnswerPrinter:
    """Prints answers one by one, as soon as they are there, and their summary in the end."""

    def __init__(self, job: Deciding, *, deviations: bool) -> None:
        from surefoot.cli.output import console
        from surefoot.cli.state_text import labels_of
        from surefoot.objectives import shows_bounds

        self._out = console()
        self._job = job
        left_out = set() if deviations else {"deviations"}
        left_out |= set() if shows_bounds(job.objective) else {"value"}
        self._columns = [name for name in WIDTHS if name not in left_out]
        self._labels = labels_of(job.task)
        self._rows: list[Row] = []

    def tell(self, row: Row, progress: Progress) -> None:
        """Print the answer, after the header if it is the first one; of many only the first."""
        self._rows.append(row)
        if len(self._rows) > SHOWN_ROWS:
            return
        with progress.aside():
            if len(self._rows) == 1:
                _print_head(self._out, self._job)
                self._out.print(self._line(dict(zip(WIDTHS, WIDTHS, strict=True)), style="dim"))
            self._out.print(self._line(self._cells(row)))

    def finish(self, answers: Answers) -> None:
        """Print what stands below the answers."""
        for line in _rest(self._rows[SHOWN_ROWS:]):
            self._out.print(line)
        self._out.print(_summary(answers))
        _print_certificates(self._out, answers.rows)

    def give_up(self) -> None:
        """Print what stands below the answers if there will be no more, but some are missing."""
        from surefoot.cli.deciding import Answers

        if not self._rows:
            return
        self.finish(Answers(self._job, self._job.options.oracle, tuple(self._rows)))
        left = len(self._job.states) - len(self._rows)
        self._out.print(f"{counted(left, 'state')} not decided")

    def _cells(self, row: Row) -> dict[str, str]:
        from surefoot.cli.state_text import text_of

        answer = row.answer
        return {
            "verdict": row.answer.text,
            "value": str(answer.bounds),
            "deviations": answer.deviations.text if answer.deviations else "",
            "expanded": f"{answer.expanded:,}",
            "time": f"{answer.seconds:,.3f} s",
            "certificate": _certificate_text(row),
            "state": text_of(answer.state, self._labels),
        }

    def _line(self, cells: dict[str, str], *, style: str = "") -> Text:
        """Return the cells in columns; what is too wide takes from the space that comes next."""
        from rich.text import Text

        line, end = Text(style=style), 0
        for name in self._columns:
            cell = cells[name]
            end += WIDTHS[name]
            width = max(end - len(line), 0)
            colour = STYLES.get(cell.partition(" ")[0], "") if name == "verdict" else ""
            line.append(cell.rjust(width) if name in RIGHT else cell.ljust(width), style=colour)
            line.append("  ")
            end += 2
        line.rstrip()
        return line


def print_comparison(answers: Answers) -> None:
    """Print the oracles side by side, and whether they agree."""
    from surefoot.cli.output import console

    out = console()
    _print_head(out, answers.job)
    for text in _comparison(answers):
        out.print(text)
    out.print(_agreement(answers))
    _print_certificates(out, answers.rows)


def _print_head(out: Console, job: Deciding) -> None:
    from rich.text import Text

    out.print(Text(printable(job.task.name), style="bold"))
    for line in _about(job):
        out.print(line)


def _print_certificates(out: Console, rows: Sequence[Row]) -> None:
    for line in (*_kept(rows), *_unchecked(rows)):
        out.print(line)


def _summary(answers: Answers) -> str:
    text = answers.result.summary_text
    seconds = answers.check_seconds
    return text if seconds is None else f"{text}, checked in {seconds:,.3f} s"


def _about(job: Deciding) -> list[str]:
    """Return what the question is, where it is not the usual one."""
    lines = []
    starts, radius = job.starts, job.options.radius
    if job.objective.name != "safety":
        lines.append(f"under the objective {printable(job.objective.name)}")
    if radius is not None and job.policy is not None:
        name = printable(job.policy.name)
        lines.append(f"with at most {counted(radius, 'difference')} from the policy {name}")
    if starts is not None and not starts.are_all:
        total = f"{'' if starts.complete else 'more than '}{starts.listed:,}"
        lines.append(
            f"the first {_several(len(starts.states))}of {total} start states; "
            "--max-starts takes more, --sample draws at random"
        )
    return lines


def _several(count: int) -> str:
    return "" if count == 1 else f"{count:,} "


def notes_on(task: Task, objective: Objective) -> list[str]:
    """Return what a reader of the answers must know about the task."""
    from surefoot.tasks.task import Feature

    is_about_fail = objective.name == "safety" and Feature.DESCRIPTION in task.features
    if not is_about_fail or task.fail_condition is not None:
        return []
    return [
        "the task has no fail condition, so every state is safe; "
        "give one with --fail FILE or --property FILE"
    ]


def _seconds_limit(job: Deciding) -> tuple[float, str, str]:
    """Return which limit of seconds was not enough: that of a state, or that of the whole."""
    if job.deadline.left and job.options.max_seconds < job.deadline.seconds:
        return job.options.max_seconds, "second", "--state-seconds"
    return job.deadline.seconds, "second", "--max-seconds"


def what_ran_out(answers: Answers) -> list[str]:
    """Return what was not enough for verdicts that are unknown, and which option gives more."""
    from surefoot.oracles.tables import UNCHECKED

    options = answers.job.options
    limits = {
        "states": (options.max_states, "state", "--max-states"),
        "seconds": _seconds_limit(answers.job),
        "memory": (options.memory_mb, "MB", "--memory-mb"),
    }
    lines = []
    for reason, count in Counter(map(_reason, answers.rows)).items():
        if reason == UNCHECKED:
            lines.append(
                f"unknown: {counted(count, 'answer')} of the oracle {printable(answers.oracle)} "
                "unchecked: without a certificate that the checker accepts"
            )
        if reason not in limits:
            continue
        limit, word, option = limits[reason]
        is_one = limit == 1
        unit = word if is_one or word == "MB" else f"{word}s"
        lines.append(
            f"unknown: {limit:,} {unit} {'was' if is_one else 'were'} not enough "
            f"for {counted(count, 'state')}; raise {option}"
        )
    return lines


def _reason(row: Row) -> str | None:
    """Return what ran out on the way to the verdict, or else to the deviations."""
    deviations = row.answer.deviations
    return row.answer.reason or (None if deviations is None else deviations.reason)


def _certificate_text(row: Row) -> str:
    if row.checked is None:
        return "-"
    return "checked" if row.checked else "unchecked"


def _rest(rows: Sequence[Row]) -> list[Text]:
    from rich.text import Text

    if not rows:
        return []
    counts = Counter[str](row.answer.verdict for row in rows)
    kinds = ", ".join(f"{counts[v]:,} {v}" for v in rows[0].answer.objective.verdicts if counts[v])
    return [Text(f"... and {len(rows):,} more ({kinds}), see --json")]


def _comparison(answers: Answers) -> list[Text]:
    assert answers.comparison is not None
    results = answers.comparison.results
    summaries = [result.summary for result in results]
    known = _known_verdicts(answers.comparison)
    fastest = min((s["seconds"] for s in summaries), default=0.0)
    cells = [
        [
            result.oracle,
            *(f"{summary[v]:,}" for v in known),
            _unknown(result),
            f"{summary['expanded']:,}",
            f"{summary['seconds']:,.3f} s",
            _ratio(summary["seconds"], fastest),
            "yes" if any(summary[v] for v in known) else "-",
        ]
        for result, summary in zip(results, summaries, strict=True)
    ]
    header = ["oracle", *known, UNKNOWN, "expanded", "time", "ratio", "agrees"]
    return aligned([header, *cells], right=set(header[1:-1]))


def _unknown(result: DecideResult) -> str:
    count = result.summary["unknown"]
    return f"{count:,} ({', '.join(result.reasons)})" if count else "0"


def _ratio(seconds: float, fastest: float) -> str:
    return f"{seconds / fastest:,.1f}" if fastest > 0 else "-"


def _agreement(answers: Answers) -> str:
    comparison = answers.comparison
    assert comparison is not None
    text = f"{_who_agrees(comparison)}: {answers.result.summary_text.partition(';')[0]}"
    for name, why in comparison.left_out.items():
        text += f"\nleft out: {name} ({printable(why)})"
    return text


def _known_verdicts(comparison: Comparison) -> list[str]:
    return [name for name in comparison.results[0].verdicts if name != UNKNOWN]


def _who_agrees(comparison: Comparison) -> str:
    summaries = [result.summary for result in comparison.results]
    known = _known_verdicts(comparison)
    sure = sum(any(summary[name] > 0 for name in known) for summary in summaries)
    unsure = sum(summary[UNKNOWN] > 0 for summary in summaries)
    text = f"{counted(sure, 'oracle')} {'agrees' if sure == 1 else 'agree'}"
    return f"{text}; {unsure:,} left states unknown" if unsure else text


def _kept(rows: Sequence[Row]) -> list[str]:
    files = [each.file for row in rows for each in row.all_evidence if each.checked]
    places = {str(file.parent) for file in files if file is not None}
    return [f"certificates are in {printable(place)}" for place in places]


def _unchecked(rows: Sequence[Row]) -> list[str]:
    unchecked = [each for row in rows for each in row.unchecked]
    if not unchecked:
        return []
    lines = [f"{counted(len(unchecked), 'certificate')} not checked:"]
    lines += [f"  {_how_to_check(each)}" for each in unchecked[:SHOWN_FILES]]
    if len(unchecked) > SHOWN_FILES:
        lines.append(f"  ... and {len(unchecked) - SHOWN_FILES:,} more, see --json")
    return lines


def _how_to_check(evidence: Evidence) -> str:
    if evidence.file is None:
        return f"(no file: {printable(evidence.missing or 'not written')})"
    return f"surefoot check {shlex.quote(printable(str(evidence.file)))}"


def aligned(rows: Sequence[Sequence[str]], *, right: set[str]) -> list[Text]:
    """Return the rows as lines with aligned columns; the first one is the header.

    The columns of ``right`` stand at the right. Verdicts have their colour.
    """
    from rich.text import Text

    header = rows[0]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    lines = []
    for number, row in enumerate(rows):
        line = Text(style="" if number else "dim")
        for i, cell in enumerate(row):
            is_last = i == len(row) - 1
            width = 0 if is_last else widths[i]
            padded = cell.rjust(width) if header[i] in right else cell.ljust(width)
            line.append(padded, style=STYLES.get(cell.partition(" ")[0], "") if number else "")
            line.append("" if is_last else "  ")
        line.rstrip()
        lines.append(line)
    return lines
