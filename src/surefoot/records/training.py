"""What training and distilling return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.records.common import Result
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy


@dataclass(frozen=True)
class Checkpoint(Result):
    """How good a policy was after some steps of its training.

    ``mean_return`` is of the training's own runs, random actions included; the fractions and
    ``mean_steps`` are of runs of the policy alone.
    """

    steps: int
    seconds: float
    mean_return: float
    goal_fraction: float
    fail_fraction: float
    mean_steps: float

    def __str__(self) -> str:
        return (
            f"{self.steps:,} steps: return {self.mean_return:.3g}, goal {self.goal_fraction:.3f}, "
            f"fail {self.fail_fraction:.3f}, {self.mean_steps:.1f} steps a run"
        )


@dataclass(frozen=True)
class TrainResult(Result):
    """The best policy of a training, and all that was looked at on the way.

    ``stopped`` says what ended the training before its time: ``seconds``, ``interrupted``, or
    ``diverged`` if the weights diverged.
    """

    policy: Policy
    best: Checkpoint
    checkpoints: tuple[Checkpoint, ...]
    steps: int
    seconds: float
    stopped: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; of the policy only what it is made of."""
        return {
            "policy": str(self.policy.model),
            "best": self.best.to_dict(),
            "checkpoints": [checkpoint.to_dict() for checkpoint in self.checkpoints],
            "steps": self.steps,
            "steps_per_second": self.steps / self.seconds if self.seconds else 0.0,
            "seconds": self.seconds,
            "stopped": self.stopped,
        }

    def __str__(self) -> str:
        return (
            f"{self.policy.model}: best after {self.best}; "
            f"{self.steps:,} steps in {self.seconds:.1f} s"
        )


@dataclass(frozen=True)
class DistillResult(Result):
    """Trees that imitate a policy, their teacher, and how well they do.

    They learned from ``examples`` decisions of the teacher, where more than one action was
    applicable; ``taken`` says how often it took which action. ``agreement`` is the fraction of
    these that the trees decide alike, ``fresh_agreement`` that of ``fresh_examples`` decisions on
    runs that they did not learn from; None if there are none. ``teacher_ends`` and ``trees_ends``
    say how ``runs`` runs of both ended, from the same start states.
    """

    policy: Policy
    kind: str
    runs: int
    examples: int
    agreement: float
    fresh_examples: int
    fresh_agreement: float | None
    taken: Mapping[str, int]
    teacher_ends: Mapping[str, int]
    trees_ends: Mapping[str, int]
    seconds: float
    original: bytes | None = field(default=None, compare=False, repr=False)
    """the trees as XGBoost itself would save them, in UBJSON, if they are its own"""

    def fractions(self, ends: Mapping[str, int]) -> dict[str, float]:
        """Return which fraction of runs that ended so reached the goal, and which fail."""
        return {f"{end}_fraction": ends.get(end, 0) / self.runs for end in ("goal", "fail")}

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; of the trees only what they are made of."""
        return {
            "kind": self.kind,
            "model": str(self.policy.model),
            "runs": self.runs,
            "examples": self.examples,
            "agreement": self.agreement,
            "fresh_examples": self.fresh_examples,
            "fresh_agreement": self.fresh_agreement,
            "taken": dict(self.taken),
            "teacher": {**self.fractions(self.teacher_ends), "ends": dict(self.teacher_ends)},
            "trees": {**self.fractions(self.trees_ends), "ends": dict(self.trees_ends)},
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        fresh = "no fresh ones"
        if self.fresh_agreement is not None:
            fresh = f"{self.fresh_agreement:.4f} of {self.fresh_examples:,} fresh ones"
        both = zip(self.fractions(self.teacher_ends).values(),
                   self.fractions(self.trees_ends).values(), strict=True)  # fmt: skip
        goal, fail = (f"{teacher:.4f} -> {trees:.4f}" for teacher, trees in both)
        return (
            f"{self.policy.model}: agree on {self.agreement:.4f} of "
            f"{counted(self.examples, 'decision')}, {fresh}; goal {goal}, fail {fail}; "
            f"{self.seconds:,.1f} s"
        )
