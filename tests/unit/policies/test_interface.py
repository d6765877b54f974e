"""Interfaces: which variable feeds which input, which output is which action."""

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.support.networks import grid, plain_scores, random_network

from surefoot import (
    Description,
    InputError,
    Interface,
    PythonTask,
    Unsupported,
    load_policy,
    verify,
)
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, interface_from, read_interface
from surefoot.policies.models import Layer, Network, Rules, Trees
from surefoot.policies.safetensors import to_bytes

NETWORK = random_network(3, 3, 6, 4)


def error_of(call, *args, **options):
    with pytest.raises(InputError) as caught:
        call(*args, **options)
    return caught.value


def feeding(**said):
    return {"surefoot_interface": 1, **said}


@pytest.fixture
def file(tmp_path):
    """The network in a file that says nothing about its inputs and outputs."""
    path = tmp_path / "net.safetensors"
    path.write_bytes(to_bytes(NETWORK))
    return path


# -- without an interface ----------------------------------------------------------------------


def test_all_variables_and_all_actions_in_order():
    policy = as_policy(NETWORK, grid(3, 4))
    assert policy.interface.inputs == tuple(Input(f"v{i}") for i in range(3))
    assert policy.interface.outputs == ("a0", "a1", "a2", "a3")
    assert policy.model is NETWORK
    assert (policy.unfiltered, policy.file) == (False, None)


def test_constants_come_first_if_there_are_as_many_inputs():
    network = random_network(4, 5, 6, 4)
    task = grid(3, 4, constants=2)
    policy = as_policy(network, task)
    assert policy.interface.inputs[:3] == (Input(constant=10.0), Input(constant=20.0), Input("v0"))
    state = task.state(v0=5, v1=1, v2=2)
    expected = plain_scores(network, np.array([[10.0, 20.0, 5.0, 1.0, 2.0]]))[0]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected), rel=1e-6)
    assert policy.decide(state) == f"a{expected.argmax()}"
    assert as_policy(NETWORK, task).interface.inputs[0] == Input("v0")


def test_silent_actions_are_no_outputs():
    d = Description("silent")
    d.int("x", 0, 3, initial=0)
    for name in ("one", "two"):
        d.edge(name, outcomes=[{}])
    d.silent.append("tau")
    policy = as_policy(random_network(5, 1, 2), d.compile())
    assert policy.interface.outputs == ("one", "two")


def test_other_numbers_are_refused_and_say_both():
    task = grid(4, 4, constants=2)
    error = error_of(as_policy, NETWORK, task)
    assert error.code == "policy-wrong-inputs"
    for part in ("3 inputs", "4 variables", "2 constants"):
        assert part in error.message
    assert "--interface" in error.hint
    error = error_of(as_policy, NETWORK, grid(3, 5))
    assert error.code == "policy-wrong-outputs"
    assert "4 outputs" in error.message and "5 actions" in error.message


def test_file_of_the_wrong_size_is_named(file):
    assert error_of(load_policy, str(file), grid(4, 4)).file == str(file)


def test_booleans_and_locations_feed_numbers():
    d = Description("kinds")
    d.bool("on", initial=False)
    d.int("where", 0, 2, initial=0, labels=("a", "b", "c"))
    d.real("r", -1.0, 1.0, initial=0.0)
    for i in range(4):
        d.edge(f"a{i}", outcomes=[{}])
    task = d.compile()
    policy = as_policy(NETWORK, task)
    state = task.state(on=True, where="c", r=-0.25)
    expected = plain_scores(NETWORK, np.array([[1.0, 2.0, -0.25]]))[0]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected), rel=1e-6)
    assert policy.decide(state) == f"a{expected.argmax()}"


# -- with one ----------------------------------------------------------------------------------

SAID = feeding(
    inputs=["v2", {"variable": "v0", "mean": 2.0, "scale": 4.0}, {"constant": 7, "mean": 1}],
    outputs=["a1", "a0", "a2", "a3"],
)


def check_said(policy):
    state = policy.task.state(v0=8, v1=0, v2=3)
    expected = plain_scores(NETWORK, np.array([[3.0, 1.5, 6.0]]))[0]
    assert list(policy.scores(state)) == SAID["outputs"]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected), rel=1e-6)
    assert policy.decide(state) == SAID["outputs"][expected.argmax()]
    core = policy.core.scores(policy.task.core, state.packed)
    assert core == list(policy.scores(state).values())  # bit for bit


