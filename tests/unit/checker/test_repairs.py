"""Repairs: what the checker accepts is true, and what is changed is rejected."""

import copy
import json
import random
from dataclasses import replace

import numpy as np
import pytest
from tests.support.junk import junk, places
from tests.support.networks import random_network

from surefoot import CertificateRejected, Description, InputError, checker, load_policy
from surefoot.certificates import model_of
from surefoot.checker import OutOfTime, Rejected
from surefoot.checker.repairs import check_repair
from surefoot.findings.repairs import both_parameters, read_repair, repair_record
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network
from surefoot.records import Fault


def walk(top=5):
    task = Description("walk")
    x = task.int("x", 0, top, initial=1)
    task.edge("up", guard=x < top, outcomes=[{x: x + 1}])
    task.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    task.edge("wait", outcomes=[{}])
    task.edge("rest", guard=x > 1, outcomes=[{x: x}])
    task.fail(x == top)
    return task.compile()


INTERFACE = {
    "surefoot_interface": 1,
    "inputs": ["x"],
    "outputs": ["up", "down", "wait", "rest"],
}


def network(*biases):
    """Return a network whose decision does not depend on the state but above 3."""
    hidden = Layer(np.array([[1.0]]), np.array([-3.0]), "relu")
    last = Layer(np.array([[0.0], [0.0], [0.0], [0.0]]), np.array(biases), "linear")
    return Network((hidden, last), "float64")


@pytest.fixture(scope="module")
def task():
    return walk()


@pytest.fixture(scope="module")
def model(task):
    return model_of(task, None)


@pytest.fixture
def policies(task):
    before = load_policy(network(1.0, 0.5, 0.0, 0.0), task, interface=INTERFACE)
    last = before.model.layers[-1]
    weights = last.weights.copy()
    weights[1, 0] = 0.75
    changed = Network((before.model.layers[0], replace(last, weights=weights)), "float64")
    after = load_policy(changed, task, interface=INTERFACE)
    return before, after


@pytest.fixture
def record(task, policies):
    faults = [Fault(task.state(x=4), "up", ("down", "wait"))]
    return repair_record(*policies, faults, distance=0.75, any_other=False)


@pytest.fixture
def content(record):
    return json.loads(json.dumps(record.content))


def rejected(model, content, match, **how):
    with pytest.raises(Rejected, match=match):
        check_repair(model, content, **how)


def test_a_right_one_is_accepted(task, policies, record, model):
    assert policies[0].decide({"x": 4}) == "up"
    assert record.content["faults"][0] == {
        "state": [4],
        "action": "up",
        "alternatives": ["down", "wait"],
        "before": "up",
        "after": "down",
    }
    assert record.check(task, *policies) is None
    check_repair(model, record.content)


def test_each_claim_counts(content, model):
    fault = content["faults"][0]
    for change, match in (
        ({"after": "up"}, "still takes up"),
        ({"after": "rest"}, "not one of the alternatives"),
        ({"after": None}, "not known"),
        ({"after": "fly"}, "not known"),
        ({"alternatives": ["down", "down"]}, "twice"),
        ({"alternatives": ["up", "down"]}, "alternative to itself"),
        ({"alternatives": []}, "not one of the alternatives"),
        ({"state": [9]}, "cannot be"),
        ({"state": [4, 4]}, "state 0"),
        ({"state": [5]}, "not known"),  # it fails there: nothing is decided
        ({"action": "fly"}, "not known"),
        ({"before": 7}, "not an action"),
        ({"more": 1}, "no place"),
    ):
        rejected(model, {**content, "faults": [{**fault, **change}]}, match)
    rejected(model, {**content, "faults": []}, "no faults")
    rejected(model, {**content, "any_other": 1}, "any_other")
    for distance in (-1, None, "1", True, float("nan"), float("inf")):
        rejected(model, {**content, "distance": distance}, "distance")
    rejected(model, {**content, "repair": 2}, "version")


