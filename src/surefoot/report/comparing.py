"""A comparison of policies as Markdown: for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surefoot.report.markdown_text import code
from surefoot.report.words import percent, score
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.records.comparing import (
        ComparedFault,
        ComparedPolicy,
        CompareResult,
        DecisionDifference,
        Fractions,
        PolicyChange,
    )

LISTED = 5


def comparison_markdown(result: CompareResult, task: str) -> str:
    """Return the summary. Names stand in code spans, where nothing of them is markup."""
    parts = [
        f"### {_sign(result)} Surefoot: {verdict_text(result)}",
        f"{code(task)}, against {code(result.policies[0].name)}.",
        _table(result),
        *(_change(change) for change in result.changes),
    ]
    return "\n\n".join(parts) + "\n"


def _sign(result: CompareResult) -> str:
    if result.is_worse:
        return "❌"
    return "✅" if result.is_complete else "❔"


def verdict_text(result: CompareResult) -> str:
    """Return in a few words whether there are new faults."""
    if result.is_worse:
        return counted(len(result.new), "new fault")
    text = "no new fault" + ("" if result.is_complete else " so far: not everything was examined")
    return text + (", but unsafe from more start states" if result.unsafer else "")


def _table(result: CompareResult) -> str:
    rows = ["| policy | unsafe start states | goal reached | faults |", "|---|---:|---:|---:|"]
    return "\n".join([*rows, *(_row(policy) for policy in result.policies)])


def _row(policy: ComparedPolicy) -> str:
    unsafe, goal = policy.evaluation.unsafe_fraction, policy.evaluation.goal_fraction
    fractions = f"{_fraction(unsafe, policy.unsafe)} | {_fraction(goal, policy.goal)}"
    name = code(policy.name, 100).replace("|", "\\|")
    return f"| {name} | {fractions} | {policy.faults:,} |"


def _fraction(value: float, interval: Fractions) -> str:
    low, high = interval
    return percent(value) + ("" if low == high else f" ({percent(low)} to {percent(high)})")


def _change(change: PolicyChange) -> str:
    counts = (
        f"{len(change.new):,} new, {len(change.mended):,} mended, {len(change.common):,} common"
    )
    lines = [f"**{code(change.name)}**: {counts}", ""]
    lines += [_fault("New", fault) for fault in change.new[:LISTED]]
    lines += [_fault("Mended", fault) for fault in change.mended[:LISTED]]
    lines.append(
        f"- {change.differing:,} of {counted(change.states, 'visited state')} decided otherwise"
    )
    lines += [_difference(each) for each in change.examples[:LISTED]]
    return "\n".join(lines)


def _fault(word: str, fault: ComparedFault) -> str:
    state, action = code(str(fault.fault.state), 300), code(fault.fault.action, 60)
    other = "before" if word == "New" else "now"
    safe = ", ".join(code(name, 60) for name in fault.fault.alternatives[:5])
    instead = "no decision" if fault.instead is None else code(fault.instead, 60)
    return f"- {word}: {action} in {state}; {other} {instead}; safe alternative: {safe}"


def _difference(difference: DecisionDifference) -> str:
    margin = difference.margin_after
    scored = "" if margin is None else f", by {score(margin)}"
    before, after = code(difference.before, 60), code(difference.after, 60)
    return f"  - {before} → {after} in {code(str(difference.state), 300)}{scored}"
