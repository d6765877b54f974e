"""What exploring returns."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.records.common import Result


@dataclass(frozen=True)
class ExploreResult(Result):
    """How much is reachable.

    Fail and goal states are counted but not expanded. ``pairs`` are applicable (state, action)
    pairs of expanded states and ``outcomes`` their outcomes. If ``complete`` is false the counts
    are of the part that was seen before ``stopped`` (``seconds``, ``memory``, ``states``) ended
    the search, and ``fail``, ``goal`` and ``dead_ends`` count expanded states only. ``depth`` is
    the number of steps to the farthest state.
    """

    states: int
    starts: int
    expanded: int
    pairs: int
    outcomes: int
    fail: int
    goal: int
    dead_ends: int
    depth: int
    complete: bool
    stopped: str | None
    starts_complete: bool
    seconds: float
    states_per_second: float
    bytes_per_state: float

    def __str__(self) -> str:
        end = "complete" if self.complete else f"cut ({self.stopped})"
        return (
            f"{self.states:,} states ({self.starts:,} start, {self.fail:,} fail, "
            f"{self.goal:,} goal, {self.dead_ends:,} dead ends), {self.pairs:,} pairs, "
            f"{self.outcomes:,} outcomes, depth {self.depth}; {end} in {self.seconds:.3f} s, "
            f"{self.states_per_second:,.0f} states/s, {self.bytes_per_state:.1f} bytes/state"
        )
