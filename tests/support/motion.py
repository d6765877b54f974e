"""What the tests of the families over real variables share: rules to hold them against, and runs.

Rules are written from the docstrings of the families, one step at a time on plain numbers. Python
computes the same doubles as the core as long as both compute in the same order, so that everything
is compared with ``==``.
"""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from surefoot import State, Task, explore, simulate
from tests.support.agreement import compare_reachable, compare_state, reachable_counts

Values = dict[str, Any]


@dataclass(frozen=True)
class Rules(ABC):
    """The rules of one family; ``episode`` counts the steps."""

    time_step: float
    horizon: int

    @abstractmethod
    def is_fail(self, state: Mapping[str, Any]) -> bool:
        """Return whether the state fails."""

    @abstractmethod
    def is_start(self, state: Mapping[str, Any]) -> bool:
        """Return whether a run may start here."""

    @abstractmethod
    def steps(self, state: Mapping[str, Any]) -> dict[str, list[Values]]:
        """Return the new values for every applicable action, but for ``episode``."""

    def is_goal(self, state: Mapping[str, Any]) -> bool:
        return state["episode"] >= self.horizon and not self.is_fail(state)

    @property
    def most_episodes(self) -> int:
        return self.horizon

    def applicable(self, state: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(self.steps(state)) if state["episode"] < self.most_episodes else ()

    def outcomes(self, state: Mapping[str, Any], action: str) -> list[Values]:
        if action not in self.applicable(state):
            return []
        after = {"episode": state["episode"] + 1}
        found = [{**state, **new, **after} for new in self.steps(state)[action]]
        return [one for number, one in enumerate(found) if one not in found[:number]]


def cut(value: float, limit: float) -> float:
    """Return the value, cut at ``-limit`` and ``limit``."""
    return max(-limit, min(value, limit))


def uniform_state(task: Task, rng: random.Random) -> State:
    """Return a state with every value drawn from its bounds, which themselves come up too."""
    values: Values = {}
    for v in task.variables:
        if v.type == "int":
            values[v.name] = rng.randint(int(v.lower), int(v.upper))
        else:
            drawn = rng.uniform(v.lower, v.upper)
            values[v.name] = rng.choice([drawn] * 8 + [v.lower, v.upper])
    return task.state(values)


def compare_with_rules(task: Task, rules: Rules, *, states: int) -> None:
    """Assert that task and rules agree, on random states and on states of runs."""
    rng = random.Random(1)
    for _ in range(states):
        state = uniform_state(task, rng)
        compare_state(task, rules, state)
        assert task.is_start(state) == rules.is_start(state.to_dict())
    starts = task.sample_starts(20, seed=1)
    assert all(rules.is_start(start.to_dict()) for start in starts)
    assert compare_reachable(task, rules, starts, count=states, rng=rng) == states


def explored(task: Task, rules: Rules, starts: list[Values]) -> dict[str, int]:
    """Return the counts of explore from these states, after comparing them with a plain search."""
    found = explore(task, starts)
    wanted = reachable_counts(rules, starts, limit=200_000)
    assert wanted is not None
    counts = {name: getattr(found, name) for name in wanted}
    assert counts == wanted
    return counts


def ends(task: Task, policy: Any, *, runs: int, seed: int = 0) -> Counter[str]:
    """Return how runs from random starts end. An error of the model would be raised."""
    most = task.variables[0].upper + 1
    found = simulate(task, policy=policy, runs=runs, seed=seed, max_steps=int(most))
    return Counter(run.result for run in found.runs)


def play(
    task: Task,
    start: State,
    decide: Callable[[State], str],
    choose: Callable[[tuple[State, ...]], State],
) -> list[State]:
    """Return the states of a run in which ``choose`` picks the outcomes."""
    states = [start]
    while not (task.is_fail(states[-1]) or task.is_goal(states[-1])):
        states.append(choose(task.outcomes(states[-1], decide(states[-1]))))
    return states


def shapes(svg: str) -> Counter[str]:
    """Return how often each kind of shape is in the picture, which must be XML."""
    return Counter(element.tag.rpartition("}")[2] for element in ET.fromstring(svg))
