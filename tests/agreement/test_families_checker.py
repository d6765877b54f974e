"""Every family, written as JANI and read by the checker: it is the same task as in the core."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import (
    answer,
    compare_declarations,
    compare_reachable,
    compare_state,
)
from tests.support.random_models import random_state

from surefoot import checker
from surefoot.domains import DOMAINS, domain, domain_from_text, parse_domain

TASKS = (
    *DOMAINS,
    "one-way-line?variant=icy",
    "one-way-line?variant=icy-park&packages=2&locations=5&icy=0,3,4",
    "one-way-line?packages=1&locations=2&top_speed=1",
    "two-way-line?variant=icy",
    "two-way-line?variant=icy-park&packages=2&locations=5&icy=0,4",
    "transport?variant=drop",
    "transport?packages=1&locations=2",
    "blocksworld?variant=ca&blocks=3&table_limit=2&cost_bound=2",
    "blocksworld?blocks=2&table_limit=1",
    "n-puzzle?variant=plain",
    "n-puzzle?side=3&cost_bound=0&variant=plain",
    "n-puzzle?side=3&cost_bound=1",
    "racetrack?variant=slip",
    "racetrack?track=corner&top_speed=3",
    "racetrack?track=sg&top_speed=1",
    "beluga?size=4-2",
    "beluga?jigs=3&racks=1&lines=2|0|1&capacity=1",
    "beluga?jigs=1&racks=1&swap_limit=1",
    "bouncing-ball?time_step=0.01&horizon=3",
    "inverted-pendulum?variant=near&time_step=0.05",
    "follow-car?variant=brake",
    "cartpole?variant=gust&horizon=1",
    "flappy-bird?width=2&height=2&walls=2",
    "layered?depth=1",
    "staircase?steps=1",
    "staircase?steps=2",
)
STATES = 150


@pytest.fixture(scope="module", params=TASKS)
def both(request, tmp_path_factory):
    """A task of a family, and what the checker makes of its JANI file."""
    task = domain_from_text(request.param)
    file = tmp_path_factory.mktemp("families") / "task.jani"
    task.write_jani(file)
    return task, checker.load(file)


def test_declarations(both):
    compare_declarations(*both)


def test_states_on_runs(both):
    """On the way from start states, which are start states for the checker as well."""
    task, model = both
    rng = random.Random(1)
    starts = task.sample_starts(20, seed=1)
    for state in starts:
        assert model.is_start(state.to_dict())
    assert compare_reachable(task, model, starts, count=STATES, rng=rng) > 0


def test_states_that_differ_a_little_from_those_on_runs(both):
    task, model = both
    rng = random.Random(2)
    state = task.sample_starts(1, seed=2)[0]
    for _ in range(STATES):
        values = state.to_dict()
        other = random_state(model.variables, rng)
        for name in rng.sample(sorted(values), min(2, len(values))):
            values[name] = other[name]
        found = compare_both(task, model, task.state(values))
        state = rng.choice(found) if found else rng.choice(task.sample_starts(9, seed=2))


def test_any_states(both):
    task, model = both
    rng = random.Random(3)
    for _ in range(STATES):
        compare_both(task, model, task.state(random_state(model.variables, rng)))


def compare_both(task, model, state):
    """Compare all about a state; return its outcomes."""
    is_start = answer(lambda: task.is_start(state))
    assert is_start == answer(lambda: model.is_start(state.to_dict())), state
    return compare_state(task, model, state)


@pytest.mark.parametrize("name", ["one-way-line", "layered", "staircase", "n-puzzle"])
def test_start_states_are_all_the_same(name, tmp_path):
    task = domain(name)
    task.write_jani(tmp_path / "task.jani")
    theirs = checker.load(tmp_path / "task.jani").starts(10_000)
    ours = [state.to_dict() for state in task.list_starts()]
    assert sorted(map(repr, map(sorted, map(dict.items, ours)))) == sorted(
        repr(sorted(state.items())) for state in theirs
    )


def test_every_family_is_there():
    assert {parse_domain(text)[0] for text in TASKS} == set(DOMAINS)
