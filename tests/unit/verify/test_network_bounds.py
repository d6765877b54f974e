"""Bounds of networks over boxes: what the core computes never leaves them, to the last bit."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.support.networks import random_network

from surefoot import _core
from surefoot.policies.models import ACTIVATIONS, Layer, Network

PRECISIONS = ("float32", "float64")
EXACT = ("linear", "relu", "leaky_relu")


class Bounds:
    """All that is known of a network in a box."""

    def __init__(self, network, low, high):
        core = _core.NetworkBounds(network.scorer())
        core.set_box(low, high)
        outputs = range(network.num_outputs)
        self.differences = np.array(
            [[core.least_difference(a, b) for b in outputs] for a in outputs]
        )
        self.lower = np.array([core.lower(o) for o in outputs])
        self.upper = np.array([core.upper(o) for o in outputs])

    def assert_hold(self, scores):
        """Differences are compared as fractions: they need not be numbers of any precision."""
        assert (scores >= self.lower).all()
        assert (scores <= self.upper).all()
        outputs = scores.shape[1]
        for a, b in itertools.permutations(range(outputs), 2):
            gaps = scores[:, a] - scores[:, b]
            assert (gaps >= self.differences[a, b]).all()
            row = scores[int(np.argmin(gaps))]
            least = self.differences[a, b]
            assert math.isinf(least) or Fraction(row[a]) - Fraction(row[b]) >= Fraction(least)


def points_in(rng, low, high, count):
    """Return corners, points on the edges and points within."""
    low, high = np.array(low), np.array(high)
    if len(low) <= 9:
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    else:
        corners = np.where(rng.random((512, len(low))) < 0.5, low, high)
    within = np.clip(low + rng.random((count, len(low))) * (high - low), low, high)
    edges = np.where(rng.random(within.shape) < 0.5, within, np.where(within < 0, low, high))
    return np.concatenate([corners, within, edges])


def random_layers(rng, sizes, activation, *, scale=1.0, is_last_linear=True):
    layers = []
    for number, (below, size) in enumerate(itertools.pairwise(sizes)):
        weights = rng.normal(size=(size, below)) / np.sqrt(below) * scale
        weights[rng.random(weights.shape) < 0.1] = 0
        biases = rng.normal(size=size) * scale / 4
        is_linear = is_last_linear and number == len(sizes) - 2
        slope = float(rng.choice([0.01, 0.3, 0.0, 1.5, -0.4]))
        layers.append(Layer(weights, biases, "linear" if is_linear else activation, slope))
    return tuple(layers)


def random_sizes(rng):
    hidden = [int(rng.choice([1, 2, 3, 7, 8, 9, 16, 33, 64])) for _ in range(rng.integers(1, 4))]
    return [int(rng.integers(1, 14)), *hidden, int(rng.integers(1, 6))]


def random_box(rng, inputs, *, is_integer=False):
    low = rng.normal(size=inputs) * 3
    width = np.abs(rng.normal(size=inputs)) * rng.choice([0.0, 1e-7, 0.01, 0.5, 5.0])
    width[rng.random(inputs) < 0.3] = 0
    if is_integer:
        low, width = np.floor(low), np.ceil(width)
    return low.tolist(), (low + width).tolist()


def plain_bounds(network, low, high):
    """Return bounds of outputs by intervals alone, one neuron at a time."""
    kind = np.dtype(network.precision).type
    low, high = (np.array(ends).astype(kind) for ends in (low, high))
    for layer in network.layers:
        weights, biases = layer.weights.astype(kind), layer.biases.astype(kind)
        sums = [biases.copy(), biases.copy()]
        for i in range(weights.shape[1]):
            products = low[i] * weights[:, i], high[i] * weights[:, i]
            sums[0] = sums[0] + np.minimum(*products)
            sums[1] = sums[1] + np.maximum(*products)
        low, high = (activated(layer, x, kind) for x in sums)
    return low.astype(float), high.astype(float)


def activated(layer, x, kind):
    if layer.activation == "relu":
        return np.maximum(x, kind(0))
    if layer.activation == "leaky_relu":
        return np.where(x < 0, x * kind(layer.slope), x)
    return x


def assert_sound(rng, network, box, count=150):
    rows = points_in(rng, *box, count)
    Bounds(network, *box).assert_hold(network.scorer().scores(rows))


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("seed", range(4))
def test_no_point_leaves_the_bounds(precision, activation, seed):
    rng = np.random.default_rng([seed, ACTIVATIONS.index(activation)])
    for number in range(25):
        scale = float(rng.choice([1, 1, 1, 3, 30, 1e-3, 1e-6]))
        layers = random_layers(
            rng, random_sizes(rng), activation, scale=scale, is_last_linear=number % 4 > 0
        )
        network = Network(layers, precision)
        box = random_box(rng, network.num_inputs, is_integer=number % 2 == 0)
        assert_sound(rng, network, box)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("scale", [1e-45, 1e-40, 1e-20, 1e-160, 1e-310, 1e12, 1e100])
def test_tiny_and_huge_weights(precision, scale):
    """Products underflow, sums come near to overflow, or do: then there are no bounds."""
    rng = np.random.default_rng(7)
    for activation in ACTIVATIONS:
        for _ in range(6):
            layers = random_layers(rng, random_sizes(rng), activation)
            first = layers[0]
            first = replace(first, weights=first.weights * scale, biases=first.biases * scale)
            network = Network((first, *layers[1:]), precision)
            box = random_box(rng, network.num_inputs)
            rows = points_in(rng, *box, 100)
            scores = network.scorer().scores(rows)
            bounds = Bounds(network, *box)
            if np.isfinite(scores).all():
                bounds.assert_hold(scores)
            else:
                assert np.isneginf(bounds.lower).all()
                assert np.isposinf(bounds.upper).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", EXACT)
def test_what_underflows_and_grows_again(precision, activation):
    """Products are all but lost in the first layer, and the second makes the loss great."""
    rng = np.random.default_rng(29)
    tiny, huge = {"float32": (1e-44, 1e37), "float64": (1e-322, 1e307)}[precision]
    for _ in range(100):
        first, last = random_layers(rng, (3, 4, 2), activation)
        first = replace(first, weights=first.weights * tiny, biases=first.biases * 0)
        last = replace(last, weights=last.weights * huge, biases=last.biases * 0)
        assert_sound(rng, Network((first, last), precision), random_box(rng, 3))


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_point_has_tight_bounds(precision, activation):
    rng = np.random.default_rng(3)
    for _ in range(20):
        network = Network(random_layers(rng, random_sizes(rng), activation), precision)
        point = (rng.normal(size=network.num_inputs) * 3).tolist()
        scores = network.scorer().scores(np.array([point]))[0]
        bounds = Bounds(network, point, point)
        if activation in EXACT:
            assert bounds.lower.tolist() == bounds.upper.tolist() == scores.tolist()
            assert (bounds.differences <= scores[:, None] - scores).all()
            np.testing.assert_allclose(bounds.differences, scores[:, None] - scores, rtol=1e-15)
        else:
            unit = np.finfo(precision).eps
            assert (np.abs(bounds.upper - bounds.lower) < 1e4 * unit).all()
        bounds.assert_hold(scores[None])


def test_equal_scores_are_known_to_be_equal():
    """Ties are decided by the order of outputs: a difference of 0 must not become less."""
    layers = random_layers(np.random.default_rng(1), (3, 5, 2), "relu")
    last = layers[-1]
    last.weights[1], last.biases[1] = last.weights[0], last.biases[0]
    bounds = Bounds(Network(layers, "float32"), [1, 2, 3], [1, 2, 3])
    assert bounds.differences.tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", EXACT)
def test_never_worse_than_intervals(precision, activation):
    rng = np.random.default_rng(5)
    better = 0
    for _ in range(40):
        layers = random_layers(rng, random_sizes(rng), activation)
        layers = tuple(replace(layer, slope=abs(layer.slope)) for layer in layers)
        network = Network(layers, precision)
        box = random_box(rng, network.num_inputs)
        low, high = plain_bounds(network, *box)
        found = Bounds(network, *box)
        assert (found.lower >= low).all()
        assert (found.upper <= high).all()
        gaps = np.nextafter(low[:, None] - high, -np.inf)
        np.fill_diagonal(gaps, 0)
        assert (found.differences >= gaps).all()
        better += int((found.differences > gaps + 0.01).any())
    assert better > 10


def test_a_wide_network_is_much_better_than_intervals():
    """What correlates is not lost: both scores grow with the same neurons."""
    network = random_network(2, 13, 64, 64, 4)
    low = np.full(13, 3.0)
    low, high = low.tolist(), (low + 0.5).tolist()
    plain_low, plain_high = plain_bounds(network, low, high)
    found = Bounds(network, low, high)
    assert (found.upper - found.lower).sum() < 0.3 * (plain_high - plain_low).sum()
    assert (found.differences > found.lower[:, None] - found.upper)[~np.eye(4, dtype=bool)].all()


def layer_errors(layer, low, high):
    """Return plain bounds of the neurons of a layer in float64, and how far a computed sum is from
    the real one at most: half a unit of every product and of every sum on the way.
    """
    sums = [layer.biases.copy(), layer.biases.copy()]
    errors = [Fraction(0) for _ in layer.biases]
    for i in range(len(low)):
        products = low[i] * layer.weights[:, i], high[i] * layer.weights[:, i]
        sums = [sums[0] + np.minimum(*products), sums[1] + np.maximum(*products)]
        for pair in (products, sums):
            greatest = np.maximum(*np.abs(pair)).tolist()
            errors = [e + Fraction(x) / 2**53 for e, x in zip(errors, greatest, strict=True)]
    return *sums, errors


def least_value(constant, coefficients, low, high):
    """Return the least value of a sum, exactly."""
    ends = zip(coefficients, map(Fraction, low), map(Fraction, high), strict=True)
    return constant + sum(min(k * x, k * y) for k, x, y in ends)


def exact_bound(network, low, high):
    """Return what the backward pass finds of the first score less the second if it computes with
    rational numbers, for two linear layers.
    """
    first, last = network.layers
    *middle, errors = layer_errors(first, low, high)
    bottom, top, last_errors = layer_errors(last, *middle)
    one, other = ([Fraction(w) for w in row] for row in last.weights.tolist())
    k = [a - b for a, b in zip(one, other, strict=True)]
    constant = Fraction(last.biases[0]) - Fraction(last.biases[1]) - sum(last_errors)
    in_middle = least_value(constant, k, *(ends.tolist() for ends in middle))
    for (
        a,
        bias,
        error,
    ) in zip(k, first.biases.tolist(), errors, strict=True):
        constant += a * Fraction(bias) - abs(a) * error
    columns = first.weights.T.tolist()
    k = [sum(a * Fraction(w) for a, w in zip(k, ws, strict=True)) for ws in columns]
    plain = Fraction(bottom[0]) - Fraction(top[1])
    return max(plain, in_middle, least_value(constant, k, low, high))


def test_backward_passes_make_up_for_their_own_rounding():
    """The bound in doubles is never above that in rational numbers, and near to it."""
    rng = np.random.default_rng(19)
    for _ in range(150):
        sizes = (int(rng.integers(1, 9)), int(rng.integers(1, 20)), 2)
        network = Network(random_layers(rng, sizes, "linear"), "float64")
        low = rng.normal(size=sizes[0]) * 3
        box = low.tolist(), (low + np.where(rng.random(sizes[0]) < 0.3, 0, 1)).tolist()
        found = Fraction(Bounds(network, *box).differences[0, 1])
        exact = exact_bound(network, *box)
        assert exact - Fraction(1, 10**10) < found <= exact


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", ["relu", "leaky_relu"])
def test_networks_so_small_that_bounds_are_reached(precision, activation):
    """With one neuron the lines are reached at both ends: roundings decide who is right."""
    rng = np.random.default_rng(23)
    for _ in range(400):
        layers = random_layers(rng, (1, int(rng.integers(1, 3)), 2), activation)
        network = Network(layers, precision)
        low = float(rng.normal())
        assert_sound(rng, network, ([low], [low + float(rng.random())]), count=40)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_linear_networks_to_the_last_bit(precision):
    """In linear networks the least difference is at a corner: bounds are at most roundings off."""
    rng = np.random.default_rng(13)
    slack = {"float32": 2e-5, "float64": 1e-11}[precision]
    for _ in range(100):
        network = Network(random_layers(rng, (4, 6, 2), "linear"), precision)
        box = random_box(rng, 4)
        found = Bounds(network, *box)
        corners = np.array(list(itertools.product(*zip(*box, strict=True))))
        scores = network.scorer().scores(corners)
        gap = min(Fraction(a) - Fraction(b) for a, b in scores.tolist())
        assert Fraction(found.differences[0, 1]) <= gap
        assert found.differences[0, 1] >= float(gap) - slack * (1 + np.abs(box).max())


def test_an_input_is_rounded_as_the_network_does():
    """Bounds hold for inputs between the numbers of the network's precision."""
    layers = (Layer(np.array([[1.0]]), np.array([0.0]), "linear"),)
    bounds = Bounds(Network(layers, "float32"), [0.1], [0.1])
    assert bounds.lower == bounds.upper == float(np.float32(0.1)) != 0.1


