"""What runs a policy: single runs, and what fuzzing and evaluating say about many."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from surefoot.errors import printable
from surefoot.records.common import Result, restriction
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.records.values import RunValues
    from surefoot.tasks.state import State


class RunEnd(StrEnum):
    """How a run ended; the same words for simulated, fuzzed and learned-from runs, in Python, in
    documents and in Gymnasium environments.
    """

    FAIL = "fail"
    GOAL = "goal"
    DEAD_END = "dead_end"
    """no action is applicable"""
    CYCLE = "cycle"
    """it came to a state for the second time and would go round for ever"""
    INAPPLICABLE = "inapplicable"
    """the policy decided for an action that cannot be taken"""
    CUT = "cut"
    """it was stopped from outside; the reason says why"""

    @property
    def word(self) -> str:
        """The end for people."""
        return _END_WORDS.get(self, self.value)


_END_WORDS = {RunEnd.DEAD_END: "dead end", RunEnd.INAPPLICABLE: "not applicable"}
NOTHING_FAILS = "nothing-reachable-fails"
"""why a run was cut: all that the policy can reach from its start was seen, and none fails"""
SHOWN_RUNS = 3  # failing runs of a FuzzResult as text


@dataclass(frozen=True)
class Change:
    """One change on the way to a perturbed start: a value that was set, or an action taken."""

    state: State
    """after the change"""
    variable: str | None = None
    value: Any = None
    action: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the change as plain data."""
        if self.action is not None:
            return {"action": self.action, "state": self.state.to_dict()}
        return {
            "variable": self.variable,
            "value": self.value,
            "state": self.state.to_dict(),
        }

    def __str__(self) -> str:
        if self.action is not None:
            return f"action {printable(self.action)}"
        return f"{printable(str(self.variable))} = {self.value}"


@dataclass(frozen=True)
class Made:
    """How a perturbed start was made: from a state that the policy reaches, by changes.

    Whether the policy can reach the result is not known; after changes of values not even whether
    anybody can.
    """

    reached: State
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "reached": self.reached.to_dict(),
            "changes": [change.to_dict() for change in self.changes],
        }

    def __str__(self) -> str:
        changes = ", ".join(map(str, self.changes)) or "no change"
        return f"made of {self.reached} by {changes}"


