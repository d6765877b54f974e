"""The options of JANI files, and their words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from surefoot.errors import InputError, quoted, shown
from surefoot.tasks.front_end import FrontEndOptions, Locate, plain_text

PATHS = ("properties", "start", "goal", "fail")


@dataclass(frozen=True, kw_only=True)
class JaniOptions(FrontEndOptions):
    """What is given besides a JANI file."""

    WORDS: ClassVar[Mapping[str, str]] = {
        "properties": "property",
        "property_name": "property_name",
        "start": "start",
        "goal": "goal",
        "fail": "fail",
        "constants": "const",
        "int_range": "int_range",
    }
    properties: str | Path | None = None
    """file with start, goal and fail, looked at before the model's own"""
    property_name: str | None = None
    """which property of the file, if it has several"""
    start: str | Path | None = None
    """file with the start condition or the start states"""
    goal: str | Path | None = None
    """file with the goal condition"""
    fail: str | Path | None = None
    """file with the fail condition"""
    constants: Mapping[str, object] = field(default_factory=dict)
    """values of constants; they win over the model's"""
    int_range: tuple[int, int] | None = None
    """the range of integer variables that the model does not bound"""

    def check(self) -> None:
        """Raise InputError if the range is not a pair of integers, the smaller first."""
        given = self.int_range
        if given is None:
            return
        numbers = list(given) if isinstance(given, tuple | list) else []
        are_whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
        if len(numbers) != 2 or not are_whole or numbers[0] > numbers[1]:
            raise InputError(
                "bad-option",
                f"int_range is a pair of integers, the smaller first, not {shown(given)}",
                hint="for example int_range=(-100, 100)",
            )

    @classmethod
    def read(cls, name: str, given: object, *, locate: Locate) -> object:
        """Return the value of an option that is given as words."""
        if name == "constants" and isinstance(given, list | tuple):
            return constants_of(given)
        if not isinstance(given, str) or name == "constants":
            raise InputError("bad-option", f"--{cls.word(name)} cannot be {shown(given)}")
        if name == "int_range":
            return range_of(given)
        return locate(given) if name in PATHS else given

    def written(self, name: str, value: object) -> object:
        """Return the value of an option in words."""
        if isinstance(value, Mapping):
            return [f"{constant}={plain_text(each)}" for constant, each in value.items()]
        return "{}..{}".format(*value) if isinstance(value, tuple | list) else str(value)


def constants_of(texts: list[object] | tuple[object, ...]) -> dict[str, bool | int | float]:
    """Return name and value of each ``NAME=VALUE``. Raises InputError if one has another form."""
    constants: dict[str, bool | int | float] = {}
    for text in texts:
        name, _, value = (part.strip() for part in str(text).partition("="))
        number = _number(value)
        if not name or number is None:
            raise InputError(
                "bad-option",
                f"--const {quoted(str(text))} is not NAME=VALUE with a number, true or false",
                hint="for example --const N=3",
            )
        if name in constants:
            raise InputError("bad-option", f"--const gives {quoted(name)} twice")
        constants[name] = number
    return constants


def _number(text: str) -> bool | int | float | None:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        return value if math.isfinite(value) else None
    return None


def range_of(text: str) -> tuple[int, int]:
    """Return the two bounds of ``LO..HI``. Raises InputError if the text is not of that form."""
    match = re.fullmatch(r"([+-]?\d{1,19})\.\.([+-]?\d{1,19})", text.replace(" ", ""))
    if match is None or int(match[1]) > int(match[2]):
        raise InputError(
            "bad-option",
            f"--int-range {quoted(text)} is not LO..HI with LO at most HI",
            hint="for example --int-range -100..100",
        )
    return int(match[1]), int(match[2])
