"""Expressions over the variables of a task, written with Python's operators.

``x + 1 <= limit``, ``(x == 0) & ~lit``, ``ite(lit, x, 0)``: every operator makes an :class:`Expr`
and checks the types at once. ``&``, ``|`` and ``~`` are *and*, *or* and *not* (Python's own
``and``, ``or`` and ``not`` cannot be overloaded, and using them raises an error that says so). The
meaning of every operator is in docs/semantics.md.

Expressions are immutable and may be shared; whoever walks them must do so without recursion, as
they may be a hundred thousand levels deep.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, Literal

from surefoot.errors import InputError, printable

Type = Literal["bool", "int", "real"]
Value = bool | int | float

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**63 - 1

COMPARISONS: Final = frozenset({"lt", "le", "gt", "ge"})
SYMBOLS: Final = {
    "not": "¬", "and": "∧", "or": "∨", "implies": "⇒", "eq": "=", "ne": "≠", "lt": "<", "le": "≤",
    "gt": ">", "ge": "≥", "neg": "-", "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%",
    "min": "min", "max": "max", "abs": "abs", "pow": "pow", "log": "log", "floor": "floor",
    "ceil": "ceil", "trc": "trc", "sgn": "sgn", "ite": "ite", "guarded": "guarded",
}  # fmt: skip


class Expr:
    """One node of an expression: operator, operands, type.

    ``op`` is a key of ``SYMBOLS``, or ``constant`` (``value`` is the value), ``variable``
    (``value`` is the name), ``cell`` (``value`` is the name of the array, the operand is the index)
    or ``raise`` (``value`` is the kind of the evaluation error). ``guarded`` has the value of its
    first operand or, where that raises an error, its second, a constant.
    """

    __slots__ = ("args", "op", "type", "value")
    __hash__ = object.__hash__

    op: str
    args: tuple[Expr, ...]
    type: Type
    value: Any

    def __init__(self, op: str, args: tuple[Expr, ...], type: Type, value: object = None) -> None:
        self.op = op
        self.args = args
        self.type = type
        self.value = value

    def __add__(self, other: Expr | Value) -> Expr:
        return make("add", self, other)

    def __radd__(self, other: Expr | Value) -> Expr:
        return make("add", other, self)

    def __sub__(self, other: Expr | Value) -> Expr:
        return make("sub", self, other)

    def __rsub__(self, other: Expr | Value) -> Expr:
        return make("sub", other, self)

    def __mul__(self, other: Expr | Value) -> Expr:
        return make("mul", self, other)

    def __rmul__(self, other: Expr | Value) -> Expr:
        return make("mul", other, self)

    def __truediv__(self, other: Expr | Value) -> Expr:
        return make("div", self, other)

    def __rtruediv__(self, other: Expr | Value) -> Expr:
        return make("div", other, self)

    def __mod__(self, other: Expr | Value) -> Expr:
        return make("mod", self, other)

    def __rmod__(self, other: Expr | Value) -> Expr:
        return make("mod", other, self)

    def __pow__(self, other: Expr | Value) -> Expr:
        return make("pow", self, other)

    def __rpow__(self, other: Expr | Value) -> Expr:
        return make("pow", other, self)

    def __neg__(self) -> Expr:
        return make("neg", self)

    def __abs__(self) -> Expr:
        return make("abs", self)

    def __and__(self, other: Expr | Value) -> Expr:
        return make("and", self, other)

    def __rand__(self, other: Expr | Value) -> Expr:
        return make("and", other, self)

    def __or__(self, other: Expr | Value) -> Expr:
        return make("or", self, other)

    def __ror__(self, other: Expr | Value) -> Expr:
        return make("or", other, self)

    def __invert__(self) -> Expr:
        return make("not", self)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        return make("eq", self, other)

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        return make("ne", self, other)

    def __lt__(self, other: Expr | Value) -> Expr:
        return make("lt", self, other)

    def __le__(self, other: Expr | Value) -> Expr:
        return make("le", self, other)

    def __gt__(self, other: Expr | Value) -> Expr:
        return make("gt", self, other)

    def __ge__(self, other: Expr | Value) -> Expr:
        return make("ge", self, other)

    def __bool__(self) -> bool:
        raise TypeError(
            "an expression has no truth value of its own: write & | ~ instead of and, or, not, "
            "and (0 <= x) & (x < 3) instead of 0 <= x < 3"
        )

    def __str__(self) -> str:
        return text_of(self)

    def __repr__(self) -> str:
        return f"<Expr {text_of(self, limit=20)}>"


def constant(value: object) -> Expr:
    """Return the expression of a Python value: bool, int or float. Raises InputError for others."""
    if isinstance(value, bool):
        return Expr("constant", (), "bool", value)
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            raise InputError("number-too-large", "integer does not fit 64 bits")
        return Expr("constant", (), "int", value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError("number-not-finite", "numbers must be finite")
        return Expr("constant", (), "real", value)
    raise InputError(
        "type-mismatch", f"{printable(repr(value))} is not a number, Boolean or expression"
    )


def variable(name: str, type: Type) -> Expr:
    """Return the expression that reads a variable."""
    return Expr("variable", (), type, name)


class Array:
    """A fixed number of cells of one type; ``array[index]`` reads or, as target of an assignment,
    writes one.
    """

    def __init__(self, name: str, type: Type, length: int) -> None:
        self.name = name
        self.type: Type = type
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: Expr | int) -> Expr:
        position = as_expr(index)
        if position.type != "int":
            raise InputError("type-mismatch", f"an array index is an int, not {position.type}")
        return Expr("cell", (position,), self.type, self.name)

    def __iter__(self) -> Iterator[Expr]:
        return (self[i] for i in range(self.length))


def as_expr(value: object) -> Expr:
    """Return ``value`` if it is an expression, else the constant."""
    return value if isinstance(value, Expr) else constant(value)


def make(op: str, *operands: object) -> Expr:
    """Return the node ``op(operands)``. Raises InputError (``type-mismatch``) if the types do not
    fit.
    """
    args = tuple(as_expr(operand) for operand in operands)
    return Expr(op, args, _result_type(op, args))


def _result_type(op: str, args: tuple[Expr, ...]) -> Type:
    types = {arg.type for arg in args}
    if op in ("not", "and", "or", "implies"):
        return "bool" if types == {"bool"} else _mismatch(op, args, "Booleans")
    if op == "ite":
        return _branch_type(args)
    if op in ("eq", "ne"):
        mixed = "bool" in types and len(types) > 1
        return _mismatch(op, args, "two Booleans or two numbers") if mixed else "bool"
    if "bool" in types:
        return _mismatch(op, args, "numbers")
    if op in COMPARISONS:
        return "bool"
    if op in ("floor", "ceil", "trc", "sgn"):
        return "int"
    if op in ("div", "log"):
        return "real"
    if op == "mod" and types != {"int"}:
        return _mismatch(op, args, "integers")
    return "int" if types == {"int"} else "real"


def _branch_type(args: tuple[Expr, ...]) -> Type:
    condition, then, otherwise = args
    if condition.type != "bool":
        return _mismatch("ite", args, "a Boolean condition")
    if then.type == otherwise.type:
        return then.type
    if "bool" in (then.type, otherwise.type):
        return _mismatch("ite", args, "branches of one type")
    return "real"


def _mismatch(op: str, args: tuple[Expr, ...], wanted: str) -> Type:
    got = ", ".join(arg.type for arg in args)
    raise InputError("type-mismatch", f"operator {SYMBOLS[op]} needs {wanted}, not {got}")


def ite(condition: Expr | bool, then: Expr | Value, otherwise: Expr | Value) -> Expr:
    """Return ``then`` where the condition holds, else ``otherwise``."""
    return make("ite", condition, then, otherwise)


def implies(left: Expr | bool, right: Expr | bool) -> Expr:
    """Return *left implies right*."""
    return make("implies", left, right)


def minimum(left: Expr | Value, right: Expr | Value) -> Expr:
    """Return the smaller of two numbers."""
    return make("min", left, right)


def maximum(left: Expr | Value, right: Expr | Value) -> Expr:
    """Return the larger of two numbers."""
    return make("max", left, right)


def floor(value: Expr | Value) -> Expr:
    """Return the largest integer not above ``value``."""
    return make("floor", value)


def ceil(value: Expr | Value) -> Expr:
    """Return the smallest integer not below ``value``."""
    return make("ceil", value)


def truncate(value: Expr | Value) -> Expr:
    """Return ``value`` without its fractional part: the next integer towards 0."""
    return make("trc", value)


def sign(value: Expr | Value) -> Expr:
    """Return -1, 0 or 1: the sign of ``value``."""
    return make("sgn", value)


def log(value: Expr | Value, base: Expr | Value) -> Expr:
    """Return the logarithm of ``value`` to this base."""
    return make("log", value, base)


def all_of(conditions: list[Expr]) -> Expr | None:
    """Return the conjunction from left to right, or None for no conditions."""
    result: Expr | None = None
    for condition in conditions:
        result = condition if result is None else make("and", result, condition)
    return result


def substitute(root: Expr, replace: dict[str, Expr]) -> Expr:
    """Return ``root`` with variables replaced by name. Shared parts stay shared."""
    done: dict[int, Expr] = {}
    for node in postorder(root):
        if node.op == "variable" and node.value in replace:
            done[id(node)] = replace[node.value]
            continue
        args = tuple(done[id(arg)] for arg in node.args)
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        done[id(node)] = node if same else Expr(node.op, args, _retyped(node, args), node.value)
    return done[id(root)]


def _retyped(node: Expr, args: tuple[Expr, ...]) -> Type:
    return node.type if node.op == "cell" else _result_type(node.op, args)


def postorder(root: Expr) -> Iterator[Expr]:
    """Yield every node once, operands before their users."""
    seen: set[int] = set()
    stack: list[tuple[Expr, bool]] = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if expanded:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((arg, False) for arg in reversed(node.args))


def variables_in(root: Expr) -> set[str]:
    """Return the names of the variables and arrays that the expression reads."""
    return {node.value for node in postorder(root) if node.op in ("variable", "cell")}


_ASSOCIATIVE = frozenset({"and", "or", "add", "mul"})
_PREFIX = frozenset({"not", "neg"})
_CALLS = frozenset(
    {"guarded", "min", "max", "abs", "pow", "log", "floor", "ceil", "trc", "sgn", "ite"}
)


def text_of(root: Expr, limit: int = 400) -> str:
    """Return the expression for people: infix, with names escaped, cut with an ellipsis after
    ``limit`` parts.
    """
    parts: list[str] = []
    stack: list[Expr | str] = [root]
    while stack and len(parts) < limit:
        item = stack.pop()
        if isinstance(item, str):
            parts.append(item)
        else:
            stack.extend(reversed(_pieces(item, is_root=item is root)))
    return "".join(parts) + ("…" if stack else "")


def _pieces(node: Expr, *, is_root: bool) -> list[Expr | str]:
    if node.op == "constant":
        return [str(node.value).lower() if node.type == "bool" else str(node.value)]
    if node.op == "variable":
        return [printable(node.value)]
    if node.op == "raise":
        return [f"error({node.value})"]
    if node.op == "cell":
        return [printable(node.value), "[", node.args[0], "]"]
    symbol = SYMBOLS[node.op]
    if node.op in _CALLS:
        pieces: list[Expr | str] = [symbol, "("]
        for i, arg in enumerate(node.args):
            pieces += [", ", arg] if i else [arg]
        return [*pieces, ")"]
    if node.op in _PREFIX:
        return [symbol, node.args[0]]
    inner: list[Expr | str] = []
    for arg in _chain(node) if node.op in _ASSOCIATIVE else node.args:
        inner += [f" {symbol} ", arg] if inner else [arg]
    return inner if is_root else ["(", *inner, ")"]


def _chain(node: Expr, limit: int = 400) -> list[Expr]:
    """Return the operands of nested nodes of one associative operator, from left to right."""
    parts: list[Expr] = []
    stack = [node]
    while stack and len(parts) < limit:
        item = stack.pop()
        if item.op == node.op:
            stack.extend(reversed(item.args))
        else:
            parts.append(item)
    return parts + stack[::-1]
