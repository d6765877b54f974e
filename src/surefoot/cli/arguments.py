"""How a task is given on the command line, and what every command takes."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from surefoot.errors import InputError, quoted
from surefoot.options import Options, checked

if TYPE_CHECKING:
    from surefoot.tasks.task import Task

TASK_GROUP = Group.create_ordered("Task")
JSON_HELP = "print one JSON document instead of text"

TaskSource = Annotated[
    str,
    Parameter(
        name="TASK",
        help="a JANI file, domain:NAME?param=value&..., or FILE.py:NAME",
    ),
]
Json = Annotated[bool, Parameter(name="--json", help=JSON_HELP, show_default=False)]
StatesFile = Annotated[
    Path | None,
    Parameter(name="--states", help="start from the states in this file, one JSON object per line"),
]


@dataclass(frozen=True, kw_only=True)
class TaskArguments:
    """What belongs to the task besides its file."""

    property_file: Annotated[Path | None, Parameter(name="--property", group=TASK_GROUP)] = None
    """file with start, goal and fail of a JANI model"""
    property_name: Annotated[str | None, Parameter(group=TASK_GROUP)] = None
    """which property of the file, if it has several"""
    start: Annotated[Path | None, Parameter(group=TASK_GROUP)] = None
    """file with the start condition or the start states"""
    goal: Annotated[Path | None, Parameter(group=TASK_GROUP)] = None
    """file with the goal condition"""
    fail: Annotated[Path | None, Parameter(group=TASK_GROUP)] = None
    """file with the fail condition"""
    const: Annotated[tuple[str, ...], Parameter(group=TASK_GROUP, show_default=False)] = ()
    """NAME=VALUE sets a constant, or overrides the model's value; may be repeated"""
    int_range: Annotated[str | None, Parameter(group=TASK_GROUP, allow_leading_hyphen=True)] = None
    """LO..HI, the range of integer variables that the model does not bound"""

    def load(self, source: str) -> Task:
        """Return the task. Raises InputError if it cannot be read or an option does not fit it."""
        from surefoot.tasks import load_task

        return load_task(
            source,
            properties=self.property_file,
            property_name=self.property_name,
            start=self.start,
            goal=self.goal,
            fail=self.fail,
            constants=constants_of(self.const),
            int_range=None if self.int_range is None else range_of(self.int_range),
        )

    def given(self) -> dict[str, Any]:
        """Return the options that were given, as plain data."""
        values = {_option_name(name): value for name, value in asdict(self).items() if value}
        return {name: str(v) if isinstance(v, Path) else v for name, v in values.items()}


def _option_name(field: str) -> str:
    return "property" if field == "property_file" else field


def constants_of(texts: tuple[str, ...]) -> dict[str, bool | int | float]:
    """Return name and value of each ``NAME=VALUE``. Raises InputError if one has another form."""
    found: dict[str, bool | int | float] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        number = _number(value)
        if not name or number is None:
            raise InputError(
                "bad-option",
                f"--const {quoted(text)} is not NAME=VALUE with a number, true or false",
                hint="for example --const N=3",
            )
        if name in found:
            raise InputError("bad-option", f"--const gives {quoted(name)} twice")
        found[name] = number
    return found


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


def checked_options(options: Options) -> Options:
    """Return the options. Raises InputError, in the words of the command line, for a bad value."""
    return checked(options, spelled=spelled)


def spelled(name: str) -> str:
    """Return an option as it is written on the command line."""
    return "--" + name.replace("_", "-")
