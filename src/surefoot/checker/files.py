"""JSON files, references between them, and typed access to what they hold."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeAlias

from .errors import ReadError

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_MAX_NESTING = 10_000
_MAX_REFERENCES = 100


def read_json(path: Path) -> Json:
    """Return the content of a JSON file, which may start with a byte-order mark."""
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeError) as error:
        raise ReadError(f"{path}: {error}") from error
    return parse_json(text, path)


def parse_json(text: str, path: Path) -> Json:
    """Return the value of a JSON text, which is called `path` in messages."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _MAX_NESTING))
    try:
        document: Json = json.loads(text, parse_constant=_refuse_constant)
        return document
    except RecursionError as error:
        raise ReadError(f"{path}: nested too deeply") from error
    except ValueError as error:
        raise ReadError(f"{path}: {error}") from error
    finally:
        sys.setrecursionlimit(limit)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


@dataclass(frozen=True)
class Piece:
    """A part of a property together with what its references are relative to."""

    content: Json
    file: Path
    labels: Mapping[str, Json]

    def follow(self) -> Piece:
        """Return the piece that `file` and `label` references lead to."""
        piece = self
        for _ in range(_MAX_REFERENCES):
            content = piece.content
            if not isinstance(content, dict) or "op" in content:
                return piece
            file = content.get("file")
            if isinstance(file, str):
                target = piece.file.parent / file
                piece = Piece(read_json(target), target, piece.labels)
            elif "label" in content:
                piece = Piece(_label(piece, content["label"]), piece.file, piece.labels)
            else:
                return piece
        raise ReadError(f"{self.file}: references go round in a circle")

    def part(self, key: str) -> Piece | None:
        """Return what the piece holds under a key, references followed; None if nothing."""
        content = self.content.get(key) if isinstance(self.content, dict) else None
        return None if content is None else Piece(content, self.file, self.labels).follow()


def _label(piece: Piece, name: Json) -> Json:
    if not isinstance(name, str) or name not in piece.labels:
        raise ReadError(f'{piece.file}: there is no label "{name}"')
    return piece.labels[name]


def read_piece(path: Path) -> Piece:
    """Return the piece that a file of its own holds."""
    return Piece(read_json(path), path, {}).follow()


def members(node: Json) -> dict[str, Json]:
    """Return the members of an object."""
    if not isinstance(node, dict):
        raise ReadError(f"expected an object, not {type(node).__name__}")
    return node


def field(node: Json, key: str) -> Json:
    """Return what an object holds under a key that it must have."""
    value = optional(node, key)
    if value is None:
        raise ReadError(f'"{key}" is missing')
    return value


def optional(node: Json, key: str) -> Json:
    """Return what an object holds under a key, None if nothing."""
    if not isinstance(node, dict):
        raise ReadError(f'expected an object with "{key}", not {type(node).__name__}')
    return node.get(key)


def text(node: Json, key: str) -> str:
    """Return the string that an object must hold under a key."""
    value = field(node, key)
    if not isinstance(value, str):
        raise ReadError(f'"{key}" must be a string')
    return value


def items(node: Json, key: str) -> list[Json]:
    """Return the list that an object holds under a key, empty if it holds none."""
    value = optional(node, key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ReadError(f'"{key}" must be a list')
    return value


def shown(value: object) -> str:
    """Return a short text for a value from a file; never recurses into deep ones."""
    return f"a {type(value).__name__}" if isinstance(value, dict | list) else str(value)[:60]
