"""What fault analysis returns: guilty decisions, bugs, and what stayed unknown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from surefoot.errors import printable
from surefoot.records.answers import Deviations
from surefoot.records.common import Result, restriction
from surefoot.records.runs import Run
from surefoot.records.values import ONE, ZERO, Interval
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.certificates import Certificate
    from surefoot.tasks.state import State


Evidence = TypeVar("Evidence")
SUMMARY_FAULTS = 10  # faults of a FaultsResult as text


@dataclass(frozen=True)
class Certificates:
    """The evidence for a fault: the outcome is unsafe, and with each alternative the state is safe.

    With an alternative ``b`` the certificate says that the state is safe, by taking ``b`` there.
    Further alternatives have none where certificates would become huge; one always has.
    """

    outcome: Certificate
    alternatives: dict[str, Certificate]


class Lazy(Generic[Evidence]):
    """Evidence that is made when first asked for, and can be forgotten: it may be large."""

    def __init__(self, make: Callable[[], Evidence]) -> None:
        self._make = make
        self._made: Evidence | None = None

    def get(self) -> Evidence:
        """Return the evidence. Raises OutOfBudget if making it takes too long."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def forget(self) -> None:
        """Drop the evidence; it is made again when it is asked for again."""
        self._made = None


SURE_LOSS = Interval.exactly(ONE)
"""of a fault that is proved, for safety: the state is safe, and after the decision it is not"""
POSSIBLE_LOSS = Interval(ZERO, ONE)
"""of a suspect: the state is safe, whether it still is after the decision is unknown"""


@dataclass(frozen=True)
class Fault(Result):
    """A decision of the policy that may leave the safe region.

    ``state`` is safe, ``action`` is what the policy does there, and ``outcome`` is one possible
    result from which fail can no longer be avoided. ``alternatives`` are the safe actions. It was
    found at ``step`` of ``run``; ``runs`` are the numbers of all runs that it is on. With a
    ``radius``, safe means safe within that many differences from the policy. ``loss`` is an
    interval that contains what the decision costs; of a suspect, which may be a fault, it begins
    at 0, and the ``outcome`` is that of the run.

    The same record comes from ``find_faults``, from ``debug`` and from files; what a file does not
    say is None or empty. ``iteration`` is the round of ``debug`` that found it, ``finding`` the
    file of its finding below the campaign's directory, and ``checked`` whether the checker accepted
    that in time; both are None if it is not one of the smallest, which have files.
    """

    state: State
    action: str
    alternatives: tuple[str, ...]
    outcome: State | None = None
    run: Run | None = None
    step: int = 0
    runs: tuple[int, ...] = ()
    radius: int | None = None
    has_unknown_alternatives: bool = False
    deviations: Deviations | None = None
    loss: Interval = SURE_LOSS
    num_steps: int | None = None
    """of the run, where that is not there"""
    iteration: int | None = None
    finding: str | None = None
    checked: bool | None = None
    make_certificates: Lazy[Certificates] | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[State, str]:
        """What makes two faults the same."""
        return self.state, self.action

    @property
    def steps(self) -> int:
        """How many steps the run has that it was found on."""
        return (self.num_steps or 0) if self.run is None else self.run.steps

    @property
    def certificates(self) -> Certificates:
        """The evidence, made when first asked for. Raises OutOfBudget if that takes too long."""
        if self.make_certificates is None:
            raise ValueError("this fault has no certificates")
        return self.make_certificates.get()

    def forget_certificates(self) -> None:
        """Drop the evidence, which is too large to keep for every fault; it can be made again."""
        if self.make_certificates is not None:
            self.make_certificates.forget()

    def to_dict(self) -> dict[str, Any]:
        """Return the fault as plain data, its run by number; one that ``debug`` found as campaigns
        keep it.
        """
        content: dict[str, Any] = {
            "state": self.state.to_dict(),
            "action": self.action,
            "outcome": None if self.outcome is None else self.outcome.to_dict(),
            "alternatives": list(self.alternatives),
        }
        return content | (self._analysed() if self.iteration is None else self._kept())

    def _kept(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "step": self.step,
            "more_unknown": self.has_unknown_alternatives,
            "iteration": self.iteration,
            "finding": self.finding,
            "checked": self.checked,
        }

    def _analysed(self) -> dict[str, Any]:
        run = None if self.run is None else self.run.run
        content: dict[str, Any] = {"run": run, "step": self.step, "runs": list(self.runs)}
        if self.has_unknown_alternatives:
            content["has_unknown_alternatives"] = True
        if self.run is not None and self.run.made is not None:
            content["known_reachable"] = False
        if self.deviations is not None:
            content["deviations"] = self.deviations.to_dict()["deviations"]
            if self.deviations.reason is not None:
                content["deviations_reason"] = self.deviations.reason
        return content

    def __str__(self) -> str:
        instead = ", ".join(map(printable, self.alternatives))
        more = " (more may be safe)" if self.has_unknown_alternatives else ""
        number = "" if self.deviations is None else f"; deviations {self.deviations.text}"
        unsafe = "unsafe" if self.loss.lo > ZERO else "on a failing run"
        lines = [
            f"fault: {printable(self.action)} in {self.state}",
            f"  may lead to {self.outcome}, which is {unsafe}",
            f"  safe alternative: {instead}{more}{number}",
        ]
        return "\n".join(lines if self.outcome is not None else [lines[0], lines[2]])


