"""The stages of a round. Each returns its line and the values that belong to it; none writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from surefoot.evidence.findings import (
    Keep,
    checked_findings,
    is_accepted,
    smallest_first,
)
from surefoot.evidence.search import FaultSearch
from surefoot.fuzz import fuzz_packed
from surefoot.loop.deeper import MAX_STATES, deeper_runs
from surefoot.loop.made import Made
from surefoot.loop.store import CERTIFICATE
from surefoot.loop.watching import Numbers, Watch
from surefoot.options import DebugOptions, FaultOptions, FuzzOptions, Options
from surefoot.policies import Policy
from surefoot.records import (
    Fault,
    FaultsResult,
    FuzzResult,
    Run,
    VerifyResult,
)
from surefoot.records.faults import POSSIBLE_LOSS
from surefoot.records.files import record_from
from surefoot.records.lines import (
    ChangesPart,
    DiffPart,
    FaultsLine,
    FindingPart,
    RepairLine,
    VerdictPart,
    VerifyLine,
)
from surefoot.records.runs import shortest_first
from surefoot.suspects import find_suspects
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

Decisions = Sequence[tuple[State, str]]
ANALYSIS_SHARE = 0.3  # of the time that is left: some must be left for repair
CHECK_SHARE = 0.1  # of the time that is left, and as much again for making what is checked
SUSPECT_SHARE = 0.2  # of the time that is left, for suspects
SUSPECT_STATES = 20_000_000
ENOUGH_RUNS = 1_000  # failing runs to look at in a round that has found a new fault
LOOKAHEAD_STATES = 3_000  # that are seen before a step of a run: from each there may be millions
REAL_LOOKAHEAD = 10  # steps, where states do not come back: looking further takes too long
MAX_CERTIFICATE_STATES = 2_000_000


@dataclass(frozen=True)
class Stage:
    """What a stage is given besides its policy. ``until`` is when its time is over, by the clock
    that is monotonic. ``certificate`` is where verification writes its
    certificate; True for a file that goes after its check. ``original_keep`` returns decisions of
    the original policy to keep.
    """

    options: DebugOptions
    until: float
    watch: Watch
    round: int
    certificate: Path | bool = True
    original_keep: Callable[[], Decisions] = tuple
    numbers: Numbers | None = None

    @property
    def left_seconds(self) -> float:
        """How much of its time is left."""
        return max(self.until - time.monotonic(), 0.0)

    def check_seconds(self, share: float = 1.0) -> float:
        """Return how long to check certificates: as long as is asked for, and in this share of the
        time that is left.
        """
        return min(self.options.check_seconds, share * self.left_seconds)

    def named(self, name: str) -> Stage:
        """Return the same under a name, which is told to who watches."""
        return replace(self, numbers=self.watch.stage(name, self.round))

    def within(self, options: Options, *, seconds: float | None = None) -> Options:
        """Return the options of a stage with no more time than is left. Its own limit does not
        count if it is that of the whole, which may have got more since.
        """
        left = self.left_seconds if seconds is None else seconds
        if options.max_seconds != self.options.max_seconds:
            left = min(left, options.max_seconds)
        return replace(options, max_seconds=left)


# -- fuzz and faults ---------------------------------------------------------------------------


def looked(analysis: Analysis, starts: Sequence[bytes]) -> Made:
    """Fuzz the policy of a round from its start states, and look for faults on failing runs."""
    policy, stage = analysis.policy, analysis.stage
    runs = fuzzed(policy, starts, stage)
    further = deeper(policy, starts, stage) if runs.failing else []
    further += perturbed(policy, starts, stage)
    return replace(analysis, stage=stage.named("looking for faults")).of_runs(runs, further)


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
    options, most = _fuzzing(policy, stage), lookahead_states_of(stage.options)
    return deeper_runs(policy, starts, options, lookahead_states=most)


def perturbed(policy: Policy, starts: Sequence[bytes], stage: Stage) -> list[Run]:
    """Return failing runs that begin near those from these start states, if that is asked for.

    They stand behind the start states and the runs of ``deeper`` in number: they are not counted.
    """
    options = stage.options.fuzz
    if options.perturb == "none":
        return []
    fuzzing = replace(_fuzzing(policy, stage), perturb=options.perturb, changes=options.changes)
    most = lookahead_states_of(stage.options)
    result = fuzz_packed(policy, b"".join(starts), fuzzing, lookahead_states=most)
    first = len(starts) + MAX_STATES
    return [
        replace(run, run=first + run.run, same=tuple(first + number for number in run.same))
        for run in shortest_first(result.failing)
    ]


def _fuzzing(policy: Policy, stage: Stage) -> FuzzOptions:
    """Return how to fuzz from given states, and not from others near them."""
    wanted = stage.within(stage.options.fuzz)
    return replace(wanted, lookahead=lookahead_of(policy.task, stage.options), perturb="none")


def lookahead_of(task: Task, options: DebugOptions) -> int | None:
    """Return how far fuzzing looks ahead: the option, or what suits the task."""
    if options.fuzz.lookahead is not None or not has_description(task):
        return options.fuzz.lookahead
    return REAL_LOOKAHEAD if task.has_reals else None


def lookahead_states_of(options: DebugOptions) -> int | None:
    """Return after how many states a lookahead goes no deeper; None if its steps are given."""
    return LOOKAHEAD_STATES if options.fuzz.lookahead is None else None


@dataclass(frozen=True)
class Analysis:
    """Which faults of a policy are new, and how to keep them."""

    policy: Policy
    iteration: int
    seen: frozenset[tuple[State, str]]
    stage: Stage

    def of_runs(self, result: FuzzResult, deeper: Sequence[Run]) -> Made:
        """Look at the failing runs of fuzzing, the shortest first, then at those behind them."""
        runs = [*shortest_first(result.failing), *deeper]
        left = self.stage.left_seconds
        made, line = self._analysed(runs, left, counted_runs=result.asked)
        line = msgspec.structs.replace(
            line,
            runs=sum(result.counts.values()),
            unsafe_runs=result.counts.get("fail", 0),
            is_cut=line.is_cut or result.stopped is not None,
            seconds={"fuzz": result.seconds, **line.seconds},
        )
        return replace(made, line=line)

    def of_verified(self, failing: Sequence[Run], others: FuzzResult | None = None) -> Made:
        """Look at the failing runs that verification found, and at failing runs of fuzzing from
        other start states than usual, if there are such.
        """
        runs = [*failing, *([] if others is None else shortest_first(others.failing))]
        spent = 0.0 if others is None else others.seconds
        made, line = self._analysed(runs, self.stage.left_seconds)
        seconds = {"fuzz": spent, **line.seconds}
        return replace(made, line=msgspec.structs.replace(line, origin="verify", seconds=seconds))

    def of_bad_states(self, result: FuzzResult | None) -> tuple[Made, FaultsLine]:
        """Look at failing runs from states of which nobody knows whether runs come there. Faults on
        them are not faults of runs from start states: they are suspects.
        """
        begin = time.perf_counter()
        runs = [] if result is None else shortest_first(result.failing)
        spent = 0.0 if result is None else result.seconds
        analysis, _ = self._faults(runs, self.stage.left_seconds)
        new = [replace(fault, loss=POSSIBLE_LOSS) for fault in self._new(analysis.faults)]
        line = FaultsLine(
            iteration=self.iteration,
            origin="boxes",
            runs=0 if result is None else result.asked,
            unsafe_runs=len(runs),
            is_cut=False,
            new_faults=0,
            unavoidable=0,
            undecided=0,
            why_undecided=None,
            faults=None,
            findings=(),
            new_suspects=len(new),
            suspects=None,
            seconds={"fuzz": spent, "faults": time.perf_counter() - begin},
        )
        return Made(line, suspects=tuple(new)), line

    def _analysed(
        self, runs: Sequence[Run], seconds: float, *, counted_runs: int | None = None
    ) -> tuple[Made, FaultsLine]:
        """Look at runs. Those with numbers from ``counted_runs`` on begin where others do: they
        are not counted.
        """
        begin = time.perf_counter()
        result, is_complete = self._faults(runs, seconds)
        unavoidable, undecided = (
            sum(counted_runs is None or number < counted_runs for number in numbers)
            for numbers in (result.unavoidable, result.undecided)
        )
        new = smallest_first(self._new(result.faults))
        is_open = not is_complete or result.stopped is not None or bool(result.undecided)
        suspects = self._suspects(runs, result, seconds) if is_open and not new else []
        line = FaultsLine(
            iteration=self.iteration,
            origin="fuzz",
            runs=len(runs),
            unsafe_runs=len(runs),
            is_cut=result.stopped is not None or not is_complete,
            new_faults=len(new),
            unavoidable=unavoidable,
            undecided=undecided,
            why_undecided=result.unknown[0].reason if undecided else None,
            faults=None,
            findings=(),
            new_suspects=len(suspects),
            suspects=None,
            seconds={"faults": time.perf_counter() - begin},
        )
        findings = self._findings(new)
        return Made(line, faults=tuple(new), suspects=tuple(suspects), findings=findings), line

    def _faults(self, runs: Sequence[Run], seconds: float) -> tuple[FaultsResult, bool]:
        """Return the faults on the runs, and whether there was time to look at all of these."""
        share = max(seconds * ANALYSIS_SHARE, 0.0)
        wanted = self.stage.within(self.stage.options.faults, seconds=share)
        search = FaultSearch(self.policy, wanted, known=self.seen)
        until = time.monotonic() + wanted.max_seconds

        def note(number: int) -> Numbers | None:
            self.stage.watch.note(f"run {number + 1:,} of {len(runs):,}")
            return self.stage.numbers

        new = 0
        examined = search.examined(runs, is_over=lambda: time.monotonic() >= until, note=note)
        for count, each in enumerate(examined, start=1):
            new += len(each.new)
            if count >= ENOUGH_RUNS and new:
                break  # the others are still there in the next round, if these were not why
        return search.result(), search.is_complete

    def _new(self, faults: Iterable[Fault]) -> list[Fault]:
        """Return those that no earlier round has found."""
        return [fault for fault in faults if fault.key not in self.seen]

    def _suspects(self, runs: Sequence[Run], result: FaultsResult, seconds: float) -> list[Fault]:
        """Return suspects on runs on which the fault is not known, or that were not examined."""
        hopeless = frozenset(result.unavoidable)
        unclear = [run for run in runs if run.run not in hopeless]
        options = FaultOptions(
            max_states=SUSPECT_STATES,
            max_seconds=max(seconds * SUSPECT_SHARE, 0.0),
            memory_mb=self.stage.options.faults.memory_mb,
        )
        return self._new(find_suspects(self.policy, unclear, options=options))

    def _findings(self, faults: Sequence[Fault]) -> Callable[[Keep], tuple[FindingPart, ...]]:
        """Return what makes findings of the smallest faults."""
        options = self.stage.options
        smallest = faults[: options.findings]
        return lambda keep: checked_findings(
            self.policy,
            smallest,
            keep,
            seed=options.seed,
            seconds=self.stage.check_seconds(CHECK_SHARE),
        )


# -- repair and verify -------------------------------------------------------------------------


def repaired(
    policy: Policy,
    faults: Sequence[Fault],
    keep: Decisions,
    iteration: int,
    stage: Stage,
) -> Made:
    """Repair all faults."""
    from surefoot.repair import repair

    begin = time.perf_counter()
    wanted = stage.within(stage.options.repair)
    result = repair(policy.task, policy, faults, keep, options=wanted, progress=stage.watch.note)
    changes = ChangesPart(
        trees_added=result.trees_added,
        changed_parameters=result.changed_parameters,
        distance=result.distance,
        keep_states=result.keep_states,
        keep_lost=result.keep_lost,
        diff=record_from(result.diff.to_dict(), DiffPart, code="internal", what="a difference"),
        sha256=None,
    )
    seconds = {"repair": time.perf_counter() - begin}
    line = RepairLine(iteration=iteration, policy="", changes=changes, seconds=seconds)
    return Made(line, policy=result.policy, base=policy)


def verified(policy: Policy, iteration: int, stage: Stage) -> Made:
    """Verify a policy; a certificate that it is safe is checked."""
    from surefoot.verify import UNCHECKED, verify

    begin = time.perf_counter()
    shown = StageProgress(stage)
    result = verify(
        policy.task,
        policy,
        options=stage.within(stage.options.verify),
        progress=shown.progress,
        watch=shown.watch,
        certificate=stage.certificate,
        max_certificate_states=MAX_CERTIFICATE_STATES,
    )
    if result.verdict == "safe" and result.reason == UNCHECKED:
        word = f"{result.method} says safe, and nothing else confirms it"
        result = replace(result, verdict="unknown", reason=word, code=UNCHECKED)
    name, checked, why = None, None, None
    if result.verdict == "safe":
        name, checked, why = _certified(result, stage)
    line = VerifyLine(
        iteration=iteration,
        result=record_from(result.to_dict(), VerdictPart, code="internal", what="a verdict"),
        certificate=name,
        checked=checked,
        why_unchecked=why,
        seconds={"verify": time.perf_counter() - begin},
    )
    return Made(line)


class StageProgress:
    """Puts what a method tells about its progress into words."""

    def __init__(self, stage: Stage, method: str = "") -> None:
        self._stage = stage
        self._method = method

    def watch(self, method: str) -> None:
        """Hear which method begins."""
        self._method = method

    def progress(self, *numbers: *tuple[int, int, int, int, float]) -> None:
        """Hear how far it is."""
        from surefoot.verify import progress_text

        self._stage.watch.note(progress_text(self._method, numbers))


def _certified(result: VerifyResult, stage: Stage) -> tuple[str | None, bool, str | None]:
    """Return where the certificate of a safe policy is, whether it was checked, and why not."""
    certificate = result.certificate
    if certificate is None or certificate.path is None:
        missing = getattr(certificate, "missing", None)
        return None, False, missing or "it could not be made"
    seconds = stage.check_seconds()
    if is_accepted(certificate, seconds=seconds):
        return CERTIFICATE, True, None
    return CERTIFICATE, False, f"that takes more than {seconds:g} seconds"
