"""The library that a policy file comes from, as a function from inputs to scores.

Libraries are imported when they are needed, if they are installed. Files are handed to them only
after our own readers have accepted them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from surefoot.errors import printable
from surefoot.policies.models import Reals


@dataclass(frozen=True)
class Original:
    """A library that evaluates the policy: its name with version, and scores of rows of inputs."""

    name: str
    scores: Callable[[Reals], Reals]


def installed(name: str) -> Any:
    """Return a library; None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def not_installed(name: str, extra: str) -> str:
    """Return why a library cannot be asked that is not installed."""
    return f"{name} is not installed: pip install 'surefoot[{extra}]' to compare with it"


def refusal(name: str, error: Exception) -> str:
    """Return why a library cannot be asked that does not take the file."""
    line = printable(str(error).strip().split("\n")[0])
    return f"{name} refuses the file: {line}"


def columns(answer: object, rows: int, outputs: int) -> Reals:
    """Return scores, a row for each input; of two classes with one margin that against 0."""
    scores: Reals = np.asarray(answer, dtype=np.float64).reshape(rows, -1)
    is_margin = outputs == 2 and scores.shape[1] == 1
    return np.hstack([np.zeros_like(scores), scores]) if is_margin else scores
