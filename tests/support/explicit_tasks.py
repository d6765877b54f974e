"""Small random explicit tasks: loops, dead ends, goal-and-fail states, silent actions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot.reference import ExplicitTask


def random_task(
    rng: random.Random, *, max_states: int = 6, max_actions: int = 3, max_silent: int = 2
) -> ExplicitTask:
    """Return a random task; what it is rich in differs from task to task.

    Most may have cycles, some have none. In a few, each state leads to the next one or to the last
    one, which fails: there a bad policy is some differences away from a safe one.
    """
    count = rng.randint(1, max_states)
    shape = rng.choice(("any", "any", "no cycles", "ladder"))
    loud, silent = rng.choice((0.15, 0.35, 0.7, 0.9)), rng.choice((0.0, 0.3, 0.8))
    fail, goal = rng.choice((0.15, 0.3)), rng.choice((0.0, 0.15))
    failing = {state for state in range(count) if rng.random() < fail}
    if shape == "ladder":
        loud, failing = 0.7, {count - 1}
    ends = [_ends(state, count, shape) for state in range(count)]
    return ExplicitTask(
        table=tuple(_row(rng, each, max_actions, loud) for each in ends),
        fail=frozenset(failing),
        goal=frozenset(state for state in range(count) if rng.random() < goal),
        silent_table=tuple(_row(rng, each, max_silent, silent) for each in ends),
        names=tuple(f"a{number}" for number in range(max_actions)),
    )


def _ends(state: int, count: int, shape: str) -> Sequence[int]:
    """Return the states that actions of a state may lead to."""
    if shape == "ladder":
        return (state + 1, count - 1) if state < count - 2 else ()
    return range(0 if shape == "any" else state + 1, count)


def _row(
    rng: random.Random, ends: Sequence[int], actions: int, share: float
) -> tuple[tuple[int, ...], ...]:
    """Return the outcomes of each action: one to three, or none if it is not applicable."""
    sizes = [rng.choice((1, 1, 2, 3)) if rng.random() < share else 0 for _ in range(actions)]
    return tuple(tuple(sorted(rng.sample(ends, min(len(ends), size)))) for size in sizes)


def random_policy(rng: random.Random, task: ExplicitTask) -> list[int | None]:
    """Return a decision for each state; None where there is nothing to decide.

    Half of the policies are random, half are bad: they go to fail, or else do not stop, where they
    can. Good policies need few differences, which makes dull tests.
    """
    is_bad = rng.random() < 0.5
    policy = []
    for state in task.states:
        choices = list(task.choices(state).items()) or [(None, ())]
        rng.shuffle(choices)
        if is_bad:
            choices.sort(key=lambda choice: _badness(task, choice[1]), reverse=True)
        policy.append(choices[0][0])
    return policy


def _badness(task: ExplicitTask, outcomes: Sequence[int]) -> int:
    return max((2 if o in task.fail else bool(task.choices(o)) for o in outcomes), default=0)


def as_callable(
    task: ExplicitTask, policy: Sequence[int | None]
) -> Callable[[Mapping[str, Any], tuple[str, ...]], str]:
    """Return the policy in the form that `check_certificate` takes."""

    def decide(state: Mapping[str, Any], applicable: tuple[str, ...]) -> str:
        decision = policy[task.number(state)]
        assert decision is not None
        assert task.names[decision] in applicable
        return task.names[decision]

    return decide
