"""From expressions with names to the numbered nodes the core takes.

:class:`Nodes` collects the nodes of all expressions of a task: operands before their users, shared
parts once, integers turned into reals where they meet reals.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from surefoot import _core
from surefoot.errors import InputError
from surefoot.tasks.expressions import COMPARISONS, Array, Expr, Type, Value, postorder

TYPES: dict[Type, int] = {"bool": 0, "int": 1, "real": 2}
NO_NODE = -1
_OPS: dict[str, int] = _core.OPS

ERROR_TEXTS = {
    "overflow": "an integer does not fit 64 bits",
    "division-by-zero": "division by zero",
    "not-finite": "a real number is not finite",
    "negative-exponent": "pow of integers with a negative exponent",
    "bad-log": "log of a number that is not positive",
    "index-out-of-bounds": "an array index is out of bounds",
    "out-of-range": "an update leaves the range of a variable",
    "conflicting-assignments": "two assignments give one variable different values",
    "empty-interval": "an interval to choose from is empty",
    "negative-probability": "a probability is negative",
    "too-many-outcomes": "a step has too many outcomes",
}

NodeTuple = tuple[int, int, int, int, int, int]


def bits_of(value: Value, type: Type) -> int:
    """Return the 64 bits the core keeps a value in; reals as the pattern of the double."""
    if type == "real":
        (bits,) = struct.unpack("<q", struct.pack("<d", float(value)))
        return int(bits)
    return int(value)


@dataclass
class Nodes:
    """The nodes lowered so far. ``numbers`` says which number each variable (or array: its first
    cell) has.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    tuples: list[NodeTuple] = field(default_factory=list)
    _of_expr: dict[int, int] = field(default_factory=dict)
    _of_tuple: dict[NodeTuple, int] = field(default_factory=dict)
    _kept: list[Expr] = field(default_factory=list)

    def add(self, root: Expr | None, *, as_type: Type | None = None) -> int:
        """Return the number of the node for ``root``, as real on request; -1 for None."""
        if root is None:
            return NO_NODE
        if id(root) not in self._of_expr:
            self._kept.append(root)  # ids stay valid only as long as the expression lives
            for node in postorder(root):
                if id(node) not in self._of_expr:
                    self._of_expr[id(node)] = self._lower(node)
        return self._as(root, as_type or root.type)

    def _lower(self, node: Expr) -> int:
        if node.op == "constant":
            return self._put("constant", node.type, bits=bits_of(node.value, node.type))
        if node.op == "raise":
            return self._put("raise", node.type, bits=_core.ERRORS[node.value])
        if node.op == "variable":
            return self._put("variable", node.type, self.numbers[node.value])
        if node.op == "cell":
            first, length = self.numbers[node.value], self.arrays[node.value].length
            return self._put("cell", node.type, self._of_expr[id(node.args[0])], first, length)
        types = self._operand_types(node)
        return self._put(
            node.op, node.type, *(self._as(a, t) for a, t in zip(node.args, types, strict=True))
        )

    def _operand_types(self, node: Expr) -> list[Type]:
        types: list[Type] = [arg.type for arg in node.args]
        if node.op == "ite":
            return ["bool", node.type, node.type]
        is_mixed = node.op in ("eq", "ne") or node.op in COMPARISONS
        if is_mixed and "real" in types:
            return ["real"] * len(types)
        if node.type == "real":
            return ["real"] * len(types)
        return types

    def _as(self, node: Expr, wanted: Type) -> int:
        number = self._of_expr[id(node)]
        return (
            self._put("to_real", "real", number)
            if node.type == "int" and wanted == "real"
            else number
        )

    def _put(
        self, op: str, type: Type, a: int = -1, b: int = -1, c: int = -1, bits: int = 0
    ) -> int:
        key = (_OPS[op], TYPES[type], a, b, c, bits)
        number = self._of_tuple.get(key)
        if number is None:
            number = self._of_tuple[key] = len(self.tuples)
            self.tuples.append(key)
        return number


def constant_value(root: Expr) -> Value:
    """Return the value of an expression without variables. Raises InputError if it has none."""
    if root.op == "constant":
        value: Value = root.value
        return value
    nodes = Nodes()
    last = nodes.add(root)
    try:
        result = _core.constant_value(nodes.tuples[: last + 1])
    except _core.ModelError as error:
        kind = error.args[0]
        raise InputError(kind, f"{ERROR_TEXTS[kind]} in a constant expression") from None
    return result


def is_constant(root: Expr) -> bool:
    """Return whether the expression reads no variable."""
    return all(node.op not in ("variable", "cell") for node in postorder(root))
