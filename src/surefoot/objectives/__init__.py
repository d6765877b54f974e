"""Objectives: what a policy is asked for.

:class:`Objective` says what a run is worth and which values are better; ``SAFETY`` is one of them.
Engines (oracles, fuzzer, fault finder, repairer, verifiers) take an objective, and return a
:class:`~surefoot.errors.Refusal` if they cannot handle it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from surefoot.errors import InputError, Refusal, quoted, shown
from surefoot.objectives.objective import (
    Better,
    Comparison,
    Guidance,
    Objective,
    bounds_document,
    compared,
    gap,
    handles_only,
    run_values,
    shows_bounds,
    worst,
)
from surefoot.objectives.safety import SAFETY
from surefoot.records.values import ONE, ZERO, Bounds, Evidence, Interval, Value
from surefoot.registry import Registry

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.tasks.task import Task

CanHandle = Callable[["Task", "Policy | None", Objective], Refusal | None]
"""why an engine cannot work on a task and policy with an objective; None if it can"""

__all__ = [
    "OBJECTIVES",
    "ONE",
    "SAFETY",
    "ZERO",
    "Better",
    "Bounds",
    "CanHandle",
    "Comparison",
    "Evidence",
    "Guidance",
    "Interval",
    "Objective",
    "Value",
    "bounds_document",
    "compared",
    "gap",
    "handled_objective",
    "handles_only",
    "objective_of",
    "run_values",
    "shows_bounds",
    "worst",
]


def _component(value: object, name: str) -> Objective:
    """Return what is an objective. Raises InputError for what is not."""
    if isinstance(value, Objective) and not isinstance(value, type):
        return value
    raise InputError("not-a-component", f"{shown(name)} is not an objective: it is {shown(value)}")


OBJECTIVES: Registry[Objective] = Registry(
    "objective",
    group="surefoot.objectives",
    component=_component,
    package="surefoot.objectives",
    constant="OBJECTIVE",
    made_by=r"\w+",
)


def objective_of(given: str | Objective) -> Objective:
    """Return an objective by its name, or as it is.

    Raises InputError if there is none, or if it has the name of a built-in one that it is not:
    engines know objectives by name, and would take it for that.
    """
    objective = OBJECTIVES[given] if isinstance(given, str) else _component(given, "objective")
    name = objective.name
    if name in OBJECTIVES.built_in and objective != OBJECTIVES[name]:
        message = f"the objective {quoted(name)} has a name that is taken"
        raise InputError("name-clash", message, hint="give it another name")
    return objective


def handled_objective(
    given: str | Objective, task: Task, policy: Policy | None, *, can_handle: CanHandle
) -> Objective:
    """Return an objective by its name, or as it is. Raises Unsupported if the task lacks what it
    needs, or if the engine cannot handle it.
    """
    objective = objective_of(given)
    if (refusal := objective.needs(task)) is not None:
        raise refusal.error(file=task.file)
    if (refusal := can_handle(task, policy, objective)) is not None:
        raise refusal.error()
    return objective
