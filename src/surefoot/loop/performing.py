"""Doing the steps of the loop: each from what is known, with no other effect than its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import msgspec

from surefoot.errors import InputError, OutOfBudget
from surefoot.evaluate import evaluate
from surefoot.findings import run_from
from surefoot.loop import stages
from surefoot.loop.deciding import Analyse, Begin, Boxes, End, Evaluate, Fuzz, Repair, Step, Verify
from surefoot.loop.lines import OUT_OF_SECONDS, failing_starts_of
from surefoot.loop.made import Failed, Made
from surefoot.loop.precautions import precautions
from surefoot.loop.stages import Analysis, Decisions, Stage
from surefoot.loop.starts import Starts, make_starts, more_starts, starts_within
from surefoot.loop.state import ORIGINAL, State
from surefoot.options import DebugOptions
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.lines import AfterLine, BeforeLine, BeginLine, EndLine, RepairLine, VerifyLine

FAILING_STARTS = 500  # to draw where verification knows bounds of start states that fail
LEAST_SECONDS = 0.5  # for what takes place also when the time is used up
REDRAW_SECONDS = 60.0  # for start states that were drawn before

NAMES: dict[type[Step], str] = {
    Begin: "drawing start states",
    Fuzz: "fuzzing",
    Boxes: "looking where boxes get stuck",
    Verify: "verifying",
    Analyse: "looking for faults",
    Repair: "repairing",
    End: "ending",
}


def name_of(step: Step) -> str:
    """Return what a step is called while it is done."""
    return f"evaluating {step.which}" if isinstance(step, Evaluate) else NAMES[type(step)]


def work_of(step: Step, state: State, stage: Stage) -> Callable[[], Made | Failed]:
    """Return the work of a step, which makes something or fails."""
    match step:
        case Begin():
            return partial(_begun, state, stage)
        case Evaluate():
            return partial(_evaluated, step, state, stage)
        case Fuzz():
            return partial(stages.looked, _analysis(state, stage), _starts(state).debugging)
        case Boxes():
            return partial(precautions, _analysis(state, stage))
        case Verify():
            return partial(stages.verified, state.policy, state.round, stage)
        case Analyse():
            return partial(_analysed, state, stage)
        case Repair():
            return partial(_repaired, state, stage)
        case End():
            return partial(_ended, step, state)


def _begun(state: State, stage: Stage) -> Made:
    starts = drawn_starts(state, stage)
    return Made(BeginLine(starts=starts.part(), seconds={}), starts=starts)


def _ended(step: End, state: State) -> Made:
    """End with the policy that is the best as far as is known; one that was not tried is evaluated
    next.
    """
    best = state.round - 1 if step.kind == "safe" else state.best
    if step.kind == "open" and state.untried is not None and not step.is_no_better:
        best = state.untried
    line = EndLine(
        end=step.kind, reason=step.reason, best=best, lacks_time=step.lacks_time, seconds={}
    )
    return Made(line)


def drawn_starts(state: State, stage: Stage, *, are_all: bool | None = None) -> Starts:
    """Return the start states; ``are_all`` says whether they were all there are, before."""
    most = max(stage.left_seconds, LEAST_SECONDS)
    return make_starts(state.policy.task, stage.options, max_seconds=most, are_all=are_all)


def _starts(state: State) -> Starts:
    assert state.starts is not None  # they were drawn first
    return state.starts


def _analysis(state: State, stage: Stage) -> Analysis:
    return Analysis(state.policy, state.round, state.seen, stage)


def _evaluated(step: Evaluate, state: State, stage: Stage) -> Made:
    """Evaluate a policy on the start states that are for this."""
    policy, kind = state.policies[0], BeforeLine
    if step.which == "after":
        end = state.last
        assert isinstance(end, EndLine)
        if end.best == ORIGINAL:
            return _as_before(state)
        policy, kind = state.policies[end.best], AfterLine  # type: ignore[assignment]
    starts, wanted = _starts(state), stage.within(stage.options.evaluate)
    states = policy.task.unpack_all(b"".join(starts.evaluation))
    result = evaluate(policy.task, policy, states, options=wanted, progress=stage.numbers)
    result = replace(result, all_starts=starts.are_all)
    return Made(kind(result=result, seconds={"evaluate": result.seconds}))


def _as_before(state: State) -> Made:
    """Return the evaluation of the policy as it came once more: it is the final one, too."""
    before = state.lines[1]
    assert isinstance(before, BeforeLine)
    return Made(AfterLine(result=replace(before.result, seconds=0.0), seconds={"evaluate": 0.0}))


def _analysed(state: State, stage: Stage) -> Made:
    """Look at the runs of verification. Where there are more start states than those to debug on,
    others are tried, too: verification takes long. So are those within the bounds that verification
    knows to fail.
    """
    line, policy, starts = state.last, state.policy, _starts(state)
    assert isinstance(line, VerifyLine)
    task, seed = policy.task, stage.options.seed + state.round
    raw = [line.result.run, *line.result.others]
    runs = [replace(run_from(content, task), run=n) for n, content in enumerate(raw)]
    bounds = failing_starts_of(line, task.names)
    more = more_starts(task, stage.options, starts, seed=seed)
    if bounds is not None:
        failing = starts_within(task, bounds, FAILING_STARTS, seed=seed)
        more = tuple(dict.fromkeys((*starts.not_evaluated(failing), *more)))
    others = stages.fuzzed(policy, more, stage) if more else None
    return _analysis(state, stage).of_verified(runs, others)


# -- repair ------------------------------------------------------------------------------------


def _repaired(state: State, stage: Stage) -> Made | Failed:
    """Repair all faults; if that is not possible, without precautions. The policy comes from the
    one of the round before, not from the original: what that one does well stays as it is.

    Returns why if it is not possible: other mistakes are not hidden.
    """
    keep = _kept_decisions(state, stage)
    failed = Failed("there is nothing to repair")
    for guilty, leaves_out in _repairs(state):
        try:
            made = stages.repaired(state.policy, guilty, keep, state.round, stage)
        except (OutOfBudget, InputError) as error:
            if isinstance(error, InputError) and error.code != "contradictory-faults":
                raise
            lacks_time = isinstance(error, OutOfBudget) and error.code == OUT_OF_SECONDS
            failed = Failed(f"repair: {error.message}", lacks_time)
            continue
        assert isinstance(made.line, RepairLine)
        line = msgspec.structs.replace(made.line, without_precautions=leaves_out)
        return replace(made, line=line)
    return failed


def _repairs(state: State) -> list[tuple[list[Fault], bool]]:
    """Return the decisions to change, the first choice first, and whether precautions that were
    among them are left out.
    """
    choices = [(state.guilty(), False)]
    has_precautions = bool(state.careful_rounds) and not state.gave_up
    if has_precautions and (others := state.guilty(with_precautions=False)):
        choices.append((others, True))
    return choices


def _kept_decisions(state: State, stage: Stage) -> Decisions:
    """Return decisions to keep: those on goal runs of the original policy, drawn once, and those on
    goal runs of the policy that is repaired.
    """
    options = stage.options.repair
    if state.round == 1 or not options.keep:
        return stage.original_keep()
    return [*stage.original_keep(), *drawn_keep(state.policy, stage.options)]


def drawn_keep(policy: Policy, options: DebugOptions) -> Decisions:
    """Return decisions on goal runs of a policy."""
    from surefoot.repair import draw_keep_states

    repair = options.repair
    return list(draw_keep_states(policy, repair.keep, seed=repair.seed))
