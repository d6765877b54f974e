"""Masked deep Q-learning: what a step is worth if the best applicable actions follow.

Double Q-learning with a slow copy of the network for targets (van Hasselt, Guez, Silver 2016): the
network picks the action, its copy says what that is worth. Actions that are not applicable count
for nothing, neither when acting nor in targets. The loss is Huber's.

All weights stand in one tensor, and the gradient is written down here: for networks of this size
that is twice as fast as to have it derived.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from surefoot.policies.models import Layer, Network

if TYPE_CHECKING:
    from torch import Tensor

    from surefoot.options import TrainOptions
    from surefoot.train.replay import Batch

FOLLOW = 0.005  # how fast the copy follows
LAST_RATE = 0.1  # of the learning rate


class Learner:
    """A network that learns the worth of actions, with all that belongs to its learning."""

    def __init__(self, sizes: list[int], options: TrainOptions) -> None:
        import torch

        self._options = options
        self.weights = first_weights(sizes)
        self.weights.grad = torch.zeros_like(self.weights)
        self._copied = self.weights.clone()
        self.layers = layers_in(self.weights, sizes)
        self._copied_layers = layers_in(self._copied, sizes)
        self._gradients = layers_in(self.weights.grad, sizes)
        self._optimiser = torch.optim.Adam([self.weights], lr=options.learning_rate, fused=True)

    def values(self, inputs: Tensor, masks: Tensor) -> Tensor:
        """Return what each action is worth; minus infinity where it is not applicable."""
        return forward(self.layers, inputs)[-1].masked_fill_(~masks, -math.inf)

    def update(self, batch: Batch, progress: float) -> None:
        """Learn from a batch; ``progress`` goes from 0 to 1 over the whole training."""
        targets = batch.rewards + self._options.discount * batch.goes_on * self._worth(batch)
        self.set_gradient(batch.inputs, batch.actions[:, None], targets[:, None])
        rate = self._options.learning_rate * (1 - (1 - LAST_RATE) * progress)
        self._optimiser.param_groups[0]["lr"] = rate
        self._optimiser.step()
        self._copied.lerp_(self.weights, FOLLOW)

    def _worth(self, batch: Batch) -> Tensor:
        """Return what the states after the steps are worth."""
        best = self.values(batch.next_inputs, batch.next_masks).argmax(1, keepdim=True)
        return forward(self._copied_layers, batch.next_inputs)[-1].gather(1, best).squeeze(1)

    def set_gradient(self, inputs: Tensor, actions: Tensor, targets: Tensor) -> None:
        """Set the gradient of the mean loss of what these actions are worth."""
        import torch

        *hidden, values = forward(self.layers, inputs)
        missing = (values.gather(1, actions) - targets).clamp_(-1.0, 1.0).div_(len(inputs))
        gradient = torch.zeros_like(values).scatter_(1, actions, missing)
        for i in reversed(range(len(self.layers))):
            below = hidden[i]
            torch.mm(gradient.t(), below, out=self._gradients[i][0])
            torch.sum(gradient, 0, out=self._gradients[i][1])
            if i:
                gradient = torch.mm(gradient, self.layers[i][0]).mul_(below > 0)

    def is_finite(self) -> bool:
        """Return whether all weights are finite numbers."""
        import torch

        return bool(torch.isfinite(self.weights).all())

    def model(self) -> Network:
        """Return the network as plain data."""
        layers = [
            Layer(
                weights.numpy().astype(np.float64),
                biases.numpy().astype(np.float64),
                "linear" if number == len(self.layers) else "relu",
            )
            for number, (weights, biases) in enumerate(self.layers, start=1)
        ]
        return Network(tuple(layers), "float32")


def forward(layers: list[tuple[Tensor, Tensor]], inputs: Tensor) -> list[Tensor]:
    """Return the inputs, what comes out of each hidden layer, and the values."""
    import torch

    values = [inputs]
    for weights, biases in layers[:-1]:
        values.append(torch.addmm(biases, values[-1], weights.t()).relu_())
    weights, biases = layers[-1]
    values.append(torch.addmm(biases, values[-1], weights.t()))
    return values


def first_weights(sizes: list[int]) -> Tensor:
    """Return weights to begin with: each within the root of how many go into its neuron."""
    import torch

    parts = []
    for inputs, outputs in itertools.pairwise(sizes):
        count = outputs * (inputs + 1)
        parts.append((2 * torch.rand(count) - 1) / math.sqrt(inputs))
    return torch.cat(parts)


def layers_in(flat: Tensor, sizes: list[int]) -> list[tuple[Tensor, Tensor]]:
    """Return weights and biases of each layer: views of parts of one tensor."""
    layers, at = [], 0
    for inputs, outputs in itertools.pairwise(sizes):
        end = at + inputs * outputs
        layers.append((flat[at:end].view(outputs, inputs), flat[end : end + outputs]))
        at = end + outputs
    return layers
