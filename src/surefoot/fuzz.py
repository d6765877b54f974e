"""Fuzz: find runs of the policy that fail."""

from __future__ import annotations

import os
import struct
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from surefoot import _core
from surefoot.errors import InputError
from surefoot.options import FuzzOptions, check_word, chosen
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import ask_core
from surefoot.results import Change, FuzzResult, Made, Run
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import PackedStates, listed
from surefoot.tasks.task import Task

BIASES = ("uniform", "greedy", "weighted")
PERTURBATIONS = ("none", "values", "actions", "both")
MAX_RUNS = 10_000_000  # all runs are kept in memory
MAX_WORKERS = 1_000
ACTION = struct.Struct("=I")  # the number of an action, as the core packs it
ProgressCallback = Callable[[int, int, int, int, float], object]


def fuzz(
    task: Task,
    policy: Any,
    states: Iterable[Mapping[str, Any]] | None = None,
    *,
    options: FuzzOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Any,
) -> FuzzResult:
    """Return runs of the policy, looked for where they may fail (Jain et al. 2025, alg. 1).

    Run ``k`` begins in a start state drawn uniformly, or in ``states[k]``, round and round. It
    depends on (task, policy, options, seed, k) only. A run is ``safe`` if everything that the
    policy can reach from its start was seen and does not fail. Options are those of
    :class:`FuzzOptions`, also as keywords. ``progress`` is called about ten times a second with
    states, runs done, failing runs, 0 and seconds.
    """
    task = require_task(task)
    how = _checked(chosen(FuzzOptions, options, changes), task)
    policy = as_policy(policy, task, seed=how.seed)
    begin = time.perf_counter()
    starts = _starts(task, states, how)
    left = max(how.max_seconds - (time.perf_counter() - begin), 0.0)
    found = fuzz_packed(policy, starts, replace(how, max_seconds=left), progress=progress)
    return replace(found, seconds=time.perf_counter() - begin)


def fuzz_packed(
    policy: Policy,
    starts: bytes,
    how: FuzzOptions,
    *,
    progress: ProgressCallback | None = None,
    to_the_end: bool = False,
    lookahead_states: int | None = None,
) -> FuzzResult:
    """Return a run from each of the packed states that stand one after the other in ``starts``.

    With ``to_the_end`` a run does not end as ``safe`` before it comes to where runs end. A
    lookahead that has seen more than ``lookahead_states`` goes no deeper.
    """
    task = policy.task
    begin = time.perf_counter()
    found = ask_core(
        task,
        _core.fuzz,
        task.core,
        policy.core,
        starts,
        bias=how.bias,
        lookahead=how.lookahead,
        max_steps=how.max_steps,
        seed=how.seed,
        perturb=how.perturb,
        changes=how.changes,
        workers=num_workers(policy, how.workers),
        goes_on=to_the_end,
        lookahead_states=lookahead_states,
        max_seconds=how.max_seconds,
        max_bytes=how.max_bytes,
        progress=progress,
    )
    return _result(task, found, seconds=time.perf_counter() - begin)


def num_workers(policy: Policy, workers: int | None) -> int:
    """Return how many threads to use: by default one for each processor, but one alone where
    Python code decides, which runs on one thread at a time, and always one where it steps: such a
    task numbers its states as they are met.
    """
    if isinstance(policy.task, PythonTask):
        return 1
    if workers is not None:
        return workers
    is_python = isinstance(policy.core, _core.CallablePolicy)
    return 1 if is_python else len(os.sched_getaffinity(0))


def check_workers(workers: int | None) -> None:
    """Raise InputError for more threads than a process should have."""
    if workers is not None and workers > MAX_WORKERS:
        raise InputError("bad-option", f"workers must be at most {MAX_WORKERS:,}")


# -- options -----------------------------------------------------------------------------------


def _checked(how: FuzzOptions, task: Task) -> FuzzOptions:
    check_word("bias", how.bias, BIASES)
    check_word("perturb", how.perturb, PERTURBATIONS)
    for name in ("runs", "lookahead", "workers", "changes"):
        if getattr(how, name) == 0:
            raise InputError("bad-option", f"{name} must be at least 1")
    if how.runs > MAX_RUNS:
        raise InputError(
            "bad-option", f"runs must be at most {MAX_RUNS:,}", hint="use another seed for more"
        )
    check_workers(how.workers)
    if isinstance(task, PythonTask) and how.perturb in ("values", "both"):
        raise InputError(
            "bad-option",
            "Python code defines the task: nobody knows which values its variables may have",
            hint="perturb actions",
        )
    return how


def _starts(task: Task, states: Iterable[Mapping[str, Any]] | None, how: FuzzOptions) -> bytes:
    """Return the packed states that the runs begin in, one after the other."""
    if states is None:
        return task.draw_starts(how.runs, seed=how.seed, max_seconds=how.max_seconds)
    given = [task.packed(state) for state in listed(states)]
    if not given:
        raise InputError("no-start-state", "there is no state to start from")
    return b"".join(given[k % len(given)] for k in range(how.runs))


# -- the core's runs ---------------------------------------------------------------------------


def _result(task: Task, found: Mapping[str, Any], *, seconds: float) -> FuzzResult:
    done = [(number, raw) for number, raw in enumerate(found["runs"]) if raw is not None]
    lacks_memory = any(raw[1] == "memory" for _, raw in done)
    distinct = _distinct(done)
    return FuzzResult(
        distinct=len(distinct),
        counts=dict(Counter(raw[0] for _, raw in done)),
        asked=len(found["runs"]),
        steps=sum(raw[2] for _, raw in done),
        policy_calls=found["decisions"],
        states=found["states"],
        seconds=seconds,
        stopped=found["stopped"] or ("memory" if lacks_memory else None),
        make_runs=lambda: tuple(_run(task, number, raw) for number, raw in done),
        make_failing=lambda: _failing(task, distinct.values()),
    )


def _distinct(done: list[tuple[int, Any]]) -> dict[Any, list[tuple[int, Any]]]:
    """Return the failing runs, those that are equal together."""
    same: dict[Any, list[tuple[int, Any]]] = {}
    for number, raw in done:
        if raw[4] is not None:
            same.setdefault(raw[4], []).append((number, raw))
    return same


def _failing(task: Task, distinct: Iterable[list[tuple[int, Any]]]) -> tuple[Run, ...]:
    """Return the first of each of these, with the numbers of the others."""
    return tuple(
        _run(task, *equal[0], same=tuple(number for number, _ in equal[1:])) for equal in distinct
    )


def _run(task: Task, number: int, raw: tuple[Any, ...], *, same: tuple[int, ...] = ()) -> Run:
    result, reason, steps, start, failing, made = raw
    packed, actions = failing if failing is not None else (start, b"")
    return Run(
        run=number,
        states=PackedStates(packed, 8 * task.core.words, task.unpack),
        actions=tuple(task.actions[a] for (a,) in ACTION.iter_unpack(actions)),
        result=result,
        reason=reason or None,
        num_steps=steps,
        made=None if made is None else _made(task, *made),
        same=same,
    )


def _made(task: Task, reached: bytes, changes: list[Any]) -> Made:
    return Made(task.unpack(reached), tuple(_change(task, *change) for change in changes))


def _change(task: Task, variable: int, value: int, packed: bytes) -> Change:
    state = task.unpack(packed)
    if variable < 0:
        return Change(state, action=task.actions[value])
    assert isinstance(task, CompiledTask)  # only there values are changed
    changed = task.variables[variable]
    return Change(state, variable=changed.name, value=state[changed.name])