def test_any_other_action_will_do_if_it_says_so(content, model):
    content["faults"][0]["after"] = "rest"
    check_repair(model, {**content, "any_other": True})
    content["faults"][0]["after"] = "up"
    rejected(model, {**content, "any_other": True}, "still takes up")


def test_decisions_are_recomputed(task, policies, record, content, model):
    before, after = policies
    with pytest.raises(CertificateRejected, match="the repaired policy decides 'up'"):
        record.check(task, before, before)
    with pytest.raises(CertificateRejected, match="the policy before decides 'down'"):
        record.check(task, after, after)


def test_a_policy_that_decides_is_not_said_to_decide_nothing(content, model):
    def stuck(*_):
        raise Rejected("the policy does not decide")

    content["faults"][0]["before"] = None  # nothing that could be taken
    check_repair(model, content, before=stuck, after=lambda *_: "down")
    given = {"before": lambda *_: "up", "after": lambda *_: "down"}
    rejected(model, content, "the policy before decides 'up', not None", **given)
    content["faults"][0]["before"] = "up"
    rejected(model, content, "does not decide", before=stuck)


def test_the_distance_is_recomputed(content, model):
    right = ([1.0, 2.0], [1.0, 1.5, 0.25])
    check_repair(model, content, parameters=right)  # 0.5 and 0.25, which is new
    for wrong in (
        ([1.0, 2.0], [1.0, 1.5]),
        ([1.0, 2.0], [1.0, 1.5, -0.5]),
        ([1.0, 2.0, 0.25], [1.0, 1.5, 0.25]),
    ):
        rejected(model, content, "the distance is", parameters=wrong)
    rejected(model, content, "fewer", parameters=([1.0, 2.0], [1.25]))


def test_a_record_with_another_distance_is_rejected(task, policies):
    faults = [Fault(task.state(x=4), "up", ("down",))]
    for distance in (0.0, 0.7499, 0.76):
        made = repair_record(*policies, faults, distance=distance, any_other=False)
        with pytest.raises(CertificateRejected, match=r"the distance is 0\.75"):
            made.check(task, *policies)


def test_parameters_are_compared_only_where_all_else_is_the_same(task, policies):
    before, after = policies
    assert isinstance(both_parameters(before, after), tuple)
    assert both_parameters(None, after) == "a policy was not read"
    assert "not a learned model" in both_parameters(load_policy("first", task), after)
    other = as_policy(random_network(1, 1, 4, 4), task, interface=INTERFACE)
    assert "more than parameters" in both_parameters(before, other)


def test_another_task_is_refused(record, policies):
    with pytest.raises(InputError, match="is about a task"):
        record.check(walk(top=6), None, None)


def test_time_is_limited(content, model):
    content["faults"] *= 100_000
    with pytest.raises(OutOfTime):
        check_repair(model, content, max_seconds=0.0)


def test_written_and_read_again(task, policies, record, tmp_path):
    record.write(tmp_path / "r.json")
    again = read_repair(tmp_path / "r.json")
    assert again.content == record.content
    assert again.check(task, *policies) is None
    record.write(tmp_path / "r.json")
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputError, match="it is not a repair"):
        record.write(tmp_path / "other.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"repair": 2}', '{"repair": true}'])
def test_files_that_are_none(tmp_path, text):
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(InputError) as caught:
        read_repair(tmp_path / "r.json")
    assert caught.value.file == str(tmp_path / "r.json")


def test_anything_in_any_place_is_rejected_or_accepted(content, model):
    rng = random.Random(4)
    for number in range(len(places(content))):
        for _ in range(20):
            changed = copy.deepcopy(content)
            container, key = places(changed)[number]
            container[key] = junk(rng)
            try:
                check_repair(model, changed, before=lambda *_: "up", after=lambda *_: "down")
            except Rejected as error:
                assert 0 < len(str(error)) < 700
                assert "\n" not in str(error)
            except checker.ModelError:
                pass