@dataclass(frozen=True)
class Bug(Result):
    """A safe state from which the policy may still reach fail: ``step`` of ``run``.

    ``failing`` is that run. With a ``radius``, safe means safe within that many differences from
    the policy.
    """

    state: State
    run: int
    step: int
    radius: int | None = None
    failing: Run | None = field(default=None, compare=False, repr=False)
    make_certificate: Lazy[Certificate] | None = field(default=None, compare=False, repr=False)

    @property
    def certificate(self) -> Certificate:
        """The evidence that the state is safe. Raises OutOfBudget if making it takes too long."""
        if self.make_certificate is None:
            raise ValueError("this bug has no certificate")
        return self.make_certificate.get()

    def forget_certificates(self) -> None:
        """Drop the evidence; it can be made again."""
        if self.make_certificate is not None:
            self.make_certificate.forget()

    def to_dict(self) -> dict[str, Any]:
        """Return the bug as plain data."""
        return {"state": self.state.to_dict(), "run": self.run, "step": self.step}

    def __str__(self) -> str:
        return f"bug: {self.state} (run {self.run}, step {self.step})"


@dataclass(frozen=True)
class Unknown(Result):
    """A question that stayed open: whether a state is safe, or whether its decision is a fault.

    ``what`` is ``state`` or ``decision``; ``reason`` is what ran out.
    """

    state: State
    what: str
    reason: str
    run: int
    step: int

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain data."""
        return {
            "state": self.state.to_dict(),
            "what": self.what,
            "reason": self.reason,
            "run": self.run,
            "step": self.step,
        }

    def __str__(self) -> str:
        return f"unknown ({self.reason}): the {self.what} {self.state}"


@dataclass(frozen=True, repr=False)
class FaultsResult(Result):
    """Faults, bugs and unknowns of failing runs, each once.

    ``unavoidable`` are the numbers of runs whose first state is unsafe: whatever the policy had
    done, fail could not have been avoided surely. ``undecided`` are runs without a fault that have
    an unknown. ``stopped`` is what ran out for the analysis as a whole, if something did.
    """

    faults: tuple[Fault, ...]
    bugs: tuple[Bug, ...]
    unknown: tuple[Unknown, ...]
    runs: int
    unavoidable: tuple[int, ...]
    undecided: tuple[int, ...]
    seconds: float
    stopped: str | None = None
    sampled: bool = False
    """whether outcomes are only those that were seen: then nothing is proved about others"""

    @property
    def summary(self) -> dict[str, Any]:
        """How many there are of each."""
        return {
            "runs": self.runs,
            "faults": len(self.faults),
            "bugs": len(self.bugs),
            "unknown": len(self.unknown),
            "unavoidable": len(self.unavoidable),
            "undecided": len(self.undecided),
            "seconds": self.seconds,
        }

    @property
    def summary_text(self) -> str:
        """The summary in words."""
        text = (
            f"{counted(self.runs, 'failing run')}: {counted(len(self.faults), 'fault')}, "
            f"{counted(len(self.bugs), 'bug')}, {len(self.unknown):,} unknown"
        )
        if self.unavoidable:
            text += f"; {counted(len(self.unavoidable), 'run')} from an unsafe state"
        return f"{text}{restriction(self.sampled)}; in {self.seconds:,.3f} s"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "faults": [fault.to_dict() for fault in self.faults],
            "bugs": [bug.to_dict() for bug in self.bugs],
            "unknown": [unknown.to_dict() for unknown in self.unknown],
            "unavoidable": list(self.unavoidable),
            "undecided": list(self.undecided),
            "summary": self.summary,
            "sampled": self.sampled,
        }

    def __str__(self) -> str:
        shortest = sorted(self.faults, key=lambda fault: fault.steps)[:SUMMARY_FAULTS]
        more = len(self.faults) - len(shortest)
        lines = [*map(str, shortest), *([f"... and {more:,} more faults"] if more else [])]
        return "\n".join([*lines, *map(str, self.unknown[:SUMMARY_FAULTS]), self.summary_text])

    def __repr__(self) -> str:
        return f"<FaultsResult {self.summary_text}>"
