"""Integer and Boolean expressions over boxes of states.

:func:`range_of` bounds an expression over a box; in a single state it is exact. Only *plain*
expressions are understood: integers and Booleans, real constants in comparisons, and nothing that
could raise an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.expressions import Expr, postorder

Bounds = tuple[int, int]
Box = tuple[Bounds, ...]
"""the least and the greatest value of each variable in the order of the task, Booleans as 0, 1"""

LARGEST = 2**52
"""doubles hold integers up to here"""
BOTH = (0, 1)
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def full_box(task: CompiledTask) -> Box:
    """Return the box of all values of all variables."""
    return tuple((int(v.lower), int(v.upper)) for v in task.variables)


def names_of(task: CompiledTask) -> dict[str, int]:
    """Return the numbers of the variables."""
    return {name: number for number, name in enumerate(task.names)}


def meet(first: Sequence[Bounds], other: Sequence[Bounds]) -> Box | None:
    """Return what two boxes have in common; None for nothing."""
    common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(first, other, strict=True))
    return None if any(low > high for low, high in common) else common


def whole(box: Sequence[tuple[Any, Any]]) -> Box:
    """Return a box of the core with integers for Booleans."""
    return tuple((int(low), int(high)) for low, high in box)


class Ranges:
    """Bounds of expressions over boxes of a task."""

    def __init__(self, task: CompiledTask) -> None:
        self.task = task
        self.numbers = names_of(task)
        self.full = full_box(task)
        self._plain: dict[int, tuple[bool, Expr]] = {}

    def is_plain(self, root: Expr) -> bool:
        """Return whether the expression is understood, wherever it is evaluated."""
        if id(root) not in self._plain:
            self._plain[id(root)] = self._is_plain(root), root
        return self._plain[id(root)][0]

    def _is_plain(self, root: Expr) -> bool:
        known: dict[int, Bounds] = {}
        for node in postorder(root):
            args = [known.get(id(arg)) for arg in node.args]
            if any(arg is None for arg in args) or not self._is_known(node, args):
                return False
            bounds = self._node(node, args, self.full)  # type: ignore[arg-type]
            if node.type != "bool" and max(map(abs, bounds)) > LARGEST:
                return False
            known[id(node)] = bounds
        return True

    def _is_known(self, node: Expr, args: Sequence[Any]) -> bool:
        if node.op == "variable":
            return node.value in self.numbers and node.type != "real"
        if node.op == "cell":
            length = self.task.description.arrays[node.value].length
            first = f"{node.value}[0]"
            return args[0][0] >= 0 and args[0][1] < length and first in self.numbers
        if node.op == "mod":
            return bool(args[1][0] == args[1][1] != 0)
        if node.op == "constant":
            return True
        if node.type == "real":
            return False
        is_real = any(arg.type == "real" for arg in node.args)
        return node.op in _OPERATORS and (node.op in _COMPARISONS or not is_real)

    def range_of(self, root: Expr, box: Box) -> Bounds:
        """Return the least and the greatest that a plain expression may be in a box."""
        known: dict[int, Bounds] = {}
        for node in postorder(root):
            known[id(node)] = self._node(node, [known[id(arg)] for arg in node.args], box)
        return known[id(root)]

    def _node(self, node: Expr, args: Sequence[Bounds], box: Box) -> Bounds:
        if node.op == "constant":
            value = node.value if node.type == "real" else int(node.value)
            return value, value
        if node.op == "variable":
            return box[self.numbers[node.value]]
        if node.op == "cell":
            low, high = args[0]
            cells = [box[self.numbers[f"{node.value}[{i}]"]] for i in range(low, high + 1)]
            return min(low for low, _ in cells), max(high for _, high in cells)
        return _OPERATORS[node.op](*args)


# -- operators ---------------------------------------------------------------------------------


def _add(a: Bounds, b: Bounds) -> Bounds:
    return a[0] + b[0], a[1] + b[1]


def _neg(a: Bounds) -> Bounds:
    return -a[1], -a[0]


def _mul(a: Bounds, b: Bounds) -> Bounds:
    products = [x * y for x in a for y in b]
    return min(products), max(products)


def _mod(a: Bounds, b: Bounds) -> Bounds:
    divisor = b[0]  # the same as b[1]
    if a[0] // divisor == a[1] // divisor:
        low, high = sorted((a[0] % divisor, a[1] % divisor))
        return low, high
    return (0, divisor - 1) if divisor > 0 else (divisor + 1, 0)


def _abs(a: Bounds) -> Bounds:
    ends = sorted((abs(a[0]), abs(a[1])))
    return (0 if a[0] <= 0 <= a[1] else ends[0]), ends[1]


def _ite(condition: Bounds, a: Bounds, b: Bounds) -> Bounds:
    if condition[0] == condition[1]:
        return a if condition[0] else b
    return min(a[0], b[0]), max(a[1], b[1])


def _less(a: Bounds, b: Bounds) -> Bounds:
    return int(a[1] < b[0]), int(a[0] < b[1])


def _equal(a: Bounds, b: Bounds) -> Bounds:
    return int(a[0] == a[1] == b[0] == b[1]), int(a[0] <= b[1] and b[0] <= a[1])


def _not(a: Bounds) -> Bounds:
    return 1 - a[1], 1 - a[0]


def _sign(a: Bounds) -> Bounds:
    return (a[0] > 0) - (a[0] < 0), (a[1] > 0) - (a[1] < 0)


def _least(a: Bounds, b: Bounds) -> Bounds:
    return min(a[0], b[0]), min(a[1], b[1])


def _most(a: Bounds, b: Bounds) -> Bounds:
    return max(a[0], b[0]), max(a[1], b[1])


_OPERATORS: Mapping[str, Callable[..., Bounds]] = {
    "add": _add,
    "sub": lambda a, b: _add(a, _neg(b)),
    "neg": _neg,
    "mul": _mul,
    "mod": _mod,
    "abs": _abs,
    "min": _least,
    "max": _most,
    "sgn": _sign,
    "floor": lambda a: a,
    "ceil": lambda a: a,
    "trc": lambda a: a,
    "ite": _ite,
    "not": _not,
    "and": _least,
    "or": _most,
    "implies": lambda a, b: _most(_not(a), b),
    "lt": _less,
    "le": lambda a, b: _not(_less(b, a)),
    "gt": lambda a, b: _less(b, a),
    "ge": lambda a, b: _not(_less(a, b)),
    "eq": _equal,
    "ne": lambda a, b: _not(_equal(a, b)),
}
