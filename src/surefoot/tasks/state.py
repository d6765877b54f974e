"""States as people see them: a value for every variable."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from surefoot.errors import printable

FAIL, GOAL = 1, 2  # kinds of states, as the core numbers them


class State(Mapping[str, object]):
    """An immutable valuation, in the order of the task's variables: ``state["x"]``,
    ``dict(state)``.

    Two states are equal if all their values are. ``packed`` is the form the core works on.
    """

    __slots__ = ("_names", "_values", "packed")

    def __init__(self, names: tuple[str, ...], values: tuple[object, ...], packed: bytes) -> None:
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

    def to_dict(self) -> dict[str, object]:
        """Return the state as a plain dictionary."""
        return dict(zip(self._names, self._values, strict=True))


def loose_state(values: Mapping[str, object]) -> State:
    """Return a state to look at, as files tell it: no task knows it."""
    return State(tuple(values), tuple(values.values()), b"")


class PackedStates(Sequence[State]):
    """States that are unpacked when they are first read: runs have many, and most are never
    looked at.
    """

    __slots__ = ("_unpack", "_width", "packed")

    def __init__(self, packed: bytes, width: int, unpack: Callable[[bytes], State]) -> None:
        self.packed = packed
        self._width = width
        self._unpack = unpack

    def __len__(self) -> int:
        return len(self.packed) // self._width

    @overload
    def __getitem__(self, at: int) -> State: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[State, ...]: ...
    def __getitem__(self, at: int | slice) -> State | tuple[State, ...]:
        if isinstance(at, slice):
            return tuple(self[i] for i in range(*at.indices(len(self))))
        begin = range(len(self))[at] * self._width
        return self._unpack(self.packed[begin : begin + self._width])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else printable(str(value))


def listed(states: Iterable[object] | Mapping[str, object]) -> list[Any]:
    """Return the states as a list; one state alone will do."""
    return [states] if isinstance(states, Mapping) else list(states)
