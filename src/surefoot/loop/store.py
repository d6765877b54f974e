"""Who keeps the results of the loop: what is asked of a store, and one that keeps nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import msgspec

from surefoot.certificates import file_name
from surefoot.evidence.findings import Keep
from surefoot.findings import Finding
from surefoot.loop.made import Made, as_kept, with_findings
from surefoot.policies.like import suffix_like
from surefoot.records.lines import FaultsLine, Line, RepairLine

CERTIFICATE = "certificates/policy-safe.jsonl"


class Store(Protocol):
    """Keeps the results of stages, line by line, and the values that belong to these.

    The loop asks for the lines that are there from before, one after the other, and adds new ones
    when there are no more. What a line does not say was not done.
    """

    @property
    def seconds(self) -> float:
        """How many seconds were used, those of earlier processes included."""

    @property
    def certificate(self) -> Path | bool:
        """Where verification writes its certificate; True for a file that goes after its check."""

    def next(self) -> Line | None:
        """Return the next line that is there from before; None if the loop has come to new work.

        The same line is returned until it is taken.
        """

    def take(self) -> Made:
        """Return the next line from before with its values, and go on to the one behind it."""

    def record(self, made: Made) -> Made:
        """Keep what a stage made; return it as it is kept, with the names of files. These are on
        disk before the line is.
        """


class MemoryStore:
    """Keeps nothing: the loop has all values. Names are those that files would have."""

    certificate = True

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._begin = time.monotonic()

    @property
    def seconds(self) -> float:
        """How many seconds were used."""
        return time.monotonic() - self._begin

    def next(self) -> Line | None:
        """Return None: nothing is there from before."""
        return None

    def take(self) -> Made:
        """Raise LookupError: nothing is there from before."""
        raise LookupError("nothing was kept")

    def record(self, made: Made) -> Made:
        """Return what a stage made, with its number."""
        kept = named(made, keep=finding_name)
        more = {"n": len(self.lines) + 1, "total_seconds": self.seconds}
        line = msgspec.structs.replace(kept.line, **more)
        self.lines.append(line)
        return replace(kept, line=line)


def named(made: Made, *, keep: Keep) -> Made:
    """Return what a stage made with the names of its files in the line, its findings kept."""
    line = made.line
    if isinstance(line, RepairLine):
        assert made.policy is not None and made.base is not None
        suffix = suffix_like(made.policy, made.base)
        policy = f"policies/iteration-{line.iteration:03}{suffix}"
        return replace(made, line=msgspec.structs.replace(line, policy=policy))
    if not isinstance(line, FaultsLine):
        return made
    begin = time.perf_counter()
    parts = made.findings(keep)
    spent = line.seconds.get("faults", 0.0) + time.perf_counter() - begin
    file = f"iteration-{line.iteration:03}.jsonl"
    line = msgspec.structs.replace(
        line,
        faults=f"faults/{file}" if made.faults else None,
        suspects=f"suspects/{file}" if made.suspects else None,
        findings=parts,
        seconds={**line.seconds, "faults": spent},
    )
    faults = with_findings(as_kept(made.faults, line.iteration), parts)
    return replace(made, line=line, faults=faults, suspects=as_kept(made.suspects, line.iteration))


def finding_name(finding: Finding) -> str:
    """Return the name of a finding's file in a campaign."""
    return f"findings/{file_name(finding)}"
