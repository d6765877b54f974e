"""What ``faults`` prints for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot.errors import printable
from surefoot.results import Fault, counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.cli.checking import Evidence
    from surefoot.cli.finding_faults import Found, Row

SHOWN_FAULTS = 20
SHOWN_OTHERS = 3
SHOWN_FILES = 5
Labels = dict[str, tuple[str, ...]]


def print_found(found: Found) -> None:
    """Print faults, what stayed unknown, and the summary."""
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of

    out = console()
    task, policy = printable(found.policy.task.name), printable(found.policy.name)
    out.print(Text(f"{task}, policy {policy}", style="bold"))
    labels = labels_of(found.policy.task)
    for text in _lines(found, labels):
        out.print(text)


def _lines(found: Found, labels: Labels) -> Iterator[Text | str]:
    if found.fuzzed is not None:
        yield found.fuzzed.summary_text
    if found.radius is not None:
        yield f"safe means: with at most {counted(found.radius, 'difference')} from the policy"
    for number, row in enumerate(found.rows[:SHOWN_FAULTS], 1):
        yield from _row_lines(row, number, labels, found)
    if len(found.rows) > SHOWN_FAULTS:
        yield f"... and {len(found.rows) - SHOWN_FAULTS:,} more, see --json"
    yield from _unknown_lines(found, labels)
    yield from _unavoidable_lines(found, labels)
    text = found.result.summary_text
    seconds = found.check_seconds
    yield text if seconds is None else f"{text}, checked in {seconds:,.3f} s"
    if found.result.bugs and not found.bugs_only:
        yield "bugs are not checked one by one; --bugs-only does that"
    if found.result.stopped:
        yield f"stopped: ran out of {found.result.stopped} before everything was looked at"
    yield from _file_lines(found)


def _row_lines(row: Row, number: int, labels: Labels, found: Found) -> Iterator[Text | str]:
    from rich.text import Text

    from surefoot.cli.run_text import changes_text
    from surefoot.cli.state_text import text_of

    state = text_of(row.found.state, labels)
    if not isinstance(row.found, Fault):
        yield Text.assemble(("bug", "bold red"), f" {number}: {state}")
        yield f"  is safe, but the policy may fail from there: {_where(row)}"
        yield f"  {_checked(row.evidence)}"
        return
    fault = row.found
    yield Text.assemble(("fault", "bold red"), f" {number}: {printable(fault.action)} in {state}")
    outcome = changes_text(fault.state, fault.outcome, labels)
    yield f"  may lead to {outcome}, which is unsafe"
    yield f"  safe instead: {_alternatives(fault, row)}"
    if fault.deviations is not None:
        yield f"  deviations: {fault.deviations.text}"
    yield f"  {_where(row)}; {_checked(row.evidence)}"


def _alternatives(fault: Fault, row: Row) -> str:
    names = [
        printable(name) + (" (no certificate)" if name in row.uncertified else "")
        for name in fault.alternatives
    ]
    more = ["others may be"] if fault.has_unknown_alternatives else []
    return ", ".join([*names, *more])


def _where(row: Row) -> str:
    run = row.run
    text = f"step {row.found.step + 1} of run {run.run}, which fails after "
    text += counted(run.steps, "step")
    if isinstance(row.found, Fault):
        text += f"; on {counted(len(row.found.runs), 'run')}"
    return text if run.is_known_reachable else f"{text}; not known to be reachable"


def _checked(evidence: Evidence) -> str:
    text = "checked" if evidence.checked else "unchecked"
    return text if evidence.file is None else f"{text}: {printable(str(evidence.file))}"


def _unknown_lines(found: Found, labels: Labels) -> Iterator[str]:
    from surefoot.cli.state_text import text_of

    unknown = found.result.unknown
    for one in unknown[:SHOWN_OTHERS]:
        what = "whether it is safe" if one.what == "state" else "whether its decision is a fault"
        yield f"unknown ({one.reason}): {what}, in {text_of(one.state, labels)}"
    if len(unknown) > SHOWN_OTHERS:
        yield f"... and {len(unknown) - SHOWN_OTHERS:,} more unknown, see --json"


def _unavoidable_lines(found: Found, labels: Labels) -> Iterator[str]:
    from surefoot.cli.state_text import text_of

    several = found.unavoidable
    who = "no policy" if found.radius is None else "no policy so near to this one"
    for each in several[:SHOWN_OTHERS]:
        yield f"run {each.run.run}: the start state is unsafe: {who} could have avoided this"
        yield f"  {text_of(each.run.start, labels)}; {_checked(each.evidence)}"
    if len(several) > SHOWN_OTHERS:
        yield f"... and {len(several) - SHOWN_OTHERS:,} more distinct runs from unsafe states"


def _file_lines(found: Found) -> Iterator[str]:
    kept = {str(e.file.parent) for e in (r.evidence for r in found.rows) if e.file is not None}
    for place in sorted(kept):
        yield f"findings are in {printable(place)}"
    evidence = [row.evidence for row in found.rows] + [one.evidence for one in found.unavoidable]
    unchecked = [each for each in evidence if not each.checked]
    if unchecked:
        yield f"{len(unchecked):,} not checked:"
    for each in unchecked[:SHOWN_FILES]:
        if each.file is None:
            yield f"  (there is no file of one: {printable(each.missing or 'not written')})"
        else:
            yield f"  surefoot check {shlex.quote(printable(str(each.file)))}"
    if len(unchecked) > SHOWN_FILES:
        yield f"  ... and {len(unchecked) - SHOWN_FILES:,} more, see --json"
