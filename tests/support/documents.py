"""Members of JSON documents that the records do not tell."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from surefoot.records.documents import DOCUMENTS


def untold_members(content: dict[str, object]) -> list[str]:
    """Return the places of members that the record of the document does not have: programs may
    pass over them, but `surefoot schema` must tell what there is.
    """
    kind = "error" if "error" in content else str(content["command"])
    known = msgspec.to_builtins(msgspec.convert(content, DOCUMENTS[kind]))
    return sorted(set(_beside(content, known, "")))


def _beside(content: object, known: object, place: str) -> Iterator[str]:
    if isinstance(content, dict) and isinstance(known, dict):
        for name, value in content.items():
            if name not in known:
                yield f"{place}/{name}"
            else:
                yield from _beside(value, known[name], f"{place}/{name}")
    elif isinstance(content, list) and isinstance(known, list):
        for each, its in zip(content, known, strict=True):
            yield from _beside(each, its, f"{place}/*")
