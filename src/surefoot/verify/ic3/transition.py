"""One step of a policy as clauses: the state before, the state after, and what may go wrong.

:class:`System` has everything a search asks about: ``now`` and ``after`` are the variables of both
states, ``bad`` where the state fails or an error may happen. In a step one *selector* holds, which
stands for a branch: an outcome of an action that the policy may take.
"""

from __future__ import annotations

from collections.abc import Sequence

from surefoot.policies import Policy
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.verify.constraints import Constraint
from surefoot.verify.ic3.circuit import Circuit
from surefoot.verify.ic3.decisions import Decisions
from surefoot.verify.ic3.encoding import TaskClauses
from surefoot.verify.ic3.numbers import Unary


class System:
    """The clauses of a policy on a task. ``available`` has for each branch where it may happen.

    Scores are sums of so many ``bits``: with few of them more decisions are near ties.
    """

    def __init__(
        self,
        task: CompiledTask,
        policy: Policy,
        circuit: Circuit,
        constraints: Sequence[Constraint],
        *,
        bits: int,
    ) -> None:
        self.task = task
        self.circuit = circuit
        self.clauses = TaskClauses(task, circuit, constraints)
        self.decisions = Decisions(self.clauses, policy, bits=bits)
        self.now = self.clauses.variables
        self.after = [self.clauses.state_variable(v) for v in task.variables]
        self.branches = self.clauses.branches
        taken = self.decisions.taken
        self.available = [circuit.every((b.condition, taken[b.action])) for b in self.branches]
        self.selectors = [circuit.new() for _ in self.branches]
        self.step = circuit.new()
        self._encode_step()
        self.bad = self._encode_bad()
        self.start = self.clauses.start

    def _encode_step(self) -> None:
        """Let ``step`` say that one of the branches leads from one state to the other."""
        circuit = self.circuit
        circuit.add(-self.step, *self.selectors)
        for selector, available in zip(self.selectors, self.available, strict=True):
            circuit.add(-selector, available)
        for number, (old, new) in enumerate(zip(self.now, self.after, strict=True)):
            self._encode_change(number, old, new)

    def _encode_change(self, number: int, old: Unary, new: Unary) -> None:
        """Let a variable become what the branch makes of it. Branches that make the same of it
        share the clauses.
        """
        circuit = self.circuit
        shared: dict[tuple[int, ...], list[int]] = {}
        for branch, selector in zip(self.branches, self.selectors, strict=True):
            value = branch.changes.get(number, old)
            shared.setdefault(value.bits, []).append(selector)
        for bits, selectors in shared.items():
            becomes = circuit.new()
            for selector in selectors:
                circuit.add(-selector, becomes)
            for ours, theirs in zip(bits, new.bits, strict=True):
                circuit.add(-becomes, -ours, theirs)
                circuit.add(-becomes, ours, -theirs)

    def _encode_bad(self) -> int:
        circuit, clauses, decisions = self.circuit, self.clauses, self.decisions
        wrong = [circuit.every(pair) for pair in zip(decisions.taken, clauses.faulty, strict=True)]
        return circuit.some((clauses.fail, clauses.stuck, decisions.wrong, *wrong))

    @property
    def assumptions(self) -> list[int]:
        """What must be assumed whenever something is asked."""
        scores = self.decisions.scores
        return [] if scores is None else scores.assumptions

    @property
    def settled(self) -> int:
        """How many near ties were taken out."""
        return 0 if self.decisions.scores is None else self.decisions.scores.settled

    @property
    def roundings(self) -> int:
        """In how many of these exact sums decide otherwise than the policy does."""
        return 0 if self.decisions.scores is None else self.decisions.scores.roundings

    def value_after(self, branch: int, number: int) -> Unary:
        """Return what a branch makes of a variable, over the state before."""
        return self.branches[branch].changes.get(number, self.now[number])
