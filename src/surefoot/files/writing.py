"""Writing files of ours: each is there completely or not at all.

:func:`unfinished` is the one place where this is arranged: files are written under other names in
the same folder and renamed at the end, so that a crash, a full disk or Ctrl-C leaves whatever was
there before as it was. A file left under such a name (``.surefoot-1f2e3d4c.json``) may be removed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from surefoot.errors import InputError, SurefootError, Unsupported
from surefoot.files.reading import MAX_BYTES


@contextlib.contextmanager
def unfinished(files: Sequence[Path], *, is_durable: bool = False) -> Iterator[list[Path]]:
    """Give other names to write files under, and put them in their places unless an error is
    raised; the first one, which stands for all, is put there last.

    They are on the disk, and not only on their way to it, if ``is_durable``. Raises InputError
    (``file-not-written``) for what the system says; other errors pass.
    """
    made = [_beside(file) for file in files]
    try:
        yield made
        for beside, file in reversed(list(zip(made, files, strict=True))):
            if is_durable:
                _sync(beside)
            beside.replace(file)
            if is_durable:
                _sync(file.parent)
    except (OSError, UnicodeEncodeError) as error:
        raise not_written(files[0], error) from None
    finally:
        for beside in made:
            with contextlib.suppress(OSError, ValueError):
                beside.unlink()


def _beside(file: Path) -> Path:
    if not file.name or "\0" in str(file):
        what = "a path cannot contain a NUL character" if file.name else "this is a folder"
        raise InputError("file-not-written", what, file=str(file))
    return file.with_name(f".surefoot-{os.urandom(4).hex()}{file.suffix}")


def write_files(
    contents: Mapping[Path, bytes],
    *,
    read: Callable[[Path], object] | None = None,
    is_durable: bool = False,
) -> list[Path]:
    """Write files that belong together, each completely or not at all; return their paths.

    ``read`` reads the first one, and raises an error that keeps all of them from being put in
    their place.
    """
    files = list(contents)
    try:
        with unfinished(files, is_durable=is_durable) as made:
            for beside, content in zip(made, contents.values(), strict=True):
                beside.write_bytes(content)
            if read is not None:
                read(made[0])
    except SurefootError as error:
        error.file = str(files[0])
        raise
    return files


def write_pieces(path: str | Path, pieces: Iterable[str], *, what: str) -> None:
    """Write the text of a file piece by piece; ``what`` is its name in messages.

    Raises InputError if it cannot be written, and Unsupported if it is too large to be read again.
    """
    try:
        with unfinished([Path(path)]) as (beside,), beside.open("w", encoding="utf-8") as out:
            out.writelines(_bounded(pieces, what))
    except SurefootError as error:
        error.file = str(path)
        raise


def _bounded(pieces: Iterable[str], what: str) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_BYTES:
            raise Unsupported(
                "file-too-large",
                f"the {what} has more than {MAX_BYTES // 2**20} MB: it could not be read again",
            )
        yield piece


def to_disk(path: Path) -> None:
    """Return when the content of a file, and its name in the folder, are on the disk."""
    try:
        for each in (path, path.parent):
            _sync(each)
    except OSError as error:
        raise not_written(path, error) from None


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def not_written(file: str | Path, error: OSError | ValueError) -> InputError:
    """Return the user's view of what the system says to a file that should be written."""
    reason = getattr(error, "strerror", None) or str(error)
    return InputError("file-not-written", f"the file cannot be written: {reason}", file=str(file))


def sha256_of(path: str | Path) -> str:
    """Return the SHA-256 of the content of a file."""
    import hashlib  # slow to import, and --help does not need it

    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
