"""What scores actions, as plain data: networks, tree ensembles, both together, and rules.

Readers of policy files make one of these; ``scorer`` hands it to the core, once. Repair and
verification read the same data. ``check`` says what is wrong with one that comes from a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, Union

import numpy as np
import numpy.typing as npt

from surefoot import _core
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies.graph import Graph

ModelKind = Literal["network", "trees", "rules", "corrected", "graph"]
Precision = Literal["float32", "float64"]
Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int32]

ACTIVATIONS = ("linear", "relu", "tanh", "sigmoid", "leaky_relu")


@dataclass(frozen=True)
class Layer:
    """``activation(weights @ x + biases)``; ``weights`` has a row for each output."""

    weights: Reals
    biases: Reals
    activation: str
    slope: float = 0.01
    """of leaky_relu"""

    def check(self) -> None:
        """Raise ValueError if shapes do not fit, or a number is not finite."""
        if self.weights.ndim != 2 or 0 in self.weights.shape:
            raise ValueError(f"weights have the shape {self.weights.shape}, not (outputs, inputs)")
        if self.biases.shape != (self.weights.shape[0],):
            raise ValueError(
                f"there are biases of shape {self.biases.shape} for "
                f"{self.weights.shape[0]:,} outputs"
            )
        if self.activation not in ACTIVATIONS:
            raise ValueError(f"the activation {self.activation!r} is not known")
        _check_finite("weight", self.weights)
        _check_finite("bias", self.biases)
        _check_finite("slope", np.array([self.slope]))


@dataclass(frozen=True)
class Network:
    """A feed-forward network; the activations are computed in ``precision``."""

    kind: ClassVar[ModelKind] = "network"

    layers: tuple[Layer, ...]
    precision: Precision

    @property
    def num_inputs(self) -> int:
        """How many numbers it is fed."""
        return int(self.layers[0].weights.shape[1])

    @property
    def num_outputs(self) -> int:
        """How many scores it gives."""
        return int(self.layers[-1].weights.shape[0])

    def check(self) -> None:
        """Raise ValueError if it has no layers, or layers that do not fit each other."""
        if not self.layers:
            raise ValueError("the network has no layers")
        if self.precision not in ("float32", "float64"):
            raise ValueError(f"the precision {self.precision!r} is not known")
        for number, layer in enumerate(self.layers, start=1):
            try:
                layer.check()
            except ValueError as error:
                raise ValueError(f"layer {number}: {error}") from None
        for number, (below, above) in enumerate(
            zip(self.layers, self.layers[1:], strict=False), start=1
        ):
            outputs, inputs = below.weights.shape[0], above.weights.shape[1]
            if outputs != inputs:
                raise ValueError(
                    f"layer {number} has {outputs:,} outputs but layer {number + 1} takes "
                    f"{inputs:,} inputs"
                )

    def scorer(self) -> _core.Scorer:
        """Return the network as the core evaluates it."""
        layers = [
            (_reals(layer.weights), _reals(layer.biases), layer.activation, layer.slope)
            for layer in self.layers
        ]
        return _core.Network(layers, self.precision)

    def __str__(self) -> str:
        sizes = [self.num_inputs, *(layer.weights.shape[0] for layer in self.layers)]
        hidden = dict.fromkeys(layer.activation for layer in self.layers[:-1])
        shape = f" {', '.join(hidden)}" if hidden else ""
        return f"network {'-'.join(map(str, sizes))}{shape}, {self.precision}"


@dataclass(frozen=True)
class Trees:
    """A tree ensemble: scores are sums of leaf values.

    Nodes of all trees stand in one array. A node with feature ``f`` goes left if input ``f`` is
    less than its threshold (``x <= t`` is written ``x < nextafter(t, inf)``), else right. A node
    with feature -1 is a leaf: ``left`` is the position of its first value, ``right`` the output it
    adds to, or -1 if it has a value for each output.

    Inputs are rounded to ``input_precision`` and compared as doubles. Values are added in
    ``sum_precision``, tree by tree, to ``base`` (or ``base`` to their sum, if ``base_last``); the
    sum is divided by ``divide_by``.
    """

    kind: ClassVar[ModelKind] = "trees"

    num_inputs: int
    num_outputs: int
    roots: Numbers
    features: Numbers
    thresholds: Reals
    left: Numbers
    right: Numbers
    values: Reals
    base: Reals
    input_precision: Precision
    sum_precision: Precision
    base_last: bool = False
    divide_by: float = 1.0

    def check(self) -> None:
        """Raise ValueError if a number is out of range or not finite, or a tree is none."""
        if self.num_inputs < 1 or self.num_outputs < 1:
            raise ValueError("the ensemble has no inputs or no outputs")
        nodes = len(self.features)
        if not all(len(each) == nodes for each in (self.thresholds, self.left, self.right)):
            raise ValueError("the arrays of nodes differ in length")
        if self.base.shape != (self.num_outputs,):
            raise ValueError(f"{self.base.size:,} base scores for {self.num_outputs:,} outputs")
        leaf = self.features == -1
        if nodes and (self.features.min() < -1 or self.features.max() >= self.num_inputs):
            raise ValueError(f"a feature is not one of the {self.num_inputs:,} inputs")
        _check_finite("threshold", self.thresholds[~leaf])
        _check_finite("leaf value", self.values)
        _check_finite("base score", self.base)
        if not (np.isfinite(self.divide_by) and self.divide_by > 0):
            raise ValueError("the sums are divided by something that is not positive")
        self._check_leaves(leaf)
        _check_forest(self.roots, self.left, self.right, leaf)

    def _check_leaves(self, leaf: npt.NDArray[np.bool_]) -> None:
        outputs, first = self.right[leaf], self.left[leaf]
        count = np.where(outputs == -1, self.num_outputs, 1)
        if (outputs < -1).any() or (outputs >= self.num_outputs).any():
            raise ValueError(f"a leaf adds to none of the {self.num_outputs:,} outputs")
        if (first < 0).any() or (first.astype(np.int64) + count > len(self.values)).any():
            raise ValueError("a leaf has no values")

    def scorer(self) -> _core.Trees:
        """Return the ensemble as the core evaluates it."""
        return _core.Trees(
            num_inputs=self.num_inputs,
            num_outputs=self.num_outputs,
            roots=_numbers(self.roots),
            features=_numbers(self.features),
            thresholds=_reals(self.thresholds),
            left=_numbers(self.left),
            right=_numbers(self.right),
            values=_reals(self.values),
            base=_reals(self.base),
            input_precision=self.input_precision,
            sum_precision=self.sum_precision,
            base_last=self.base_last,
            divide_by=self.divide_by,
        )

    def __str__(self) -> str:
        leaves = int((self.features == -1).sum())
        return (
            f"{counted(len(self.roots), 'tree')}, {leaves:,} leaves, {self.num_inputs} inputs, "
            f"{self.num_outputs} outputs, {self.sum_precision}"
        )


def _check_forest(
    roots: Numbers, left: Numbers, right: Numbers, leaf: npt.NDArray[np.bool_]
) -> None:
    """Raise ValueError unless every node is a root or the child of one other node, all reached."""
    nodes = len(leaf)
    children = np.concatenate([left[~leaf], right[~leaf], roots])
    if len(children) and (children.min() < 0 or children.max() >= nodes):
        raise ValueError("a node has a child that is not there")
    if len(children) != nodes or len(np.unique(children)) != nodes:
        raise ValueError("the nodes do not form trees: one is shared, cyclic or not reached")
    reached, layer = 0, roots
    while len(layer):
        reached += len(layer)
        inner = layer[~leaf[layer]]
        layer = np.concatenate([left[inner], right[inner]])
    if reached != nodes:
        raise ValueError("the nodes do not form trees: some go round in a circle")


@dataclass(frozen=True)
class Rules:
    """Rules over atoms ``input == value``: a score is the sum of the weights of true rules.

    A rule is (is it a conjunction, terms); a term is (number, is it negated), where numbers below
    ``len(atoms)`` are atoms and the others earlier rules. ``weights`` are (rule, output, weight),
    added to ``base`` in this order.
    """

    kind: ClassVar[ModelKind] = "rules"

    num_inputs: int
    num_outputs: int
    atoms: tuple[tuple[int, int], ...]
    rules: tuple[tuple[bool, tuple[tuple[int, bool], ...]], ...]
    weights: tuple[tuple[int, int, float], ...]
    base: tuple[float, ...]

    def check(self) -> None:
        """Raise ValueError for an input, a rule or an output that is not there."""
        if self.num_inputs < 1 or self.num_outputs < 1:
            raise ValueError("the rules have no inputs or no outputs")
        if len(self.base) != self.num_outputs:
            raise ValueError(f"{len(self.base):,} base scores for {self.num_outputs:,} outputs")
        if any(not 0 <= number < self.num_inputs for number, _ in self.atoms):
            raise ValueError(f"an atom is about none of the {self.num_inputs:,} inputs")
        for number, (_, terms) in enumerate(self.rules):
            if any(not 0 <= term < len(self.atoms) + number for term, _ in terms):
                raise ValueError(
                    f"rule {number} has a term that is neither an atom nor an earlier rule"
                )
        for rule, output, _ in self.weights:
            if not (0 <= rule < len(self.rules) and 0 <= output < self.num_outputs):
                raise ValueError("a weight is of a rule or for an output that is not there")
        _check_finite("weight", np.array([weight for *_, weight in self.weights]))
        _check_finite("base score", np.array(self.base))

    def scorer(self) -> object:
        """Return the rules as the core evaluates them."""
        return _core.Rules(
            self.num_inputs,
            self.num_outputs,
            atoms=list(self.atoms),
            rules=[(is_and, list(terms)) for is_and, terms in self.rules],
            weights=list(self.weights),
            base=list(self.base),
        )

    def __str__(self) -> str:
        return (
            f"{len(self.rules):,} rules over {len(self.atoms):,} atoms, {self.num_inputs} inputs, "
            f"{self.num_outputs} outputs"
        )


@dataclass(frozen=True)
class Corrected:
    """A network with trees that correct it: a score is the sum of both, as doubles.

    Both are fed the same inputs. Repair makes one of a network whose last layer alone will not do.
    """

    kind: ClassVar[ModelKind] = "corrected"

    network: Network
    trees: Trees

    @property
    def num_inputs(self) -> int:
        """How many numbers it is fed."""
        return self.network.num_inputs

    @property
    def num_outputs(self) -> int:
        """How many scores it gives."""
        return self.network.num_outputs

    def check(self) -> None:
        """Raise ValueError if one of the two is invalid, or they do not fit each other."""
        self.network.check()
        self.trees.check()
        for what in ("inputs", "outputs"):
            of_network, of_trees = (getattr(m, f"num_{what}") for m in (self.network, self.trees))
            if of_network != of_trees:
                raise ValueError(
                    f"the network has {of_network:,} {what}, the trees that correct it "
                    f"have {of_trees:,}"
                )

    def scorer(self) -> _core.Corrected:
        """Return the sum as the core evaluates it."""
        return _core.Corrected(self.network.scorer(), self.trees.scorer())

    def __str__(self) -> str:
        leaves = int((self.trees.features == -1).sum())
        trees = counted(len(self.trees.roots), "tree")
        return f"{self.network}, corrected by {trees} with {leaves:,} leaves"


Model: TypeAlias = Union[Network, Trees, Rules, Corrected, "Graph"]


def _check_finite(what: str, numbers: Reals) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError(f"a {what} is infinite or not a number")


def _reals(numbers: object) -> Reals:
    return np.ascontiguousarray(numbers, dtype=np.float64)


def _numbers(numbers: object) -> Numbers:
    return np.ascontiguousarray(numbers, dtype=np.int32)
