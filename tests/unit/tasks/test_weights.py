"""Costs and weights of the core, held against slow computations in Python."""

import json
import random
from collections import defaultdict

import pytest
from tests.support.agreement import answer
from tests.support.random_models import random_model, random_state

from surefoot import InputError, SurefootError, checker, load_task
from surefoot.checker.expressions import run
from surefoot.checker.model import _possible_destinations
from surefoot.tasks import Description
from surefoot.tasks.description import Assignment, Outcome

MODELS = 300
STATES = 4


def choices_of(task, state):
    """Return (action, cost, outcome -> probability) of every choice of the core, in order."""
    choices = task._ask(task.core.expand_weighted, task.packed(state))
    return [
        (task.actions[c.action], c.cost, probabilities(zip(c.outcomes, c.weights, strict=True)))
        for c in choices
    ]


def probabilities(weighted):
    weights = defaultdict(float)
    for outcome, weight in weighted:
        weights[outcome] += weight
    return {outcome: weight / sum(weights.values()) for outcome, weight in weights.items()}


def weighted_walk():
    """A walk on 0 to 9 whose probabilities and costs depend on where it is."""
    d = Description("walk")
    x = d.int("x", 0, 9, initial=4)
    y = d.int("y", 0, 30, initial=3)
    up, down = Assignment(x, (x + 1) % 10), Assignment(x, (x + 9) % 10)
    twice = [Outcome((up,), (x * 1.0,), 2.0), Outcome((down,), weight=3.0), Outcome((up,))]
    d.edge("go", guard=x < 9, outcomes=twice, cost=x + 0.5)
    d.edge("go", guard=x > 6, outcomes=[Outcome((Assignment(y, lower=x - x, upper=x * 4),))])
    d.edge("stay", guard=x > 2, outcomes=[{}], cost=x * x)
    d.fail(x == 0)
    return d.compile()


def walk_choices(task, x):
    """Return what choices_of should, computed by hand."""

    def at(x, y=3):
        return task.packed({"x": x, "y": y})

    if x == 0:
        return []
    choices = []
    if x < 9:
        steps = probabilities([(at((x + 1) % 10), 2.0 * x), (at(x - 1), 3.0), (at(x + 1), 1.0)])
        choices.append(("go", x + 0.5, steps))
    if x > 6:
        values = range(min(x * 4, 30) + 1)
        choices.append(("go", 1.0, {at(x, y): 1 / len(values) for y in values}))
    if x > 2:
        choices.append(("stay", float(x * x), {at(x): 1.0}))
    return choices


@pytest.mark.parametrize("x", range(10))
def test_choices_carry_costs_and_weights(x):
    task = weighted_walk()
    ours, theirs = choices_of(task, {"x": x, "y": 3}), walk_choices(task, x)
    assert [choice[:2] for choice in ours] == [choice[:2] for choice in theirs]
    for (*_, chances), (*_, expected) in zip(ours, theirs, strict=True):
        assert chances == pytest.approx(expected)


def slow_choices(task, model, plain):
    """Return the choices of a state, edge by edge, from the checker's model."""
    view = model.view(plain)
    if model.is_fail(view) or model.is_goal(view):
        return []
    choices = []
    for action in model.actions:
        for numbers, edges in model._combinations(view, action):
            weighted = [
                (task.packed(after), weight / len(branches))
                for destinations in _possible_destinations(view, edges)
                for weight in [weight_of(view, destinations)]
                for branches in [model._update(view, numbers, destinations)]
                for after in branches
            ]
            if weighted:
                choices.append((action, 1.0, probabilities(weighted)))
    return choices


def weight_of(view, destinations):
    weight = 1.0
    for each in destinations:
        weight *= 1.0 if each.probability is None else run(each.probability, view)
    return weight


def in_order(choices):
    return sorted(choices, key=lambda choice: (choice[0], sorted(choice[2].items())))


