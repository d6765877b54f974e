"""The built-in bouncing ball equals the published file, on random and on reachable states."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import compare_reachable, compare_state
from tests.support.instances import INSTANCES, needs_data

from surefoot import domain, load_task

pytestmark = pytest.mark.slow

STATES = 2_000  # of each kind
# Ranges of height and velocity: anywhere, at the paddle, at the floor, near fail, at top speed.
PLACES = {
    "anywhere": ((0, 1000), (-100, 100)),
    "paddle": ((4.5, 9.5), (-15, 15)),
    "start": ((4.9, 9.1), (-1.1, 1.1)),
    "floor": ((0, 4), (-25, 5)),
    "low": ((0, 6), (-10, 10)),
    "fast": ((0, 40), (-100, -90)),
    "high": ((950, 1000), (-100, 100)),
}


def random_state(task, rng, place):
    """Return a state there, sometimes at the end of what counts."""
    (low, high), (slow, fast) = PLACES[place]
    episode = rng.choice([0, rng.randint(0, 4000), rng.randint(0, 999), 999, 1000, 3999, 4000])
    height = rng.choice([rng.uniform(low, high)] * 5 + [float(round(rng.uniform(low, high)))])
    velocity = rng.choice([rng.uniform(slow, fast)] * 5 + [float(round(rng.uniform(slow, fast)))])
    return task.state(episode=episode, height=height, velocity=velocity)


@pytest.mark.data
@needs_data
def test_ball_equals_the_published_file():
    instance = INSTANCES["bouncing ball, start condition"]
    published = load_task(instance.path, **instance.arguments)
    ours = domain("bouncing-ball", size="0.3")
    assert ours.actions == published.actions
    assert declared(ours) == declared(published)
    rng = random.Random(1)
    counts = dict.fromkeys(("fail", "goal", "start"), 0)
    for place in PLACES:
        for _ in range(STATES):
            state = random_state(ours, rng, place)
            compare_state(ours, published, state)
            assert ours.is_start(state) == published.is_start(state.to_dict())
            counts["fail"] += ours.is_fail(state)
            counts["goal"] += ours.is_goal(state)
            counts["start"] += ours.is_start(state)
    assert min(counts.values()) > 200, counts
    starts = ours.sample_starts(50, seed=1)
    assert compare_reachable(ours, published, starts, count=STATES, rng=rng) == STATES


@pytest.mark.data
@needs_data
def test_listed_starts_are_starts_of_ours():
    instance = INSTANCES["bouncing ball, listed starts"]
    listed = load_task(instance.path, **instance.arguments).list_starts()
    ours = domain("bouncing-ball", size="0.3")
    assert len(listed) > 900
    assert all(ours.is_start(start.to_dict()) for start in listed)


def declared(task):
    """Return everything about the variables but where they are declared."""
    return [(v.name, v.type, v.lower, v.upper, v.initial) for v in task.variables]
