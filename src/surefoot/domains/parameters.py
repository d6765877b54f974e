"""Checks of the parameters of the built-in domains."""

from __future__ import annotations

from collections.abc import Collection

from surefoot.errors import InputError, listed_hint, quoted, shown


def check_range(name: str, value: int, *, least: int, most: int) -> None:
    """Raise InputError unless the parameter lies from ``least`` to ``most``."""
    if not least <= value <= most:
        text = f"{name} must be from {least:,} to {most:,}, not {shown(value)}"
        raise InputError("bad-parameter", text)


def check_variant(variant: str, known: Collection[str], *, what: str = "variant") -> None:
    """Raise InputError, with the nearest name, unless the variant is a known one."""
    if variant not in known:
        raise InputError(
            "bad-parameter",
            f"there is no {what} {quoted(variant)}",
            hint=listed_hint(variant, known, f"{what}s"),
        )
