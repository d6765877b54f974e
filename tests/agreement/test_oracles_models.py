"""Random JANI models: every oracle answers as the reference does, and proves it to the checker."""

from __future__ import annotations

import json
import math
import random

import pytest
from tests.support.agreement import answer
from tests.support.random_models import is_calm, random_model

from surefoot import SurefootError, checker, load_task
from surefoot.oracles import ORACLES, WITH_RADIUS, Oracle
from surefoot.reference import deviations, explicit_of, unsafe_pairs, unsafe_ranks

MODELS = 600
PARTS = 12
STATES = 60
PLAIN = [name for name in ORACLES if name != "propagate_unsafe_bdd"]  # has tests of its own


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_oracles_agree_with_the_reference(part, tmp_path):
    path = tmp_path / "model.jani"
    compared = 0
    for seed in range(part, MODELS, PARTS):
        if not is_calm(seed):
            continue
        path.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            compared += compare_model(path, seed)
        except Exception as error:
            raise AssertionError(f"random_model({seed})") from error
    assert compared > 20


def compare_model(path, seed):
    """Return how many answers were compared."""
    try:
        task = load_task(path)
    except SurefootError:
        return 0
    model = checker.load(path)
    starts = answer(lambda: model.starts(50))
    if not starts or starts == "error":
        return 0
    explicit = answer(lambda: explored(model, starts))
    if explicit in (None, "error"):
        return 0
    rng = random.Random(seed)
    asked = rng.sample(list(explicit.states), min(6, len(explicit.states)))
    compare_plain(task, explicit, asked, rng)
    compare_radii(task, explicit, asked, rng)
    return len(asked)


def explored(model, starts):
    try:
        return explicit_of(model, starts, max_states=STATES)
    except ValueError:
        return None


def compare_plain(task, explicit, asked, rng):
    ranks = unsafe_ranks(explicit)
    for name in PLAIN:
        oracle = Oracle(task, oracle=name, seed=rng.randrange(100))
        for number in asked:
            found = oracle.decide(explicit.state(number))
            assert found.verdict == ("unsafe" if number in ranks else "safe"), (name, number)
            found.certificate.check()


def compare_radii(task, explicit, asked, rng):
    decisions = random_decisions(explicit, rng)
    policy = {
        frozen(explicit.state(number)): explicit.names[action]
        for number, action in enumerate(decisions)
        if action is not None
    }
    radius = rng.randrange(4)
    struck = unsafe_pairs(explicit, decisions, radius)
    least = deviations(explicit, decisions)
    for name in WITH_RADIUS:
        oracle = Oracle(task, oracle=name, radius=radius, policy=lambda s: policy[frozen(s)])
        for number in asked:
            found = oracle.decide(explicit.state(number))
            is_unsafe = (number, radius) in struck
            assert found.verdict == ("unsafe" if is_unsafe else "safe"), (name, number, radius)
            found.certificate.check()
    oracle = Oracle(task, policy=lambda s: policy[frozen(s)])
    for number in asked:
        found = oracle.deviations(explicit.state(number))
        wanted = math.inf if least[number] is None else least[number]
        assert found.least == wanted, (number, found)
        for certificate in found.certificates:
            certificate.check()


def random_decisions(explicit, rng):
    choices = [sorted(explicit.choices(state), key=str) for state in explicit.states]
    return [rng.choice(actions) if actions else None for actions in choices]


def frozen(state):
    return tuple(sorted(dict(state).items()))
