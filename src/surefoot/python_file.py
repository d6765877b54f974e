"""``FILE.py:NAME``: run a file of the user's and take something from it."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from surefoot.errors import InputError, nearest_hint, quoted, shown

_OUTSIDE: set[Path] = set()


def note_outside(place: str | Path) -> None:
    """Remember a file, or a folder of files, with code that does not come with Surefoot."""
    _OUTSIDE.add(Path(place).resolve())


def is_outside(file: str) -> bool:
    """Return whether a file is one that was noted, or is in a folder that was."""
    path = Path(file).resolve()
    return not _OUTSIDE.isdisjoint((path, *path.parents))


def split_name(text: str, *, what: str) -> tuple[Path, str] | None:
    """Return file and name of ``FILE.py:NAME``; None if the text is of another form.

    ``what`` is what the name should stand for, if it is missing: InputError (``missing-name``).
    """
    file, _, name = text.rpartition(":")
    if text.endswith((".py", ".py:")):
        raise InputError(
            "missing-name",
            f"{quoted(text)} does not say which {what} of the file is meant",
            hint="give FILE.py:NAME",
        )
    return (Path(file), name) if file.endswith(".py") else None


def named_in(file: Path, name: str) -> object:
    """Run the file and return what it calls ``name``. Raises InputError if there is none."""
    if not os.path.isfile(file):
        raise InputError("file-not-found", f"there is no file {quoted(str(file))}")
    note_outside(file)
    with as_script(file):
        module = _module_of(file)
    named = getattr(module, name, None)
    if named is None:
        raise InputError(
            "unknown-name",
            f"{quoted(file.name)} defines no {quoted(name)}",
            hint=nearest_hint(name, vars(module)),
        )
    return named


@contextmanager
def as_script(file: Path) -> Iterator[None]:
    """Run the body with the arguments of ``python FILE``; leaving Python is an InputError."""
    arguments = sys.argv
    sys.argv = [str(file)]
    try:
        yield
    except SystemExit as error:
        raise InputError(
            "python-error",
            f"the file raises SystemExit({shown(error.code)}) when it is run",
            file=str(file),
            hint='put what only a script does under if __name__ == "__main__":',
        ) from error
    finally:
        sys.argv = arguments


def _module_of(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"surefoot_user_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
