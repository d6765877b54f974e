"""Steps to learn from: a ring of tensors, so that no step is an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Generator, Tensor


@dataclass(frozen=True)
class Batch:
    """Steps: what was seen, what was done, what it was worth, what was seen then.

    ``goes_on`` is 0 where nothing came after the step, else 1.
    """

    inputs: Tensor
    actions: Tensor
    rewards: Tensor
    next_inputs: Tensor
    next_masks: Tensor
    goes_on: Tensor


class ReplayMemory:
    """The last ``capacity`` steps."""

    def __init__(self, capacity: int, num_inputs: int, num_outputs: int) -> None:
        import torch

        self.capacity = capacity
        self.size = 0
        self._at = 0
        self._columns = Batch(
            inputs=torch.zeros(capacity, num_inputs),
            actions=torch.zeros(capacity, dtype=torch.int64),
            rewards=torch.zeros(capacity),
            next_inputs=torch.zeros(capacity, num_inputs),
            next_masks=torch.zeros(capacity, num_outputs, dtype=torch.bool),
            goes_on=torch.zeros(capacity),
        )

    def add(self, steps: Batch) -> None:
        """Keep steps, in the place of the oldest ones if there is no room."""
        count = len(steps.actions)
        for begin, end in _pieces(self._at, count, self.capacity):
            place = slice((self._at + begin) % self.capacity, None)
            for column, new in zip(vars(self._columns).values(), vars(steps).values(), strict=True):
                column[place][: end - begin] = new[begin:end]
        self._at = (self._at + count) % self.capacity
        self.size = min(self.size + count, self.capacity)

    def sample(self, count: int, generator: Generator) -> Batch:
        """Return steps drawn uniformly."""
        import torch

        picked = torch.randint(self.size, (count,), generator=generator)
        return Batch(*(column.index_select(0, picked) for column in vars(self._columns).values()))


def _pieces(at: int, count: int, capacity: int) -> list[tuple[int, int]]:
    """Return which of ``count`` new steps go behind each other without going round."""
    first = min(count, capacity - at)
    return [(0, first), (first, count)] if first < count else [(0, count)]
