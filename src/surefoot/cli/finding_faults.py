"""The work of ``faults``: look at run after run, check what is found, keep it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from surefoot.certificates import Certificate
from surefoot.cli.checking import Checking, why_missing
from surefoot.errors import OutOfBudget
from surefoot.evidence.findings import Evidence
from surefoot.evidence.search import FaultSearch
from surefoot.findings import Finding, finding_of
from surefoot.records import Bug, Fault, FaultsResult, FuzzResult, Run

if TYPE_CHECKING:
    from surefoot.cli.progress import Progress
    from surefoot.options import FaultOptions
    from surefoot.policies import Policy

NOTHING, FOUND, UNKNOWN = 0, 1, 4
Made = TypeVar("Made", Finding, Certificate)


@dataclass(frozen=True)
class Row:
    """A fault, or a bug where only these are looked for, and what became of its finding."""

    decision: Fault | Bug
    evidence: Evidence
    uncertified: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        """The shortest run that it is on."""
        run = self.decision.run if isinstance(self.decision, Fault) else self.decision.failing
        assert run is not None  # the finder says it of every bug
        return run

    def to_dict(self) -> dict[str, object]:
        """Return the fault as plain data."""
        content = {**self.decision.to_dict(), "checked": self.evidence.checked}
        if self.uncertified:
            content["uncertified"] = list(self.uncertified)
        if self.evidence.file is not None:
            content["finding"] = str(self.evidence.file)
        if self.evidence.missing is not None:
            content["finding_missing"] = self.evidence.missing
        return content


@dataclass(frozen=True)
class Unavoidable:
    """A run from an unsafe start state, and what became of the certificate that says so."""

    run: Run
    evidence: Evidence

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        start = {
            "run": self.run.run,
            "same": list(self.run.same),
            "start": self.run.start.to_dict(),
        }
        file = self.evidence.file
        kept = {} if file is None else {"certificate": str(file)}
        return {**start, "checked": self.evidence.checked, **kept}


@dataclass(frozen=True)
class FaultsAnswer:
    """What is to be printed."""

    policy: Policy
    result: FaultsResult
    rows: tuple[Row, ...]
    fuzzed: FuzzResult | None
    bugs_only: bool
    radius: int | None
    unavoidable: tuple[Unavoidable, ...]
    check_seconds: float | None

    @property
    def exit_code(self) -> int:
        """1 if something was found, else 4 if something stayed unknown, else 0."""
        if self.rows:
            return FOUND
        is_cut = self.fuzzed is not None and self.fuzzed.stopped is not None
        return UNKNOWN if self.result.unknown or self.result.stopped or is_cut else NOTHING

    def to_dict(self) -> dict[str, object]:
        """Return the result as plain data; failing runs in full, where faults name them."""
        content = self.result.to_dict()
        content["bugs"] = [{**bug.to_dict(), "checked": False} for bug in self.result.bugs]
        content["bugs" if self.bugs_only else "faults"] = [row.to_dict() for row in self.rows]
        content["unavoidable"] = [each.to_dict() for each in self.unavoidable]
        runs = {row.run.run: row.run for row in self.rows}
        content["runs"] = [run.to_dict() for run in runs.values()]
        if self.fuzzed is not None:
            content["fuzz"] = {**self.fuzzed.summary, "stopped": self.fuzzed.stopped}
        content["summary"]["check_seconds"] = self.check_seconds
        return {**content, "stopped": self.result.stopped}


class CheckedSearch:
    """Faults on runs of a policy, each checked and kept as soon as it is found."""

    def __init__(
        self,
        policy: Policy,
        options: FaultOptions,
        checking: Checking,
        fuzzed: FuzzResult | None,
    ) -> None:
        self._policy = policy
        self._options = options
        self._checking = checking
        self._fuzzed = fuzzed
        self._search = FaultSearch(policy, options)
        self._unavoidable: list[Unavoidable] = []
        self._check_seconds = 0.0
        self._is_begun = False
        self._stopped: str | None = None
        self.rows: list[Row] = []

    def look_at(self, runs: Sequence[Run], progress: Progress) -> None:
        """Look at runs, the shortest first: then each fault is found on a shortest run. Those for
        which no time is left are not looked at.
        """
        try:
            self._look_at_all(runs, progress)
        except OutOfBudget:
            if not self._checking.is_over:
                raise
            self._stopped = "seconds"
        if not self._search.is_complete:
            self._stopped = "seconds"

    def _look_at_all(self, runs: Sequence[Run], progress: Progress) -> None:
        def note(number: int) -> Callable[[int, int, int, int, float], None]:
            self._is_begun = True
            which = f"run {number + 1:,} of {len(runs):,}, {len(self.rows):,} found"
            progress.note(which)
            return _teller(progress, which)

        def is_over() -> bool:
            return self._is_begun and self._checking.is_over

        examined_runs = self._search.examined(runs, is_over=is_over, note=note)
        for number, examined in enumerate(examined_runs):
            if examined.is_unavoidable:
                self._unavoidable.append(self._unavoidable_run(examined.run))
            for each in examined.new:
                count = f"{len(self.rows):,} found"
                progress.note(f"run {number + 1:,} of {len(runs):,}, {count}, checking")
                self.rows.append(self._row(each))

    def result(self) -> FaultsAnswer:
        """Return what was found so far."""
        result = self._search.result()
        return FaultsAnswer(
            policy=self._policy,
            result=replace(result, stopped=result.stopped or self._stopped),
            rows=tuple(self.rows),
            fuzzed=self._fuzzed,
            bugs_only=self._options.bugs_only,
            radius=self._options.radius,
            unavoidable=tuple(self._unavoidable),
            check_seconds=None if self._checking.seconds is None else self._check_seconds,
        )

    def _row(self, fault: Fault | Bug) -> Row:
        task, seed = self._policy.task, self._options.seed
        finding, evidence = self._with_evidence(
            lambda: finding_of(task, self._policy, fault, seed=seed)
        )
        fault.forget_certificates()
        about = {} if finding is None else finding.about
        return Row(fault, evidence, tuple(about.get("uncertified", ())))

    def _unavoidable_run(self, run: Run) -> Unavoidable:
        _, evidence = self._with_evidence(lambda: self._search.finder.unsafe_certificate(run.start))
        return Unavoidable(run, evidence)

    def _with_evidence(self, make: Callable[[], Made]) -> tuple[Made | None, Evidence]:
        """Return a certificate or finding once it is made, and what became of it."""
        begin = time.monotonic()
        if self._checking.is_over:
            return None, Evidence(checked=False, file=None, missing="no time was left to make it")
        try:
            made = make()
        except OutOfBudget as error:
            return None, Evidence(checked=False, file=None, missing=why_missing(error))
        evidence = self._checking.evidence(made, spent_seconds=time.monotonic() - begin)
        self._check_seconds += time.monotonic() - begin
        return made, evidence


def _teller(progress: Progress, which: str) -> Callable[[int, int, int, int, float], None]:
    def tell(states: int, expanded: int, depth: int, size: int, seconds: float) -> None:
        progress.note(f"{which}, {states:,} states, {size / 1e6:,.0f} MB")

    return tell
