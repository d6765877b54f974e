"""Long lists of certificates, made while they are read or written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from surefoot.tasks.task import Task

ROWS_PER_PIECE = 4096


class Rows:
    """A list of lists that is made while it is read, so that huge ones are never in memory."""

    def __init__(self, columns: Sequence[Sequence[object]]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[list[object]]:
        return map(list, zip(*self._columns, strict=True))


class States(Rows):
    """The values of packed states that stand one after the other."""

    def __init__(self, task: Task, packed: bytes) -> None:
        self._task = task
        self._packed = packed
        self._width: int = task.core.words * 8

    def __len__(self) -> int:
        return len(self._packed) // self._width

    def __iter__(self) -> Iterator[list[object]]:
        step = ROWS_PER_PIECE * self._width
        for begin in range(0, len(self._packed), step):
            piece = self._packed[begin : begin + step]
            columns = self._task.columns(piece)
            if columns:
                yield from map(list, zip(*columns, strict=True))
            else:  # a task without variables has one state
                yield from ([] for _ in range(len(piece) // self._width))
