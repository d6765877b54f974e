"""Has a pickle opened by an isolated process with limits, and tells what went wrong there."""

from __future__ import annotations

from pathlib import Path

from surefoot.errors import InputError, OutOfBudget, SurefootError, Unsupported, printable
from surefoot.files import file_bytes
from surefoot.jobs.job import Job, Limits
from surefoot.jobs.processes import Processes
from surefoot.jobs.runner import JobBroken, LimitReached, wait

MAX_TEXT = 1_000  # characters of what the process says


def bytes_from_child(
    path: Path,
    suffix: str,
    activation: str | None,
    *,
    folder: Path,
    max_seconds: float,
    memory_mb: int,
) -> bytes:
    """Return the content of a file with this suffix, which holds the policy in ``path``. The
    process works below ``folder``. What it says is not to be believed before it is read again.

    Raises the error of the process, OutOfBudget if it took too long, or InputError if it died.
    """
    made = f"made{suffix}"
    job = Job(
        "convert",
        arguments={"activation": activation, "made": made},
        files={f"policy{path.suffix}": file_bytes(path)},
    )
    limits = Limits(max_seconds=max_seconds, memory_mb=memory_mb)
    try:
        with Processes(is_isolated=True, folder=folder) as runner:
            files = wait(runner.submit(job, limits)).files
        if made not in files:
            raise JobBroken("its process sent no policy")
        return files[made]
    except LimitReached:
        message = f"the file was not read within {max_seconds:g} seconds"
        raise OutOfBudget("out-of-seconds", message, file=str(path)) from None
    except SurefootError as error:
        raise _told(error, path) from None
    except JobBroken as error:
        message = f"the file cannot be read: {error}"
        raise InputError("policy-not-read", message, file=str(path)) from None


def _told(error: SurefootError, path: Path) -> SurefootError:
    """Return an error of the process as one about the file: its words may be those of a stranger,
    and it has no say in more than that.
    """
    families = (Unsupported, OutOfBudget)
    kind = next((each for each in families if isinstance(error, each)), InputError)
    hint = None if error.hint is None else printable(error.hint, MAX_TEXT)
    code, message = (printable(text, MAX_TEXT) for text in (error.code, error.message))
    return kind(code, message, file=str(path), hint=hint)
