"""Transport against its rules, as tests/support/transport.py has them."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest
from tests.support.agreement import compare_reachable, compare_state, reachable_counts
from tests.support.transport import TransportRules, random_states

from surefoot import InputError, domain, explore
from surefoot.doctor import examine
from surefoot.domains import domain_family

VARIANTS = ("det", "drop")
SMALL = [(1, 2), (2, 2), (2, 4), (3, 3), (2, 5), (4, 4)]
COUNTS = {"det": (125, 267, 267, 16), "drop": (150, 282, 355, 32)}


def road(packages, locations, variant):
    """Return the built-in task and what the rules say of it."""
    task = domain("transport", packages=packages, locations=locations, variant=variant)
    return task, TransportRules(packages, locations, drops=variant == "drop")


@pytest.mark.parametrize("sizes", [*SMALL, (15, 10)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_states_follow_the_rules(variant, sizes):
    task, rules = road(*sizes, variant)
    assert {v.name: (v.lower, v.upper) for v in task.variables} == rules.bounds
    assert list(rules.bounds) == list(task.names)
    assert task.actions == rules.actions
    for state in random_states(task, rules, 300, seed=1):
        compare_state(task, rules, state)
        assert task.is_start(state) == rules.is_start(state.to_dict())
    starts = task.sample_starts(20, seed=1)
    compare_reachable(task, rules, starts, count=200, rng=random.Random(1))
    assert task.is_start(task.initial_state())


@pytest.mark.parametrize("sizes", SMALL)
@pytest.mark.parametrize("variant", VARIANTS)
def test_small_roads_follow_the_rules_to_the_last_state(variant, sizes):
    task, rules = road(*sizes, variant)
    starts = rules.starts()
    assert {s.packed for s in task.list_starts()} == {task.packed(s) for s in starts}
    expected = reachable_counts(rules, starts, limit=20_000)
    counts = explore(task)
    assert {name: getattr(counts, name) for name in expected} == expected
    assert (counts.goal, counts.dead_ends) == (1, 0)
    assert counts.fail > 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_of_the_tiny_road(variant):
    counts = explore(domain("transport", variant=variant))
    assert (counts.states, counts.pairs, counts.outcomes, counts.fail) == COUNTS[variant]


def test_the_bridge_carries_one_package():
    task = domain("transport", packages=3, locations=4)
    state = task.initial_state().to_dict() | {"location_load_0": 0, "truck_0": 2}
    for load in range(4):
        here = state | {"location_load_2": 3 - load, "truck_load_0": load}
        (there,) = task.outcomes(here, "drive_forward")
        assert (there["truck_0"], there["last_capacity_diff"]) == (3, 1 - load)
        assert task.is_fail(there) == (load > 1)
        assert task.distance_to_fail(there) == max(0, 2 - load)
        (back,) = task.outcomes(here, "drive_backward")
        assert task.is_fail(back) == (load > 0)


def test_a_package_that_falls_lies_where_the_truck_came_from():
    task = domain("transport", packages=3, locations=5, variant="drop")
    state = task.initial_state().to_dict() | {"location_load_0": 0, "truck_0": 1, "truck_load_0": 3}
    driven, fallen = task.outcomes(state, "drive_forward")
    assert (driven["location_load_1"], driven["truck_load_0"], driven["truck_0"]) == (0, 3, 2)
    assert (fallen["location_load_1"], fallen["truck_load_0"], fallen["truck_0"]) == (1, 2, 2)
    assert (driven["last_capacity_diff"], fallen["last_capacity_diff"]) == (0, 0)
    back = task.outcomes(fallen, "drive_backward")
    assert [task.is_fail(s) for s in back] == [True, True]
    empty = state | {"truck_load_0": 0, "location_load_1": 3}
    assert len(task.outcomes(empty, "drive_forward")) == 1


def test_a_load_on_the_bridge_counts_even_if_it_falls():
    task = domain("transport", packages=2, locations=2, variant="drop")
    state = task.initial_state().to_dict() | {"location_load_0": 0, "truck_load_0": 2}
    assert all(task.is_fail(s) for s in task.outcomes(state, "drive_forward"))


WRONG = {
    "no package": ({"packages": 0}, "packages must be from 1 to 1,000, not 0"),
    "one location": ({"locations": 1}, "locations must be from 2 to 1,000, not 1"),
    "no such variant": ({"variant": "icy"}, 'there is no variant "icy"'),
    "no such size": ({"size": "15-11"}, 'domain "transport" has no size "15-11"'),
    "no number": ({"packages": "3"}, "needs a whole number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name):
    parameters, text = WRONG[name]
    with pytest.raises(InputError) as caught:
        domain("transport", **parameters)
    assert caught.value.code == "bad-parameter"
    assert text in caught.value.message


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", ["tiny", "small", "15-10"])
def test_every_size_is_healthy(size, variant):
    assert set(domain_family("transport").sizes) == {"tiny", "small", "15-10"}
    assert examine(domain("transport", size=size, variant=variant), samples=300).findings == ()


# -- pictures --------------------------------------------------------------------------------------

WAITING = """\
location    0  1  2  3
packages    2  .  .  .
road        o--o--o==o
truck       T
0 packages loaded"""

BROKEN = """\
location     0   1   2   3   4   5   6   7   8   9
packages     .   .   .   .   .  12   .   .   .   .
road         o---o---o---o---o---o---o---o---o===o
truck                                            X
3 packages loaded, 2 too many on the link just driven"""


def broken_bridge():
    task = domain("transport", size="15-10")
    state = task.initial_state().to_dict() | {"location_load_0": 0, "location_load_5": 12}
    return task.picture(state | {"truck_load_0": 3, "truck_0": 9, "last_capacity_diff": -2})


def test_pictures_as_text():
    task = domain("transport")
    assert task.picture(task.initial_state()).text == WAITING
    assert broken_bridge().text == BROKEN
    driven = task.initial_state().to_dict() | {"truck_0": 1, "last_capacity_diff": 2}
    last_line = task.picture(driven).text.splitlines()[-1]
    assert last_line == "0 packages loaded, room for 2 more on the link just driven"


def test_pictures_of_long_roads_show_the_truck():
    task = domain("transport", packages=1000, locations=1000)
    state = task.initial_state().to_dict() | {"truck_0": 700, "last_capacity_diff": 1000}
    lines = task.picture(state).text.splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0][: lines[3].index("T") + 1].endswith(" 700")
    assert "=" not in lines[2]


def test_pictures_as_svg():
    texts = [e.text for e in ElementTree.fromstring(broken_bridge().svg) if e.tag.endswith("text")]
    assert {"0", "9", "12", "3"} < set(texts)
    assert texts[-1] == "3 packages loaded, 2 too many on the link just driven"
