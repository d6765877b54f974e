"""What policies see of a state where that is not the values of its variables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Observed:
    """One number of an observation: the value of ``variable``, or ``one_hot``: 1 where the
    variables named there have these values, and else 0.
    """

    variable: str | None = None
    one_hot: tuple[tuple[str, int], ...] = ()
