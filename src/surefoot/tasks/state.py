"""States as people see them: a value for every variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from surefoot.errors import printable

FAIL, GOAL = 1, 2  # kinds of states, as the core numbers them


class State(Mapping[str, Any]):
    """An immutable valuation, in the order of the task's variables: ``state["x"]``,
    ``dict(state)``.

    Two states are equal if all their values are. ``packed`` is the form the core works on.
    """

    __slots__ = ("_names", "_values", "packed")

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...], packed: bytes) -> None:
        self._names = names
        self._values = values
        self.packed = packed

    def __getitem__(self, name: str) -> Any:
        try:
            return self._values[self._names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    @property
    def values_tuple(self) -> tuple[Any, ...]:
        """The values alone, in the order of the variables."""
        return self._values

    def __eq__(self, other: object) -> bool:
        if isinstance(other, State):
            return self._values == other._values and self._names == other._names
        return isinstance(other, Mapping) and dict(self) == dict(other)

    def __hash__(self) -> int:
        return hash(self._values)

    def __str__(self) -> str:
        pairs = zip(self._names, self._values, strict=True)
        return ",".join(f"{printable(name)}={_shown(value)}" for name, value in pairs)

    def __repr__(self) -> str:
        return f"State({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return the state as a plain dictionary."""
        return dict(zip(self._names, self._values, strict=True))


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else printable(str(value))


def listed(states: Iterable[Any] | Mapping[str, Any]) -> list[Any]:
    """Return the states as a list; one state alone will do."""
    return [states] if isinstance(states, Mapping) else list(states)
