"""A library of fitted models: a model is one slope for each action, and scores a single input."""

import numpy as np

from surefoot.policies.fitted import Fitted
from surefoot.policies.models import Layer, Network


class Slopes:
    """A fitted model."""

    def __init__(self, *slopes):
        self.slopes = slopes


def read(model):
    """Return the network that scores actions as a model does."""
    weights = np.array(model.slopes, dtype=float).reshape(-1, 1)
    return Network((Layer(weights, np.zeros(len(weights)), "linear"),), "float64")


def like(network, model):
    """Return a fitted model with the slopes of a repaired network."""
    (layer,) = network.layers
    if layer.biases.any():
        raise ValueError("such a model has no biases")
    return Slopes(*layer.weights[:, 0].tolist())


FITTED = Fitted(read, like)
