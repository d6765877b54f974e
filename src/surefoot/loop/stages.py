"""The stages of a round, each of which returns what its line says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from surefoot.certificates import file_name, write_pieces
from surefoot.errors import OutOfBudget, Unsupported
from surefoot.evaluate import evaluate
from surefoot.faults import FaultFinder
from surefoot.findings import Finding, finding_of
from surefoot.fuzz import fuzz_packed
from surefoot.loop.deeper import deeper_runs
from surefoot.loop.known import KnownFault, known, suspected
from surefoot.loop.starts import Starts
from surefoot.loop.store import Store
from surefoot.loop.watching import Numbers
from surefoot.options import (
    DebugOptions,
    EvaluateOptions,
    FaultOptions,
    FuzzOptions,
    RepairOptions,
    VerifyOptions,
)
from surefoot.policies import Policy
from surefoot.results import Fault, FaultsResult, FuzzResult, Run, VerifyResult
from surefoot.suspects import Suspect, find_suspects
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.task import Task

ANALYSIS_SHARE = 0.3  # of the time that is left: some must be left for repair
SUSPECT_SHARE = 0.2  # of the time that is left, for suspects
SUSPECT_STATES = 20_000_000
FAILING_RUNS = 200  # that verification looks for: with all of them fewer rounds are needed
ENOUGH_RUNS = 1_000  # failing runs to look at in a round that has found a new fault
LOOKAHEAD_STATES = 3_000  # that are seen before a step of a run: from each there may be millions
REAL_LOOKAHEAD = 10  # steps, where states do not come back: looking further takes too long
MAX_CERTIFICATE_STATES = 2_000_000
CERTIFICATE = "certificates/policy-safe.jsonl"


@dataclass(frozen=True)
class Stage:
    """What a stage is given besides its policy."""

    options: DebugOptions
    store: Store
    left_seconds: float
    numbers: Numbers | None = None
    note: Callable[[str], object] | None = None


Decision = TypeVar("Decision", Fault, Suspect)
Made = tuple[dict[str, Any], list[str]]  # what the line says, and the files it is about


def evaluation(policy: Policy, starts: Starts, stage: Stage) -> Made:
    """Evaluate a policy on the start states that are for this."""
    how = stage.options
    wanted = EvaluateOptions(
        max_steps=how.max_steps,
        workers=how.workers,
        seed=how.seed,
        max_seconds=min(stage.left_seconds, EvaluateOptions.max_seconds),
        memory_mb=how.memory_mb,
    )
    states = policy.task.unpack_all(b"".join(starts.evaluation))
    result = evaluate(policy.task, policy, states, options=wanted, progress=stage.numbers)
    result = replace(result, all_starts=starts.are_all)
    return {"result": result.to_dict(), "seconds": {"evaluate": result.seconds}}, []


# -- fuzz and faults ---------------------------------------------------------------------------


def fuzzed(policy: Policy, starts: Sequence[bytes], stage: Stage) -> FuzzResult:
    """Return a run from each of these start states."""
    wanted = _fuzzing(policy, stage)
    return fuzz_packed(
        policy,
        b"".join(starts),
        wanted,
        progress=stage.numbers,
        lookahead_states=lookahead_states_of(stage.options),
    )


def deeper(policy: Policy, starts: Sequence[bytes], stage: Stage) -> list[Run]:
    """Return failing runs that go on from where runs from these start states come by."""
    how, most = _fuzzing(policy, stage), lookahead_states_of(stage.options)
    return deeper_runs(policy, starts, how, lookahead_states=most)


def _fuzzing(policy: Policy, stage: Stage) -> FuzzOptions:
    how = stage.options
    return FuzzOptions(
        bias=how.bias,
        lookahead=lookahead_of(policy.task, how),
        max_steps=how.max_steps,
        workers=how.workers,
        seed=how.seed,
        max_seconds=stage.left_seconds,
        memory_mb=how.memory_mb,
    )


def lookahead_of(task: Task, options: DebugOptions) -> int | None:
    """Return how far fuzzing looks ahead: the option, or what suits the task."""
    if options.lookahead is not None or not isinstance(task, CompiledTask):
        return options.lookahead
    return REAL_LOOKAHEAD if task.has_reals else None


def lookahead_states_of(options: DebugOptions) -> int | None:
    """Return after how many states a lookahead goes no deeper; None if its steps are given."""
    return LOOKAHEAD_STATES if options.lookahead is None else None


@dataclass(frozen=True)
class Analysis:
    """Which faults of a policy are new, and how to keep them."""

    policy: Policy
    iteration: int
    seen: frozenset[Any]
    stage: Stage

    def of_runs(self, result: FuzzResult, deeper: Sequence[Run]) -> Made:
        """Look at the failing runs of fuzzing, the shortest first, then at those behind them."""
        runs = [*_shortest_first(result), *deeper]
        left = self.stage.left_seconds - result.seconds
        content, files = self._analysed(runs, left, counted_runs=result.asked)
        content |= {
            "from": "fuzz",
            "runs": sum(result.counts.values()),
            "unsafe_runs": result.counts.get("fail", 0),
            "is_cut": content["is_cut"] or result.stopped is not None,
        }
        content["seconds"] = {"fuzz": result.seconds, **content["seconds"]}
        return content, files

    def of_verified(self, found: Sequence[Run], others: FuzzResult | None = None) -> Made:
        """Look at the failing runs that verification found, and at failing runs of fuzzing from
        other start states than usual, if there are such.
        """
        runs = [*found, *_shortest_first(others)]
        spent = 0.0 if others is None else others.seconds
        content, files = self._analysed(runs, self.stage.left_seconds - spent)
        content |= {"from": "verify", "runs": len(runs), "unsafe_runs": len(runs)}
        content["seconds"] = {"fuzz": spent, **content["seconds"]}
        return content, files

    def of_bad_states(self, result: FuzzResult | None) -> Made:
        """Look at failing runs from states of which nobody knows whether runs come there. Faults on
        them are no faults of runs from start states: they are suspects.
        """
        begin = time.perf_counter()
        runs = _shortest_first(result)
        spent = 0.0 if result is None else result.seconds
        found, _ = self._faults(runs, self.stage.left_seconds - spent)
        new = [known(fault, self.iteration) for fault in self._new(found.faults)]
        name = self._written("suspects", new)
        content = {
            "iteration": self.iteration,
            "from": "boxes",
            "runs": 0 if result is None else result.asked,
            "unsafe_runs": len(runs),
            "is_cut": False,
            "new_faults": 0,
            "unavoidable": 0,
            "undecided": 0,
            "why_undecided": None,
            "faults": None,
            "findings": [],
            "new_suspects": len(new),
            "suspects": name,
            "seconds": {"fuzz": spent, "faults": time.perf_counter() - begin},
        }
        return content, [] if name is None else [name]

    def _analysed(
        self, runs: Sequence[Run], seconds: float, *, counted_runs: int | None = None
    ) -> Made:
        """Look at runs. Those with numbers from ``counted_runs`` on begin where others do: they
        are not counted.
        """
        begin = time.perf_counter()
        result, is_complete = self._faults(runs, seconds)
        unavoidable, undecided = (
            sum(counted_runs is None or number < counted_runs for number in numbers)
            for numbers in (result.unavoidable, result.undecided)
        )
        new = self._new(result.faults)
        new.sort(key=lambda fault: (fault.run.steps, fault.step))
        findings = self._findings(new)
        name = self._written("faults", [known(fault, self.iteration) for fault in new])
        is_open = not is_complete or result.stopped is not None or bool(result.undecided)
        suspects = self._suspects(runs, result, seconds) if is_open and not new else []
        suspects_name = self._written("suspects", suspects)
        content: dict[str, Any] = {
            "iteration": self.iteration,
            "is_cut": result.stopped is not None or not is_complete,
            "new_faults": len(new),
            "unavoidable": unavoidable,
            "undecided": undecided,
            "why_undecided": result.unknown[0].reason if undecided else None,
            "faults": name,
            "findings": findings,
            "new_suspects": len(suspects),
            "suspects": suspects_name,
            "seconds": {"faults": time.perf_counter() - begin},
        }
        files = [one for one in (name, suspects_name) if one is not None]
        return content, [*files, *(one["file"] for one in findings)]

    def _faults(self, runs: Sequence[Run], seconds: float) -> tuple[FaultsResult, bool]:
        """Return the faults on the runs, and whether there was time to look at all of these."""
        how = self.stage.options
        wanted = FaultOptions(
            state_seconds=how.state_seconds,
            seed=how.seed,
            max_seconds=max(seconds * ANALYSIS_SHARE, 0.0),
            memory_mb=how.memory_mb,
        )
        finder = FaultFinder(self.policy.task, self.policy, options=wanted)
        until = time.monotonic() + wanted.max_seconds
        for number, run in enumerate(runs):
            if time.monotonic() >= until:
                return finder.result(), False
            if number >= ENOUGH_RUNS and self._new(finder.faults):
                break  # the others are still there in the next round, if these were not why
            if self.stage.note is not None:
                self.stage.note(f"run {number + 1:,} of {len(runs):,}")
            finder.add(run, progress=self.stage.numbers)
        return finder.result(), True

    def _new(self, found: Iterable[Decision]) -> list[Decision]:
        """Return those that no earlier round has found."""
        return [one for one in found if (one.state, one.action) not in self.seen]

    def _suspects(
        self, runs: Sequence[Run], result: FaultsResult, seconds: float
    ) -> list[KnownFault]:
        """Return suspects on runs on which nobody knows the fault, or that were not looked at."""
        hopeless = frozenset(result.unavoidable)
        unclear = [run for run in runs if run.run not in hopeless]
        how = FaultOptions(
            max_states=SUSPECT_STATES,
            max_seconds=max(seconds * SUSPECT_SHARE, 0.0),
            memory_mb=self.stage.options.memory_mb,
        )
        found = find_suspects(self.policy, unclear, options=how)
        return [suspected(one, self.iteration) for one in self._new(found)]

    def _written(self, folder: str, faults: Sequence[KnownFault]) -> str | None:
        """Write all of these to the file of the round; return its name, None if there are none."""
        if not faults:
            return None
        name = f"{folder}/iteration-{self.iteration:03}.jsonl"
        lines = (fault.line() for fault in faults)
        write_pieces(self.stage.store.path(name), lines, what=f"file of {folder}")
        return name

    def _findings(self, faults: Sequence[Fault]) -> list[dict[str, Any]]:
        """Write findings of the smallest faults; return their names, and whether they were checked
        within the time for that.
        """
        found: list[dict[str, Any]] = []
        seconds = self.stage.options.check_seconds
        until = time.monotonic() + seconds
        for number, fault in enumerate(faults[: self.stage.options.findings]):
            if time.monotonic() > until + seconds:
                break  # to make them takes long, too
            name = self._finding(fault, until)
            if name is not None:
                found.append({"file": name[0], "checked": name[1], "fault": number})
            fault.__dict__.pop("certificates", None)  # too large to keep for every fault
        return found

    def _finding(self, fault: Fault, until: float) -> tuple[str, bool] | None:
        policy, seed = self.policy, self.stage.options.seed
        try:
            finding = finding_of(policy.task, policy, fault, seed=seed)
            name = f"findings/{file_name(finding)}"
            finding.write(self.stage.store.path(name))
        except (OutOfBudget, Unsupported):
            return None  # its certificates are too large, or JSON cannot hold the states
        return name, _is_checked(finding, until)


def _shortest_first(result: FuzzResult | None) -> list[Run]:
    """Return the failing runs of fuzzing, if there was some."""
    failing = () if result is None else result.failing
    return sorted(failing, key=lambda run: (run.steps, run.run))


def _is_checked(finding: Finding, until: float) -> bool:
    """Return whether the checker accepts a finding in time. Raises CertificateRejected."""
    left = until - time.monotonic()
    if left <= 0:
        return False
    try:
        finding.check(max_seconds=left)
    except OutOfBudget:
        return False
    return True


# -- repair and verify -------------------------------------------------------------------------


def repaired(
    policy: Policy,
    faults: Sequence[KnownFault],
    keep: Sequence[Any],
    iteration: int,
    stage: Stage,
) -> Made:
    """Repair all faults, and write the result in the format of the policy."""
    from surefoot.policies.like import suffix_like, write_like
    from surefoot.repair import repair

    begin = time.perf_counter()
    how = stage.options
    wanted = RepairOptions(
        method=how.method,
        any_other=how.any_other,
        keep=how.keep,
        margin=how.margin,
        solver_seconds=how.solver_seconds,
        seed=how.seed,
        max_seconds=stage.left_seconds,
        memory_mb=how.memory_mb,
    )
    result = repair(policy.task, policy, faults, keep, options=wanted, progress=stage.note)
    name = f"policies/iteration-{iteration:03}{suffix_like(result.policy, policy)}"
    files = write_like(result.policy, policy, stage.store.path(name))
    again = stage.store.policy(name)
    names = ("trees_added", "changed_parameters", "distance", "keep_states", "keep_lost")
    changes = {
        **{each: getattr(result, each) for each in names},
        "diff": result.diff.to_dict(),
        "sha256": again.sha256,
    }
    seconds = {"repair": time.perf_counter() - begin}
    content = {"iteration": iteration, "policy": name, "changes": changes, "seconds": seconds}
    return content, [_below(file) for file in files]


def _below(file: Path) -> str:
    """Return the name of a file that stands in a folder of the store."""
    return f"{file.parent.name}/{file.name}"


def verified(policy: Policy, iteration: int, stage: Stage) -> Made:
    """Verify a policy; a certificate that it is safe is kept and checked."""
    from surefoot.verify import verify

    begin = time.perf_counter()
    how = stage.options
    wanted = VerifyOptions(
        method=how.verify,
        starts=how.starts,
        runs=FAILING_RUNS,
        workers=how.workers,
        seed=how.seed,
        max_seconds=stage.left_seconds,
        memory_mb=how.memory_mb,
    )
    path = stage.store.path(CERTIFICATE)
    shown = Shown(stage)
    result = verify(
        policy.task,
        policy,
        options=wanted,
        progress=shown.progress,
        watch=shown.watch,
        certificate=path,
        max_certificate_states=MAX_CERTIFICATE_STATES,
    )
    evidence: dict[str, Any] = {"certificate": None, "checked": None, "why_unchecked": None}
    if result.verdict == "safe":
        evidence |= _certified(result, stage)
    name = evidence["certificate"]
    content = {"iteration": iteration, "result": result.to_dict(), **evidence}
    content["seconds"] = {"verify": time.perf_counter() - begin}
    return content, [name] if name else []


class Shown:
    """Puts what a method tells about its progress into words."""

    def __init__(self, stage: Stage, method: str = "") -> None:
        self._stage = stage
        self._method = method

    def watch(self, method: str) -> None:
        """Hear which method begins."""
        self._method = method

    def progress(self, *numbers: Any) -> None:
        """Hear how far it is."""
        from surefoot.verify.job import progress_text

        if self._stage.note is not None:
            self._stage.note(progress_text(self._method, numbers))


def _certified(result: VerifyResult, stage: Stage) -> dict[str, Any]:
    """Return where the certificate of a safe policy is, and whether it was checked in time."""
    certificate = result.certificate
    if certificate is None or certificate.path is None:
        missing = getattr(certificate, "missing", None)
        return {"checked": False, "why_unchecked": missing or "it could not be made"}
    seconds = stage.options.check_seconds
    try:
        certificate.check(max_seconds=seconds)
    except OutOfBudget:
        why = f"that takes more than {seconds:g} seconds"
        return {"certificate": CERTIFICATE, "checked": False, "why_unchecked": why}
    return {"certificate": CERTIFICATE, "checked": True}
