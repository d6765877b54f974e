"""The loop: ask what comes next, take it from the store or do it, until nothing comes next."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from surefoot.errors import InputError
from surefoot.loop.deciding import (
    Begin,
    End,
    Evaluate,
    Repair,
    Step,
    is_better,
    is_due,
    next_step,
    tag_of,
)
from surefoot.loop.lines import iterations_of
from surefoot.loop.made import Failed, Made
from surefoot.loop.performing import (
    LEAST_SECONDS,
    REDRAW_SECONDS,
    drawn_keep,
    drawn_starts,
    name_of,
    work_of,
)
from surefoot.loop.stages import Stage
from surefoot.loop.starts import Starts
from surefoot.loop.state import ORIGINAL, State
from surefoot.loop.store import Store
from surefoot.loop.watching import Watch
from surefoot.options import DebugOptions
from surefoot.policies import Policy
from surefoot.records import EvaluateResult, Fault, Iteration
from surefoot.records.lines import (
    AfterLine,
    BeforeLine,
    BeginLine,
    EndLine,
    FaultsLine,
    Line,
    RepairLine,
    kind_of,
)
from surefoot.tasks.state import State as TaskState

Outcome = Literal["safe", "improved", "stopped", "unknown"]
ALWAYS = (Begin, Evaluate, End)  # steps that also an ended loop has
RESERVE = 1.1  # times the seconds of the first evaluation: the last one may take longer
EVALUATE_SHARE = 0.2  # of all time, for the first evaluation


@dataclass(frozen=True)
class Ended:
    """How the loop ended: its outcome and why, and which policy is the final one.

    ``number`` is that of the round that made it; 0 is the policy as it was. ``file`` is where it is
    in the store, None for the policy as it was.
    """

    outcome: Outcome
    reason: str
    policy: Policy
    number: int
    file: str | None
    starts: Starts
    before: EvaluateResult
    after: EvaluateResult
    iterations: tuple[Iteration, ...]
    faults: tuple[Fault, ...]


@dataclass
class Loop:
    """Fuzz, find faults, repair, again, and verify: until nothing new is found.

    What comes next depends on the lines of the store alone. So it does not matter how often the
    loop was interrupted.
    """

    original: Policy
    options: DebugOptions
    store: Store
    watch: Watch = field(default_factory=Watch)
    max_seconds: float | None = None
    """how many seconds of the store there are; if not given, as many as the options say"""
    _told: int = 0
    """the last round that was told to who watches"""

    def run(self) -> Ended:
        """Return how the loop ends."""
        state = State((self.original,))
        while (step := next_step(state, self.options)) is not None:
            made: Made | Failed
            if (known := self.store.next()) is not None:
                made = self._from_before(known, step, state)
            else:
                step, stage = self._prepared(step, state)
                made = work_of(step, state, stage)()
                if isinstance(made, Made):
                    made = self.store.record(made)
            state = state.after(made)
            self._tell(state, made)
        return ended(state)

    # -- a step --------------------------------------------------------------------------------

    def _from_before(self, known: Line, step: Step, state: State) -> Made | Failed:
        """Return what was made before. Raises InputError if it is not what comes next."""
        ends_early = isinstance(known, EndLine) and not isinstance(step, ALWAYS)
        if not ends_early and not is_due(known, step, state):
            if isinstance(step, Repair) and step.is_precaution:
                return Failed("it was not possible before")  # there is no line about that
            message = f"the journal has {kind_of(known)} where {tag_of(step)} is due"
            raise InputError("campaign-damaged", message, place=str(known.n))
        made = self.store.take()
        if isinstance(made.line, BeginLine):
            return replace(made, starts=self._starts(made.line, state))
        return made

    def _prepared(self, step: Step, state: State) -> tuple[Step, Stage]:
        """Return the step, or the end if there is no time for it, and what it is given."""
        most = self.options.max_seconds if self.max_seconds is None else self.max_seconds
        left = most - self.store.seconds
        reserved = RESERVE * sum(line.seconds.get("evaluate", 0.0) for line in state.lines)
        if not isinstance(step, ALWAYS) and left <= reserved:  # one more evaluation is to come
            step = End("open", "ran out of seconds", lacks_time=True)
        if step == Evaluate("before"):
            left *= EVALUATE_SHARE
        left = max(left, LEAST_SECONDS) if isinstance(step, ALWAYS) else left - reserved
        stage = Stage(
            self.options,
            time.monotonic() + left,
            self.watch,
            state.round,
            certificate=self.store.certificate,
            original_keep=lambda: self._keep,
        )
        return step, stage.named(name_of(step))

    def _tell(self, state: State, made: Made | Failed) -> None:
        """Tell who watches of a stage. Raises InputError if the end names a policy of no round."""
        if isinstance(made, Failed):
            return
        match made.line:
            case BeforeLine() as line:
                self.watch.evaluated("before", line.result)
            case AfterLine() as line:
                self.watch.evaluated("after", line.result)
            case FaultsLine() as line if made.faults:
                self.watch.found(line.iteration, made.faults)
            case EndLine() as line if not ORIGINAL <= line.best < len(state.policies):
                raise InputError("campaign-damaged", "the best policy is from none of the rounds")
            case RepairLine() | EndLine():
                self._tell_round(state)

    def _tell_round(self, state: State) -> None:
        """Tell of the last round, once: a round with a repair is complete before the loop ends."""
        for iteration in iterations_of(state.lines)[-1:]:
            if iteration.iteration > self._told:
                self._told = iteration.iteration
                self.watch.iterated(iteration)

    def _starts(self, line: BeginLine, state: State) -> Starts:
        """Return the start states of a line. Raises InputError if they are others now."""
        until = time.monotonic() + REDRAW_SECONDS
        stage = Stage(self.options, until, self.watch, state.round)
        starts = drawn_starts(state, stage, are_all=line.starts.are_all)
        if starts.part() != line.starts:
            raise InputError("campaign-other-task", "the start states differ from before")
        return starts

    @cached_property
    def _keep(self) -> Sequence[tuple[TaskState, str]]:
        """Decisions of the original policy to keep."""
        return drawn_keep(self.original, self.options)


# -- the end -----------------------------------------------------------------------------------


def ended(state: State) -> Ended:
    """Return how a loop ended that has nothing more to do."""
    by_kind = {type(line): line for line in state.lines}
    end, before, after = by_kind[EndLine], by_kind[BeforeLine], by_kind[AfterLine]
    assert isinstance(end, EndLine) and state.starts is not None
    assert isinstance(before, BeforeLine) and isinstance(after, AfterLine)
    repair = state.repairs.get(end.best)
    return Ended(
        outcome=_outcome(state, end, before.result, after.result),
        reason=end.reason,
        policy=state.policies[end.best],
        number=end.best,
        file=None if repair is None else repair.policy,
        starts=state.starts,
        before=before.result,
        after=after.result,
        iterations=tuple(iterations_of(state.lines)),
        faults=state.faults,
    )


def _outcome(state: State, end: EndLine, before: EvaluateResult, after: EvaluateResult) -> Outcome:
    """Return the outcome; where nothing was proved, whether something got better."""
    if end.end != "open":
        return end.end
    is_clean = state.unsafe_runs.get(end.best) == 0 and after.unsafe == before.unsafe
    return (
        "improved" if end.best != ORIGINAL and (is_clean or is_better(after, before)) else "unknown"
    )
