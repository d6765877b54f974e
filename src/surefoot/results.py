"""What the stages return: frozen, printable, convertible to plain data."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import Any, Literal

from surefoot.errors import printable

RunResult = Literal["fail", "goal", "dead_end", "cut"]
RESULT_WORDS = {"fail": "fail", "goal": "goal", "dead_end": "dead end", "cut": "cut"}
"""how runs end, for people"""


def counted(count: int, word: str) -> str:
    """Return the count with the word behind it, in the plural unless the count is 1."""
    return f"{count:,} {word}{'s' * (count != 1)}"


class Result:
    """Gives every result ``to_dict`` and an HTML form for notebooks."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, with the names of the JSON documents."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


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


@dataclass(frozen=True)
class Run(Result):
    """A run: ``states[i]`` is where ``actions[i]`` was taken.

    The last state is where the run ended, and ``result`` says how.
    """

    run: int
    states: tuple[Any, ...]
    actions: tuple[str, ...]
    result: RunResult

    @property
    def start(self) -> Any:
        """The first state."""
        return self.states[0]

    @property
    def steps(self) -> int:
        """How many actions were taken."""
        return len(self.actions)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "run": self.run,
            "start": self.start.to_dict(),
            "result": self.result,
            "steps": self.steps,
            "states": [state.to_dict() for state in self.states],
            "actions": list(self.actions),
        }

    def __str__(self) -> str:
        end = f"{RESULT_WORDS[self.result]} after {counted(self.steps, 'step')}"
        lines = [f"run {self.run}: {end}", f"  {self.states[0]}"]
        for action, state in zip(self.actions, self.states[1:], strict=True):
            lines.append(f"  --{printable(action)}--> {state}")
        return "\n".join(lines)


@dataclass(frozen=True)
class SimulateResult(Result):
    """Runs, and how they ended."""

    runs: tuple[Run, ...]
    seconds: float

    @property
    def summary(self) -> dict[str, int]:
        """How many runs there are and how many ended in which way."""
        counts = {"runs": len(self.runs), "fail": 0, "goal": 0, "dead_end": 0, "cut": 0}
        for run in self.runs:
            counts[run.result] += 1
        return counts

    @property
    def summary_text(self) -> str:
        """The summary in words, without zeros: ``2 runs: 1 fail, 1 goal``."""
        counts = self.summary
        total = counted(counts["runs"], "run")
        ends = [f"{counts[end]:,} {word}" for end, word in RESULT_WORDS.items() if counts[end]]
        return f"{total}: {', '.join(ends)}" if ends else total

    def to_dict(self) -> dict[str, Any]:
        """Return the runs and the summary as plain data."""
        return {"runs": [run.to_dict() for run in self.runs], "summary": self.summary}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.runs), self.summary_text])
