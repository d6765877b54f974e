"""Evidence for the verdicts of diagrams, read off the task itself.

The diagrams only say where to go. Every action and outcome that ends in a certificate comes from
the core, and so does the error of a model that keeps us from an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from surefoot import _core
from surefoot.errors import InputError
from surefoot.oracles.bdd_encoding import TaskDiagrams
from surefoot.oracles.bdd_propagation import Bits, Propagation
from surefoot.tasks.compiled_task import CompiledTask

TRIES = (100, 1_000, 10_000)
"""how many states may be visited in search of choices"""
OPEN = 0  # the kind of a state that is neither fail nor goal, as the core numbers it
FORCED = -1
"""stands for the forced step where an action is named"""


class Evidence:
    """Finds choices, ranks and errors on a task. States are packed.

    ``tick`` is called for every state; it may raise.
    """

    def __init__(
        self, task: CompiledTask, diagrams: TaskDiagrams, tick: Callable[[], None]
    ) -> None:
        self.task = task
        self.diagrams = diagrams
        self.tick = tick
        self._first_silent = len(task.description.actions)

    def bits(self, state: bytes) -> Bits:
        """Return the state as the diagrams take it."""
        return self.diagrams.assignment(self.task.core.unpack(state))

    def choices(self, state: bytes, avoided: Propagation) -> dict[bytes, int] | None:
        """Return an action for each state that is not terminal and reachable by these actions,
        none of which is in the set to be avoided; None if none were found among few states.

        Tries for ever larger sets; in each round, once the first actions win among equals and once
        the last ones.
        """
        for max_states in TRIES:
            for takes_last in (False, True):
                choices = self.all_choices(state, avoided, max_states, takes_last=takes_last)
                if choices is not None:
                    return choices
        return None

    def all_choices(
        self,
        state: bytes,
        avoided: Propagation,
        max_states: int | None = None,
        *,
        takes_last: bool = False,
    ) -> dict[bytes, int] | None:
        """Return the choices in which each action is one with the fewest new outcomes.

        None if this meets an error of the model or more states than allowed.
        """
        choices: dict[bytes, int] = {}
        seen, stack = {state}, [state]
        while stack:
            self.tick()
            here = stack.pop()
            try:
                decisions = self._decisions(here)
            except _core.ModelError:
                return None
            if not decisions:
                continue
            steps = self._safe_steps(here, decisions, seen, avoided)
            if not steps or (max_states is not None and len(seen) > max_states):
                return None
            in_order = reversed(steps) if takes_last else iter(steps)
            choices[here] = min(in_order, key=lambda decision: len(steps[decision]))
            seen.update(steps[choices[here]])
            stack += steps[choices[here]]
        return choices

    def _safe_steps(
        self, state: bytes, decisions: dict[int, list[int]], seen: set[bytes], avoided: Propagation
    ) -> dict[int, list[bytes]]:
        """Return the decisions that avoid the set and are no error, each with what it adds to
        ``seen``, of which nothing is in the set.
        """
        steps: dict[int, list[bytes]] = {}
        for decision, actions in decisions.items():
            try:
                new = [each for each in self._outcomes(state, actions) if each not in seen]
            except _core.ModelError:
                continue
            if not any(avoided.states.eval(self.bits(each)) for each in new):
                steps[decision] = new
        return steps

    def ranks(self, state: bytes, unsafe: Propagation) -> dict[bytes, int]:
        """Return the layer of a state and, for each of its decisions, that of an outcome from an
        earlier one; and so on down to the fail states.
        """
        ranks = {state: self._layer(state, unsafe)}
        stack = [state]
        while stack:
            self.tick()
            here = stack.pop()
            for actions in self._decisions(here).values():
                outcomes = self._outcomes(here, actions)
                if any(ranks.get(each, ranks[here]) < ranks[here] for each in outcomes):
                    continue
                lowest = min(outcomes, key=lambda each: self._layer(each, unsafe))
                ranks[lowest] = self._layer(lowest, unsafe)
                stack.append(lowest)
        return ranks

    def model_error(self, state: bytes, unsafe: Propagation, doubtful: Propagation) -> InputError:
        """Return the error of the model on which the answer for a doubtful state depends.

        Each step goes to an earlier layer of the doubtful states, of which the first has only
        errors, and passes by what is unsafe anyway.
        """
        try:
            while True:
                decisions = self._decisions(state).values()
                outcomes = [o for actions in decisions for o in self._outcomes(state, actions)]
                layer = self._layer(state, doubtful)
                state = next(
                    each
                    for each in outcomes
                    if self._layer(each, doubtful) < layer
                    and not unsafe.states.eval(self.bits(each))
                )
        except _core.ModelError as error:
            return self.task.model_error(error)

    def _layer(self, state: bytes, propagation: Propagation) -> int:
        rank = propagation.rank(self.bits(state))
        return len(propagation.layers) if rank is None else rank

    def _decisions(self, state: bytes) -> dict[int, list[int]]:
        """Return what a policy can decide in a state, and which actions may then be taken; nothing
        if the state is terminal.
        """
        if self.task.core.kind(state) != OPEN:
            return {}
        applicable = self.task.core.applicable(state)
        chosen = {action: [action] for action in applicable if action < self._first_silent}
        return chosen or ({FORCED: applicable} if applicable else {})

    def _outcomes(self, state: bytes, actions: list[int]) -> list[bytes]:
        outcomes = (o for action in actions for o in self.task.core.outcomes(state, action))
        return list(dict.fromkeys(outcomes))
