"""A task as clauses: what holds in a state, and what each outcome makes of it.

:class:`TaskClauses` is the task; it follows ``oracles.bdd_encoding``, with literals instead of
diagrams. A :class:`Branch` is one thing that may happen: where its condition holds, the variables
become those values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from surefoot.oracles.bdd_expressions import Environment, Result
from surefoot.oracles.bdd_steps import Step
from surefoot.oracles.bdd_values import Value
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.description import Edge, Outcome, Variable
from surefoot.tasks.expressions import Expr
from surefoot.verify.constraints import Constraint
from surefoot.verify.ic3.circuit import FALSE, TRUE, Circuit, Gate
from surefoot.verify.ic3.numbers import MAX_VALUES, OrderAlgebra, Sum, Unary, lacks

MAX_BRANCHES = 4096
MAX_LISTED = 20_000


@dataclass(frozen=True)
class Branch:
    """Where ``condition`` holds, ``action`` may change the variables with these numbers."""

    action: int
    condition: int
    changes: Mapping[int, Unary]


class _Environment(Environment):
    """Environment whose integers are sums."""

    def changed(self, values: Mapping[str, Value]) -> Environment:
        return _Environment(self.algebra, {**self.values, **values}, self.arrays)

    def _strict(self, node: Expr, values: tuple[Value, ...]) -> Result:
        algebra = self.algebra
        if node.op == "sgn" and isinstance(values[0], Sum):
            assert isinstance(algebra, OrderAlgebra)
            bits = [algebra.at_least(values[0], number) for number in (0, 1)]
            return algebra.variable(Unary(bits, -1)), algebra.false
        return super()._strict(node, values)


class _Step(Step):
    def _check_count(self, count: int) -> None:
        if count > MAX_BRANCHES:
            raise lacks(f"outcomes that take values from intervals in over {MAX_BRANCHES:,} ways")


class TaskClauses:
    """The clauses of a task over one state, ``variables``, the state before a step.

    ``start``, ``fail`` and ``open`` (neither fail nor goal) are literals, as is ``stuck``, where an
    error keeps us from knowing what is applicable, and ``start_error``. What the number of an
    action maps to: ``applicable`` to where it is, ``faulty`` to where taking it is an error.
    """

    def __init__(
        self, task: CompiledTask, circuit: Circuit, constraints: Sequence[Constraint]
    ) -> None:
        self.task = task
        self.circuit = circuit
        self.algebra = OrderAlgebra(circuit)
        self.variables = [self.state_variable(v) for v in task.variables]
        self.branches: list[Branch] = []
        self.applicable = [FALSE] * len(task.actions)
        self.faulty = [FALSE] * len(task.actions)
        self._edge_errors: list[int] = []
        self._environment = self._state_environment()
        self._add_constraints(constraints)
        for edge in task.description.edges:
            circuit.tick()
            self._encode_edge(edge)
        self._encode_conditions()
        self.start, self.start_error = self._encode_start()

    # -- states ------------------------------------------------------------------------------

    def state_variable(self, v: Variable) -> Unary:
        """Return a variable with new literals, in order."""
        if v.upper - v.lower > MAX_VALUES:
            raise lacks(f"variables with more than {MAX_VALUES:,} values")
        made = Unary([self.circuit.new() for _ in range(int(v.lower), int(v.upper))], int(v.lower))
        for low, high in zip(made.bits, made.bits[1:], strict=False):
            self.circuit.add(low, -high)
        return made

    def _state_environment(self) -> _Environment:
        algebra, values = self.algebra, dict[str, Value]()
        for v, unary in zip(self.task.variables, self.variables, strict=True):
            is_bool = v.type == "bool"
            values[v.name] = algebra.gate(unary.at_least(1)) if is_bool else algebra.variable(unary)
        for v in self.task.description.variables.values():
            if v.is_scratch:
                values[v.name] = self._initial(v)
        return _Environment(algebra, values, self.task.description.arrays)

    def _initial(self, v: Variable) -> Value:
        if v.type == "int":
            return self.algebra.integer(int(v.initial or 0))
        if v.type == "real":
            return {float(v.initial or 0): self.algebra.true}
        return self.algebra.true if v.initial else self.algebra.false

    def _add_constraints(self, constraints: Sequence[Constraint]) -> None:
        """Assume them of every state: they hold at the start, and every step preserves them."""
        numbers = {name: i for i, name in enumerate(self.task.names)}
        for factors, lower, upper in constraints:
            terms = [(self.variables[numbers[name]], f) for name, f in factors.items()]
            total = Sum([(unary, f) for unary, f in terms if unary.bits], 0)
            shift = sum(unary.lower * f for unary, f in terms if not unary.bits)
            inside = self.algebra.within(total, lower - shift, upper - shift)
            self.circuit.add(inside.literal)

    # -- edges -------------------------------------------------------------------------------

    def _encode_edge(self, edge: Edge) -> None:
        circuit, action = self.circuit, self.task.action_number(edge.action)
        assert action is not None
        guard, error = self._evaluated(edge.guard, missing=TRUE)
        errors, faulty, possible = [error], [self.faulty[action]], [self.applicable[action]]
        for outcome in edge.outcomes:
            positive, raised = self._possible(outcome)
            there = circuit.every((guard, -error, positive))
            step = _Step(self._environment, self.task.description)
            reached = step.follow(outcome.assignments)
            possible.append(there)
            errors.append(circuit.every((guard, raised)))
            wrong = circuit.some([each.literal for each in step.errors])
            faulty.append(circuit.every((there, wrong)))
            for where, end in reached:
                condition = circuit.every((there, where.literal, -wrong))
                self._add_branch(action, condition, end)
        self.applicable[action] = circuit.some(possible)
        self.faulty[action] = circuit.some(faulty)
        self._edge_errors.append(circuit.some(errors))

    def _add_branch(self, action: int, condition: int, end: Environment) -> None:
        if condition == FALSE:
            return
        if len(self.branches) >= MAX_BRANCHES:
            raise lacks(f"tasks with more than {MAX_BRANCHES:,} outcomes of edges")
        changes: dict[int, Unary] = {}
        for number, (v, old) in enumerate(zip(self.task.variables, self.variables, strict=True)):
            value = end.values[v.name]
            if value is self._environment.values[v.name]:
                continue
            if isinstance(value, Gate):
                new = Unary([value.literal], 0)
            else:
                new = self.algebra.unary(value, old.lower, old.upper)
            if new.bits != old.bits:
                changes[number] = new
        self.branches.append(Branch(action, condition, changes))

    def _possible(self, outcome: Outcome) -> tuple[int, int]:
        """Return where all probabilities are positive, and where looking at them is an error."""
        positive, errors = [TRUE], [FALSE]
        for probability in outcome.probabilities:
            value, error = self._environment.evaluate(probability)
            above, below = self._signs(value)
            positive.append(above)
            errors += [error.literal, self.circuit.every((below, -error.literal))]
        error = self.circuit.some(errors)
        return self.circuit.every((*positive, -error)), error

    def _signs(self, value: Value) -> tuple[int, int]:
        """Return where a number is positive and where it is negative."""
        if isinstance(value, Sum):
            return self.algebra.at_least(value, 1), -self.algebra.at_least(value, 0)
        above = [where.literal for number, where in value.items() if number > 0]
        below = [where.literal for number, where in value.items() if number < 0]
        return self.circuit.some(above), self.circuit.some(below)

    # -- conditions --------------------------------------------------------------------------

    def _evaluated(self, condition: Expr | None, *, missing: int) -> tuple[int, int]:
        """Return where a condition holds, and where it is an error to look at it."""
        if condition is None:
            return missing, FALSE
        value, error = self._environment.evaluate(condition)
        return value.literal, error.literal

    def _encode_conditions(self) -> None:
        circuit, description = self.circuit, self.task.description
        fail, fail_error = self._evaluated(description.fail_condition, missing=FALSE)
        goal, goal_error = self._evaluated(description.goal_condition, missing=FALSE)
        self.fail = circuit.every((fail, -fail_error))
        not_fail = circuit.every((-fail, -fail_error))
        undecided = circuit.every((not_fail, -goal, -goal_error))
        stuck = circuit.every((undecided, circuit.some(self._edge_errors)))
        self.open = circuit.every((undecided, -stuck))
        self.stuck = circuit.some((fail_error, circuit.every((not_fail, goal_error)), stuck))

    def _encode_start(self) -> tuple[int, int]:
        """Return the start states, and where it is an error to ask whether a state is one."""
        source = self.task.start_source()
        description = self.task.description
        if source is None:
            condition = description.start_condition
            if condition is None:
                condition = description.initial_condition()
            start, error = self._evaluated(condition, missing=TRUE)
            return self.circuit.every((start, -error)), error
        columns = self.task.columns(source)
        rows = list(dict.fromkeys(zip(*columns, strict=True)))
        if len(rows) > MAX_LISTED:
            raise lacks(f"lists of more than {MAX_LISTED:,} start states")
        return self.circuit.some([self.is_state(row) for row in rows]), FALSE

    def is_state(self, values: Sequence[int]) -> int:
        """Return the literal for the state to be this one."""
        ends = []
        for unary, value in zip(self.variables, map(int, values), strict=True):
            ends += [unary.at_least(value), -unary.at_least(value + 1)]
        return self.circuit.every(ends)
