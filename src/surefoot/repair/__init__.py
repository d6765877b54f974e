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
from typing import Unpack

import numpy as np

from surefoot.errors import InputError, Refusal
from surefoot.objectives import SAFETY, Objective, handled_objective, handles_only
from surefoot.options import RepairOptions, chosen
from surefoot.options.keywords import RepairChanges
from surefoot.policies import Policy, as_policy
from surefoot.records import DecisionChange, RepairDiff, RepairResult
from surefoot.records.repairing import SHOWN_CHANGES
from surefoot.repair.decisions import (
    Demand,
    Numbers,
    Situations,
    check_repairable,
    demands_of,
    not_repairable,
    situations,
)
from surefoot.repair.integer import check_solver
from surefoot.repair.repairing import Attempt, Progress, Repairer
from surefoot.repair.visiting import draw_keep_states, prefer_goal, visited
from surefoot.tasks import require_task
from surefoot.tasks.task import Task, split_states

__all__ = ["check_repairable", "draw_keep_states", "repair"]


def repair(
    task: Task,
    policy: object,
    faults: object,
    keep_states: Iterable[tuple[object, str]] | None = None,
    *,
    objective: str | Objective = "safety",
    options: RepairOptions | None = None,
    progress: Progress | None = None,
    **changes: Unpack[RepairChanges],
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
    settings = chosen(RepairOptions, options, changes)
    check_solver(settings.solver)
    bound_policy = as_policy(policy, task, seed=settings.seed)
    handled_objective(objective, task, bound_policy, can_handle=can_handle)
    demands, where = demands_of(bound_policy, faults, any_other=settings.any_other)
    keep, kept = _to_keep(bound_policy, keep_states, where, settings)

    def repaired(demands: list[Demand]) -> tuple[Repairer, Attempt]:
        repairer = Repairer(
            bound_policy, demands, where, keep, kept, settings, progress, begin=begin
        )
        attempt = repairer.penalised() if settings.method == "penalty" else repairer.nearest()
        return repairer, attempt

    try:
        wanted = (
            prefer_goal(bound_policy, demands, seed=settings.seed) if settings.keep else demands
        )
        repairer, attempt = repaired(wanted)
    except InputError:
        if not settings.keep:
            raise
        repairer, attempt = repaired(demands)  # what leads to the goal is asking too much
    made = repairer.repaired(attempt)
    return RepairResult(
        policy=made,
        method=settings.method,
        faults=len(demands),
        distance=attempt.distance,
        changed_parameters=attempt.changed,
        added_parameters=attempt.added,
        trees_added=attempt.trees,
        margin=attempt.margin,
        keep_states=len(keep),
        keep_lost=len(attempt.lost),
        diff=difference(bound_policy, made, settings.diff_states, seed=settings.seed),
        seconds=time.perf_counter() - begin,
        rounds=repairer.rounds,
        bound=attempt.bound,
        gap=attempt.gap,
        stopped=repairer.stopped,
    )


def _to_keep(
    policy: Policy,
    given: Iterable[tuple[object, str]] | None,
    where: Situations,
    options: RepairOptions,
) -> tuple[Situations, Numbers]:
    """Return states that should keep their decision, those of faults left out, and these."""
    task = policy.task
    if given is None:
        visits = visited(policy, options.keep, seed=options.seed, goal_only=True)
        states = split_states(visits.packed, task.core.words)
        pairs = dict(zip(states, visits.actions, strict=True))
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
    visits = visited(before, count, seed=seed, goal_only=False)
    if not len(visits):
        return RepairDiff(0, 0)
    states = before.task.unpack_all(visits.packed)
    seen = situations(after, visits.packed)
    assert after.interface is not None
    names = after.interface.outputs
    decided = [names[output] for output in seen.decisions(after.scorer.scores(seen.rows))]
    pairs = zip(states, visits.actions, decided, strict=True)
    changed = [DecisionChange(state, old, new) for state, old, new in pairs if old != new]
    return RepairDiff(len(states), len(changed), tuple(changed[:SHOWN_CHANGES]))


def can_handle(task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
    """Return why ``repair`` cannot change the policy, or not for the objective; None if it can."""
    refusal = handles_only("repair", SAFETY.name, objective)
    return refusal or (None if policy is None else not_repairable(policy))
