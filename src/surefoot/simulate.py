"""Simulate: runs of a policy, step by step, with the environment's choices at random."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, nearest_hint, quoted
from surefoot.options import SimulateOptions, chosen
from surefoot.results import Run, SimulateResult
from surefoot.tasks import require_task
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import listed
from surefoot.tasks.task import Task, split_states

POLICIES = ("random", "first")
MAX_RUNS = 1_000_000  # all runs are kept in memory


def simulate(
    task: Task | PythonTask,
    states: Iterable[Mapping[str, Any]] | None = None,
    *,
    options: SimulateOptions | None = None,
    **changes: Any,
) -> SimulateResult:
    """Return runs of a simple policy: ``random`` (any applicable action) or ``first`` (the lowest).

    Run ``k`` starts in ``states[k]``, round and round, or in a start state drawn uniformly. It
    depends on (task, policy, seed, k) only. If ``runs`` is not given there is one run for each of
    ``states``, or one. Options are those of :class:`SimulateOptions`, also as keywords, which win
    over ``options``.
    """
    task = require_task(task)
    how = chosen(SimulateOptions, options, changes)
    if how.policy not in POLICIES:
        raise InputError(
            "unknown-policy",
            f"there is no policy {quoted(how.policy)}",
            hint=nearest_hint(how.policy, POLICIES) or "policies are: random, first",
        )
    if how.runs is not None and how.runs > MAX_RUNS:
        raise InputError(
            "bad-option", f"runs must be at most {MAX_RUNS:,}", hint="use --seed for more"
        )
    begin = time.perf_counter()
    starts = _starts(task, states, how)
    count = len(starts) if how.runs is None else how.runs
    runs = tuple(_run(task, starts[k % len(starts)], k, how, begin) for k in range(count))
    return SimulateResult(runs, time.perf_counter() - begin)


def _starts(
    task: Task | PythonTask, states: Iterable[Mapping[str, Any]] | None, how: SimulateOptions
) -> list[bytes]:
    if states is None:
        count = 1 if how.runs is None else how.runs
        drawn = task.sample_starts(count, seed=how.seed, max_seconds=how.max_seconds)
        return [state.packed for state in drawn]
    packed = [task.packed(state) for state in listed(states)]
    if not packed:
        raise InputError("no-start-state", "no state to start from was given")
    return packed


def _run(
    task: Task | PythonTask, start: bytes, number: int, how: SimulateOptions, begin: float
) -> Run:
    try:
        packed, actions, result, stopped = _core.simulate(
            task.core,
            start,
            policy=how.policy,
            max_steps=how.max_steps,
            seed=how.seed,
            run=number,
            max_seconds=how.max_seconds - (time.perf_counter() - begin),
            max_bytes=how.max_bytes,
        )
    except _core.ModelError as error:
        raise task.model_error(error) from None
    if stopped:
        raise OutOfBudget(f"out-of-{stopped}", f"ran out of {stopped} in run {number}")
    names = task.actions
    states = tuple(task.unpack(one) for one in split_states(packed, task.core.words))
    return Run(number, states, tuple(names[a] for a in actions), result)