def compare_weights(path, seed):
    rng = random.Random(seed)
    model = checker.load(path)
    try:
        task = load_task(path)
    except SurefootError:
        return
    for _ in range(STATES):
        plain = random_state(model.variables, rng)
        ours = answer(lambda plain=plain: choices_of(task, plain))
        theirs = answer(lambda plain=plain: slow_choices(task, model, plain))
        if "error" in (ours, theirs):
            assert ours == theirs
            continue
        assert len(ours) == len(theirs)
        for ours_, theirs_ in zip(in_order(ours), in_order(theirs), strict=True):
            assert ours_[:2] == theirs_[:2]
            assert ours_[2] == pytest.approx(theirs_[2])


@pytest.mark.parametrize("part", range(4))
def test_weights_agree_with_the_checker_on_random_models(part, tmp_path):
    path = tmp_path / "model.jani"
    for seed in range(part, MODELS, 4):
        path.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            compare_weights(path, seed)
        except Exception as error:
            raise AssertionError(f"random_model({seed})") from error


def coin(weight):
    d = Description("coin")
    x = d.int("x", 0, 2, initial=0)
    d.edge("toss", outcomes=[Outcome((Assignment(x, x + 1),), weight=weight), {x: 0}])
    return d


def test_an_outcome_stays_possible_however_small_its_weight():
    task = coin(5e-324).compile()
    [choice] = task.core.expand_weighted(task.packed({"x": 0}))
    assert set(choice.outcomes) == set(task.core.outcomes(task.packed({"x": 0}), 0))
    assert all(weight > 0 for weight in choice.weights)


@pytest.mark.parametrize("weight", [0.0, 0, -1.0, float("nan"), float("inf"), "1"])
def test_weights_are_finite_and_positive(weight):
    """With 0 the core took for possible what JANI, and so the checker, takes for impossible."""
    with pytest.raises(InputError, match="weight") as error:
        coin(weight).compile()
    assert error.value.code == "bad-weight"


def test_products_of_probabilities_that_underflow_stay_possible(tmp_path):
    task = load_task(written(two_coins(1e-200), tmp_path / "coins.jani"))
    task.write_jani(tmp_path / "again.jani")
    again = load_task(tmp_path / "again.jani")
    assert again.sha256 == task.sha256
    state = task.initial_state()
    assert set(map(str, again.outcomes(state, "toss"))) == set(
        map(str, task.outcomes(state, "toss"))
    )
    assert len(task.outcomes(state, "toss")) == 4


def written(model, path):
    path.write_text(json.dumps(model), encoding="utf-8")
    return path


def two_coins(chance):
    """Return a model of two coins that are tossed at once."""
    bounds = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": 1}
    names = ("x", "y")
    return {
        "jani-version": 1,
        "name": "coins",
        "type": "mdp",
        "actions": [{"name": "toss"}],
        "variables": [{"name": name, "type": bounds, "initial-value": 0} for name in names],
        "automata": [two_sided(name, chance) for name in names],
        "system": {
            "elements": [{"automaton": f"coin {name}"} for name in names],
            "syncs": [{"synchronise": ["toss", "toss"], "result": "toss"}],
        },
        "properties": [],
    }


def two_sided(name, chance):
    head = {"location": "here", "probability": {"exp": chance}}
    head["assignments"] = [{"ref": name, "value": 1}]
    tail = {"location": "here", "probability": {"exp": 1.0}}
    edge = {"location": "here", "action": "toss", "destinations": [head, tail]}
    return {
        "name": f"coin {name}",
        "locations": [{"name": "here"}],
        "initial-locations": ["here"],
        "edges": [edge],
    }


def test_a_cost_is_a_number():
    d = Description("walk")
    x = d.bool("x", initial=False)
    d.edge("go", outcomes=[{}], cost=x)
    with pytest.raises(InputError, match="a cost is a number"):
        d.compile()
