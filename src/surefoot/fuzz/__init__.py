"""Fuzz: find runs of the policy that fail."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

from surefoot import _core
from surefoot.errors import InputError, Refusal, quoted, shown
from surefoot.fuzz.bias import BIASES, Bias, check_bias
from surefoot.fuzz.strategies import CoreStrategy, strategies_of, with_lookahead
from surefoot.objectives import SAFETY, Objective, handled_objective, handles_only
from surefoot.options import FuzzOptions, chosen
from surefoot.options.keywords import FuzzChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import core_errors
from surefoot.records import Change, FuzzResult, Made, Run, RunEnd
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import PackedStates, listed
from surefoot.tasks.task import Feature, Task

__all__ = ["BIASES", "Bias", "fuzz", "fuzz_packed", "num_workers"]

ProgressCallback = Callable[[int, int, int, int, float], object]


def fuzz(
    task: Task,
    policy: Any,
    states: Iterable[Mapping[str, object]] | None = None,
    *,
    objective: str | Objective = "safety",
    options: FuzzOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[FuzzChanges],
) -> FuzzResult:
    """Return runs of the policy, looked for where they may fail (Jain et al. 2025, alg. 1).

    Run ``k`` begins in a start state drawn uniformly, or in ``states[k]``, round and round. It
    depends on (task, policy, options, seed, k) only. The bias ``mixed`` makes it by the strategy
    that stands in the run, and it is the run ``k`` of that strategy alone. A run is cut, with the
    reason ``nothing-reachable-fails``, once everything that the policy can reach from its start was
    seen and does not fail. Options are those of :class:`FuzzOptions`, also as keywords.
    ``progress`` is called about ten times a second with states, runs done, failing runs, 0 and
    seconds.
    """
    task = require_task(task)
    settings = _checked_options(chosen(FuzzOptions, options, changes), task)
    policy = as_policy(policy, task, seed=settings.seed)
    handled_objective(objective, task, policy, can_handle=can_handle)
    begin = time.perf_counter()
    starts = _starts(task, states, settings)
    left = max(settings.max_seconds - (time.perf_counter() - begin), 0.0)
    limited, states_ahead = with_lookahead(settings, BIASES[settings.bias].pick)
    limited = replace(limited, max_seconds=left)
    result = fuzz_packed(policy, starts, limited, progress=progress, lookahead_states=states_ahead)
    return replace(result, seconds=time.perf_counter() - begin)


def fuzz_packed(
    policy: Policy,
    starts: bytes,
    options: FuzzOptions,
    *,
    progress: ProgressCallback | None = None,
    to_the_end: bool = False,
    lookahead_states: int | None = None,
    guidance: _core.Guidance | None = None,
) -> FuzzResult:
    """Return a run from each of the packed states that stand one after the other in ``starts``.

    With ``to_the_end`` a run is not cut where nothing reachable fails: it goes on to where runs
    end. A lookahead that has seen more than ``lookahead_states`` goes no deeper. Runs are drawn to
    fail, or to what the guidance says (``CompiledTask.guidance_to``), or to what the bias says.
    """
    task, bias = policy.task, BIASES[options.bias]
    strategies = strategies_of(bias.pick, options.lookahead, lookahead_states)
    begin = time.perf_counter()
    with core_errors(task):
        fuzzed = _core.fuzz(
            task.core,
            policy.core,
            starts,
            strategies=strategies,
            max_steps=options.max_steps,
            seed=options.seed,
            perturb=options.perturb,
            changes=options.changes,
            workers=num_workers(policy, options.workers),
            goes_on=to_the_end,
            guidance=_guidance(bias, task) or guidance,
            max_seconds=options.max_seconds,
            max_bytes=options.max_bytes,
            progress=progress,
        )
    return _result(_Fuzzed(task, fuzzed, strategies), seconds=time.perf_counter() - begin)


def _guidance(bias: Bias, task: Task) -> _core.Guidance | None:
    """Return what a bias is drawn to; None for what runs are drawn to anyway."""
    if bias.guidance is None:
        return None
    if not has_description(task):
        raise task.lacks(Feature.DESCRIPTION, f"the bias {quoted(bias.name)}", code="bias-task")
    condition = bias.guidance(task)
    if not isinstance(condition, Expr):
        raise InputError(
            "plugin-error",
            f"the guidance of the bias {quoted(bias.name)} returned {shown(condition)}",
            hint="it must return a condition over the variables of the task",
        )
    return task.guidance_to(condition)


def num_workers(policy: Policy, workers: int | None) -> int:
    """Return how many threads to use: by default one for each processor, but one alone where
    Python code decides, which runs on one thread at a time, and always one where it steps: such a
    task numbers its states as they are met.
    """
    if Feature.THREADS not in policy.task.features:
        return 1
    if workers is not None:
        return workers
    is_python = isinstance(policy.core, _core.CallablePolicy)
    return 1 if is_python else len(os.sched_getaffinity(0))


# -- options -----------------------------------------------------------------------------------


def _checked_options(options: FuzzOptions, task: Task) -> FuzzOptions:
    check_bias("bias", options.bias)
    if Feature.DESCRIPTION not in task.features and options.perturb in ("values", "both"):
        raise InputError(
            "bad-option",
            "Python code defines the task: the ranges of its variables are unknown",
            hint="perturb actions",
        )
    return options


def _starts(
    task: Task, states: Iterable[Mapping[str, object]] | None, options: FuzzOptions
) -> bytes:
    """Return the packed states that the runs begin in, one after the other."""
    if states is None:
        return task.draw_starts(options.runs, seed=options.seed, max_seconds=options.max_seconds)
    given = [task.packed(state) for state in listed(states)]
    if not given:
        raise InputError("no-start-state", "there is no state to start from")
    return b"".join(given[k % len(given)] for k in range(options.runs))


# -- the core's runs ---------------------------------------------------------------------------


class _Fuzzed(NamedTuple):
    """The core's runs, and what belongs to them."""

    task: Task
    core: _core.FuzzResult
    strategies: tuple[CoreStrategy, ...]


