"""Programs of expressions as Python functions, for expressions that are evaluated often.

`function_of` translates the steps of a program, whose jumps are nested like brackets, into one
Python expression. Its source is made of our own words only: names and values from files are handed
to the function as objects, and never become source. What cannot be written as one expression, and
what is nested too deeply for Python, has no function: then the machine goes on running its steps.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .arithmetic import BINARY, RELATIONS, Scalar, finite, fit, pack, to_real

Evaluate = Callable[[Mapping[str, Scalar]], Any]
_Step = tuple[str, Any]
_Text = Any  # a string, or a tuple of texts: chains are joined once, at the end

_MAX_STEPS = 100_000
_MAX_DEPTH = 60
_PYTHON = {"=": "==", "≠": "!=", "<": "<", "≤": "<=", ">": ">", "≥": ">="}
_COMPARED = {RELATIONS[op]: symbol for op, symbol in _PYTHON.items()}
_COMPUTED = {BINARY[op][1]: op for op in ("+", "-", "*")}


@dataclass(frozen=True)
class _Piece:
    """A part of the source: how it is joined (`and`, `or` or nothing), its kind where known, and
    how many brackets are in one another.
    """

    text: _Text
    kind: str | None
    joint: str = ""
    depth: int = 0


@dataclass(frozen=True)
class _Open:
    """An operator whose last operand is being written: `and`, `or`, or `else`."""

    joint: str
    first: _Piece
    condition: _Piece | None = None


class _TooDeep(Exception):
    """Python refuses what is nested that deeply."""


def function_of(steps: Sequence[_Step], kinds: Mapping[str, str]) -> Evaluate | None:
    """Return the function that a program is; None if it cannot be written as one.

    `kinds` are those of the cells that it reads: where they are not known, operators are called by
    their own functions.
    """
    if len(steps) > _MAX_STEPS:
        return None
    writer = _Writer(kinds)
    try:
        writer.write(steps)
        source = "lambda v: " + writer.source()
        code = compile(source, "<checker>", "eval")
    except (_TooDeep, RecursionError, MemoryError):
        return None
    function: Evaluate = eval(code, writer.objects)  # our own words, see above
    return function


class _Writer:
    """Runs the steps on pieces of source instead of values."""

    def __init__(self, kinds: Mapping[str, str]) -> None:
        self.objects: dict[str, Any] = {
            "__builtins__": {}, "fit": fit, "finite": finite, "float": float,
        }  # fmt: skip
        self._names: dict[int, str] = {}
        self._kinds = kinds
        self._stack: list[_Piece] = []
        self._conditions: list[_Piece] = []
        self._open: dict[int, list[_Open]] = {}

    def write(self, steps: Sequence[_Step]) -> None:
        for at, (what, argument) in enumerate(steps):
            self._close(at)
            if what == "load":
                kind = self._kinds.get(argument)
                self._stack.append(_Piece(f"v[{self._object(argument)}]", kind))
            elif what == "push":
                self._push(argument)
            elif what == "apply to two":
                right, left = self._stack.pop(), self._stack.pop()
                self._stack.append(self._on_two(argument, left, right))
            elif what == "apply":
                count, function = argument
                operands = self._stack[-count:]
                self._stack[-count:] = [self._on_some(function, operands)]
            elif what == "load array":
                self._stack.append(_Piece(f"{self._array(argument)}(v)", None))
            else:
                self._branch(what, argument)
        self._close(len(steps))

    def source(self) -> str:
        (piece,) = self._stack
        return _joined(piece.text)

    def _object(self, value: object) -> str:
        """Return the word under which the function finds an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"k{len(self._names)}"
            self.objects[name] = value
        return name

    def _array(self, names: tuple[str, ...]) -> str:
        if len(names) == 1:
            only = names[0]
            return self._object(lambda values: (values[only],))
        return self._object(operator.itemgetter(*names))

    def _push(self, value: object) -> None:
        kind = {bool: "bool", int: "int", float: "real"}.get(type(value))
        is_plain = isinstance(value, bool) or (isinstance(value, int) and value >= 0)
        self._stack.append(_Piece(str(value) if is_plain else self._object(value), kind))

    def _on_two(self, function: Any, left: _Piece, right: _Piece) -> _Piece:
        kinds = {left.kind, right.kind}
        symbol = _COMPARED.get(function)
        if symbol is not None:
            return _around("", left, f" {symbol} ", right, "", kind="bool")
        symbol = _COMPUTED.get(function)
        if symbol is not None and kinds in ({"int"}, {"real"}):
            check = "fit(" if left.kind == "int" else "finite("
            return _around(check, left, f" {symbol} ", right, ")", kind=left.kind)
        kind = left.kind if function in _SAME_KIND and len(kinds) == 1 else None
        return _around(f"{self._object(function)}(", left, ", ", right, ")", kind=kind)

    def _on_some(self, function: Any, operands: list[_Piece]) -> _Piece:
        if function is operator.not_:
            return _around("not ", operands[0], "", None, "", kind="bool")
        if function is to_real and operands[0].kind in ("int", "real"):
            return _around("float(", operands[0], "", None, ")", kind="real")
        opening = "(" if function is pack else f"{self._object(function)}("
        texts: list[_Text] = [opening]
        for operand in operands:
            texts += [operand.text, ", "]
        depth = 1 + max(operand.depth for operand in operands)
        return _guarded(_Piece((*texts, ")"), None, "", depth))

    def _branch(self, what: str, argument: Any) -> None:
        if what == "jump if false":
            self._conditions.append(self._stack.pop())
        elif what == "jump":  # behind the first branch
            opened = _Open("else", self._stack.pop(), self._conditions.pop())
            self._open.setdefault(argument, []).append(opened)
        else:
            answer, target = argument
            opened = _Open("or" if answer else "and", self._stack.pop())
            self._open.setdefault(target, []).append(opened)

    def _close(self, at: int) -> None:
        """End the operators whose last operand ends here, the innermost first."""
        for opened in reversed(self._open.pop(at, [])):
            last = self._stack.pop()
            self._stack.append(_chosen(opened, last) if opened.condition else _chain(opened, last))


