"""Evaluate: from which start states may the policy fail, and how often does it reach the goal?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, Unpack

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Refusal
from surefoot.fuzz import fuzz_packed
from surefoot.objectives import SAFETY, Objective, handled_objective, run_values
from surefoot.options import MAX_INT, EvaluateOptions, FuzzOptions, chosen
from surefoot.options.keywords import EvaluateChanges
from surefoot.policies import Policy, as_policy
from surefoot.policies.decisions import ask_core
from surefoot.records import EvaluateResult, FuzzResult
from surefoot.records.runs import ValuedEvaluation
from surefoot.records.values import RunValues
from surefoot.simulate import simulate
from surefoot.tasks import require_task
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.task import Task, split_states

CANNOT = _core.CanFail.no.value
CAN = _core.CanFail.yes.value
UNKNOWN = _core.CanFail.unknown.value
LIST_SECONDS = 10.0  # to see whether all start states are few enough
ProgressCallback = Callable[[int, int, int, int, float], object]


def evaluate(
    task: Task,
    policy: Any,
    states: Iterable[Mapping[str, Any]] | None = None,
    *,
    objective: str | Objective = "safety",
    options: EvaluateOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[EvaluateChanges],
) -> EvaluateResult:
    """Return from which fraction of start states the policy may fail, and which fraction of runs
    reaches the goal.

    What the policy can reach is enumerated once for all start states together. Where that exceeds
    ``max_states``, or half of the time or memory, the start states that are left are tried with
    ``sample_runs`` runs each. ``states`` are evaluated in place of start states. Under another
    ``objective``, a name or an object, ``values`` of the result are what a run from each start
    state is worth. Options are those of :class:`EvaluateOptions`, also as keywords.
    """
    task = require_task(task)
    settings = chosen(EvaluateOptions, options, changes)
    bound_policy = as_policy(policy, task, seed=settings.seed)
    asked = handled_objective(objective, task, bound_policy, can_handle=can_handle)
    given = None if states is None else list(map(task.packed, states))
    if given is not None and not given:
        raise InputError("no-states", "there are no states to evaluate on")
    evaluation = _Evaluation(task, bound_policy, settings, progress, given)
    result = evaluation.run()
    if asked.name == SAFETY.name:
        return result
    return ValuedEvaluation(**vars(result), run_values=evaluation.values(asked))


class _Limits(TypedDict):
    max_seconds: float
    max_bytes: int
    max_states: int


class _Budget(_Limits):
    progress: ProgressCallback | None


def may_fail(policy: Policy, states: Sequence[bytes], **budget: Unpack[_Limits]) -> list[int]:
    """Return for packed states whether runs of the policy from there may fail: CAN, CANNOT, or
    UNKNOWN where the budget ended before (``max_seconds``, ``max_bytes`` and ``max_states``).
    """
    return list(_can_fail(policy, states, progress=None, **budget).answers) if states else []


def _can_fail(
    policy: Policy, states: Sequence[bytes], **options: Unpack[_Budget]
) -> _core.CanFailResult:
    task = policy.task
    packed = b"".join(states)
    result: _core.CanFailResult = ask_core(
        task, _core.can_fail, task.core, policy.core, packed, **options
    )
    return result


class _Evaluation:
    def __init__(
        self,
        task: Task,
        policy: Policy,
        options: EvaluateOptions,
        progress: ProgressCallback | None,
        given: list[bytes] | None = None,
    ) -> None:
        self.given = given
        self.task = task
        self.policy = policy
        self.options = options
        self.progress = progress
        self.begin = time.perf_counter()
        self.starts: list[bytes] = []

    @property
    def seconds_left(self) -> float:
        return max(self.options.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def run(self) -> EvaluateResult:
        """Return the result."""
        starts, are_all = self._starts()
        self.starts = starts
        reached = _can_fail(
            self.policy,
            starts,
            max_seconds=self.seconds_left / 2,
            max_bytes=self.options.max_bytes,
            max_states=self.options.max_states,
            progress=self.progress,
        )
        answers = list(reached.answers)
        exhaustive = sum(answer != UNKNOWN for answer in answers)
        runs = self._runs(starts, seed=self.options.seed)
        self._mark_failing(runs, answers, list(range(len(starts))))
        self._try_unknown(starts, answers)
        unsafe = answers.count(CAN)
        done = sum(runs.counts.values())
        goal = runs.counts.get("goal", 0)
        return EvaluateResult(
            unsafe_fraction=unsafe / len(starts),
            goal_fraction=goal / done if done else 0.0,
            starts=len(starts),
            exhaustive=exhaustive,
            unsafe=unsafe,
            all_starts=are_all,
            sampled=self.task.is_sampled,
            runs=done,
            goal=goal,
            fail=runs.counts.get("fail", 0),
            states=reached.states,
            seconds=time.perf_counter() - self.begin,
            stopped=reached.stopped or runs.stopped,
            ends=dict(runs.counts),
        )

    def values(self, objective: Objective) -> RunValues:
        """Return what a run from each of the start states is worth, with outcomes at random."""
        runs = simulate(
            self.task,
            [self.task.unpack(start) for start in self.starts],
            policy=self.policy,
            max_steps=self.options.max_steps,
            seed=self.options.seed,
            max_seconds=self.seconds_left,
            memory_mb=self.options.memory_mb,
        )
        return run_values(objective, runs.runs, self.task)

    def _starts(self) -> tuple[list[bytes], bool]:
        """Return packed start states, and whether these are all there are."""
        if self.given is not None:
            return self.given, False
        everything = self._all_starts()
        if everything is not None:
            return everything, True
        drawn = self.task.draw_starts(
            self.options.starts, seed=self.options.seed, max_seconds=self.seconds_left
        )
        return split_states(drawn, self.task.core.words), False

    def _all_starts(self) -> list[bytes] | None:
        if not has_description(self.task):
            listed = list(dict.fromkeys(split_states(self.task.start_source() or b"", 1)))
            return listed if 0 < len(listed) <= self.options.starts else None
        if self.task.has_start_condition and not self.task.core.has_finite_starts():
            return None
        try:
            starts = self.task.list_starts(
                max_states=self.options.starts, max_seconds=min(LIST_SECONDS, self.seconds_left)
            )
        except OutOfBudget:
            return None
        return [state.packed for state in starts] or None

    def _runs(self, starts: list[bytes], *, seed: int) -> FuzzResult:
        """Return a run from each of these states, with outcomes drawn uniformly."""
        options = FuzzOptions(
            bias="uniform",
            lookahead=1,
            max_steps=self.options.max_steps,
            workers=self.options.workers,
            seed=seed,
            max_seconds=self.seconds_left,
            memory_mb=self.options.memory_mb,
        )
        return fuzz_packed(
            self.policy, b"".join(starts), options, progress=self.progress, to_the_end=True
        )

    def _try_unknown(self, starts: list[bytes], answers: list[int]) -> None:
        """Look for failing runs from the start states that were not decided."""
        for number in range(1, self.options.sample_runs):
            left = [i for i, answer in enumerate(answers) if answer == UNKNOWN]
            if not left or not self.seconds_left:
                return
            runs = self._runs(
                [starts[i] for i in left], seed=(self.options.seed + number) % (MAX_INT + 1)
            )
            self._mark_failing(runs, answers, left)
            if runs.stopped:
                return

    def _mark_failing(self, runs: FuzzResult, answers: list[int], which: list[int]) -> None:
        for run in runs.failing:
            for number in (run.run, *run.same):
                answers[which[number]] = CAN


def can_handle(task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
    """Return None: what runs are worth can be told under every objective."""
    return None
