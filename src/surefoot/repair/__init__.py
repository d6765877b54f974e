"""Repair: change a policy so that faults are gone, and as little else as possible.

What it does: finds the nearest parameters (sum of absolute changes of leaf values, or of the last
layer) with which a safe action scores highest in the state of every fault, and keeps the decisions
on runs that reach the goal where it can. Guarantee: every fault was evaluated with the repaired
policy, and is gone. Cost: some linear programs. When to use it: on the faults of fuzzing, or of
verification. Paper: Cascioli et al., section 5.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from surefoot.errors import InputError
from surefoot.options import RepairOptions, check_word, chosen
from surefoot.policies import Policy, as_policy
from surefoot.repair.decisions import (
    Demand,
    FaultDecision,
    Numbers,
    Situations,
    check_repairable,
    demands_of,
    situations,
)
from surefoot.repair.integer import check_solver
from surefoot.repair.repairing import Attempt, Progress, Repairer
from surefoot.repair.visiting import draw_keep_states, prefer_goal, visited
from surefoot.results import DecisionChange, RepairDiff, RepairResult
from surefoot.results.repairing import SHOWN_CHANGES
from surefoot.tasks import require_task
from surefoot.tasks.task import Task, split_states

__all__ = ["METHODS", "FaultDecision", "check_repairable", "draw_keep_states", "repair"]

METHODS = ("minimal", "penalty")
LEAST_MARGIN, MOST_MARGIN = 1e-9, 1e6


def check_margin(margin: float) -> None:
    """Raise InputError for a margin that a solver cannot tell from nothing, or from infinity."""
    if not LEAST_MARGIN <= margin <= MOST_MARGIN:
        raise InputError(
            "bad-option", f"margin must be from {LEAST_MARGIN:g} to {MOST_MARGIN:g}, not {margin:g}"
        )


def repair(
    task: Task,
    policy: Any,
    faults: Any,
    keep_states: Iterable[tuple[Any, str]] | None = None,
    *,
    options: RepairOptions | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> RepairResult:
    """Return a policy that takes a safe action in the state of every fault.

    ``faults`` are those of :func:`surefoot.find_faults`, or anything with ``state``, ``action`` and
    ``alternatives``. ``keep_states`` are pairs of a state and the action that should still be taken
    there; if not given, they are drawn from runs of the policy that reach the goal. Options are
    those of :class:`RepairOptions`, also as keywords; ``progress`` is called with a text now and
    then. Raises InputError (``contradictory-faults``) if no policy over the same inputs can do,
    Unsupported for a policy that cannot be repaired, OutOfBudget if the time is up first.
    """
    begin = time.perf_counter()
    task = require_task(task)
    how = chosen(RepairOptions, options, changes)
    check_word("method", how.method, METHODS)
    check_solver(how.solver)
    check_margin(how.margin)
    who = as_policy(policy, task, seed=how.seed)
    check_repairable(who)
    demands, where = demands_of(who, faults, any_other=how.any_other)
    keep, kept = _to_keep(who, keep_states, where, how)

    def repaired(demands: list[Demand]) -> tuple[Repairer, Attempt]:
        repairer = Repairer(who, demands, where, keep, kept, how, progress, begin=begin)
        attempt = repairer.penalised() if how.method == "penalty" else repairer.nearest()
        return repairer, attempt

    try:
        wanted = prefer_goal(who, demands, seed=how.seed) if how.keep else demands
        repairer, attempt = repaired(wanted)
    except InputError:
        if not how.keep:
            raise
        repairer, attempt = repaired(demands)  # what leads to the goal is asking too much
    made = repairer.repaired(attempt)
    return RepairResult(
        policy=made,
        method=how.method,
        faults=len(demands),
        distance=attempt.distance,
        changed_parameters=attempt.changed,
        added_parameters=attempt.added,
        trees_added=attempt.trees,
        margin=attempt.margin,
        keep_states=len(keep),
        keep_lost=len(attempt.lost),
        diff=difference(who, made, how.diff_states, seed=how.seed),
        seconds=time.perf_counter() - begin,
        rounds=repairer.rounds,
        bound=attempt.bound,
        gap=attempt.gap,
        stopped=repairer.stopped,
    )


def _to_keep(
    policy: Policy,
    given: Iterable[tuple[Any, str]] | None,
    where: Situations,
    how: RepairOptions,
) -> tuple[Situations, Numbers]:
    """Return states that should keep their decision, those of faults left out, and these."""
    task = policy.task
    if given is None:
        found = visited(policy, how.keep, seed=how.seed, goal_only=True)
        states = split_states(found.packed, task.core.words)
        pairs = dict(zip(states, found.actions, strict=True))
    else:
        pairs = {task.packed(state): action for state, action in given}
    for state in split_states(where.packed, task.core.words):
        pairs.pop(state, None)
    assert policy.interface is not None
    numbers = {name: number for number, name in enumerate(policy.interface.outputs)}
    usable = {state: numbers[action] for state, action in pairs.items() if action in numbers}
    keep = situations(policy, b"".join(usable))
    return keep, np.array(list(usable.values()), dtype=np.int64)


def difference(before: Policy, after: Policy, count: int, *, seed: int) -> RepairDiff:
    """Return where two policies decide differently, on states that runs of the first visit."""
    found = visited(before, count, seed=seed, goal_only=False)
    if not len(found):
        return RepairDiff(0, 0)
    states = before.task.unpack_all(found.packed)
    seen = situations(after, found.packed)
    assert after.interface is not None
    names = after.interface.outputs
    decided = [names[output] for output in seen.decisions(after.scorer.scores(seen.rows))]
    pairs = zip(states, found.actions, decided, strict=True)
    changed = [DecisionChange(state, old, new) for state, old, new in pairs if old != new]
    return RepairDiff(len(states), len(changed), tuple(changed[:SHOWN_CHANGES]))
