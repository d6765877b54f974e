"""Checking options: of which type each is, and within which bounds."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Union, get_args, get_origin, get_type_hints

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.options.bounds import Bound, OneOf, shown_value
from surefoot.options.budget import MAX_INT, BudgetOptions, Options, given_values, made

Spelled = Callable[[str], str]
"""turns the name of an option into what the user wrote"""


def chosen(cls: type[Options], options: Options | None, changes: Mapping[str, object]) -> Options:
    """Return ``options`` (default: those of ``cls``) with the changes, all of them checked.

    Raises InputError: ``unknown-option`` for a name that ``cls`` does not have, ``bad-option``
    for a value that the option cannot take.
    """
    check_kind(cls, options)
    names = dict.fromkeys((*(field.name for field in fields(cls)), *cls.ALIASES))
    check_names(changes, list(names))
    return checked((cls() if options is None else options).changed(changes))


def check_kind(cls: type[Options], options: object) -> None:
    """Raise InputError if options that were given are those of another stage."""
    if options is not None and not isinstance(options, cls):
        kind = type(options).__name__
        raise InputError("bad-option", f"options must be {cls.__name__}, not {kind}")


def check_names(changes: Mapping[str, object], known: list[str]) -> None:
    """Raise InputError (``unknown-option``) for a name that no option has."""
    for name in changes:
        if name not in known:
            hint = nearest_hint(name, known) or f"options are: {', '.join(known)}"
            raise InputError("unknown-option", f"there is no option {quoted(name)}", hint=hint)


def checked(options: Options, *, spelled: Spelled = str) -> Options:
    """Return the options with plain Python numbers.

    Raises InputError (``bad-option``) for a bad value; ``spelled`` turns the name of the option
    into what the user wrote.
    """
    values: dict[str, object] = {}
    for name, rule in _rules(options).items():
        value = rule.accepted(getattr(options, name), spelled(name))
        if isinstance(value, BudgetOptions):
            value = checked(value, spelled=partial(_within, options, name, spelled))
        values[name] = value
    if (refusal := options.refusal()) is not None:
        text = f"{spelled(refusal[0])} has no effect here: {refusal[1]}"
        raise InputError("bad-option", text)
    return made(type(options), values, frozenset(given_values(options)))


def _within(options: BudgetOptions, stage: str, spelled: Spelled, name: str) -> str:
    """Return what the user calls an option of a stage: by its short name, if it has one."""
    long = f"{stage}.{name}"
    return spelled(next((short for short, of in options.ALIASES.items() if of == long), long))


@dataclass(frozen=True)
class Rule:
    """What the declaration of a field says about its values."""

    accept: Callable[[object], object]
    wanted: str
    bounds: tuple[Bound, ...]
    may_be_none: bool

    def accepted(self, value: object, name: str) -> object:
        """Return the value as plain Python data. Raises InputError (``bad-option``)."""
        if value is None and self.may_be_none:
            return None
        plain = self.accept(value)
        if plain is None:
            raise InputError("bad-option", f"{name} must be {self.wanted}, not {shown(value)}")
        if isinstance(plain, float | int | str):
            for bound in self.bounds:
                _check(bound, plain, name)
        return plain


def _check(bound: Bound, value: float | str, name: str) -> None:
    """Raise InputError if a value is not within its bound."""
    wanted = bound.wanted(value)
    if wanted is not None:
        text = f"{name} must be {wanted}, not {shown_value(value)}"
        raise InputError("bad-option", text, hint=bound.hint_for(value))


def check_word(option: str, given: str, known: tuple[str, ...]) -> None:
    """Raise InputError (``bad-option``) if what was given for an option is none of the words."""
    _check(OneOf(*known), given, option)


@cache
def rules_of(cls: type) -> dict[str, Rule]:
    """Return the rule of each option of a class, from its declaration."""
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: _rule(hints[field.name]) for field in fields(cls)}


def _rules(options: BudgetOptions) -> dict[str, Rule]:
    return rules_of(type(options))  # type: ignore[arg-type]  # a class has a hash of its own


def _rule(hint: object) -> Rule:
    bounds: tuple[Bound, ...] = ()
    if get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        bounds = tuple(bound for bound in more if isinstance(bound, Bound))
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    (kind,) = (kind for kind in kinds if kind is not NoneType)
    if isinstance(kind, type) and issubclass(kind, BudgetOptions):
        return Rule(partial(_member, kind), kind.__name__, (), may_be_none=False)
    accept, wanted = _KINDS[kind]
    return Rule(accept, wanted, bounds, NoneType in kinds)


def _member(kind: type[BudgetOptions], value: object) -> BudgetOptions | None:
    return value if isinstance(value, kind) else None


def whole(value: object) -> int | None:
    """Return a whole number from 0 to 2^64 - 1 as int, whatever its type; None for others."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return None
    number = operator.index(value)  # type: ignore[arg-type]  # it has __index__
    return number if 0 <= number <= MAX_INT else None


def _real(value: object) -> float | None:
    if isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value)  # type: ignore[arg-type]  # or it raises TypeError
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


_KINDS: dict[object, tuple[Callable[[object], object], str]] = {
    bool: (_flag, "true or false"),
    int: (whole, "a whole number from 0 to 2^64 - 1"),
    float: (_real, "a finite number of at least 0"),
    str: (_text, "text"),
}
