"""What comparing policies returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from surefoot.errors import printable
from surefoot.records.common import Result
from surefoot.records.faults import Fault
from surefoot.records.repairing import DecisionChange
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.records.runs import EvaluateResult

CONFIDENCE = 0.95
DEVIATIONS = 1.959963984540054  # of a normal distribution, for this confidence
SHOWN_DIFFERENCES = 20
Fractions = tuple[float, float]
"""an interval for a fraction, exact or with this confidence"""


def sampled_interval(count: int, total: int) -> Fractions:
    """Return the interval for a fraction of which a sample has ``count`` of ``total`` (Wilson 1927,
    for a confidence of 95 %).
    """
    if not total:
        return 0.0, 1.0
    share, weight = count / total, DEVIATIONS**2 / total
    middle = (share + weight / 2) / (1 + weight)
    reach = math.sqrt(share * (1 - share) * weight + weight**2 / 4) / (1 + weight)
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return 0.0 if count == 0 else low, 1.0 if count == total else high


def unsafe_interval(evaluation: EvaluateResult) -> Fractions:
    """Return the interval for the fraction of start states from which the policy may fail: one
    number where all of them were decided. Those that were not decided may be unsafe.
    """
    unsafe, starts = evaluation.unsafe, evaluation.starts
    most = min(starts, unsafe + starts - evaluation.exhaustive)
    if evaluation.all_starts:
        return unsafe / starts, most / starts
    return sampled_interval(unsafe, starts)[0], sampled_interval(most, starts)[1]


@dataclass(frozen=True)
class ComparedPolicy(Result):
    """A policy and what is known of it alone.

    ``unsafe`` and ``goal`` are intervals for the fractions of ``evaluation``. ``faults`` were
    seen on ``failing`` distinct runs; ``unknown`` questions stayed open, and ``stopped`` is what
    ran out.
    """

    name: str
    sha256: str | None
    evaluation: EvaluateResult
    unsafe: Fractions
    goal: Fractions
    failing: int
    faults: int
    unknown: int
    stopped: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything was done that was planned, and every question answered."""
        return self.stopped is None and not self.unknown

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = ("name", "sha256", "failing", "faults", "unknown", "stopped")
        return {name: getattr(self, name) for name in names}

    def fractions(self) -> dict[str, Any]:
        """Return the fractions as plain data."""
        return {
            "unsafe": self.evaluation.unsafe_fraction,
            "unsafe_interval": list(self.unsafe),
            "goal": self.evaluation.goal_fraction,
            "goal_interval": list(self.goal),
            "starts": self.evaluation.starts,
            "exact": self.evaluation.is_exact and self.evaluation.all_starts,
        }


@dataclass(frozen=True)
class ComparedFault(Result):
    """A fault of one policy, and what the other does in its state; None if it has no decision."""

    fault: Fault
    instead: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "state": self.fault.state.to_dict(),
            "action": self.fault.action,
            "alternatives": list(self.fault.alternatives),
            "steps": self.fault.steps,
            "instead": self.instead,
        }

    @property
    def instead_text(self) -> str:
        """What the other policy does, for people."""
        return "nothing" if self.instead is None else printable(self.instead)


@dataclass(frozen=True)
class DecisionDifference(DecisionChange):
    """A state in which two policies decide differently.

    A margin says by how much a policy scores its own action above that of the other; None if it
    gives no scores, or none for one of them.
    """

    margin_before: float | None = None
    margin_after: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        margins = {"margin_before": self.margin_before, "margin_after": self.margin_after}
        return {**super().to_dict(), **margins}


@dataclass(frozen=True)
class PolicyChange(Result):
    """What changed from the first policy to another, the one with this number.

    A fault is a state and the action that is taken there. ``new`` ones are faults of this policy
    where the first decides otherwise, ``mended`` ones are faults of the first where this one does;
    ``common`` ones are decided alike. Of ``states`` that either visits ``differing`` are decided
    differently; ``examples`` are those with the largest margins.
    """

    number: int
    name: str
    new: tuple[ComparedFault, ...]
    mended: tuple[ComparedFault, ...]
    common: tuple[Fault, ...]
    states: int
    differing: int
    examples: tuple[DecisionDifference, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "policy": self.number,
            "new": [each.to_dict() for each in self.new],
            "mended": [each.to_dict() for each in self.mended],
            "common": [{"state": f.state.to_dict(), "action": f.action} for f in self.common],
            "differing": {
                "states": self.states,
                "changed": self.differing,
                "examples": [each.to_dict() for each in self.examples],
            },
        }

    def __str__(self) -> str:
        return (
            f"{printable(self.name)}: {counted(len(self.new), 'new fault')}, "
            f"{len(self.mended):,} mended, {len(self.common):,} common; "
            f"{self.differing:,} of {counted(self.states, 'visited state')} decided otherwise"
        )


@dataclass(frozen=True)
class CompareResult(Result):
    """Policies held against the first of them: ``changes`` has one entry for each of the others."""

    policies: tuple[ComparedPolicy, ...]
    changes: tuple[PolicyChange, ...]
    seconds: float
    stopped: str | None = None

    @property
    def new(self) -> tuple[ComparedFault, ...]:
        """The faults that the first policy had not, of all the others."""
        return tuple(fault for change in self.changes for fault in change.new)

    @property
    def unsafer(self) -> tuple[str, ...]:
        """The names of the policies that surely fail from more start states than the first may."""
        first, *others = self.policies
        return tuple(each.name for each in others if each.unsafe[0] > first.unsafe[1])

    @property
    def is_worse(self) -> bool:
        """Whether one of the policies has a fault that the first had not."""
        return bool(self.new)

    @property
    def is_complete(self) -> bool:
        """Whether everything was done that was planned, and every question answered."""
        return self.stopped is None and all(policy.is_complete for policy in self.policies)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "policies": [policy.to_dict() for policy in self.policies],
            "fractions": [policy.fractions() for policy in self.policies],
            "confidence": CONFIDENCE,
            "changes": [change.to_dict() for change in self.changes],
            "stopped": self.stopped,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes)) + f"; in {self.seconds:,.3f} s"
