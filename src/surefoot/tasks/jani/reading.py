"""Taking JSON values apart, with places for messages.

A :class:`Place` is a JSON pointer that is only written out when needed: ``place / "edges" / 3``.
The functions return the value if it has the right JSON type and raise InputError otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from surefoot.errors import InputError, SurefootError, Unsupported, nearest_hint, quoted

Json = Any
Warn = Callable[[str, "Place"], None]


class Place:
    """Where in a file: the parent's place and a key. The root prints as nothing."""

    __slots__ = ("key", "parent")

    def __init__(self, parent: Place | None = None, key: str | int = "") -> None:
        self.parent = parent
        self.key = key

    def __truediv__(self, key: str | int) -> Place:
        return Place(self, key)

    def __str__(self) -> str:
        keys: list[str] = []
        at: Place = self
        while at.parent is not None:
            keys.append(str(at.key).replace("~", "~0").replace("/", "~1"))
            at = at.parent
        return "".join("/" + key for key in reversed(keys)) or "/"


def refuse(code: str, message: str, place: Place, hint: str | None = None) -> NoReturn:
    """Raise InputError."""
    raise InputError(code, message, place=str(place), hint=hint)


def unsupported(code: str, message: str, place: Place, hint: str | None = None) -> NoReturn:
    """Raise Unsupported."""
    raise Unsupported(code, message, place=str(place), hint=hint)


@contextmanager
def placed(place: Place) -> Iterator[None]:
    """Give errors from within this place, if they have none."""
    try:
        yield
    except SurefootError as error:
        error.at(place=str(place))
        raise


@contextmanager
def in_file(path: str) -> Iterator[None]:
    """Give errors from within this file, if they have none."""
    try:
        yield
    except SurefootError as error:
        error.at(file=path)
        raise


_NAMES = {
    dict: "an object", list: "an array", str: "a string", bool: "a Boolean", int: "an integer",
    float: "a number", type(None): "null",
}  # fmt: skip


def _typed(value: Json, wanted: type, place: Place) -> Json:
    if type(value) is not wanted:
        got = _NAMES.get(type(value), "something else")
        refuse("jani-wrong-type", f"expected {_NAMES[wanted]}, found {got}", place)
    return value


def json_list(value: Json, place: Place) -> list[Json]:
    """Return the value if it is an array."""
    content: list[Json] = _typed(value, list, place)
    return content


def json_string(value: Json, place: Place) -> str:
    """Return the value if it is a string."""
    content: str = _typed(value, str, place)
    return content


def json_int(value: Json, place: Place) -> int:
    """Return the value if it is an integer of at most 64 bits."""
    number: int = _typed(value, int, place)
    if not -(2**63) <= number < 2**63:
        refuse("number-too-large", "integer does not fit 64 bits", place)
    return number


def json_bool(value: Json, place: Place) -> bool:
    """Return the value if it is a Boolean."""
    content: bool = _typed(value, bool, place)
    return content


def json_object(
    value: Json,
    place: Place,
    *,
    required: Iterable[str] = (),
    optional: Iterable[str] | None = None,
    warn: Warn | None = None,
) -> dict[str, Json]:
    """Return the value if it is an object with the required keys; warn of keys nobody knows."""
    content: dict[str, Json] = _typed(value, dict, place)
    for key in required:
        if key not in content:
            refuse("jani-missing-key", f"key {quoted(key)} is missing", place)
    if optional is not None and warn is not None:
        known = {*required, *optional, "comment"}
        for key in content:
            if key not in known:
                warn(f"unknown key {quoted(key)} is ignored", place / key)
    return content


def json_items(value: dict[str, Json], key: str, place: Place) -> Iterator[tuple[Json, Place]]:
    """Yield the entries of an optional array with their places."""
    below = place / key
    for i, item in enumerate(json_list(value.get(key, []), below)):
        yield item, below / i


def named(name: str, known: Iterable[str], code: str, what: str, place: Place) -> None:
    """Raise InputError with the nearest name if ``name`` is not among the known ones."""
    names = known if isinstance(known, dict | set | frozenset) else list(known)
    if name not in names:
        message = f"{what} {quoted(name)} is not declared"
        refuse(code, message, place, nearest_hint(name, names))


def distinct(name: str, known: Iterable[str], what: str, place: Place) -> None:
    """Raise InputError if the name is taken."""
    if name in known:
        refuse("duplicate-name", f"{what} {quoted(name)} is declared twice", place)
