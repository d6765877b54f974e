"""The identity of a task is a hash of what was compiled."""

import json
import random
import time
from dataclasses import replace

import pytest
from tests.support.random_models import random_model

from surefoot import Description, Oracle, load_task
from surefoot.errors import SurefootError, Unsupported
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.identity import PREFIX, short_identity

SEEDS = range(80)


def loaded(model, tmp_path):
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(model))
    return load_task(file)


def loaded_or_skipped(seed, tmp_path):
    try:
        return loaded(random_model(seed), tmp_path)
    except SurefootError as error:  # some random models cannot be loaded
        pytest.skip(str(error))


def walk(**changes):
    """Return a task of which each piece can be another."""
    given = {
        "name": "walk",
        "upper": 9,
        "initial": 0,
        "guard": 5,
        "step": 1,
        "fail": 7,
        "goal": 9,
        "action": "go",
        "variable": "x",
        "more_edges": 0,
        "start": None,
        "cost": None,
        "weights": (1.0, 1.0),
    } | changes
    description = Description(given["name"])
    x = description.int(given["variable"], 0, given["upper"], initial=given["initial"])
    move = Assignment(x, x + given["step"])
    first, second = given["weights"]
    outcomes = [Outcome((move,), weight=first), Outcome(weight=second)]
    description.edge(
        given["action"], guard=x < given["guard"], outcomes=outcomes, cost=given["cost"]
    )
    for _ in range(given["more_edges"]):
        description.edge(given["action"], guard=x < 3, outcomes=[{x: x + 1}])
    description.fail(x == given["fail"])
    description.goal(x == given["goal"])
    if given["start"] is not None:
        description.start(x <= given["start"])
    return description.compile()


DIFFERENT = [
    {"upper": 10},
    {"initial": 1},
    {"guard": 6},
    {"step": 2},
    {"fail": 6},
    {"goal": 8},
    {"action": "run"},
    {"variable": "y"},
    {"more_edges": 1},
    {"start": 2},
    {"start": 3},
    {"cost": 2},
    {"cost": 0},
    {"cost": 2.5},
    {"weights": (1.0, 2.0)},
    {"weights": (2.0, 1.0)},
    {"weights": (0.25, 0.75)},
]
PLAIN = "compiled-1:8987638053055b3a986e2c49d355fab786937e78969ef849e6953693ffa95bbb"
"""the hash of ``walk()`` before there were costs and weights"""


def test_what_has_neither_costs_nor_weights_has_the_hash_of_before():
    assert walk().sha256 == PLAIN
    for changes in ({"cost": 1}, {"cost": 1.0}, {"weights": (0.5, 0.5)}):
        assert walk(**changes).sha256 == PLAIN


@pytest.mark.parametrize("weights", [(1.0, 2.0), (0.25, 0.75), (0.1, 0.9), (1.0, 1.0), (3.0, 3.0)])
def test_weights_are_written_as_probabilities(weights, tmp_path):
    task = walk(weights=weights)
    task.write_jani(tmp_path / "again.jani")
    assert load_task(tmp_path / "again.jani").sha256 == task.sha256


def test_costs_are_not_written_but_checked_all_the_same(tmp_path):
    task = walk(cost=3)
    with pytest.raises(Unsupported) as error:
        task.write_jani(tmp_path / "again.jani")
    assert error.value.code == "writer-costs"
    answer = Oracle(task).decide(task.state(x=0))
    answer.certificate.check()
    assert answer.verdict == Oracle(walk()).decide(walk().state(x=0)).verdict


def test_a_change_of_any_piece_changes_it():
    tasks = [walk(), *(walk(**changes) for changes in DIFFERENT)]
    assert len({task.sha256 for task in tasks}) == len(tasks)


def test_it_does_not_depend_on_the_name_and_says_how_it_was_made():
    assert walk(name="other").sha256 == walk().sha256
    assert walk().sha256.startswith(PREFIX)
    assert short_identity(walk().sha256).startswith(PREFIX)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_task_from_jani_and_one_from_its_description_have_the_same(seed, tmp_path):
    task = loaded_or_skipped(seed, tmp_path)
    task.write_jani(tmp_path / "again.jani")
    again = load_task(tmp_path / "again.jani")
    assert again.sha256 == task.sha256 == task.description.compile().sha256
    assert again.has_sha256(task.sha256)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_change_of_a_random_model_changes_it(seed, tmp_path):
    task = loaded_or_skipped(seed, tmp_path)
    rng = random.Random(seed)
    description = task.description
    change = rng.choice([drop_edge, drop_guard, add_outcome, other_fail, other_goal, other_start])
    if not change(description, rng):
        pytest.skip("the model has nothing to change")
    changed = description.compile()
    assert changed.sha256 != task.sha256
    assert not changed.has_sha256(task.sha256)


def drop_edge(description, rng):
    edges = description.edges
    return bool(edges) and edges.pop(rng.randrange(len(edges))) is not None


def drop_guard(description, rng):
    guarded = [n for n, edge in enumerate(description.edges) if edge.guard is not None]
    if not guarded:
        return False
    number = rng.choice(guarded)
    description.edges[number] = replace(description.edges[number], guard=None)
    return True


def add_outcome(description, rng):
    if not description.edges:
        return False
    number = rng.randrange(len(description.edges))
    edge = description.edges[number]
    outcomes = (*edge.outcomes, edge.outcomes[0])
    description.edges[number] = replace(edge, outcomes=outcomes)
    return True


def other_fail(description, rng):
    description.fail_condition = negated(description.fail_condition)
    return description.fail_condition is not None


def other_goal(description, rng):
    description.goal_condition = negated(description.goal_condition)
    return description.goal_condition is not None


def other_start(description, rng):
    description.start_condition = negated(description.start_condition)
    return description.start_condition is not None


def negated(condition):
    return None if condition is None else ~condition


@pytest.mark.parametrize("seed", range(20))
def test_the_hash_of_earlier_versions_is_known(seed, tmp_path):
    task = loaded_or_skipped(seed, tmp_path)
    old = task._jani_sha256
    assert len(old) == 64
    assert task.has_sha256(old)
    assert not task.has_sha256(old[::-1])
    assert not task.has_sha256("")
    assert not task.has_sha256(PREFIX + old)
    assert not task.has_sha256(task.sha256.removeprefix(PREFIX))


def test_a_large_task_has_it_at_once():
    description = Description("large")
    variables = [description.int(f"x{i}", 0, 9, initial=0) for i in range(50)]
    for i in range(4_000):
        x, y = variables[i % 50], variables[(i * 7 + 3) % 50]
        outcomes = [{x: x + 1}, {y: y - 1, x: x + 1}]
        description.edge(f"a{i % 500}", guard=(x < i % 9) & (y > i % 3), outcomes=outcomes)
    task = description.compile()
    begin = time.process_time()
    assert task.sha256
    middle = time.process_time()
    assert task._jani_sha256
    as_text = time.process_time() - middle
    assert middle - begin < as_text / 5  # of 20,000 edges: 0.07 s and 2.5 s
