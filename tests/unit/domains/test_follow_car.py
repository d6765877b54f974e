"""Following a car, against the rules."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from tests.support.motion import Rules, compare_with_rules, ends, explored, play, shapes

from surefoot import InputError, domain
from surefoot.doctor import examine
from surefoot.domains.follow_car import FAMILY

ROAD = "=" * 72
FOLLOWING = f"""\
step 0 of 50: gap 23.40, speed 18.00, lead 20.00
{ROAD}
{" " * 38}[ego>.......................[lead>
{ROAD}"""
HIT = f"""\
step 7 of 1000: gap 0.00, speed 25.00, lead 14.50
{ROAD}
{" " * 60}[ego>#[lead>
{ROAD}"""
EXPLORED = {
    "det": {
        "states": 278,
        "pairs": 342,
        "outcomes": 342,
        "fail": 5,
        "goal": 159,
        "dead_ends": 0,
        "depth": 4,
    },
    "brake": {
        "states": 2805,
        "pairs": 1965,
        "outcomes": 3930,
        "fail": 15,
        "goal": 2135,
        "dead_ends": 0,
        "depth": 4,
    },
}
VARIANTS = ("det", "brake")


@dataclass(frozen=True)
class CarRules(Rules):
    variant: str

    def is_fail(self, state):
        return not 0 < state["gap"] < 60

    def is_start(self, state):
        is_right = 5 <= state["gap"] <= 55 and 12 <= state["ego_v"] <= 28
        return is_right and state.get("lead_v", 20.0) == 20 and state["episode"] == 0

    def steps(self, state):
        lead, change = state.get("lead_v", 20.0), 1.0 * self.time_step
        leads = [{}]
        if self.variant == "brake":
            leads = [{"lead_v": max(lead - change, 12.0)}, {"lead_v": min(lead + change, 20.0)}]
        gap = min(max(state["gap"] + (lead - state["ego_v"]) * self.time_step, 0.0), 60.0)
        by_action = {}
        for action, sign in (("brake", -1), ("hold", 0), ("accelerate", 1)):
            speed = state["ego_v"] + sign * (3.0 * self.time_step)
            if 0 <= speed <= 40:
                new = {"gap": gap, "ego_v": speed}
                by_action[action] = [new | one for one in leads]
        return by_action


def car(**parameters):
    return domain("follow-car", **parameters)


def controller(state):
    """Close in from afar and fall back from nearby, at a speed that fits the distance."""
    too_fast = state["ego_v"] - dict(state).get("lead_v", 20.0)
    wanted = max(-4.0, min((state["gap"] - 30) / 4, 4.0))
    if abs(too_fast - wanted) <= 0.6:
        return "hold"
    return "brake" if too_fast > wanted else "accelerate"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("time_step", [0.4, 0.01, 1.0])
def test_the_car_follows_the_rules(time_step, variant):
    task = car(time_step=time_step, horizon=30, variant=variant)
    compare_with_rules(task, CarRules(time_step, 30, variant), states=1_000)


@pytest.mark.parametrize("variant", VARIANTS)
def test_where_it_starts(variant):
    task, rules = car(variant=variant), CarRules(0.4, 50, variant)
    gaps, speeds = (4.9, 5.0, 30.0, 55.0, 55.1), (11.9, 12.0, 20.0, 28.0, 28.1)
    for episode, gap, speed, lead in itertools.product((0, 1), gaps, speeds, (19.0, 20.0)):
        state = {"episode": episode, "gap": gap, "ego_v": speed}
        if variant == "brake":
            state["lead_v"] = lead
        assert task.is_start(state) == rules.is_start(state)


def test_steps_by_hand():
    task = car(time_step=0.5)
    state = {"episode": 3, "gap": 10.0, "ego_v": 24.0}
    (braked,) = task.outcomes(state, "brake")
    assert dict(braked) == {"episode": 4, "gap": 8.0, "ego_v": 22.5}
    (held,) = task.outcomes(state, "hold")
    assert dict(held) == {"episode": 4, "gap": 8.0, "ego_v": 24.0}
    assert task.applicable(state | {"ego_v": 1.0}) == ("hold", "accelerate")
    assert task.applicable(state | {"ego_v": 39.0}) == ("brake", "hold")
    (crashed,) = task.outcomes(state | {"gap": 1.0}, "brake")
    assert (crashed["gap"], task.is_fail(crashed)) == (0.0, True)
    assert (task.distance_to_fail(state), task.distance_to_fail(state | {"gap": 55.0})) == (10, 5)
    assert task.is_fail(state | {"gap": 60.0})


def test_the_lead_may_brake_or_not():
    task = car(time_step=0.5, variant="brake")
    state = {"episode": 3, "gap": 10.0, "ego_v": 20.0, "lead_v": 16.0}
    outcomes = task.outcomes(state, "hold")
    assert [o["lead_v"] for o in outcomes] == [15.5, 16.5]
    assert {o["gap"] for o in outcomes} == {8.0}
    assert [o["lead_v"] for o in task.outcomes(state | {"lead_v": 12.0}, "hold")] == [12.0, 12.5]
    assert [o["lead_v"] for o in task.outcomes(state | {"lead_v": 20.0}, "hold")] == [19.5, 20.0]


def test_who_fails_in_the_last_step_has_failed():
    task = car()
    last = {"episode": 50, "gap": 0.0, "ego_v": 20.0}
    assert task.is_fail(last)
    assert not task.is_goal(last)
    assert task.is_goal(last | {"gap": 1.0})
    assert task.applicable(last) == ()


@pytest.mark.parametrize("variant", VARIANTS)
def test_explored_counts(variant):
    starts = [{"episode": 0, "gap": g, "ego_v": v} for g in (5.0, 31.5) for v in (12.0, 27.0)]
    if variant == "brake":
        starts = [start | {"lead_v": 20.0} for start in starts]
    counts = explored(car(horizon=4, variant=variant), CarRules(0.4, 4, variant), starts)
    assert counts == EXPLORED[variant]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", FAMILY.sizes)
def test_minding_the_gap_goes_well_and_chance_does_not(size, variant):
    task = car(size=size, variant=variant)
    assert ends(task, controller, runs=60)["goal"] >= 54
    assert ends(task, "random", runs=1_000)["fail"] >= 800


LEADS = {
    "brakes for ever": lambda outcomes: outcomes[0],
    "never brakes": lambda outcomes: outcomes[-1],
    "brakes when we are fast": lambda outcomes: outcomes[0 if outcomes[0]["ego_v"] > 17 else -1],
    "brakes when we are close": lambda outcomes: outcomes[0 if outcomes[0]["gap"] < 30 else -1],
    "goes when we are slow": lambda outcomes: outcomes[0 if outcomes[0]["ego_v"] > 14 else -1],
}


@pytest.mark.parametrize("lead", LEADS)
def test_the_gap_can_be_kept_whatever_the_lead_does(lead):
    task = car(size="small", variant="brake")
    for gap, speed in itertools.product((18.0, 30.0, 45.0), (14.0, 20.0, 26.0)):
        start = task.state(episode=0, gap=gap, ego_v=speed, lead_v=20.0)
        assert task.is_goal(play(task, start, controller, LEADS[lead])[-1])


def test_some_starts_are_lost():
    task = car()
    for gap, speed, action in ((5.0, 28.0, "brake"), (55.0, 12.0, "accelerate")):
        start = task.state(episode=0, gap=gap, ego_v=speed)
        assert task.is_start(start)
        states = play(task, start, lambda state, action=action: action, lambda found: found[0])
        assert task.is_fail(states[-1])


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", FAMILY.sizes)
def test_doctor_has_nothing_to_say(size, variant):
    report = examine(car(size=size, variant=variant))
    assert [f.code for f in report.findings] == ["start-not-finite"]
    assert not report.warnings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_step": 1.5}, "time_step must be from 0.01 to 1, not 1.5"),
        ({"horizon": -1}, "horizon must be from 1 to 1,000,000, not -1"),
        ({"variant": "icy"}, 'there is no variant "icy"'),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError) as caught:
        car(**parameters)
    assert (caught.value.code, caught.value.message) == ("bad-parameter", message)


def test_pictures():
    following = car().picture({"episode": 0, "gap": 23.4, "ego_v": 18.0})
    assert following.text == FOLLOWING
    assert shapes(following.svg) == {"rect": 5, "line": 16, "text": 1}
    assert '<rect x="336.8" y="55"' in following.svg  # 8 points a metre, and 36 for the car
    braking = car(size="0.4", variant="brake")
    hit = braking.picture({"episode": 7, "gap": 0.0, "ego_v": 25.0, "lead_v": 14.5})
    assert hit.text == HIT
    assert '<rect x="524" y="55"' in hit.svg
    lost = car().picture({"episode": 0, "gap": 60.0, "ego_v": 18.0})
    assert max(map(len, lost.text.splitlines())) == 72