def test_given_as_data_as_object_and_as_file(file, tmp_path):
    task = grid(3, 4)
    check_said(load_policy(str(file), task, interface=SAID))
    check_said(load_policy(str(file), task, interface=interface_from(SAID).interface))
    other = tmp_path / "other.json"
    other.write_text(json.dumps(SAID))
    check_said(load_policy(str(file), task, interface=other))
    check_said(as_policy(NETWORK, task, interface=str(other)))


@pytest.mark.parametrize("name", ["net.safetensors.interface.json", "net.interface.json"])
def test_found_beside_the_file(file, tmp_path, name):
    plain = load_policy(str(file), grid(3, 4))
    (tmp_path / name).write_text(json.dumps(SAID))
    policy = load_policy(str(file), grid(3, 4))
    check_said(policy)
    assert policy.sha256 != plain.sha256
    check_said(load_policy(str(file), grid(3, 4), interface=SAID))
    given = load_policy(str(file), grid(3, 4), interface=feeding(inputs=["v0", "v1", "v2"]))
    assert given.interface.outputs[0] == "a0"  # what is given replaces what stands beside


def test_given_as_the_policy(file, tmp_path):
    named = tmp_path / "policy.json"
    named.write_text(json.dumps({**SAID, "file": "net.safetensors", "unfiltered": True}))
    policy = load_policy(str(named), grid(3, 4))
    check_said(policy)
    assert policy.unfiltered is True
    assert load_policy(str(named), grid(3, 4), unfiltered=False).unfiltered is False
    named.write_text(json.dumps(SAID))
    assert error_of(load_policy, str(named), grid(3, 4)).code == "bad-interface"
    named.write_text(json.dumps({**SAID, "file": "policy.json"}))
    assert error_of(load_policy, str(named), grid(3, 4)).code == "bad-interface"
    named.write_text(json.dumps({**SAID, "file": "gone.onnx"}))
    assert error_of(load_policy, str(named), grid(3, 4)).place == "/file"


def test_half_an_interface_leaves_the_rest_as_it_was(file):
    policy = load_policy(str(file), grid(3, 4), interface=feeding(outputs=["a1", "a0", "a2", "a3"]))
    assert policy.interface.inputs == tuple(Input(f"v{i}") for i in range(3))
    scaled = feeding(inputs=[{"mean": 1}, {"scale": 2}, "v0"])
    policy = load_policy(str(file), grid(3, 4), interface=scaled)
    assert policy.interface.inputs == (Input("v0", mean=1), Input("v1", scale=2), Input("v0"))


def test_written_and_read_again():
    interface = interface_from(SAID).interface
    assert interface_from(interface.to_dict()).interface == interface
    assert interface_from(json.loads(json.dumps(interface.to_dict()))).interface == interface
    assert Interface((Input(mean=2.0),)).to_dict()["inputs"] == [{"mean": 2.0, "scale": 1.0}]


