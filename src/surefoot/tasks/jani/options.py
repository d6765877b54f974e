"""The options of JANI files, and their words."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from surefoot.errors import InputError, quoted, shown
from surefoot.tasks.front_end import FrontEndOptions, Locate, plain_text

CONDITIONS = ("start", "goal", "fail")
"""options whose value is a file or an expression"""
_FILE = re.compile(r"[^=<>&|!≤≥≠∧∨¬⇒]*(?:[/\\]|\.jani|\.json)[^=<>&|!≤≥≠∧∨¬⇒]*", re.DOTALL)
"""what can only be the name of a file, whether it is there or not"""


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
    """condition such as "x = 0", or file with it or with the start states"""
    goal: str | Path | None = None
    """condition such as "x = 8", or file with it"""
    fail: str | Path | None = None
    """condition such as "x = 9 & wind", or file with it"""
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
        if name in CONDITIONS:
            return file_or_expression(given, locate)
        return locate(given) if name == "properties" else given

    def written(self, name: str, value: object) -> object:
        """Return the value of an option in words."""
        if isinstance(value, Mapping):
            return [f"{constant}={plain_text(each)}" for constant, each in value.items()]
        return "{}..{}".format(*value) if isinstance(value, tuple | list) else str(value)


def file_or_expression(given: str | Path, locate: Locate = Path) -> Path | str:
    """Return the file that is meant, or the text of an expression as it is.

    A path, ``@FILE``, and what is there or has a directory or the suffix of a JSON file, is a file.
    """
    if isinstance(given, Path):
        return given
    if given.startswith("@"):
        return locate(given[1:])
    path = locate(given)
    is_file = os.path.exists(path) and not os.path.isdir(path)
    return path if is_file or _FILE.fullmatch(given) else given


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
