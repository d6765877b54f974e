"""Which edges may be enabled: found by the values of variables that their guards compare first.

A guard that is a conjunction begins with comparisons such as ``x = 3`` or ``y ≤ 2``. If one of them
is false so is the guard, and nothing behind it is evaluated. A Dispatch asks for one variable after
another and remembers what is left for each value; an edge that is left out has a guard that is
false, without error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Any, Generic, TypeVar

from .arithmetic import INT_MAX, INT_MIN, RELATIONS, Scalar

Item = TypeVar("Item")
Spans = Mapping[str, tuple[int, int]]
"""the values, first and last, that an integer variable (or a Boolean one) may have"""
_Step = tuple[str, Any]

_FEW = 2
"""so many edges are tried one by one"""
_MAX_DEPTH = 8
_MAX_BRANCHES = 1_000
"""for so many values of a variable it is remembered what is left"""


class Dispatch(Generic[Item]):
    """Items with the spans outside which they need no trial, and a variable to ask for, if any."""

    def __init__(
        self,
        items: Sequence[tuple[Item, Spans]],
        asked: frozenset[str] = frozenset(),
    ) -> None:
        self._items = items
        self._asked = asked
        self._branches: dict[Scalar, Dispatch[Item]] = {}
        self._name = self._telling_variable()
        self._left = [item for item, _ in items]

    def at(self, values: Mapping[str, Scalar]) -> Sequence[Item]:
        """Return what is to be tried in a valuation, in the order in which it was given."""
        here = self
        while (name := here._name) is not None:
            value = values[name]
            here = here._branches.get(value) or here._branch(name, value)
        return here._left

    def _branch(self, name: str, value: Scalar) -> Dispatch[Item]:
        left = [each for each in self._items if _fits(each[1].get(name), value)]
        branch = Dispatch(left, self._asked | {name})
        if len(self._branches) < _MAX_BRANCHES:
            self._branches[value] = branch
        return branch

    def _telling_variable(self) -> str | None:
        """Return the variable that most items compare; None if asking leaves too many."""
        if len(self._items) <= _FEW or len(self._asked) >= _MAX_DEPTH:
            return None
        uses = Counter(name for _, spans in self._items for name in spans)
        for name in self._asked:
            del uses[name]
        name, most = uses.most_common(1)[0] if uses else ("", 0)
        return name if 2 * most >= len(self._items) else None


def _fits(span: tuple[int, int] | None, value: Scalar) -> bool:
    return span is None or span[0] <= value <= span[1]


def first_spans(steps: Sequence[_Step], plain: Container[str]) -> dict[str, tuple[int, int]]:
    """Return variables and spans of values: a condition is false, and raises no error, where one of
    them is outside.

    Only variables in ``plain``, integer and Boolean ones, are looked at, which can be read without
    error.
    """
    spans: dict[str, tuple[int, int]] = {}
    at = 0
    while (comparison := _comparison(steps, at, plain)) is not None:
        name, low, high = comparison
        at += 3
        if at < len(steps) and not _is_conjunct(steps, at):
            break
        before = spans.get(name, (INT_MIN, INT_MAX))
        spans[name] = max(before[0], low), min(before[1], high)
        at += 1
    return spans


_MIRRORED = {"=": "=", "≠": "≠", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}
_SYMBOLS = {function: symbol for symbol, function in RELATIONS.items()}


def _comparison(
    steps: Sequence[_Step], at: int, plain: Container[str]
) -> tuple[str, int, int] | None:
    """Return the variable and the span that the comparison at a step leaves; None if something else
    stands there.
    """
    if len(steps) < at + 3:
        return None
    (first, left), (second, right), (what, function) = steps[at : at + 3]
    symbol = _SYMBOLS.get(function) if what == "apply to two" else None
    if symbol is None:
        return None
    if (first, second) == ("push", "load"):
        left, right, symbol = right, left, _MIRRORED[symbol]
    elif (first, second) != ("load", "push"):
        return None
    if left not in plain or not isinstance(right, int):
        return None
    return left, *_span(symbol, int(right))


def _span(symbol: str, value: int) -> tuple[int, int]:
    """Return the first and the last integer for which a comparison with the value holds."""
    low = {"=": value, "≥": value, ">": value + 1}.get(symbol, INT_MIN)
    high = {"=": value, "≤": value, "<": value - 1}.get(symbol, INT_MAX)
    return low, high


def _is_conjunct(steps: Sequence[_Step], at: int) -> bool:
    """Return whether all is false if what stands before the step is."""
    while at < len(steps):
        what, argument = steps[at]
        if what != "settle" or argument[0] is not False:
            return False
        at = argument[1]
    return True
