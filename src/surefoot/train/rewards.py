"""What a step is worth: reaching the goal, failing, getting nearer to the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from surefoot import _core
from surefoot.errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

    from surefoot.options import TrainOptions
    from surefoot.tasks.compiled_task import CompiledTask

    Costs = npt.NDArray[np.floating]

GOES_ON = _core.RunEnd.none.value
FAIL = _core.RunEnd.fail.value
GOAL = _core.RunEnd.goal.value
DEAD_END = _core.RunEnd.dead_end.value
CUT = _core.RunEnd.cut.value
MAX_DISTANCE = 1e6  # parts of a condition that have no distance count as far as this at most


def goal_guidance(task: CompiledTask) -> _core.Guidance:
    """Return how far states are from the goal. Raises InputError for a task without one."""
    if task.goal_condition is None:
        raise InputError(
            "bad-option",
            "potential cannot be goal: the task has no goal",
            hint="leave --potential out",
        )
    return task.guidance_to(task.goal_condition)


class Rewards:
    """Gives each step its reward.

    With a potential, a step from distance ``d`` to ``d'`` is worth ``(d - d') / scale`` more; the
    scale is the mean distance of start states. So a run from the start to the goal is worth about 1
    more, one that ends elsewhere less, and going to and fro is worth nothing.
    """

    def __init__(self, options: TrainOptions, distances: Costs) -> None:
        self._options = options
        self._by_result = np.zeros(len(_core.RunEnd), np.float32)
        self._by_result[FAIL] = -options.fail_cost
        self._by_result[GOAL] = options.goal_reward
        self._has_potential = options.potential == "goal"
        self._scale = max(float(np.minimum(distances, MAX_DISTANCE).mean()), 1e-9)

    def of(self, results: npt.NDArray[np.integer], before: Costs, after: Costs) -> Costs:
        """Return the rewards of steps that led from distances ``before`` to ``after``."""
        rewards: Costs = self._by_result[results] - np.float32(self._options.step_cost)
        if not self._has_potential:
            return rewards
        before, after = np.minimum(before, MAX_DISTANCE), np.minimum(after, MAX_DISTANCE)
        return (rewards + (before - after) / self._scale).astype(np.float32)
