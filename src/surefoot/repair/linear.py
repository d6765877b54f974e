"""Policies as linear functions of some of their parameters.

The score of an output is a sum of parameters times features of the inputs: values of leaves times
whether the leaf is reached, and weights of the last layer times the activations below it. A
:class:`LinearView` of a model says which parameters a score is made of, and makes the model with
other parameters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.policies.models import Corrected, Layer, Network, Trees
from surefoot.policies.trees.forest import Tree, appended, leaf_places
from surefoot.repair.decisions import Numbers, Reals

MONOTONE = ("linear", "leaky_relu", "tanh", "sigmoid")
"""activations of the last layer that keep the order of scores"""
Entries = tuple[Numbers, Reals]


class LinearView(ABC):
    """A model as a linear function of its ``parameters``."""

    parameters: Reals

    @abstractmethod
    def scores(self, rows: Reals) -> Reals:
        """Return the linear scores of rows of inputs: their order is that of the model's scores."""

    @abstractmethod
    def look_at(self, rows: Reals) -> Features:
        """Return which parameters the scores of these rows are made of."""

    @abstractmethod
    def with_parameters(self, parameters: Reals) -> object:
        """Return the model with other parameters, rounded to its own precision."""

    @abstractmethod
    def rounded(self, parameters: Reals) -> Reals:
        """Return the parameters as the model can hold them."""


class Features(ABC):
    """Which parameters the scores of some rows are made of."""

    @abstractmethod
    def entries(self, row: int, output: int) -> Entries:
        """Return the parameters of a score and what each is multiplied by."""

    def difference(self, row: int, better: int, worse: int) -> Entries:
        """Return how the score of one output minus that of another is made of parameters."""
        plus, minus = self.entries(row, better), self.entries(row, worse)
        return np.concatenate([plus[0], minus[0]]), np.concatenate([plus[1], -minus[1]])


# -- trees -------------------------------------------------------------------------------------


class TreesView(LinearView):
    """Tree ensembles: the parameters are the values of leaves."""

    def __init__(self, model: Trees) -> None:
        self.model = model
        self.parameters = model.values
        self._scorer = model.scorer()

    def scores(self, rows: Reals) -> Reals:
        """Return the sums before they are divided."""
        scores: Reals = self._scorer.scores(rows) * self.model.divide_by
        return scores

    def look_at(self, rows: Reals) -> Features:
        """Return the leaves that are reached."""
        return _Leaves(self.model, rows)

    def rounded(self, parameters: Reals) -> Reals:
        """Return the values in the precision of the sums."""
        return _rounded(parameters, self.model.sum_precision)

    def with_parameters(self, parameters: Reals) -> Trees:
        """Return the ensemble with other values."""
        return replace(self.model, values=self.rounded(parameters))


class _Leaves(Features):
    def __init__(self, model: Trees, rows: Reals) -> None:
        leaves = leaf_places(model, rows)
        self._first = model.left[leaves].astype(np.int64)
        outputs = model.right[leaves] if len(rows) else np.zeros((0, 0), dtype=np.int32)
        self._is_vector = bool(outputs.size) and outputs.flat[0] == -1
        self._trees_of: dict[int, Numbers] = {}
        if not self._is_vector and outputs.size:
            for output in range(model.num_outputs):
                self._trees_of[output] = np.flatnonzero(outputs[0] == output)

    def entries(self, row: int, output: int) -> Entries:
        """Return the values of the leaves that add to this output."""
        if self._is_vector:
            places = self._first[row] + output
        else:
            places = self._first[row][self._trees_of.get(output, np.zeros(0, dtype=np.int64))]
        return places, np.ones(len(places))


# -- networks ----------------------------------------------------------------------------------


class NetworkView(LinearView):
    """Networks: the parameters are weights and biases of the last layer, output by output."""

    def __init__(self, model: Network) -> None:
        self.model = model
        last = model.layers[-1]
        self.parameters = np.column_stack([last.weights, last.biases]).ravel()
        below = model.layers[:-1]
        self._below = Network(below, model.precision).scorer() if below else None

    def _activations(self, rows: Reals) -> Reals:
        activations = rows if self._below is None else self._below.scores(rows)
        return np.column_stack([activations, np.ones(len(rows))])

    def scores(self, rows: Reals) -> Reals:
        """Return the sums that the last activation is applied to."""
        last = self.model.layers[-1]
        scores: Reals = self._activations(rows) @ np.column_stack([last.weights, last.biases]).T
        return scores

    def look_at(self, rows: Reals) -> Features:
        """Return the activations below the last layer."""
        return _Activations(self._activations(rows))

    def rounded(self, parameters: Reals) -> Reals:
        """Return the weights in the network's precision."""
        return _rounded(parameters, self.model.precision)

    def with_parameters(self, parameters: Reals) -> Network:
        """Return the network with another last layer."""
        last = self.model.layers[-1]
        table = self.rounded(parameters).reshape(len(last.biases), -1)
        new: Layer = replace(last, weights=table[:, :-1].copy(), biases=table[:, -1].copy())
        return replace(self.model, layers=(*self.model.layers[:-1], new))


