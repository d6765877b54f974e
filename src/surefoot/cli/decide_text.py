"""What ``decide`` prints for people."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from surefoot.errors import printable
from surefoot.results import VERDICTS, counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.cli.checking import Row
    from surefoot.cli.deciding import Found, Job

STYLES = {"safe": "bold green", "unsafe": "bold red", "unknown": "bold yellow"}
SHOWN_ROWS = 20
SHOWN_FILES = 5
NOT_WRITTEN = "(one that is too large to be written)"


def print_found(found: Found) -> None:
    """Print the answers, or the comparison, and the summary."""
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    out.print(Text(printable(found.job.task.name), style="bold"))
    for line in _about(found.job):
        out.print(line)
    lines = _answers(found) if found.comparison is None else _comparison(found)
    for text in lines:
        out.print(text)
    out.print(found.result.summary_text if found.comparison is None else _agreement(found))
    for line in (*_kept(found.rows), *_unchecked(found.rows)):
        out.print(line)


def _about(job: Job) -> list[str]:
    """Return what the question is, where it is not the usual one."""
    lines = []
    starts, radius = job.starts, job.options.radius
    if radius is not None and job.policy is not None:
        name = printable(job.policy.name)
        lines.append(f"with at most {counted(radius, 'difference')} from the policy {name}")
    if starts is not None and not starts.are_all:
        total = f"{'' if starts.complete else 'more than '}{starts.listed:,}"
        lines.append(
            f"the first {len(starts.states):,} of {total} start states; "
            "--max-starts takes more, --sample draws at random"
        )
    return lines


def what_ran_out(found: Found) -> list[str]:
    """Return what was not enough for verdicts that are unknown, and which option gives more."""
    options = found.job.options
    limits = {
        "states": (f"{options.max_states:,} states", "--max-states"),
        "seconds": (f"{options.max_seconds:,g} seconds", "--max-seconds"),
        "memory": (f"{options.memory_mb:,} MB", "--memory-mb"),
    }
    lines = []
    for reason, count in Counter(map(_reason, found.rows)).items():
        if reason is None:
            continue
        limit, option = limits.get(reason, (reason, "the limit"))
        lines.append(
            f"unknown: {limit} were not enough for {counted(count, 'state')}; raise {option}"
        )
    return lines


def _reason(row: Row) -> str | None:
    """Return what ran out on the way to the verdict, or else to the deviations."""
    deviations = row.answer.deviations
    return row.answer.reason or (None if deviations is None else deviations.reason)


def _answers(found: Found) -> list[Text]:
    from surefoot.cli.state_text import labels_of, text_of

    labels = labels_of(found.job.task)
    shown = found.rows[:SHOWN_ROWS]
    has_deviations = any(row.answer.deviations is not None for row in shown)
    cells = [
        [
            _verdict(row),
            *([row.answer.deviations.text] if row.answer.deviations else []),
            f"{row.answer.expanded:,}",
            f"{row.answer.seconds:,.3f} s",
            _checked(row),
            text_of(row.answer.state, labels),
        ]
        for row in shown
    ]
    more = ["deviations"] if has_deviations else []
    lines = aligned(
        [["verdict", *more, "expanded", "time", "certificate", "state"], *cells],
        right={"deviations", "expanded", "time"},
    )
    return [*lines, *_rest(found.rows[SHOWN_ROWS:])]


def _verdict(row: Row) -> str:
    answer = row.answer
    return f"{answer.verdict} ({answer.reason})" if answer.reason else answer.verdict


def _checked(row: Row) -> str:
    if row.checked is None:
        return "-"
    return "checked" if row.checked else "unchecked"


def _rest(rows: Sequence[Row]) -> list[Text]:
    from rich.text import Text

    if not rows:
        return []
    counts = {v: sum(row.answer.verdict == v for row in rows) for v in VERDICTS}
    kinds = ", ".join(f"{count:,} {v}" for v, count in counts.items() if count)
    return [Text(f"... and {len(rows):,} more ({kinds}), see --json")]


def _comparison(found: Found) -> list[Text]:
    assert found.comparison is not None
    results = found.comparison.results
    summaries = [result.summary for result in results]
    fastest = min((s["seconds"] for s in summaries), default=0.0)
    cells = [
        [
            result.oracle,
            *(f"{summary[v]:,}" for v in VERDICTS),
            f"{summary['expanded']:,}",
            f"{summary['seconds']:,.3f} s",
            _ratio(summary["seconds"], fastest),
            "yes" if summary["safe"] or summary["unsafe"] else "-",
        ]
        for result, summary in zip(results, summaries, strict=True)
    ]
    header = ["oracle", *VERDICTS, "expanded", "time", "ratio", "agrees"]
    return aligned([header, *cells], right=set(header[1:-1]))


def _ratio(seconds: float, fastest: float) -> str:
    return f"{seconds / fastest:,.1f}" if fastest > 0 else "-"


def _agreement(found: Found) -> str:
    comparison = found.comparison
    assert comparison is not None
    text = f"{counted(len(comparison.results), 'oracle')} agree: {found.result.summary_text}"
    text = text.partition(";")[0]
    for name, why in comparison.left_out.items():
        text += f"\nleft out: {name} ({printable(why)})"
    return text


def _kept(rows: Sequence[Row]) -> list[str]:
    files = [each.file for row in rows for each in row.all_evidence if each.checked]
    places = {str(file.parent) for file in files if file is not None}
    return [f"certificates are in {printable(place)}" for place in places]


def _unchecked(rows: Sequence[Row]) -> list[str]:
    files = [file for row in rows for file in row.unchecked_files]
    if not files:
        return []
    lines = [f"{counted(len(files), 'certificate')} not checked:"]
    lines += [
        f"  surefoot check {shlex.quote(printable(str(file)))}" if file else f"  {NOT_WRITTEN}"
        for file in files[:SHOWN_FILES]
    ]
    if len(files) > SHOWN_FILES:
        lines.append(f"  ... and {len(files) - SHOWN_FILES:,} more, see --json")
    return lines


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
