"""The bouncing ball against its rules; the published file is in tests/agreement."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from tests.support.motion import Rules, ends, explored, shapes

from surefoot import InputError, domain
from surefoot.doctor import examine
from surefoot.domains.bouncing_ball import FAMILY

EXPLORED = {
    "states": 1319,
    "pairs": 1317,
    "outcomes": 1317,
    "fail": 1,
    "goal": 324,
    "dead_ends": 0,
    "depth": 12,
}
FALLING = """\
step 3 of 50: height 6.30, velocity -4.25
14 |
13 |
12 |
11 |
10 |
 9 |.............
 8 |.............
 7 |.............
 6 |......o......
 5 |.............
 4 |
 3 |
 2 |
 1 |
 0 |
   +============="""
OUT_OF_SIGHT = """\
step 0 of 1000: height 45.30, velocity 9.25
14 |      ^
13 |
12 |
11 |
10 |
 9 |.............
 8 |.............
 7 |.............
 6 |.............
 5 |.............
 4 |
 3 |
 2 |
 1 |
 0 |
   +============="""


@dataclass(frozen=True)
class BallRules(Rules):
    @property
    def most_episodes(self):
        return 4 * self.horizon

    def is_fail(self, state):
        h, v = state["height"], state["velocity"]
        reach = max(h + v * (5 / 9.9029), h - v * (5 / 9.9029))
        return reach <= 5 - 0.0001 and state["episode"] < self.horizon

    def is_start(self, state):
        return 5 <= state["height"] <= 9 and abs(state["velocity"]) <= 1 and state["episode"] == 0

    def steps(self, state):
        hits = {"push": 4, "skip": 0} if 5 <= state["height"] <= 9 else {"skip": 0}
        found = {
            action: self.step(state["height"], state["velocity"], hits[action]) for action in hits
        }
        return {action: [new] for action, new in found.items() if new}

    def step(self, h, v, hit):
        t, g = self.time_step, -9.8067
        change = v * t + 0.5 * g * (t * t)
        if h + change <= 0:
            bounced = (v - hit) * -0.9487
            return {"height": h * 0.9, "velocity": bounced} if bounced <= 100 else None
        if v - hit + g * t < -100:
            return None
        return {"height": h + change, "velocity": v + (t * g - hit)}


def ball(**parameters):
    return domain("bouncing-ball", **parameters)


def controller(state):
    """Hit the ball on its way down, and more gently the faster it is."""
    if 5 <= state["height"] <= 9 and -9 < state["velocity"] <= 0:
        return "push"
    return "skip"


@pytest.mark.parametrize("time_step", [0.3, 0.01, 1.0])
def test_the_ball_follows_the_rules_on_runs(time_step):
    task, rules = ball(time_step=time_step), BallRules(time_step, 50)
    starts = task.sample_starts(40, seed=2)
    frontier, seen = [s.to_dict() for s in starts], 0
    while seen < 1_500:
        state = frontier.pop(seen % len(frontier))
        seen += 1
        assert task.is_fail(state) == rules.is_fail(state)
        assert task.is_goal(state) == rules.is_goal(state)
        assert task.applicable(state) == rules.applicable(state)
        for action in task.applicable(state):
            outcomes = [s.to_dict() for s in task.outcomes(state, action)]
            assert outcomes == rules.outcomes(state, action)
            frontier += outcomes if state["episode"] < 60 else []


def test_the_start_is_in_reach_of_the_paddle():
    task, rules = ball(), BallRules(0.3, 50)
    values = itertools.product((0, 1), (4.99, 5.0, 7.0, 9.0, 9.01), (-1.01, -1.0, 0.5, 1.0, 1.01))
    for episode, height, velocity in values:
        state = {"episode": episode, "height": height, "velocity": velocity}
        assert task.is_start(state) == rules.is_start(state)


def test_steps_by_hand():
    task = ball(time_step=0.5)
    (falls,) = task.outcomes({"episode": 2, "height": 10.0, "velocity": 0.0}, "skip")
    assert dict(falls) == {"episode": 3, "height": 10 - 1.2258375, "velocity": -4.90335}
    (hit,) = task.outcomes({"episode": 2, "height": 9.0, "velocity": 0.0}, "push")
    assert (hit["height"], hit["velocity"]) == (9 - 1.2258375, -8.90335)
    (bounces,) = task.outcomes({"episode": 2, "height": 1.0, "velocity": -10.0}, "skip")
    assert dict(bounces) == {"episode": 3, "height": 0.9, "velocity": 9.487}
    assert task.applicable({"episode": 2, "height": 9.5, "velocity": 0.0}) == ("skip",)
    assert task.applicable({"episode": 2, "height": 6.0, "velocity": -92.0}) == ("push", "skip")
    assert task.applicable({"episode": 2, "height": 600.0, "velocity": -98.0}) == ()


def test_fail_is_a_ball_that_does_not_come_back():
    task = ball()
    low = {"episode": 0, "height": 4.9999, "velocity": 0.0}
    assert task.is_fail(low)
    assert not task.is_fail(low | {"height": 5.0})
    assert not task.is_fail(low | {"velocity": -0.1})
    assert not task.is_fail(low | {"episode": 50})
    assert task.is_goal(low | {"episode": 50})
    assert task.distance_to_fail(low | {"height": 7.0}) == pytest.approx(2 * 2.0001)


def test_explored_counts():
    starts = [
        {"episode": 0, "height": h, "velocity": v} for h in (5.0, 6.5, 9.0) for v in (-1.0, 1.0)
    ]
    counts = explored(ball(horizon=12), BallRules(0.3, 12), starts)
    assert counts == EXPLORED


@pytest.mark.parametrize(("size", "runs"), [("small", 2_000), ("0.3", 300), ("0.01", 300)])
def test_no_run_meets_an_error_or_a_dead_end(size, runs):
    task = ball(size=size)
    assert set(ends(task, "random", runs=runs)) <= {"goal", "fail"}
    assert set(ends(task, hit_often(task), runs=runs // 10)) <= {"goal", "fail"}


def hit_often(task):
    """Return the policy that gives the ball as much speed as it can."""

    def decide(state):
        is_falling = 5 <= state["height"] <= 9 and state["velocity"] <= 0
        return "push" if is_falling and "push" in task.applicable(state) else "skip"

    return decide


def test_a_paddle_in_time_keeps_the_ball_and_an_idle_one_does_not():
    task = ball(size="small")
    assert ends(task, controller, runs=200)["goal"] >= 170
    assert ends(task, lambda state: "skip", runs=200)["fail"] == 200
    assert 0 < ends(task, "random", runs=500)["fail"] < 250  # the family is a kind one


@pytest.mark.parametrize("size", FAMILY.sizes)
def test_doctor_has_nothing_to_say(size):
    report = examine(ball(size=size))
    assert [f.code for f in report.findings] == ["start-not-finite"]
    assert not report.warnings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_step": 0.0}, "time_step must be from 0.01 to 1, not 0.0"),
        ({"time_step": 2.5}, "time_step must be from 0.01 to 1, not 2.5"),
        ({"horizon": 0}, "horizon must be from 1 to 1,000,000, not 0"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError) as caught:
        ball(**parameters)
    assert (caught.value.code, caught.value.message) == ("bad-parameter", message)


def test_pictures():
    falling = ball().picture({"episode": 3, "height": 6.3, "velocity": -4.25})
    assert falling.text == FALLING
    assert shapes(falling.svg) == {"rect": 1, "circle": 1, "line": 2, "text": 3}
    assert 'cy="214"' in falling.svg  # 20 points a metre above the floor at 340
    high = ball(size="0.3").picture({"episode": 0, "height": 45.3, "velocity": 9.25})
    assert high.text == OUT_OF_SIGHT
    assert 'cy="50"' in high.svg
