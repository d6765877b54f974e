"""What every stage may use, and which options of a stage were given."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Self, TypeVar

MAX_INT = 2**64 - 1
MAX_WORKERS = 1_000  # more threads than any machine has use for


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What a stage may use before it must stop."""

    ALIASES: ClassVar[Mapping[str, str]] = {}

    max_seconds: float = 600.0
    """stop after this many seconds"""
    memory_mb: int = 4096
    """stop when the stored states need more than this many megabytes"""

    def __new__(cls, **given: object) -> Self:
        """Remember which options were given: within others the rest may come from elsewhere.

        ``dataclasses.replace`` gives all of them: then it is those that are not the default.
        """
        options = super().__new__(cls)
        if given and len(given) == len(fields(cls)):
            given = {f.name: None for f in fields(cls) if given.get(f.name) != f.default}
        object.__setattr__(options, "_given", frozenset(given))
        return options

    def changed(self, changes: Mapping[str, object]) -> Self:
        """Return options with these changes, which count as given."""
        values = {f.name: changes.get(f.name, getattr(self, f.name)) for f in fields(self)}
        return made(type(self), values, frozenset((*given_values(self), *changes)))

    def refusal(self) -> tuple[str, str] | None:
        """Return an option that plays no part with the others, and why it does not."""
        return None

    @property
    def max_bytes(self) -> int:
        """The memory in bytes, as the core takes it."""
        return min(self.memory_mb * 1_000_000, MAX_INT)


Options = TypeVar("Options", bound=BudgetOptions)


def is_infinite(value: object) -> bool:
    """Return whether this is how users write that there is no limit."""
    is_text = isinstance(value, str) and value == "inf"
    return is_text or (isinstance(value, float) and value == math.inf)


def given_values(options: BudgetOptions) -> dict[str, object]:
    """Return name and value of the options that were given, in the order of their declaration."""
    names: frozenset[str] = options.__dict__["_given"]
    return {f.name: getattr(options, f.name) for f in fields(options) if f.name in names}


def made(cls: type[Options], values: dict[str, object], given: frozenset[str]) -> Options:
    """Return options of these values, only some of which count as given."""
    options = cls(**values)  # type: ignore[arg-type]  # whoever wants to know checks them
    object.__setattr__(options, "_given", given)
    return options


def plain(cls: type[Options], options: BudgetOptions) -> Options:
    """Return those of the options that ``cls`` has, as ``cls`` itself."""
    names = [field.name for field in fields(cls)]
    given = frozenset(given_values(options)) & frozenset(names)
    return made(cls, {name: getattr(options, name) for name in names}, given)
