"""What the lines of a journal mean: rounds, and bounds of start states that fail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict

from surefoot.errors import InputError
from surefoot.records import DecisionChange, Iteration, RepairDiff
from surefoot.records.lines import (
    ROUND_LINES,
    ChangesPart,
    DiffPart,
    FaultsLine,
    Line,
    Number,
    RepairLine,
    VerifyLine,
)
from surefoot.tasks.state import loose_state

RoundLine = FaultsLine | RepairLine | VerifyLine


class _Repaired(TypedDict, total=False):
    trees_added: int
    changed_parameters: int
    distance: float
    keep_states: int
    keep_lost: int
    diff: RepairDiff
    policy: str
    policy_sha256: str | None


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
