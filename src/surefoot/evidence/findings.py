"""From failing runs to findings: the smallest first, make the finding, keep it, check it.

The command line, the debugging loop and the pytest plug-in all go this way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from surefoot.errors import OutOfBudget, Unsupported
from surefoot.findings import Finding, finding_of
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.lines import FindingPart

Keep = Callable[[Finding], str]
"""keeps a finding, and returns its name; raises Unsupported if it cannot be kept"""


class Checkable(Protocol):
    """A certificate or a finding."""

    def check(self, *, max_seconds: float) -> object:
        """Raise CertificateRejected if it is wrong, OutOfBudget if the time is too short."""


def smallest_first(faults: Iterable[Fault]) -> list[Fault]:
    """Return faults by the length of their runs, then by the step."""
    return sorted(faults, key=lambda fault: (fault.steps, fault.step))


def is_accepted(evidence: Checkable, *, seconds: float) -> bool:
    """Return whether the checker accepts evidence in time. Raises CertificateRejected."""
    try:
        evidence.check(max_seconds=max(seconds, 0.0))
    except OutOfBudget:
        return False
    return True


def checked_findings(
    policy: Policy, faults: Sequence[Fault], keep: Keep, *, seed: int, seconds: float
) -> tuple[FindingPart, ...]:
    """Make, keep and check a finding of each fault; return those that could be kept.

    There are so many seconds for checking, and as many again for making them.
    """
    parts: list[FindingPart] = []
    until = time.monotonic() + seconds
    for number, fault in enumerate(faults):
        if time.monotonic() > until + seconds:
            break
        part = _checked_finding(policy, fault, keep, seed=seed, until=until)
        if part is not None:
            parts.append(FindingPart(file=part[0], checked=part[1], fault=number))
        fault.forget_certificates()
    return tuple(parts)


def _checked_finding(
    policy: Policy, fault: Fault, keep: Keep, *, seed: int, until: float
) -> tuple[str, bool] | None:
    try:
        finding = finding_of(policy.task, policy, fault, seed=seed)
        name = keep(finding)
    except (OutOfBudget, Unsupported):
        return None  # its certificates are too large, or JSON cannot hold the states
    left = until - time.monotonic()
    return name, left > 0 and is_accepted(finding, seconds=left)
