"""A method of verification in a process of its own; ``children`` starts it.

The process is given a folder with ``task.jani``, a policy file and ``job.json``. It prints lines of
JSON: ``{"progress": [...]}`` while it works, then one ``{"result": {...}}``, or ``{"error": ...}``.
A certificate goes to ``certificate.jsonl``. It ends when its standard input does: then nobody waits
for it any more.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any

from surefoot.certificates import sha256_of
from surefoot.errors import InputError, OutOfBudget, SurefootError, Unsupported
from surefoot.options import VerifyOptions
from surefoot.policies import load_policy
from surefoot.results import VerifyResult
from surefoot.tasks import load_task

TASK, JOB, CERTIFICATE = "task.jani", "job.json", "certificate.jsonl"
PROGRESS_SECONDS = 0.5
ERRORS: dict[str, type[SurefootError]] = {
    "input": InputError,
    "unsupported": Unsupported,
    "budget": OutOfBudget,
}


def main(folder: str) -> int:
    """Run the job of a folder, print what it finds, and return the exit code."""
    threading.Thread(target=end_with_input, args=[Path(folder)], daemon=True).start()
    try:
        found = _verified(Path(folder))
    except SurefootError as error:
        kind = next((name for name, one in ERRORS.items() if isinstance(error, one)), "input")
        _tell({"error": {**error.to_dict(), "kind": kind}})
    except MemoryError:
        _tell({"error": {"kind": "memory"}})
    else:
        _tell({"result": found})
    return 0


def end_with_input(folder: Path) -> None:
    """End the process when its standard input ends, without leaving its folder behind: whoever
    would remove that was killed.
    """
    while sys.stdin.buffer.read(4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()  # unless other processes have folders there
    os._exit(1)


def _tell(content: dict[str, Any]) -> None:
    print(json.dumps(content), flush=True)


def _verified(folder: Path) -> dict[str, Any]:
    from surefoot.verify import verify

    job = json.loads((folder / JOB).read_text())
    task = load_task(str(folder / TASK))
    policy = load_policy(
        str(folder / job["policy"]),
        task,
        interface=job["interface"],
        unfiltered=job["unfiltered"],
    )
    left = max(job["until"] - time.time(), 0.0)  # to begin takes its time, too
    result: VerifyResult = verify(
        task,
        policy,
        options=VerifyOptions(**{**job["options"], "max_seconds": round(left, 1)}),
        progress=_Teller().tell,
        certificate=folder / CERTIFICATE if job["certificate"] else False,
    )
    return {**result.to_dict(), "sha256": sha256_of(task)}


class _Teller:
    """Prints progress, but not more often than somebody reads it."""

    def __init__(self) -> None:
        self._next = 0.0

    def tell(self, *numbers: float) -> None:
        """Print the numbers unless others were printed just now."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + PROGRESS_SECONDS
            _tell({"progress": numbers})
