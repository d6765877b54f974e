"""The inverted pendulum against its rules."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from tests.support.motion import Rules, compare_with_rules, cut, ends, explored, shapes

from surefoot import InputError, domain, simulate
from surefoot.doctor import examine
from surefoot.domains.inverted_pendulum import FAMILY

LEANING = """\
step 0 of 50: angle 0.300, angular velocity -0.500
                         o
                        o
                        o
                       o
                      o
                      o
                     o
                     o
====================^===================="""
FALLEN = """\
step 10 of 1000: angle -0.785, angular velocity -2.500


        o
          o
            o
              o
                o
                  o
====================^===================="""
EXPLORED = {
    "states": 2264,
    "pairs": 2260,
    "outcomes": 2260,
    "fail": 236,
    "goal": 1117,
    "dead_ends": 0,
    "depth": 6,
}
STARTS = {"near": (0.05, 0.1), "wide": (0.25, 0.8)}


@dataclass(frozen=True)
class PendulumRules(Rules):
    variant: str

    def is_fail(self, state):
        return not -0.785 < state["angle"] < 0.785

    def is_start(self, state):
        angle, speed = STARTS[self.variant]
        is_near = abs(state["angle"]) <= angle and abs(state["angular_velocity"]) <= speed
        return is_near and state["episode"] == 0

    def steps(self, state):
        found = {}
        for action, push in (("left", -2), ("right", 2), ("skip", 0)):
            acceleration = (-3 * 9.8607 / (2 * 1)) * (0 - state["angle"]) + (3 / (1 * 1)) * push
            speed = state["angular_velocity"] + acceleration * self.time_step
            angle = state["angle"] + speed * self.time_step
            if action == "skip" or -0.785 <= angle <= 0.785:
                found[action] = [{"angle": cut(angle, 0.785), "angular_velocity": cut(speed, 5.0)}]
        return found


def pendulum(**parameters):
    return domain("inverted-pendulum", **parameters)


def lean(state):
    """Return how far the pole leans, counting its speed: what pushing must hold below 0.4."""
    return state["angle"] + state["angular_velocity"] / 3.846


def controller(task):
    """Return the policy that pushes against leaning."""

    def decide(state):
        push = "left" if lean(state) > 0 else "right"
        return push if abs(lean(state)) > 0.03 and push in task.applicable(state) else "skip"

    return decide


def swinger(task):
    """Return the policy that swings out to the left and then pushes right for the most speed."""

    def decide(state):
        swings = state["angular_velocity"] <= 0 and lean(state) > -0.3
        push = "left" if swings else "right"
        return push if push in task.applicable(state) else "skip"

    return decide


@pytest.mark.parametrize("variant", STARTS)
@pytest.mark.parametrize("time_step", [0.1, 0.01, 0.037])
def test_the_pendulum_follows_the_rules(time_step, variant):
    task = pendulum(time_step=time_step, horizon=30, variant=variant)
    compare_with_rules(task, PendulumRules(time_step, 30, variant), states=1_000)


@pytest.mark.parametrize("variant", STARTS)
def test_where_it_starts(variant):
    task, rules = pendulum(variant=variant), PendulumRules(0.1, 50, variant)
    angle, speed = STARTS[variant]
    edges = itertools.product((0, 1), (-1.01, -1.0, 0.0, 1.0, 1.01), (-1.01, -1.0, 0.5, 1.0, 1.01))
    for episode, a, v in edges:
        state = {"episode": episode, "angle": a * angle, "angular_velocity": v * speed}
        assert task.is_start(state) == rules.is_start(state)


def test_steps_by_hand():
    task = pendulum()
    upright = {"episode": 4, "angle": 0.0, "angular_velocity": 0.0}
    assert task.outcomes(upright, "skip") == (task.state(upright | {"episode": 5}),)
    (pushed,) = task.outcomes(upright, "right")
    assert pushed["angular_velocity"] == pytest.approx(0.6)
    assert pushed["angle"] == pytest.approx(0.06)
    brink = {"episode": 4, "angle": 0.78, "angular_velocity": 2.0}
    assert task.applicable(brink) == ("skip",)
    (fallen,) = task.outcomes(brink, "skip")
    assert (fallen["angle"], task.is_fail(fallen)) == (0.785, True)
    assert task.distance_to_fail(upright) == 0.785


def test_who_falls_in_the_last_step_has_failed():
    task = pendulum()
    last = {"episode": 50, "angle": 0.785, "angular_velocity": 0.0}
    assert task.is_fail(last)
    assert not task.is_goal(last)
    assert task.is_goal(last | {"angle": 0.7})
    assert task.applicable(last) == ()


def test_explored_counts():
    starts = [
        {"episode": 0, "angle": a, "angular_velocity": v} for a in (-0.2, 0.05) for v in (-0.8, 0.3)
    ]
    counts = explored(pendulum(horizon=6), PendulumRules(0.1, 6, "wide"), starts)
    assert counts == EXPLORED


@pytest.mark.parametrize("time_step", [0.01, 0.1])
def test_speeds_are_not_cut_before_fail(time_step):
    task = pendulum(time_step=time_step, horizon=200)
    for policy in ("random", swinger(task)):
        for run in simulate(task, policy=policy, runs=150).runs:
            standing = [s["angular_velocity"] for s in run.states if not task.is_fail(s)]
            assert max(map(abs, standing)) < 4.8


@pytest.mark.parametrize("size", FAMILY.sizes)
def test_pushing_against_leaning_holds_it_and_chance_does_not(size):
    task = pendulum(size=size)
    assert ends(task, controller(task), runs=60)["goal"] >= 54
    assert ends(task, "random", runs=1_000)["fail"] >= 950


def test_some_wide_starts_are_lost_and_no_near_one():
    # The angle is linear in the pushes, and every push to the left makes it smaller.
    task = pendulum()
    state = task.state(episode=0, angle=0.25, angular_velocity=0.8)
    assert task.is_start(state)
    while not task.is_fail(state):
        (state,) = task.outcomes(state, "left" if "left" in task.applicable(state) else "skip")
        assert lean(state) > 0.4
    near = pendulum(size="0.1")
    assert ends(near, controller(near), runs=50) == {"goal": 50}


@pytest.mark.parametrize("size", FAMILY.sizes)
def test_doctor_has_nothing_to_say(size):
    report = examine(pendulum(size=size))
    assert [f.code for f in report.findings] == ["start-not-finite"]
    assert not report.warnings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_step": 0.2}, "time_step must be from 0.01 to 0.1, not 0.2"),
        ({"horizon": 0}, "horizon must be from 1 to 1,000,000, not 0"),
        ({"variant": "nea"}, 'there is no variant "nea"'),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError) as caught:
        pendulum(**parameters)
    assert (caught.value.code, caught.value.message) == ("bad-parameter", message)


def test_pictures():
    leaning = pendulum().picture({"episode": 0, "angle": 0.3, "angular_velocity": -0.5})
    assert leaning.text == LEANING
    assert shapes(leaning.svg) == {"line": 3, "rect": 1, "circle": 1, "text": 1}
    assert 'x2="221.37" y2="66.25"' in leaning.svg  # 140 points to the upper right of (180, 200)
    fallen = pendulum(size="0.1").picture(
        {"episode": 10, "angle": -0.785, "angular_velocity": -2.5}
    )
    assert fallen.text == FALLEN
