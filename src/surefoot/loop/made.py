"""What stages return: a line for the journal, and the values that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from surefoot.evidence.findings import Keep
from surefoot.loop.starts import Starts
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.lines import FindingPart, Line


def _no_findings(keep: Keep) -> tuple[FindingPart, ...]:
    return ()


@dataclass(frozen=True)
class Made:
    """What a stage made. The line has no names of files: the store fills them in.

    ``findings`` makes those of the smallest faults, one after the other, and hands each to whoever
    keeps them: all of them at once would be large. ``policy`` is a repaired one, ``base`` the one
    that was repaired.
    """

    line: Line
    starts: Starts | None = None
    faults: tuple[Fault, ...] = ()
    suspects: tuple[Fault, ...] = ()
    findings: Callable[[Keep], tuple[FindingPart, ...]] = _no_findings
    policy: Policy | None = None
    base: Policy | None = None


@dataclass(frozen=True)
class Failed:
    """A repair was not possible, and why. There is no line about that."""

    reason: str
    lacks_time: bool = False


def as_kept(faults: Iterable[Fault], iteration: int) -> tuple[Fault, ...]:
    """Return faults as campaigns keep them: without their runs and certificates."""
    return tuple(
        Fault(
            state=fault.state,
            action=fault.action,
            alternatives=fault.alternatives,
            outcome=fault.outcome,
            step=fault.step,
            has_unknown_alternatives=fault.has_unknown_alternatives,
            loss=fault.loss,
            num_steps=fault.steps,
            iteration=iteration,
        )
        for fault in faults
    )


def with_findings(faults: Iterable[Fault], parts: Iterable[FindingPart]) -> tuple[Fault, ...]:
    """Return faults that know their findings. Raises IndexError for a finding of no fault."""
    known = list(faults)
    for part in parts:
        if part.fault < 0:
            raise IndexError(part.fault)
        known[part.fault] = replace(known[part.fault], finding=part.file, checked=part.checked)
    return tuple(known)
