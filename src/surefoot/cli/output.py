"""What goes to standard output: tables for people, one JSON document for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.tasks.task import Task


def console() -> Console:
    """Return the console for tables and text. It reads no markup and colours nothing by guess.

    It writes to what is standard output now, also if that is redirected later.
    """
    from rich.console import Console

    return Console(file=sys.stdout, markup=False, highlight=False, emoji=False, soft_wrap=True)


def json_text(content: dict[str, object]) -> str:
    """Return a JSON document: indented for the eye on a terminal, on one line elsewhere."""
    return json.dumps(content, indent=2 if sys.stdout.isatty() else None)


def document(
    command: str,
    task: Task,
    *,
    policy: str | None = None,
    policy_sha256: str | None = None,
    options: Mapping[str, object],
    seed: int,
    seconds: float,
    result: dict[str, object],
) -> dict[str, object]:
    """Return the JSON document of a command: what every document has, then the result."""
    from surefoot import __version__

    return {
        "surefoot": __version__,
        "command": command,
        "task": {
            "name": task.name,
            "file": None if task.file is None else str(task.file),
            "sha256": getattr(task, "sha256", None),
            **({"outcomes": "sampled"} if task.is_sampled else {}),
        },
        "policy": None if policy is None else {"name": policy, "sha256": policy_sha256},
        "options": options,
        "seed": seed,
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        **result,
    }


def peak_memory_mb() -> float | None:
    """Return the most memory this process has held so far; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1e6 if sys.platform == "darwin" else 1e6 / 1024), 1)
