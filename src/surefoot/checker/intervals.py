"""What an expression may be on a box: its least and its greatest value.

A box maps names of cells to *spans*: pairs of the least and the greatest value. Booleans are
ordered, so ``(False, True)`` is a condition that is not decided. `bounds` runs the program of an
expression on spans: whatever values a state of the box has, the value of the expression there is in
the span that it returns. It raises Unsure where some state of the box might raise a ModelError.

Reals are doubles, and rounded operations are monotone: the same operation at the end points gives
bounds of what is computed in between. `pow` and `log` are not rounded correctly, so that their
bounds are widened.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .arithmetic import (
    BINARY,
    INT_MAX,
    INT_MIN,
    RELATIONS,
    UNARY,
    Scalar,
    Value,
    cell,
    pack,
    to_real,
)
from .errors import ModelError
from .expressions import Code

Span = tuple[Scalar, Scalar]
Stack = list[Any]  # of spans, and of lists of spans for arrays
Box = dict[str, Span]
Operation = Callable[..., Value]

TRUE: Span = (True, True)
FALSE: Span = (False, False)
EITHER: Span = (False, True)
_ULPS = 16  # by how much results of `pow` and `log` are widened


class Unsure(Exception):
    """Some state of the box might raise a ModelError; ``code`` says in which expression."""

    def __init__(self, code: Code | None = None) -> None:
        super().__init__()
        self.code = code


def bounds(code: Code, box: Mapping[str, Span]) -> Any:
    """Return the span of an expression on a box, a list of spans for an array. Raises Unsure."""
    try:
        return _run(code, box)
    except (Unsure, ModelError, OverflowError):
        raise Unsure(code) from None


def _run(code: Code, box: Mapping[str, Span]) -> Any:
    """Run the program on every path that a state of the box may take; paths meet again later."""
    steps, end, at = code.steps, len(code.steps), 0
    stack: Stack = []
    waiting: dict[int, Stack] = {}  # stacks of paths that go on further down
    while True:
        if waiting and at in waiting:
            stack = _meet(stack, waiting.pop(at))
        if at == end:
            return stack.pop()
        what, argument = steps[at]
        at += 1
        if what == "load":
            stack.append(box[argument])
        elif what == "push":
            stack.append(_exactly(argument))
        elif what == "apply to two":
            right = stack.pop()
            stack[-1] = _ON_TWO[argument](stack[-1], right)
        elif what == "apply":
            count, function = argument
            stack[-count:] = [_apply(function, stack[-count:])]
        elif what == "load array":
            stack.append([box[name] for name in argument])
        else:
            at, stack = _branch(what, argument, at, stack, waiting)


def _branch(
    what: str, argument: Any, at: int, stack: Stack, waiting: dict[int, Stack]
) -> tuple[int, Stack]:
    """Return where to go on, with which stack; other paths wait where they jump to."""
    if what == "jump":
        return _jump(argument, stack, waiting)
    lowest, highest = stack.pop()
    if what == "jump if false":
        if lowest:
            return at, stack
        if not highest:
            return _jump(argument, stack, waiting)
        _wait(argument, list(stack), waiting)
        return at, stack
    answer, target = argument
    if lowest is highest:
        return (
            (at, stack) if lowest is not answer else _jump(target, [*stack, _SURE[answer]], waiting)
        )
    _wait(target, [*stack, _SURE[answer]], waiting)
    return at, stack


_SURE = {False: FALSE, True: TRUE}


def _jump(target: int, stack: Stack, waiting: dict[int, Stack]) -> tuple[int, Stack]:
    if not waiting:
        return target, stack
    _wait(target, stack, waiting)
    at = min(waiting)
    return at, waiting.pop(at)


def _wait(target: int, stack: Stack, waiting: dict[int, Stack]) -> None:
    waiting[target] = _meet(stack, waiting[target]) if target in waiting else stack


def _meet(first: Stack, other: Stack) -> Stack:
    return [hull(a, b) for a, b in zip(first, other, strict=True)]


def hull(first: Any, other: Any) -> Any:
    """Return the smallest span, or list of spans, that has both in it."""
    if isinstance(first, list):
        return [hull(a, b) for a, b in zip(first, other, strict=True)]
    return min(first[0], other[0]), max(first[1], other[1])


def _exactly(value: Value) -> Span | list[Span]:
    return [(each, each) for each in value] if isinstance(value, tuple) else (value, value)


def _apply(function: Operation, operands: Stack) -> Any:
    if function is pack:
        return operands
    (operand,) = operands
    if isinstance(operand, list):
        return [_ON_ONE[function](each) for each in operand]
    return _ON_ONE[function](operand)


# -- operators ---------------------------------------------------------------------------------


def _fit(low: int, high: int) -> Span:
    if low < INT_MIN or high > INT_MAX:
        raise Unsure
    return low, high


def _held(low: Scalar, high: Scalar) -> Span:
    """Return the span if all of it is within what integers and reals may be."""
    if isinstance(low, int) and isinstance(high, int):
        return _fit(low, high)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise Unsure
    return low, high


def _common(left: Span, right: Span) -> tuple[Span, Span]:
    """Return both as reals if one of them is."""
    if isinstance(left[0], float) or isinstance(right[0], float):
        return (float(left[0]), float(left[1])), (float(right[0]), float(right[1]))
    return left, right


def _add(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return _held(a + c, b + d)


def _subtract(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return _held(a - d, b - c)


def _multiply(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    products = (a * c, a * d, b * c, b * d)
    for each in products:
        _held(each, each)
    return min(products), max(products)


def _least(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return min(a, c), min(b, d)


def _greatest(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return max(a, c), max(b, d)


def _divide(left: Span, right: Span) -> Span:
    if right[0] <= 0 <= right[1]:
        raise Unsure
    a, b, c, d = (float(each) for each in (*left, *right))
    quotients = (a / c, a / d, b / c, b / d)
    for each in quotients:
        _held(each, each)
    return min(quotients), max(quotients)


def _modulo(left: Span, right: Span) -> Span:
    (a, b), (c, d) = left, right
    if c <= 0 <= d:
        raise Unsure
    if c == d and a // c == b // c:
        return a % c, b % c
    return (0, d - 1) if c > 0 else (c + 1, 0)


def _power(left: Span, right: Span) -> Span:
    (a, b), (c, d) = left, right
    if a == b and c == d:
        value = BINARY["pow"][1](a, c)
        return value, value
    if isinstance(a, int) and isinstance(c, int):
        return _int_power(a, int(b), c, int(d))
    if a <= 0:
        raise Unsure
    return _widened([math.pow(x, y) for x in (a, b) for y in (c, d)])


def _int_power(a: int, b: int, c: int, d: int) -> Span:
    power = BINARY["pow"][1]
    if c < 0:
        raise Unsure
    if a >= 1:
        return power(a, c), power(b, d)
    if c != d:
        raise Unsure
    values = [power(a, c), power(b, c), *([0] if a <= 0 <= b and c > 0 else [])]
    return min(values), max(values)


def _logarithm(left: Span, right: Span) -> Span:
    (a, b), (c, d) = left, right
    if a == b and c == d:
        value = BINARY["log"][1](a, c)
        return value, value
    if a <= 0 or c <= 0 or float(c) <= 1.0 <= float(d):
        raise Unsure
    return _widened([BINARY["log"][1](x, y) for x in (a, b) for y in (c, d)])


def _widened(values: list[float]) -> Span:
    low, high = min(values), max(values)
    for _ in range(_ULPS):
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return _held(low, high)


def _is_equal(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    if b < c or d < a:
        return FALSE
    return TRUE if a == b == c == d else EITHER


def _is_other(left: Span, right: Span) -> Span:
    return _negation(_is_equal(left, right))


def _is_less(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return TRUE if b < c else FALSE if a >= d else EITHER


def _is_at_most(left: Span, right: Span) -> Span:
    (a, b), (c, d) = _common(left, right)
    return TRUE if b <= c else FALSE if a > d else EITHER


def _is_more(left: Span, right: Span) -> Span:
    return _is_less(right, left)


def _is_at_least(left: Span, right: Span) -> Span:
    return _is_at_most(right, left)


def _cell(array: list[Span], index: Span) -> Span:
    low, high = map(int, index)
    if low < 0 or high >= len(array):
        raise Unsure
    cell = array[low]
    for each in array[low + 1 : high + 1]:
        cell = hull(cell, each)
    return cell


def _negation(span: Span) -> Span:
    return not span[1], not span[0]


def _negative(span: Span) -> Span:
    return _held(-span[1], -span[0])


def _absolute(span: Span) -> Span:
    low, high = span
    if low >= 0:
        return span
    return _held(-high if high <= 0 else type(low)(0), max(-low, high))


def _monotone(function: Callable[[Scalar], Scalar]) -> Callable[[Span], Span]:
    return lambda span: (function(span[0]), function(span[1]))


_OF_RELATION = {
    "=": _is_equal,
    "≠": _is_other,
    "<": _is_less,
    "≤": _is_at_most,
    ">": _is_more,
    "≥": _is_at_least,
}
_OF_OPERATOR = {
    "+": _add,
    "-": _subtract,
    "*": _multiply,
    "min": _least,
    "max": _greatest,
    "/": _divide,
    "%": _modulo,
    "pow": _power,
    "log": _logarithm,
    **_OF_RELATION,
}
_ON_TWO: dict[Operation, Callable[[Any, Any], Any]] = {
    cell: _cell,
    pack: lambda first, second: [first, second],
    **{BINARY[op][1]: function for op, function in _OF_OPERATOR.items()},
    **{RELATIONS[op]: function for op, function in _OF_RELATION.items()},
}
_ON_ONE: dict[Operation, Callable[[Span], Span]] = {
    to_real: _monotone(float),
    UNARY["¬"][1]: _negation,
    UNARY["-"][1]: _negative,
    UNARY["abs"][1]: _absolute,
    **{UNARY[op][1]: _monotone(UNARY[op][1]) for op in ("sgn", "floor", "ceil", "trc")},
}
