"""What a policy does on a task written out as tables: where it may fail, and how soon."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from .explicit import ExplicitTask, Outcomes
from .safety import Policy


def outcomes_under(task: ExplicitTask, policy: Policy, state: int) -> Outcomes:
    """Return where a run of the policy may go from a state: nowhere if it is terminal, or if the
    decision is not applicable.

    A forced step is nobody's decision: its outcomes do not depend on the policy.
    """
    choices = task.choices(state)
    return choices[None] if None in choices else choices.get(policy[state], ())


def reached_under(task: ExplicitTask, policy: Policy, starts: Iterable[int]) -> set[int]:
    """Return the states that runs of the policy from some states may come to, these included."""
    reached = list(dict.fromkeys(starts))
    for state in reached:  # which grows
        outcomes = outcomes_under(task, policy, state)
        reached += [each for each in dict.fromkeys(outcomes) if each not in reached]
    return set(reached)


def failing_states(task: ExplicitTask, policy: Policy) -> set[int]:
    """Return the states from which some run of the policy fails: those where it is 1 that Jain et
    al. 2025 write V with the policy as index.
    """
    fail = set(task.fail)
    return {state for state in task.states if reached_under(task, policy, [state]) & fail}


def steps_to_fail(task: ExplicitTask, policy: Policy, starts: Collection[int]) -> int | None:
    """Return the number of steps of a shortest failing run of the policy from one of some states;
    None if no run fails.
    """
    layer = set(starts)
    for steps in range(len(task.table) + 1):
        if layer & set(task.fail):
            return steps
        layer = {end for state in layer for end in outcomes_under(task, policy, state)}
    return None
