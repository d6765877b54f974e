"""What all results share."""

from __future__ import annotations

import html
from dataclasses import asdict
from typing import Any, Literal

Verdict = Literal["safe", "unsafe", "unknown"]
VERDICTS = ("safe", "unsafe", "unknown")


def counted(count: int, word: str) -> str:
    """Return the count with the word behind it, in the plural unless the count is 1."""
    plural = "es" if word.endswith("x") else "s"
    return f"{count:,} {word}{plural * (count != 1)}"


class Result:
    """Gives every result ``to_dict`` and an HTML form for notebooks."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, with the names of the JSON documents."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
