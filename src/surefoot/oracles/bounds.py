"""Oracles that answer with bounds on the best value, under objectives of others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from surefoot.errors import InputError, shown
from surefoot.objectives import Bounds, Objective
from surefoot.options import DecideOptions
from surefoot.oracles.engine import ProgressCallback
from surefoot.oracles.tables import UNCHECKED
from surefoot.records import Answer
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

BoundsOf = Callable[[Task, State, DecideOptions], Bounds]
"""encloses the best value of a state within the budget of the options"""


@dataclass(frozen=True)
class BoundsEngine:
    """Such an oracle at work on a task. Whatever is not proved by a certificate is ``unchecked``,
    which is the reason that its answers carry.
    """

    task: Task
    objective: Objective
    bounds_of: BoundsOf

    def decide(
        self, packed: bytes, options: DecideOptions, progress: ProgressCallback | None = None
    ) -> Answer:
        """Return the answer about a state. It counts nothing but seconds."""
        state, begin = self.task.unpack(packed), time.perf_counter()
        bounds = self.bounds_of(self.task, state, options)
        if not isinstance(bounds, Bounds):
            message = f"an oracle for {self.objective.name} returned {shown(bounds)}"
            raise InputError("plugin-error", message, hint="it must return Bounds")
        return Answer(
            state=state,
            objective=self.objective,
            bounds=bounds,
            reason=UNCHECKED,
            radius=None,
            expanded=0,
            pairs=0,
            outcomes=0,
            seconds=time.perf_counter() - begin,
            sampled=self.task.is_sampled,
        )
