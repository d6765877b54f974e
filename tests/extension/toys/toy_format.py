"""A policy format: for each action a line of weights, separated by blanks, then a bias."""

from pathlib import Path

import numpy as np

from surefoot import InputError
from surefoot.policies.format import Format
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Layer, Network


def read(path: Path) -> Loaded:
    """Return the network of a file, which is one layer."""
    try:
        rows = np.loadtxt(path, ndmin=2)
    except ValueError:
        raise InputError("bad-policy", "this is not a table of numbers", file=str(path)) from None
    layer = Layer(rows[:, :-1], rows[:, -1], "linear")
    return Loaded(Network((layer,), "float64"))


FORMAT = Format("table", read, (".weights",))
