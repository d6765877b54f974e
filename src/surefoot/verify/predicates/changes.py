"""What outcomes make of the variables, as expressions over the state before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.expressions import Expr, constant, postorder, variable

Values = dict[str, Expr | None]
"""what names stand for, None where it is not known"""


def values_after(task: CompiledTask, outcome: Outcome) -> dict[int, Expr | None]:
    """Return what the variables that an outcome writes become: by their numbers, None where no
    expression says so.
    """
    scratch = [v for v in task.description.variables.values() if v.is_scratch]
    now: Values = {v.name: constant(0 if v.initial is None else v.initial) for v in scratch}
    for group in sorted({each.index for each in outcome.assignments}):
        new: Values = {}
        for each in (a for a in outcome.assignments if a.index == group):
            new |= _written(task, each, now)
        now |= new
    numbers = {name: number for number, name in enumerate(task.names)}
    return {numbers[name]: value for name, value in now.items() if name in numbers}


def _written(task: CompiledTask, each: Assignment, now: Values) -> Values:
    value = None if each.value is None else rewritten(task, each.value, now)
    if each.target.op == "variable":
        return {each.target.value: value}
    position = rewritten(task, each.target.args[0], now)
    array = each.target.value
    if position is not None and position.op == "constant":
        return {f"{array}[{position.value}]": value}
    return dict.fromkeys(_cells(task, array), None)


def _cells(task: CompiledTask, array: str) -> Iterable[str]:
    return (f"{array}[{i}]" for i in range(task.description.arrays[array].length))


def rewritten(task: CompiledTask, root: Expr, now: Mapping[str, Expr | None]) -> Expr | None:
    """Return an expression with what names stand for in their place; None if it is not known.

    Cells with a constant index are variables.
    """
    done: dict[int, Expr | None] = {}
    for node in postorder(root):
        args = [done[id(arg)] for arg in node.args]
        done[id(node)] = _rewritten_node(task, node, args, now)
    return done[id(root)]


def _rewritten_node(
    task: CompiledTask, node: Expr, args: list[Expr | None], now: Mapping[str, Expr | None]
) -> Expr | None:
    known = [arg for arg in args if arg is not None]
    if len(known) < len(args):
        return None
    if node.op == "variable":
        return now.get(node.value, node)
    if node.op == "cell":
        if known[0].op == "constant":
            name = f"{node.value}[{known[0].value}]"
            return now.get(name, variable(name, node.type))
        if any(name in now for name in _cells(task, node.value)):
            return None
    if all(a is b for a, b in zip(known, node.args, strict=True)):
        return node
    return Expr(node.op, tuple(known), node.type, node.value)
