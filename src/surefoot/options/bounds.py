"""What a value may be, declared with its field: ``runs: Annotated[int, Least(1)] = 1_000``."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.errors import nearest_hint, quoted


@dataclass(frozen=True)
class Bound:
    """What a value must be. ``hint`` is for whoever wanted another one."""

    def wanted(self, value: float | str) -> str | None:
        """Return what the value must be; None if it is."""
        raise NotImplementedError

    def hint_for(self, value: float | str) -> str | None:
        """Return what may help with a value that is refused."""
        return None


@dataclass(frozen=True)
class Between(Bound):
    """A number from ``least`` to ``most``, both included."""

    least: float
    most: float
    hint: str | None = None

    def wanted(self, value: float | str) -> str | None:
        """Return the two bounds, if the value is outside."""
        is_good = not isinstance(value, str) and self.least <= value <= self.most
        return None if is_good else f"from {_number(self.least)} to {_number(self.most)}"

    def hint_for(self, value: float | str) -> str | None:
        """Return what to do instead of taking more."""
        return self.hint if not isinstance(value, str) and value > self.most else None


@dataclass(frozen=True)
class Least(Bound):
    """A number of at least this."""

    least: float

    def wanted(self, value: float | str) -> str | None:
        """Return the bound, if the value is below."""
        is_good = not isinstance(value, str) and value >= self.least
        return None if is_good else f"at least {_number(self.least)}"


@dataclass(frozen=True)
class Most(Bound):
    """A number of at most this."""

    most: float
    hint: str | None = None

    def wanted(self, value: float | str) -> str | None:
        """Return the bound, if the value is above."""
        is_good = not isinstance(value, str) and value <= self.most
        return None if is_good else f"at most {_number(self.most)}"

    def hint_for(self, value: float | str) -> str | None:
        """Return what to do instead."""
        return self.hint


@dataclass(frozen=True)
class Above(Bound):
    """A number above this."""

    limit: float

    def wanted(self, value: float | str) -> str | None:
        """Return the limit, if the value is not above."""
        is_good = not isinstance(value, str) and value > self.limit
        return None if is_good else f"above {_number(self.limit)}"


@dataclass(frozen=True, init=False)
class OneOf(Bound):
    """One of these words."""

    words: tuple[str, ...]

    def __init__(self, *words: str) -> None:
        object.__setattr__(self, "words", words)

    def wanted(self, value: float | str) -> str | None:
        """Return the words, if the value is none of them."""
        return None if value in self.words else f"one of {', '.join(self.words)}"

    def hint_for(self, value: float | str) -> str | None:
        """Return the nearest of the words."""
        return nearest_hint(str(value), self.words)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def shown_value(value: float | str) -> str:
    """Return a value that is refused, as a message shows it."""
    return quoted(value) if isinstance(value, str) else _number(value)
