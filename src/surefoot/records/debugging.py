"""What the debugging loop returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.records.common import Result
from surefoot.records.faults import Fault
from surefoot.records.repairing import RepairDiff
from surefoot.records.runs import EvaluateResult
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy

OUTCOMES = {
    "safe": "verified: no run of the repaired policy fails",
    "improved": "fewer failing runs than before, not verified",
    "stopped": "a start state is unsafe: no policy surely avoids fail from there",
    "unknown": "nothing was proved and nothing got better",
}


@dataclass(frozen=True)
class Iteration(Result):
    """A round of the loop: the policy is fuzzed, new faults are found, all faults are repaired.

    The last one, where nothing new was found, has a ``verdict`` instead of a repair. ``seconds``
    are by stage: fuzz, faults, repair, verify.
    """

    iteration: int
    runs: int
    unsafe_runs: int
    new_faults: int
    faults: int
    seconds: Mapping[str, float]
    unavoidable: int = 0
    undecided: int = 0
    suspects: int = 0
    """new decisions to change not known to be faults, though the state has a safe action"""
    trees_added: int = 0
    changed_parameters: int = 0
    distance: float = 0.0
    keep_states: int = 0
    keep_lost: int = 0
    diff: RepairDiff | None = None
    policy: str | None = None
    """where the repaired policy is, below the directory of the campaign"""
    policy_sha256: str | None = None
    verdict: str | None = None
    reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the round as plain data."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        diff = None if self.diff is None else self.diff.to_dict()
        return {**content, "seconds": dict(self.seconds), "diff": diff}


@dataclass(frozen=True)
class DebugResult(Result):
    """How debugging ended: ``outcome`` is safe, improved, stopped or unknown, ``reason`` says why.

    ``before`` and ``after`` are evaluations on the same start states; these are ``disjoint`` from
    those that were debugged on unless there are too few.
    """

    outcome: str
    reason: str
    iterations: tuple[Iteration, ...]
    before: EvaluateResult
    after: EvaluateResult
    faults: tuple[Fault, ...]
    """all faults, the smallest first"""
    policy: Policy
    seconds: float
    starts: int
    disjoint: bool
    verification: Mapping[str, Any] | None = field(default=None, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return {
            "outcome": self.outcome,
            "reason": self.reason,
            "iterations": [iteration.to_dict() for iteration in self.iterations],
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "faults": [fault.to_dict() for fault in self.faults],
            "starts": self.starts,
            "disjoint": self.disjoint,
            "verification": None if self.verification is None else dict(self.verification),
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        repairs = sum(iteration.policy is not None for iteration in self.iterations)
        return (
            f"{self.outcome}: {self.reason}\n"
            f"unsafe {self.before.unsafe_fraction:.4g} -> {self.after.unsafe_fraction:.4g}, "
            f"goal {self.before.goal_fraction:.4g} -> {self.after.goal_fraction:.4g}; "
            f"{counted(len(self.faults), 'fault')}, {counted(repairs, 'repair')} "
            f"in {self.seconds:,.1f} s"
        )