@dataclass(frozen=True)
class Strategy:
    """How a run was led to where it may fail: a bias and its lookahead; None for the default one.

    The run has the same number, states and actions if it alone is given.
    """

    bias: str
    lookahead: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the strategy as plain data."""
        return {"bias": self.bias, "lookahead": self.lookahead}

    def __str__(self) -> str:
        """Return the options that choose it."""
        ahead = "" if self.lookahead is None else f" --lookahead {self.lookahead}"
        return f"--bias {self.bias}{ahead}"


@dataclass(frozen=True)
class Run(Result):
    """A run: ``states[i]`` is where ``actions[i]`` was taken.

    The last state is where the run ended, and ``result`` says how; ``reason`` says why it was cut.
    A fuzzed run that does not fail has its start alone, and ``num_steps``. ``made`` is how a
    perturbed start was made: such a start is not known to be reachable. ``strategy`` is how fuzzing
    made it, where it mixes several.
    """

    run: int
    states: Sequence[State]
    actions: tuple[str, ...]
    result: RunEnd
    reason: str | None = None
    num_steps: int | None = None
    made: Made | None = None
    same: tuple[int, ...] = ()
    """the numbers of other runs that are equal to this one"""
    strategy: Strategy | None = None

    @property
    def start(self) -> State:
        """The first state."""
        return self.states[0]

    @property
    def steps(self) -> int:
        """How many actions were taken."""
        return len(self.actions) if self.num_steps is None else self.num_steps

    @property
    def is_complete(self) -> bool:
        """Whether all states of the run are there."""
        return self.steps == len(self.actions)

    @property
    def is_failing(self) -> bool:
        """Whether the run ends in fail."""
        return self.result is RunEnd.FAIL

    @property
    def is_undecided(self) -> bool:
        """Whether it might have failed, had it gone on."""
        return self.result is RunEnd.CUT and self.reason != NOTHING_FAILS

    @property
    def is_known_reachable(self) -> bool:
        """Whether the run begins in a start state."""
        return self.made is None

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        content: dict[str, Any] = {
            "run": self.run,
            "start": self.start.to_dict(),
            "result": self.result,
            "steps": self.steps,
        }
        if self.reason is not None:
            content["reason"] = self.reason
        if self.made is not None:
            content |= {"made": self.made.to_dict(), "known_reachable": False}
        if self.strategy is not None:
            content["strategy"] = self.strategy.to_dict()
        if self.same:
            content["same"] = list(self.same)
        if self.is_complete:
            content["states"] = [state.to_dict() for state in self.states]
            content["actions"] = list(self.actions)
        return content

    def __str__(self) -> str:
        because = f" ({self.reason})" if self.reason else ""
        end = f"{self.result.word}{because} after {counted(self.steps, 'step')}"
        lines = [f"run {self.run}: {end}", f"  {self.states[0]}"]
        if self.made is not None:
            lines.insert(1, f"  not known to be reachable: {self.made}")
        for action, state in zip(self.actions, self.states[1:], strict=True):
            lines.append(f"  --{printable(action)}--> {state}")
        return "\n".join(lines)


@dataclass(frozen=True)
class SimulateResult(Result):
    """Runs, and how they ended."""

    runs: tuple[Run, ...]
    seconds: float

    @property
    def summary(self) -> dict[str, int]:
        """How many runs there are and how many ended in which way."""
        counts = {"runs": len(self.runs), **dict.fromkeys(map(str, RunEnd), 0)}
        for run in self.runs:
            counts[run.result] += 1
        return counts

    @property
    def summary_text(self) -> str:
        """The summary in words, without zeros: ``2 runs: 1 fail, 1 goal``."""
        counts = self.summary
        total = counted(counts["runs"], "run")
        ends = [f"{counts[end]:,} {end.word}" for end in RunEnd if counts[end]]
        return f"{total}: {', '.join(ends)}" if ends else total

    def to_dict(self) -> dict[str, Any]:
        """Return the runs and the summary as plain data."""
        return {"runs": [run.to_dict() for run in self.runs], "summary": self.summary}

    def __str__(self) -> str:
        return "\n".join([*map(str, self.runs), self.summary_text])


@dataclass(frozen=True, repr=False)
class FuzzResult(Result):
    """What fuzzing found.

    ``failing`` are the distinct failing runs, in the order of their numbers; ``runs`` are all runs,
    the others with their start only. ``distinct`` says how many failing runs differ,
    ``distinct_runs`` how many of all. ``counts`` says how many ended how, and ``cuts`` for which
    reason how many were cut. ``states`` is
    the number of different states, ``policy_calls`` that of those in which the policy had to
    decide. ``asked`` is how many runs were wanted; ``stopped`` what ran out if there are fewer.
    """

    counts: Mapping[str, int]
    distinct: int
    asked: int
    steps: int
    policy_calls: int
    states: int
    seconds: float
    stopped: str | None = None
    cuts: Mapping[str, int] = field(default_factory=dict)
    distinct_runs: int = 0
    make_runs: Callable[[], tuple[Run, ...]] = field(default=tuple, compare=False, repr=False)
    make_failing: Callable[[], tuple[Run, ...]] = field(default=tuple, compare=False, repr=False)

    @functools.cached_property
    def failing(self) -> tuple[Run, ...]:
        """The distinct failing runs, in the order of their numbers."""
        return self.make_failing()

    @functools.cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs, in the order of their numbers."""
        return self.make_runs()

    @property
    def coinciding_text(self) -> str:
        """How many runs differ, if some coincide: ``1 distinct: fuzzing saw one behaviour``."""
        return coinciding_text(sum(self.counts.values()), self.distinct_runs)

    @property
    def summary(self) -> dict[str, Any]:
        """The counts, and what they cost."""
        return {
            "runs": sum(self.counts.values()),
            **{end.value: self.counts.get(end, 0) for end in RunEnd},
            "nothing_reachable_fails": self.cuts.get(NOTHING_FAILS, 0),
            "distinct": self.distinct,
            "distinct_runs": self.distinct_runs,
            "steps": self.steps,
            "policy_calls": self.policy_calls,
            "states": self.states,
            "seconds": self.seconds,
        }

    @property
    def summary_text(self) -> str:
        """The summary in words, without zeros."""
        parts = list(self._end_texts())
        text = f"{self._runs_text()} {', '.join(parts) or 'none'}"
        if self.distinct:
            text += f"; {self.distinct:,} distinct failing"
        rate = f", {self.steps / self.seconds:,.0f} steps/s" if self.seconds > 0 else ""
        return (
            f"{text}; {counted(self.steps, 'step')}, {counted(self.states, 'state')} "
            f"in {self.seconds:,.3f} s{rate}"
        )

    def _runs_text(self) -> str:
        """Return how many runs there are, with what stands before their ends."""
        runs, coinciding = counted(sum(self.counts.values()), "run"), self.coinciding_text
        if not coinciding:
            return f"{runs}:"
        return f"{runs}, {coinciding}{';' if self.distinct_runs == 1 else ':'}"

    def _end_texts(self) -> Iterator[str]:
        """Yield how many runs ended how; those that were cut because nothing reachable fails are
        told apart from those that might have failed.
        """
        sure = self.cuts.get(NOTHING_FAILS, 0)
        for end in RunEnd:
            count = self.counts.get(end, 0)
            if end is RunEnd.CUT and sure:
                yield f"{sure:,} cut (nothing reachable fails)"
                count -= sure
            if count:
                yield f"{count:,} {end.word}"

    def to_dict(self) -> dict[str, Any]:
        """Return the runs and the summary as plain data.

        Failing runs have states and actions; one that is equal to an earlier run has ``same_as``,
        the number of that, instead.
        """
        full = {run.run: run for run in self.failing}
        same_as = {number: run.run for run in self.failing for number in run.same}
        runs = []
        for run in self.runs:
            content = full.get(run.run, run).to_dict()
            if run.run in same_as:
                del content["states"], content["actions"]
                content["same_as"] = same_as[run.run]
            runs.append(content)
        return {"runs": runs, "summary": self.summary}

    def __str__(self) -> str:
        shortest = sorted(self.failing, key=lambda run: run.steps)[:SHOWN_RUNS]
        more = len(self.failing) - len(shortest)
        lines = [*map(str, shortest), *([f"... and {more:,} more failing runs"] if more else [])]
        return "\n".join([*lines, self.summary_text])

    def __repr__(self) -> str:
        return f"<FuzzResult {self.summary_text}>"


