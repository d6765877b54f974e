"""Faults: the guilty decisions on failing runs, with the safe alternatives."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

from surefoot import _core
from surefoot.certificates import Certificate, Claim
from surefoot.errors import InputError, OutOfBudget, Refusal, quoted
from surefoot.objectives import (
    SAFETY,
    Comparison,
    Interval,
    Objective,
    compared,
    handled_objective,
    handles_only,
    worst,
)
from surefoot.options import DecideOptions, FaultOptions, chosen
from surefoot.options.keywords import FaultChanges
from surefoot.oracles import ORACLES, check_options
from surefoot.oracles.deviations import DeviationsOracle
from surefoot.oracles.engine import Engine, ProgressCallback
from surefoot.policies import Policy, as_policy
from surefoot.records import Bug, Fault, FaultsResult, Run, Unknown, Verdict
from surefoot.records.faults import Certificates, Lazy
from surefoot.tasks import require_task
from surefoot.tasks.state import PackedStates, State
from surefoot.tasks.task import Task

MAX_VALUES = 2_000_000  # in the certificates of further alternatives of one fault


def find_faults(
    task: Task,
    policy: object,
    runs: Iterable[Run],
    *,
    objective: str | Objective = "safety",
    options: FaultOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Unpack[FaultChanges],
) -> FaultsResult:
    """Return the faults on failing runs of the policy, the bugs, and what stayed unknown.

    Every decision in a safe state is examined, and all its outcomes (Jain et al. 2025, def. 4 and
    5). One oracle answers for all runs. Options are those of :class:`FaultOptions`, also as
    keywords. Raises InputError for a run that is not one of the policy's or does not fail.
    """
    finder = FaultFinder(task, policy, objective=objective, options=options, **changes)
    for run in _listed(runs):
        finder.add(run, progress=progress)
    return finder.result()


class FaultFinder:
    """Finds faults on one run after the other, and keeps what its oracle learned."""

    def __init__(
        self,
        task: Task,
        policy: object,
        *,
        objective: str | Objective = "safety",
        options: FaultOptions | None = None,
        **changes: Unpack[FaultChanges],
    ) -> None:
        self.task = require_task(task)
        self.options = chosen(FaultOptions, options, changes)
        self.policy: Policy = as_policy(policy, self.task, seed=self.options.seed)
        self.objective = handled_objective(objective, self.task, self.policy, can_handle=can_handle)
        self._comparisons = _comparisons(self.objective)
        self._begin = time.perf_counter()
        self._asks = _questions(self.options)
        self._engine = _engine(self.task, self.policy, self.options)
        self._analyse = self._engine.fault_analysis()
        self._deviations: DeviationsOracle | None = None
        self._runs = 0
        self._faults: dict[tuple[bytes, str], Fault] = {}
        self._bugs: dict[bytes, Bug] = {}
        self._unknown: dict[tuple[bytes, str], Unknown] = {}
        self._unavoidable: list[int] = []
        self._undecided: list[int] = []
        self._stopped: str | None = None

    def add(self, run: Run, *, progress: ProgressCallback | None = None) -> tuple[Fault, ...]:
        """Look at a run and return its faults, in the order of its steps.

        Raises InputError if it is not a failing run of the policy.
        """
        run, packed = self._own(run)
        numbers = self._action_numbers(run, packed)
        seconds = max(self.options.max_seconds - (time.perf_counter() - self._begin), 0.0)
        analysed = self._analyse(
            packed,
            numbers,
            bugs_only=self.options.bugs_only,
            state_seconds=self.options.state_seconds,
            max_seconds=seconds,
            max_bytes=self.options.max_bytes,
            max_states=self.options.max_states,
            skip_errors=run.made is not None,  # the model need not make sense there
            progress=progress,
        )
        self._runs += 1
        self._stopped = self._stopped or analysed.stopped or None
        faults = tuple(self._fault(run, guilty) for guilty in analysed.faults)
        self._note(run, analysed.states, analysed.decisions, has_fault=bool(faults))
        return faults

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The faults on all runs so far."""
        return tuple(self._faults.values())

    @property
    def bugs(self) -> tuple[Bug, ...]:
        """The bugs on all runs so far."""
        return tuple(self._bugs.values())

    @property
    def unavoidable(self) -> tuple[int, ...]:
        """The numbers of the runs so far whose first state is unsafe."""
        return tuple(self._unavoidable)

    def result(self) -> FaultsResult:
        """Return what was found on all runs so far."""
        return FaultsResult(
            faults=tuple(self._faults.values()),
            bugs=tuple(self._bugs.values()),
            unknown=tuple(self._unknown.values()),
            runs=self._runs,
            unavoidable=tuple(self._unavoidable),
            undecided=tuple(self._undecided),
            seconds=time.perf_counter() - self._begin,
            stopped=self._stopped,
            sampled=self.task.is_sampled,
        )

    # -- runs ----------------------------------------------------------------------------------

    def _own(self, run: object) -> tuple[Run, bytes]:
        """Return the run with states of this task, whatever equal task they came from, and these
        packed.
        """
        if not isinstance(run, Run):
            raise _not_failing("faults are looked for on failing runs with all their states")
        ours = [self.task.packed(state) for state in run.states]
        packed = b"".join(ours)
        if ours == [getattr(state, "packed", None) for state in run.states]:
            return run, packed
        states = PackedStates(packed, 8 * self.task.core.words, self.task.unpack)
        return replace(run, states=states), packed

    def _action_numbers(self, run: Run, packed: bytes) -> list[int]:
        """Return the numbers of the run's actions. Raises InputError unless the policy fails so."""
        numbers = _actions_of(self.task, run)
        step = self._engine.ask(_core.broken_step, self.task.core, packed, numbers)
        if step is not None:
            raise _not_failing(
                f"run {run.run} is not a run: {quoted(run.actions[step])} in state "
                f"{run.states[step]} does not lead to {run.states[step + 1]}"
            )
        if not self.task.is_fail(run.states[-1]):
            raise _not_failing(f"run {run.run} does not fail: its last state is {run.states[-1]}")
        self._check_decisions(run)
        return numbers

    def _check_decisions(self, run: Run) -> None:
        decided = [
            (state, action)
            for state, action in zip(run.states, run.actions, strict=False)
            if action not in self.task.silent
        ]
        decisions = self.policy.decide_all([state for state, _ in decided])
        for (state, action), decision in zip(decided, decisions, strict=True):
            if action != decision:
                raise _not_failing(
                    f"run {run.run} takes {quoted(action)} in state {state}, "
                    f"but the policy picks {quoted(decision)}"
                )

    def _fault(self, run: Run, guilty: _core.Fault) -> Fault:
        state, action = run.states[guilty.step], run.actions[guilty.step]
        key = (state.packed, action)
        known = self._faults.get(key)
        if known is not None:
            runs = (*known.runs, *_numbers(run))
            object.__setattr__(known, "runs", tuple(dict.fromkeys(runs)))
            return known
        names = tuple(self.task.actions[number] for number in guilty.alternatives)
        unsafe = self.task.unpack(guilty.outcome)
        fault = Fault(
            state=state,
            action=action,
            outcome=unsafe,
            alternatives=names,
            run=run,
            step=guilty.step,
            runs=_numbers(run),
            radius=self.options.radius,
            has_unknown_alternatives=guilty.has_unknown_alternatives,
            deviations=self._number_of_differences(state),
            make_certificates=Lazy(lambda: self._certificates(state, unsafe, names)),
        )
        self._faults[key] = fault
        return fault

    def _number_of_differences(self, state: State) -> Any:
        if not self.options.deviations:
            return None
        if self._deviations is None:
            self._deviations = DeviationsOracle(self.task, self.policy)
        return self._deviations.find(state.packed, self._asks, None)

    def _note(
        self,
        run: Run,
        states: Sequence[_core.FoundVerdict],
        decisions: Sequence[_core.FoundVerdict],
        *,
        has_fault: bool,
    ) -> None:
        """Keep the bugs and unknowns of a run."""
        is_sure, looks_at_decisions = True, not self.options.bugs_only
        for step, answer in enumerate(states):
            state = run.states[step]
            comparison = self._comparisons[answer.verdict]
            if comparison is Comparison.BUG:
                self._bugs.setdefault(state.packed, self._bug(run, step))
            what = None
            if comparison is Comparison.UNKNOWN:
                what = "state"
            elif comparison is Comparison.BUG and step < len(decisions) and looks_at_decisions:
                answer = decisions[step]
                is_forced = run.actions[step] in self.task.silent
                what = "decision" if answer.verdict == "unknown" and not is_forced else None
            if what is not None:
                is_sure = False
                unknown = Unknown(state, what, answer.stopped, run.run, step)
                self._unknown.setdefault((state.packed, what), unknown)
        if self._comparisons[states[0].verdict] is Comparison.NOT_A_BUG:
            self._unavoidable.extend(_numbers(run))
        if not is_sure and not has_fault:
            self._undecided.extend(_numbers(run))

    # -- certificates --------------------------------------------------------------------------

    def unsafe_certificate(self, state: State) -> Certificate:
        """Return the certificate of a state that was found to be unsafe. Raises OutOfBudget."""
        claim = Claim("unsafe", self.options.radius, state)
        return self._engine.certificate(state.packed, claim, self._asks)

    def _bug(self, run: Run, step: int) -> Bug:
        state = run.states[step]
        return Bug(
            state,
            run.run,
            step,
            radius=self.options.radius,
            failing=run,
            make_certificate=Lazy(lambda: self._safe(state)),
        )

    def _certificates(
        self, state: State, outcome: State, alternatives: Sequence[str]
    ) -> Certificates:
        """Return the evidence for a fault: the first alternative's in any case, further ones while
        they are small. Where no alternative was settled, the state's own certificate has one.
        """
        unsafe = self.unsafe_certificate(outcome)
        if not alternatives:
            safe = self._safe(state)
            return Certificates(unsafe, {safe.choice_in_state(): safe})
        by_action = {alternatives[0]: self._safe(state, alternatives[0])}
        left = MAX_VALUES - by_action[alternatives[0]].num_values
        for name in alternatives[1:]:
            if left < 0:
                break
            try:
                by_action[name] = self._safe(state, name)
            except OutOfBudget:
                break
            left -= by_action[name].num_values
        return Certificates(unsafe, by_action)

    def _safe(self, state: State, first: str | None = None) -> Certificate:
        """Return a certificate that the state is safe, by taking ``first`` there."""
        claim = Claim("safe", self.options.radius, state)
        number = None if first is None else self.task.action_number(first)
        return self._engine.certificate(state.packed, claim, self._asks, first=number)