@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan, 1e39])
def test_what_is_not_finite_has_no_bounds(bad):
    network = random_network(1, 2, 4, 2)
    bounds = Bounds(network, [0, min(0, bad)], [0, bad])
    assert np.isneginf(bounds.lower).all()
    assert np.isposinf(bounds.upper).all()
    assert np.isneginf(bounds.differences).all()


def test_overflow_in_the_middle_has_no_bounds():
    weights = np.full((1, 1), 1e38)
    layers = (Layer(weights, np.zeros(1), "relu"), Layer(weights * 0 + 1, np.zeros(1), "linear"))
    assert Bounds(Network(layers, "float32"), [0], [3]).upper == np.float32(3e38)
    assert Bounds(Network(layers, "float32"), [0], [4]).upper == math.inf
    assert Bounds(Network(layers, "float64"), [0], [4]).upper == 4e38


def test_a_box_after_the_other():
    """Nothing of a box stays for the next, whatever is asked and in which order."""
    rng = np.random.default_rng(17)
    network = Network(random_layers(rng, (6, 16, 16, 3), "relu"), "float32")
    core = _core.NetworkBounds(network.scorer())
    for _ in range(30):
        box = random_box(rng, 6)
        core.set_box(*box)
        fresh = Bounds(network, *box)
        for a, b in rng.permutation(list(itertools.product(range(3), repeat=2))).tolist():
            assert core.upper(b) == fresh.upper[b]
            assert core.least_difference(a, b) == fresh.differences[a, b]
            assert core.lower(a) == fresh.lower[a]


