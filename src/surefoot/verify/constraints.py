"""Linear sums of variables that no step changes.

``find_constraints`` finds them as the left kernel of what the outcomes do: every outcome adds some
linear function of the state to each variable, and a sum is kept if these cancel out. It is used if
the start condition fixes its value: then it has that value in all states that are ever reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.description import Assignment, Edge, Outcome
from surefoot.tasks.expressions import Expr, postorder

Constraint = tuple[Mapping[str, int], int, int]
"""factors of variables, and the least and the greatest that the sum may be"""

Linear = dict[str, int]
"""factors of variables; that of the empty name is the constant"""

Row = list[Fraction]
ONE = ""
MAX_VARIABLES = 400
MAX_STARTS = 1000
MAX_FACTOR = 2**20


def find_constraints(task: CompiledTask) -> list[Constraint]:
    """Return independent linear sums that every outcome keeps, with their value at the start."""
    names = [v.name for v in task.variables if v.type == "int"]
    if not names or len(names) > MAX_VARIABLES:
        return []
    equations, rows = _start_equations(task, names)
    for edge in task.description.edges:
        rows += _kept_by(task, edge)
    constraints = []
    for combination in _kernel(
        [[_dot(row, e) for e in equations] for row in _distinct(rows)], len(equations)
    ):
        made = _constraint(combination, equations, names)
        if made is not None:
            constraints.append(made)
    return constraints


def core_constraints(task: CompiledTask) -> list[tuple[list[tuple[int, int]], int, int]]:
    """Return the constraints as the core takes them: by the numbers of variables."""
    numbers = {name: number for number, name in enumerate(task.names)}
    return [
        ([(numbers[name], factor) for name, factor in factors.items()], lower, upper)
        for factors, lower, upper in find_constraints(task)
    ]


def _constraint(
    combination: Row, equations: Sequence[Linear], names: Sequence[str]
) -> Constraint | None:
    total: dict[str, Fraction] = {}
    for share, equation in zip(combination, equations, strict=True):
        for name, factor in equation.items():
            total[name] = total.get(name, Fraction(0)) + share * factor
    scale = math.lcm(*(each.denominator for each in total.values())) if total else 1
    value = -int(total.pop(ONE, Fraction(0)) * scale)
    whole = {name: int(total[name] * scale) for name in names if total.get(name)}
    if not whole or max(map(abs, whole.values())) > MAX_FACTOR:
        return None
    divisor = math.gcd(*whole.values())
    if value % divisor:
        return None
    sign = -1 if next(iter(whole.values())) < 0 else 1
    factors = {name: sign * each // divisor for name, each in whole.items()}
    value = sign * value // divisor
    return factors, value, value


def _dot(row: Linear, equation: Linear) -> Fraction:
    return Fraction(sum(row.get(n, 0) * factor for n, factor in equation.items() if n != ONE))


# -- what is known at the start ----------------------------------------------------------------


def _start_equations(task: CompiledTask, names: Sequence[str]) -> tuple[list[Linear], list[Linear]]:
    """Return sums that are 0 in all start states, or else in one of them, and then what must be
    kept for them to be so in the others.
    """
    source = task.start_source()
    if source is None:
        condition = task.description.start_condition
        if condition is None:
            condition = task.description.initial_condition()
        known = set(names)
        equations = [] if condition is None else [_equation(each) for each in conjuncts(condition)]
        return [each for each in equations if each and set(each) - {ONE} <= known], []
    columns = dict(zip(task.names, task.columns(source), strict=True))
    count = len(columns[names[0]])
    if not 0 < count <= MAX_STARTS:
        return [], []
    first = {name: int(columns[name][0]) for name in names}
    steps = [{n: int(columns[n][i]) - first[n] for n in names} for i in range(1, count)]
    return [{name: 1, ONE: -first[name]} for name in names], steps


def conjuncts(root: Expr) -> list[Expr]:
    """Return the parts of a conjunction."""
    parts, waiting = [], [root]
    while waiting:
        node = waiting.pop()
        if node.op == "and":
            waiting += reversed(node.args)
        else:
            parts.append(node)
    return parts


def _equation(condition: Expr) -> Linear | None:
    """Return the sum that is 0 where the condition, an equation of integers, holds."""
    if condition.op != "eq" or condition.args[0].type != "int" or condition.args[1].type != "int":
        return None
    left, right = (linear(arg, {}) for arg in condition.args)
    return None if left is None or right is None else _plus(left, right, -1)


# -- what outcomes keep ------------------------------------------------------------------------


def _kept_by(task: CompiledTask, edge: Edge) -> list[Linear]:
    """Return rows whose product with the factors of a sum must be 0 for it to be kept."""
    fixed: dict[str, Linear | None] = {}
    for condition in [] if edge.guard is None else conjuncts(edge.guard):
        equation = _equation(condition)
        if equation and len(equation.keys() - {ONE}) == 1:
            ((name, factor),) = [(n, f) for n, f in equation.items() if n != ONE]
            if equation.get(ONE, 0) % factor == 0:
                fixed[name] = {ONE: -equation.get(ONE, 0) // factor}
    rows: list[Linear] = []
    for outcome in edge.outcomes:
        rows += _rows_of(task, outcome, fixed)
    return rows


def _rows_of(
    task: CompiledTask, outcome: Outcome, fixed: Mapping[str, Linear | None]
) -> list[Linear]:
    changes: dict[str, Linear | None] = {}
    for name, value in _values_after(task, outcome, fixed).items():
        old = fixed.get(name) or {name: 1}
        changes[name] = None if value is None else _plus(value, old, -1)
    rows: list[Linear] = [{name: 1} for name, change in changes.items() if change is None]
    parts = dict.fromkeys(part for change in changes.values() for part in change or {})
    for part in parts:
        row = {name: change.get(part, 0) for name, change in changes.items() if change}
        rows.append({name: factor for name, factor in row.items() if factor})
    return [row for row in rows if row]


def _values_after(
    task: CompiledTask, outcome: Outcome, fixed: Mapping[str, Linear | None]
) -> dict[str, Linear | None]:
    """Return what the variables that an outcome writes become, None where that is not linear."""
    scratch = [v for v in task.description.variables.values() if v.is_scratch]
    now: dict[str, Linear | None] = {
        v.name: {ONE: int(v.initial or 0)} if v.type == "int" else None for v in scratch
    }
    now |= fixed
    written: dict[str, Linear | None] = {}
    for group in sorted({each.index for each in outcome.assignments}):
        new: dict[str, Linear | None] = {}
        for each in (a for a in outcome.assignments if a.index == group):
            for name, value in _written(task, each, now):
                new[name] = None if name in new and new[name] != value else value
        now |= new
        written |= new
    return {name: value for name, value in written.items() if name in set(task.names)}


def _written(
    task: CompiledTask, each: Assignment, now: Mapping[str, Linear | None]
) -> Iterable[tuple[str, Linear | None]]:
    value = linear(each.value, now) if each.value is not None else None
    if each.target.op == "variable":
        return [(each.target.value, value)]
    position = linear(each.target.args[0], now)
    if position is not None and not position.keys() - {ONE}:
        return [(f"{each.target.value}[{position.get(ONE, 0)}]", value)]
    length = task.description.arrays[each.target.value].length
    return [(f"{each.target.value}[{i}]", None) for i in range(length)]


# -- linear expressions ------------------------------------------------------------------------


def linear(root: Expr, now: Mapping[str, Linear | None]) -> Linear | None:
    """Return the integer expression as a linear sum; None if it is not one.

    ``now`` says what some names stand for.
    """
    if root.type != "int":
        return None
    forms: dict[int, Linear | None] = {}
    for node in postorder(root):
        forms[id(node)] = _linear_node(node, [forms[id(arg)] for arg in node.args], now)
    return forms[id(root)]


def _linear_node(
    node: Expr, args: Sequence[Linear | None], now: Mapping[str, Linear | None]
) -> Linear | None:
    if node.op == "constant":
        return {ONE: node.value} if node.type == "int" else None
    if node.op == "variable":
        return now.get(node.value, {node.value: 1}) if node.type == "int" else None
    if any(arg is None for arg in args) or node.type != "int":
        return None
    known = [arg for arg in args if arg is not None]
    if node.op == "cell" and not known[0].keys() - {ONE}:
        name = f"{node.value}[{known[0].get(ONE, 0)}]"
        return now.get(name, {name: 1})
    if node.op in ("add", "sub"):
        return _plus(known[0], known[1], 1 if node.op == "add" else -1)
    if node.op == "neg":
        return _plus({}, known[0], -1)
    if node.op == "mul":
        known.sort(key=lambda operand: len(operand.keys() - {ONE}))
        if not known[0].keys() - {ONE}:
            return _plus({}, known[1], known[0].get(ONE, 0))
    return None


def _plus(a: Linear, b: Linear, factor: int) -> Linear:
    total = dict(a)
    for name, own in b.items():
        total[name] = total.get(name, 0) + factor * own
    return {name: own for name, own in total.items() if own}


# -- kernels -----------------------------------------------------------------------------------


def _distinct(rows: Iterable[Linear]) -> list[Linear]:
    return list({tuple(sorted(row.items())): row for row in rows}.values())


def _kernel(rows: Sequence[Row], width: int) -> list[Row]:
    """Return a basis of the vectors whose product with every row is 0."""
    reduced: dict[int, Row] = {}  # by the column of the leading one
    for row in rows:
        left = list(row)
        for column, other in reduced.items():
            if left[column]:
                share = left[column]
                left = [a - share * b for a, b in zip(left, other, strict=True)]
        lead = next((i for i, each in enumerate(left) if each), None)
        if lead is None:
            continue
        left = [each / left[lead] for each in left]
        for column, other in reduced.items():
            share = other[lead]
            if share:
                reduced[column] = [a - share * b for a, b in zip(other, left, strict=True)]
        reduced[lead] = left
    basis = []
    for free in (i for i in range(width) if i not in reduced):
        vector = [Fraction(int(i == free)) for i in range(width)]
        for column, row in reduced.items():
            vector[column] = -row[free]
        basis.append(vector)
    return basis
