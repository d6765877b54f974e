"""Following a run that the clauses allow with the policy itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from surefoot.errors import InputError
from surefoot.policies.decisions import ask_core
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.state import State
from surefoot.verify.ic3.boxes import Box, box_of, contains
from surefoot.verify.ic3.search import Obligation, Suspect
from surefoot.verify.ic3.transition import System
from surefoot.verify.question import Question

PackedRun = tuple[bytes, list[int]]


def state_of(task: CompiledTask, values: Sequence[int]) -> State:
    """Return the state with these values, Booleans as 0 and 1."""
    pairs = zip(task.variables, values, strict=True)
    return task.state({v.name: bool(value) if v.type == "bool" else value for v, value in pairs})


class Replay:
    """The task and the policy that runs are followed with, and the system that learns from it."""

    def __init__(self, question: Question, system: System) -> None:
        self.policy = question.policy
        self.task = system.task
        self.system = system

    def follow(self, suspect: Suspect) -> PackedRun | None:
        """Return the failing run from a start state, if the policy takes it.

        If it decides otherwise somewhere, which only happens where scores are all but equal, the
        system is told that and there is no run. Raises InputError for errors of model and policy.
        """
        state = state_of(self.task, suspect.state)
        packed, actions = [state.packed], list[int]()
        node = suspect.obligation
        while node.then is not None and node.branch is not None:
            action = self.system.branches[node.branch].action
            if not self._takes(state, action):
                return None
            state = self._outcome(state, action, node.then)
            packed.append(state.packed)
            actions.append(action)
            node = node.then
            if self.task.is_fail(state):
                break
        if self.task.is_fail(state):
            return b"".join(packed), actions
        self._find_error(state)
        return None

    # -- steps -------------------------------------------------------------------------------

    def _applicable(self, state: State) -> list[int]:
        """Return the applicable actions that are not silent."""
        numbers = ask_core(self.task, self.task.core.applicable, state.packed)
        return [number for number in numbers if self.task.actions[number] not in self.task.silent]

    def _decision(self, state: State) -> int:
        """Return what the policy decides on."""
        if self.policy.unfiltered:
            scores = self.policy.scores(state)
            best = max(scores, key=lambda name: scores[name])  # the first of equal ones
            return self.task.actions.index(best)
        core: Any = self.policy.core
        return int(ask_core(self.task, core.decide, self.task.core, state.packed))

    def _takes(self, state: State, action: int) -> bool:
        """Return whether the policy takes the action; if not, tell the system."""
        if not self._applicable(state):
            return True  # only silent actions are: all of them may happen
        decision = self._decision(state)
        if decision != action:
            self._settle(state, action, decision)
        return decision == action

    def _settle(self, state: State, action: int, decision: int) -> None:
        self.system.decisions.settle(action, decision, [int(v) for v in state.values_tuple])

    def _outcome(self, state: State, action: int, then: Obligation) -> State:
        """Return an outcome in the box of the next obligation."""
        for outcome in self.task.outcomes(state, self.task.actions[action]):
            if contains(then.box, _box(outcome)):
                return outcome
        raise RuntimeError(f"ic3: no outcome of {state} is where it should be")

    # -- errors ------------------------------------------------------------------------------

    def _find_error(self, state: State) -> None:
        """Raise the error that is expected in a state, or tell the system that the policy does not
        do what raises it.
        """
        self.task.is_goal(state)
        applicable = self._applicable(state)
        if not applicable:
            for name in self.task.applicable(state):
                self.task.outcomes(state, name)
            raise RuntimeError(f"ic3: {state} is not bad")
        decision = self._decision(state)
        self.task.outcomes(state, self.task.actions[decision])
        scored = [n for n in applicable if self.system.decisions.is_scored(n)]
        others = [n for n in scored if n != decision and self._is_faulty(state, n)]
        if not others:
            raise RuntimeError(f"ic3: {state} is not bad")
        for action in others:
            self._settle(state, action, decision)

    def _is_faulty(self, state: State, action: int) -> bool:
        try:
            self.task.outcomes(state, self.task.actions[action])
        except InputError:
            return True
        return False


def _box(state: State) -> Box:
    return box_of([int(value) for value in state.values_tuple])
