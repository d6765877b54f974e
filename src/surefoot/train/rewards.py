"""What a step is worth: reaching the goal, failing, getting nearer to the goal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InputError
from surefoot.tasks.compiled_task import CompiledTask

if TYPE_CHECKING:
    from surefoot.options import TrainOptions

GOES_ON, FAIL, GOAL, DEAD_END, CUT = range(5)  # the core's results of a step
MAX_DISTANCE = 1e6  # parts of a condition that have no distance count as far as this at most


def goal_task(task: CompiledTask) -> CompiledTask:
    """Return the task with the goal as fail condition: its distance to fail is that to the goal."""
    if task.description.goal_condition is None:
        raise InputError(
            "bad-option",
            "potential cannot be goal: the task has no goal",
            hint="leave --potential out",
        )
    description = replace(
        task.description, fail_condition=task.description.goal_condition, goal_condition=None
    )
    return CompiledTask(description)


class Rewards:
    """Gives each step its reward.

    With a potential, a step from distance ``d`` to ``d'`` is worth ``(d - d') / scale`` more; the
    scale is the mean distance of start states. So a run from the start to the goal is worth about 1
    more, one that ends elsewhere less, and going to and fro is worth nothing.
    """

    def __init__(self, how: TrainOptions, distances: Any) -> None:
        self._how = how
        self._by_result = np.zeros(5, np.float32)
        self._by_result[FAIL] = -how.fail_cost
        self._by_result[GOAL] = how.goal_reward
        self._has_potential = how.potential == "goal"
        self._scale = max(float(np.minimum(distances, MAX_DISTANCE).mean()), 1e-9)

    def of(self, results: Any, before: Any, after: Any) -> Any:
        """Return the rewards of steps that led from distances ``before`` to ``after``."""
        rewards = self._by_result[results] - np.float32(self._how.step_cost)
        if not self._has_potential:
            return rewards
        before, after = np.minimum(before, MAX_DISTANCE), np.minimum(after, MAX_DISTANCE)
        return (rewards + (before - after) / self._scale).astype(np.float32)
