"""Whether a value is as a JSON Schema says, for the words that ``surefoot schema`` uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

KNOWN = {
    *("$ref", "$defs", "$schema", "anyOf", "if", "then", "else", "type", "enum"),
    *("properties", "required", "additionalProperties", "items", "prefixItems"),
    *("minItems", "maxItems", "minimum"),
    *("title", "description", "discriminator", "default"),
}
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}


def is_valid(value: object, schema: Any, defs: Mapping[str, Any] | None = None) -> bool:
    """Return whether the value satisfies the schema."""
    if isinstance(schema, bool):
        return schema
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    defs = schema.get("$defs", defs or {})
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        if not is_valid(value, defs[name], defs):
            return False
    if "anyOf" in schema and not any(is_valid(value, each, defs) for each in schema["anyOf"]):
        return False
    if "if" in schema:
        branch = "then" if is_valid(value, schema["if"], defs) else "else"
        if not is_valid(value, schema[branch], defs):
            return False
    return (
        _is_plain(value, schema)
        and _is_object(value, schema, defs)
        and _is_array(value, schema, defs)
    )


def _is_plain(value: object, schema: Any) -> bool:
    if "type" in schema and not _has_type(value, schema["type"]):
        return False
    if "enum" in schema and not any(type(value) is type(e) and value == e for e in schema["enum"]):
        return False
    return "minimum" not in schema or (
        isinstance(value, int | float) and value >= schema["minimum"]
    )


def _has_type(value: object, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, TYPES[name])


def _is_object(value: object, schema: Any, defs: Mapping[str, Any]) -> bool:
    if not isinstance(value, dict):
        return True
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    return all(name in value for name in schema.get("required", ())) and all(
        is_valid(value[name], known.get(name, others), defs) for name in value
    )


def _is_array(value: object, schema: Any, defs: Mapping[str, Any]) -> bool:
    if not isinstance(value, list):
        return True
    first = schema.get("prefixItems", [])
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    others = [schema.get("items", True)] * (len(value) - len(first))
    pairs = zip(value, [*first, *others], strict=False)
    return all(is_valid(each, item, defs) for each, item in pairs)