_SAME_KIND = {BINARY[op][1] for op in ("min", "max")}


def _bracketed(piece: _Piece) -> _Text:
    """Return the text so that it can stand beside any operator."""
    return ("(", piece.text, ")") if piece.joint else piece.text


def _around(
    start: str, left: _Piece, between: str, right: _Piece | None, end: str, *, kind: str | None
) -> _Piece:
    """Return an operator with its operands; in brackets, if it is not a call."""
    text: _Text = (start, _bracketed(left), between)
    depth = left.depth
    if right is not None:
        text, depth = (text, _bracketed(right)), max(depth, right.depth)
    joint = "" if end else "operator"
    return _guarded(_Piece((text, end), kind, joint, depth + 1))


def _chain(opened: _Open, last: _Piece) -> _Piece:
    """Return operands joined by `and` or `or`: a chain of one of them needs no brackets."""
    parts = [
        piece.text if piece.joint == opened.joint else _bracketed(piece)
        for piece in (opened.first, last)
    ]
    is_chain = opened.joint in (opened.first.joint, last.joint)
    depth = max(opened.first.depth, last.depth)
    text = (parts[0], f" {opened.joint} ", parts[1])
    return _guarded(_Piece(text, "bool", opened.joint, depth if is_chain else depth + 1))


def _chosen(opened: _Open, last: _Piece) -> _Piece:
    assert opened.condition is not None
    pieces = opened.first, opened.condition, last
    first, condition, other = map(_bracketed, pieces)
    kind = last.kind if last.kind == opened.first.kind else None
    depth = 1 + max(piece.depth for piece in pieces)
    text = (first, " if ", condition, " else ", other)
    return _guarded(_Piece(text, kind, "else", depth))


def _guarded(piece: _Piece) -> _Piece:
    if piece.depth > _MAX_DEPTH:
        raise _TooDeep
    return piece


def _joined(text: _Text) -> str:
    """Return the string that nested tuples of strings are."""
    words: list[str] = []
    waiting = [text]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            words.append(part)
        else:
            waiting.extend(reversed(part))
    return "".join(words)
