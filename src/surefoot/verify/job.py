"""What every method of verification is given, and what methods on sets of states can do with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import Unsupported, quoted
from surefoot.options import VerifyOptions
from surefoot.policies import Policy
from surefoot.results import counted
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task

ProgressCallback = Callable[[int, int, int, int, float], object]
"""is called with states, expanded, depth, bytes and seconds; by ``box`` and ``predicates`` with
boxes, refinements, the bound on steps, bytes and seconds; by ``ic3`` with blocked boxes, questions
to the solver, frames, bytes and seconds"""

SYMBOLIC = ("box", "predicates", "ic3")
"""methods that look at sets of states: these read the model and the policy"""
MODELS = ("trees", "network", "corrected")
"""kinds of models that such methods can read"""


@dataclass(frozen=True)
class Job:
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


def out_of(what: str, how: VerifyOptions) -> str:
    """Return the reason for ``unknown`` where seconds, memory or states have run out."""
    limits = {
        "seconds": f"{how.max_seconds:g}",
        "memory": f"{how.memory_mb:,} MB",
        "states": f"{how.max_states:,}",
    }
    return f"ran out of {what} ({limits[what]})"


def check_symbolic(job: Job, method: str) -> None:
    """Raise Unsupported if a method that looks at sets of states cannot read task or policy."""
    if isinstance(job.task, PythonTask):
        raise Unsupported(
            "verify-python-task",
            f"method {method}: Python code defines the task, so nobody can read its steps",
            hint="--method explicit can verify it",
        )
    kind = getattr(job.policy.model, "kind", None)
    if kind not in MODELS:
        what = "no model" if kind is None else f"a model of the kind {kind}"
        raise Unsupported(
            "verify-policy-kind",
            f"method {method}: policy {quoted(job.policy.name)} has {what}; trees, networks and "
            "networks with trees that correct them can be verified so",
            hint="--method explicit can verify every policy",
        )


def progress_text(method: str, numbers: tuple[int, int, int, int, float]) -> str:
    """Return what a method tells its progress callback in words."""
    first, second, third, size, _ = numbers
    memory = f", {size / 1e6:,.0f} MB" if size else ""
    if method == "ic3":
        asked = f"{counted(second, 'question')}, {counted(third, 'frame')}"
        return f"{method}: {counted(first, 'blocked box')}, {asked}{memory}"
    if method in SYMBOLIC:
        refined = f", {counted(second, 'refinement')}" if second else ""
        bound = f", up to {counted(third, 'step')}" if third else ""
        return f"{method}: {counted(first, 'box')}{refined}{bound}{memory}"
    if not second:
        return f"listing start states: {first:,}"
    return f"{method}: {counted(first, 'state')}, {second:,} expanded, depth {third:,}{memory}"
