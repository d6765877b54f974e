"""One process at a time works on a campaign."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from surefoot.errors import InputError, quoted
from surefoot.files import not_written

NAME = "lock"
PATIENCE_SECONDS = 0.5  # whoever only looks whether somebody is at work is gone by then


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep the campaign for this process while a ``with`` block runs.

    The system gives it free when the process ends, however it ends. Raises InputError
    (``campaign-busy``) if another process has it.
    """
    path = directory / NAME
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise not_written(path, error) from None
    try:
        _take(handle, path, directory)
        yield
    finally:
        os.close(handle)


def _take(handle: int, path: Path, directory: Path) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while not _is_taken(handle, fcntl.LOCK_EX, path):
        if time.monotonic() > until:
            raise _busy(path, directory)
        time.sleep(0.02)
    with contextlib.suppress(OSError):  # it says who has it, no more: a full disk may keep it empty
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)


def _is_taken(handle: int, operation: int, path: Path) -> bool:
    try:
        fcntl.flock(handle, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise not_written(path, error) from None
    return True


def _busy(path: Path, directory: Path) -> InputError:
    with contextlib.suppress(OSError, ValueError):
        owner = int(path.read_text()[:20])
        holder = f"process {owner}"
        return _busy_error(directory, holder)
    return _busy_error(directory, "another process")


def _busy_error(directory: Path, holder: str) -> InputError:
    return InputError(
        "campaign-busy",
        f"{holder} is already working on the campaign {quoted(str(directory))}",
        hint="wait for it, or stop it and then: surefoot resume DIR",
    )


def is_locked(directory: Path) -> bool:
    """Return whether a process is already working on the campaign."""
    try:
        handle = os.open(directory / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return not _is_taken(handle, fcntl.LOCK_SH, directory / NAME)
    finally:
        os.close(handle)
