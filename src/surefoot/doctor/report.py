"""What the doctor reports, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from surefoot.doctor.policy_report import PolicyFacts, policy_lines
from surefoot.errors import printable, quoted
from surefoot.records import Result
from surefoot.text import counted

SHOWN_ITEMS = 40
REAL_HUGE = 1e300


@dataclass(frozen=True)
class VariableFacts:
    """A state variable as declared; ``initial`` None stands for any value of its range."""

    name: str
    type: str
    lower: float | None
    upper: float | None
    initial: Any
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True)
class ActionFacts:
    """An action; ``edges`` is None where Python code defines the task."""

    name: str
    silent: bool
    edges: int | None


@dataclass(frozen=True)
class Remark:
    """Something unusual. ``code`` is stable; ``place`` is where in the file, if it is one place."""

    code: str
    message: str
    place: str | None = None


@dataclass(frozen=True)
class DoctorReport(Result):
    """What a task contains (counts are None where Python code defines it) and what is unusual.

    ``sampled`` is the number of different states that were examined. ``warnings`` come from
    reading the file, ``findings`` from looking at the task and at the policy, if there is one.
    """

    name: str
    file: str | None
    sha256: str | None
    variables: tuple[VariableFacts, ...]
    constants: dict[str, object]
    actions: tuple[ActionFacts, ...]
    edges: int | None
    outcomes: int | None
    bits: int | None
    words: int | None
    residuals: int | None
    start: str
    goal: str | None
    fail: str | None
    sampled: int
    warnings: tuple[Remark, ...]
    findings: tuple[Remark, ...]
    policy: PolicyFacts | None = None

    def __str__(self) -> str:
        return "\n".join(_report_lines(self))


# -- words -------------------------------------------------------------------------------------


def agreeing(count: int, singular: str, many: str) -> str:
    return singular if count == 1 else many


def named(names: list[str]) -> str:
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(map(quoted, names[:5])) + more


def variables_text(names: list[str]) -> str:
    return f"{counted(len(names), 'variable')} ({named(names)})"


# -- the report as text ------------------------------------------------------------------------


def _report_lines(report: DoctorReport) -> Iterator[str]:
    yield printable(report.name)
    if report.file is not None:
        yield f"  file     {printable(report.file)}"
    if report.sha256 is not None:
        yield f"  sha256   {report.sha256}"
    if report.edges is not None:
        yield f"  edges    {report.edges:,} with {counted(report.outcomes or 0, 'outcome')}"
        bits, words = counted(report.bits or 0, "bit"), counted(report.words or 0, "word")
        yield f"  state    {bits}, {words} of 8 bytes"
        conditions = counted(report.residuals or 0, "condition")
        need = agreeing(report.residuals or 0, "needs", "need")
        yield f"  guards   {conditions} {need} more than table look-ups"
    yield f"  start    {report.start}"
    yield f"  goal     {report.goal or 'none'}"
    yield f"  fail     {report.fail or 'none'}"
    yield from _section("variables", [_variable_text(v) for v in report.variables])
    if report.constants:
        shown = [f"{printable(n)} = {_value_text(v)}" for n, v in report.constants.items()]
        yield from _section("constants", shown)
    yield from _section("actions", [_action_text(a) for a in report.actions])
    if report.policy is not None:
        yield from policy_lines(report.policy)
    unusual = [_finding_text(f) for f in (*report.warnings, *report.findings)]
    looked = "" if report.edges is None else "the description and "
    looked += counted(report.sampled, "sampled state")
    yield f"unusual ({len(unusual)}), looking at {looked}"
    yield from unusual or ["  nothing found"]


def _section(title: str, lines: list[str]) -> Iterator[str]:
    yield f"{title} ({len(lines):,})"
    yield from (f"  {line}" for line in lines[:SHOWN_ITEMS])
    if len(lines) > SHOWN_ITEMS:
        yield f"  ... and {len(lines) - SHOWN_ITEMS:,} more (all of them with --json)"


def _variable_text(v: VariableFacts) -> str:
    text = f"{printable(v.name)}: {v.type}"
    if v.labels is not None:
        text = f"{printable(v.name)}: one of {', '.join(map(printable, v.labels[:8]))}"
        text += ", ..." if len(v.labels) > 8 else ""
    elif v.lower is not None and v.upper is not None and v.type != "bool":
        is_bounded = v.type != "real" or max(abs(v.lower), abs(v.upper)) < REAL_HUGE
        text += f" from {v.lower} to {v.upper}" if is_bounded else ", unbounded"
    if v.initial is None:
        return text
    initial = v.labels[int(v.initial)] if v.labels is not None else _value_text(v.initial)
    return f"{text}, initially {printable(initial)}"


def _value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else printable(str(value))


def _action_text(action: ActionFacts) -> str:
    silent = ", silent" if action.silent else ""
    edges = "" if action.edges is None else f": {counted(action.edges, 'edge')}"
    return f"{printable(action.name)}{edges}{silent}"


def _finding_text(finding: Remark) -> str:
    where = f" (at {printable(finding.place)})" if finding.place else ""
    return f"  ! {printable(finding.message, limit=2000)}{where} [{finding.code}]"
