"""Decide safety by trying every policy: for tasks of at most a few states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

from .explicit import Choice, ExplicitTask
from .safety import Policy


def safe_by_enumeration(task: ExplicitTask, state: int) -> bool:
    """Return whether some policy never reaches fail from a state."""
    return any(not _reached(task, policy, state) & set(task.fail) for policy in _policies(task))


def deviations_by_enumeration(task: ExplicitTask, policy: Policy, state: int) -> int | None:
    """Return the least number of differences from `policy` that a policy safe from a state needs.

    That is the largest number of decisions on one run that differ. One that a run can come back to
    counts infinitely often. None if no policy is safe, or none with a finite number.
    """
    safe = [each for each in _policies(task) if not _reached(task, each, state) & set(task.fail)]
    least = min((_differences(task, each, policy, state) for each in safe), default=math.inf)
    return None if least == math.inf else int(least)


def _policies(task: ExplicitTask) -> Iterator[Sequence[Choice]]:
    """Yield every policy: one choice for each state; the forced step, or None where it is over."""
    return product(*(list(task.choices(state)) or [None] for state in task.states))


def _outcomes(task: ExplicitTask, policy: Policy, state: int) -> Sequence[int]:
    return task.choices(state).get(policy[state], ())


def _reached(task: ExplicitTask, policy: Policy, state: int) -> set[int]:
    """Return the states that a policy may reach from a state, itself included."""
    reached = [state]
    for each in reached:  # which grows
        reached += [next_ for next_ in _outcomes(task, policy, each) if next_ not in reached]
    return set(reached)


def _differences(task: ExplicitTask, policy: Policy, original: Policy, state: int) -> float:
    """Return how often a run of `policy` from a state may decide otherwise than `original`.

    The states that decide otherwise must not lie on a cycle; then "may come after" orders them, and
    the longest chain counts.
    """
    reached = _reached(task, policy, state)
    others = {each for each in reached if policy[each] not in (None, original[each])}
    later: dict[int, set[int]] = {}
    for each in others:
        outcomes = _outcomes(task, policy, each)
        later[each] = {end for start in outcomes for end in _reached(task, policy, start) & others}
    if any(each in later[each] for each in others):
        return math.inf
    longest: dict[int, int] = {}
    for each in sorted(others, key=lambda each: len(later[each])):
        longest[each] = 1 + max((longest[other] for other in later[each]), default=0)
    return max(longest.values(), default=0)