def test_influence_is_where_the_difference_changes():
    """An input that nothing depends on has none, nor has one that does not vary."""
    weights = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, -3.0]])
    layers = (
        Layer(weights, np.zeros(2), "relu"),
        Layer(np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2), "linear"),
    )
    core = _core.NetworkBounds(Network(layers, "float64").scorer())
    core.set_box([1, 1, 0], [3, 3, 0])
    assert core.influence(0, 1) == [4, 0, 0]
    core.set_box([1, 1, -1], [3, 3, 1])
    by_x, by_y, by_z = core.influence(0, 1)
    assert by_x > 0
    assert by_y == 0
    assert by_z > 2 * by_x


def test_what_is_piecewise_linear():
    found = {
        name: _core.NetworkBounds(random_network(1, 2, 3, 2, activation=name).scorer())
        for name in ACTIVATIONS
    }
    assert {name for name, bounds in found.items() if bounds.is_piecewise_linear} == set(EXACT)


def test_only_networks_and_their_inputs_and_outputs():
    network = random_network(1, 2, 3, 2)
    core = _core.NetworkBounds(network.scorer())
    with pytest.raises(ValueError, match="number of inputs"):
        core.set_box([0], [1])
    for ask in (core.lower, core.upper, lambda o: core.least_difference(0, o)):
        with pytest.raises(ValueError, match="no such output"):
            ask(2)
    rules = _core.Rules(2, 2, atoms=[], rules=[], weights=[], base=[0.0, 1.0])
    with pytest.raises(ValueError, match="not a network"):
        _core.NetworkBounds(rules)
