"""What a built-in family consists of, and how its parameters are read."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from surefoot.domains.pictures import Picture
from surefoot.errors import InputError, listed_hint, quoted, shown
from surefoot.tasks.description import Description

SIZE = "size"
_MARKS = re.compile(r"(?::\w+:)?`+([^`]+)`+|(?<!\w)\*(\w+)\*(?!\w)")
WANTED = {int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class Family:
    """A family of tasks.

    ``make`` returns the description for keyword arguments, which are the parameters, with types and
    defaults: the defaults are tiny. ``draw`` takes a state and all parameters. ``sizes`` are sets
    of parameters by name: ``size=15-10`` stands for them, and what is given beside it wins.
    """

    name: str
    make: Callable[..., Description]
    draw: Callable[..., Picture]
    sizes: Mapping[str, Mapping[str, object]]

    @property
    def rules(self) -> str:
        """The rules, as the family's file says them, without its marks for names and stress."""
        text = inspect.cleandoc(sys.modules[self.make.__module__].__doc__ or "")
        return _MARKS.sub(lambda match: match[1] or match[2], text)

    @property
    def summary(self) -> str:
        """The rules in one line."""
        return self.rules.partition("\n\n")[0].replace("\n", " ")

    @property
    def defaults(self) -> dict[str, object]:
        """The parameters with their default values."""
        known = inspect.signature(self.make).parameters.values()
        return {parameter.name: parameter.default for parameter in known}

    def parameters(self, given: Mapping[str, Any]) -> dict[str, object]:
        """Return all parameters: the given ones, checked, those of the size, and defaults."""
        known, types = self.defaults, get_type_hints(self.make)
        for name, value in given.items():
            if name != SIZE and name not in known:
                raise InputError(
                    "unknown-parameter",
                    f"domain {quoted(self.name)} has no parameter {quoted(name)}",
                    hint=listed_hint(name, [*known, SIZE], "its parameters"),
                )
            _check_type(name, value, types.get(name, str))
        own = {name: value for name, value in given.items() if name != SIZE}
        return known | self._size(given.get(SIZE)) | own

    def _size(self, name: str | None) -> dict[str, object]:
        if name is None:
            return {}
        if name not in self.sizes:
            raise InputError(
                "bad-parameter",
                f"domain {quoted(self.name)} has no size {quoted(name)}",
                hint=listed_hint(name, self.sizes, "its sizes"),
            )
        return dict(self.sizes[name])

    def value(self, name: str, text: str) -> object:
        """Return the value of a parameter that is given as text."""
        kind = get_type_hints(self.make).get(name, str)
        if kind not in (int, float):
            return text
        try:
            return kind(text)
        except ValueError:
            raise InputError(
                "bad-parameter",
                f"parameter {quoted(name)} needs {WANTED[kind]}, not {quoted(text)}",
            ) from None


def _check_type(name: str, value: object, kind: type) -> None:
    accepted = (int, float) if kind is float else (kind,)
    is_endless = isinstance(value, float) and not math.isfinite(value)
    if not isinstance(value, accepted) or isinstance(value, bool) or is_endless:
        text = f"parameter {quoted(name)} needs {WANTED[kind]}, not {shown(value)}"
        raise InputError("bad-parameter", text)
