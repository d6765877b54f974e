"""Predicates: what abstract states are told apart by.

A :class:`Cut` is about one variable, a :class:`Sum` about a linear sum of several, a
:class:`Formula` about anything else that is plain (``ranges``). All three are called tests. Boolean
structure is taken apart: the tests of a condition are those of its comparisons.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.expressions import Expr, constant, make, postorder, variable
from surefoot.verify.constraints import ONE, Linear, linear
from surefoot.verify.predicates.changes import rewritten
from surefoot.verify.predicates.ranges import Box, Ranges

MAX_VALUES = 4096
"""of a variable whose values are tried one by one"""
_CONNECTIVES = frozenset({"not", "and", "or", "implies", "ite", "eq", "ne"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


class Cut(NamedTuple):
    """Whether a variable is at least a value; Booleans count as 0 and 1."""

    variable: int
    value: int


@dataclass(frozen=True)
class Sum:
    """Whether a linear sum of variables is at most ``upper``."""

    terms: tuple[tuple[int, int], ...]
    """variables with their factors"""
    upper: int


@dataclass(frozen=True)
class Formula:
    """Whether a plain condition holds. Equal ones have equal keys."""

    key: tuple[object, ...]
    expr: Expr = field(compare=False)


Predicate = Sum | Formula
Test = Cut | Predicate
Literal = tuple[Predicate, bool]


class Atoms:
    """Takes conditions of a task apart, and tests boxes of its states."""

    def __init__(self, task: CompiledTask) -> None:
        self.task = task
        self.ranges = Ranges(task)
        self.full = self.ranges.full

    # -- truth -------------------------------------------------------------------------------

    def truth(self, test: Test, box: Box) -> bool | None:
        """Return whether a test holds in a box; None if it may not be the same everywhere."""
        if isinstance(test, Cut):
            low, high = box[test.variable]
            return True if low >= test.value else False if high < test.value else None
        if isinstance(test, Sum):
            low, high = sum_range(test.terms, box)
            return True if high <= test.upper else False if low > test.upper else None
        low, high = self.ranges.range_of(test.expr, box)
        return bool(low) if low == high else None

    # -- tests of a condition ----------------------------------------------------------------

    def tests_of(self, condition: Expr) -> list[Test] | None:
        """Return the tests of a condition; None if one of its comparisons has none."""
        tests_found: dict[Test, None] = {}
        for atom in atoms_of(condition):
            tests = self._tests(atom)
            if tests is None:
                return None
            tests_found |= dict.fromkeys(tests)
        return list(tests_found)

    def known_tests(self, condition: Expr) -> list[Test]:
        """Return the tests of a condition, those left out that there are none for."""
        each = (self._tests(atom) for atom in atoms_of(condition))
        return list(dict.fromkeys(test for tests in each for test in tests or ()))

    def _tests(self, atom: Expr) -> list[Test] | None:
        if atom.op == "constant":
            return []
        if atom.op == "variable" and atom.value in self.ranges.numbers:
            return [Cut(self.ranges.numbers[atom.value], 1)]
        if atom.op in _COMPARISONS and atom.args[0].type != "bool":
            bounds = _sum_bounds(atom)
            if bounds is not None and self._is_tame(bounds[0]):
                return [test for upper in bounds[1] for test in self._linear(bounds[0], upper)]
        return self._plain(atom) if self.ranges.is_plain(atom) else None

    def _is_tame(self, factors: Linear) -> bool:
        """Return whether doubles would hold the sum, too, so that it may be compared with reals."""
        reach = 0
        for name, factor in factors.items():
            if name != ONE and name not in self.ranges.numbers:
                return False
            ends = (1,) if name == ONE else self.full[self.ranges.numbers[name]]
            reach += max(abs(factor * end) for end in ends)
        return reach < 2**52

    def _linear(self, factors: Linear, upper: int) -> list[Test]:
        """Return the test for a sum to be at most a number; none if it is always so, or never."""
        upper -= factors.get(ONE, 0)
        numbers = self.ranges.numbers
        terms = sorted((numbers[name], f) for name, f in factors.items() if name != ONE)
        if not terms:
            return []
        divisor = math.gcd(*(factor for _, factor in terms))
        terms, upper = [(v, factor // divisor) for v, factor in terms], upper // divisor
        if terms[0][1] < 0:  # at least a number: not at most one less
            terms, upper = [(v, -factor) for v, factor in terms], -upper - 1
        test: Test = Sum(tuple(terms), upper)
        if len(terms) == 1:
            test = Cut(terms[0][0], upper + 1)
        return [test] if self.truth(test, self.full) is None else []

    def _plain(self, atom: Expr) -> list[Test]:
        """Return the tests of a plain condition: cuts, if it is about one variable."""
        read = set(self._variables(atom))
        if len(read) != 1:
            return [Formula(_key(atom), atom)] if read else []
        (number,) = read
        low, high = self.full[number]
        if high - low >= MAX_VALUES:
            return [Formula(_key(atom), atom)]
        boxes = (self._at(number, value) for value in range(low, high + 1))
        values = [self.ranges.range_of(atom, box)[0] for box in boxes]
        pairs = enumerate(itertools.pairwise(values), low + 1)
        return [Cut(number, key) for key, (before, after) in pairs if before != after]

    def _at(self, number: int, value: int) -> Box:
        return (*self.full[:number], (value, value), *self.full[number + 1 :])

    def _variables(self, atom: Expr) -> Iterator[int]:
        arrays = self.task.description.arrays
        for node in postorder(atom):
            if node.op == "variable":
                yield self.ranges.numbers[node.value]
            elif node.op == "cell":
                names = (f"{node.value}[{i}]" for i in range(arrays[node.value].length))
                yield from (self.ranges.numbers[name] for name in names)

    # -- before a step -----------------------------------------------------------------------

    def before(self, test: Test, values: Mapping[int, Expr | None]) -> list[Test] | None:
        """Return the tests that decide before a step whether a test will hold after it.

        ``values`` is what the step makes of variables, None where that is not known; others stay as
        they are. None if there are no such tests.
        """
        condition = self._condition_after(test, values)
        return None if condition is None else self.tests_of(condition)

    def _condition_after(self, test: Test, values: Mapping[int, Expr | None]) -> Expr | None:
        if isinstance(test, Formula):
            names = {self.task.names[number]: value for number, value in values.items()}
            return rewritten(self.task, test.expr, names)
        read = [test.variable] if isinstance(test, Cut) else [v for v, _ in test.terms]
        after = {number: values.get(number, self._read(number)) for number in read}
        if any(value is None for value in after.values()):
            return None
        if isinstance(test, Cut):
            value = after[test.variable]
            assert value is not None
            return value if value.type == "bool" else make("ge", value, test.value)
        total: Expr = constant(0)
        for number, factor in test.terms:
            total = make("add", total, make("mul", factor, after[number]))
        return make("le", total, test.upper)

    def _read(self, number: int) -> Expr:
        return variable(self.task.names[number], self.task.variables[number].type)


def sum_range(terms: Sequence[tuple[int, int]], box: Box) -> tuple[int, int]:
    """Return the least and the greatest of a linear sum over a box."""
    low = sum(f * (box[v][0] if f > 0 else box[v][1]) for v, f in terms)
    high = sum(f * (box[v][1] if f > 0 else box[v][0]) for v, f in terms)
    return low, high


def narrowed_by(literal: Literal, box: Box) -> Box | None:
    """Return a box without states at its border in which the literal does not hold, as far as
    bounds tell; None if it holds nowhere.
    """
    predicate, holds = literal
    if not isinstance(predicate, Sum):
        return box
    terms, upper = predicate.terms, predicate.upper
    if not holds:
        terms, upper = tuple((v, -factor) for v, factor in terms), -upper - 1
    least, _ = sum_range(terms, box)
    if least > upper:
        return None
    bounds = list(box)
    for v, factor in terms:
        low, high = bounds[v]
        room = (upper - least) // abs(factor)
        bounds[v] = (low, min(high, low + room)) if factor > 0 else (max(low, high - room), high)
    return tuple(bounds)


def atoms_of(condition: Expr) -> list[Expr]:
    """Return the comparisons and Boolean variables that a condition is made of, each once."""
    atoms: list[Expr] = []
    seen: set[int] = set()
    waiting = [condition]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.op in _CONNECTIVES and all(arg.type == "bool" for arg in node.args):
            waiting.extend(reversed(node.args))
        else:
            atoms.append(node)
    return atoms


def _sum_bounds(atom: Expr) -> tuple[Linear, list[int]] | None:
    """Return a linear sum and the numbers such that the comparison is known by whether the sum is
    at most each of them; None if it is not about such a sum.
    """
    left, right = atom.args
    op = atom.op
    if left.op == "constant" and left.type == "real":
        left, right = right, left
        op = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(op, op)
    if right.op == "constant" and right.type == "real" and left.type == "int":
        total, number = linear(left, {}), right.value
        if total is None or abs(number) > 2**52:
            return None
        return total, _whole_bounds(op, number)
    if left.type != "int" or right.type != "int":
        return None
    difference = linear(make("sub", left, right), {})
    return None if difference is None else (difference, _whole_bounds(op, 0))


def _whole_bounds(op: str, number: float) -> list[int]:
    if op in ("le", "gt"):
        return [math.floor(number)]
    if op in ("lt", "ge"):
        return [math.ceil(number) - 1]
    return [int(number), int(number) - 1] if number == math.floor(number) else []


def _key(root: Expr) -> tuple[object, ...]:
    """Return something that is equal for expressions that are written alike."""
    numbers: dict[int, int] = {}
    nodes: dict[tuple[object, ...], int] = {}
    for node in postorder(root):
        args = tuple(numbers[id(arg)] for arg in node.args)
        numbers[id(node)] = nodes.setdefault((node.op, node.type, node.value, args), len(nodes))
    return tuple(nodes)
