"""States to ask a policy about: those met on walks, and others drawn within the ranges."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot import _core
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.tasks.description import Variable

STATES = 10_000
UNBOUNDED = 1e9  # beyond this a range is not a hint at the values that occur
TYPICAL = 100.0


@dataclass(frozen=True)
class Sample:
    """Packed states, and the numbers of the actions among which a policy decides in each: none
    where a run ends, and never silent ones.
    """

    states: list[bytes]
    choices: list[list[int]]

    @property
    def with_choice(self) -> list[int]:
        """The positions of the states in which several actions are applicable."""
        return [at for at, actions in enumerate(self.choices) if len(actions) > 1]


def sampled(task: Task, walked: list[bytes], *, count: int, seed: int, deadline: float) -> Sample:
    """Return different states: the walked ones and, if the ranges are known, others drawn uniformly
    within them, ``count`` in all. States in which the model has an error are left out.
    """
    states: dict[bytes, list[int]] = {}
    for state in walked[:count]:
        _add(states, task, state)
    if has_description(task):
        rng = random.Random(seed)
        for _ in range(2 * (count - len(states))):
            if len(states) >= count or time.monotonic() > deadline:
                break
            drawn = task.state({v.name: _value(v, rng) for v in task.variables})
            _add(states, task, drawn.packed)
    return Sample(list(states), list(states.values()))


def _add(states: dict[bytes, list[int]], task: Task, state: bytes) -> None:
    if state in states:
        return
    try:
        is_over = task.core.kind(state) != 0
        actions = [] if is_over else task.core.applicable(state)
    except _core.ModelError:
        return
    states[state] = [a for a in actions if task.actions[a] not in task.silent]


def _value(variable: Variable, rng: random.Random) -> object:
    lower, upper = variable.lower, variable.upper
    if variable.type == "bool":
        return rng.random() < 0.5
    if variable.type == "real":
        if max(abs(lower), abs(upper)) < UNBOUNDED:
            return rng.uniform(lower, upper)
        return min(max(rng.gauss(0.0, TYPICAL), lower), upper)
    return rng.randint(int(lower), int(upper))
