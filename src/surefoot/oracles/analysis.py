"""Which decisions on a failing run are to blame, where the oracle answers with tables.

The same questions in the same order as in the core (core/fault/fault_analysis.h), which asks its
own oracles; every table is accepted by the checker before its verdict counts. Tables take no
radius: a state has one verdict, however often the policy was left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from surefoot.errors import NOT_DETERMINISTIC, InputError
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

MODEL_ERROR = "model-error"


@dataclass(frozen=True)
class FoundVerdict:
    """A verdict, and why it is unknown; see ``_core.FoundVerdict``."""

    verdict: str
    stopped: str = ""


SAFE = FoundVerdict("safe")


@dataclass(frozen=True)
class GuiltyDecision:
    """A decision of a run that may leave the safe region; see ``_core.Fault``."""

    step: int
    outcome: bytes
    alternatives: list[int]
    has_unknown_alternatives: bool


@dataclass
class RunFaults:
    """What is known about a failing run; see ``_core.RunFaults``."""

    states: list[FoundVerdict]
    decisions: list[FoundVerdict]
    faults: list[GuiltyDecision] = field(default_factory=list)
    stopped: str = ""


@dataclass
class TableAnalysis:
    """Analyses one run after the other; ``decide`` answers for a state."""

    task: Task
    decide: Callable[[bytes], FoundVerdict]
    _known: dict[bytes, FoundVerdict] = field(default_factory=dict)
    _until: float = 0.0
    _skips_errors: bool = False

    def analyse(
        self,
        packed: bytes,
        numbers: Sequence[int],
        *,
        bugs_only: bool,
        max_seconds: float,
        skip_errors: bool,
        **_: object,
    ) -> RunFaults:
        """Return the verdicts on the states and decisions of a run, and its faults."""
        self._until, self._skips_errors = time.monotonic() + max_seconds, skip_errors
        width = 8 * self.task.core.words
        states = [packed[at : at + width] for at in range(0, len(packed), width)]
        analysed = RunFaults([SAFE] * len(states), [SAFE] * len(numbers))
        for step in range(len(states) - 1, -1, -1):
            analysed.states[step] = self._ask(states[step])
            is_decision = step < len(numbers) and not self._is_silent(numbers[step])
            if is_decision and not bugs_only and analysed.states[step].verdict == "safe":
                self._look_at(analysed, step, states, numbers[step])
        analysed.faults.reverse()
        analysed.stopped = "seconds" if self._is_late else ""
        return analysed

    @property
    def _is_late(self) -> bool:
        return time.monotonic() >= self._until

    def _is_silent(self, number: int) -> bool:
        return self.task.actions[number] in self.task.silent

    def _ask(self, state: bytes) -> FoundVerdict:
        if state in self._known:
            return self._known[state]
        if self._is_late:
            return FoundVerdict("unknown", "seconds")
        try:
            self._known[state] = self.decide(state)
        except InputError as error:
            if not self._skips_errors or error.code in (NOT_DETERMINISTIC, "plugin-error"):
                raise
            self._known[state] = FoundVerdict("unknown", MODEL_ERROR)
        return self._known[state]

    def _outcomes(self, state: State, number: int) -> list[bytes]:
        return [each.packed for each in self.task.outcomes(state, self.task.actions[number])]

    def _look_at(
        self, analysed: RunFaults, step: int, states: Sequence[bytes], number: int
    ) -> None:
        """Look at the decision of a safe state: the unsafe outcome is where the run went, if that
        is one.
        """
        state = self.task.unpack(states[step])
        answers = {each: self._ask(each) for each in self._outcomes(state, number)}
        unsafe = [each for each, answer in answers.items() if answer.verdict == "unsafe"]
        analysed.decisions[step] = _of_all(list(answers.values()))
        if unsafe:
            outcome = states[step + 1] if states[step + 1] in unsafe else unsafe[0]
            analysed.faults.append(self._fault(step, state, number, outcome))

    def _fault(self, step: int, state: State, number: int, outcome: bytes) -> GuiltyDecision:
        verdicts: dict[int, str] = {}
        for name in self.task.applicable(state):
            other = self.task.actions.index(name)
            if other != number and not self._is_silent(other):
                answers = map(self._ask, self._outcomes(state, other))
                verdicts[other] = _of_all(list(answers)).verdict
        safe = [other for other, verdict in verdicts.items() if verdict == "safe"]
        return GuiltyDecision(step, outcome, safe, "unknown" in verdicts.values())


def _of_all(answers: Sequence[FoundVerdict]) -> FoundVerdict:
    """Return unsafe if one of the answers is, else unknown if one is, else safe."""
    for verdict in ("unsafe", "unknown"):
        for answer in answers:
            if answer.verdict == verdict:
                return answer
    return SAFE