BAD = {
    "no interface": ({"inputs": ["x"]}, None),
    "other version": ({"surefoot_interface": 2}, None),
    "unknown key": (feeding(input=["x"]), "/input"),
    "inputs are text": (feeding(inputs="x"), "/inputs"),
    "no inputs": (feeding(inputs=[]), "/inputs"),
    "input is a number": (feeding(inputs=["x", 3]), "/inputs/1"),
    "variable and constant": (feeding(inputs=[{"variable": "x", "constant": 1}]), "/inputs/0"),
    "scale of 0": (feeding(inputs=[{"variable": "x", "scale": 0}]), "/inputs/0/scale"),
    "mean is text": (feeding(inputs=[{"variable": "x", "mean": "2"}]), "/inputs/0/mean"),
    "constant is too large": (feeding(inputs=[{"constant": 10**400}]), "/inputs/0/constant"),
    "unknown key of an input": (feeding(inputs=[{"variabel": "x"}]), "/inputs/0/variabel"),
    "output is negative": (feeding(outputs=[0, -1]), "/outputs/1"),
    "output is not a whole number": (feeding(outputs=[0.0]), "/outputs/0"),
    "output is true": (feeding(outputs=[0, True]), "/outputs/1"),
    "outputs are names and positions": (feeding(outputs=["a0", 1]), "/outputs/1"),
    "unfiltered is text": (feeding(unfiltered="no"), "/unfiltered"),
    "file is a number": (feeding(file=3), "/file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_interfaces_name_the_place(tmp_path, case):
    content, place = BAD[case]
    file = tmp_path / "bad.interface.json"
    file.write_text(json.dumps(content))
    error = error_of(read_interface, file)
    assert (error.code, error.place, error.file) == ("bad-interface", place, str(file))


UNFIT = {
    "unknown variable": ({"inputs": ["v0", "v9", "v1"]}, "unknown-variable", "/inputs/1"),
    "unknown action": ({"outputs": ["a0", "a1", "a2", "b"]}, "unknown-action", "/outputs/3"),
    "twice": ({"outputs": ["a0", "a1", "a2", "a0"]}, "duplicate-name", "/outputs/3"),
    "no such position": ({"outputs": [0, 1, 4, 2]}, "policy-wrong-outputs", "/outputs/2"),
    "position twice": ({"outputs": [0, 1, 2, 1]}, "duplicate-name", "/outputs/3"),
    "too few positions": ({"outputs": [3]}, "policy-wrong-outputs", "/outputs"),
    "too few inputs": ({"inputs": ["v0"]}, "policy-wrong-inputs", "/inputs"),
    "too few outputs": ({"outputs": ["a0"]}, "policy-wrong-outputs", "/outputs"),
}


@pytest.mark.parametrize("case", UNFIT)
def test_interfaces_that_do_not_fit_the_task(file, tmp_path, case):
    said, code, place = UNFIT[case]
    other = tmp_path / "net.interface.json"
    other.write_text(json.dumps(feeding(**said)))
    error = error_of(load_policy, str(file), grid(3, 4))
    assert (error.code, error.place, error.file) == (code, place, str(other))


def test_outputs_are_positions_among_the_actions_that_are_not_silent():
    d = Description("silent")
    d.int("x", 0, 3, initial=0)
    for name in ("one", "two", "three"):
        d.edge(name, outcomes=[{}])
    d.silent.append("tau")
    task = d.compile()
    said = feeding(outputs=[2, 0])
    network = random_network(5, 1, 2)
    for given in (said, interface_from(said).interface, Interface(outputs=(2, 0))):
        policy = as_policy(network, task, interface=given)
        assert policy.interface.outputs == ("three", "one")
        assert policy.interface.positions == ()
    assert interface_from(said).interface.to_dict() == said
    last = feeding(outputs=[2, 3])
    error = error_of(as_policy, network, task, interface=last)
    assert (error.code, error.place) == ("policy-wrong-outputs", "/outputs/1")


def test_positions_are_nothing_in_a_task_that_python_defines():
    error = error_of(
        as_policy, NETWORK, PythonTask(Walk()), interface=feeding(outputs=[0, 1, 2, 3])
    )
    assert error.code == "policy-wrong-outputs"
    assert "known only as they are met" in error.message


def test_given_outputs_replace_positions_and_positions_names(tmp_path):
    path = tmp_path / "net.safetensors"
    path.write_bytes(to_bytes(NETWORK, Interface(positions=(3, 2, 1, 0))))
    task = grid(3, 4)
    assert load_policy(str(path), task).interface.outputs == ("a3", "a2", "a1", "a0")
    names = feeding(outputs=["a1", "a0", "a2", "a3"])
    assert load_policy(str(path), task, interface=names).interface.outputs[0] == "a1"
    path.write_bytes(to_bytes(NETWORK, interface_from(names).interface))
    given = load_policy(str(path), task, interface=feeding(outputs=[2, 1, 0, 3]))
    assert given.interface.outputs == ("a2", "a1", "a0", "a3")


def test_a_scale_of_zero_is_named():
    error = error_of(interface_from, feeding(inputs=[{"variable": "x", "scale": 0}]))
    assert error.message == "scale must not be 0"


def test_policies_without_scores_take_none():
    for text in ("first", "random"):
        assert error_of(load_policy, text, grid(), unfiltered=True).code == "bad-option"
        assert error_of(load_policy, text, grid(), interface=SAID).code == "bad-option"
    assert error_of(as_policy, lambda s: "a0", grid(), unfiltered=True).code == "bad-option"
    assert error_of(load_policy("first", grid()).scores, {"v0": 0, "v1": 0, "v2": 0}).code == (
        "no-scores"
    )


def test_activation_is_for_files_that_leave_it_open(tmp_path):
    file = tmp_path / "p.nnet"
    file.write_text("3")
    said = feeding(activation="tanh")
    assert error_of(load_policy, str(file), grid(), interface=said).place == "/activation"


# -- decisions ---------------------------------------------------------------------------------


def constant_scores(*scores):
    """Return a network that ignores its three inputs."""
    biases = np.array(scores, dtype=np.float64)
    return Network((Layer(np.zeros((len(scores), 3)), biases, "linear"),), "float64")


def test_best_applicable_action_and_ties_to_the_lowest_output():
    task = grid(3, 4)  # a3 is applicable where v0 is above 4
    low, high = {"v0": 0, "v1": 0, "v2": 0}, {"v0": 9, "v1": 0, "v2": 0}
    policy = as_policy(constant_scores(1, 2, 2, 5), task)
    assert [policy.decide(low), policy.decide(high)] == ["a1", "a3"]
    swapped = feeding(outputs=["a0", "a2", "a1", "a3"])
    policy = as_policy(constant_scores(1, 2, 2, 5), task, interface=swapped)
    assert policy.decide(low) == "a2"
    unfiltered = as_policy(constant_scores(1, 2, 2, 5), task, unfiltered=True)
    assert unfiltered.decide(high) == "a3"
    assert error_of(unfiltered.decide, low).code == "policy-not-applicable"


def test_one_applicable_action_is_taken_and_several_unscored_ones_are_an_error():
    task = grid(3, 4)
    two = feeding(outputs=["a3"])
    policy = as_policy(constant_scores(1), task, interface=two)
    assert policy.decide({"v0": 9, "v1": 0, "v2": 0}) == "a3"
    assert error_of(policy.decide, {"v0": 0, "v1": 0, "v2": 0}).code == "policy-no-decision"
    alone = grid(3, 2)
    policy = as_policy(constant_scores(1), alone, interface=feeding(outputs=["a1"]))
    assert policy.decide({"v0": 0, "v1": 0, "v2": 0}) == "a0"


# -- models of other kinds ---------------------------------------------------------------------


def stump(num_inputs):
    """Return one tree: a1 if input 0 is less than 5, else a0."""
    return Trees(
        num_inputs=num_inputs, num_outputs=2, roots=np.array([0], np.int32),
        features=np.array([0, -1, -1], np.int32), thresholds=np.array([5.0, 0, 0]),
        left=np.array([1, 0, 1], np.int32), right=np.array([2, 1, 0], np.int32),
        values=np.array([1.0, 1.0]), base=np.zeros(2),
        input_precision="float64", sum_precision="float64",
    )  # fmt: skip


def two_actions():
    d = Description("two")
    d.int("x", 0, 9, initial=0)
    d.int("y", 0, 9, initial=0)
    for name in ("a0", "a1"):
        d.edge(name, outcomes=[{}])
    return d.compile()


def test_trees_and_rules_are_policies_too():
    trees = as_policy(stump(2), two_actions())
    assert [trees.decide({"x": x, "y": 0}) for x in (4, 5)] == ["a1", "a0"]
    rules = Rules(2, 2, ((1, 3),), ((True, ((0, False),)),), ((0, 1, 2.0),), (1.0, 0.0))
    policy = as_policy(rules, two_actions())
    assert [policy.decide({"x": 0, "y": y}) for y in (3, 4)] == ["a1", "a0"]
    assert policy.scores({"x": 0, "y": 3}) == {"a0": 1.0, "a1": 2.0}


def test_models_that_are_broken_are_refused():
    broken = replace(stump(2), values=np.array([np.nan, 1.0]))
    assert error_of(as_policy, broken, two_actions()).code == "bad-policy"
    assert error_of(as_policy, Network((), "float32"), two_actions()).code == "bad-policy"


def test_files_that_leave_the_number_of_inputs_open(tmp_path):
    leaf = {"leaf_value": [0.0, 1.0]}
    tree = {"feat_id": 0, "split_value": 5.0, "left": leaf, "right": {"leaf_value": [1.0, 0.0]}}
    kinds = {"num_leaf_values": 2, "split_type": "LtSplit", "value_type": "FloatT"}
    file = tmp_path / "veritas.json"
    content = {"type": 0, "base_scores": [0.0, 0.0], "trees": [{**kinds, "structure": tree}]}
    file.write_text(json.dumps(content))
    policy = load_policy(str(file), two_actions())
    assert policy.model.num_inputs == 2 and policy.notes
    assert [policy.decide({"x": x, "y": 0}) for x in (4, 5)] == ["a1", "a0"]
    given = load_policy(str(file), two_actions(), interface=feeding(inputs=["y", "x", "x"]))
    assert [given.decide({"x": 9, "y": y}) for y in (4, 5)] == ["a1", "a0"]


# -- Python-defined tasks ----------------------------------------------------------------------


class Walk:
    def __init__(self, start=(0, 0, 0)):
        self.first = start

    def start(self):
        return [self.first]

    def actions(self, state):
        return ["a0", "a1", "a2"] if state[0] < 3 else ["a3"]

    def outcomes(self, state, action):
        return [(state[0] + 1, *state[1:])]

    def is_goal(self, state):
        return False

    is_fail = is_goal


def test_python_defined_tasks():
    task = PythonTask(Walk())
    outputs = feeding(outputs=["a3", "a1", "a0", "a2"])
    policy = as_policy(NETWORK, task, interface=outputs)
    expected = plain_scores(NETWORK, np.array([[1.0, 5.0, 2.0]]))[0]
    best = max(range(1, 4), key=lambda i: expected[i])
    assert policy.decide((1, 5, 2)) == outputs["outputs"][best]
    assert policy.decide((3, 0, 0)) == "a3"
    assert policy.decide_all([(1, 5, 2), (3, 0, 0)]) == [outputs["outputs"][best], "a3"]
    assert list(policy.scores((1, 5, 2)).values()) == pytest.approx(list(expected), rel=1e-6)


def test_python_defined_tasks_that_are_not_for_it():
    task = PythonTask(Walk())
    assert error_of(as_policy, NETWORK, task).code == "policy-wrong-outputs"
    outputs = feeding(outputs=["a3", "a1", "a0", "a2"])
    words = PythonTask(Walk((0, "red", 0)))
    policy = as_policy(NETWORK, words, interface=outputs)
    assert error_of(policy.decide, (0, "red", 0)).code == "not-a-number"
    none = as_policy(NETWORK, task, interface=feeding(outputs=["b0", "b1", "b2", "b3"]))
    assert error_of(none.decide, (0, 0, 0)).code == "policy-no-decision"


# -- one-hot inputs ------------------------------------------------------------------------------


def pair():
    d = Description("pair")
    x = d.int("x", -1, 2, initial=-1)
    b = d.bool("b", initial=False)
    r = d.real("r", 0.0, 1.0, initial=0.0)
    d.edge("go", guard=x < 2, outcomes=[{x: x + 1}, {b: ~b}])
    d.edge("stay", outcomes=[{}])
    d.goal(x == 2)
    d.fail(r > 1)
    return d.compile()


ONE_HOT = {
    "surefoot_interface": 1,
    "inputs": [{"one_hot": {"x": 1}}, {"one_hot": {"x": -1, "b": 1}, "mean": 2.0, "scale": -4.0}],
}


def test_one_hot_input_is_1_where_variables_have_the_values_and_else_0():
    task = pair()
    weights = np.array([[1.0, 0.0], [0.0, 1.0]])
    network = Network((Layer(weights, np.zeros(2), "linear"),), "float64")
    policy = load_policy(network, task, interface=ONE_HOT)
    for x in (-1, 0, 1):
        for b in (False, True):
            state = task.state(x=x, b=b, r=0.5)
            fed = [float(x == 1), (float(x == -1 and b) - 2) / -4]
            assert list(policy.scores(state).values()) == fed
            assert policy.decide(state) == ("go" if fed[0] >= fed[1] else "stay")
    assert policy.interface.to_dict()["inputs"] == ONE_HOT["inputs"]
    assert interface_from(policy.interface.to_dict()).interface == policy.interface


@pytest.mark.parametrize(
    "entry, place",
    [
        ({"one_hot": {}}, "/inputs/0/one_hot"),
        ({"one_hot": ["x"]}, "/inputs/0/one_hot"),
        ({"one_hot": {"x": 0.5}}, "/inputs/0/one_hot/x"),
        ({"one_hot": {"x": 1}, "variable": "x"}, "/inputs/0"),
    ],
)
def test_bad_one_hot_inputs_are_refused(entry, place):
    with pytest.raises(InputError) as caught:
        interface_from({"surefoot_interface": 1, "inputs": [entry]})
    assert (caught.value.code, caught.value.place) == ("bad-interface", place)


@pytest.mark.parametrize("name, code", [("y", "unknown-variable"), ("r", "bad-interface")])
def test_one_hot_variables_are_those_of_the_task_and_no_reals(name, code):
    network = Network((Layer(np.ones((2, 1)), np.zeros(2), "linear"),), "float64")
    interface = {"surefoot_interface": 1, "inputs": [{"one_hot": {name: 1}}]}
    with pytest.raises(InputError) as caught:
        load_policy(network, pair(), interface=interface)
    assert caught.value.code == code


@pytest.mark.parametrize("method", ["box", "predicates", "ic3"])
def test_methods_of_intervals_refuse_one_hot_inputs_and_explicit_takes_them(method):
    task = pair()
    network = Network((Layer(np.eye(2), np.zeros(2), "linear"),), "float64")
    policy = load_policy(network, task, interface=ONE_HOT)
    with pytest.raises(Unsupported) as caught:
        verify(task, policy, method=method)
    assert caught.value.code == "verify-one-hot"
    assert verify(task, policy).verdict == "safe"
