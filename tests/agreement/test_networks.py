"""Networks in the core against plain loops, bit for bit; and the decisions that follow."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from surefoot import Description, InputError, Interface, PythonTask
from surefoot.policies import as_policy
from surefoot.policies.interface import Input
from surefoot.policies.models import ACTIVATIONS, Layer, Network

PRECISIONS = ("float32", "float64")
EXACT = ("linear", "relu", "leaky_relu")
CLOSE = {"float32": 2e-6, "float64": 1e-14}  # mathematical libraries differ in the last bits
SPECIAL = (0.0, -0.0, 1.0, -1.0, 1e-310, 1e30, -1e30, 3e38, 1.7e308, -1.7e308, 0.1)


def plain_scores(network, rows):
    """Return the scores: each neuron is its bias and then its inputs in order, one by one."""
    kind = np.dtype(network.precision).type
    with np.errstate(all="ignore"):
        values = rows.astype(kind)
        for layer in network.layers:
            weights, biases = layer.weights.astype(kind), layer.biases.astype(kind)
            sums = np.tile(biases, (len(rows), 1))
            for i in range(weights.shape[1]):
                sums = sums + values[:, i : i + 1] * weights[:, i]
            values = activated(layer, sums, kind)
            assert values.dtype == kind
    return values.astype(np.float64)


def activated(layer, x, kind):
    if layer.activation == "relu":
        return np.maximum(x, kind(0))
    if layer.activation == "tanh":
        return np.tanh(x)
    if layer.activation == "sigmoid":
        return kind(1) / (kind(1) + np.exp(-x))
    if layer.activation == "leaky_relu":
        return np.where(x > 0, x, x * kind(layer.slope))
    return x


def random_layer(rng, inputs, outputs, activation):
    weights = rng.normal(size=(outputs, inputs)) / np.sqrt(inputs)
    weights[rng.random(weights.shape) < 0.1] = 0.0
    return Layer(weights, rng.normal(size=outputs), activation, slope=float(rng.random()))


def network_of_sizes(rng, sizes, activation, precision):
    layers = [
        random_layer(rng, below, size, activation) for below, size in itertools.pairwise(sizes)
    ]
    return Network(tuple(layers), precision)


def random_rows(rng, count, inputs):
    rows = rng.normal(size=(count, inputs)) * 3
    rows[rng.random(rows.shape) < 0.2] = 0.0
    rows[rng.random(rows.shape) < 0.1] = -0.0
    return rows


def assert_same_bits(network, rows):
    found = network.scorer().scores(rows)
    np.testing.assert_array_equal(found, plain_scores(network, rows))


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", EXACT)
def test_every_width_gives_the_same_bits(precision, activation):
    """Widths from 1 to 200 meet every way in which neurons are computed side by side."""
    rng = np.random.default_rng(1)
    for width in range(1, 201):
        sizes = (int(rng.integers(1, 9)), width, int(rng.integers(1, 7)))
        network = network_of_sizes(rng, sizes, activation, precision)
        assert_same_bits(network, random_rows(rng, 4, sizes[0]))


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_number_of_outputs_gives_the_same_bits(precision):
    rng = np.random.default_rng(2)
    for outputs in range(1, 140):
        network = network_of_sizes(rng, (3, outputs), "linear", precision)
        assert_same_bits(network, random_rows(rng, 3, 3))


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
def test_deep_networks_give_the_same_bits(precision):
    rng = np.random.default_rng(3)
    for _ in range(60):
        sizes = tuple(int(n) for n in rng.integers(1, 90, size=rng.integers(2, 7)))
        layers = [
            random_layer(rng, below, size, str(rng.choice(EXACT)))
            for below, size in itertools.pairwise(sizes)
        ]
        assert_same_bits(Network(tuple(layers), precision), random_rows(rng, 5, sizes[0]))


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_close_to_those_of_numpy(precision, activation):
    rng = np.random.default_rng(4)
    for width in (1, 7, 8, 9, 16, 31, 33, 64, 65, 100, 200):
        network = network_of_sizes(rng, (4, width, width, 3), activation, precision)
        rows = random_rows(rng, 5, 4)
        close = CLOSE[precision]
        found, wanted = network.scorer().scores(rows), plain_scores(network, rows)
        np.testing.assert_allclose(found, wanted, rtol=close * 10, atol=close)


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("activation", EXACT)
def test_huge_and_tiny_inputs(precision, activation):
    """Infinities and what is not a number come out as NumPy has them."""
    rng = np.random.default_rng(5)
    not_numbers = infinite = 0
    for _ in range(150):
        network = network_of_sizes(rng, (3, 9, 4), activation, precision)
        rows = rng.choice(SPECIAL, size=(4, 3))
        wanted = plain_scores(network, rows)
        found = network.scorer().scores(rows)
        is_zero_times_infinity = np.isnan(wanted) != np.isnan(found)
        assert not is_zero_times_infinity.any()
        np.testing.assert_array_equal(found, wanted)
        not_numbers += np.isnan(wanted).sum()
        infinite += np.isinf(wanted).sum()
    assert infinite > 20
    assert not_numbers > 20


def test_the_scores_of_a_row_do_not_depend_on_the_others():
    rng = np.random.default_rng(6)
    for precision in PRECISIONS:
        network = network_of_sizes(rng, (5, 40, 40, 3), "relu", precision)
        rows = random_rows(rng, 20, 5)
        together = network.scorer().scores(rows)
        for i in rng.permutation(len(rows)):
            alone = network.scorer().scores(rows[i : i + 1])
            np.testing.assert_array_equal(alone[0], together[i])


# -- decisions ---------------------------------------------------------------------------------

ACTIONS = ("up", "down", "left", "right", "wait")


def world():
    """A task with variables of all types; which actions are applicable differs."""
    d = Description("world")
    x = d.int("x", -7, 12, initial=0)
    lit = d.bool("lit", initial=False)
    y = d.real("y", -2.5, 1e6, initial=0.0)
    z = d.int("z", 1_000_000_000_000, 1_000_000_000_009, initial=1_000_000_000_000)
    d.silent = ["tick"]
    for action in ACTIONS:
        d.action(action)
    d.edge("up", guard=x > -5, outcomes=[{}])
    d.edge("down", guard=lit, outcomes=[{}])
    d.edge("left", guard=y > 0, outcomes=[{}])
    d.edge("right", guard=(x < 5) & (x > -6), outcomes=[{}])
    d.edge("wait", guard=z > 1_000_000_000_002, outcomes=[{}])
    d.edge("tick", outcomes=[{}])
    return d.compile()


def random_states(task, rng, count):
    states = []
    while len(states) < count:
        state = {
            "x": int(rng.integers(-7, 13)),
            "lit": bool(rng.integers(2)),
            "y": float(rng.choice([-2.5, -0.0, 0.0, 0.1, 1e6, rng.normal()])),
            "z": int(rng.integers(1_000_000_000_000, 1_000_000_000_010)),
        }
        if set(task.applicable(state)) - {"tick"}:
            states.append(task.state(state))
    return states


def random_interface(rng, *, outputs):
    """Return inputs in any order, some of them twice, scaled, or constants."""
    inputs = [Input(str(name)) for name in rng.permutation(["x", "lit", "y", "z"])]
    inputs[0] = Input(
        inputs[0].variable, mean=float(rng.normal()), scale=float(rng.uniform(0.1, 3))
    )
    inputs.insert(int(rng.integers(4)), Input(None, constant=float(rng.normal())))
    inputs.append(Input(None, constant=2.0, mean=1.0, scale=-4.0))
    inputs.append(Input("x", mean=0.5))
    return Interface(inputs=tuple(inputs), outputs=outputs)


def fed(interface, state):
    row = [
        float(one.constant if one.variable is None else state[one.variable])
        for one in interface.inputs
    ]
    scaled = zip(row, interface.inputs, strict=True)
    return np.array([[(value - one.mean) / one.scale for value, one in scaled]])


def wanted_decision(task, network, interface, state):
    """Return the best-scored applicable action by the definition; None if nothing is scored."""
    applicable = [name for name in task.applicable(state) if name != "tick"]
    if len(applicable) == 1:
        return applicable[0]
    (scores,) = plain_scores(network, fed(interface, state))
    scored = [
        (score, -position, name)
        for position, (name, score) in enumerate(zip(interface.outputs, scores, strict=True))
        if name in applicable
    ]
    return max(scored)[2] if scored else None


@pytest.mark.fuzz
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("has_ties", [False, True])
def test_decisions_are_those_of_the_definition(precision, has_ties):
    rng = np.random.default_rng(7)
    task = world()
    decided = set()
    for _ in range(40):
        outputs = tuple(rng.permutation(ACTIONS)[: rng.integers(2, 6)].tolist())
        interface = random_interface(rng, outputs=outputs)
        sizes = (len(interface.inputs), 11, len(outputs))
        network = network_of_sizes(rng, sizes, "relu", precision)
        if has_ties:
            network = rounded(network)
        policy = as_policy(network, task, interface=interface)
        states = random_states(task, rng, 25)
        wanted = [wanted_decision(task, network, interface, state) for state in states]
        for state, want in zip(states, wanted, strict=True):
            if want is None:
                assert code_of(policy.decide, state) == "policy-no-decision"
            else:
                assert policy.decide(state) == want
                decided.add(want)
            scores = plain_scores(network, fed(interface, state))[0]
            assert policy.scores(state) == dict(zip(outputs, scores, strict=True))
        sure = [state for state, want in zip(states, wanted, strict=True) if want is not None]
        assert policy.decide_all(sure) == [policy.decide(state) for state in sure]
        assert policy.decide_all(sure) == [want for want in wanted if want is not None]
    assert decided == set(ACTIONS)


def rounded(network):
    """Return the network with few different scores: its last layer sees next to nothing."""
    *below, last = network.layers
    weights = np.zeros_like(last.weights)
    weights[:, 0] = np.sign(last.weights[:, 0])
    flat = Layer(weights, np.round(last.biases), "linear")
    return Network((*below, flat), network.precision)


def code_of(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    return caught.value.code


def constant_scores(*scores, inputs=4, precision="float32"):
    """Return a network whose scores do not depend on its inputs."""
    count = len(scores)
    return Network((Layer(np.zeros((count, inputs)), np.array(scores), "linear"),), precision)


ALL = {"x": 0, "lit": True, "y": 1.0, "z": 1_000_000_000_009}


def test_ties_go_to_the_lowest_output():
    task = world()
    network = constant_scores(1.0, 2.0, 2.0, -0.0, 2.0)
    for outputs in (ACTIONS, ACTIONS[::-1], ("wait", "up", "down", "left", "right")):
        policy = as_policy(network, task, interface=Interface(outputs=outputs))
        assert policy.decide(ALL) == outputs[1]
    zeros = constant_scores(-0.0, 0.0, 0.0, -0.0, -1.0)
    assert as_policy(zeros, task).decide(ALL) == "up"
    tiny = constant_scores(-1.0, 1.0, np.nextafter(1.0, 2), 1.0, 0.0, precision="float64")
    assert as_policy(tiny, task).decide(ALL) == "left"


def test_one_applicable_action_is_taken_unasked():
    task = world()
    only_up = {"x": 12, "lit": False, "y": 0.0, "z": 1_000_000_000_000}
    assert [a for a in task.applicable(only_up) if a != "tick"] == ["up"]
    network = constant_scores(1.0, 2.0, precision="float64")
    policy = as_policy(network, task, interface=Interface(outputs=("down", "left")))
    assert policy.decide(only_up) == "up"
    assert policy.decide_all([only_up, ALL]) == ["up", "left"]
    huge = Network((Layer(np.full((5, 4), 1e308), np.zeros(5), "linear"),) * 1, "float64")
    wide = Network(
        (huge.layers[0], Layer(np.ones((5, 5)) * [1, -1, 1, -1, 1], np.zeros(5), "linear")),
        "float64",
    )
    assert code_of(as_policy(wide, task).decide, ALL) == "policy-no-number"
    assert as_policy(wide, task).decide(only_up) == "up"


def test_unfiltered_policies_decide_among_all():
    task = world()
    network = constant_scores(1.0, 5.0, 2.0, 5.0, 0.0)
    policy = as_policy(network, task, unfiltered=True)
    assert policy.unfiltered
    assert policy.decide(ALL) == "down"
    dark = {**ALL, "lit": False}
    assert code_of(policy.decide, dark) == "policy-not-applicable"
    assert as_policy(network, task, unfiltered=False).decide(dark) == "right"
    only_up = {"x": 12, "lit": False, "y": 0.0, "z": 1_000_000_000_000}
    assert code_of(policy.decide, only_up) == "policy-not-applicable"


@pytest.mark.parametrize("activation", ["linear", "relu", "leaky_relu", "tanh", "sigmoid"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("unfiltered", [False, True])
def test_what_is_no_number_decides_nothing(activation, precision, unfiltered):
    """Infinity less infinity, in a hidden layer, is not forgotten on the way to the scores."""
    task = world()
    large = float(np.finfo(precision).max)
    first = Layer(np.array([[0, 0, 0, large]] * 2), np.zeros(2), "linear")
    second = Layer(np.array([[1.0, -1.0]] * 3), np.zeros(3), activation)
    last = Layer(np.ones((5, 3)), np.arange(5.0), "linear")
    policy = as_policy(Network((first, second, last), precision), task, unfiltered=unfiltered)
    assert code_of(policy.decide, ALL) == "policy-no-number"
    assert code_of(policy.decide_all, [ALL, ALL]) == "policy-no-number"


class Corner:
    """One state with two actions."""

    def start(self):
        return [(1.0,)]

    def actions(self, state):
        return ["stay", "go"]

    def outcomes(self, state, action):
        return [state]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return False


def test_what_is_no_number_decides_nothing_on_python_tasks():
    task = PythonTask(Corner())
    large = np.finfo("float64").max
    first = Layer(np.array([[large], [large]]), np.array([large, large]), "linear")
    second = Layer(np.array([[1.0, -1.0]] * 2), np.zeros(2), "linear")
    interface = Interface(outputs=("stay", "go"))
    policy = as_policy(Network((first, second), "float64"), task, interface=interface)
    assert code_of(policy.decide, (1.0,)) == "policy-no-number"
    fine = as_policy(constant_scores(1.0, 2.0, inputs=1), task, interface=interface)
    assert fine.decide((1.0,)) == "go"
