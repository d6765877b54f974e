"""What an objective is, and what follows from it for every one: gaps and bugs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from surefoot.errors import InputError, Refusal, shown
from surefoot.records.values import ZERO, Bounds, Interval, RunValues, Value

if TYPE_CHECKING:
    from surefoot.records import Run
    from surefoot.tasks.expressions import Expr
    from surefoot.tasks.task import Task


class Better(StrEnum):
    """Which of two values is better."""

    LOWER = "lower"
    HIGHER = "higher"


class Comparison(StrEnum):
    """What the value of a policy is against the best one."""

    BUG = "bug"
    NOT_A_BUG = "not a bug"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Guidance:
    """What runs are drawn to when they are looked for: states nearer to where ``condition`` holds.

    ``condition`` is None where the task has none that can be read; runs are then drawn to nothing.
    """

    condition: Expr | None


@runtime_checkable
class Objective(Protocol):
    """What a policy is asked for.

    A value is what users mean by it, never negated; ``better`` says which direction is good.
    """

    @property
    def name(self) -> str:
        """The word for it in options and documents."""

    @property
    def better(self) -> Better:
        """Which values are better."""

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The words for what may be known about a state, in the order of summaries."""

    @property
    def bad_verdicts(self) -> tuple[str, ...]:
        """Those of them that say that something is wrong with the state, whatever the policy."""

    @property
    def range(self) -> Interval:
        """Where all values are: what is known of a state before anybody looks."""

    def value_of(self, run: Run, task: Task) -> Interval:
        """Return what a run of the task is worth; an interval if it was cut before that was known,
        or if the environment had several ways to take a step.
        """

    def needs(self, task: Task) -> Refusal | None:
        """Return what the task lacks to be asked about this; None if it lacks nothing."""

    def guidance(self, task: Task) -> Guidance:
        """Return what fuzzing is drawn to."""

    def verdict(self, best: Bounds) -> str:
        """Return the word for what is known about a state: ``unknown`` if that says nothing."""

    def document(self, best: Bounds) -> dict[str, object]:
        """Return what JSON documents say about the best value of a state."""


def gap(objective: Objective, policy: Interval, best: Bounds) -> Interval:
    """Return how much worse the policy is than the best one: at least, and at most.

    Where both are infinite there is no gap. Raises ValueError if the policy is better than the best
    one can be: one of the two values is then wrong.
    """
    if objective.better is Better.LOWER:
        least, most = policy.lo - best.hi, policy.hi - best.lo
    else:
        least, most = best.lo - policy.hi, best.hi - policy.lo
    return Interval(max(ZERO, least), most)


def compared(objective: Objective, policy: Interval, best: Bounds) -> Comparison:
    """Return whether a state in which the policy has this value is a bug."""
    missing = gap(objective, policy, best)
    if missing.lo > ZERO:
        return Comparison.BUG
    return Comparison.NOT_A_BUG if missing.hi == ZERO else Comparison.UNKNOWN


def bounds_document(best: Bounds) -> dict[str, object]:
    """Return the bounds as JSON documents have them: both ends, and the plan if there is one."""
    plans = [list(end.plan) for end in best.evidence if end.plan is not None]
    return {"bounds": best.interval.to_json(), **({"plan": plans[0]} if plans else {})}


def shows_bounds(objective: Objective) -> bool:
    """Return whether the bounds are shown beside the verdict, which does not say all they do."""
    return "bounds" in objective.document(Bounds(objective.range.lo, objective.range.hi))


def run_values(objective: Objective, runs: Sequence[Run], task: Task) -> RunValues:
    """Return what runs of the task are worth."""
    values = [_value_of(run, objective, task) for run in runs]
    poorest = max if objective.better is Better.LOWER else min
    return RunValues(
        objective=objective.name,
        mean=Interval.mean(values),
        worst=Interval(poorest(v.lo for v in values), poorest(v.hi for v in values)),
        worst_runs=values.count(Interval.exactly(worst(objective))),
        runs=len(values),
    )


def _value_of(run: Run, objective: Objective, task: Task) -> Interval:
    value = objective.value_of(run, task)
    if isinstance(value, Interval):
        return value
    message = f"value_of of the objective {objective.name} returned {shown(value)}"
    raise InputError("plugin-error", message, hint="it must return an Interval")


def worst(objective: Objective) -> Value:
    """Return the worst value there is."""
    return objective.range.hi if objective.better is Better.LOWER else objective.range.lo


def handles_only(engine: str, handled: str, objective: Objective) -> Refusal | None:
    """Return the refusal of an engine that handles one objective, named ``handled``."""
    if objective.name == handled:
        return None
    return Refusal(
        "unsupported-objective",
        f"{engine} does not handle the objective {objective.name}, only {handled}",
    )
