"""What every method of verification is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surefoot.options import VerifyOptions
from surefoot.policies import Policy
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task

ProgressCallback = Callable[[int, int, int, int, float], object]


@dataclass(frozen=True)
class Job:
    """A policy to verify. ``certificate`` is False, or True or a path for where it is written."""

    task: Task | PythonTask
    policy: Policy
    options: VerifyOptions
    progress: ProgressCallback | None
    certificate: bool | str | Path
