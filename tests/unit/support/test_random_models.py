"""The random models cover everything, are the same every time, and are cheap."""

import json
import random
from collections import Counter
from types import SimpleNamespace

from tests.support.random_models import (
    CALM_SHARE,
    FEATURES,
    features,
    is_calm,
    random_model,
    random_state,
)

SEEDS = range(2_000)


def test_every_feature_occurs_often_enough() -> None:
    counts = Counter(feature for seed in SEEDS for feature in features(random_model(seed)))
    assert set(counts) == FEATURES
    rare = {feature: counts[feature] for feature in FEATURES if counts[feature] < 10}
    assert not rare


def test_one_seed_gives_one_model() -> None:
    for seed in range(200):
        assert json.dumps(random_model(seed)) == json.dumps(random_model(seed))


def test_different_seeds_give_different_models() -> None:
    assert len({json.dumps(random_model(seed)) for seed in SEEDS}) > 0.99 * len(SEEDS)


def test_a_third_of_the_models_is_calm() -> None:
    share = sum(map(is_calm, SEEDS)) / len(SEEDS)
    assert abs(share - CALM_SHARE) < 0.05


def test_models_are_small() -> None:
    for seed in SEEDS:
        model = random_model(seed)
        assert 1 <= len(model["automata"]) <= 3
        assert all(1 <= len(automaton["edges"]) <= 8 for automaton in model["automata"])


def test_random_states_are_within_the_bounds() -> None:
    variables = [
        SimpleNamespace(name="b", kind="bool", lower=0, upper=1),
        SimpleNamespace(name="i", kind="int", lower=-3, upper=-1),
        SimpleNamespace(name="r", kind="real", lower=0.25, upper=0.75),
        SimpleNamespace(name="far", kind="real", lower=2e6, upper=3e6),
        SimpleNamespace(name="free", kind="real", lower=None, upper=float("inf")),
    ]
    rng = random.Random(0)
    for _ in range(500):
        state = random_state(variables, rng)
        assert isinstance(state["b"], bool)
        assert isinstance(state["i"], int)
        assert -3 <= state["i"] <= -1
        assert isinstance(state["r"], float)
        assert 0.25 <= state["r"] <= 0.75
        assert 2e6 <= state["far"] <= 3e6
        assert -1e6 <= state["free"] <= 1e6