def _result(produced: _Fuzzed, *, seconds: float) -> FuzzResult:
    fuzzed = produced.core
    equal = fuzzed.equal_failing()
    counts: Counter[str] = Counter()
    cuts: Counter[str] = Counter()
    for each in fuzzed.ends:
        end = RunEnd(each.end.name)
        counts[end] += each.runs
        if end is RunEnd.CUT and each.reason:
            cuts[each.reason] += each.runs
    return FuzzResult(
        distinct=len(equal),
        distinct_runs=fuzzed.distinct,
        counts=dict(counts),
        cuts=dict(cuts),
        asked=len(fuzzed),
        steps=fuzzed.steps,
        policy_calls=fuzzed.decisions,
        states=fuzzed.states,
        seconds=seconds,
        stopped=fuzzed.stopped or ("memory" if "memory" in cuts else None),
        make_runs=lambda: _runs(produced),
        make_failing=lambda: _failing(produced, equal),
    )


def _runs(produced: _Fuzzed) -> tuple[Run, ...]:
    """Return the runs that are done."""
    numbered = enumerate(produced.core.runs)
    return tuple(_run(produced, number, run) for number, run in numbered if run.is_done)


def _failing(produced: _Fuzzed, equal: Iterable[Sequence[int]]) -> tuple[Run, ...]:
    """Return the first of equal failing runs, with the numbers of the others."""
    return tuple(
        _run(produced, first, produced.core.run(first), same=tuple(others))
        for first, *others in equal
    )


def _run(produced: _Fuzzed, number: int, run: _core.FuzzRun, *, same: tuple[int, ...] = ()) -> Run:
    task, is_mixed = produced.task, len(produced.strategies) > 1
    return Run(
        run=number,
        states=PackedStates(run.states, 8 * task.core.words, task.unpack),
        actions=tuple(task.actions[action] for action in run.actions),
        result=RunEnd(run.end.name),
        reason=run.reason or None,
        num_steps=run.steps,
        made=_made(task, run),
        same=same,
        strategy=produced.strategies[run.strategy].record if is_mixed else None,
    )


def _made(task: Task, run: _core.FuzzRun) -> Made | None:
    """Return how the start of a run was made, if it was perturbed."""
    if run.reached is None:
        return None
    changes = tuple(_change(task, change) for change in run.changes)
    return Made(task.unpack(run.reached), changes)


def _change(task: Task, change: _core.Change) -> Change:
    state = task.unpack(change.state)
    if change.variable is None:
        return Change(state, action=task.actions[change.value])
    changed = task.variables[change.variable]
    return Change(state, variable=changed.name, value=state[changed.name])


def can_handle(task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
    """Return why ``fuzz`` cannot work on an objective; None if it can."""
    return handles_only("fuzz", SAFETY.name, objective)
