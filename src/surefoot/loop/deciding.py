"""What comes next: the rounds of the loop as one function of what is known so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from surefoot.loop.lines import is_cut_short
from surefoot.loop.made import Failed
from surefoot.loop.precautions import are_possible
from surefoot.loop.state import State
from surefoot.options import DebugOptions
from surefoot.records import EvaluateResult
from surefoot.records.common import restriction
from surefoot.records.lines import (
    AfterLine,
    BeforeLine,
    BeginLine,
    EndLine,
    FaultsLine,
    RepairLine,
    VerdictPart,
    VerifyLine,
)
from surefoot.text import counted

AGAIN = "a fault that was repaired is there again"


@dataclass(frozen=True)
class Begin:
    """Draw the start states."""


@dataclass(frozen=True)
class Evaluate:
    """Evaluate the policy as it came, or the final one."""

    which: Literal["before", "after"]


@dataclass(frozen=True)
class Fuzz:
    """Fuzz the policy of this round, and find faults on the runs that fail."""


@dataclass(frozen=True)
class Boxes:
    """Look for precautions: decisions where boxes get stuck."""


@dataclass(frozen=True)
class Verify:
    """Verify the policy of this round."""


@dataclass(frozen=True)
class Analyse:
    """Find faults on the failing runs that verification found."""


@dataclass(frozen=True)
class Repair:
    """Repair all faults so far. What ``is_precaution`` may be left out if it is not possible."""

    is_precaution: bool = False


@dataclass(frozen=True)
class End:
    """Stop. Whether ``open`` means improved or unknown, the evaluation will say."""

    kind: Literal["safe", "stopped", "open"]
    reason: str
    lacks_time: bool = False
    is_no_better: bool = False
    """whether the policy that was taken for the best has turned out not to be"""


Step = Begin | Evaluate | Fuzz | Boxes | Verify | Analyse | Repair | End


def next_step(state: State, options: DebugOptions) -> Step | None:
    """Return what comes after all that was done; None if nothing does."""
    match state.last:
        case None:
            return Begin()
        case BeginLine():
            return Evaluate("before")
        case BeforeLine() | RepairLine():
            return _failed(state.failed) if state.failed is not None else Fuzz()
        case FaultsLine() as line:
            return _after_look(line, state, options)
        case VerifyLine() as line:
            return _after_verdict(line)
        case EndLine():
            return Evaluate("after")
        case AfterLine() as line:
            return _after_evaluation(line, state)
    return None


def _failed(failed: Failed) -> End:
    return End("open", failed.reason, lacks_time=failed.lacks_time)


def _after_evaluation(line: AfterLine, state: State) -> End | None:
    """Return another end, without the last repair, if that was not tried and is no better."""
    end, before = state.lines[-2], state.lines[1]
    assert isinstance(end, EndLine) and isinstance(before, BeforeLine)
    if end.end != "open" or end.best != state.untried or is_better(line.result, before.result):
        return None
    return End("open", end.reason, lacks_time=end.lacks_time, is_no_better=True)


def is_better(after: EvaluateResult, before: EvaluateResult) -> bool:
    """Return whether a policy fails from a smaller share of the start states that were looked at;
    these are at least half as many as before, if time cut that short.
    """
    now, then = (max(result.exhaustive, result.runs) for result in (after, before))
    return 2 * now >= then > 0 and after.unsafe * then < before.unsafe * now


def _after_look(line: FaultsLine, state: State, options: DebugOptions) -> Step:
    """Repair what is new. Verify if nothing is, and nothing is left open."""
    if line.is_precaution and state.failed is None:
        return Repair(is_precaution=True)
    if line.origin == "boxes":
        return _verify(options)
    if state.failed is not None:
        return _failed(state.failed)
    if line.is_new:
        return _repair(state, options)
    if (end := _unsettled(line, options)) is not None:
        return end
    if line.origin == "verify":
        return End("open", AGAIN)
    return Boxes() if _takes_precautions(state, options) else _verify(options)


def _repair(state: State, options: DebugOptions) -> Step:
    if state.round > options.iterations:
        return End("open", f"stopped after {counted(options.iterations, 'repair')}")
    return Repair()


def _verify(options: DebugOptions) -> Step:
    if options.verify.method == "none":
        return End("open", "no failing run was found; not verified, as asked for")
    return Verify()


def _after_verdict(line: VerifyLine) -> Step:
    result = line.result
    if result.verdict == "safe":
        claim = f"no run fails from {_starts_text(result)}"
        return End("safe", f"{claim},{restriction(True)}" if result.sampled else claim)
    if result.verdict == "unknown":
        reason = f"no failing run was found; not verified: {result.reason}"
        return End("open", reason, lacks_time=is_cut_short(line))
    return Analyse()


def _unsettled(line: FaultsLine, options: DebugOptions) -> End | None:
    """Return the end if runs fail for another reason than a new fault, or for an unknown one."""
    if line.unavoidable:
        radius = options.faults.radius
        near = "" if radius is None else f" within radius {radius} of this one"
        return End("stopped", f"a failing run begins in a state from where no policy{near} is safe")
    if line.undecided:
        runs, why = counted(line.undecided, "failing run"), line.why_undecided
        return End("open", f"could not determine the faulty decision in {runs} ({why})")
    if line.is_cut:
        reason = "ran out of seconds or memory before all runs were examined"
        return End("open", reason, lacks_time=True)
    if line.origin == "fuzz" and line.unsafe_runs:
        return End("open", AGAIN)
    return None


def _takes_precautions(state: State, options: DebugOptions) -> bool:
    """Return whether a policy that is easier to verify is looked for before verification."""
    if len(state.careful_rounds) >= options.precautions or state.gave_up:
        return False
    if state.round > options.iterations or state.starts is None:
        return False
    return are_possible(state.policy, state.starts, options)


def _starts_text(result: VerdictPart) -> str:
    if result.boxes and not result.states:
        return f"any start state, as {counted(result.boxes, 'box')} of {result.method} show"
    starts, reached = result.starts, counted(result.states, "state")
    which = f"any of the {starts:,} start states" if starts != 1 else "the one start state"
    return f"{which}; the policy reaches {reached}"


KINDS = {
    Begin: BeginLine,
    Fuzz: FaultsLine,
    Boxes: FaultsLine,
    Analyse: FaultsLine,
    Verify: VerifyLine,
    Repair: RepairLine,
    End: EndLine,
}
ORIGINS = {Fuzz: "fuzz", Boxes: "boxes", Analyse: "verify"}


def is_due(line: object, step: Step, state: State) -> bool:
    """Return whether a line is what a step makes, in this round."""
    if isinstance(step, Evaluate):
        return isinstance(line, BeforeLine if step.which == "before" else AfterLine)
    if not isinstance(line, KINDS[type(step)]):
        return False
    is_of_round = getattr(line, "iteration", state.round) == state.round
    return is_of_round and getattr(line, "origin", None) == ORIGINS.get(type(step))


def tag_of(step: Step) -> str:
    """Return the kind of the line that a step makes."""
    return (
        step.which if isinstance(step, Evaluate) else str(KINDS[type(step)].__struct_config__.tag)
    )
