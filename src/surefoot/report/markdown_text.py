"""A campaign as Markdown: a summary for a pull request."""

from __future__ import annotations

import re
from typing import Any

from surefoot.records import Fault
from surefoot.records.common import VERDICTS
from surefoot.report.checks import changed
from surefoot.report.source import CampaignSource
from surefoot.report.words import looked_at, percent, plain, seconds, state_text
from surefoot.text import counted

LISTED_FAULTS = 3
PLAIN = re.compile(r"[A-Za-z0-9 ,.;:()%'-]+")  # nothing in such a text is markup
SIGNS = {"safe": "✅", "improved": "📈", "stopped": "🛑", "running": "⏳", "interrupted": "⏸️"}


def markdown_of(source: CampaignSource) -> str:
    """Return the summary. Names stand in code spans, where nothing of them is markup."""
    parts = [
        f"### {SIGNS.get(source.outcome, '❔')} Surefoot: {source.outcome}",
        f"{code(source.task.get('name'))}, policy {code(source.policy.get('name'))}: "
        f"{source.outcome_text}." + _reason(source),
        _table(source),
        *_faults(source),
        _verified(source),
        _commands(source),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def code(text: object, limit: int = 200) -> str:
    """Return a code span of any text, as GitHub reads it: fenced by more backticks than it has."""
    shown = plain(text, limit)
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    space = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"


def _reason(source: CampaignSource) -> str:
    reason = source.content.get("reason")
    if not reason or reason == source.outcome_text:
        return ""
    text = plain(reason, 500)
    return f" {text[0].upper()}{text[1:]}." if PLAIN.fullmatch(text) else f" {code(text, 500)}"


def _table(source: CampaignSource) -> str:
    before, after = source.evaluation("before") or {}, source.evaluation("after") or {}
    rows = ["| | before | after |", "|---|---:|---:|"]
    words = {"unsafe_fraction": "unsafe start states", "goal_fraction": "goal reached"}
    for name, text in words.items():
        rows.append(f"| {text} | {percent(before.get(name))} | {percent(after.get(name))} |")
    return "\n".join(rows)


def _faults(source: CampaignSource) -> list[str]:
    faults = source.faults
    repaired = sum(map(source.is_repaired, faults))
    line = (
        f"{counted(len(faults), 'fault')}, {repaired:,} repaired, in "
        f"{counted(len(source.iterations), 'iteration')} "
        f"({seconds(source.content.get('seconds'))})."
    )
    shown = [_fault(source, fault) for fault in faults[:LISTED_FAULTS]]
    title = "**Smallest faults**" if len(faults) > len(shown) else "**Faults**"
    return [line, title + "\n\n" + "\n".join(shown)] if shown else [line]


def _fault(source: CampaignSource, fault: Fault) -> str:
    alternatives = [code(values, 60) for values in fault.alternatives[:5]]
    state, outcome = (code(state_text(each), 300) for each in (fault.state, changed(fault)))
    end = f"; safe alternative: {', '.join(alternatives)}" if alternatives else ""
    finding = f" ({code(fault.finding)})" if fault.finding else ""
    status = "Repaired" if source.is_repaired(fault) else "**Not repaired**"
    return (
        f"- {code(fault.action)} in {state} may lead to {outcome}, which is unsafe{end}. "
        f"{status}{finding}."
    )


def _verified(source: CampaignSource) -> str:
    verification = source.verification
    if verification is None:
        return "Not verified."
    text = f"Verification: **{_verdict(verification)}**, {looked_at(verification)}"
    if verification.get("certificate"):
        status = _status(verification.get("checked"))
        text += f"; certificate {code(verification['certificate'])} {status}"
    return text + "."


def _verdict(verification: Any) -> str:
    verdict = verification.get("verdict")
    return str(verdict) if verdict in VERDICTS else "unknown"


def _status(checked: object) -> str:
    if checked is None:
        return "not checked"
    return "accepted by the checker" if checked is True else "**rejected by the checker**"


def _commands(source: CampaignSource) -> str:
    commands = [plain(command) for command in source.content.get("reproduce") or []]
    if not commands:
        return ""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(commands))), default=0))
    lines = "\n".join(commands)
    return f"<details><summary>Reproduce</summary>\n\n{fence}sh\n{lines}\n{fence}\n</details>"