def _comparisons(objective: Objective) -> dict[str, Comparison]:
    """Return for each verdict on a state of a failing run whether the state is a bug: the policy
    may achieve the worst value there.
    """
    policy = Interval.exactly(worst(objective))
    verdicts: tuple[Verdict, ...] = ("safe", "unsafe", "unknown")
    return {each: compared(objective, policy, SAFETY.bounds(each)) for each in verdicts}


def _listed(runs: Iterable[Run]) -> list[Run]:
    if isinstance(runs, Run):
        return [runs]
    return list(runs)


def _numbers(run: Run) -> tuple[int, ...]:
    return (run.run, *run.same)


def _actions_of(task: Task, run: Run) -> list[int]:
    """Return the numbers of the actions of what may be a run."""
    if not run.is_complete or len(run.states) != len(run.actions) + 1:
        raise _not_failing("faults are looked for on failing runs with all their states")
    numbers = [task.action_number(action) for action in run.actions]
    if None in numbers:
        raise _not_failing(f"run {run.run} has an action that the task does not have")
    return [number for number in numbers if number is not None]


def _not_failing(message: str) -> InputError:
    return InputError(
        "not-a-failing-run",
        message,
        hint="give fuzz(...).failing, or failing runs of simulate(...), of the same policy",
    )


def _questions(options: FaultOptions) -> DecideOptions:
    """Return the limits for a single question."""
    return DecideOptions(
        oracle=options.oracle,
        radius=options.radius,
        max_seconds=options.state_seconds,
        max_states=options.max_states,
        memory_mb=options.memory_mb,
        seed=options.seed,
    )


def check_fault_options(options: FaultOptions) -> None:
    """Raise InputError for an oracle that cannot look at runs, or not with these options."""
    check_options(_questions(options), has_policy=True)
    if not ORACLES[options.oracle].serves_faults:
        raise InputError(
            "bad-option",
            f"the oracle {options.oracle} answers single questions only",
            hint="lazy_attractor serves all runs at once",
        )


def _engine(task: Task, policy: Policy, options: FaultOptions) -> Engine:
    check_fault_options(options)
    algorithm = ORACLES[options.oracle]
    refusal = algorithm.can_handle(task, policy, SAFETY)
    if refusal is not None:
        raise refusal.error()
    return cast("Engine", algorithm.make(task, _questions(options), policy))


def can_handle(task: Task, policy: Policy | None, objective: Objective) -> Refusal | None:
    """Return why ``find_faults`` cannot work on an objective; None if it can."""
    return handles_only("faults", SAFETY.name, objective)
