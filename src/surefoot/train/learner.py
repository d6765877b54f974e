"""Masked deep Q-learning: what a step is worth if the best applicable actions follow.

Double Q-learning with a slow copy of the network for targets (van Hasselt, Guez, Silver 2016): the
network picks the action, its copy says what that is worth. Actions that are not applicable count
for nothing, neither when acting nor in targets.
"""

from __future__ import annotations

import copy
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.policies.models import Layer, Network

if TYPE_CHECKING:
    from surefoot.options import TrainOptions
    from surefoot.train.replay import Batch

FOLLOW = 0.005  # how fast the copy follows
LAST_RATE = 0.1  # of the learning rate


class Learner:
    """A network that learns the worth of actions, with all that belongs to its learning."""

    def __init__(self, sizes: list[int], how: TrainOptions) -> None:
        import torch

        self.network = _made(sizes)
        self._copy = copy.deepcopy(self.network)
        self._weights = list(self.network.parameters())
        self._copied = [weight.data for weight in self._copy.parameters()]
        self._how = how
        self._optimiser = torch.optim.Adam(self._weights, lr=how.learning_rate, fused=True)

    def values(self, inputs: Any, masks: Any) -> Any:
        """Return what each action is worth; minus infinity where it is not applicable."""
        import torch

        with torch.no_grad():
            return self.network(inputs).masked_fill_(~masks, -torch.inf)

    def update(self, batch: Batch, progress: float) -> None:
        """Learn from a batch; ``progress`` goes from 0 to 1 over the whole training."""
        import torch

        targets = batch.rewards + self._how.discount * batch.goes_on * self._worth(batch)
        taken = self.network(batch.inputs).gather(1, batch.actions[:, None]).squeeze(1)
        loss = torch.nn.functional.smooth_l1_loss(taken, targets)
        self._optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        rate = self._how.learning_rate * (1 - (1 - LAST_RATE) * progress)
        self._optimiser.param_groups[0]["lr"] = rate
        self._optimiser.step()
        with torch.no_grad():
            torch._foreach_lerp_(self._copied, [weight.data for weight in self._weights], FOLLOW)

    def _worth(self, batch: Batch) -> Any:
        """Return what the states after the steps are worth; 0 where nothing is applicable."""
        import torch

        with torch.no_grad():
            best = self.values(batch.next_inputs, batch.next_masks).argmax(1, keepdim=True)
            return self._copy(batch.next_inputs).gather(1, best).squeeze(1)

    def model(self) -> Network:
        """Return the network as plain data."""
        import torch

        linear = [part for part in self.network if isinstance(part, torch.nn.Linear)]
        layers = [
            Layer(
                part.weight.detach().numpy().astype(np.float64),
                part.bias.detach().numpy().astype(np.float64),
                "linear" if part is linear[-1] else "relu",
            )
            for part in linear
        ]
        return Network(tuple(layers), "float32")


def _made(sizes: list[int]) -> Any:
    import torch

    parts: list[Any] = []
    for size, following in itertools.pairwise(sizes):
        parts += [torch.nn.Linear(size, following), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])
