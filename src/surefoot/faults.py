"""Faults: the guilty decisions on failing runs, with the safe alternatives."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from surefoot import _core
from surefoot.certificates import Claim
from surefoot.errors import InputError, quoted
from surefoot.options import DecideOptions, FaultOptions, chosen
from surefoot.oracles import BDD, check_options
from surefoot.oracles.deviations import DeviationsOracle
from surefoot.oracles.engine import Engine, ProgressCallback, core_engine
from surefoot.policies import Policy, as_policy
from surefoot.results import Bug, Fault, FaultsResult, Run, Unknown
from surefoot.results.faults import Certificates
from surefoot.tasks import require_task
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import State
from surefoot.tasks.task import Task


def find_faults(
    task: Task | PythonTask,
    policy: Any,
    runs: Iterable[Run],
    *,
    options: FaultOptions | None = None,
    progress: ProgressCallback | None = None,
    **changes: Any,
) -> FaultsResult:
    """Return the faults on failing runs of the policy, the bugs, and what stayed unknown.

    Every decision in a safe state is looked at, and all its outcomes (Jain et al. 2025, def. 4 and
    5). One oracle answers for all runs. Options are those of :class:`FaultOptions`, also as
    keywords. Raises InputError for a run that is not one of the policy's or does not fail.
    """
    finder = FaultFinder(task, policy, options=options, **changes)
    for run in _listed(runs):
        finder.add(run, progress=progress)
    return finder.result()


class FaultFinder:
    """Finds faults on one run after the other, and keeps what its oracle learned."""

    def __init__(
        self,
        task: Task | PythonTask,
        policy: Any,
        *,
        options: FaultOptions | None = None,
        **changes: Any,
    ) -> None:
        self.task = require_task(task)
        self.options = chosen(FaultOptions, options, changes)
        self.policy: Policy = as_policy(policy, self.task, seed=self.options.seed)
        self._begin = time.perf_counter()
        self._asks = _questions(self.options)
        self._engine = _engine(self.task, self.policy, self.options)
        self._analysis = _core.FaultAnalysis(self._engine.algorithm, self.options.radius)
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
        numbers = self._checked(run)
        seconds = max(self.options.max_seconds - (time.perf_counter() - self._begin), 0.0)
        found = self._engine.ask(
            self._analysis.analyse,
            self._engine.algorithm,
            b"".join(state.packed for state in run.states),
            numbers,
            bugs_only=self.options.bugs_only,
            state_seconds=self.options.state_seconds,
            max_seconds=seconds,
            max_bytes=self.options.max_bytes,
            max_states=self.options.max_states,
            progress=progress,
        )
        self._runs += 1
        self._stopped = self._stopped or found["stopped"] or None
        faults = tuple(self._fault(run, *raw) for raw in found["faults"])
        self._note(run, found["states"], found["decisions"], has_fault=bool(faults))
        return faults

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
        )

    # -- runs ----------------------------------------------------------------------------------

    def _checked(self, run: Any) -> list[int]:
        """Return the numbers of the run's actions. Raises InputError unless the policy fails so."""
        if not isinstance(run, Run) or not run.is_complete:
            raise InputError(
                "not-a-failing-run",
                "faults are looked for on failing runs with all their states",
                hint="give fuzz(...).failing, or a run of simulate(...)",
            )
        _check_fails(self.task, run)
        numbers = [self.task.action_number(action) for action in run.actions]
        decided = [
            (state, action)
            for state, action in zip(run.states, run.actions, strict=False)
            if action not in self.task.silent
        ]
        decisions = self.policy.decide_all([state for state, _ in decided])
        for (state, action), decision in zip(decided, decisions, strict=True):
            if action != decision:
                raise InputError(
                    "not-a-failing-run",
                    f"run {run.run} takes {quoted(action)} in state {state}, "
                    f"but the policy decides for {quoted(decision)}",
                )
        return [number for number in numbers if number is not None]

    def _fault(
        self, run: Run, step: int, outcome: bytes, alternatives: Sequence[int], has_unknown: bool
    ) -> Fault:
        state, action = run.states[step], run.actions[step]
        key = (state.packed, action)
        known = self._faults.get(key)
        if known is not None:
            runs = (*known.runs, *_numbers(run))
            object.__setattr__(known, "runs", tuple(dict.fromkeys(runs)))
            return known
        names = tuple(self.task.actions[number] for number in alternatives)
        unsafe = self.task.unpack(outcome)
        fault = Fault(
            state=state,
            action=action,
            outcome=unsafe,
            alternatives=names,
            run=run,
            step=step,
            runs=_numbers(run),
            radius=self.options.radius,
            has_unknown_alternatives=has_unknown,
            deviations=self._number_of_differences(state),
            make_certificates=lambda: self._certificates(state, unsafe, names),
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
        states: Sequence[tuple[str, str]],
        decisions: Sequence[tuple[str, str]],
        *,
        has_fault: bool,
    ) -> None:
        """Keep the bugs and unknowns of a run."""
        is_sure = True
        for step, (verdict, reason) in enumerate(states):
            state = run.states[step]
            if verdict == "safe":
                self._bugs.setdefault(state.packed, Bug(state, run.run, step))
            what = None
            if verdict == "unknown":
                what = "state"
            elif verdict == "safe" and step < len(decisions) and not self.options.bugs_only:
                verdict, reason = decisions[step]
                is_forced = run.actions[step] in self.task.silent
                what = "decision" if verdict == "unknown" and not is_forced else None
            if what is not None:
                is_sure = False
                one = Unknown(state, what, reason, run.run, step)
                self._unknown.setdefault((state.packed, what), one)
        if states[0][0] == "unsafe":
            self._unavoidable.extend(_numbers(run))
        if not is_sure and not has_fault:
            self._undecided.extend(_numbers(run))

    # -- certificates --------------------------------------------------------------------------

    def _certificates(
        self, state: State, outcome: State, alternatives: Sequence[str]
    ) -> Certificates:
        radius = self.options.radius
        unsafe = self._engine.certificate(
            outcome.packed, Claim("unsafe", radius, outcome), self._asks
        )
        safe = Claim("safe", radius, state)
        by_action = {
            name: self._engine.certificate(
                state.packed, safe, self._asks, first=self.task.action_number(name)
            )
            for name in alternatives
        }
        return Certificates(unsafe, by_action)


def _listed(runs: Iterable[Run]) -> list[Run]:
    if isinstance(runs, Run):
        return [runs]
    return list(runs)


def _numbers(run: Run) -> tuple[int, ...]:
    return (run.run, *run.same)


def _check_fails(task: Task | PythonTask, run: Run) -> None:
    if not task.is_fail(run.states[-1]):
        raise InputError(
            "not-a-failing-run", f"run {run.run} does not fail: its last state is {run.states[-1]}"
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


def _engine(task: Task | PythonTask, policy: Policy, options: FaultOptions) -> Engine:
    check_options(_questions(options), has_policy=True)
    if options.oracle == BDD:
        raise InputError(
            "bad-option",
            f"the oracle {BDD} answers single questions only",
            hint="lazy_attractor serves all runs at once",
        )
    return core_engine(
        task,
        options.oracle,
        seed=options.seed,
        policy=policy if options.radius is not None else None,
        radius=options.radius,
    )
