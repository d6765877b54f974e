"""Where a task came from, so that somebody else can read it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Source:
    """What ``load_task`` was given, and in which directory.

    Paths are as they were given: relative ones start in ``directory``.
    """

    text: str
    properties: str | None = None
    property_name: str | None = None
    start: str | None = None
    goal: str | None = None
    fail: str | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)
    int_range: tuple[int, int] | None = None
    directory: str = field(default_factory=os.getcwd)

    @property
    def is_domain(self) -> bool:
        """Whether this is ``domain:NAME?...``."""
        return self.text.startswith("domain:")

    @property
    def runs_code(self) -> bool:
        """Whether this is ``FILE.py:NAME``, so that reading it runs the file."""
        return not self.is_domain and self.text.rpartition(":")[0].endswith(".py")

    @property
    def is_jani(self) -> bool:
        """Whether this is a JANI file."""
        return not self.is_domain and not self.runs_code

    def path(self, given: str | None) -> Path | None:
        """Return one of the paths, however the current directory has changed since."""
        return None if given is None else Path(self.directory, given)

    def options(self) -> dict[str, Any]:
        """Return what was given besides the text, in the names and words of the command line."""
        lower_upper = "{}..{}".format(*self.int_range) if self.int_range else None
        options = {
            "property": self.properties,
            "property_name": self.property_name,
            "start": self.start,
            "goal": self.goal,
            "fail": self.fail,
            "const": [f"{name}={_text(value)}" for name, value in self.constants.items()],
            "int_range": lower_upper,
        }
        return {name: value for name, value in options.items() if value}


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
