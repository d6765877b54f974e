"""Linear sums of integer variables: what conditions say about them, and what updates do to them.

A Form is a sum of whole multiples of cells and a constant; Booleans count as 0 and 1. `form_of`
runs the program of an expression on Forms, as far as it is linear. A Fact is about such a sum:
``lower <= sum <= upper``. `facts_of` are those that a condition implies, and `tightened` cuts a box
with facts: it loses no state of the box that satisfies them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .arithmetic import BINARY, INT_MAX, INT_MIN, RELATIONS, UNARY, Value, cell, pack, to_real
from .expressions import Code
from .intervals import Box, Operation, Span

_ROUNDS = 8


@dataclass(frozen=True)
class Form:
    """A sum of multiples of cells and a constant."""

    factors: Mapping[str, int]
    constant: int = 0

    def plus(self, other: Form, times: int = 1) -> Form:
        """Return this sum and a multiple of another one."""
        factors = dict(self.factors)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, 0) + times * factor
        left = {name: factor for name, factor in factors.items() if factor}
        return Form(left, self.constant + times * other.constant)

    def times(self, factor: int) -> Form:
        """Return a multiple of the sum."""
        return Form({}).plus(self, factor)

    def span(self, box: Mapping[str, Span]) -> Span:
        """Return its least and its greatest value on a box."""
        low: float = self.constant
        high: float = self.constant
        for name, factor in self.factors.items():
            least, most = box[name]
            low += factor * (least if factor > 0 else most)
            high += factor * (most if factor > 0 else least)
        return low, high


@dataclass(frozen=True)
class Fact:
    """``lower <= sum of factor * cell <= upper``; a bound that is None is none.

    A fact about a real cell has this cell alone, with the factor 1.
    """

    factors: tuple[tuple[str, int], ...]
    lower: Any
    upper: Any

    @property
    def is_equation(self) -> bool:
        """Whether the sum has one value."""
        return self.lower is not None and self.lower == self.upper

    def negated(self) -> Fact | None:
        """Return the fact that holds where this one does not, if it is one of integers."""
        if self.lower is not None and self.upper is not None:
            return None
        if isinstance(self.lower, float) or isinstance(self.upper, float):
            return None
        if self.lower is not None:
            return Fact(self.factors, None, self.lower - 1)
        return Fact(self.factors, self.upper + 1, None)

    def span(self, box: Mapping[str, Span]) -> Span:
        """Return the least and the greatest sum on a box."""
        return Form(dict(self.factors)).span(box)

    def implies(self, other: Fact) -> bool:
        """Return whether the other fact is about a multiple of the same sum, and holds then."""
        mine, others = dict(self.factors), dict(other.factors)
        if mine.keys() != others.keys() or not mine:
            return False
        name = next(iter(mine))
        top, bottom = others[name], mine[name]  # others = top / bottom * mine
        if any(others[each] * bottom != mine[each] * top for each in mine):
            return False
        low, high = self.lower, self.upper
        if top * bottom < 0:
            low, high = high, low
        return _is_within(low, high, top, bottom, other)


def _is_within(low: float | None, high: float | None, top: int, bottom: int, other: Fact) -> bool:
    """Return whether ``top / bottom`` times what is between low and high is what `other` says."""
    if bottom < 0:
        top, bottom = -top, -bottom
    below = other.lower is None or (low is not None and low * top >= other.lower * bottom)
    above = other.upper is None or (high is not None and high * top <= other.upper * bottom)
    return below and above


# -- programs ----------------------------------------------------------------------------------

Known = Mapping[str, Form | None]  # by names of cells
Kind = Callable[[str], str]


def form_of(code: Code, values: Known, kind_of: Kind) -> Form | list[Form | None] | None:
    """Return the value of an expression as a Form where ``values`` has those of some cells, other
    ones stand for themselves; None if it is not linear, and a list for an array.
    """
    form = _Symbols(code, values, kind_of, None).run()
    if isinstance(form, list):
        return [each if isinstance(each, Form) else None for each in form]
    return form if isinstance(form, Form) else None


def facts_of(code: Code, kind_of: Kind) -> list[Fact]:
    """Return facts that hold wherever the condition does."""
    facts: list[Fact] = []
    form = _Symbols(code, {}, kind_of, facts).run()
    last = _as_fact(form)
    return facts if last is None else [*facts, last]


def _as_fact(value: Symbol) -> Fact | None:
    """Return the fact that a condition is; a Boolean is one if it is 1."""
    if isinstance(value, Form) and value.factors:
        return _fact(value.plus(Form({}, -1)), 0, None)
    return value if isinstance(value, Fact) else None


def _fact(form: Form, lower: int | None, upper: int | None) -> Fact:
    """Return that a form is between the bounds."""
    shift = form.constant
    return Fact(
        tuple(form.factors.items()),
        None if lower is None else lower - shift,
        None if upper is None else upper - shift,
    )


@dataclass(frozen=True)
class _Real:
    """The value of a real cell."""

    name: str


Symbol: TypeAlias = "Form | Fact | _Real | float | list[Symbol] | None"


class _Symbols:
    """Runs a program on Forms; what is not linear is None.

    With a list of ``facts`` the program is a condition that is taken to be true: conjuncts are
    added to the list, and the last one is the value.
    """

    def __init__(self, code: Code, values: Known, kind_of: Kind, facts: list[Fact] | None) -> None:
        self._code = code
        self._values = values
        self._kind_of = kind_of
        self._facts = facts

    def run(self) -> Symbol:
        """Return the value."""
        steps, at, stack = self._code.steps, 0, []
        while at < len(steps):
            what, argument = steps[at]
            at += 1
            if what == "load":
                stack.append(self._load(argument))
            elif what == "push":
                stack.append(_pushed(argument))
            elif what == "load array":
                stack.append([self._load(name) for name in argument])
            elif what == "apply to two":
                right = stack.pop()
                stack[-1] = _on_two(argument, stack[-1], right)
            elif what == "apply":
                count, function = argument
                stack[-count:] = [_on_some(function, stack[-count:])]
            else:
                at = self._branch(what, argument, at, stack)
        return stack.pop()

    def _load(self, name: str) -> Symbol:
        if name in self._values:
            return self._values[name]
        kind = self._kind_of(name)
        if kind == "real":
            return _Real(name)
        return Form({name: 1}) if kind in ("int", "bool") else None

    def _branch(self, what: str, argument: Any, at: int, stack: list[Symbol]) -> int:
        """Return where to go on: decided conditions are followed, and ones that must be true."""
        condition = stack.pop()
        decided = None
        if isinstance(condition, Form) and not condition.factors:
            decided = bool(condition.constant)
        if what == "jump if false":
            if decided is None:
                stack.append(None)
                return int(self._code.steps[argument - 1][1])  # behind both branches
            return at if decided else int(argument)
        if what == "jump":  # behind the branch that was taken
            stack.append(condition)
            return int(argument)
        answer, target = argument
        if decided is not None and decided is not answer:
            return at
        is_conjunct = self._facts is not None and answer is False and self._is_needed(target)
        if decided is None and self._facts is not None and is_conjunct:
            fact = _as_fact(condition)
            self._facts += [] if fact is None else [fact]
            return at
        stack.append(condition if decided is not None else None)
        return int(target)

    def _is_needed(self, target: int) -> bool:
        """Return whether all is false if a conjunction that ends at the target is."""
        steps = self._code.steps
        while target < len(steps):
            what, argument = steps[target]
            if what != "settle" or argument[0] is not False:
                return False
            target = argument[1]
        return True


def _pushed(value: Value) -> Symbol:
    if isinstance(value, tuple):
        return [_pushed(each) for each in value]
    return value if isinstance(value, float) else Form({}, int(value))


_NAMES: dict[Operation, str] = {
    **{BINARY[op][1]: op for op in ("+", "-", "*")},
    **{BINARY[op][1]: op for op in RELATIONS},
    **{function: op for op, function in RELATIONS.items()},
}


def _on_two(function: Operation, left: Symbol, right: Symbol) -> Symbol:
    if function is pack:
        return [left, right]
    if function is cell:
        return _cell(left, right)
    op = _NAMES.get(function)
    if isinstance(left, Form) and isinstance(right, Form):
        return _on_forms(op, left, right)
    if isinstance(left, _Real):
        return _about_real(op, left, right)
    return _about_real(_MIRRORED.get(op or ""), right, left) if isinstance(right, _Real) else None


_MIRRORED = {"=": "=", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}


def _on_forms(op: str | None, left: Form, right: Form) -> Form | Fact | None:
    if op == "+":
        return left.plus(right)
    if op == "-":
        return left.plus(right, -1)
    if op == "*":
        if left.factors and right.factors:
            return None
        return left.times(right.constant) if left.factors else right.times(left.constant)
    between = left.plus(right, -1)
    if not between.factors:
        return _compared(op, between.constant)
    limits = {"=": (0, 0), "<": (None, -1), "≤": (None, 0), ">": (1, None), "≥": (0, None)}
    return _fact(between, *limits[op]) if op in limits else None


def _compared(op: str | None, value: int) -> Form | None:
    relation = RELATIONS.get(op or "")
    return None if relation is None else Form({}, int(relation(value, 0)))


def _about_real(op: str | None, real: _Real, other: Symbol) -> Fact | None:
    """Return what a comparison of a real cell with a constant says."""
    other = _as_real(other)
    if not isinstance(other, float):
        return None
    limits = {
        "=": (other, other),
        "<": (None, math.nextafter(other, -math.inf)),
        "≤": (None, other),
        ">": (math.nextafter(other, math.inf), None),
        "≥": (other, None),
    }
    return Fact(((real.name, 1),), *limits[op]) if op in limits else None


def _cell(array: Symbol, index: Symbol) -> Symbol:
    if not isinstance(index, Form) or index.factors or not isinstance(array, list):
        return None
    if not 0 <= index.constant < len(array):
        return None
    return array[index.constant]


def _as_real(operand: Symbol) -> Symbol:
    """Return a constant, or an array of some, as reals, rounded as comparisons round them."""
    if isinstance(operand, list):
        return [_as_real(each) for each in operand]
    if isinstance(operand, Form):
        is_constant = not operand.factors and INT_MIN <= operand.constant <= INT_MAX
        return float(operand.constant) if is_constant else None
    return operand if isinstance(operand, float | _Real) else None


def _on_some(function: Operation, operands: list[Symbol]) -> Symbol:
    if function is pack:
        return list(operands)
    (operand,) = operands
    if function is to_real:
        return _as_real(operand)
    if function is UNARY["-"][1] and isinstance(operand, Form):
        return operand.times(-1)
    if function is UNARY["¬"][1]:
        if isinstance(operand, Form):
            return Form({}, 1).plus(operand, -1)
        return operand.negated() if isinstance(operand, Fact) else None
    return None


# -- boxes -------------------------------------------------------------------------------------


def tightened(box: Box, facts: Iterable[Fact]) -> Box | None:
    """Return the box with the bounds that the facts leave; None if they leave no state of it."""
    tighter, facts = box, list(facts)
    for _ in range(_ROUNDS):
        before = tighter
        for fact in facts:
            after = _cut(tighter, fact)
            if after is None:
                return None
            tighter = after
        if tighter is before or len(facts) == 1:
            break
    return tighter


def _cut(box: Box, fact: Fact) -> Box | None:
    """Return the box cut with one fact: the same object if nothing changes."""
    if isinstance(fact.lower, float) or isinstance(fact.upper, float):
        return _cut_real(box, fact)
    for _ in range(_ROUNDS):
        low, high = fact.span(box)
        too_low = fact.lower is not None and high < fact.lower
        if too_low or (fact.upper is not None and low > fact.upper):
            return None
        changes = _changes(box, fact, low, high)
        if not changes:
            return None if changes is None else box
        box = {**box, **changes}
    return box


def _changes(box: Box, fact: Fact, low: float, high: float) -> Box | None:
    """Return new spans for cells that the others leave less room; None if there is none left."""
    changes: Box = {}
    for name, factor in fact.factors:
        least, most = box[name]
        if least == most:
            continue
        first, last = _room(fact, factor, least, most, low, high)
        if first > last:
            return None
        if first > least or last < most:
            kind = bool if isinstance(least, bool) else int
            changes[name] = kind(max(first, least)), kind(min(last, most))
    return changes


def _room(fact: Fact, factor: int, least: float, most: float, low: float, high: float) -> Span:
    """Return the least and the greatest value for which the others can satisfy the fact."""
    first, last = least, most
    if fact.upper is not None:  # factor * value <= upper - the least of the others
        room = fact.upper - low + factor * (least if factor > 0 else most)
        if factor > 0:
            last = min(last, room // factor)
        else:
            first = max(first, -(room // -factor))
    if fact.lower is not None:
        room = fact.lower - high + factor * (most if factor > 0 else least)
        if factor > 0:
            first = max(first, -(-room // factor))
        else:
            last = min(last, -room // -factor)
    return first, last


def _cut_real(box: Box, fact: Fact) -> Box | None:
    ((name, _),) = fact.factors
    least, most = box[name]
    low = least if fact.lower is None else max(least, fact.lower)
    high = most if fact.upper is None else min(most, fact.upper)
    if low > high:
        return None
    return box if (low, high) == (least, most) else {**box, name: (low, high)}
