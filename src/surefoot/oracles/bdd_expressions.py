"""Expressions as decision diagrams.

:class:`Environment` says what every name stands for at some point of a step and evaluates
expressions there, for all states at once: the result is a value and the set of states in which
evaluating it is an error. Where it is an error the value means nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from surefoot.oracles.bdd_values import Algebra, Diagram, Int, Value
from surefoot.tasks.expressions import COMPARISONS, Array, Expr, Type, postorder

Result = tuple[Value, Diagram]


class Environment:
    """The values of all variables, scratch ones included, and what was computed from them."""

    def __init__(
        self, algebra: Algebra, values: Mapping[str, Value], arrays: Mapping[str, Array]
    ) -> None:
        self.algebra = algebra
        self.values = values
        self.arrays = arrays
        self._results: dict[int, Result] = {}
        self._kept: list[Expr] = []  # ids are only good as long as the expressions live

    def changed(self, values: Mapping[str, Value]) -> Environment:
        """Return the environment in which these names stand for something else."""
        return Environment(self.algebra, {**self.values, **values}, self.arrays)

    def forget(self) -> None:
        """Free what was computed."""
        self._results.clear()
        self._kept.clear()

    def evaluate(self, root: Expr, *, as_type: Type | None = None) -> Result:
        """Return the value of an expression, as real on request, and where it is an error."""
        if id(root) not in self._results:
            self._kept.append(root)
            for node in postorder(root):
                if id(node) not in self._results:
                    self.algebra.tick()
                    self._results[id(node)] = self._node(node)
        value, error = self._results[id(root)]
        if as_type == "real" and root.type == "int":
            value = self.algebra.to_real(value)
        return value, error

    def _node(self, node: Expr) -> Result:
        algebra = self.algebra
        if node.op == "constant":
            return self._constant(node), algebra.false
        if node.op == "variable":
            return self.values[node.value], algebra.false
        if node.op == "raise":
            return self._anything(node.type), algebra.true
        if node.op == "cell":
            return self._cell(node)
        if node.op in _LAZY:
            return _LAZY[node.op](self, node)
        values, errors = zip(*(self._results[id(arg)] for arg in node.args), strict=True)
        value, error = self._strict(node, values)
        return value, algebra.union([*errors, error])

    def _constant(self, node: Expr) -> Value:
        if node.type == "int":
            return self.algebra.integer(node.value)
        if node.type == "real":
            return {node.value: self.algebra.valid}
        return self.algebra.true if node.value else self.algebra.false

    def _anything(self, type: Type) -> Value:
        """Return some value of the type, for where it does not matter."""
        if type == "int":
            return self.algebra.integer(0)
        return {0.0: self.algebra.valid} if type == "real" else self.algebra.false

    # -- arrays ------------------------------------------------------------------------------

    def _cell(self, node: Expr) -> Result:
        index, error = self._results[id(node.args[0])]
        length = self.arrays[node.value].length
        value: Value | None = None
        for i, where in self.positions(index, length):
            cell = self.values[f"{node.value}[{i}]"]
            value = cell if value is None else self.algebra.select(where, cell, value)
        if value is None:
            value = self._anything(node.type)
        return value, error | ~self.algebra.within(index, 0, length - 1)

    def positions(self, index: Int, length: int) -> list[tuple[int, Diagram]]:
        """Return each position of an array that the index can be, and where it is that."""
        possible = range(max(index.lower, 0), min(index.upper, length - 1) + 1)
        positions = []
        for i in possible:
            self.algebra.tick()
            positions.append((i, self.algebra.equal(index, self.algebra.integer(i))))
        return positions

    # -- operators that do not evaluate all of their operands --------------------------------

    def _and(self, node: Expr) -> Result:
        (a, a_error), (b, b_error) = (self._results[id(arg)] for arg in node.args)
        return a & b, a_error | (a & b_error)

    def _or(self, node: Expr) -> Result:
        (a, a_error), (b, b_error) = (self._results[id(arg)] for arg in node.args)
        return a | b, a_error | (b_error & ~a)

    def _implies(self, node: Expr) -> Result:
        (a, a_error), (b, b_error) = (self._results[id(arg)] for arg in node.args)
        return a.imp(b), a_error | (a & b_error)

    def _ite(self, node: Expr) -> Result:
        condition, error = self._results[id(node.args[0])]
        (a, a_error), (b, b_error) = (self._as(arg, node.type) for arg in node.args[1:])
        value = self.algebra.select(condition, a, b)
        return value, error | condition.ite(a_error, b_error)

    def _guarded(self, node: Expr) -> Result:
        (a, error), (b, _) = (self._as(arg, node.type) for arg in node.args)
        return self.algebra.select(error, b, a), self.algebra.false

    def _as(self, arg: Expr, type: Type) -> Result:
        value, error = self._results[id(arg)]
        is_widened = type == "real" and arg.type == "int"
        return (self.algebra.to_real(value) if is_widened else value), error

    # -- operators that do -------------------------------------------------------------------

    def _strict(self, node: Expr, values: tuple[Value, ...]) -> Result:
        types = {arg.type for arg in node.args}
        if node.op == "not":
            return ~values[0], self.algebra.false
        if types == {"bool"}:  # = and ≠
            same = values[0].equiv(values[1])
            return (same if node.op == "eq" else ~same), self.algebra.false
        if types == {"int"} and node.op in _ON_INTS:
            return _ON_INTS[node.op](self.algebra, *values)
        return self.algebra.by_cases(node.op, values, node.type)


_LAZY: dict[str, Callable[[Environment, Expr], Result]] = {
    "and": Environment._and,
    "or": Environment._or,
    "implies": Environment._implies,
    "ite": Environment._ite,
    "guarded": Environment._guarded,
}


def _compare(op: str) -> Callable[..., Result]:
    def apply(algebra: Algebra, a: Int, b: Int) -> Result:
        if op in ("eq", "ne"):
            same = algebra.equal(a, b)
            return (same if op == "eq" else ~same), algebra.false
        less = algebra.less(a, b) if op in ("lt", "ge") else algebra.less(b, a)
        return (less if op in ("lt", "gt") else ~less), algebra.false

    return apply


def _absolute(algebra: Algebra, a: Int) -> Result:
    return algebra.fitted(algebra.larger(a, algebra.negate(a)))


def _sign(algebra: Algebra, a: Int) -> Result:
    is_negative = a.bits[-1]
    is_zero = algebra.equal(a, algebra.integer(0))
    return Int((~is_zero, is_negative), -1, 1), algebra.false


_ON_INTS: dict[str, Callable[..., Result]] = {
    **{op: _compare(op) for op in ("eq", "ne", *COMPARISONS)},
    "neg": lambda algebra, a: algebra.fitted(algebra.negate(a)),
    "add": lambda algebra, a, b: algebra.fitted(algebra.add(a, b)),
    "sub": lambda algebra, a, b: algebra.fitted(algebra.subtract(a, b)),
    "mul": lambda algebra, a, b: algebra.fitted(algebra.multiply(a, b)),
    "min": lambda algebra, a, b: (algebra.smaller(a, b), algebra.false),
    "max": lambda algebra, a, b: (algebra.larger(a, b), algebra.false),
    "abs": _absolute,
    "sgn": _sign,
    **{op: lambda algebra, a: (a, algebra.false) for op in ("floor", "ceil", "trc")},
}
