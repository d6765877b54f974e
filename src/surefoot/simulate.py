"""Simulate: runs of a policy, step by step, with the environment's choices at random."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Unpack

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget
from surefoot.options import MAX_INT, SimulateOptions, chosen
from surefoot.options.keywords import SimulateChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import ask_core
from surefoot.records import Run, RunEnd, SimulateResult
from surefoot.tasks import require_task
from surefoot.tasks.state import listed
from surefoot.tasks.task import Task

PACKED_RUN_SECONDS = 60.0


def simulate(
    task: Task,
    states: Iterable[Mapping[str, object]] | None = None,
    *,
    policy: Any = "random",
    options: SimulateOptions | None = None,
    **changes: Unpack[SimulateChanges],
) -> SimulateResult:
    """Return runs of a policy, with the environment's choices at random.

    The policy ``random`` is another one for each run, ``random?seed=3`` the same for all. Run ``k``
    starts in ``states[k]``, round and round, or in a start state drawn uniformly. It depends on
    (task, policy, seed, k) only. If ``runs`` is not given there is one run for each of ``states``,
    or one. Options are those of :class:`SimulateOptions`, also as keywords, which win over
    ``options``.
    """
    task = require_task(task)
    settings = chosen(SimulateOptions, options, changes)
    policy_of = _policies(policy, task, settings.seed)
    begin = time.perf_counter()
    starts = _starts(task, states, settings)
    count = len(starts) if settings.runs is None else settings.runs
    runs = tuple(
        _run(policy_of(k), starts[k % len(starts)], k, settings, begin) for k in range(count)
    )
    return SimulateResult(runs, time.perf_counter() - begin)


def _policies(policy: object, task: Task, seed: int) -> Callable[[int], Policy]:
    """Return which policy each run has."""
    if policy == "random":
        return lambda number: as_policy(policy, task, seed=(seed + number) % (MAX_INT + 1))
    same = as_policy(policy, task, seed=seed)
    return lambda number: same


def _starts(
    task: Task, states: Iterable[Mapping[str, object]] | None, options: SimulateOptions
) -> list[bytes]:
    if states is None:
        count = 1 if options.runs is None else options.runs
        drawn = task.sample_starts(count, seed=options.seed, max_seconds=options.max_seconds)
        return [state.packed for state in drawn]
    packed = [task.packed(state) for state in listed(states)]
    if not packed:
        raise InputError("no-start-state", "no state to start from was given")
    return packed


def _run(policy: Policy, start: bytes, number: int, options: SimulateOptions, begin: float) -> Run:
    task = policy.task
    run: _core.Run = ask_core(
        task,
        _core.simulate,
        task.core,
        start,
        policy=policy.core,
        max_steps=options.max_steps,
        seed=options.seed,
        run=number,
        max_seconds=options.max_seconds - (time.perf_counter() - begin),
        max_bytes=options.max_bytes,
    )
    if run.stopped:
        raise OutOfBudget(f"out-of-{run.stopped}", f"ran out of {run.stopped} in run {number}")
    names = task.actions
    return Run(
        number,
        tuple(task.unpack_all(run.states)),
        tuple(names[a] for a in run.actions),
        RunEnd(run.end.name),
        reason=None if run.inapplicable is None else names[run.inapplicable],
    )


def packed_runs(
    policy: Policy, starts: Iterable[bytes], *, seed: int, max_steps: int
) -> Iterator[tuple[bytes, list[int], str]]:
    """Yield a run from each packed state, outcomes drawn uniformly: its packed states one after
    the other, the numbers of its actions, and how it ends.
    """
    task = policy.task
    for number, start in enumerate(starts):
        run: _core.Run = ask_core(
            task,
            _core.simulate,
            task.core,
            start,
            policy=policy.core,
            max_steps=max_steps,
            seed=seed,
            run=number,
            max_seconds=PACKED_RUN_SECONDS,
            max_bytes=MAX_INT,
        )
        yield run.states, run.actions, run.end.name
