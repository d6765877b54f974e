"""Runs the child process that opens a pickle, with limits, and tells what went wrong there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, OutOfBudget, SurefootError, Unsupported, printable

ERROR_FILE = "error.json"
_KINDS: dict[str, type[SurefootError]] = {
    "InputError": InputError,
    "Unsupported": Unsupported,
    "OutOfBudget": OutOfBudget,
}


def run_child(
    path: Path, made: Path, activation: str | None, *, max_seconds: float, memory_mb: int
) -> None:
    """Have a child process read ``path`` and write the policy to ``made``.

    Raises the child's own error, or OutOfBudget if it took too long, or InputError if it died.
    """
    command = [sys.executable, "-P", "-m", "surefoot.policies.convert.child"]
    command += [os.path.abspath(path), os.path.abspath(made), activation or "", str(memory_mb)]
    message_file = made.with_name("said.txt")
    with message_file.open("wb") as output:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            cwd=made.parent.resolve(),
            env=_environment(),
            start_new_session=True,
        )
        try:
            code = child.wait(timeout=max_seconds)
        except subprocess.TimeoutExpired:
            message = f"the file was not read within {max_seconds:g} seconds"
            raise OutOfBudget("out-of-seconds", message, file=str(path)) from None
        finally:
            _end(child)
    _tell(made.with_name(ERROR_FILE), path)
    if code or not made.is_file():
        raise InputError(
            "policy-not-read",
            f"the file cannot be read: {_last_line(message_file)}",
            file=str(path),
        )


def _environment() -> dict[str, str]:
    """Return the environment of the child: ours, with one thread and without graphics cards."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the child, and whatever it started, if they still run."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (AttributeError, OSError):  # it is gone, or the system has no groups
        child.kill()
    child.wait()


def _tell(file: Path, path: Path) -> None:
    """Raise the error that the child left, if it left one."""
    if not file.is_file():
        return
    try:
        content: Any = json.loads(file.read_bytes()[:100_000])
        kind = _KINDS[content["kind"]]
        texts = {key: printable(content[key], 1000) for key in ("code", "message")}
        hint = content.get("hint")
    except (ValueError, KeyError, TypeError):
        return
    hint = printable(hint, 1000) if isinstance(hint, str) else None
    raise kind(texts["code"], texts["message"], file=str(path), hint=hint)


def _last_line(file: Path) -> str:
    with file.open("rb") as output:
        output.seek(max(0, file.stat().st_size - 4000))
        lines = output.read().decode("utf-8", "replace").strip().splitlines()
    return printable(lines[-1], 300) if lines else "its process died"
