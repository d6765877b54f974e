"""Which states to ask about when none are named: start states, or states met on random walks."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget
from surefoot.options import MAX_INT, BudgetOptions
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.sampling import check_draw
from surefoot.tasks.state import State
from surefoot.tasks.task import Task, split_states

MAX_LISTED = 1_000_000
WALK_STEPS = 100
WALKS_PER_STATE = 20


@dataclass(frozen=True)
class Starts:
    """The first start states of a task; there are ``listed`` of them, or more if that is not
    ``complete``.
    """

    states: tuple[State, ...]
    listed: int
    complete: bool

    @property
    def are_all(self) -> bool:
        """Whether no start state is missing."""
        return self.complete and self.listed == len(self.states)


def start_states(task: Task, *, limit: int, max_seconds: float = 60.0) -> Starts:
    """Return the first ``limit`` start states, each once, and how many there are.

    Raises InputError if there is none or if there are infinitely many, and OutOfBudget if not even
    so many are found in time.
    """
    packed, ran_out = _listed(task, max(limit, MAX_LISTED), max_seconds)
    distinct = list(dict.fromkeys(split_states(packed, task.core.words)))
    if not distinct and not ran_out:
        raise InputError("no-start-state", "there is no state to start from", file=task.file)
    if ran_out and len(distinct) < limit:
        raise OutOfBudget(
            f"out-of-{ran_out}",
            f"the start states cannot be listed within {max_seconds:g} seconds",
            file=task.file,
            hint="give states with --states FILE, or draw some with --sample N",
        )
    states = tuple(task.unpack(state) for state in distinct[:limit])
    return Starts(states, len(distinct), not ran_out)


def _listed(task: Task, limit: int, max_seconds: float) -> tuple[bytes, str]:
    packed = task.start_source()
    if packed is not None:
        return packed, ""
    assert has_description(task)  # Python-defined tasks list their start states
    if not task.core.has_finite_starts():
        error = task.infinite_starts()
        error.hint = f"{error.hint}; or draw some with --sample N"
        raise error
    try:
        starts = task.core.list_starts(max_states=limit, max_seconds=max_seconds)
    except _core.ModelError as error:
        raise task.model_error(error) from None
    return starts.states, starts.stopped


def sample_states(
    task: Task, count: int, *, seed: int = 0, max_seconds: float = 60.0
) -> list[State]:
    """Return up to ``count`` different reachable states, met on random walks from the start.

    Walk ``k`` depends on (task, seed, k) only, and gives one of its states, each with the same
    probability. There are fewer states if many walks bring nothing new. Raises OutOfBudget if time
    runs out.
    """
    count, seed = check_draw(count, seed)
    begin = time.monotonic()
    starts = task.sample_starts(count, seed=seed, max_seconds=max_seconds)
    drawn: dict[bytes, None] = {}
    for walk in range(WALKS_PER_STATE * count):
        left = max_seconds - (time.monotonic() - begin)
        met = _walk(task, starts[walk % count].packed, walk, seed=seed, max_seconds=left)
        drawn[random.Random(f"{seed} {walk}").choice(met)] = None
        if len(drawn) == count:
            break
    return [task.unpack(packed) for packed in drawn]


def _walk(task: Task, start: bytes, number: int, *, seed: int, max_seconds: float) -> list[bytes]:
    try:
        run = _core.simulate(
            task.core,
            start,
            policy=_core.RandomPolicy((seed + number) % (MAX_INT + 1)),  # another one for each walk
            max_steps=WALK_STEPS,
            seed=seed,
            run=number,
            max_seconds=max_seconds,
            max_bytes=BudgetOptions().max_bytes,
        )
    except _core.ModelError as error:
        raise task.model_error(error) from None
    if run.stopped:
        raise OutOfBudget(f"out-of-{run.stopped}", f"ran out of {run.stopped} while drawing states")
    return split_states(run.states, task.core.words)