class _Activations(Features):
    def __init__(self, activations: Reals) -> None:
        self._activations = activations

    def entries(self, row: int, output: int) -> Entries:
        """Return the weights and the bias of this output, times the activations."""
        values = self._activations[row]
        places = np.flatnonzero(values)
        return places + output * len(values), values[places]


# -- both --------------------------------------------------------------------------------------


class CorrectedView(LinearView):
    """Networks with trees beside them: the parameters of both, the network's first.

    A network whose last activation is not linear has none; nor has one with ``trees_only``.
    """

    def __init__(self, model: Corrected, *, trees_only: bool = False) -> None:
        self.model = model
        self._trees = TreesView(model.trees)
        has_network = model.network.layers[-1].activation == "linear" and not trees_only
        self._network = NetworkView(model.network) if has_network else None
        self._scorer = model.scorer()
        parts = [] if self._network is None else [self._network.parameters]
        self.parameters = np.concatenate([*parts, self._trees.parameters])

    @property
    def _split(self) -> int:
        return len(self.parameters) - len(self._trees.parameters)

    def scores(self, rows: Reals) -> Reals:
        """Return the scores of both together."""
        scores: Reals = self._scorer.scores(rows)
        return scores

    def look_at(self, rows: Reals) -> Features:
        """Return activations and leaves."""
        network = None if self._network is None else self._network.look_at(rows)
        return _Both(network, self._trees.look_at(rows), self._split)

    def rounded(self, parameters: Reals) -> Reals:
        """Return weights and values, each in its own precision."""
        at = self._split
        parts = [] if self._network is None else [self._network.rounded(parameters[:at])]
        return np.concatenate([*parts, self._trees.rounded(parameters[at:])])

    def with_parameters(self, parameters: Reals) -> Corrected:
        """Return network and trees with other parameters."""
        network = self.model.network
        if self._network is not None:
            network = self._network.with_parameters(parameters[: self._split])
        return Corrected(network, self._trees.with_parameters(parameters[self._split :]))


class _Both(Features):
    def __init__(self, network: Features | None, trees: Features, split: int) -> None:
        self._network = network
        self._trees = trees
        self._split = split

    def entries(self, row: int, output: int) -> Entries:
        """Return the parameters of the network, then those of the trees."""
        places, factors = self._trees.entries(row, output)
        if self._network is None:
            return places, factors
        more, times = self._network.entries(row, output)
        return np.concatenate([more, places + self._split]), np.concatenate([times, factors])


def _rounded(numbers: Reals, precision: str) -> Reals:
    return numbers.astype(np.float32).astype(np.float64) if precision == "float32" else numbers


# -- making and growing views ------------------------------------------------------------------


def view_of(model: Any, *, trees_only: bool = False) -> LinearView:
    """Return the linear view of a model that can be repaired; with ``trees_only`` the parameters
    of a network do not count among those of the view.
    """
    if isinstance(model, Trees):
        return TreesView(model)
    if isinstance(model, Corrected):
        return CorrectedView(model, trees_only=trees_only)
    if _keeps_order(model.layers[-1]) and not trees_only:
        return NetworkView(model)
    return CorrectedView(with_trees(model, []), trees_only=trees_only)


def _keeps_order(last: Layer) -> bool:
    return last.activation in MONOTONE and (last.activation != "leaky_relu" or last.slope > 0)


def with_trees(model: Any, trees: Sequence[Tree]) -> Any:
    """Return the model with more trees; a network becomes one with trees beside it."""
    if isinstance(model, Trees):
        return appended(model, trees)
    if isinstance(model, Corrected):
        return Corrected(model.network, appended(model.trees, trees))
    return Corrected(model, appended(_no_trees(model), trees))


def _no_trees(network: Network) -> Trees:
    """Return trees that stand beside a network: none yet, with leaves for all outputs at once."""
    whole = np.zeros(0, dtype=np.int32)
    return Trees(
        num_inputs=network.num_inputs,
        num_outputs=network.num_outputs,
        roots=whole,
        features=whole,
        thresholds=np.zeros(0),
        left=whole,
        right=whole,
        values=np.zeros(0),
        base=np.zeros(network.num_outputs),
        input_precision=network.precision,
        sum_precision="float64",
    )
