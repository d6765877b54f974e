"""What the stages return: frozen, printable, convertible to plain data."""

from __future__ import annotations

import functools
import html
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from surefoot.errors import printable

if TYPE_CHECKING:
    from surefoot.certificates import Certificate

Verdict = Literal["safe", "unsafe", "unknown"]
VERDICTS = ("safe", "unsafe", "unknown")
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


@dataclass(frozen=True)
class Deviations(Result):
    """The least number of differences from the policy with which the state can be kept safe.

    ``least`` is a whole number, infinity if no finite number will do, or None if that is unknown;
    ``reason`` then says what ran out. ``certificates`` prove it: that ``least`` differences are
    enough, and that one fewer is not.
    """

    state: Any
    least: float | None
    reason: str | None
    expanded: int
    pairs: int
    outcomes: int
    seconds: float
    certificates: tuple[Certificate, ...] = field(default=(), compare=False, repr=False)

    @property
    def text(self) -> str:
        """The number in words: ``2``, ``inf``, or ``unknown (seconds)``."""
        if self.least is None:
            return f"unknown ({self.reason})"
        return "inf" if math.isinf(self.least) else f"{self.least:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return the number and what it cost as plain data; infinity is the text ``inf``."""
        least = "inf" if self.least is not None and math.isinf(self.least) else self.least
        content = {"state": self.state.to_dict(), "deviations": least}
        if self.reason is not None:
            content["reason"] = self.reason
        return {**content, **_costs(self)}

    def __str__(self) -> str:
        return f"deviations {self.text}: {self.state} ({_cost_text(self)})"


@dataclass(frozen=True)
class Answer(Result):
    """Whether some policy surely avoids fail from a state.

    ``verdict`` is ``safe``, ``unsafe`` or ``unknown``; ``reason`` says what ran out if it is
    unknown (``seconds``, ``memory`` or ``states``). With a ``radius`` only policies count that
    differ from the given one at most that often on a run. ``deviations`` is None unless asked for.
    ``expanded``, ``pairs`` and ``outcomes`` count what the oracle looked at for this question:
    states, their actions, and outcomes of these.
    """

    state: Any
    verdict: Verdict
    reason: str | None
    radius: int | None
    expanded: int
    pairs: int
    outcomes: int
    seconds: float
    deviations: Deviations | None = None
    make_certificate: Callable[[], Certificate] | None = field(
        default=None, compare=False, repr=False
    )

    @property
    def is_known(self) -> bool:
        """Whether the verdict is safe or unsafe."""
        return self.verdict != "unknown"

    @functools.cached_property
    def certificate(self) -> Certificate | None:
        """The evidence, made when first asked for; None if the verdict is unknown."""
        return self.make_certificate() if self.is_known and self.make_certificate else None

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, without its certificate."""
        content: dict[str, Any] = {"state": self.state.to_dict(), "verdict": self.verdict}
        if self.reason is not None:
            content["reason"] = self.reason
        if self.deviations is not None:
            content["deviations"] = self.deviations.to_dict()["deviations"]
            if self.deviations.reason is not None:
                content["deviations_reason"] = self.deviations.reason
        return {**content, **_costs(self)}

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        return f"{self.verdict}{because}: {self.state} ({_cost_text(self)})"


def _costs(result: Answer | Deviations) -> dict[str, Any]:
    return {name: getattr(result, name) for name in ("expanded", "pairs", "outcomes", "seconds")}


def _cost_text(result: Answer | Deviations) -> str:
    return f"{result.expanded:,} expanded in {result.seconds:.3f} s"


@dataclass(frozen=True)
class DecideResult(Result):
    """Answers to many questions about one task, by one oracle."""

    oracle: str
    answers: tuple[Answer, ...]

    @property
    def summary(self) -> dict[str, Any]:
        """How many verdicts there are of each kind, and what they cost together."""
        counts: dict[str, Any] = dict.fromkeys(VERDICTS, 0)
        for answer in self.answers:
            counts[answer.verdict] += 1
        costs = ("expanded", "pairs", "outcomes", "seconds")
        return {**counts, **{c: sum(getattr(a, c) for a in self.answers) for c in costs}}

    @property
    def reasons(self) -> dict[str, int]:
        """How many verdicts are unknown for which reason."""
        return dict(Counter(answer.reason for answer in self.answers if answer.reason is not None))

    @property
    def summary_text(self) -> str:
        """The summary in words, without zeros: ``3 states: 2 safe, 1 unsafe; 7 expanded ...``."""
        counts = self.summary
        total = counted(len(self.answers), "state")
        found = ", ".join(f"{counts[v]:,} {v}" for v in VERDICTS if counts[v])
        cost = f"{counts['expanded']:,} expanded in {counts['seconds']:,.3f} s"
        return f"{total}: {found}; {cost}" if found else total

    def to_dict(self) -> dict[str, Any]:
        """Return the answers and the summary as plain data."""
        return {"states": [answer.to_dict() for answer in self.answers], "summary": self.summary}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.answers), self.summary_text])
