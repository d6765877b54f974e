"""The built-in lines equal the published files, on random and on reachable states."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import compare_reachable, compare_with_published
from tests.support.instances import INSTANCES, needs_data
from tests.support.lines import random_states

from surefoot import domain, load_task

STATES = 1_500  # of each kind
PUBLISHED = {"one-way line": "one-way-line", "two-way line": "two-way-line"}


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", PUBLISHED)
def test_line_equals_the_published_file(name):
    published = load_task(INSTANCES[name].path, **INSTANCES[name].arguments)
    ours = domain(PUBLISHED[name], packages=15, locations=10)
    assert ours.actions == published.actions
    assert declared(ours) == declared(published)
    states = random_states(ours, STATES, seed=1)
    compare_with_published(ours, published, states, at_least=300)
    starts = ours.sample_starts(50, seed=1)
    rng = random.Random(1)
    assert compare_reachable(ours, published, starts, count=STATES, rng=rng) == STATES


def declared(task):
    """Return everything about the variables but where they are declared."""
    return [(v.name, v.type, v.lower, v.upper, v.initial) for v in task.variables]


@pytest.mark.data
@needs_data
def test_listed_starts_that_are_none_of_ours_have_packages_at_the_end():
    # Of 1,000 listed starts 456 contradict the start condition of the same model's own property.
    instance = INSTANCES["one-way line, 1,000 starts"]
    listed = load_task(instance.path, **instance.arguments).list_starts()
    ours = domain("one-way-line", packages=15, locations=10)
    others = [s for s in listed if not ours.is_start(s.to_dict())]
    assert others == [s for s in listed if s["location_load_9"] > 0]
    assert (len(listed), len(others)) == (1000, 456)
