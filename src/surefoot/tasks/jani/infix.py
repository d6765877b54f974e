"""Conditions as users write them, ``x = 9 & wind``, as JANI expressions.

:func:`expression_of` reads the text by precedence climbing with stacks of its own, so that depth
costs nothing. It knows no names and no types: what reads JANI says what is wrong with those, and
:meth:`WrittenCondition.column` tells at which column.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from surefoot.errors import InputError, quoted
from surefoot.tasks.jani.reading import Json

MAX_CHARACTERS = 100_000
CODE = "expression-syntax"

_TOKEN = re.compile(
    r'\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])|"(?P<quoted>[^"]+)"'
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*)"
    r"|(?P<symbol><=|>=|!=|==|=>|&&|\|\||[-=<>&|!+*()\[\]≤≥≠∧∨¬⇒]))"
)
_SPELLED = {
    "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "=>": "⇒", "&&": "∧", "&": "∧", "and": "∧",
    "||": "∨", "|": "∨", "or": "∨", "!": "¬", "not": "¬",
}  # fmt: skip
_COMPARISONS = ("=", "≠", "<", "≤", ">", "≥")
_BINDING = {
    "⇒": 1,
    "∨": 2,
    "∧": 3,
    "¬": 4,
    **dict.fromkeys(_COMPARISONS, 5),
    "+": 6,
    "-": 6,
    "*": 7,
}
_SIGN = 8
"""how tightly a minus sign binds: more than anything else"""
_VALUES = {"true": True, "false": False}
_CLOSING = {"(": ")", "[": "]"}


@dataclass(frozen=True)
class WrittenCondition:
    """A JANI expression and the text that it stands for."""

    text: str
    node: Json
    columns: dict[tuple[int, str], int]
    first: int

    def column(self, pointer: str) -> int | None:
        """Return the column, from 1, of what a JSON pointer into the node leads to."""
        node, column = self.node, self.first
        for key in pointer.split("/")[1:]:
            if not key:
                continue
            if not isinstance(node, dict) or key not in node:
                return None
            column = self.columns.get((id(node), key), column)
            node = node[key]
        return column


def expression_of(text: str) -> WrittenCondition:
    """Return the expression that a text stands for. Raises InputError with the column if it stands
    for none.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            CODE,
            f"the expression has more than {MAX_CHARACTERS:,} characters",
            hint="put it in a JANI file, and give that",
        )
    reader = _Reader(text)
    for token in _tokens(text):
        reader.take(token)
    node, first = reader.finished()
    return WrittenCondition(text, node, reader.columns, first)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    column: int


def _tokens(text: str) -> Iterator[_Token]:
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            _refuse(f"{quoted(text[at])} does not belong here", at + 1, _strange(text[at]))
        kind = str(match.lastgroup)
        word = match[kind]
        if kind in ("symbol", "name") and word in _SPELLED:
            kind, word = "symbol", _SPELLED[word]
        yield _Token(kind, word, match.start(match.lastgroup or 0) + 1)
        at = match.end()


def _strange(character: str) -> str | None:
    if character in "/%^":
        return "write it as a JANI expression in a file"
    return 'names with such characters are put in double quotes: "a-b" = 1'


def _refuse(message: str, column: int, hint: str | None = None) -> NoReturn:
    raise InputError(CODE, message, place=f"column {column}", hint=hint)


@dataclass(frozen=True)
class _Operator:
    """An operator that waits for what stands right of it, or an open bracket."""

    symbol: str
    column: int
    binding: int
    operands: int


