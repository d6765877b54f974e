"""What every method of verification is given, and what methods on sets of states can do with it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import Refusal, quoted
from surefoot.options import VerifyOptions
from surefoot.policies import Policy
from surefoot.tasks.task import Feature, Task

ProgressCallback = Callable[[int, int, int, int, float], object]
"""is called with states, expanded, depth, bytes and seconds; by ``box`` and ``predicates`` with
boxes, refinements, the bound on steps, bytes and seconds; by ``ic3`` with blocked boxes, questions
to the solver, frames, bytes and seconds"""

MODELS = ("trees", "network", "corrected")
"""kinds of models that methods on sets of states can read"""


@dataclass(frozen=True)
class Question:
    """A policy to verify. ``certificate`` is False, or True or a path for where it is written.

    ``watch`` is told which method begins. A certificate of single states is not written if there
    are more than ``max_certificate_states``. ``bounds`` are variables and values at which ``box``
    cuts from the beginning.
    """

    task: Task
    policy: Policy
    options: VerifyOptions
    progress: ProgressCallback | None
    certificate: bool | str | Path
    watch: Callable[[str], object] | None = None
    max_certificate_states: int | None = None
    bounds: tuple[tuple[str, int], ...] = ()


OUT_OF_SECONDS, OUT_OF_MEMORY = "out-of-seconds", "out-of-memory"
"""codes of reasons by which a portfolio decides who is asked next"""


def out_of(what: str, options: VerifyOptions) -> Refusal:
    """Return the reason for ``unknown`` where seconds, memory or states have run out."""
    limits = {
        "seconds": f"{options.max_seconds:g}",
        "memory": f"{options.memory_mb:,} MB",
        "states": f"{options.max_states:,}",
    }
    return Refusal(f"out-of-{what}", f"ran out of {what} ({limits[what]})")


def only_short_runs(options: VerifyOptions) -> Refusal:
    """Return the reason for ``unknown`` where longer runs were not looked at."""
    return Refusal(
        "steps-bounded", f"only runs of at most {options.max_steps:,} steps were examined"
    )


def cannot_read(
    task: Task, policy: Policy | None, *, method: str, reads: Collection[str] = MODELS
) -> Refusal | None:
    """Return why a method that looks at sets of states cannot read task or policy; None if it
    can.
    """
    if Feature.DESCRIPTION not in task.features:
        return Refusal(
            "verify-python-task",
            f"method {method}: Python code defines the task, so its steps cannot be read",
            hint="--method explicit can verify it",
        )
    interface = None if policy is None else policy.interface
    if interface is not None and any(entry.one_hot for entry in interface.inputs):
        return Refusal(
            "verify-one-hot",
            f"method {method}: the policy has one-hot inputs, which are no intervals",
            hint="--method explicit can verify it",
        )
    if policy is None or policy.model_kind in reads:
        return None
    kind = policy.model_kind
    what = "no model" if kind is None else f"a model of the kind {kind}"
    return Refusal(
        "verify-policy-kind",
        f"method {method}: policy {quoted(policy.name)} has {what}; trees, networks "
        "and networks with trees that correct them can be verified so",
        hint="--method explicit can verify every policy",
    )


def check_symbolic(question: Question, method: str) -> None:
    """Raise Unsupported if a method that looks at sets of states cannot read task or policy."""
    refusal = cannot_read(question.task, question.policy, method=method)
    if refusal is not None:
        raise refusal.error()
