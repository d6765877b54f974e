"""The built-in n-puzzle equals the published file, on random and on reachable states."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import compare_reachable, compare_with_published
from tests.support.instances import INSTANCES, needs_data
from tests.support.puzzles import PuzzleRules, random_states

from surefoot import domain, load_task

pytestmark = pytest.mark.slow

STATES = 600  # of each kind


def published_puzzle(bound, name="n-puzzle"):
    arguments = INSTANCES[name].arguments
    constants = {**arguments["constants"], "item_cost_bound": bound}
    return load_task(INSTANCES[name].path, **{**arguments, "constants": constants})


def declared(task):
    """Return everything about the variables but where they are declared."""
    return [(v.name, v.type, v.lower, v.upper, v.initial) for v in task.variables]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("bound", [0, 1, 3])
def test_n_puzzle_equals_the_published_file(bound):
    published = published_puzzle(bound)
    ours = domain("n-puzzle", side=3, cost_bound=bound)
    rules = PuzzleRules(3, bound, wraps=True)
    assert ours.actions == published.actions
    assert declared(ours) == declared(published)
    states = random_states(ours, rules, STATES, seed=1)
    compare_with_published(ours, published, states, at_least=100)
    begin = ours.sample_starts(50, seed=1)
    reached = compare_reachable(ours, published, begin, count=STATES, rng=random.Random(1))
    assert reached == STATES


@pytest.mark.data
@needs_data
def test_starts_are_those_of_the_published_file():
    ours = {s.packed for s in domain("n-puzzle", size="3-3").list_starts()}
    assert len(ours) == 4900
    for name in ("n-puzzle", "n-puzzle, property file"):
        assert {s.packed for s in published_puzzle(3, name).list_starts()} == ours
