"""Networks from ``torch.nn`` modules in memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.errors import Unsupported, printable
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Layer, Network

ACTIVATIONS = {"ReLU": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "LeakyReLU": "leaky_relu"}
SKIPPED = ("Identity", "Flatten", "Dropout")
LAST = ("Softmax", "LogSoftmax")


def network_of(module: object) -> Loaded:
    """Return the network of a ``torch.nn.Sequential`` of linear layers and known activations.

    Dropout counts as it does in evaluation: not at all. Softmax at the end is left out, since it
    does not change which output is the best.
    """
    layers: list[Layer] = []
    notes: list[str] = []
    is_double = False
    for part in _parts(module):
        kind = type(part).__name__
        if notes and kind not in SKIPPED:
            raise _unsupported(f"{kind} after {LAST[0]}")
        if kind == "Linear":
            is_double = is_double or str(part.weight.dtype) == "torch.float64"
            layers.append(_layer(part))
        elif kind in ACTIVATIONS and layers and layers[-1].activation == "linear":
            slope = float(getattr(part, "negative_slope", 0.01))
            layers[-1] = replace(layers[-1], activation=ACTIVATIONS[kind], slope=slope)
        elif kind in LAST and layers and getattr(part, "dim", None) in (None, 1, -1):
            notes.append(f"{kind} at the end is left out: scores are those before it")
        elif kind not in SKIPPED:
            raise _unsupported(kind)
    if not layers:
        raise _unsupported("a network without linear layers")
    network = Network(tuple(layers), "float64" if is_double else "float32")
    return Loaded(network, notes=tuple(notes))


def _unsupported(what: str) -> Unsupported:
    return Unsupported(
        "policy-module",
        f"{printable(what)} is not supported here",
        hint="a network is a torch.nn.Sequential of Linear, ReLU, Tanh, Sigmoid and LeakyReLU",
    )


def _parts(module: Any) -> Iterator[Any]:
    """Yield the modules of a Sequential in their order, those of inner ones in their place."""
    waiting = [module]
    while waiting:
        module_part = waiting.pop()
        if type(module_part).__name__ == "Sequential":
            waiting.extend(reversed(list(module_part)))
        else:
            yield module_part


def _layer(linear: Any) -> Layer:
    weights = linear.weight.detach().to("cpu").double().numpy()
    biases = linear.bias
    numbers = (
        np.zeros(len(weights)) if biases is None else biases.detach().to("cpu").double().numpy()
    )
    return Layer(np.array(weights), np.array(numbers), "linear")


def with_last_layer(module: object, layer: Layer) -> object:
    """Return a copy of a module whose last linear layer has the numbers of another."""
    import torch

    made = copy.deepcopy(module)
    last = [part for part in _parts(made) if type(part).__name__ == "Linear"][-1]
    more = {"dtype": last.weight.dtype, "device": last.weight.device}
    with torch.no_grad():
        last.weight.copy_(torch.tensor(layer.weights, **more))
        biases = torch.tensor(layer.biases, **more)
        if last.bias is not None:
            last.bias.copy_(biases)
        elif layer.biases.any():
            last.bias = torch.nn.Parameter(biases)
    return made
