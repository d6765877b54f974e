"""What all results share."""

from __future__ import annotations

import html
from dataclasses import asdict
from typing import Any, Literal

Verdict = Literal["safe", "unsafe", "unknown"]
VERDICTS: tuple[Verdict, ...] = ("safe", "unsafe", "unknown")
UNKNOWN = "unknown"
"""the verdict that every objective has"""

AS_FAR_AS_SAMPLED = "as far as outcomes were sampled"
"""restricts every claim about a task whose outcomes are only those that were seen"""

__all__ = ["AS_FAR_AS_SAMPLED", "UNKNOWN", "VERDICTS", "Result", "Verdict"]


def restriction(sampled: bool) -> str:
    """Return what stands behind a claim, if outcomes were sampled."""
    return f" {AS_FAR_AS_SAMPLED}" if sampled else ""


class Result:
    """Gives every result ``to_dict`` and an HTML form for notebooks."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, with the names of the JSON documents."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
