"""Writing a finding: its content as plain data, and as JSON text piece by piece.

Certificates of a finding that was made are objects, those of one that was read are plain data, and
a file may hold anything in their place. Nothing here minds which it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from surefoot.certificates import Certificate, json_piece, object_pieces, pieces_of

ENTRIES = ("choices", "ranks")


def num_certificates(content: Mapping[str, object]) -> int:
    """Return how many certificates a finding of this content has."""
    return sum(1 for _ in _certificates(content.get("certificates")))


def num_entries(content: Mapping[str, object]) -> int:
    """Return how many choices and ranks the certificates have, all together."""
    return sum(map(_entries, _certificates(content.get("certificates"))))


def plain_content(content: Mapping[str, object]) -> dict[str, object]:
    """Return the content with each certificate as plain data, too."""
    members = content.items()
    result = {name: dict(v) if isinstance(v, dict) else v for name, v in members}
    if "certificates" in result:
        result["certificates"] = _each_certificate(result["certificates"], _plain)
    return result


def content_pieces(content: Mapping[str, object]) -> Iterator[str]:
    """Yield the JSON text of the content, piece by piece: it may be large."""
    yield from object_pieces(content, _member_pieces)
    yield "\n"


def all_actions(content: Mapping[str, Any]) -> list[str]:
    """Return the names of actions in the finding: of Python-defined tasks no others are known."""
    names: list[object] = list(content["run"]["actions"])
    about = content.get(content["kind"], {})
    if isinstance(about, Mapping) and isinstance(about.get("alternatives"), list):
        names += about["alternatives"]
    for certificate in _certificates(content.get("certificates")):
        if isinstance(certificate, Mapping) and isinstance(certificate.get("actions"), list):
            names += certificate["actions"]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def _certificates(value: object) -> Iterator[object]:
    """Yield the certificates of the member that holds them, and what stands in their place."""
    members = value.values() if isinstance(value, Mapping) else ()
    for member in members:
        if isinstance(member, list):
            yield from member
        elif isinstance(member, Mapping) and "certificate" not in member:
            yield from member.values()
        else:
            yield member


def _entries(certificate: object) -> int:
    if isinstance(certificate, Certificate):
        return certificate.size
    lists = [certificate.get(name) for name in ENTRIES] if isinstance(certificate, Mapping) else []
    return sum(len(each) for each in lists if isinstance(each, list))


def _each_certificate(value: object, change: Callable[[object], object]) -> object:
    """Return the member that holds the certificates with each of them changed.

    They stand there by name, in an object or in a list. What is deeper is left alone: a file may
    hold anything.
    """
    if not isinstance(value, Mapping):
        return value
    return {name: _each_in_member(member, change) for name, member in value.items()}


def _each_in_member(member: object, change: Callable[[object], object]) -> object:
    if isinstance(member, list):
        return [change(each) for each in member]
    if isinstance(member, Mapping) and "certificate" not in member:
        return {name: change(each) for name, each in member.items()}
    return change(member)


def _plain(certificate: object) -> object:
    return certificate.to_dict() if isinstance(certificate, Certificate) else certificate


def _member_pieces(name: str, value: Any) -> Iterable[str]:
    if name == "run":
        return pieces_of(value)
    if name == "certificates":
        return object_pieces(value, _certificate_pieces)
    return [json_piece(value)]


def _certificate_pieces(_: str, member: object) -> Iterable[str]:
    """Return the text of one certificate, or of those in a list or an object."""
    if isinstance(member, list):
        return _joined("[", "]", (("", each) for each in member))
    if isinstance(member, Mapping) and "certificate" not in member:
        named = ((f"{json.dumps(key)}: ", each) for key, each in member.items())
        return _joined("{", "}", named)
    return _pieces(member)


def _joined(left: str, right: str, named: Iterable[tuple[str, object]]) -> Iterator[str]:
    before = f"{left}\n"
    for name, each in named:
        yield f"{before}{name}"
        yield from _pieces(each)
        before = ",\n"
    yield f"{left}{right}" if before.startswith(left) else f"\n{right}"


def _pieces(certificate: object) -> Iterator[str]:
    if isinstance(certificate, Certificate):
        return certificate.pieces()
    if isinstance(certificate, Mapping):
        return pieces_of(certificate)
    return iter([json_piece(certificate)])
