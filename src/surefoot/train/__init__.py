"""Make policies: learn one by trial (here), or imitate one with trees (``distilling``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from surefoot.errors import InputError, shown
from surefoot.options import TrainOptions, check_word, chosen
from surefoot.policies import Policy
from surefoot.policies.libraries import library
from surefoot.results import Checkpoint, TrainResult
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.task import Task

POTENTIALS = ("none", "goal")
MAX_OF = {
    **{"environments": 1_000_000, "batch": 1_000_000, "updates": 1_000_000, "runs": 1_000_000},
    **{"replay": 1_000_000_000, "learning_rate": 1_000, "discount": 1, "explore": 1},
    **{"goal_reward": 1_000_000, "fail_cost": 1_000_000, "step_cost": 1_000_000},
}
MAX_NEURONS, MAX_LAYERS = 4096, 8
LEAST_ONE = (
    "steps",
    "environments",
    "max_steps",
    "updates",
    "batch",
    "replay",
    "checkpoints",
    "runs",
)


def train(
    task: Task,
    *,
    options: TrainOptions | None = None,
    progress: Callable[[Checkpoint], object] | None = None,
    better: Callable[[Policy, Checkpoint], object] | None = None,
    score: Callable[[Policy, Checkpoint], float | None] | None = None,
    **changes: Any,
) -> TrainResult:
    """Return a network that learned to act in the task by masked deep Q-learning.

    Its goodness is looked at now and then: the best policy is the result. ``progress`` is called
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
    how = check_train_options(chosen(TrainOptions, options, changes))
    library("torch", extra="train", what="training")
    if not isinstance(task, CompiledTask):
        raise InputError(
            "bad-task",
            "a Python-defined task cannot be trained on",
            hint="write it as a surefoot.Description",
        )
    from surefoot.train.training import Training

    return Training(task, how, progress=progress, better=better, score=score).run()


def check_train_options(how: TrainOptions, *, spelled: Callable[[str], str] = str) -> TrainOptions:
    """Return the options. Raises InputError for numbers that make no sense."""
    check_word(spelled("potential"), how.potential, POTENTIALS)
    for name in LEAST_ONE:
        if getattr(how, name) == 0:
            raise InputError("bad-option", f"{spelled(name)} must be at least 1")
    for name, most in MAX_OF.items():
        if getattr(how, name) > most:
            raise InputError("bad-option", f"{spelled(name)} must be at most {most:,}")
    if how.learning_rate == 0:
        raise InputError("bad-option", f"{spelled('learning_rate')} must be above 0")
    hidden_sizes(how.hidden)
    return how


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
