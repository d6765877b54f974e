"""Campaigns: the debugging loop in a directory, which survives interruption.

``debug`` begins one, ``resume`` goes on with one that was interrupted, to the same result as if it
had not been, ``read_campaign`` looks at one at any time. What is in the directory is described in
``folder``, the journal in ``journal``; ``lock`` keeps other processes away.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.campaign.reading import Campaign, read_campaign
from surefoot.campaign.running import begin, go_on
from surefoot.errors import InputError, shown
from surefoot.loop import Watch
from surefoot.options import DebugOptions, chosen
from surefoot.policies import as_policy
from surefoot.results import DebugResult, Iteration
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
    options: DebugOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Any,
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
    how = chosen(DebugOptions, options, changes)
    who = as_policy(policy, task, seed=how.seed)
    if directory is not None:
        return begin(who, _path(directory), how, _Tell(progress))
    with tempfile.TemporaryDirectory(prefix="surefoot-") as temporary:
        result = begin(who, Path(temporary), how, _Tell(progress))
    result.policy.name, result.policy.file = "repaired", None
    return result


def resume(
    directory: str | Path,
    task: Task | None = None,
    *,
    progress: ProgressCallback | None = None,
) -> DebugResult:
    """Return how a campaign ended, after going on with it where it was interrupted.

    The result is the same as without interruption. The task is found by its name, unless it is
    given. Raises InputError if task or policy have changed, or another process is at work.
    """
    given = None if task is None else require_task(task)
    return go_on(_path(directory), given, _Tell(progress))


def _path(directory: Any) -> Path:
    if not isinstance(directory, str | Path):
        raise InputError("bad-option", f"directory is a str or Path, not {shown(directory)}")
    return Path(directory)
