"""Descriptions of models: what is refused, and that the core computes what they say."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.support.networks import grid, plain_scores, random_network
from tests.support.tree_files import trees

from surefoot import _core, examine, load_policy
from surefoot.policies.binding import with_inputs
from surefoot.policies.models import Corrected, Layer, Network, Rules, Trees


def whole(*numbers):
    return np.array(numbers, dtype=np.int32)


NO_TREES = {
    "no inputs": ({"num_inputs": 0}, "no inputs"),
    "feature": ({"features": whole(2, -1, -1)}, "not one of the 2 inputs"),
    "negative feature": ({"features": whole(-2, -1, -1)}, "not one of the 2 inputs"),
    "lengths": ({"thresholds": np.zeros(2)}, "differ in length"),
    "base": ({"base": np.zeros(3)}, "3 base scores for 2 outputs"),
    "infinite threshold": ({"thresholds": np.array([np.inf, 0, 0])}, "a threshold is infinite"),
    "NaN leaf": ({"values": np.array([3.0, np.nan])}, "a leaf value is infinite"),
    "NaN base": ({"base": np.array([0.0, np.nan])}, "a base score is infinite"),
    "divided by nothing": ({"divide_by": 0.0}, "not positive"),
    "output": ({"right": whole(2, 0, 2)}, "none of the 2 outputs"),
    "leaf without value": ({"left": whole(1, 0, 2)}, "no values"),
    "leaf without vector": ({"right": whole(2, -1, -1)}, "no values"),
    "child": ({"right": whole(3, 0, 1)}, "child that is not there"),
    "shared": ({"right": whole(1, 0, 1)}, "shared"),
    "root": ({"roots": whole(1)}, "shared, cyclic or not reached"),
    "no root": ({"roots": whole()}, "shared, cyclic or not reached"),
    "circle": (
        {
            "features": whole(-1, 0, -1, -1),
            "thresholds": np.zeros(4),
            "left": whole(0, 1, 0, 0),
            "right": whole(0, 2, 0, 0),
            "roots": whole(0, 3),
        },
        "circle",
    ),
}


def test_a_tree_passes_the_check():
    trees().check()
    assert str(trees()) == "1 tree, 2 leaves, 2 inputs, 2 outputs, float64"
    scores = trees().scorer().scores(np.array([[9.0, 0.25], [9.0, 0.5]]))
    assert scores.tolist() == [[3.25, 0.5], [0.25, 4.5]]


@pytest.mark.parametrize("name", NO_TREES)
def test_what_is_no_tree_is_refused(name):
    changes, message = NO_TREES[name]
    with pytest.raises(ValueError, match=message):
        trees(**changes).check()


def test_a_single_leaf_is_a_tree():
    leaf = trees(
        features=whole(-1),
        thresholds=np.zeros(1),
        left=whole(0),
        right=whole(-1),
        base=np.zeros(2),
    )
    leaf.check()
    assert leaf.scorer().scores(np.zeros((1, 2))).tolist() == [[3.0, 4.0]]


# -- the core against a plain loop -----------------------------------------------------------


def reference(model, state):
    """Return the scores of one state, slowly and plainly."""
    sum_type = np.dtype(model.sum_precision).type
    inputs = [float(np.dtype(model.input_precision).type(x)) for x in state]
    sums = [sum_type(0 if model.base_last else base) for base in model.base]
    for root in model.roots:
        node = root
        while model.features[node] != -1:
            is_left = inputs[model.features[node]] < model.thresholds[node]
            node = model.left[node] if is_left else model.right[node]
        first, output = model.left[node], model.right[node]
        outputs = range(model.num_outputs) if output == -1 else [output]
        for place, each in enumerate(outputs, start=first):
            sums[each] = sum_type(sums[each] + sum_type(model.values[place]))
    if model.base_last:
        sums = [sum_type(s + sum_type(b)) for s, b in zip(sums, model.base, strict=True)]
    return [float(sum_type(float(s) / model.divide_by)) for s in sums]


FLOATS = st.floats(-8, 8, width=32) | st.floats(-1e6, 1e6) | st.sampled_from([0.1, 1 / 3, 2**24])


@st.composite
def ensembles(draw):
    """Random ensembles of a few trees; leaves with one value or one for each output."""
    num_inputs, num_outputs = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    is_vector = draw(st.booleans())
    nodes, roots, values = [], [], []
    for _ in range(draw(st.integers(0, 12))):
        roots.append(len(nodes))
        open_nodes = [len(nodes)]
        nodes.append(None)
        for _ in range(draw(st.integers(0, 6))):
            node = open_nodes.pop(draw(st.integers(0, len(open_nodes) - 1)))
            feature = draw(st.integers(0, num_inputs - 1))
            nodes[node] = (feature, draw(FLOATS), len(nodes), len(nodes) + 1)
            open_nodes += [len(nodes), len(nodes) + 1]
            nodes += [None, None]
        for node in open_nodes:
            output = -1 if is_vector else draw(st.integers(0, num_outputs - 1))
            nodes[node] = (-1, 0.0, len(values), output)
            values += [draw(FLOATS) for _ in range(num_outputs if is_vector else 1)]
    columns = list(zip(*nodes, strict=True)) if nodes else [(), (), (), ()]
    return Trees(
        num_inputs=num_inputs,
        num_outputs=num_outputs,
        roots=np.array(roots, dtype=np.int32),
        features=np.array(columns[0], dtype=np.int32),
        thresholds=np.array(columns[1], dtype=np.float64),
        left=np.array(columns[2], dtype=np.int32),
        right=np.array(columns[3], dtype=np.int32),
        values=np.array(values, dtype=np.float64),
        base=np.array([draw(FLOATS) for _ in range(num_outputs)]),
        input_precision=draw(st.sampled_from(["float32", "float64"])),
        sum_precision=draw(st.sampled_from(["float32", "float64"])),
        base_last=draw(st.booleans()),
        divide_by=draw(st.sampled_from([1.0, 3.0, 7.0, 0.1])),
    )


@settings(max_examples=300, deadline=None)
@given(model=ensembles(), data=st.data())
def test_the_core_scores_trees_as_the_plain_loop_does(model, data):
    model.check()
    near = sorted({0.0, *model.thresholds.tolist()})
    near += [np.nextafter(x, side) for x in near for side in (-np.inf, np.inf)]
    near += [float(np.float32(x)) for x in near]
    states = data.draw(
        arrays.arrays(np.float64, (5, model.num_inputs), elements=st.sampled_from(near) | FLOATS)
    )
    found = model.scorer().scores(states)
    assert found.tolist() == [reference(model, state) for state in states]


def test_sums_in_float32_are_added_tree_by_tree():
    """2**24 + 1 is 2**24 in float32: the order of trees and base is what makes the sum."""
    many = 6
    model = Trees(
        num_inputs=1,
        num_outputs=1,
        roots=np.arange(many, dtype=np.int32),
        features=np.full(many, -1, dtype=np.int32),
        thresholds=np.zeros(many),
        left=np.arange(many, dtype=np.int32),
        right=np.zeros(many, dtype=np.int32),
        values=np.ones(many),
        base=np.array([2.0**24]),
        input_precision="float32",
        sum_precision="float32",
    )
    zero = np.zeros((1, 1))
    assert model.scorer().scores(zero)[0, 0] == 2.0**24
    assert replace(model, base_last=True).scorer().scores(zero)[0, 0] == 2.0**24 + many
    exact = replace(model, sum_precision="float64", divide_by=2.0)
    assert exact.scorer().scores(zero)[0, 0] == (2.0**24 + many) / 2


# -- rules -----------------------------------------------------------------------------------


@st.composite
def rule_models(draw):
    num_inputs, num_outputs = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    atoms = tuple(
        dict.fromkeys(
            draw(st.tuples(st.integers(0, num_inputs - 1), st.integers(-2, 2))) for _ in range(5)
        )
    )
    rules = []
    for number in range(draw(st.integers(0, 8))):
        term = st.tuples(st.integers(0, len(atoms) + number - 1), st.booleans())
        rules.append((draw(st.booleans()), tuple(draw(st.lists(term, max_size=4)))))
    one = st.tuples(
        st.integers(0, max(0, len(rules) - 1)), st.integers(0, num_outputs - 1), st.floats(-5, 5)
    )
    weights = tuple(draw(st.lists(one, max_size=12))) if rules else ()
    base = tuple(draw(st.floats(-5, 5)) for _ in range(num_outputs))
    return Rules(num_inputs, num_outputs, atoms, tuple(rules), weights, base)


def rule_scores(model, state):
    truth = [state[number] == value for number, value in model.atoms]
    count = len(truth)
    for is_and, terms in model.rules:
        values = [truth[term] != negated for term, negated in terms]
        truth.append(all(values) if is_and else any(values))
    scores = list(model.base)
    for rule, output, weight in model.weights:
        if truth[count + rule]:
            scores[output] += weight
    return scores


@settings(max_examples=200, deadline=None)
@given(model=rule_models(), data=st.data())
def test_the_core_scores_rules_as_the_plain_loop_does(model, data):
    model.check()
    value = st.integers(-3, 3).map(float) | st.just(0.5)
    states = np.array(
        data.draw(st.lists(st.lists(value, min_size=3, max_size=3), min_size=4, max_size=4))
    )[:, : model.num_inputs]
    found = model.scorer().scores(np.ascontiguousarray(states))
    assert found.tolist() == [rule_scores(model, state) for state in states]


RULES = Rules(1, 1, ((0, 1),), ((True, ((0, False),)),), ((0, 0, 2.0),), (1.0,))
NO_RULES = {
    "no inputs": ({"num_inputs": 0}, "no inputs"),
    "base": ({"base": (1.0, 2.0)}, "2 base scores"),
    "atom": ({"atoms": ((1, 1),)}, "none of the 1 inputs"),
    "itself": ({"rules": ((True, ((1, False),)),)}, "nor an earlier rule"),
    "negative term": ({"rules": ((True, ((-1, False),)),)}, "nor an earlier rule"),
    "weight": ({"weights": ((1, 0, 2.0),)}, "not there"),
    "output": ({"weights": ((0, 1, 2.0),)}, "not there"),
    "NaN": ({"weights": ((0, 0, float("nan")),)}, "a weight is infinite"),
}


@pytest.mark.parametrize("name", NO_RULES)
def test_what_are_no_rules_is_refused(name):
    changes, message = NO_RULES[name]
    RULES.check()
    with pytest.raises(ValueError, match=message):
        replace(RULES, **changes).check()


# -- networks --------------------------------------------------------------------------------

LAYER = Layer(np.ones((2, 3)), np.zeros(2), "relu")
NO_NETWORKS = {
    "no layers": ((), "no layers"),
    "shape": ((replace(LAYER, weights=np.ones(3)),), "layer 1: weights have the shape"),
    "biases": ((replace(LAYER, biases=np.zeros(3)),), "layer 1: there are biases"),
    "activation": ((replace(LAYER, activation="selu"),), "'selu' is not known"),
    "NaN": ((replace(LAYER, biases=np.array([0, np.nan])),), "a bias is infinite"),
    "sizes": ((LAYER, LAYER), "layer 1 has 2 outputs but layer 2 takes 3"),
}


@pytest.mark.parametrize("name", NO_NETWORKS)
def test_what_is_no_network_is_refused(name):
    layers, message = NO_NETWORKS[name]
    with pytest.raises(ValueError, match=message):
        Network(layers, "float64").check()


def test_a_network_says_what_it_is():
    network = Network((LAYER, Layer(np.ones((4, 2)), np.zeros(4), "linear")), "float32")
    network.check()
    assert (network.num_inputs, network.num_outputs) == (3, 4)
    assert str(network) == "network 3-2-4 relu, float32"


# -- networks with trees that correct them ---------------------------------------------------


def corrected(**changes):
    """Return a network of two inputs and outputs, and one tree of the same."""
    return replace(Corrected(random_network(1, 2, 5, 2), trees()), **changes)


def test_corrected_scores_are_the_sums_of_both_in_double():
    model = corrected(trees=trees(values=np.array([1e9, 1 / 3])))
    model.check()
    rows = np.random.default_rng(0).normal(size=(500, 2))
    found = model.scorer().scores(rows)
    network, more = (part.scorer().scores(rows) for part in (model.network, model.trees))
    assert np.array_equal(found, network + more)
    assert (found != (network + more).astype(np.float32)).any()
    assert np.allclose(network, plain_scores(model.network, rows), atol=1e-6)
    assert (more != 0).any(axis=0).all()


def test_corrected_is_like_any_other_model():
    model = corrected()
    assert (model.kind, model.num_inputs, model.num_outputs) == ("corrected", 2, 2)
    assert str(model) == "network 2-5-2 relu, float32, corrected by 1 tree with 2 leaves"
    assert with_inputs(model, 9) is model
    task = grid(2, 2)
    policy = load_policy(model, task)
    state = task.state(v0=5, v1=1)
    row = model.scorer().scores(np.array([[5.0, 1.0]]))[0]
    assert policy.scores(state) == dict(zip(("a0", "a1"), row.tolist(), strict=True))
    assert policy.decide(state) == f"a{row.argmax()}"


def test_trees_overrule_the_network():
    task = grid(2, 2)
    plain = load_policy(random_network(1, 2, 5, 2), task)
    states = [task.state(v0=5, v1=value) for value in range(10)]
    decided = plain.decide_all(states)
    push = trees(values=np.array([100.0, 100.0]), base=np.zeros(2))
    overruled = load_policy(corrected(trees=push), task).decide_all(states)
    assert overruled == ["a0", *["a1"] * 9] and overruled != decided


def test_parts_that_do_not_fit_are_refused():
    wide, tall = random_network(1, 3, 2), random_network(1, 2, 3)
    for network, wrong in ((wide, "3 inputs"), (tall, "3 outputs")):
        with pytest.raises(ValueError, match=f"the network has {wrong}"):
            corrected(network=network).check()
        with pytest.raises(ValueError, match="differ in their inputs or outputs"):
            _core.Corrected(network.scorer(), trees().scorer())
    with pytest.raises(ValueError, match="no values"):
        corrected(trees=trees(left=whole(1, 0, 2))).check()


def test_doctor_compares_corrected_networks():
    task = grid(2, 2)
    report = examine(task, policy=corrected(), seed=1)
    facts = report.policy
    assert facts.kind == "corrected"
    assert "torch" in facts.fidelity.original
    assert {part.what for part in facts.fidelity.parts} >= {"states", "inputs at thresholds"}
    assert not any(part.differs for part in facts.fidelity.parts)
    assert not [one for one in report.findings if one.code == "policy-differs"]
