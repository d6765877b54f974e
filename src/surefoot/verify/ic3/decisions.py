"""What a policy may decide, as literals: which actions may be taken in a state."""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.policies import Policy
from surefoot.policies.models import Trees
from surefoot.verify.ic3.circuit import TRUE
from surefoot.verify.ic3.encoding import TaskClauses
from surefoot.verify.ic3.numbers import lacks
from surefoot.verify.ic3.scores import Scores


class Decisions:
    """``taken`` has a literal for each action: where it may happen next. ``wrong`` is where the
    policy has no decision. ``scores`` is None if nothing needs to be scored.
    """

    def __init__(self, clauses: TaskClauses, policy: Policy, *, bits: int) -> None:
        self.clauses = clauses
        self.circuit = clauses.circuit
        self.policy = policy
        self.scores = self._scores(bits)
        task = clauses.task
        self._loud = [n for n, name in enumerate(task.actions) if name not in task.silent]
        self._output = self._outputs()
        self.taken, self.wrong = self._taken()

    def _scores(self, bits: int) -> Scores | None:
        policy, clauses = self.policy, self.clauses
        if policy.name == "first" and policy.model is None:
            return None
        if not isinstance(policy.model, Trees) or policy.interface is None:
            kind = policy.model.kind if policy.model is not None else "other"
            raise lacks(f"{kind} policies: it takes tree ensembles")
        inputs, variables = policy.interface.inputs, clauses.variables
        return Scores(clauses.task, policy.model, inputs, variables, self.circuit, bits=bits)

    def _outputs(self) -> dict[int, int]:
        """Return the output of each action that has one."""
        if self.scores is None or self.policy.interface is None:
            return {}
        task = self.clauses.task
        numbers = {name: number for number, name in enumerate(task.actions)}
        return {numbers[name]: i for i, name in enumerate(self.policy.interface.outputs)}

    def _taken(self) -> tuple[list[int], int]:
        circuit, clauses = self.circuit, self.clauses
        applicable = clauses.applicable
        nothing = circuit.every(-applicable[number] for number in self._loud)
        forced = circuit.every((clauses.open, nothing))
        taken = [circuit.every((forced, each)) for each in applicable]
        for number in self._loud:
            parts = (clauses.open, applicable[number], self._is_chosen(number))
            taken[number] = circuit.every(parts)
        return taken, self._undecided()

    def _is_chosen(self, action: int) -> int:
        """Return where an action may be chosen if it is applicable."""
        applicable, others = self.clauses.applicable, [n for n in self._loud if n != action]
        if self.scores is None:
            return self.circuit.every(-applicable[n] for n in others if n < action)
        if self.policy.unfiltered:
            if action not in self._output:
                return -TRUE
            outputs = [o for o in self._output.values() if o != self._output[action]]
            return self.circuit.every(
                self.scores.may_beat(self._output[action], o) for o in outputs
            )
        if action not in self._output:
            return self.circuit.every(-applicable[n] for n in others)
        return self.circuit.every(self._not_beaten(action, n) for n in others if n in self._output)

    def _not_beaten(self, action: int, other: int) -> int:
        applicable = self.clauses.applicable
        if self.scores is None or -TRUE in (applicable[action], applicable[other]):
            return TRUE
        better = self.scores.may_beat(self._output[action], self._output[other])
        return self.circuit.some((-applicable[other], better))

    def _undecided(self) -> int:
        """Return where several actions are applicable and none of them has an output."""
        if self.scores is None or self.policy.unfiltered:
            return -TRUE
        circuit, applicable = self.circuit, self.clauses.applicable
        mute = [applicable[n] for n in self._loud if n not in self._output]
        pairs = [circuit.every((a, b)) for i, a in enumerate(mute) for b in mute[:i]]
        scored = [-applicable[n] for n in self._output]
        return circuit.every((self.clauses.open, circuit.some(pairs), *scored))

    def is_scored(self, action: int) -> bool:
        """Return whether an action has an output, so that its score decides."""
        return action in self._output

    def settle(self, action: int, decision: int, values: Sequence[int]) -> None:
        """Take out that ``action`` may be taken where the policy takes ``decision``."""
        assert self.scores is not None
        self.scores.settle(self._output[action], self._output[decision], values)
