"""The operators of JANI: how they are written, and what they are called here."""

from __future__ import annotations

from typing import NoReturn

from surefoot.errors import nearest_hint, quoted
from surefoot.tasks.jani.reading import Place, refuse, unsupported

BINARY = {
    "∧": "and", "∨": "or", "⇒": "implies", "=": "eq", "≠": "ne", "<": "lt", "≤": "le", ">": "gt",
    "≥": "ge", "+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "min": "min",
    "max": "max", "pow": "pow", "log": "log",
}  # fmt: skip
UNARY = {
    "¬": "not", "-": "neg", "abs": "abs", "floor": "floor", "ceil": "ceil", "trc": "trc",
    "sgn": "sgn",
}  # fmt: skip
OTHER = ("ite", "aa", "av", "ac", "let", "call")
NUMBERS = {"e": 2.718281828459045, "π": 3.141592653589793}

_TRIGONOMETRIC = ("sin", "cos", "tan", "cot", "sec", "csc")
_UNSUPPORTED = {
    **{
        start + name + end: "trigonometric functions"
        for start in ("", "a", "arc")
        for name in _TRIGONOMETRIC
        for end in ("", "h")
    },
    **dict.fromkeys(("nondet", "nondet-selection"), "nondet-selection"),
    **dict.fromkeys(("tc", "ts", "da", "dv", "oa", "ov", "empty", "datatype"), "datatypes"),
    **dict.fromkeys(("der", "time"), "continuous variables"),
    **dict.fromkeys(
        ("∃", "∀", "Pmin", "Pmax", "Emin", "Emax", "Smin", "Smax", "F", "G", "U", "W", "R", "X",
         "filter", "initial", "deadlock", "timelock"),
        "temporal properties as expressions",
    ),
}  # fmt: skip
_SPELLINGS = {
    "<=": "≤", ">=": "≥", "!=": "≠", "==": "=", "&&": "∧", "&": "∧", "and": "∧", "||": "∨",
    "|": "∨", "or": "∨", "!": "¬", "not": "¬", "=>": "⇒", "->": "⇒", "→": "⇒", "mod": "%",
}  # fmt: skip


def unknown_operator(op: str, place: Place) -> NoReturn:
    """Raise Unsupported for operators that JANI has and we have not, else InputError."""
    if op in _UNSUPPORTED:
        what = _UNSUPPORTED[op]
        unsupported("jani-operator", f"operator {quoted(op)} is not supported ({what})", place)
    hint = f"write {quoted(_SPELLINGS[op])}" if op in _SPELLINGS else None
    hint = hint or nearest_hint(op, [*BINARY, *UNARY, *OTHER])
    refuse("jani-unknown-operator", f"there is no operator {quoted(op)}", place, hint)
