"""What a policy is compared with: the library that its file comes from, or else a plain evaluation
by a library of numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.policies.models import Corrected, Network, Reals, Trees
from surefoot.policies.original import Original, installed

if TYPE_CHECKING:
    from surefoot.policies import Policy


def original_of(policy: Policy) -> Original | str:
    """Return the library that a policy comes from, or why there is none to compare with."""
    from surefoot.policies.formats import format_of, kind_of_file

    kind, path = kind_of_file(policy)
    form, model = format_of(kind), policy.model
    if form.original is not None and model is not None:
        return form.original(path, model.num_outputs)
    if isinstance(model, Network):
        return _torch(model)
    if isinstance(model, Corrected):
        return _corrected(model)
    if policy.file is None or policy.file.suffix == ".py":
        return "the policy comes from no file: there is nothing to compare it with"
    return f"{form.plural} have no other library to compare with"


def _torch(network: Network) -> Original:
    """Return the same layers in torch, or in NumPy where that is not installed."""
    torch = installed("torch")
    if torch is None:
        return Original(f"NumPy {np.__version__}", lambda rows: numpy_scores(network, rows))
    kind = torch.float32 if network.precision == "float32" else torch.float64
    layers = [
        (torch.tensor(part.weights, dtype=kind), torch.tensor(part.biases, dtype=kind), part)
        for part in network.layers
    ]

    def activated(values: object, activation: str, slope: float) -> object:
        if activation == "linear":
            return values
        if activation == "leaky_relu":
            return torch.nn.functional.leaky_relu(values, slope)
        return getattr(torch, activation)(values)

    def scores(rows: Reals) -> Reals:
        with torch.no_grad():
            values = torch.tensor(rows, dtype=kind)
            for weights, biases, layer in layers:
                values = torch.nn.functional.linear(values, weights, biases)
                values = activated(values, layer.activation, layer.slope)
            scores: Reals = values.to(torch.float64).numpy()
            return scores

    return Original(f"torch {torch.__version__}", scores)


def _corrected(model: Corrected) -> Original:
    """Return the network by its library plus the trees by NumPy."""
    network = _torch(model.network)
    name = network.name if "NumPy" in network.name else f"{network.name} and NumPy"
    return Original(name, lambda rows: network.scores(rows) + tree_scores(model.trees, rows))


def tree_scores(trees: Trees, rows: Reals) -> Reals:
    """Return the scores of trees by NumPy, added in the order of the trees in their precision."""
    from surefoot.policies.trees.forest import leaf_places

    kind = np.dtype(trees.sum_precision).type
    base = np.tile(trees.base.astype(kind), (len(rows), 1))
    sums: Any = np.zeros_like(base) if trees.base_last else base.copy()
    outputs = np.arange(trees.num_outputs)
    for leaves in leaf_places(trees, rows).T:
        to, first = trees.right[leaves][:, None], trees.left[leaves][:, None]
        place = np.where(to == -1, first + outputs, first)
        sums += np.where((to == -1) | (to == outputs), trees.values[place], 0.0).astype(kind)
    if trees.base_last:
        sums += base
    return (sums / kind(trees.divide_by)).astype(np.float64)  # type: ignore[no-any-return]


def numpy_scores(network: Network, rows: Reals) -> Reals:
    """Return the scores of a network by NumPy, in its precision."""
    kind = np.dtype(network.precision).type
    values: Any = rows.astype(kind)
    for layer in network.layers:
        values = values @ layer.weights.astype(kind).T + layer.biases.astype(kind)
        if layer.activation == "relu":
            values = np.maximum(values, kind(0))
        elif layer.activation == "tanh":
            values = np.tanh(values)
        elif layer.activation == "sigmoid":
            with np.errstate(over="ignore"):
                values = kind(1) / (kind(1) + np.exp(-values))
        elif layer.activation == "leaky_relu":
            values = np.where(values < 0, values * kind(layer.slope), values)
    scores: Reals = values.astype(np.float64)
    return scores
