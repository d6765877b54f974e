"""The JSON Schema of every kind of file and document."""

from __future__ import annotations

from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted


def files() -> dict[str, Any]:
    """Return the kinds of files by name, each with the records that it may hold: a journal has
    lines of several kinds, a policy's certificate begins with one of several lines, and a run is a
    line of a file of runs.
    """
    from surefoot.records.campaigns import CampaignFile
    from surefoot.records.documents import RunPart
    from surefoot.records.evidence import FINDINGS, HEADS, CertificateFile, RepairFile
    from surefoot.records.lines import FaultLine, Line

    return {
        "campaign": (CampaignFile,),
        "certificate": (CertificateFile,),
        "fault": (FaultLine,),
        "finding": tuple(FINDINGS.values()),
        "journal": (Line,),
        "policy-certificate": tuple(HEADS.values()),
        "repair-record": (RepairFile,),
        "run": (RunPart,),
    }


def kinds() -> dict[str, Any]:
    """Return the kinds of files, and of documents by the command that prints them."""
    from surefoot.records.documents import DOCUMENTS

    return files() | {name: (document,) for name, document in DOCUMENTS.items()}


def schema_of(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a kind. Raises InputError (``unknown-kind``)."""
    known = kinds()
    if kind not in known:
        hint = nearest_hint(kind, known) or f"the kinds are {', '.join(known)}"
        raise InputError("unknown-kind", f"there is no kind {quoted(kind)}", hint=hint)
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, "title": f"surefoot {kind}", **_schema(known[kind])}


def _schema(records: tuple[Any, ...]) -> dict[str, Any]:
    import msgspec

    schemas, parts = msgspec.json.schema_components(
        records, schema_hook=_any_value, ref_template="#/$defs/{name}"
    )
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": list(schemas)}
    for part in parts.values():
        if {"decisions", "radius"} <= set(part.get("properties", ())):
            part |= WITH_RADIUS
    return {**schema, "$defs": parts}


WITH_RADIUS: dict[str, Any] = {
    "if": {"properties": {"radius": {"type": "null"}}},
    "then": {"properties": {"policy": {"type": "null"}, "decisions": False}},
    "else": {"properties": {"policy": {"type": "string"}}, "required": ["decisions"]},
}
"""what a certificate has if there is a radius, and only then"""


def _any_value(kind: type) -> dict[str, Any]:
    """Return the schema of ``object``, which msgspec leaves to us: any value."""
    if kind is object:
        return {"description": "any value"}
    raise NotImplementedError
