"""Explore: how many states, actions and outcomes are reachable, and how many fail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from surefoot import _core
from surefoot.errors import InputError
from surefoot.options import ExploreOptions, chosen
from surefoot.options.keywords import ExploreChanges
from surefoot.records import ExploreResult
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.state import listed
from surefoot.tasks.task import Task

ProgressCallback = Callable[[int, int, int, int, float], object]


def explore(
    task: Task,
    states: Iterable[Mapping[str, object]] | None = None,
    *,
    options: ExploreOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[ExploreChanges],
) -> ExploreResult:
    """Return the counts of everything reachable from ``states`` (default: from all start states).

    Options are those of :class:`ExploreOptions`, also as keywords: ``explore(task,
    max_states=1000)``; keywords win over ``options``. ``progress`` is called about ten times a
    second with states, expanded, depth, bytes and seconds. A start condition is listed first;
    raises InputError if it leaves a real variable free, as it then has infinitely many states, or
    if there is no start state.
    """
    task = require_task(task)
    limits = _limits(chosen(ExploreOptions, options, changes), progress)
    packed = task.start_source() if states is None else b"".join(map(task.packed, listed(states)))
    try:
        if packed is not None:
            counts = _core.explore_states(task.core, packed, **limits)
        else:
            assert has_description(task)  # Python-defined tasks list their start states
            counts = _explore_condition(task, limits)
    except _core.ModelError as error:
        raise task.model_error(error) from None
    if counts.starts == 0 and not counts.stopped:
        raise InputError("no-start-state", "there is no state to start from", file=task.file)
    return _result(counts)


def _limits(options: ExploreOptions, progress: ProgressCallback | None) -> dict[str, Any]:
    return {
        "max_seconds": options.max_seconds,
        "max_bytes": options.max_bytes,
        "max_states": options.max_states,
        "progress": progress,
    }


def _explore_condition(task: CompiledTask, limits: dict[str, Any]) -> _core.ExploreCounts:
    if not task.core.has_finite_starts():
        raise task.infinite_starts()
    return _core.explore_starts(task.core, **limits)


def _result(counts: _core.ExploreCounts) -> ExploreResult:
    return ExploreResult(
        states=counts.states,
        starts=counts.starts,
        expanded=counts.expanded,
        pairs=counts.pairs,
        outcomes=counts.outcomes,
        fail=counts.fail,
        goal=counts.goal,
        dead_ends=counts.dead_ends,
        depth=counts.depth,
        seconds=counts.seconds,
        starts_complete=counts.starts_complete,
        complete=not counts.stopped,
        stopped=counts.stopped or None,
        states_per_second=counts.states / max(counts.seconds, 1e-9),
        bytes_per_state=counts.bytes / max(counts.states, 1),
    )
