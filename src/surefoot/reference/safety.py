"""Which states are safe: by striking out what cannot be, round after round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from .explicit import Choice, ExplicitTask

Policy = Sequence[Choice] | Mapping[int, Choice]  # state -> action; terminal states may say None
Pair = tuple[int, int]  # a state and the differences that remain


def unsafe_ranks(task: ExplicitTask) -> Mapping[int, int]:
    """Return the rank of every unsafe state; states left out are safe.

    Fail states have rank 0. A state has rank ``k`` if each of its choices has an outcome of rank
    below ``k``, and no smaller number will do. Terminal states have no choices to lose: they are
    safe unless they fail.
    """
    ranks = {state: 0 for state in task.states if state in task.fail}
    for round_ in count(1):
        lost = [
            state
            for state in task.states
            if state not in ranks
            and task.choices(state)
            and all(
                any(outcome in ranks for outcome in outcomes)
                for outcomes in task.choices(state).values()
            )
        ]
        if not lost:
            return ranks
        ranks |= dict.fromkeys(lost, round_)
    raise AssertionError  # counting never ends


def unsafe_pairs(task: ExplicitTask, policy: Policy, radius: int) -> Mapping[Pair, int]:
    """Return the rank of every pair (state, remaining differences) that is not safe.

    A pair is safe if from the state some policy avoids fail that differs from `policy` at most so
    many times on any run. The largest set that could be safe is taken, and pairs are struck
    out round by round: fail states in round 0, then pairs each of whose choices is too many
    differences, or has an outcome struck out before. The rank is the round.
    """
    pairs = [(state, left) for state in task.states for left in range(radius + 1)]
    struck = {pair: 0 for pair in pairs if pair[0] in task.fail}
    for round_ in count(1):
        lost = [
            pair for pair in pairs if pair not in struck and _is_lost(task, policy, pair, struck)
        ]
        if not lost:
            return struck
        struck |= dict.fromkeys(lost, round_)
    raise AssertionError  # counting never ends


def _is_lost(task: ExplicitTask, policy: Policy, pair: Pair, struck: Mapping[Pair, int]) -> bool:
    """Return whether no choice of a pair avoids what is struck out."""
    state, left = pair
    choices = task.choices(state)
    for action, outcomes in choices.items():
        after = left_after(action, decision=policy[state], left=left)
        if after >= 0 and not any((outcome, after) in struck for outcome in outcomes):
            return False
    return bool(choices)


def left_after(action: Choice, *, decision: Choice, left: int) -> int:
    """Return how many differences remain after an action, -1 if it was one too many."""
    return left if action is None or action == decision else left - 1


def deviations(task: ExplicitTask, policy: Policy) -> Sequence[int | None]:
    """Return for each state the least radius that makes it safe, None if no number does.

    The states that are unsafe with radius `r` follow from those with radius `r - 1`. So as soon as
    two radii in a row leave the same states unsafe, all larger ones do.
    """
    least: list[int | None] = [None] * len(task.table)
    before: set[int] | None = None
    for radius in count():
        struck = unsafe_pairs(task, policy, radius)
        unsafe = {state for state in task.states if (state, radius) in struck}
        if unsafe == before:
            return least
        for state in task.states:
            if state not in unsafe and least[state] is None:
                least[state] = radius
        before = unsafe
    raise AssertionError  # counting never ends
