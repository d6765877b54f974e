"""What a method of verification consists of: what it reads, what it does, and how it tells it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.errors import Refusal
from surefoot.objectives import SAFETY, Objective, handles_only
from surefoot.policies import Policy
from surefoot.records import VerifyResult
from surefoot.tasks.task import Task
from surefoot.text import counted
from surefoot.verify.question import MODELS, Question, cannot_read

Numbers = tuple[int, int, int, int, float]
"""what a method tells its progress callback"""
STATE_NUMBERS = ("states", "expanded", "depth", "bytes")
BOX_NUMBERS = ("boxes", "refinements", "steps", "bytes")


def memory_text(size: int) -> str:
    """Return how much memory is used as the end of a sentence, nothing for 0."""
    return f", {size / 1e6:,.0f} MB" if size else ""


def states_text(name: str, numbers: Numbers) -> str:
    """Return the progress of a method that looks at single states."""
    states, expanded, depth, size, _ = numbers
    if not expanded:
        return f"listing start states: {states:,}"
    seen = f"{counted(states, 'state')}, {expanded:,} expanded, depth {depth:,}"
    return f"{name}: {seen}{memory_text(size)}"


def boxes_text(name: str, numbers: Numbers) -> str:
    """Return the progress of a method that looks at boxes."""
    boxes, refinements, bound, size, _ = numbers
    refined = f", {counted(refinements, 'refinement')}" if refinements else ""
    steps = f", up to {counted(bound, 'step')}" if bound else ""
    return f"{name}: {counted(boxes, 'box')}{refined}{steps}{memory_text(size)}"


def refinements_text(result: VerifyResult) -> str:
    """Return what was done with the boxes of a result: refined."""
    return counted(result.refinements, "refinement")


@dataclass(frozen=True)
class Method:
    """A method of verification.

    ``run`` takes a :class:`Question` and returns a VerifyResult. ``reads`` are the kinds of models
    of policies that it can read (``MODELS``), if it looks at sets of states of compiled tasks; None
    if it takes every task and policy, and looks at single states. ``takes_predicates`` if it begins
    with the predicates of the options. ``numbers`` are the names of what it tells its progress
    callback, before the seconds; ``progress`` puts these numbers into words, ``effort`` what a
    result was made of, besides boxes.
    """

    name: str
    run: Callable[[Question], VerifyResult]
    reads: frozenset[str] | None = None
    takes_predicates: bool = False
    numbers: tuple[str, str, str, str] = STATE_NUMBERS
    progress: Callable[[str, Numbers], str] = states_text
    effort: Callable[[VerifyResult], str] = refinements_text

    def can_handle(self, task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
        """Return why the method cannot verify the policy for the objective; None if it can."""
        refusal = handles_only(f"the method {self.name}", SAFETY.name, objective)
        if refusal is not None or self.reads is None:
            return refusal
        return cannot_read(task, policy, method=self.name, reads=self.reads)

    @property
    def is_symbolic(self) -> bool:
        """Whether it looks at sets of states."""
        return self.reads is not None

    def __call__(self, question: Question) -> VerifyResult:
        """Return what the method finds."""
        return self.run(question)


ON_SETS = frozenset(MODELS)
"""what the built-in methods on sets of states read"""
