"""The one-way and the two-way line against their rules, as tests/support/lines.py has them."""

from __future__ import annotations

import random

import pytest
from tests.support.agreement import answer, compare_reachable, compare_state, reachable_counts
from tests.support.lines import LineRules, random_states

from surefoot import InputError, domain, explore
from surefoot.doctor import examine

FAMILIES = ("one-way-line", "two-way-line")
VARIANTS = ("det", "icy", "icy-park")
LONG = frozenset({4, 5, 8, 9, 12, 13, 20})
SMALL = [(1, 2, 1), (2, 3, 3), (2, 5, 2), (1, 4, 5), (1, 5, 9)]
# Packages, locations, what `icy` says, and the icy locations that are meant.
ICE = {
    "15 packages": (15, 10, "", frozenset({4, 5})),
    "listed": (17, 10, "5,7", frozenset({5, 7})),
    "both ends": (3, 10, "0, 9,0", frozenset({0, 9})),
    "20 locations": (30, 20, "", frozenset({4, 5, 8, 9, 12})),
    "25 locations": (40, 25, "", LONG),
}


def line_and_rules(family, packages, locations, variant, *, top_speed=3, icy="", ice=None):
    """Return the built-in line and what the rules say of it."""
    sizes = {"packages": packages, "locations": locations, "top_speed": top_speed}
    middle = frozenset({locations // 2 - 1, locations // 2})
    rules = LineRules(
        **sizes,
        is_two_way=family == "two-way-line",
        drops=variant != "det",
        icy=frozenset() if variant == "det" else ice or middle,
        has_parking=variant == "icy-park",
    )
    return domain(family, **sizes, variant=variant, icy=icy), rules


def compare(task, rules, *, states):
    assert {v.name: (v.lower, v.upper) for v in task.variables} == rules.bounds
    assert list(rules.bounds) == list(task.names)
    assert task.actions == rules.actions
    for state in random_states(task, states, seed=1):
        compare_state(task, rules, state)
        assert task.is_start(state) == rules.is_start(state.to_dict())


@pytest.mark.parametrize("ice", ICE)
@pytest.mark.parametrize("variant", ["icy", "icy-park"])
@pytest.mark.parametrize("family", FAMILIES)
def test_icy_lines_follow_the_rules(family, variant, ice):
    packages, locations, icy, meant = ICE[ice]
    task, rules = line_and_rules(family, packages, locations, variant, icy=icy, ice=meant)
    compare(task, rules, states=150)
    starts = [task.initial_state()]
    compare_reachable(task, rules, starts, count=150, rng=random.Random(1))


@pytest.mark.parametrize("sizes", SMALL)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_small_lines_follow_the_rules_to_the_last_state(family, variant, sizes):
    packages, locations, top_speed = sizes
    task, rules = line_and_rules(family, packages, locations, variant, top_speed=top_speed)
    compare(task, rules, states=50)
    starts = [s.to_dict() for s in task.list_starts()]
    expected = reachable_counts(rules, starts, limit=20_000)
    counts = explore(task)
    assert {name: getattr(counts, name) for name in expected} == expected
    assert counts.goal > 0
    assert counts.fail > 0
    assert (counts.dead_ends > 0) == (variant == "icy-park")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_doctor_finds_nothing_but_the_parked_truck(family, variant):
    task = domain(family, packages=4, locations=10, variant=variant)
    expected = ["dead-end"] if variant == "icy-park" else []
    assert [f.code for f in examine(task).findings] == expected


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("speed", [1, 2, 3])
@pytest.mark.parametrize("left", [0, 1, 2])
def test_whoever_drives_faster_than_the_track_left_crashes(family, variant, speed, left):
    task = domain(family, packages=3, locations=10, variant=variant)
    state = task.initial_state().to_dict() | {"truck_0": 9 - left, "truck_vel_0": speed}
    if speed <= left:
        actions = task.applicable(state)
        assert not any(task.is_fail(s) for a in actions for s in task.outcomes(state, a))
        return
    crashed = [state | {"aux_vel": -1}]
    for action in ("acc_truck_0", "dec_truck_0", "move_truck_0"):
        assert [s.to_dict() for s in task.outcomes(state, action)] == crashed


@pytest.mark.parametrize("family", FAMILIES)
def test_a_package_that_falls_on_a_full_location_is_an_error(family):
    """It cannot happen on a run: packages are as many as one location holds."""
    task = domain(family, packages=3, locations=10, variant="icy")
    full = {"location_load_2": 3, "location_load_3": 3, "truck_load_0": 1, "truck_0": 2}
    state = task.initial_state().to_dict() | full | {"truck_vel_0": 1}
    assert "move_truck_0" in task.applicable(state)
    assert answer(lambda: task.outcomes(state, "move_truck_0")) == "error"


@pytest.mark.parametrize("family", FAMILIES)
def test_a_parked_truck_still_handles_packages(family):
    task = domain(family, packages=3, locations=4, variant="icy-park")
    parked = task.initial_state().to_dict() | {"truck_0": 3, "truck_load_0": 2, "parked_0": 1}
    assert task.applicable(parked) == ("drop_truck_0",)
    assert task.applicable(parked | {"truck_load_0": 0}) == ()
    there = task.applicable(parked | {"truck_load_0": 0, "location_load_3": 1})
    assert there == (("pick_up_truck_0",) if family == "two-way-line" else ())


def test_outcomes_come_in_the_order_normal_slip_fall():
    task = domain("one-way-line", packages=3, locations=10, variant="icy")
    state = task.initial_state().to_dict() | {"truck_0": 4, "truck_vel_0": 2, "truck_load_0": 1}
    normal, slipped, fallen = task.outcomes(state, "acc_truck_0")
    assert (normal["truck_vel_0"], normal["truck_load_0"]) == (3, 1)
    assert (slipped["truck_vel_0"], slipped["truck_load_0"]) == (2, 1)
    assert (fallen["truck_vel_0"], fallen["truck_load_0"], fallen["location_load_5"]) == (3, 0, 1)
    assert {s["truck_0"] for s in (normal, slipped, fallen)} == {6}


WRONG_ICE = {
    "no number": ("icy", "5,x", 'not "x"'),
    "empty": ("icy", "5,", 'not ""'),
    "negative": ("icy", "-1", 'not "-1"'),
    "other digits": ("icy", "٣", 'not "٣"'),
    "beyond the end": ("icy", "10", "locations are 0 to 9"),
    "far beyond": ("icy-park", "9" * 5000, "cannot be icy"),
    "no ice": ("det", "5", 'variant "det" has no icy locations'),
}


@pytest.mark.parametrize("name", WRONG_ICE)
@pytest.mark.parametrize("family", FAMILIES)
def test_wrong_icy_locations(family, name):
    variant, icy, text = WRONG_ICE[name]
    with pytest.raises(InputError) as caught:
        domain(family, locations=10, variant=variant, icy=icy)
    assert caught.value.code == "bad-parameter"
    assert text in caught.value.message
