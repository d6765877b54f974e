"""The JSON text of certificates and findings, piece by piece."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol

from surefoot.certificates import rows as long_lists
from surefoot.certificates.rows import Rows
from surefoot.errors import Unsupported, shown


class Asked(Protocol):
    """A certificate or a finding: it claims something about a question."""

    @property
    def claim(self) -> str: ...
    def question(self) -> dict[str, object]: ...


def file_name(certificate: Asked) -> str:
    """Return a name of our own making for a file, the same for the same question."""
    question = json.dumps(certificate.question(), default=repr, sort_keys=True)
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{certificate.claim}-{digest[:16]}.json"


def pieces_of(content: Mapping[str, object]) -> Iterator[str]:
    """Yield the JSON text: a line for each member, and for each row of the long ones."""
    yield from object_pieces(content, _member_pieces)
    yield "\n"


def object_pieces(
    content: Mapping[str, object], pieces: Callable[[str, object], Iterable[str]]
) -> Iterator[str]:
    """Yield the JSON text of an object: a line for each member, whose value has these pieces."""
    before = "{\n"
    for name, value in content.items():
        yield f"{before}{json.dumps(name)}: "
        before = ",\n"
        yield from pieces(name, value)
    yield "\n}"


def _member_pieces(name: str, value: Any) -> Iterable[str]:
    is_long = isinstance(value, Rows) or name in ("states", "choices", "ranks")
    return _row_pieces(value) if is_long else [json_piece(value)]


def _row_pieces(rows: Iterable[object]) -> Iterator[str]:
    """Yield the text of a list of rows, many at once: that is ten times as fast as one by one."""
    before, left = "[\n", iter(rows)
    while piece := list(itertools.islice(left, long_lists.ROWS_PER_PIECE)):
        text = json_piece(piece)[1:-1]
        yield before + (text if '"' in text else text.replace("], [", "],\n["))
        before = ",\n"
    yield "[]" if before == "[\n" else "\n]"


_encode = json.JSONEncoder(allow_nan=False).encode


def json_piece(value: object) -> str:
    """Return a value as JSON. Raises Unsupported if JSON does not have such."""
    try:
        return _encode(value)
    except (TypeError, ValueError):
        raise Unsupported(
            "certificate-values", f"JSON cannot hold the values of a state: {shown(value)}"
        ) from None
