"""A task as decision diagrams: which states fail, which actions are applicable, what leads where.

:class:`TaskDiagrams` is the whole task. A state variable takes as many bits as its range needs,
the most significant one on top; its value minus its lower bound stands in them.

There are no bits for the state after a step. A :class:`Branch` says instead which function each bit
becomes; putting these functions into the diagram of a set gives the states that the branch leads
into it.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from surefoot.errors import Unsupported
from surefoot.oracles.bdd_expressions import Environment
from surefoot.oracles.bdd_steps import Step
from surefoot.oracles.bdd_values import Algebra, Diagram, Int, Value
from surefoot.tasks.description import Description, Edge, Outcome, Variable
from surefoot.tasks.expressions import Expr, variables_in

MAX_BITS = 1024

SILENT = -1
"""stands for all silent actions together: where they are taken, all of them are"""


@dataclass(frozen=True, eq=False)
class Branch:
    """Where ``condition`` holds, the bits with the numbers ``changes`` become those functions."""

    condition: Diagram
    changes: tuple[tuple[int, Diagram], ...]


@dataclass(eq=False)
class Regression:
    """One way to change a state, and where each action may do that."""

    substitution: object
    """None where nothing changes"""
    conditions: dict[int, Diagram] = field(default_factory=dict)


class TaskDiagrams:
    """The diagrams of a task. ``step`` encodes a part of it and may be called again after it was
    left by an exception; nothing else may be asked before ``is_complete``.

    ``fail`` are the fail states and ``open`` those that are neither fail nor goal. What an action
    number maps to: ``applicable`` to where the action is, ``faulty`` to where taking it would be an
    error of the model. ``errors`` are the states in which an error keeps us from knowing whether
    they are fail or goal and what is applicable; they are not open.
    """

    def __init__(self, description: Description, manager: object, tick: Callable[[], None]) -> None:
        self.description = description
        self.algebra = Algebra(manager, tick)
        self.variables = [v for v in description.variables.values() if not v.is_scratch]
        self.bits = _add_bits(manager, self.variables, variable_order(description))
        self._number_of = {v.name: i for i, v in enumerate(self.variables)}
        self._actions = {name: i for i, name in enumerate(description.actions)}
        self.applicable: dict[int, Diagram] = {}
        self.faulty: dict[int, Diagram] = {}
        self.regressions: dict[tuple[tuple[int, Diagram], ...], Regression] = {}
        self._edge_errors: list[Diagram] = []
        self._environment = self._state_environment()
        self.is_complete = False

    # -- states ------------------------------------------------------------------------------

    def assignment(self, values: Sequence[Any]) -> list[tuple[int, bool]]:
        """Return the bits of a state, given by the values of its variables."""
        return [
            (bit, bool((int(value) - int(v.lower)) >> i & 1))
            for v, value, bits in zip(self.variables, values, self.bits, strict=True)
            for i, bit in enumerate(bits)
        ]

    def _state_environment(self) -> Environment:
        algebra = self.algebra
        values: dict[str, Value] = {}
        for v, numbers in zip(self.variables, self.bits, strict=True):
            stored = [algebra.manager.var(bit) for bit in numbers]
            lower, upper = int(v.lower), int(v.upper)
            values[v.name] = (
                stored[0] if v.type == "bool" else algebra.from_field(stored, lower, upper)
            )
            plain = Int((*stored, algebra.false), 0, (1 << len(stored)) - 1)
            algebra.valid = algebra.valid & algebra.within(plain, 0, upper - lower)
        for v in self.description.variables.values():
            if v.is_scratch:
                values[v.name] = _initial(algebra, v)
        return Environment(algebra, values, self.description.arrays)

    # -- encoding ----------------------------------------------------------------------------

    def step(self) -> None:
        """Encode one more edge or, if there is none left, the conditions."""
        done = len(self._edge_errors)
        if done < len(self.description.edges):
            self._encode_edge(self.description.edges[done])
        else:
            self._encode_conditions()
            self.is_complete = True

    def _encode_conditions(self) -> None:
        algebra = self.algebra
        fail, fail_error = self._condition(self.description.fail_condition)
        goal, goal_error = self._condition(self.description.goal_condition)
        not_fail = algebra.valid & ~(fail | fail_error)
        undecided = not_fail & ~(goal | goal_error)
        stuck = undecided & algebra.union(self._edge_errors)
        self.fail = algebra.valid & fail & ~fail_error
        self.errors = (algebra.valid & fail_error) | (not_fail & goal_error) | stuck
        self.open = undecided & ~stuck
        self._environment.forget()

    def _condition(self, condition: Expr | None) -> tuple[Diagram, Diagram]:
        if condition is None:
            return self.algebra.false, self.algebra.false
        return self._environment.evaluate(condition)

    def _encode_edge(self, edge: Edge) -> None:
        algebra = self.algebra
        guard, error = algebra.true, algebra.false
        if edge.guard is not None:
            guard, error = self._environment.evaluate(edge.guard)
            guard = guard & ~error
        errors, faulty, possible, branches = [error], [], [], []
        for outcome in edge.outcomes:
            positive, raised = self._possible(outcome)
            there = guard & positive
            step = Step(self._environment, self.description)
            reached = step.follow(outcome.assignments)
            possible.append(there)
            errors.append(guard & raised)
            faulty.append(there & algebra.union(step.errors))
            branches += [self._branch(there & where, end) for where, end in reached]
        action = self._actions.get(edge.action, SILENT)
        self._include(self.applicable, action, algebra.union(possible))
        self._include(self.faulty, action, algebra.union(faulty))
        self._add_branches(action, branches)
        self._edge_errors.append(algebra.union(errors))

    def _include(self, sets: dict[int, Diagram], action: int, more: Diagram) -> None:
        sets[action] = sets.get(action, self.algebra.false) | (self.algebra.valid & more)

    def _add_branches(self, action: int, branches: list[Branch]) -> None:
        """Add the branches of an action. Adding them twice does no harm."""
        for branch in branches:
            known = self.regressions.get(branch.changes)
            if known is None:
                known = self.regressions[branch.changes] = Regression(_substitution(branch))
            self._include(known.conditions, action, branch.condition)

    def _possible(self, outcome: Outcome) -> tuple[Diagram, Diagram]:
        """Return where all probabilities are positive, and where looking at them is an error."""
        algebra = self.algebra
        positive, errors = algebra.true, [algebra.false]
        for probability in outcome.probabilities:
            value, error = self._environment.evaluate(probability)
            is_positive, is_negative = _signs(algebra, value)
            positive = positive & is_positive
            errors += [error, is_negative & ~error]
        error = algebra.union(errors)
        return positive & ~error, error

    def _branch(self, condition: Diagram, end: Environment) -> Branch:
        changes: list[tuple[int, Diagram]] = []
        for name, value in end.values.items():
            number = self._number_of.get(name)
            if number is None or value is self._environment.values[name]:
                continue
            v, bits = self.variables[number], self.bits[number]
            is_int = isinstance(value, Int)
            stored = self.algebra.to_field(value, int(v.lower), len(bits)) if is_int else [value]
            changes += zip(bits, stored, strict=True)
        kept = [(bit, new) for bit, new in changes if new != self.algebra.manager.var(bit)]
        return Branch(condition, tuple(kept))


def variable_order(description: Description) -> list[int]:
    """Return the numbers of the state variables as their bits stand from top to bottom.

    What most edges read or write comes first: once such variables are settled, the rest of a
    diagram is about few edges. Among equals the later declared first. Measured on the published
    models and the lines: the order of declaration, FORCE and rarest first run out of time on
    one-way lines that take a second with this one; the reverse of declaration is about as good.
    """
    names = [v.name for v in description.variables.values() if not v.is_scratch]
    uses = Counter(name for edge in description.edges for name in _names_in(edge))
    for array in description.arrays.values():
        for i in range(array.length):
            uses[f"{array.name}[{i}]"] += uses[array.name]
    return sorted(range(len(names)), key=lambda i: (-uses[names[i]], -i))


def _names_in(edge: Edge) -> set[str]:
    """Return the names of the variables and arrays that an edge reads or writes."""
    roots: list[Expr | None] = [edge.guard]
    for outcome in edge.outcomes:
        roots += outcome.probabilities
        for each in outcome.assignments:
            roots += [each.target, each.value, each.lower, each.upper]
    return {name for root in roots if root is not None for name in variables_in(root)}


def _add_bits(manager: Any, variables: Sequence[Variable], order: Sequence[int]) -> list[list[int]]:
    """Return the numbers of each variable's bits, least significant first."""
    sizes = [int(v.upper - v.lower).bit_length() for v in variables]
    if sum(sizes) > MAX_BITS:
        raise Unsupported(
            "too-many-bits",
            f"states of {sum(sizes):,} bits are too large for decision diagrams; "
            f"at most {MAX_BITS:,} are handled",
            hint="use another oracle",
        )
    levels = iter(manager.add_vars(sum(sizes)))
    bits: list[list[int]] = [[] for _ in variables]
    for number in order:
        bits[number] = list(itertools.islice(levels, sizes[number]))[::-1]
    return bits


def _initial(algebra: Algebra, v: Variable) -> Value:
    if v.type == "int":
        return algebra.integer(int(v.initial or 0))
    if v.type == "real":
        return {float(v.initial or 0): algebra.valid}
    return algebra.true if v.initial else algebra.false


def _substitution(branch: Branch) -> object:
    if not branch.changes:
        return None
    return type(branch.condition).make_substitution(branch.changes)


def _signs(algebra: Algebra, value: Value) -> tuple[Diagram, Diagram]:
    """Return where a number is positive and where it is negative."""
    if isinstance(value, Int):
        zero = algebra.integer(0)
        return algebra.less(zero, value), algebra.less(value, zero)
    cases: Mapping[float, Diagram] = value
    positive = algebra.union(where for number, where in cases.items() if number > 0)
    return positive, algebra.union(where for number, where in cases.items() if number < 0)
