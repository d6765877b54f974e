"""States that runs of a policy visit: those that should keep their decision, those to compare
decisions on, and which alternative of a fault leads to the goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot import _core
from surefoot.fuzz import fuzz_packed
from surefoot.options import MAX_INT, FuzzOptions
from surefoot.policies import Policy
from surefoot.records import Run
from surefoot.repair.decisions import Demand
from surefoot.simulate import packed_runs
from surefoot.tasks.task import split_states

MAX_DRAWN_RUNS = 4_000
MAX_STEPS = 1_000
IDLE_RUNS = 300  # that show nothing new before we take it that there is nothing
RUNS_PER_CHOICE = 8
ROUNDS = 3
MAX_CHOICES = 20_000  # alternatives of all faults that are tried
TRIALS = FuzzOptions(bias="uniform", lookahead=1, max_steps=MAX_STEPS)
Trial = tuple[int, int, list[bytes]]
"""the number of a demand, one of its good outputs, and the outcomes of that"""


@dataclass(frozen=True)
class Visited:
    """Packed states, each once, and the action that was taken in each."""

    packed: bytes
    actions: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.actions)


def visited(policy: Policy, count: int, *, seed: int, goal_only: bool) -> Visited:
    """Return up to ``count`` decisions on runs of the policy, outcomes drawn uniformly.

    ``goal_only``: only on runs that reach the goal or, where none does, on runs that do not fail.
    """
    goal: dict[bytes, int] = {}
    other: dict[bytes, int] = {}
    idle = 0
    for states, actions, end in _runs(policy, min(count, MAX_DRAWN_RUNS), seed=seed):
        is_wanted = not goal_only or end == "goal"
        if not is_wanted and end == "fail":
            continue
        visits = goal if is_wanted else other
        before = len(visits)
        _note(visits, policy, states, actions, count)
        idle = 0 if len(visits) > before else idle + 1
        if len(goal) >= count or idle >= IDLE_RUNS:
            break
    visits = goal or other
    names = policy.task.actions
    return Visited(b"".join(visits), tuple(names[number] for number in visits.values()))


def _note(
    visits: dict[bytes, int], policy: Policy, states: bytes, actions: list[int], count: int
) -> None:
    silent = policy.task.silent
    names = policy.task.actions
    for state, action in zip(split_states(states, policy.task.core.words), actions, strict=False):
        if len(visits) >= count:
            return
        if names[action] not in silent:
            visits.setdefault(state, action)


def _runs(policy: Policy, count: int, *, seed: int) -> Iterator[tuple[bytes, list[int], str]]:
    task = policy.task
    starts = split_states(task.draw_starts(count, seed=seed), task.core.words) if count else []
    return packed_runs(policy, starts, seed=seed, max_steps=MAX_STEPS)


def draw_keep_states(policy: Policy, count: int, *, seed: int = 0) -> list[tuple[Any, str]]:
    """Return up to ``count`` states of runs of the policy that reach the goal, with its decisions
    there: what a repair should leave as it is.
    """
    states = visited(policy, count, seed=seed, goal_only=True)
    return list(zip(policy.task.unpack_all(states.packed), states.actions, strict=True))


# -- alternatives ------------------------------------------------------------------------------


def prefer_goal(policy: Policy, demands: Sequence[Demand], *, seed: int) -> list[Demand]:
    """Return the demands with those good outputs only that lead to the goal most often; the others
    are as bad as those of faults.

    The policy takes the first one of each demand; runs from the outcomes of each alternative say
    which is better; and again, with the better ones taken (policy iteration on these states).
    """
    assert policy.interface is not None
    names = policy.interface.outputs
    if sum(len(demand.good) for demand in demands) > MAX_CHOICES:
        return list(demands)
    trials = [
        (number, output, _outcomes(policy, demand, names[output]))
        for number, demand in enumerate(demands)
        if len(demand.good) > 1
        for output in demand.good
    ]
    best = [demand.good for demand in demands]
    for turn in range(ROUNDS if trials else 0):
        shielded = _with_choices(policy, demands, [good[0] for good in best])
        options = replace(TRIALS, seed=(seed + turn) % MAX_INT)
        result = fuzz_packed(shielded, _trial_starts(trials), options, to_the_end=True)
        before, best = best, _best(result.runs, demands, trials)
        if before == best:
            break
    return [_narrowed(demand, good) for demand, good in zip(demands, best, strict=True)]


def _narrowed(demand: Demand, good: tuple[int, ...]) -> Demand:
    """Return the demand that only these outputs are good, and all others bad."""
    others = {*demand.good, *demand.bad} - set(good)
    return replace(demand, good=good, bad=tuple(sorted(others)))


def _outcomes(policy: Policy, demand: Demand, action: str) -> list[bytes]:
    return [state.packed for state in policy.task.outcomes(demand.state, action)]


def _with_choices(policy: Policy, demands: Sequence[Demand], outputs: list[int]) -> Policy:
    """Return the policy that takes these outputs in the states of the demands."""
    assert policy.interface is not None
    task = policy.task
    states = b"".join(task.packed(demand.state) for demand in demands)
    names = policy.interface.outputs
    position = {name: number for number, name in enumerate(task.actions)}
    numbers = [position[names[output]] for output in outputs]
    core = _core.ShieldedPolicy(policy.core, task.core, states, numbers)
    return Policy(task, policy.name, core=core, unfiltered=policy.unfiltered)


def _per_outcome(outcomes: Sequence[bytes]) -> int:
    """Return how many runs begin in each outcome of a choice."""
    return max(RUNS_PER_CHOICE // len(outcomes), 1)


def _trial_starts(trials: Sequence[Trial]) -> bytes:
    """Return where the runs of all trials begin, packed one after the other."""
    return b"".join(
        packed
        for *_, outcomes in trials
        for packed in outcomes
        for _ in range(_per_outcome(outcomes))
    )


def _best(
    runs: Sequence[Run], demands: Sequence[Demand], trials: Sequence[Trial]
) -> list[tuple[int, ...]]:
    """Return the good outputs of each demand after which the runs of its trials reach the goal
    most often.
    """
    worth = np.array([{"goal": 1.0, "fail": -1.0}.get(run.result, 0.0) for run in runs])
    value: dict[int, dict[int, float]] = {}
    at = 0
    for number, output, outcomes in trials:
        length = len(outcomes) * _per_outcome(outcomes)
        value.setdefault(number, {})[output] = float(worth[at : at + length].mean())
        at += length
    return [_of_most(demand, value.get(number)) for number, demand in enumerate(demands)]


def _of_most(demand: Demand, value: dict[int, float] | None) -> tuple[int, ...]:
    if value is None:
        return demand.good
    most = max(value.values())
    return tuple(output for output in demand.good if value[output] >= most - 1e-9)
