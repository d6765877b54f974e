"""What ``faults`` prints for people."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot.errors import printable
from surefoot.records import Fault
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.text import Text

    from surefoot.cli.finding_faults import FaultsAnswer, Row
    from surefoot.evidence.findings import Evidence

SHOWN_FAULTS = 20
SHOWN_OTHERS = 3
SHOWN_FILES = 5
Labels = dict[str, tuple[str, ...]]


def print_faults(result: FaultsAnswer) -> None:
    """Print faults, what stayed unknown, and the summary."""
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.cli.state_text import labels_of

    out = console()
    task, policy = printable(result.policy.task.name), printable(result.policy.name)
    out.print(Text(f"{task}, policy {policy}", style="bold"))
    labels = labels_of(result.policy.task)
    for text in _lines(result, labels):
        out.print(text)


def _lines(result: FaultsAnswer, labels: Labels) -> Iterator[Text | str]:
    if result.fuzzed is not None:
        yield result.fuzzed.summary_text
    if result.radius is not None:
        yield f"safe means: with at most {counted(result.radius, 'difference')} from the policy"
    for number, row in enumerate(result.rows[:SHOWN_FAULTS], 1):
        yield from _row_lines(row, number, labels, result)
    if len(result.rows) > SHOWN_FAULTS:
        yield f"... and {len(result.rows) - SHOWN_FAULTS:,} more, see --json"
    yield from _unknown_lines(result, labels)
    yield from _unavoidable_lines(result, labels)
    text = result.result.summary_text
    seconds = result.check_seconds
    yield text if seconds is None else f"{text}, checked in {seconds:,.3f} s"
    if result.result.bugs and not result.bugs_only:
        yield "bugs are not checked one by one; --bugs-only does that"
    if result.result.stopped:
        yield f"stopped: ran out of {result.result.stopped} before everything was examined"
    yield from _file_lines(result)


def _row_lines(row: Row, number: int, labels: Labels, result: FaultsAnswer) -> Iterator[Text | str]:
    from rich.text import Text

    from surefoot.cli.run_text import changes_text
    from surefoot.cli.state_text import text_of

    state = text_of(row.decision.state, labels)
    if not isinstance(row.decision, Fault):
        yield Text.assemble(("bug", "bold red"), f" {number}: {state}")
        yield f"  is safe, but the policy may fail from there: {_where(row)}"
        yield f"  {_evidence_text(row.evidence)}"
        return
    fault = row.decision
    yield Text.assemble(("fault", "bold red"), f" {number}: {printable(fault.action)} in {state}")
    assert fault.outcome is not None  # it was found on a run
    outcome = changes_text(fault.state, fault.outcome, labels)
    yield f"  may lead to {outcome}, which is unsafe"
    yield f"  safe alternative: {_alternatives(fault, row)}"
    if fault.deviations is not None:
        yield f"  deviations: {fault.deviations.text}"
    yield f"  {_where(row)}; {_evidence_text(row.evidence)}"


def _alternatives(fault: Fault, row: Row) -> str:
    names = [
        printable(name) + (" (no certificate)" if name in row.uncertified else "")
        for name in fault.alternatives
    ]
    more = ["possibly others"] if fault.has_unknown_alternatives else []
    return ", ".join([*names, *more])


def _where(row: Row) -> str:
    run = row.run
    text = f"step {row.decision.step + 1} of run {run.run}, which fails after "
    text += counted(run.steps, "step")
    if isinstance(row.decision, Fault):
        text += f"; on {counted(len(row.decision.runs), 'run')}"
    return text if run.is_known_reachable else f"{text}; not known to be reachable"


def _evidence_text(evidence: Evidence) -> str:
    text = "checked" if evidence.checked else "unchecked"
    return text if evidence.file is None else f"{text}: {printable(str(evidence.file))}"


def _unknown_lines(result: FaultsAnswer, labels: Labels) -> Iterator[str]:
    from surefoot.cli.state_text import text_of

    unknown = result.result.unknown
    for run in unknown[:SHOWN_OTHERS]:
        what = "whether it is safe" if run.what == "state" else "whether its decision is a fault"
        yield f"unknown ({run.reason}): {what}, in {text_of(run.state, labels)}"
    if len(unknown) > SHOWN_OTHERS:
        yield f"... and {len(unknown) - SHOWN_OTHERS:,} more unknown, see --json"


def _unavoidable_lines(result: FaultsAnswer, labels: Labels) -> Iterator[str]:
    from surefoot.cli.state_text import text_of

    several = result.unavoidable
    subject = "no policy" if result.radius is None else "no policy so near to this one"
    for each in several[:SHOWN_OTHERS]:
        yield f"run {each.run.run}: the start state is unsafe: {subject} could have avoided this"
        yield f"  {text_of(each.run.start, labels)}; {_evidence_text(each.evidence)}"
    if len(several) > SHOWN_OTHERS:
        yield f"... and {len(several) - SHOWN_OTHERS:,} more distinct runs from unsafe states"


def _file_lines(result: FaultsAnswer) -> Iterator[str]:
    kept = {str(e.file.parent) for e in (r.evidence for r in result.rows) if e.file is not None}
    for place in sorted(kept):
        yield f"findings are in {printable(place)}"
    evidence = [row.evidence for row in result.rows] + [run.evidence for run in result.unavoidable]
    unchecked = [each for each in evidence if not each.checked]
    if unchecked:
        yield f"{len(unchecked):,} not checked:"
    for each in unchecked[:SHOWN_FILES]:
        if each.file is None:
            yield f"  (no file: {printable(each.missing or 'not written')})"
        else:
            yield f"  surefoot check {shlex.quote(printable(str(each.file)))}"
    if len(unchecked) > SHOWN_FILES:
        yield f"  ... and {len(unchecked) - SHOWN_FILES:,} more, see --json"
