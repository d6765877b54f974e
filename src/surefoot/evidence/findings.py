"""From faults to findings: the smallest first, make the finding, check it, keep it.

The command line, the debugging loop and the pytest plug-in all go this way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from surefoot.errors import CertificateRejected, OutOfBudget, Unsupported
from surefoot.findings import Finding, finding_of
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.lines import FindingPart

OUR_BUG = "this is a bug in Surefoot, please report it"
NO_FUNCTION = (
    "the policy is Python code: if it decides in one state now so and now so, that is why; else "
    + OUR_BUG
)

E = TypeVar("E", bound="Checkable")
Keep = Callable[[Finding], str]
"""keeps a finding, and returns its name; raises Unsupported if it cannot be kept"""


class Checkable(Protocol):
    """A certificate or a finding."""

    def check(self, *, max_seconds: float) -> object:
        """Raise CertificateRejected if it is wrong, OutOfBudget if the time is too short."""


@dataclass(frozen=True)
class Evidence:
    """What became of a certificate or a finding: whether it was accepted, where it is, and why it
    is nowhere if it should be somewhere.
    """

    checked: bool
    file: Path | None
    missing: str | None = None


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


def evidence_of(
    made: E,
    keep: Callable[[E, bool], Path | None],
    *,
    seconds: float | None,
    hint: str = OUR_BUG,
) -> Evidence:
    """Check a certificate or finding, unless there are no seconds for it, and keep it.

    ``keep`` is given whether it was accepted, and returns the file, or None if it need not be kept;
    it raises Unsupported if it cannot be. What is rejected is kept, too, before CertificateRejected
    is raised with the hint.
    """
    try:
        checked = seconds is not None and is_accepted(made, seconds=seconds)
    except CertificateRejected as error:
        file = _kept(made, keep, checked=False).file
        hint = hint if file is None else f"{hint}; the certificate is in {file}"
        raise CertificateRejected(error.code, error.message, hint=hint) from None
    return _kept(made, keep, checked=checked)


def _kept(made: E, keep: Callable[[E, bool], Path | None], *, checked: bool) -> Evidence:
    try:
        return Evidence(checked, keep(made, checked))
    except Unsupported as error:
        is_large = error.code == "file-too-large"
        missing = "it is too large to be written" if is_large else error.message
        return Evidence(checked, None, missing)


def why_rejected(policy: Policy | None) -> str:
    """Return whose fault it is most likely that evidence that was just made is rejected."""
    return NO_FUNCTION if policy is not None and policy.is_python else OUR_BUG


def checked_findings(
    policy: Policy, faults: Sequence[Fault], keep: Keep, *, seed: int, seconds: float
) -> tuple[FindingPart, ...]:
    """Make, check and keep a finding of each fault; return those that could be kept.

    There are so many seconds for checking, and as many again for making them.
    """
    parts: list[FindingPart] = []
    until = time.monotonic() + seconds
    for number, fault in enumerate(faults):
        if time.monotonic() > until + seconds:
            break
        with suppress(OutOfBudget):  # its certificates are too large
            finding = finding_of(policy.task, policy, fault, seed=seed)
            left = until - time.monotonic()
            evidence = evidence_of(
                finding,
                lambda made, _: Path(keep(made)),
                seconds=left if left > 0 else None,
                hint=why_rejected(policy),
            )
            if evidence.file is not None:  # else JSON cannot hold the states
                name = evidence.file.as_posix()
                parts.append(FindingPart(file=name, checked=evidence.checked, fault=number))
        fault.forget_certificates()
    return tuple(parts)
