"""What oracles return."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from surefoot.records.common import UNKNOWN, VERDICTS, Result, restriction
from surefoot.records.values import Bounds
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.certificates import Certificate
    from surefoot.objectives import Objective
    from surefoot.tasks.state import State


@dataclass(frozen=True)
class Deviations(Result):
    """The least number of differences from the policy with which the state can be kept safe.

    ``least`` is a whole number, infinity if no finite number will do, or None if that is unknown;
    ``reason`` then says what ran out. ``certificates`` prove it: that ``least`` differences are
    enough, and that one fewer is not.
    """

    state: State
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

    def to_dict(self) -> dict[str, object]:
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
    """What the best policy achieves from a state.

    ``bounds`` enclose that value of the ``objective``, and ``verdict`` is what follows from them:
    for safety ``safe``, ``unsafe`` or ``unknown``. ``reason`` says what ran out if it is unknown
    (``seconds``, ``memory`` or ``states``). With a ``radius`` only policies count that differ from
    the given one at most that often on a run. ``deviations`` is None unless asked for.
    ``expanded``, ``pairs`` and ``outcomes`` count what the oracle examined for this question:
    states, their actions, and outcomes of these. ``sampled`` says that outcomes are only those that
    were seen, so that nothing is proved about others.
    """

    state: State
    objective: Objective
    bounds: Bounds
    reason: str | None
    radius: int | None
    expanded: int
    pairs: int
    outcomes: int
    seconds: float
    deviations: Deviations | None = None
    sampled: bool = False

    @property
    def verdict(self) -> str:
        """What the bounds say, in a word of the objective; for safety a :data:`Verdict`."""
        return self.objective.verdict(self.bounds)

    @property
    def is_known(self) -> bool:
        """Whether the verdict is one; for safety, safe or unsafe."""
        return self.verdict != UNKNOWN

    @property
    def text(self) -> str:
        """The verdict in words, with the reason for it: ``safe``, ``unknown (seconds)``."""
        claim = f"{self.verdict}{restriction(self.sampled and self.is_known)}"
        return f"{claim} ({self.reason})" if self.reason else claim

    @property
    def certificate(self) -> Certificate | None:
        """The evidence, made when first asked for; None if there is none, as for an unknown
        verdict.
        """
        certificates = (evidence.certificate for evidence in self.bounds.evidence)
        return next((made for made in certificates if made is not None), None)

    @property
    def plan(self) -> tuple[str, ...] | None:
        """The actions that achieve the better end of the bounds, where that is known."""
        plans = (evidence.plan for evidence in self.bounds.evidence)
        return next((plan for plan in plans if plan is not None), None)

    def without_evidence(self) -> Answer:
        """Return the answer alone: evidence keeps all that was searched in memory."""
        return replace(self, bounds=Bounds(self.bounds.lo, self.bounds.hi))

    def to_dict(self) -> dict[str, object]:
        """Return the answer as plain data, without its certificate."""
        content = {"state": self.state.to_dict(), **self.objective.document(self.bounds)}
        if self.reason is not None:
            content["reason"] = self.reason
        if self.sampled:
            content["sampled"] = True
        if self.deviations is not None:
            content["deviations"] = self.deviations.to_dict()["deviations"]
            if self.deviations.reason is not None:
                content["deviations_reason"] = self.deviations.reason
        return {**content, **_costs(self)}

    def __str__(self) -> str:
        return f"{self.text}: {self.state} ({_cost_text(self)})"


def _costs(result: Answer | Deviations) -> dict[str, object]:
    return {name: getattr(result, name) for name in ("expanded", "pairs", "outcomes", "seconds")}


def _cost_text(result: Answer | Deviations) -> str:
    return f"{result.expanded:,} expanded in {result.seconds:.3f} s"


@dataclass(frozen=True)
class DecideResult(Result):
    """Answers to many questions about one task, by one oracle."""

    oracle: str
    answers: tuple[Answer, ...]

    @property
    def verdicts(self) -> tuple[str, ...]:
        """The verdicts there are about the objective, in the order of the summary."""
        return self.answers[0].objective.verdicts if self.answers else VERDICTS

    @property
    def summary(self) -> dict[str, Any]:
        """How many verdicts there are of each kind, and what they cost together."""
        counts: dict[str, Any] = dict.fromkeys(self.verdicts, 0)
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
        verdicts = ", ".join(f"{counts[v]:,} {v}" for v in self.verdicts if counts[v])
        cost = f"{counts['expanded']:,} expanded in {counts['seconds']:,.3f} s"
        is_sampled = any(answer.sampled for answer in self.answers)
        return f"{total}: {verdicts}{restriction(is_sampled)}; {cost}" if verdicts else total

    def to_dict(self) -> dict[str, object]:
        """Return the answers and the summary as plain data."""
        return {"states": [answer.to_dict() for answer in self.answers], "summary": self.summary}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.answers), self.summary_text])
