"""The start states of a campaign: those it debugs on, and others that it evaluates on."""

from __future__ import annotations

import functools
import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from surefoot.errors import InputError, OutOfBudget
from surefoot.options import DebugOptions
from surefoot.records.lines import Number, StartsPart
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import make, variable
from surefoot.tasks.task import Task, split_states

Bounds = Sequence[tuple[Number, Number]]
LIST_SECONDS = 10.0  # to see whether all start states are few enough


@dataclass(frozen=True)
class Starts:
    """Packed start states to debug on and to evaluate on.

    ``are_all``: those to debug on are all there are. Where no others are left, the evaluation is on
    the same ones: then they are not ``disjoint``.
    """

    debugging: tuple[bytes, ...]
    evaluation: tuple[bytes, ...]
    are_all: bool
    disjoint: bool
    sha256: str

    def not_evaluated(self, states: Iterable[bytes]) -> tuple[bytes, ...]:
        """Return those of the states that the evaluation is not on, if it is on others only."""
        evaluated = frozenset(self.evaluation) if self.disjoint else frozenset()
        return tuple(packed for packed in states if packed not in evaluated)

    def part(self) -> StartsPart:
        """Return how many there are, and the hash that tells whether they are the same again."""
        return StartsPart(
            debugging=len(self.debugging),
            evaluation=len(self.evaluation),
            are_all=self.are_all,
            disjoint=self.disjoint,
            sha256=self.sha256,
        )


def make_starts(
    task: Task, options: DebugOptions, *, max_seconds: float, are_all: bool | None = None
) -> Starts:
    """Return the start states of a campaign with these options.

    All there are, if they are few enough and can be listed; else a sample. ``are_all`` says which
    of these it was before, so that it is the same again. Raises OutOfBudget and InputError as
    drawing does.
    """
    everything = _all(task, options.starts) if are_all is not False else None
    if everything is None and are_all:
        raise InputError("campaign-other-task", "the start states differ from before")
    if everything is not None:
        return _made(task, everything, (), are_all=True)
    drawn = _drawn(task, options.starts, options.seed, max_seconds)
    debugged = frozenset(drawn)
    others = _drawn(task, options.evaluate.starts, evaluation_seed(options.seed), max_seconds)
    left = tuple(packed for packed in others if packed not in debugged)
    return _made(task, drawn, left, are_all=False)


def evaluation_seed(seed: int) -> int:
    """Return the seed of the start states to evaluate on: another one than that to debug on."""
    return _stream(f"evaluation starts of seed {seed}")


def _stream(text: str) -> int:
    """Return the seed of numbers that are independent of those of other texts."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def more_starts(
    task: Task, options: DebugOptions, starts: Starts, *, seed: int
) -> tuple[bytes, ...]:
    """Return as many other start states as there are to debug on, drawn with a seed of their own;
    none that the evaluation is on. None at all where all of them are debugged on.
    """
    if starts.are_all:
        return ()
    stream = _stream(f"further starts of seed {seed}")
    try:
        drawn = _drawn(task, options.starts, stream, LIST_SECONDS)
    except OutOfBudget:
        return ()
    return starts.not_evaluated(drawn)


def starts_within(
    task: Task, bounds: Bounds, count: int, *, seed: int, max_seconds: float = LIST_SECONDS
) -> tuple[bytes, ...]:
    """Return start states whose values are within these bounds, one for each variable: at most so
    many, drawn uniformly. None if there are none, or they are not found in time.
    """
    if not has_description(task):
        return ()
    stream = _stream(f"failing starts of seed {seed}")
    listed = task.start_source()
    if listed is not None:
        some = [
            packed
            for packed in split_states(listed, task.core.words)
            if _is_in(task, packed, bounds)
        ]
        within = list(dict.fromkeys(some))
        return tuple(random.Random(stream).sample(within, min(count, len(within))))
    try:
        return _drawn(_bounded(task, bounds), count, stream, max_seconds)
    except (OutOfBudget, InputError):
        return ()


def _is_in(task: CompiledTask, packed: bytes, bounds: Bounds) -> bool:
    values = task.core.unpack(packed)
    return all(low <= value <= high for value, (low, high) in zip(values, bounds, strict=True))


def _bounded(task: CompiledTask, bounds: Bounds) -> CompiledTask:
    """Return a task that has nothing but start states: those of the task within the bounds."""
    old = task.description
    start = old.start_condition
    if start is None:
        start = old.initial_condition()
    conditions = [] if start is None else [start]
    for declared, (low, high) in zip(task.variables, bounds, strict=True):
        value = variable(declared.name, declared.type)
        if declared.type == "bool":
            conditions += [make("eq", value, low)] if low == high else []
        else:
            conditions += [make("le", low, value), make("le", value, high)]
    description = Description(old.name, variables=dict(old.variables), arrays=dict(old.arrays))
    description.start(functools.reduce(lambda a, b: make("and", a, b), conditions))
    return description.compile()


def _made(
    task: Task, debugging: tuple[bytes, ...], others: tuple[bytes, ...], *, are_all: bool
) -> Starts:
    evaluation = others or debugging
    digest = _digest(task, [*debugging, *evaluation])
    return Starts(debugging, evaluation, are_all, bool(others), digest)


def _digest(task: Task, states: Iterable[bytes]) -> str:
    """Return a hash of the values: tasks of Python code pack the same state in several ways."""
    digest = hashlib.sha256()
    for packed in states:
        values = list(task.unpack(packed).values())
        digest.update(json.dumps(values, default=repr).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _drawn(task: Task, count: int, seed: int, max_seconds: float) -> tuple[bytes, ...]:
    packed = task.draw_starts(count, seed=seed, max_seconds=max_seconds)
    return tuple(dict.fromkeys(split_states(packed, task.core.words)))


def _all(task: Task, most: int) -> tuple[bytes, ...] | None:
    """Return all start states if there are at most so many; None if that cannot be told."""
    if not has_description(task):
        listed = tuple(dict.fromkeys(split_states(task.start_source() or b"", 1)))
        return listed if 0 < len(listed) <= most else None
    if task.has_start_condition and not task.core.has_finite_starts():
        return None
    try:
        starts = task.list_starts(max_states=most, max_seconds=LIST_SECONDS)
    except OutOfBudget:
        return None
    return tuple(state.packed for state in starts) or None
