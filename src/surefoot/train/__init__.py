"""Make policies: learn one by trial (here), or imitate one with trees (``distilling``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from surefoot.errors import InputError, shown
from surefoot.options import TrainOptions, chosen
from surefoot.options.keywords import TrainChanges
from surefoot.policies import Policy
from surefoot.policies.libraries import library
from surefoot.records import Checkpoint, TrainResult
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.task import Task

MAX_NEURONS, MAX_LAYERS = 4096, 8


def train(
    task: Task,
    *,
    options: TrainOptions | None = None,
    progress: Callable[[Checkpoint], object] | None = None,
    better: Callable[[Policy, Checkpoint], object] | None = None,
    score: Callable[[Policy, Checkpoint], float | None] | None = None,
    **changes: Unpack[TrainChanges],
) -> TrainResult:
    """Return a network that learned to act in the task by masked deep Q-learning.

    It is evaluated now and then: the best policy is the result. ``progress`` is called
    for each look, ``better`` with each policy that is better than all before. ``score`` says how
    good a policy is, or None if it is not to be kept; without it the best one reaches the goal most
    often and, of those alike, or if there is no goal, fails least often. After Ctrl-C the best
    policy so far is returned, with ``stopped`` saying so. Options are those of
    :class:`TrainOptions`, also as keywords. Needs torch.
    """
    task = require_task(task)
    for name, call in {"progress": progress, "better": better, "score": score}.items():
        if call is not None and not callable(call):
            raise InputError("bad-option", f"{name} is a function, not {shown(call)}")
    settings = chosen(TrainOptions, options, changes)
    hidden_sizes(settings.hidden)
    library("torch", extra="train", what="training")
    if not has_description(task):
        raise InputError(
            "bad-task",
            "a Python-defined task cannot be trained on",
            hint="write it as a surefoot.Description",
        )
    from surefoot.train.training import Training

    return Training(task, settings, progress=progress, better=better, score=score).run()


def hidden_sizes(text: str) -> list[int]:
    """Return the sizes of hidden layers, written as ``64,64``; none for an empty text."""
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(map(_is_size, parts)) or len(parts) > MAX_LAYERS:
        raise InputError(
            "bad-option",
            f"hidden lists up to {MAX_LAYERS} sizes from 1 to {MAX_NEURONS:,}, not {text[:40]!r}",
            hint="write 64,64 for two hidden layers of 64 neurons each",
        )
    return [int(part) for part in parts]


def _is_size(text: str) -> bool:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MAX_NEURONS))
    return is_number and 0 < int(text) <= MAX_NEURONS
