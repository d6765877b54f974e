"""Random JANI models: every oracle answers as the reference does, and proves it to the checker."""

from __future__ import annotations

import math
import random

import pytest
from tests.support.agreement import compare_calm_models

from surefoot.oracles import ORACLES, Oracle, with_radius
from surefoot.reference import deviations, unsafe_pairs, unsafe_ranks

BDD = "propagate_unsafe_bdd"

MODELS = 636
PARTS = 12
PLAIN = [name for name in ORACLES.built_in if name != BDD]  # has tests of its own


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_oracles_agree_with_the_reference(part, tmp_path):
    seeds, how = range(part, MODELS, PARTS), {"max_starts": 50, "max_states": 60}
    assert compare_calm_models(tmp_path, seeds, compare_model, **how) > 20


def compare_model(task, explicit, _, seed):
    """Return how many answers were compared."""
    rng = random.Random(seed)
    asked = rng.sample(list(explicit.states), min(6, len(explicit.states)))
    compare_plain(task, explicit, asked, rng)
    compare_radii(task, explicit, asked, rng)
    return len(asked)


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
    for name in with_radius():
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
