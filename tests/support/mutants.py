"""Every document that differs from a given one in one place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Json = Any


@dataclass(frozen=True)
class Mutant:
    """A document with one change: ``place`` is where, with ``*`` for places in lists, ``change``
    which: removed, null, type, value or more.
    """

    place: str
    change: str
    document: Json


def mutants(document: Json) -> Iterator[Mutant]:
    """Yield the document with each member, and each entry of a list, removed, null, of another
    type or with another value, and with one more member or entry.
    """
    for path in _paths(document):
        place = "/".join("*" if isinstance(key, int) else key for key in path)
        for change, value in _changes(_at(document, path)):
            changed = copy.deepcopy(document)
            if path:
                _at(changed, path[:-1])[path[-1]] = value
            else:
                changed = value
            yield Mutant(place, change, changed)
        if path:
            changed = copy.deepcopy(document)
            del _at(changed, path[:-1])[path[-1]]
            yield Mutant(place, "removed", changed)


def _paths(document: Json) -> list[tuple[Any, ...]]:
    paths: list[tuple[Any, ...]] = [()]
    for path in paths:  # which grows
        value = _at(document, path)
        if isinstance(value, dict):
            paths += [(*path, key) for key in value]
        elif isinstance(value, list):
            paths += [(*path, number) for number in range(len(value))]
    return paths


def _at(document: Json, path: tuple[Any, ...]) -> Json:
    for key in path:
        document = document[key]
    return document


def _changes(value: Json) -> Iterator[tuple[str, Json]]:
    if value is not None:
        yield "null", None
    for other in (True, 1, 0.5, "x", [], {}):
        if type(other) is not type(value):
            yield "type", other
    if type(value) is int:
        yield "type", float(value)
        yield "type", str(value)
    yield from (("value", other) for other in _other_values(value))
    if isinstance(value, dict):
        yield "more", {**value, "extra": 1}
    if isinstance(value, list):
        yield from (("more", [*value, other]) for other in (None, 1, *value[-1:]))


def _other_values(value: Json) -> list[Json]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, value + 1000]
    if isinstance(value, float):
        return [value + 0.5, -value]
    if isinstance(value, str):
        return ["", value + "x", value[:-1], value.swapcase()]
    if isinstance(value, list):
        return [value[::-1]] if value[::-1] != value else []
    return []
