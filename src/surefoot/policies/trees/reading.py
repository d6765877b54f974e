"""What the readers of tree files share: checked access to what a stranger wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError, SurefootError, Unsupported, quoted, shown

MAX_INPUTS = 1_000_000
MAX_OUTPUTS = 100_000
MAX_DIGITS = 18

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@contextmanager
def errors_in(path: Path, code: str = "bad-trees") -> Iterator[None]:
    """Let errors of the block name the file; what a description finds wrong is an InputError."""
    try:
        yield
    except SurefootError as error:
        error.at(file=str(path))
        raise
    except ValueError as error:
        raise InputError(code, str(error), file=str(path)) from None
    except RecursionError:  # Python cannot write what is in the file into a message
        message = "something is nested deeply where that is not expected"
        raise InputError(code, message, file=str(path)) from None


def bad(message: str, place: str | None = None) -> InputError:
    """Return the error of a file that is not a tree ensemble, or a damaged one."""
    return InputError("bad-trees", message, place=place)


def unsupported(what: str, *, hint: str | None = None) -> Unsupported:
    """Return the error of an ensemble that has something we do not evaluate exactly."""
    return Unsupported("trees-unsupported", f"{what} are not supported", hint=hint)


def part(content: object, *keys: str, place: str = "") -> Any:
    """Return what stands under the keys, one inside the other. Raises InputError if nothing."""
    for key in keys:
        if not isinstance(content, dict) or key not in content:
            raise bad(f"{quoted(key)} is missing", place or "/")
        content = content[key]
        place = f"{place}/{key}"
    return content


def listed(value: object, place: str) -> list[object]:
    """Return the value, which must be a list."""
    if isinstance(value, np.ndarray):
        return list(value.tolist())
    if not isinstance(value, list):
        raise bad(f"{shown(value)} is not a list", place)
    return value


def whole(value: object, place: str, *, least: int = 0, most: int) -> int:
    """Return a whole number of a range, given as such or as decimal text."""
    if isinstance(value, str) and value.isascii() and len(value) <= MAX_DIGITS:
        digits = value.removeprefix("-")
        value = int(value) if digits.isdigit() else value
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise bad(f"{shown(value)} is not a whole number from {least:,} to {most:,}", place)
    return value


def reals(value: object, place: str, *, count: int | None = None) -> Reals:
    """Return a list of finite numbers as an array; ``count`` is how many there must be."""
    array = _array(value, place, (int, float), "iuf", count).astype(np.float64)
    if not np.isfinite(array).all():
        raise bad("a number is infinite or not a number", place)
    return array


def integers(value: object, place: str, *, count: int | None = None) -> Integers:
    """Return a list of whole numbers as an array; ``count`` is how many there must be."""
    return _array(value, place, (int,), "iu", count).astype(np.int64)


def _array(
    value: object, place: str, types: tuple[type, ...], kinds: str, count: int | None
) -> npt.NDArray[Any]:
    array = value if isinstance(value, np.ndarray) else _as_array(value, place, types)
    if array.dtype.kind not in kinds and len(array):
        raise bad("this is not a list of numbers of the right kind", place)
    if count is not None and len(array) != count:
        raise bad(f"there are {len(array):,} numbers where {count:,} belong", place)
    return array if len(array) else np.zeros(0, dtype=np.int64)


def _as_array(value: object, place: str, types: tuple[type, ...]) -> npt.NDArray[Any]:
    if not isinstance(value, list) or not set(map(type, value)) <= set(types):
        raise bad("this is not a list of numbers of the right kind", place)
    try:
        return np.array(value, dtype=np.float64 if float in types else np.int64)
    except OverflowError:
        raise bad("a number is too large", place) from None
