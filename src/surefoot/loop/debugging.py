"""The rounds of the loop, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from surefoot.errors import InputError, OutOfBudget
from surefoot.findings import run_from
from surefoot.loop import stages
from surefoot.loop.known import KnownFault, read_known
from surefoot.loop.lines import evaluation_of, failing_starts_of, iterations_of
from surefoot.loop.precautions import are_possible, precautions
from surefoot.loop.stages import Analysis, Made, Stage
from surefoot.loop.starts import Bounds, Starts, make_starts, more_starts, starts_within
from surefoot.loop.store import Line, Store
from surefoot.loop.watching import Numbers, Watch
from surefoot.options import DebugOptions
from surefoot.policies import Policy
from surefoot.results import EvaluateResult, Iteration, Run, counted

ORIGINAL = 0  # the number of the policy before any repair
FAILING_STARTS = 500  # to draw where verification knows bounds of start states that fail
LEAST_SECONDS = 10.0  # for what takes place also when the time is used up
SAFE, STOPPED, OPEN = "safe", "stopped", "open"


@dataclass(frozen=True)
class Ended:
    """How the loop ended: its outcome and why, and which policy is the final one.

    ``policy`` is the number of the round that made it; 0 is the policy as it was.
    """

    outcome: str
    reason: str
    policy: int
    file: str | None
    starts: Starts
    before: EvaluateResult
    after: EvaluateResult
    iterations: tuple[Iteration, ...]
    faults: tuple[KnownFault, ...]


class _End(Exception):
    """There are no more rounds. ``kind`` is ``safe``, ``stopped``, or ``open``: whether that is
    improved or unknown, the evaluation will say.
    """

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


@dataclass
class Loop:
    """Fuzz, find faults, repair, again, and verify: until nothing new is found.

    Everything that a stage finds goes to the store, and the loop goes on from what it reads there.
    So it does not matter how often it was interrupted.
    """

    original: Policy
    options: DebugOptions
    store: Store
    watch: Watch = field(default_factory=Watch)
    _lines: list[Line] = field(default_factory=list)
    _faults: list[KnownFault] = field(default_factory=list)
    _suspects: list[KnownFault] = field(default_factory=list)
    _policies: dict[int, str] = field(default_factory=dict)  # of rounds, where they are
    _unsafe_runs: dict[int, int] = field(default_factory=dict)  # of policies, by the same number
    _keep: list[Any] | None = None
    _careful: set[int] = field(default_factory=set)  # rounds with precautions
    _gave_up: bool = False  # taking precautions

    def run(self) -> Ended:
        """Return how the loop ends."""
        starts = self._starts()
        before = self._evaluated("before", self.original, starts)
        try:
            policy = self.original
            while True:
                policy = self._round(policy, starts)
        except _End as end:
            line = self._ended(end)
        self._tell_round()
        best = line["best"]
        final = self.original if best == ORIGINAL else self.store.policy(self._policies[best])
        after = self._evaluated("after", final, starts)
        outcome = line["end"] if line["end"] != OPEN else self._open_outcome(best, before, after)
        return Ended(
            outcome=outcome,
            reason=line["reason"],
            policy=best,
            file=self._policies.get(best),
            starts=starts,
            before=before,
            after=after,
            iterations=tuple(iterations_of(self._lines)),
            faults=tuple(self._faults),
        )

    # -- lines ---------------------------------------------------------------------------------

    def _stage(self, kind: str, name: str, work: Callable[[Stage], Made], **same: Any) -> Line:
        """Return the line of a stage: the one from before, or else what ``work`` makes.

        ``same`` are members by which the line from before is known to be this one.
        """
        known = self.store.next()
        if known is None:
            numbers = self.watch.stage(name, self._number)
            content, files = work(self._given(numbers, kind))
            line = self.store.record(kind, content, files)
        elif known["kind"] == "end" and kind not in ("begin", "before", "after", "end"):
            raise _End(known["end"], known["reason"])
        else:
            if known["kind"] != kind or any(known.get(key) != same[key] for key in same):
                raise InputError(
                    "campaign-damaged",
                    f"the journal has {known['kind']} where {kind} is due",
                    place=str(known.get("n")),
                )
            line = self.store.take()
        self._lines.append(line)
        return line

    def _given(self, numbers: Numbers | None, kind: str) -> Stage:
        left, reserved = self.options.max_seconds - self.store.seconds, self._evaluation_seconds()
        if kind in ("begin", "before", "end", "after"):
            left = max(left, LEAST_SECONDS, 2 * reserved)
        elif (left := left - reserved) <= 0:  # there is one more evaluation to come
            raise _End(OPEN, "ran out of seconds")
        return Stage(self.options, self.store, left, numbers, self.watch.note)

    def _evaluation_seconds(self) -> float:
        """Return how long the evaluation before the first round took."""
        return sum(float(line["seconds"].get("evaluate", 0.0)) for line in self._lines)

    @property
    def _number(self) -> int:
        """Which round this is, from 1."""
        return len(self._policies) + 1

    # -- stages --------------------------------------------------------------------------------

    def _starts(self) -> Starts:
        made: list[Starts] = []

        def work(stage: Stage) -> Made:
            made.append(self._made_starts(stage.left_seconds))
            return {"starts": made[0].to_dict(), "seconds": {}}, []

        line = self._stage("begin", "drawing start states", work)
        if made:
            return made[0]
        again = self._made_starts(LEAST_SECONDS, are_all=line["starts"]["all"])
        if again.to_dict() != line["starts"]:
            raise InputError("campaign-other-task", "the start states are others than before")
        return again

    def _made_starts(self, seconds: float, *, are_all: bool | None = None) -> Starts:
        task, most = self.original.task, max(seconds, LEAST_SECONDS)
        return make_starts(task, self.options, max_seconds=most, are_all=are_all)

    def _evaluated(self, which: str, policy: Policy, starts: Starts) -> EvaluateResult:
        line = self._stage(
            which, f"evaluating {which}", lambda stage: stages.evaluation(policy, starts, stage)
        )
        result = evaluation_of(line)
        self.watch.evaluated(which, result)
        return result

    def _round(self, policy: Policy, starts: Starts) -> Policy:
        """Return the policy of the next round. Raises _End if there is none."""
        number = self._number
        found = self._look(policy, starts)
        if not _is_new(found):
            self._check_settled(found)
            careful = self._with_precautions(policy, starts)
            if careful is not None:
                return careful
            self._look_at_verified(policy, starts)
        if number > self.options.iterations:
            raise _End(OPEN, f"stopped after {counted(self.options.iterations, 'repair')}")
        return self._repaired(policy)

    def _look_at_verified(self, policy: Policy, starts: Starts) -> None:
        """Verify, and find faults on the runs that fail. Raises _End if there are none."""
        runs, bounds = self._failing_runs(policy)
        found = self._look_at(policy, runs, starts, bounds)
        if not _is_new(found):
            self._check_settled(found)
            raise _End(OPEN, "a fault that was repaired is there again")

    def _look(self, policy: Policy, starts: Starts) -> Line:
        def work(stage: Stage) -> Made:
            runs = stages.fuzzed(policy, starts.debugging, stage)
            deeper = stages.deeper(policy, starts.debugging, stage) if runs.failing else []
            numbers = self.watch.stage("looking for faults", self._number)
            return self._analysis(policy, replace(stage, numbers=numbers)).of_runs(runs, deeper)

        line = self._stage("faults", "fuzzing", work, iteration=self._number, **{"from": "fuzz"})
        if line["runs"] == len(starts.debugging):
            self._unsafe_runs[self._number - 1] = line["unsafe_runs"]
        self._keep_faults(line)
        return line

    def _look_at(
        self, policy: Policy, runs: list[Run], starts: Starts, bounds: Bounds | None
    ) -> Line:
        """Look at the runs of verification. Where there are more start states than those to debug
        on, others are tried, too: verification takes long. So are those within ``bounds``, which
        verification knows to fail.
        """

        def work(stage: Stage) -> Made:
            task, seed = policy.task, self.options.seed + self._number
            more = more_starts(task, self.options, starts, seed=seed)
            if bounds is not None:
                failing = starts_within(task, bounds, FAILING_STARTS, seed=seed)
                more = tuple(dict.fromkeys((*starts.not_evaluated(failing), *more)))
            others = stages.fuzzed(policy, more, stage) if more else None
            return self._analysis(policy, stage).of_verified(runs, others)

        line = self._stage(
            "faults",
            "looking for faults",
            work,
            iteration=self._number,
            **{"from": "verify"},
        )
        self._keep_faults(line)
        return line

    def _with_precautions(self, policy: Policy, starts: Starts) -> Policy | None:
        """Return a policy that is easier to verify; None if verification comes next. Where a run
        fails, what is found besides is repaired with what that run shows.
        """
        is_over = len(self._careful) >= self.options.precautions or self._gave_up
        is_over |= self._number > self.options.iterations
        if is_over or not are_possible(policy, starts, self.options):
            return None
        line = self._stage(
            "faults",
            "looking where boxes get stuck",
            lambda stage: precautions(self._analysis(policy, stage)),
            iteration=self._number,
            **{"from": "boxes"},
        )
        self._keep_faults(line)
        if not _is_new(line):
            return None
        self._careful.add(self._number)
        if line.get("verdict") == "unsafe":
            return None
        known = self.store.next()
        try:
            if known is not None and known["kind"] != "repair":
                raise _End(OPEN, "repair was not possible")
            return self._repaired(policy)
        except _End:  # it works without them, too
            self._gave_up = True
            return None

    def _analysis(self, policy: Policy, stage: Stage) -> Analysis:
        """Return who looks at runs. What is suspected in this round is not repaired yet."""
        repaired = [one for one in self._suspects if one.iteration != self._number]
        seen = frozenset(fault.key for fault in (*self._faults, *repaired))
        return Analysis(policy, self._number, seen, stage)

    def _keep_faults(self, line: Line) -> None:
        """Take the faults and suspects of a line over, as they stand in its files."""
        task, number = self.original.task, line["iteration"]
        if line["suspects"] is not None:
            self._suspects += read_known(self.store.path(line["suspects"]), task, number, ())
        if line["faults"] is None:
            return
        new = read_known(self.store.path(line["faults"]), task, number, line["findings"])
        self._faults += new
        self.watch.found(line["iteration"], [fault.to_dict() for fault in new])

    def _check_settled(self, found: Line) -> None:
        """Raise _End if runs fail for another reason than a fault, or nobody knows why."""
        if found["unavoidable"]:
            raise _End(STOPPED, "a failing run begins in a state from where no policy is safe")
        if found["undecided"]:
            runs, why = counted(found["undecided"], "failing run"), found["why_undecided"]
            raise _End(OPEN, f"nobody knows which decision is the fault on {runs} ({why})")
        if found["is_cut"]:
            raise _End(OPEN, "ran out of seconds or memory before all runs were looked at")
        if found["from"] == "fuzz" and found["unsafe_runs"]:
            raise _End(OPEN, "a fault that was repaired is there again")

    def _failing_runs(self, policy: Policy) -> tuple[list[Run], Bounds | None]:
        """Return the runs that verification finds, and the bounds of start states that fail, if it
        knows some. Raises _End if it finds none.
        """
        if self.options.verify == "none":
            raise _End(OPEN, "no failing run was found; not verified, as asked for")
        line = self._stage(
            "verify",
            "verifying",
            lambda stage: stages.verified(policy, self._number, stage),
            iteration=self._number,
        )
        result = line["result"]
        if result["verdict"] == "safe":
            raise _End(SAFE, f"no run fails from {_starts_text(result)}")
        if result["verdict"] == "unknown":
            raise _End(OPEN, f"no failing run was found; not verified: {result['reason']}")
        raw = [result.get("run"), *result.get("others", [])]
        runs = [replace(run_from(one, policy.task), run=n) for n, one in enumerate(raw)]
        return runs, failing_starts_of(line, policy.task.names)

    def _repaired(self, policy: Policy) -> Policy:
        """Return the policy in which all faults are repaired. It comes from the one of the round
        before, not from the original: what that one does well stays as it is.
        """
        number = self._number

        def work(stage: Stage) -> Made:
            keep = self._kept_decisions(policy)
            try:
                return stages.repaired(policy, self._guilty(), keep, number, stage)
            except _HOPELESS as error:
                faults = self._guilty(with_precautions=False)
                if self._gave_up or not self._careful or not faults:
                    raise _given_up(error) from None
            try:
                content, files = stages.repaired(policy, faults, keep, number, stage)
            except _HOPELESS as error:
                raise _given_up(error) from None
            return {**content, "without_precautions": True}, files

        line = self._stage("repair", "repairing", work, iteration=number)
        self._gave_up |= "without_precautions" in line
        self._policies[number] = line["policy"]
        repaired = self.store.policy(line["policy"])
        self._tell_round()
        return repaired

    def _guilty(self, *, with_precautions: bool = True) -> list[KnownFault]:
        """Return all decisions that are to be changed. Of suspects in the same state the last one
        counts: what is safe after them was found for the policy of its round.
        """
        proved = {fault.state for fault in self._faults}
        left_out = self._careful if self._gave_up or not with_precautions else set()
        suspects = [one for one in self._suspects if one.iteration not in left_out]
        last = {one.state: one for one in suspects if one.state not in proved}
        return [*self._faults, *last.values()]

    def _kept_decisions(self, policy: Policy) -> list[Any]:
        """Return decisions to keep: those on goal runs of the original policy, drawn once, and
        those on goal runs of the policy that is repaired.
        """
        from surefoot.repair import draw_keep_states

        how = self.options
        if self._keep is None:
            self._keep = list(draw_keep_states(self.original, how.keep, seed=how.seed))
        if policy is self.original or not how.keep:
            return self._keep
        return [*self._keep, *draw_keep_states(policy, how.keep, seed=how.seed)]

    # -- the end -------------------------------------------------------------------------------

    def _ended(self, end: _End) -> Line:
        best = self._number - 1 if end.kind == SAFE else self._best()
        content = {"end": end.kind, "reason": end.reason, "best": best, "seconds": {}}
        line = self._stage("end", "ending", lambda stage: (content, []))
        if line["best"] != ORIGINAL and line["best"] not in self._policies:
            raise InputError("campaign-damaged", "the best policy is none of the rounds'")
        return line

    def _best(self) -> int:
        """Return the policy with the fewest failing runs: the latest of them."""
        if not self._unsafe_runs:
            return ORIGINAL
        return min(self._unsafe_runs, key=lambda number: (self._unsafe_runs[number], -number))

    def _tell_round(self) -> None:
        rounds = iterations_of(self._lines)
        if rounds:
            self.watch.iterated(rounds[-1])

    def _open_outcome(self, best: int, before: EvaluateResult, after: EvaluateResult) -> str:
        """Return whether something got better, where nothing was proved."""
        is_clean = self._unsafe_runs.get(best) == 0 and after.unsafe == before.unsafe
        is_better = after.unsafe < before.unsafe or is_clean
        return "improved" if best != ORIGINAL and is_better else "unknown"


def _starts_text(result: Line) -> str:
    if result.get("boxes") and not result["states"]:
        return f"any start state, as {counted(result['boxes'], 'box')} of {result['method']} show"
    starts, reached = result["starts"], counted(result["states"], "state")
    which = f"any of the {starts:,} start states" if starts != 1 else "the one start state"
    return f"{which}; the policy reaches {reached}"


_HOPELESS = (OutOfBudget, InputError)


def _given_up(error: OutOfBudget | InputError) -> Exception:
    """Return how the loop ends when this comes of a repair: other mistakes are not hidden."""
    if isinstance(error, InputError) and error.code != "contradictory-faults":
        return error
    return _End(OPEN, f"repair: {error.message}")


def _is_new(found: Line) -> bool:
    return bool(found["new_faults"] or found["new_suspects"])
