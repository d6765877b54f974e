"""Suspects: decisions on failing runs that have an alternative known to be safe, although it is not
known whether they are faults.

On real numbers it often takes too long to prove that fail cannot be avoided any more. That a state
is safe takes no more than one other action after which the policy itself surely does not fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surefoot.evaluate import CANNOT, may_fail
from surefoot.options import FaultOptions
from surefoot.policies import Policy
from surefoot.records import Fault, Run
from surefoot.records.faults import POSSIBLE_LOSS

MAX_ANALYSED_RUNS = 300
MAX_STEPS = 200  # at the end of a run: what comes before is not looked at


def find_suspects(policy: Policy, runs: Iterable[Run], *, options: FaultOptions) -> list[Fault]:
    """Return the last decision of each run that has a safe alternative, each once. It may
    be a fault: its loss begins at 0.

    What it does: asks for the outcomes of every other action on the run whether the policy may fail
    from there. Guarantee: with each alternative the state is safe. Cost: one exploration of what
    the policy reaches. When to use it: where fault analysis comes to no answer. Paper: none; these
    are bugs (Jain et al. 2025, def. 2) with the last way out.
    """
    trials = [trial for run in list(runs)[:MAX_ANALYSED_RUNS] for trial in _trials(policy, run)]
    outcomes = [packed for trial in trials for packed in trial.outcomes]
    answers = may_fail(
        policy,
        outcomes,
        max_seconds=options.max_seconds,
        max_bytes=options.max_bytes,
        max_states=options.max_states,
    )
    by_run: dict[int, Fault] = {}
    at = 0
    for trial in trials:
        own = answers[at : at + len(trial.outcomes)]
        at += len(trial.outcomes)
        if all(answer == CANNOT for answer in own):
            _note(by_run, trial)
    by_state = {(fault.state, fault.action): fault for fault in reversed(list(by_run.values()))}
    return list(reversed(by_state.values()))


@dataclass(frozen=True)
class _Trial:
    run: Run
    step: int
    action: str
    outcomes: tuple[bytes, ...]


def _trials(policy: Policy, run: Run) -> Sequence[_Trial]:
    """Return what else could have been done at each step of a run, the last steps only."""
    task = policy.task
    trials = []
    for step in range(max(run.steps - MAX_STEPS, 0), run.steps):
        taken, state = run.actions[step], run.states[step]
        if taken in task.silent:
            continue
        for action in task.applicable(state):
            if action != taken and action not in task.silent:
                outcomes = tuple(outcome.packed for outcome in task.outcomes(state, action))
                trials.append(_Trial(run, step, action, outcomes))
    return trials


def _note(by_run: dict[int, Fault], trial: _Trial) -> None:
    """Keep a safe alternative if no later step of its run has one."""
    known = by_run.get(trial.run.run)
    alternatives: tuple[str, ...] = (trial.action,)
    if known is not None and known.step == trial.step:
        alternatives = (*known.alternatives, trial.action)
    state, taken = trial.run.states[trial.step], trial.run.actions[trial.step]
    by_run[trial.run.run] = Fault(
        state=state,
        action=taken,
        alternatives=alternatives,
        outcome=trial.run.states[trial.step + 1],
        run=trial.run,
        step=trial.step,
        runs=(trial.run.run, *trial.run.same),
        has_unknown_alternatives=True,
        loss=POSSIBLE_LOSS,
    )
