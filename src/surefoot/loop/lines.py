"""What the lines of a journal mean: rounds, and bounds of start states that fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

import msgspec

from surefoot.errors import InputError
from surefoot.records import DecisionChange, Iteration, RepairDiff
from surefoot.records.lines import (
    ROUND_LINES,
    AfterLine,
    ChangesPart,
    DiffPart,
    EndLine,
    ExtendLine,
    FaultsLine,
    Line,
    Number,
    RepairLine,
    ResultLine,
    VerifyLine,
)
from surefoot.tasks.state import loose_state

RoundLine = FaultsLine | RepairLine | VerifyLine
ENDS = (EndLine, AfterLine, ResultLine)
OUT_OF_SECONDS = "out-of-seconds"


class _Repaired(TypedDict, total=False):
    trees_added: int
    changed_parameters: int
    distance: float
    keep_states: int
    keep_lost: int
    diff: RepairDiff
    policy: str
    policy_sha256: str | None


def lines_in_force(lines: Iterable[Line]) -> list[Line]:
    """Return the lines that say what was done, without extensions and what these take back: how the
    campaign ended, and the stage before if time cut that short.
    """
    kept: list[Line] = []
    for line in lines:
        if not isinstance(line, ExtendLine):
            kept.append(line)
            continue
        while kept and (isinstance(kept[-1], ENDS) or is_cut_short(kept[-1])):
            kept.pop()
        if kept:  # what it took was used
            kept[-1] = msgspec.structs.replace(kept[-1], total_seconds=line.total_seconds)
    return kept


def is_cut_short(line: Line) -> bool:
    """Return whether a stage came to nothing for lack of time."""
    if isinstance(line, VerifyLine):
        codes = (line.result.code, *(engine.code for engine in line.result.engines))
        return line.result.verdict == "unknown" and OUT_OF_SECONDS in codes
    return isinstance(line, FaultsLine) and line.is_cut and not line.is_new


def lacks_time(lines: Sequence[Line]) -> bool:
    """Return whether a campaign has ended, and may come further with more time."""
    ends = [line for line in lines if isinstance(line, EndLine)]
    return bool(ends) and ends[-1].lacks_time


def max_seconds_of(lines: Iterable[Line], given: float) -> float:
    """Return how many seconds a campaign has from its beginning: those given, or the last that it
    got since.
    """
    limits = [line.max_seconds for line in lines if isinstance(line, ExtendLine)]
    return limits[-1] if limits else given


def iterations_of(lines: Iterable[Line]) -> list[Iteration]:
    """Return the rounds that the lines tell of; the last one may not be complete."""
    by_number: dict[int, list[RoundLine]] = {}
    for line in lines:
        if isinstance(line, ROUND_LINES):
            by_number.setdefault(line.iteration, []).append(line)
    rounds: list[Iteration] = []
    for number, own in by_number.items():
        faults = rounds[-1].faults if rounds else 0
        rounds.append(_iteration(number, own, faults))
    return rounds


def _iteration(number: int, lines: list[RoundLine], faults: int) -> Iteration:
    looks = [line for line in lines if isinstance(line, FaultsLine)]
    fuzzed = [line for line in looks if line.origin == "fuzz"]
    verified = [line for line in lines if isinstance(line, VerifyLine)]
    repairs = [line for line in lines if isinstance(line, RepairLine)]
    new_faults = sum(line.new_faults for line in looks)
    return Iteration(
        iteration=number,
        runs=fuzzed[-1].runs if fuzzed else 0,
        unsafe_runs=fuzzed[-1].unsafe_runs if fuzzed else 0,
        new_faults=new_faults,
        faults=faults + new_faults,
        seconds=_seconds(lines),
        unavoidable=sum(line.unavoidable for line in looks),
        undecided=sum(line.undecided for line in looks),
        suspects=sum(line.new_suspects for line in looks),
        verdict=verified[-1].result.verdict if verified else None,
        reason=verified[-1].result.reason if verified else None,
        **(_repaired(repairs[-1]) if repairs else {}),
    )


def _seconds(lines: list[RoundLine]) -> dict[str, float]:
    seconds = dict.fromkeys(("fuzz", "faults", "repair", "verify"), 0.0)
    for line in lines:
        for stage, each in line.seconds.items():
            seconds[stage] = seconds.get(stage, 0.0) + each
    return seconds


def _repaired(line: RepairLine) -> _Repaired:
    changes: ChangesPart = line.changes
    return {
        "trees_added": changes.trees_added,
        "changed_parameters": changes.changed_parameters,
        "distance": changes.distance,
        "keep_states": changes.keep_states,
        "keep_lost": changes.keep_lost,
        "diff": _diff(changes.diff),
        "policy": line.policy,
        "policy_sha256": changes.sha256,
    }


def _diff(part: DiffPart) -> RepairDiff:
    examples = tuple(
        DecisionChange(loose_state(example.state), example.before, example.after)
        for example in part.examples
    )
    return RepairDiff(part.states, part.changed, examples)


def failing_starts_of(line: VerifyLine, names: Sequence[str]) -> list[tuple[Number, Number]] | None:
    """Return the bounds of start states that fail, one for each variable; None if a verdict has
    none. Raises InputError if there are not as many as variables.
    """
    bounds = line.result.failing_starts
    if bounds is not None and len(bounds) != len(names):
        message = "this is not a line of a campaign: it needs a bound for each variable"
        raise InputError("campaign-damaged", message, place="/result/failing_starts")
    return None if bounds is None else list(bounds)