@dataclass
class _Reader:
    """Takes the tokens from left to right."""

    text: str
    waiting: list[_Operator] = field(default_factory=list)
    values: list[tuple[Json, int]] = field(default_factory=list)
    columns: dict[tuple[int, str], int] = field(default_factory=dict)
    is_after_value: bool = False

    def take(self, token: _Token) -> None:
        """Go on by one token."""
        if self.is_after_value:
            self._after_value(token)
        else:
            self._before_value(token)

    def _before_value(self, token: _Token) -> None:
        if token.kind != "symbol":
            self.values.append((_leaf(token), token.column))
            self.is_after_value = True
        elif token.text == "(":
            self.waiting.append(_Operator("(", token.column, 0, 0))
        elif token.text == "-":
            self.waiting.append(_Operator("-", token.column, _SIGN, 1))
        elif token.text == "¬":
            self.waiting.append(_Operator("¬", token.column, _BINDING["¬"], 1))
        else:
            _refuse(f"expected a value, found {self._spelling(token)}", token.column)

    def _after_value(self, token: _Token) -> None:
        if token.kind == "symbol" and token.text in (")", "]"):
            self._close(token)
        elif token.kind == "symbol" and token.text == "[":
            self._index(token)
        elif token.kind == "symbol" and token.text in _BINDING and token.text != "¬":
            self._binary(token)
        else:
            spelling = self._spelling(token)
            _refuse(f"expected an operator, found {spelling}", token.column, _joined(token))

    def _binary(self, token: _Token) -> None:
        binding = _BINDING[token.text]
        is_right = token.text == "⇒"
        while self.waiting and self.waiting[-1].binding >= binding + is_right:
            left = self.waiting[-1]
            if left.symbol in _COMPARISONS and token.text in _COMPARISONS:
                hint = "write two comparisons: 0 < x & x < 3"
                _refuse("a comparison cannot be compared", token.column, hint)
            self._reduce()
        self.waiting.append(_Operator(token.text, token.column, binding, 2))
        self.is_after_value = False

    def _index(self, token: _Token) -> None:
        if not isinstance(self.values[-1][0], str):
            _refuse("only an array has elements", token.column)
        self.waiting.append(_Operator("[", token.column, 0, 0))
        self.is_after_value = False

    def _close(self, token: _Token) -> None:
        while self.waiting and self.waiting[-1].symbol not in _CLOSING:
            self._reduce()
        if not self.waiting or _CLOSING[self.waiting[-1].symbol] != token.text:
            _refuse(f"{quoted(token.text)} closes nothing", token.column)
        opened = self.waiting.pop()
        if opened.symbol == "[":
            (array, start), (index, column) = self.values[-2:]
            self.values[-2:] = [self._node(start, {"op": "aa"}, exp=(array, start),
                                           index=(index, column))]  # fmt: skip

    def _reduce(self) -> None:
        """Give the operator that waits last its operands."""
        operator = self.waiting.pop()
        operands = self.values[-operator.operands :]
        names = ("exp",) if operator.operands == 1 else ("left", "right")
        parts = dict(zip(names, operands, strict=True))
        number = operands[0][0]
        if operator.binding == _SIGN and type(number) in (int, float):
            assert isinstance(number, int | float)
            self.values[-1] = -number, operator.column
            return
        node = self._node(operator.column, {"op": operator.symbol}, **parts)
        self.values[-operator.operands :] = [node]

    def _node(
        self, column: int, node: dict[str, Json], **parts: tuple[Json, int]
    ) -> tuple[Json, int]:
        for key, (part, at) in parts.items():
            node[key] = part
            self.columns[id(node), key] = at
        return node, column

    def finished(self) -> tuple[Json, int]:
        """Return the whole and its column."""
        if not self.is_after_value:
            message = "expected a value, found the end" if self.text.strip() else "it is empty"
            _refuse(message, len(self.text.rstrip()) + 1, "for example 'x = 9 & wind'")
        while self.waiting:
            if self.waiting[-1].symbol in _CLOSING:
                opened = self.waiting[-1]
                _refuse(f"{quoted(opened.symbol)} is not closed", opened.column)
            self._reduce()
        return self.values[0]

    def _spelling(self, token: _Token) -> str:
        """Return a token as it was written."""
        match = _TOKEN.match(self.text, token.column - 1)
        return quoted(match[0] if match else token.text)


def _joined(token: _Token) -> str | None:
    if token.kind == "symbol":
        return None
    return "join conditions by & and |; names with spaces are put in double quotes"


def _leaf(token: _Token) -> Json:
    if token.kind == "number":
        try:
            return int(token.text) if token.text.isdecimal() else float(token.text)
        except ValueError:  # thousands of digits
            _refuse("the number is too large", token.column)
    return _VALUES.get(token.text, token.text) if token.kind == "name" else token.text
