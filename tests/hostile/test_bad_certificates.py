"""Whatever is in a certificate, the checker accepts it or rejects it, and soon."""

import copy
import json
import math
import random
import time

import pytest
from tests.support.explicit_tasks import random_policy, random_task
from tests.support.jani import automaton, bounded, condition, edge, op, pa, var
from tests.support.jani import model as jani
from tests.support.junk import SCALARS, junk, nested, places

from surefoot import checker
from surefoot.checker import Rejected, check_certificate
from surefoot.reference import certificate_of, deviations, explicit_of

MAX_SECONDS = 1.0


def is_accepted(model, certificate):
    """Return what the checker says; anything but an answer is an error of ours."""
    begin = time.process_time()
    try:
        check_certificate(model, certificate)
    except Rejected as error:
        assert "\n" not in str(error)
        assert 0 < len(str(error)) < 400
        return False
    finally:
        assert time.process_time() - begin < MAX_SECONDS
    return True


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A model with a variable of each kind, a forced step and no errors."""
    file = tmp_path_factory.mktemp("mixed") / "model.jani"
    kinds = [
        var("n", bounded(0, 3), 0),
        var("b", "bool", False),
        var("t", bounded(-1, 1, "real"), 0.0),
    ]
    steps = automaton(
        edge("up", ("n", op("+", "n", 1)), guard=op("∧", op("<", "n", 3), op("¬", "b"))),
        edge("turn", ("b", True), ("t", 0.5), guard=op("¬", "b")),
        edge(None, ("b", False), guard="b"),
    )
    fail = pa(reach=condition(op("=", "n", 3)))
    document = jani(steps, variables=kinds, actions=("up", "turn"), properties=[fail])
    file.write_text(json.dumps(document))
    return checker.load(file)


@pytest.fixture(scope="module")
def right(mixed):
    """Right certificates about the mixed model: each claim, each form of radius."""
    task = explicit_of(mixed, [{"n": 0, "b": False, "t": 0.0}])
    policy = [0 if 0 in task.choices(state) else None for state in task.states]
    about = [{"policy": policy, "radius": radius} for radius in (0, 1, 5, "finite")]
    found = []
    for state in task.states:
        for each in [{}, *about]:
            if each.get("radius") != "finite" or deviations(task, policy)[state] is None:
                found.append(certificate_of(task, state, **each))
    claims = {(each["claim"], each["radius"]) for each in found}
    assert {("safe", None), ("unsafe", 0), ("unsafe", "finite"), ("unsafe", None)} <= claims
    return found


def test_right_ones_are_accepted(mixed, right):
    assert all(is_accepted(mixed, each) for each in right)


def test_junk(mixed):
    rng = random.Random(1)
    for _ in range(3_000):
        assert not is_accepted(mixed, junk(rng))


def test_members_of_junk(mixed, right):
    rng = random.Random(2)
    members = list(dict.fromkeys(name for each in right for name in each))
    for _ in range(3_000):
        assert not is_accepted(mixed, {name: junk(rng) for name in members})


def test_junk_in_right_ones(mixed, right):
    """One to three places replaced, dropped or doubled; most of that must be noticed."""
    rng = random.Random(3)
    rejected = 0
    for _ in range(4_000):
        damaged = copy.deepcopy(rng.choice(right))
        for _ in range(rng.choice((1, 1, 2, 3))):
            container, key = rng.choice(places(damaged))
            match rng.randrange(4):
                case 0 if isinstance(container, list):
                    container.insert(key, junk(rng))
                case 1:
                    del container[key]
                case _:
                    container[key] = junk(rng)
            if not places(damaged):
                break
        rejected += not is_accepted(mixed, damaged)
    assert rejected > 2_500


@pytest.mark.slow
@pytest.mark.parametrize("depth", [1_000, 100_000])
def test_nested_without_end(mixed, right, depth):
    assert not is_accepted(mixed, nested(depth))
    for member in right[0]:
        assert not is_accepted(mixed, {**right[0], member: nested(depth)}), member


def test_every_scalar_in_every_place(mixed, right):
    for each in {(each["claim"], each["radius"]): each for each in right}.values():
        for number in range(len(places(each))):
            for scalar in (*SCALARS, [], {}, [[]]):
                damaged = copy.deepcopy(each)
                container, key = places(damaged)[number]
                container[key] = scalar
                is_accepted(mixed, damaged)


def test_large_ones_are_rejected_soon(mixed, right):
    large = [[0, 0]] * 200_000
    for member in ("states", "choices", "actions", "variables"):
        assert not is_accepted(mixed, {**right[0], member: large})
    assert not is_accepted(mixed, {**right[0], **{f"x{number}": 0 for number in range(10**5)}})


@pytest.mark.parametrize("certificate", [None, [], "safe", 1, math.nan, b"{}", {1: 2}, {None: 0}])
def test_no_certificate_at_all(certificate):
    assert not is_accepted(random_task(random.Random(4)), certificate)


def test_explicit_tasks_too():
    rng = random.Random(5)
    for _ in range(1_000):
        task = random_task(rng)
        policy = random_policy(rng, task)
        damaged = certificate_of(task, 0, policy=policy, radius=rng.randrange(3))
        container, key = rng.choice(places(damaged))
        container[key] = junk(rng)
        is_accepted(task, damaged)
