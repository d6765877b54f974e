"""What the assignments of an outcome do to all states at once.

:class:`Step` follows an outcome group by group, as docs/semantics.md has it, and branches where a
value is taken from an interval. :class:`_Group` evaluates the assignments of one group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from surefoot.errors import Unsupported
from surefoot.oracles.bdd_expressions import Environment
from surefoot.oracles.bdd_values import Diagram, Int, Value
from surefoot.tasks.description import Assignment, Description, Variable
from surefoot.tasks.expressions import Expr, Type

MAX_BRANCHES = 4096


@dataclass(frozen=True, eq=False)
class _Write:
    """An assignment whose parts are evaluated.

    ``targets`` are the variables it may write and where it does; a plain value has equal ``lower``
    and ``upper``.
    """

    targets: tuple[tuple[Variable, Diagram], ...]
    lower: Value
    upper: Value
    is_interval: bool


class Step:
    """The assignments of one outcome, followed from the state before them. ``errors`` are sets of
    states in which that goes wrong.
    """

    def __init__(self, begin: Environment, description: Description) -> None:
        self.algebra = begin.algebra
        self.begin = begin
        self.description = description
        self.errors: list[Diagram] = []

    def follow(self, assignments: Sequence[Assignment]) -> list[tuple[Diagram, Environment]]:
        """Return where each combination of values from intervals is possible, and what the
        variables are after it.
        """
        branches = [(self.algebra.true, self.begin)]
        for group in sorted({assignment.index for assignment in assignments}):
            chosen = [each for each in assignments if each.index == group]
            reached: list[tuple[Diagram, Environment]] = []
            for where, before in branches:
                reached += self._group(chosen, where, before)
                self._check_count(len(reached))
            branches = reached
        return branches

    def _group(
        self, assignments: list[Assignment], where: Diagram, before: Environment
    ) -> Iterator[tuple[Diagram, Environment]]:
        local = _Group(before)
        writes = [local.write(each, self._cells(each.target)) for each in assignments]
        local.find_conflicts(writes)
        self.errors.append(where & self.algebra.union(local.errors))
        choices = [local.choices(each) for each in writes]
        self._check_count(math.prod(map(len, choices)))
        for combination in itertools.product(*choices):
            there = where
            for condition, _ in combination:
                there = there & condition
            if there.satisfiable():
                values = [value for _, value in combination]
                yield there, before.changed(local.stored(writes, values))

    def _cells(self, target: Expr) -> list[Variable]:
        """Return the variable that is written, or all cells of the array."""
        if target.op == "variable":
            return [self.description.variables[target.value]]
        length = self.description.arrays[target.value].length
        return [self.description.variables[f"{target.value}[{i}]"] for i in range(length)]

    def _check_count(self, count: int) -> None:
        if count > MAX_BRANCHES:
            raise Unsupported(
                "too-many-outcomes",
                f"an outcome takes values from intervals in more than {MAX_BRANCHES:,} ways, "
                "too many for decision diagrams",
                hint="use another oracle",
            )


class _Group:
    """The assignments that are evaluated on the same values, before any of them is stored."""

    def __init__(self, before: Environment) -> None:
        self.before = before
        self.algebra = before.algebra
        self.errors: list[Diagram] = []

    def write(self, assignment: Assignment, cells: list[Variable]) -> _Write:
        """Return the evaluated assignment; keep where it is an error or out of range."""
        target = assignment.target
        targets = [(cells[0], self.algebra.true)]
        if target.op == "cell":
            index = self._value(target.args[0], "int")
            self.errors.append(~self.algebra.within(index, 0, len(cells) - 1))
            positions = self.before.positions(index, len(cells))
            targets = [(cells[i], where) for i, where in positions]
        if assignment.value is not None:
            value = self._value(assignment.value, target.type)
            write = _Write(tuple(targets), value, value, is_interval=False)
        else:
            assert assignment.lower is not None and assignment.upper is not None
            lower = self._value(assignment.lower, target.type)
            upper = self._value(assignment.upper, target.type)
            write = _Write(tuple(targets), lower, upper, is_interval=True)
        self.errors += [where & ~self._allowed(write, v) for v, where in targets]
        return write

    def _value(self, root: Expr, type: Type) -> Value:
        value, error = self.before.evaluate(root, as_type=type)
        self.errors.append(error)
        return value

    def _allowed(self, write: _Write, v: Variable) -> Diagram:
        """Return where the variable can take the value, or some value of the interval."""
        algebra = self.algebra
        if isinstance(write.lower, Int) and isinstance(write.upper, Int):
            lower, upper = int(v.lower), int(v.upper)
            if not write.is_interval:
                return algebra.within(write.lower, lower, upper)
            return (
                algebra.within(write.lower, write.lower.lower, upper)
                & algebra.within(write.upper, lower, write.upper.upper)
                & ~algebra.less(write.upper, write.lower)
            )
        if isinstance(write.lower, Mapping):
            fits = (w for number, w in write.lower.items() if v.lower <= number <= v.upper)
            return algebra.union(fits)
        return algebra.true

    def find_conflicts(self, writes: list[_Write]) -> None:
        """Keep where two of the writes give one variable different values."""
        for write, other in itertools.combinations(writes, 2):
            by_name = {v.name: where for v, where in write.targets}
            for v, where in other.targets:
                if v.name in by_name:
                    both = where & by_name[v.name]
                    self.errors.append(both & ~self._is_same(write, other, v))

    def _is_same(self, write: _Write, other: _Write, v: Variable) -> Diagram:
        algebra = self.algebra
        if not (write.is_interval or other.is_interval):
            return algebra.same(write.lower, other.lower)
        first, *others = (*self._cut(write, v), *self._cut(other, v))
        same = algebra.true
        for bound in others:
            same = same & algebra.equal(first, bound)
        return same

    def _cut(self, write: _Write, v: Variable) -> tuple[Int, Int]:
        """Return the least and the largest value, cut to the variable's range if an interval."""
        lower, upper = write.lower, write.upper
        if not write.is_interval:
            return lower, upper
        least, most = self.algebra.integer(int(v.lower)), self.algebra.integer(int(v.upper))
        return self.algebra.larger(lower, least), self.algebra.smaller(upper, most)

    def choices(self, write: _Write) -> list[tuple[Diagram, Value]]:
        """Return the values the write may choose from, and where it may."""
        if not (write.is_interval and write.targets):
            return [(self.algebra.true, write.lower)]
        lower, upper = write.lower, write.upper
        least = max(lower.lower, min(int(v.lower) for v, _ in write.targets))
        most = min(upper.upper, max(int(v.upper) for v, _ in write.targets))
        if most - least >= MAX_BRANCHES:
            return [(self.algebra.false, lower)] * (MAX_BRANCHES + 1)  # refused by the caller
        branches = []
        for number in range(least, most + 1):
            self.algebra.tick()
            value = self.algebra.integer(number)
            inside = ~(self.algebra.less(value, lower) | self.algebra.less(upper, value))
            fits = (where for v, where in write.targets if v.lower <= number <= v.upper)
            where = inside & self.algebra.union(fits)
            if where.satisfiable():
                branches.append((where, value))
        return branches

    def stored(self, writes: list[_Write], values: Sequence[Value]) -> dict[str, Value]:
        """Return the new values of the variables that are written."""
        new: dict[str, Value] = {}
        for write, value in zip(writes, values, strict=True):
            for v, where in write.targets:
                old = new.get(v.name, self.before.values[v.name])
                fitting = value
                if isinstance(value, Int):
                    fitting = self.algebra.bounded(value, int(v.lower), int(v.upper))
                new[v.name] = self.algebra.select(where, fitting, old)
        return new
