"""Strategies: how far a bias looks ahead if nobody says it, and what is mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from surefoot.fuzz.bias import Pick
from surefoot.options import FuzzOptions
from surefoot.records import Strategy

LOOKAHEAD_STATES = 300  # that are seen before a step of a run: looking on costs more than it finds


class CoreStrategy(NamedTuple):
    """A strategy as the core takes it."""

    pick: Pick
    lookahead: int | None
    max_states: int | None
    """a lookahead that has seen more goes no deeper"""

    @property
    def record(self) -> Strategy:
        """The same as a record."""
        return Strategy(self.pick, self.lookahead)


def strategies_of(
    pick: Pick, lookahead: int | None, max_states: int | None
) -> tuple[CoreStrategy, ...]:
    """Return the strategies of a bias: one, or those that are mixed. A lookahead that is given
    holds for all of them.
    """
    if pick != "mixed":
        return (CoreStrategy(pick, lookahead, max_states),)
    if lookahead is not None:
        return (
            CoreStrategy("greedy", lookahead, max_states),
            CoreStrategy("uniform", lookahead, max_states),
            CoreStrategy("weighted", lookahead, max_states),
        )
    return (
        CoreStrategy("greedy", None, max_states),
        CoreStrategy("uniform", 1, None),
        CoreStrategy("weighted", None, max_states),
        CoreStrategy("greedy", 1, None),
        CoreStrategy("weighted", 1, None),
    )


def with_lookahead(options: FuzzOptions, pick: Pick) -> tuple[FuzzOptions, int | None]:
    """Return options that say how far to look ahead, and after how many states no deeper."""
    if options.lookahead is not None:
        return options, None
    if pick == "uniform":
        return replace(options, lookahead=1), None
    return options, LOOKAHEAD_STATES
