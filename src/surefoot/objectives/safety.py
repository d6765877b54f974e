"""Safety: avoid fail.

A run is worth 1 if it fails and 0 if it does not; lower is better. The best value of a state is 0
if some policy surely avoids fail from there (*safe*), and 1 if no policy can (*unsafe*).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.errors import Refusal
from surefoot.objectives.objective import Better, Guidance
from surefoot.records.common import VERDICTS
from surefoot.records.values import ONE, ZERO, Bounds, Evidence, Interval

if TYPE_CHECKING:
    from surefoot.records import Run, Verdict
    from surefoot.tasks.task import Task

_ZERO_TO_ONE = Interval(ZERO, ONE)


@dataclass(frozen=True)
class Safety:
    """See the module's docstring."""

    name: str = "safety"
    better: Better = Better.LOWER
    range: Interval = _ZERO_TO_ONE
    verdicts: tuple[str, ...] = VERDICTS
    bad_verdicts: tuple[str, ...] = ("unsafe",)

    def value_of(self, run: Run, task: Task) -> Interval:
        """Return 1 if the run fails and 0 if it does not; either if it was cut before it ended."""
        if run.is_failing:
            return Interval.exactly(ONE)
        return self.range if run.is_undecided else Interval.exactly(ZERO)

    def needs(self, task: Task) -> Refusal | None:
        """Return None: where a task has no fail condition, nothing fails."""
        return None

    def guidance(self, task: Task) -> Guidance:
        """Return the fail condition: failing runs are looked for near it."""
        return Guidance(task.fail_condition)

    def verdict(self, best: Bounds) -> Verdict:
        """Return ``safe``, ``unsafe`` or ``unknown``."""
        if best.hi <= ZERO:
            return "safe"
        return "unsafe" if best.lo >= ONE else "unknown"

    def document(self, best: Bounds) -> dict[str, object]:
        """Return the verdict: it says all that the bounds do."""
        return {"verdict": self.verdict(best)}

    def bounds(self, verdict: Verdict, evidence: Evidence | None = None) -> Bounds:
        """Return the bounds that a verdict stands for; the evidence goes to the end it proves."""
        if verdict == "safe":
            return Bounds(ZERO, ZERO, hi_evidence=evidence)
        if verdict == "unsafe":
            return Bounds(ONE, ONE, lo_evidence=evidence)
        return Bounds(ZERO, ONE)


OBJECTIVE = Safety()
SAFETY = OBJECTIVE
