"""What repair and verification return."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from surefoot.errors import printable
from surefoot.records.common import Result, Verdict, restriction
from surefoot.records.runs import Run
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.tasks.state import State
    from surefoot.verify.certificate import PolicyCertificate

SHOWN_CHANGES = 20  # decisions of a RepairDiff as plain data


@dataclass(frozen=True)
class DecisionChange(Result):
    """A state in which the repaired policy takes another action than the policy before."""

    state: State
    before: str
    after: str

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        return {"state": self.state.to_dict(), "before": self.before, "after": self.after}

    def __str__(self) -> str:
        return f"{printable(self.before)} -> {printable(self.after)} in {self.state}"


@dataclass(frozen=True)
class RepairDiff(Result):
    """Where decisions differ on ``states`` visited states; ``examples`` are some of ``changed``."""

    states: int
    changed: int
    examples: tuple[DecisionChange, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        examples = [example.to_dict() for example in self.examples[:SHOWN_CHANGES]]
        return {"states": self.states, "changed": self.changed, "examples": examples}

    def __str__(self) -> str:
        return f"{self.changed:,} of {counted(self.states, 'visited state')} decided otherwise"


@dataclass(frozen=True)
class RepairResult(Result):
    """A policy that no longer takes the decisions that were faults.

    It was evaluated on every one of the ``faults``. ``distance`` is the sum of the absolute changes
    of ``changed_parameters`` parameters, of which ``added_parameters`` are leaves of
    ``trees_added`` trees that were not there before. ``margin`` is by how much the new actions were
    asked to score higher. Of ``keep_states`` states that should keep their decision ``keep_lost``
    did not. ``bound`` is a distance that no repair of this kind can fall below (None: not known),
    ``gap`` how far above it this one may be at most, as a fraction.
    """

    policy: Policy
    method: str
    faults: int
    distance: float
    changed_parameters: int
    added_parameters: int
    trees_added: int
    margin: float
    keep_states: int
    keep_lost: int
    diff: RepairDiff
    seconds: float
    rounds: int = 1
    bound: float | None = None
    gap: float | None = None
    stopped: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data; of the policy only what it is made of."""
        content = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**content, "policy": str(self.policy.model), "diff": self.diff.to_dict()}

    def __str__(self) -> str:
        trees = f", {counted(self.trees_added, 'tree')} added" if self.trees_added else ""
        kept = self.keep_states - self.keep_lost
        return (
            f"repaired {counted(self.faults, 'fault')}: "
            f"{counted(self.changed_parameters, 'parameter')} changed by {self.distance:.4g} in "
            f"all{trees}; {kept:,} of {self.keep_states:,} decisions on goal runs kept; {self.diff}"
        )


@dataclass(frozen=True)
class EngineReport:
    """What one method of the portfolio did: its verdict, or why it has none."""

    method: str
    verdict: Verdict
    seconds: float
    reason: str | None = None
    code: str | None = None
    """the reason for programs: ``out-of-seconds``, ``unsupported``, ``other-method-faster``, ..."""


@dataclass(frozen=True)
class VerifyResult(Result):
    """Whether runs of a policy from the start states can fail.

    ``method`` is the one that found it out: a method of verification, or ``fuzz``. ``unsafe`` comes
    with a failing ``run``; from ``explicit`` it is a shortest one. ``safe`` means that no run fails
    from any start state. ``unknown`` says in ``reason`` why: what ran out, or that start states
    were sampled. ``starts`` were examined, ``all_starts`` if these are all there are; methods that
    look at sets of states look at all of them, and count ``boxes``, not ``states``.
    """

    verdict: Verdict
    method: str
    starts: int
    all_starts: bool
    states: int
    depth: int
    seconds: float
    reason: str | None = None
    run: Run | None = None
    others: tuple[Run, ...] = ()
    """further failing runs, to other states, if more than one was asked for"""
    boxes: int = 0
    """how many boxes (or blocked boxes, or abstract states) the verdict is made of"""
    refinements: int = 0
    """how many predicates were added because an abstract run was not real"""
    failing_starts: tuple[tuple[Any, Any], ...] | None = None
    """bounds for each variable: start states within them fail by the same actions"""
    bounds: tuple[tuple[str, int], ...] = ()
    """variables and values at which it may help to cut boxes, from ``ic3`` without verdict"""
    rounding: int = 0
    """how many regions there are in which exact sums may decide otherwise than the policy does"""
    engines: tuple[EngineReport, ...] = ()
    """what each method of the portfolio did"""
    certificate: PolicyCertificate | None = field(default=None, compare=False, repr=False)
    """evidence for ``safe``; None where it was not asked for"""
    code: str | None = None
    """the reason for programs: ``out-of-seconds``, ``starts-sampled``, ``stuck``, ..."""
    sampled: bool = False
    """whether outcomes are only those that were seen: then nothing is proved about others"""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data, the certificate left out."""
        apart = ("run", "others", "certificate")
        names = [name for name in self.__dataclass_fields__ if name not in apart]
        content: dict[str, Any] = {name: getattr(self, name) for name in names}
        content["engines"] = [asdict(engine) for engine in self.engines]
        content["run"] = None if self.run is None else self.run.to_dict()
        if self.others:
            content["others"] = [run.to_dict() for run in self.others]
        return content

    def __str__(self) -> str:
        seen = f"{self._seen()} in {self.seconds:,.3f} s"
        if self.verdict == "unsafe" and self.run is not None:
            return f"unsafe: a run fails after {counted(self.run.steps, 'step')}; {seen}"
        why = "" if self.reason is None else f" ({self.reason})"
        claim = f"{self.verdict}{restriction(self.sampled and self.verdict == 'safe')}"
        return f"{claim}{why}: {seen}"

    def _seen(self) -> str:
        """Return what was looked at: boxes, or states."""
        if self.boxes and not self.states:
            refined = counted(self.refinements, "refinement")
            return f"{counted(self.boxes, 'box')} and {refined} by {self.method}"
        which = "all" if self.all_starts else "a sample of"
        return f"{self.states:,} states from {which} {counted(self.starts, 'start state')}"
