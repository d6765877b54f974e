"""Bugs and faults of a policy, by their definitions (Jain et al. 2025, def. 3 to 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .explicit import ExplicitTask
from .policies import failing_states
from .safety import Policy, left_after, unsafe_pairs, unsafe_ranks


@dataclass(frozen=True)
class GuiltyDecision:
    """The decision for ``action`` in a safe state: ``outcomes`` are those that are unsafe, and
    ``alternatives`` the other actions that would have stayed safe.
    """

    action: int
    outcomes: frozenset[int]
    alternatives: tuple[int, ...]


def safe_states(task: ExplicitTask, policy: Policy, radius: int | None = None) -> set[int]:
    """Return the states from which some policy surely avoids fail; with a radius, one that differs
    from `policy` at most so often on any run.
    """
    safety = _Safety(task, policy, radius)
    return {state for state in task.states if safety.is_safe(state)}


def bugs(task: ExplicitTask, policy: Policy, radius: int | None = None) -> set[int]:
    """Return the safe states from which the policy may fail."""
    return safe_states(task, policy, radius) & failing_states(task, policy)


def faults(
    task: ExplicitTask, policy: Policy, radius: int | None = None
) -> Mapping[int, GuiltyDecision]:
    """Return the states whose decision is a fault: they are safe, and some outcome is not.

    With a radius an alternative uses up one difference, the policy's own decision none.
    """
    safety = _Safety(task, policy, radius)
    guilty = {}
    for state in task.states:
        decision = policy[state]
        outcomes = task.choices(state).get(decision, ())
        unsafe = frozenset(end for end in outcomes if not safety.is_safe(end))
        if decision is None or not unsafe or not safety.is_safe(state):
            continue
        guilty[state] = GuiltyDecision(decision, unsafe, safety.alternatives(state))
    return guilty


class _Safety:
    """Which states are safe, if some of the differences of the radius are spent."""

    def __init__(self, task: ExplicitTask, policy: Policy, radius: int | None) -> None:
        self.task = task
        self.policy = policy
        self.radius = radius
        ranks = unsafe_ranks(task) if radius is None else {}
        self.unsafe = set(ranks)
        self.pairs = set() if radius is None else set(unsafe_pairs(task, policy, radius))

    def is_safe(self, state: int, *, spent: int = 0) -> bool:
        """Return whether the state is safe after some differences."""
        if self.radius is None:
            return state not in self.unsafe
        return spent <= self.radius and (state, self.radius - spent) not in self.pairs

    def alternatives(self, state: int) -> tuple[int, ...]:
        """Return the actions other than the decision all of whose outcomes are safe."""
        decision = self.policy[state]
        return tuple(
            action
            for action, outcomes in self.task.choices(state).items()
            if action is not None
            and action != decision
            and all(
                self.is_safe(end, spent=-left_after(action, decision=decision, left=0))
                for end in outcomes
            )
        )