@dataclass(frozen=True)
class EvaluateResult(Result):
    """How good and how safe a policy is.

    Of ``starts`` start states (all there are if ``all_starts``, else a uniform sample) the policy
    may fail from ``unsafe``. ``exhaustive`` of them were decided by enumeration of what the policy
    can reach; for the others some runs were tried: ``unsafe`` counts those where one failed, so
    ``unsafe_fraction`` is then a lower bound. ``goal`` of ``runs`` runs, one from each start state,
    reached the goal; ``ends`` says how many ended how.
    """

    unsafe_fraction: float
    goal_fraction: float
    starts: int
    exhaustive: int
    unsafe: int
    all_starts: bool
    runs: int
    goal: int
    fail: int
    states: int
    seconds: float
    stopped: str | None = None
    ends: Mapping[str, int] = field(default_factory=dict)
    sampled: bool = False
    """whether outcomes are only those that were seen: then nothing is proved about others"""

    @property
    def ends_text(self) -> str:
        """How the runs ended, in words: ``3 goal, 2 dead end``."""
        return ", ".join(f"{n:,} {end.word}" for end in RunEnd if (n := self.ends.get(end, 0)))

    @property
    def values(self) -> RunValues | None:
        """What the runs are worth, if another objective than safety was asked for."""
        return None

    @property
    def is_exact(self) -> bool:
        """Whether every start state was decided by enumeration."""
        return self.exhaustive == self.starts

    def __str__(self) -> str:
        starts = f"{self.starts:,} {'' if self.all_starts else 'sampled '}start states"
        starts = f"all {starts}" if self.all_starts else starts
        bound = "" if self.is_exact else "at least "
        return (
            f"unsafe {bound}{self.unsafe_fraction:.4g} ({self.unsafe:,} of {starts}; "
            f"{self.exhaustive:,} decided by enumeration), "
            f"goal {self.goal_fraction:.4g} ({self.goal:,} of {counted(self.runs, 'run')}) "
            f"in {self.seconds:,.3f} s{restriction(self.sampled)}"
        )


@dataclass(frozen=True)
class ValuedEvaluation(EvaluateResult):
    """An evaluation under another objective than safety: ``values`` are what the runs are worth."""

    run_values: RunValues | None = None

    @property
    def values(self) -> RunValues | None:
        """What the runs are worth under the objective."""
        return self.run_values

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain data, with the values of the runs."""
        content = super().to_dict()
        del content["run_values"]
        return content if self.run_values is None else {**content, **self.run_values.to_dict()}


def coinciding_text(runs: int, distinct: int) -> str:
    """Return how many of so many runs differ, if some coincide."""
    if distinct >= runs:
        return ""
    return f"{distinct:,} distinct{': fuzzing saw one behaviour' if distinct == 1 else ''}"


def shortest_first(runs: Iterable[Run]) -> list[Run]:
    """Return runs in the order to analyse them: then each fault is found on a shortest run."""
    return sorted(runs, key=lambda run: (run.steps, run.run))
