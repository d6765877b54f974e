"""Compare: what changed from one policy to others.

What it does: evaluates each policy and fuzzes it from the same start states, finds the faults on
the failing runs, and asks both policies for their decisions in states that either visits.

What it guarantees: a fault that is called new is one, and the first policy decides otherwise in its
state, whether its own runs came there or not; one that is called mended is a fault of the first,
and the other decides otherwise there. Faults are those that were seen: sampling may miss some.

Cost: an evaluation, fuzzing and a fault analysis for each policy.

When to use it: before a policy takes the place of another.

Paper: none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from surefoot.errors import InputError
from surefoot.evaluate import evaluate
from surefoot.faults import find_faults
from surefoot.fuzz import fuzz_packed
from surefoot.fuzz.bias import check_bias
from surefoot.options import CompareOptions, FuzzOptions, chosen
from surefoot.options.keywords import CompareChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import possible_decision
from surefoot.records import EvaluateResult, Fault, FaultsResult, Run
from surefoot.records.comparing import (
    SHOWN_DIFFERENCES,
    ComparedFault,
    ComparedPolicy,
    CompareResult,
    DecisionDifference,
    PolicyChange,
    sampled_interval,
    unsafe_interval,
)
from surefoot.records.runs import shortest_first
from surefoot.simulate import packed_runs
from surefoot.tasks import require_task
from surefoot.tasks.state import State
from surefoot.tasks.task import Task, split_states

EVALUATION_SHARE = 0.4  # of the seconds of a policy
FUZZING_SHARE = 0.5  # of what is left of them then
SHORTEST = 1.0  # seconds for drawing start states, without which there is nothing to tell
LEAST_SECONDS = 0.2  # for an evaluation, which also draws some
ASKED_AT_ONCE = 64
NO_DECISION = "nothing"
VISITING_SHARE = 0.1  # of all seconds


def compare(
    task: Task,
    old: object,
    new: object,
    *more: object,
    options: CompareOptions | None = None,
    **changes: Unpack[CompareChanges],
) -> CompareResult:
    """Return what changed from the policy ``old`` to ``new``, and to each of ``more``.

    Options are those of :class:`CompareOptions`, also as keywords. Same seed, same result, unless
    seconds run out: then ``stopped`` says so.
    """
    loaded = require_task(task)
    settings = chosen(CompareOptions, options, changes)
    check_bias("bias", settings.bias)
    policies = [as_policy(each, loaded, seed=settings.seed) for each in (old, new, *more)]
    return _Comparing(loaded, policies, settings).result()


@dataclass(frozen=True)
class _Known:
    """What is known of a policy: its faults by state and action, and the states that it visits."""

    policy: Policy
    evaluation: EvaluateResult
    failing: tuple[Run, ...]
    analysis: FaultsResult
    visits: tuple[State, ...]
    stopped: str | None

    @property
    def faults(self) -> dict[tuple[State, str], Fault]:
        """The faults, those on the shortest runs first."""
        ordered = sorted(self.analysis.faults, key=lambda fault: (fault.steps, fault.step))
        return {fault.key: fault for fault in ordered}

    def summary(self) -> ComparedPolicy:
        """Return what is known of the policy alone."""
        evaluation, analysis = self.evaluation, self.analysis
        stopped = None if evaluation.stopped == "states" else evaluation.stopped  # a planned end
        return ComparedPolicy(
            name=self.policy.name,
            sha256=self.policy.sha256,
            evaluation=evaluation,
            unsafe=unsafe_interval(evaluation),
            goal=sampled_interval(evaluation.goal, evaluation.runs),
            failing=len(self.failing),
            faults=len(analysis.faults),
            unknown=len(analysis.unknown),
            stopped=stopped or self.stopped or analysis.stopped,
        )


class _Comparing:
    def __init__(self, task: Task, policies: Sequence[Policy], options: CompareOptions) -> None:
        self.task = task
        self.policies = policies
        self.options = options
        self.begin = time.perf_counter()
        drawn = task.draw_starts(
            options.runs, seed=options.seed, max_seconds=max(options.max_seconds, SHORTEST)
        )
        self.starts = split_states(drawn, task.core.words)

    @property
    def seconds_left(self) -> float:
        return max(self.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def result(self) -> CompareResult:
        """Return everything, one policy after the other."""
        reserve = VISITING_SHARE * self.options.max_seconds
        known = []
        for number, policy in enumerate(self.policies):
            left = max(self.seconds_left - reserve, 0.0)
            known.append(self._known(policy, left / (len(self.policies) - number)))
        first, *others = known
        changes = tuple(
            self._change(first, other, number) for number, other in enumerate(others, 1)
        )
        is_cut = any(each.stopped for each in known) or not self.seconds_left
        return CompareResult(
            policies=tuple(each.summary() for each in known),
            changes=changes,
            seconds=time.perf_counter() - self.begin,
            stopped="seconds" if is_cut else None,
        )

    # -- one policy ----------------------------------------------------------------------------

    def _known(self, policy: Policy, seconds: float) -> _Known:
        """Return what is found out about a policy in so many seconds."""
        options, until = self.options, time.perf_counter() + seconds
        evaluation = evaluate(
            self.task,
            policy,
            starts=options.starts,
            max_states=options.max_states,
            max_steps=options.max_steps,
            workers=options.workers,
            seed=options.seed,
            max_seconds=max(EVALUATION_SHARE * seconds, LEAST_SECONDS),
            memory_mb=options.memory_mb,
        )
        left = FUZZING_SHARE * max(until - time.perf_counter(), 0.0)
        failing, stopped = self._failing(policy, left)
        analysis = find_faults(
            self.task,
            policy,
            shortest_first(failing),
            state_seconds=options.state_seconds,
            seed=options.seed,
            max_seconds=max(until - time.perf_counter(), 0.0),
            memory_mb=options.memory_mb,
        )
        visits, is_cut = self._visits(policy, failing)
        stopped = stopped or ("seconds" if is_cut else None)
        return _Known(policy, evaluation, failing, analysis, visits, stopped)

    def _failing(self, policy: Policy, seconds: float) -> tuple[tuple[Run, ...], str | None]:
        """Return failing runs of the policy, and what ran out."""
        options = self.options
        settings = FuzzOptions(
            bias=options.bias,
            max_steps=options.max_steps,
            workers=options.workers,
            seed=options.seed,
            max_seconds=seconds,
            memory_mb=options.memory_mb,
        )
        result = fuzz_packed(policy, b"".join(self.starts), settings)
        runs = enumerate(result.failing)
        numbered = tuple(replace(run, run=number, same=()) for number, run in runs)
        return numbered, result.stopped

    def _visits(self, policy: Policy, failing: Iterable[Run]) -> tuple[tuple[State, ...], bool]:
        """Return states with a decision on runs of the policy, those that fail first, and whether
        time ran out.
        """
        options, task = self.options, self.task
        silent = task.silent
        seen: dict[bytes, None] = {}
        for run in failing:
            decided = zip(run.states, run.actions, strict=False)
            seen.update((s.packed, None) for s, action in decided if action not in silent)
        most = len(seen) + options.visits
        runs = packed_runs(policy, self.starts, seed=options.seed, max_steps=options.max_steps)
        is_cut = False
        for states, actions, _ in runs:
            pairs = zip(split_states(states, task.core.words), actions, strict=False)
            seen.update((s, None) for s, number in pairs if task.actions[number] not in silent)
            is_cut = not self.seconds_left
            if len(seen) >= most or is_cut:
                break
        return tuple(task.unpack_all(b"".join(list(seen)[:most]))), is_cut

    # -- two policies --------------------------------------------------------------------------

    def _change(self, first: _Known, other: _Known, number: int) -> PolicyChange:
        """Return what changed from the first policy to another."""
        new, still = _told_apart(other.faults, first.faults, first.policy)
        mended, kept = _told_apart(first.faults, other.faults, other.policy)
        common = {fault.key: fault for fault in (*kept, *still)}
        states = list(dict.fromkeys((*first.visits, *other.visits)))
        compared, differing = self._differences(first.policy, other.policy, states)
        scored = [
            _with_margins(each, first.policy, other.policy) if self.seconds_left else each
            for each in differing
        ]
        scored.sort(key=_margin, reverse=True)
        return PolicyChange(
            number=number,
            name=other.policy.name,
            new=new,
            mended=mended,
            common=tuple(common.values()),
            states=compared,
            differing=len(differing),
            examples=tuple(scored[:SHOWN_DIFFERENCES]),
        )

    def _differences(
        self, first: Policy, other: Policy, states: Sequence[State]
    ) -> tuple[int, list[DecisionDifference]]:
        """Return in how many of the states there was time to ask both, and where they differ, in
        the order of the states.
        """
        differing: list[DecisionDifference] = []
        for begin in range(0, len(states), ASKED_AT_ONCE):
            if not self.seconds_left:
                return begin, differing
            some = states[begin : begin + ASKED_AT_ONCE]
            pairs = zip(some, _decisions(first, some), _decisions(other, some), strict=True)
            differing += [
                DecisionDifference(state, before or NO_DECISION, after or NO_DECISION)
                for state, before, after in pairs
                if before != after
            ]
        return len(states), differing


Told = tuple[tuple[ComparedFault, ...], list[Fault]]
Faults = dict[tuple[State, str], Fault]


def _told_apart(faults: Faults, others: Faults, policy: Policy) -> Told:
    """Return the faults where a policy, which has the others, decides otherwise; and those where it
    does not.
    """
    apart, alike = [], []
    for key, fault in faults.items():
        decision = fault.action if key in others else possible_decision(policy, fault.state)
        if decision == fault.action:
            alike.append(fault)
        else:
            apart.append(ComparedFault(fault, decision))
    return tuple(apart), alike


def _decisions(policy: Policy, states: Sequence[State]) -> list[str | None]:
    try:
        return list(policy.decide_all(states))
    except InputError:
        return [possible_decision(policy, state) for state in states]


def _with_margins(
    difference: DecisionDifference, first: Policy, other: Policy
) -> DecisionDifference:
    state, before, after = difference.state, difference.before, difference.after
    return replace(
        difference,
        margin_before=_score_gap(first, state, before, after),
        margin_after=_score_gap(other, state, after, before),
    )


def _score_gap(policy: Policy, state: State, own: str, others: str) -> float | None:
    """Return by how much a policy scores its own action above another; None if nothing tells."""
    try:
        scores = policy.scores(state)
    except InputError:
        return None
    if own not in scores or others not in scores:
        return None
    gap = scores[own] - scores[others]
    return gap if math.isfinite(gap) else None


def _margin(difference: DecisionDifference) -> float:
    margin = difference.margin_after
    return -math.inf if margin is None else margin
