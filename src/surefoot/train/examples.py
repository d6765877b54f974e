"""Decisions of a policy to learn from: runs as arrays of states and actions.

A decision is an example where more than one action was applicable: elsewhere there is nothing to
learn. States stay packed, and go through arrays only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot import _core
from surefoot.errors import OutOfBudget, Unsupported
from surefoot.policies import Policy
from surefoot.policies.callables import state_rows
from surefoot.policies.decisions import ask_core
from surefoot.tasks.task import Task, split_states

CHUNK = 50_000  # states whose values are Python numbers at one time
BYTES_PER_VALUE = 12  # of an example: as float32 here, and what a library keeps
Numbers = npt.NDArray[np.int64]
Rows = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Limits:
    """How long runs may be, and what may be used for all of them."""

    max_steps: int
    max_bytes: int
    seconds_left: Callable[[], float]


@dataclass(frozen=True)
class Examples:
    """Packed states one after the other, the number of the action that was taken in each, and how
    many runs ended how.
    """

    states: bytes
    actions: Numbers
    ends: Mapping[str, int]


def collect(
    policy: Policy,
    starts: bytes,
    *,
    seed: int,
    limits: Limits,
    tell: Callable[[int, int], object],
) -> Examples:
    """Return the decisions on a run from each of the packed start states, outcomes drawn uniformly.

    Run ``k`` depends on (task, policy, start, seed, k) only. Raises OutOfBudget if time or memory
    run out.
    """
    task = policy.task
    firsts = split_states(starts, task.core.words)
    states: list[bytes] = []
    actions: list[Numbers] = []
    ends: Counter[str] = Counter()
    used = 0
    for number, start in enumerate(firsts):
        packed, taken, end = _run(policy, start, seed=seed, number=number, limits=limits)
        choices = _with_choice(task, packed, taken)
        states.append(choices[0])
        actions.append(choices[1])
        ends[end] += 1
        used += len(choices[0]) + len(choices[1]) * len(task.names) * BYTES_PER_VALUE
        if used > limits.max_bytes:
            raise _out_of("memory", number)
        tell(number + 1, len(firsts))
    return Examples(b"".join(states), np.concatenate(actions), dict(ends))


def _run(
    policy: Policy, start: bytes, *, seed: int, number: int, limits: Limits
) -> tuple[bytes, list[int], str]:
    run: _core.Run = ask_core(
        policy.task,
        _core.simulate,
        policy.task.core,
        start,
        policy=policy.core,
        max_steps=limits.max_steps,
        seed=seed,
        run=number,
        max_seconds=limits.seconds_left(),
        max_bytes=limits.max_bytes,
    )
    if run.stopped:
        raise _out_of(run.stopped, number)
    return run.states, run.actions, run.end.name


def _out_of(what: str, number: int) -> OutOfBudget:
    return OutOfBudget(
        f"out-of-{what}", f"ran out of {what} in run {number}", hint="give more, or fewer runs"
    )


def _with_choice(task: Task, packed: bytes, taken: list[int]) -> tuple[bytes, Numbers]:
    """Return the states of a run in which more than one action was applicable, and what was taken.

    Silent actions are not for policies to choose, and do not count.
    """
    actions = np.array(taken, dtype=np.int64)
    states = np.frombuffer(packed, dtype=np.uint64).reshape(-1, task.core.words)[: len(actions)]
    is_decided = actions < len(outputs_of(task))
    states, actions = states[is_decided], actions[is_decided]
    has_choice = num_applicable(task, states.tobytes(), actions) > 1
    return states[has_choice].tobytes(), actions[has_choice]


def outputs_of(task: Task) -> tuple[str, ...]:
    """Return the actions that are not silent: those come first in every task."""
    return tuple(name for name in task.actions if name not in task.silent)


def num_applicable(task: Task, packed: bytes, actions: Numbers) -> Numbers:
    """Return how many actions that are not silent are applicable in packed states; ``actions`` is
    one of them for each.
    """
    counts: list[Numbers] = [np.zeros(0, dtype=np.int64)]

    def ask_all(_: bytes, applicable: list[list[int]]) -> list[int]:
        counts.append(np.fromiter(map(len, applicable), dtype=np.int64, count=len(applicable)))
        known: list[int] = actions.tolist()
        return known

    probe = _core.CallablePolicy(lambda *_: 0, ask_all)
    ask_core(task, probe.decide_all, task.core, packed)
    return np.concatenate(counts)


def rows_of(task: Task, packed: bytes) -> Rows:
    """Return the values of packed states in float32, as trees compare them, a row for each."""
    width = 8 * task.core.words * CHUNK
    parts = [_rows(task, packed[at : at + width]) for at in range(0, len(packed), width)]
    return np.concatenate(parts) if parts else np.empty((0, len(task.names)), dtype=np.float32)


def _rows(task: Task, packed: bytes) -> Rows:
    with np.errstate(over="ignore"):
        rows: Rows = state_rows(task, packed).astype(np.float32)
    if not np.isfinite(rows).all():
        raise Unsupported("value-too-large", "a state has a value that is too large for float32")
    return rows


def agreement(policy: Policy, examples: Examples) -> float | None:
    """Return in which fraction of the examples the policy decides as it was decided there; None if
    there are none.
    """
    width = 8 * policy.task.core.words * CHUNK
    decided: list[Any] = []
    for at in range(0, len(examples.states), width):
        chunk = examples.states[at : at + width]
        decided.append(ask_core(policy.task, policy.core.decide_all, policy.task.core, chunk))
    if not decided:
        return None
    return float((np.concatenate(decided) == examples.actions).mean())
