"""Campaigns: the debugging loop in a directory, which survives interruption.

``debug`` begins one, ``resume`` goes on with one that was interrupted, to the same result as if it
had not been, ``read_campaign`` looks at one at any time. What is in the directory is described in
``folder``, the journal in ``journal``; ``lock`` keeps other processes away.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

from surefoot.campaign.reading import Campaign, read_campaign
from surefoot.campaign.running import begin, begin_in_memory, go_on
from surefoot.errors import InputError, Refusal, shown
from surefoot.loop import Watch
from surefoot.objectives import SAFETY, Objective, handled_objective, handles_only
from surefoot.options import BudgetOptions, DebugOptions, checked, chosen
from surefoot.options.keywords import DebugChanges
from surefoot.policies import Policy, as_policy
from surefoot.records import DebugResult, Iteration
from surefoot.tasks import require_task
from surefoot.tasks.task import Task

__all__ = ["Campaign", "debug", "read_campaign", "resume"]

ProgressCallback = Callable[[Iteration], object]


class _Tell(Watch):
    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress

    def iterated(self, iteration: Iteration) -> None:
        """Tell of a round."""
        if self._progress is not None:
            self._progress(iteration)


def debug(
    task: Task,
    policy: Any,
    *,
    directory: str | Path | None = None,
    objective: str | Objective = "safety",
    options: DebugOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[DebugChanges],
) -> DebugResult:
    """Return how debugging the policy ended, with the repaired policy (Jain et al. 2025).

    The policy is fuzzed from a fixed set of start states, the faults on failing runs are found, all
    faults so far are repaired; this is repeated until there is no new fault. Then the policy is
    verified; a failing run that this finds goes back to the fault analysis.

    ``directory`` must be new: everything is kept there, and ``resume`` goes on if the process is
    interrupted. Without it nothing is kept. Options are those of :class:`DebugOptions`, also as
    keywords. ``progress`` is called with each Iteration that is complete.
    """
    task = require_task(task)
    settings = chosen(DebugOptions, options, changes)
    bound_policy = as_policy(policy, task, seed=settings.seed)
    handled_objective(objective, task, bound_policy, can_handle=can_handle)
    if directory is not None:
        return begin(bound_policy, _path(directory), settings, _Tell(progress))
    return begin_in_memory(bound_policy, settings, _Tell(progress))


def can_handle(task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
    """Return why ``debug`` cannot work on an objective; None if it can."""
    return handles_only("debug", SAFETY.name, objective)


def resume(
    directory: str | Path,
    task: Task | None = None,
    *,
    components: Sequence[str] = (),
    max_seconds: float | None = None,
    progress: ProgressCallback | None = None,
) -> DebugResult:
    """Return how a campaign ended, after going on with it where it was interrupted.

    The result is the same as without interruption. With ``max_seconds`` it gets so many from now
    on, also if it has ended for lack of time: then it goes on, too. The task is found by its name,
    unless it is given. ``components`` are the bias, oracle or method from outside that it was begun
    with: they are run only if they are given again. Raises InputError if task or policy have
    changed, or another process is at work.
    """
    given = None if task is None else require_task(task)
    left = None if max_seconds is None else checked(BudgetOptions(max_seconds=max_seconds))
    more = None if left is None else lambda: left.max_seconds
    return go_on(_path(directory), given, _Tell(progress), components, left=more)


def _path(directory: object) -> Path:
    if not isinstance(directory, str | Path):
        raise InputError("bad-option", f"directory is a str or Path, not {shown(directory)}")
    return Path(directory)
