"""The built-in blocksworld equals the published files, on random and on reachable states."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import compare_reachable, compare_with_published
from tests.support.instances import INSTANCES, needs_data
from tests.support.puzzles import BlocksRules, random_states

from surefoot import domain, explore, load_policy, load_task

pytestmark = pytest.mark.slow

STATES = 600  # of each kind
PUBLISHED = {
    "blocksworld 4": ("4-3", BlocksRules(4, 3, 50), 14),
    "blocksworld 6, property file": ("6-5", BlocksRules(6, 5, 12), 202),
    "blocksworld 6, separate files": ("6-5", BlocksRules(6, 5, 12), 202),
}


def declared(task):
    """Return everything about the variables but where they are declared."""
    return [(v.name, v.type, v.lower, v.upper, v.initial) for v in task.variables]


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_blocksworld_equals_the_published_file(name):
    size, rules, starts = PUBLISHED[name]
    published = load_task(INSTANCES[name].path, **INSTANCES[name].arguments)
    ours = domain("blocksworld", size=size)
    assert ours.actions == published.actions
    assert declared(ours) == declared(published)
    listed = {tuple(s.to_dict().items()) for s in published.list_starts()}
    assert {tuple(s.to_dict().items()) for s in ours.list_starts()} == listed
    assert len(listed) == starts
    states = random_states(ours, rules, STATES, seed=1)
    compare_with_published(ours, published, states, at_least=100)
    begin = ours.sample_starts(50, seed=1)
    reached = compare_reachable(ours, published, begin, count=STATES, rng=random.Random(1))
    assert reached == STATES


@pytest.mark.data
@needs_data
def test_the_first_states_are_as_many_as_in_the_published_file():
    name = "blocksworld 6, property file"
    published = load_task(INSTANCES[name].path, **INSTANCES[name].arguments)
    ours = domain("blocksworld", size="6-5")
    counts = [explore(task, max_states=200_000) for task in (ours, published)]
    for what in ("states", "pairs", "outcomes", "fail", "goal", "dead_ends", "depth"):
        assert getattr(counts[0], what) == getattr(counts[1], what)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("size", ["4-3", "6-5"])
def test_published_policies_fit(size):
    name, hidden = {
        "4-3": ("blocksworld 4", "blocksworld_4_3_16_16"),
        "6-5": ("blocksworld 6, property file", "blocksworld_6_5_32_32"),
    }[size]
    folder = INSTANCES[name].path.parent
    task = domain("blocksworld", size=size)
    policy = load_policy(folder / f"{hidden}.nnet", task, interface=folder / f"{hidden}.jani2nnet")
    for state in task.sample_starts(20, seed=1):
        assert policy.decide(state) in task.actions
