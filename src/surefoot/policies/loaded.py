"""What a reader of policy files hands over, and how it gets at the bytes of a file."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError
from surefoot.files import MAX_BYTES, neighbour_hint
from surefoot.policies.interface import Interface

if TYPE_CHECKING:
    from surefoot.policies.models import Model


@dataclass(frozen=True)
class Loaded:
    """What scores the actions, and what the file itself says about inputs and outputs.

    ``unfiltered`` is None where the file does not say. ``notes`` are sentences about what the
    reader had to assume or leave out. With ``at_least`` the file does not say how many inputs
    there are: ``model.num_inputs`` is the least number that will do. ``files`` are those that were
    read besides the policy file itself.
    """

    model: Model
    interface: Interface | None = None
    unfiltered: bool | None = None
    notes: tuple[str, ...] = ()
    at_least: bool = False
    files: tuple[Path, ...] = ()


def file_bytes(path: str | Path, count: int = -1) -> bytes:
    """Return the content of a file, or how it begins.

    Raises InputError unless it is a regular file of bounded size.
    """
    try:
        return _file_bytes(Path(path), count)
    except InputError as error:
        error.at(file=str(path))
        raise


def _file_bytes(path: Path, count: int) -> bytes:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise InputError("not-a-file", "this is not a regular file")
        if status.st_size > MAX_BYTES:
            raise InputError("file-too-large", f"the file has more than {MAX_BYTES // 2**20} MB")
        with path.open("rb") as file:
            return file.read(count)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        hint = neighbour_hint(path)
        raise InputError("file-not-found", "there is no such file", hint=hint) from None
    except OSError as error:
        message = f"the file cannot be read: {error.strerror}"
        raise InputError("file-not-readable", message) from None


def checked(loaded: Loaded, path: str | Path) -> Loaded:
    """Return what was loaded. Raises InputError, naming the file, if its model is none."""
    try:
        loaded.model.check()
    except ValueError as error:
        raise InputError("bad-policy", str(error), file=str(path)) from None
    return loaded
