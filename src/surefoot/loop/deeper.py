"""Failing runs that go on from where runs of the policy come by.

Fuzzing from a start state finds the fail that is nearest, and so the same faults again and again
until they are repaired. Fuzzing from states that runs visit finds what lies behind; with the way
there before it, each is a run from a start state like any other.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from surefoot.fuzz import fuzz_packed
from surefoot.options import FuzzOptions
from surefoot.policies import Policy
from surefoot.records import Run
from surefoot.simulate import packed_runs
from surefoot.tasks.state import PackedStates
from surefoot.tasks.task import split_states

MAX_STATES = 2_000
MAX_PASSING_RUNS = 1_000
IDLE_RUNS = 100  # that come by nothing new before we take it that there is nothing


@dataclass(frozen=True)
class _Way:
    """A run of the policy, and how many of its steps lead to a state."""

    states: bytes
    actions: tuple[int, ...]
    steps: int


def deeper_runs(
    policy: Policy,
    starts: Sequence[bytes],
    options: FuzzOptions,
    *,
    lookahead_states: int | None = None,
) -> list[Run]:
    """Return failing runs from these start states that fail after a state on the way of others.

    They depend on (task, policy, start states, options) only. Their numbers go on behind those of
    the start states.
    """
    ways = _ways(policy, starts, options)
    if not ways:
        return []
    result = fuzz_packed(policy, b"".join(ways), options, lookahead_states=lookahead_states)
    in_order = list(ways.values())
    return [
        _joined(policy, in_order[run.run], run, number=len(starts) + run.run)
        for run in result.failing
    ]


def _ways(policy: Policy, starts: Sequence[bytes], options: FuzzOptions) -> dict[bytes, _Way]:
    """Return states that runs of the policy visit, and how they come there."""
    known = set(starts)
    ways: dict[bytes, _Way] = {}
    idle = 0
    again = itertools.islice(itertools.cycle(starts), MAX_PASSING_RUNS)
    runs = packed_runs(policy, again, seed=options.seed, max_steps=options.max_steps)
    for packed, actions, _ in runs:
        before = len(ways)
        states = split_states(packed, policy.task.core.words)
        for step, state in enumerate(states[: len(actions)]):
            if state not in known and len(ways) < MAX_STATES:
                known.add(state)
                ways[state] = _Way(packed, tuple(actions), step)
        idle = 0 if len(ways) > before else idle + 1
        if len(ways) == MAX_STATES or idle == IDLE_RUNS:
            break
    return ways


def _joined(policy: Policy, way: _Way, run: Run, *, number: int) -> Run:
    """Return the run that comes to where another begins, and goes on with that one."""
    task, width = policy.task, 8 * policy.task.core.words
    names = task.actions
    packed = way.states[: way.steps * width] + b"".join(state.packed for state in run.states)
    before = tuple(names[action] for action in way.actions[: way.steps])
    return Run(
        run=number,
        states=PackedStates(packed, width, task.unpack),
        actions=(*before, *run.actions),
        result=run.result,
        num_steps=way.steps + run.steps,
    )
