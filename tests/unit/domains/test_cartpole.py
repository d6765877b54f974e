"""The cart with its pole, against the rules."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from tests.support.motion import Rules, compare_with_rules, cut, ends, explored, play, shapes

from surefoot import InputError, domain, simulate
from surefoot.doctor import examine
from surefoot.domains.cartpole import FAMILY

LEANING = """\
step 0 of 50: position -1.000, angle 0.150
                   o
                   o
                  o
                  o
                  o
                 o
               [===]
   |===============================================|"""
LOST = """\
step 7 of 1000: position 2.400, angle -0.209
                                                o
                                                 o
                                                 o
                                                  o
                                                  o
                                                   o
                                                 [===]
   |===============================================|"""
EXPLORED = {
    "det": {
        "states": 420,
        "pairs": 416,
        "outcomes": 416,
        "fail": 30,
        "goal": 182,
        "dead_ends": 0,
        "depth": 6,
    },
    "gust": {
        "states": 1036,
        "pairs": 344,
        "outcomes": 1032,
        "fail": 48,
        "goal": 816,
        "dead_ends": 0,
        "depth": 3,
    },
}
VARIANTS = ("det", "gust")
STARTS = {"position": 1.2, "velocity": 1.0, "angle": 0.12, "angular_velocity": 1.5}
UPRIGHT = {"episode": 0} | dict.fromkeys(STARTS, 0.0)


@dataclass(frozen=True)
class CartRules(Rules):
    variant: str

    def is_fail(self, state):
        return abs(state["position"]) / 2.4 >= 1 or abs(state["angle"]) / 0.209 >= 1

    def is_start(self, state):
        is_near = all(abs(state[name]) <= most for name, most in STARTS.items())
        return is_near and state["episode"] == 0

    def steps(self, state):
        winds = (0.0, -2.0, 2.0) if self.variant == "gust" else (0.0,)
        pushes = {"left": -10.0, "right": 10.0}
        return {
            action: [self.step(**state, force=push + wind) for wind in winds]
            for action, push in pushes.items()
        }

    def step(self, *, position, velocity, angle, angular_velocity, force, episode):
        pull, t = force / 1.1, self.time_step
        turn = (9.8 * angle - pull) / (0.5 * (4 / 3 - 0.1 / 1.1))
        speed_up = pull - 0.1 * 0.5 / 1.1 * turn
        return {
            "position": cut(position + velocity * t, 2.4),
            "velocity": cut(velocity + speed_up * t, 5.0),
            "angle": cut(angle + angular_velocity * t, 0.209),
            "angular_velocity": cut(angular_velocity + turn * t, 5.0),
        }


def cart(**parameters):
    return domain("cartpole", **parameters)


def controller(state):
    """Push to where the pole leans, and a little to where the cart is: that leans it back."""
    tilt = 18 * state["angle"] + 4 * state["angular_velocity"]
    return "right" if tilt + state["position"] + 1.6 * state["velocity"] > 0 else "left"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("time_step", [0.02, 0.01, 0.05])
def test_the_cart_follows_the_rules(time_step, variant):
    task = cart(time_step=time_step, horizon=30, variant=variant)
    compare_with_rules(task, CartRules(time_step, 30, variant), states=1_000)


def test_where_it_starts():
    task, rules = cart(), CartRules(0.02, 50, "det")
    for episode, *shares in itertools.product((0, 1), *[(-1.01, -1.0, 0.5, 1.0, 1.01)] * 4):
        most = zip(STARTS.items(), shares, strict=True)
        state = {"episode": episode} | {name: value * share for (name, value), share in most}
        assert task.is_start(state) == rules.is_start(state)


def test_steps_by_hand():
    task = cart()
    (pushed,) = task.outcomes(UPRIGHT | {"velocity": 1.0, "angular_velocity": -0.5}, "right")
    assert pushed["position"] == pytest.approx(0.02)
    assert pushed["angle"] == pytest.approx(-0.01)
    # As everybody's cartpole has it: 9.76 metres and -14.6 radians per second squared.
    assert pushed["velocity"] == pytest.approx(1 + 0.02 * 9.756, abs=1e-3)
    assert pushed["angular_velocity"] == pytest.approx(-0.5 - 0.02 * 14.634, abs=1e-3)
    (falls,) = task.outcomes(UPRIGHT | {"angle": 0.2, "angular_velocity": 1.0}, "left")
    assert (falls["angle"], task.is_fail(falls)) == (0.209, True)
    gusts = cart(variant="gust").outcomes(UPRIGHT, "left")
    calm, against, along = (task.outcomes(UPRIGHT, "left")[0], gusts[1], gusts[2])
    assert gusts[0] == calm
    assert against["velocity"] == pytest.approx(calm["velocity"] * 1.2)
    assert along["velocity"] == pytest.approx(calm["velocity"] * 0.8)


def test_the_distance_to_fail_is_a_share_of_what_is_allowed():
    task = cart()
    assert task.distance_to_fail(UPRIGHT) == 1
    assert task.distance_to_fail(UPRIGHT | {"position": -1.8}) == pytest.approx(0.25)
    assert task.distance_to_fail(UPRIGHT | {"angle": 0.1045}) == pytest.approx(0.5)
    assert task.is_fail(UPRIGHT | {"position": -2.4})
    assert task.is_fail(UPRIGHT | {"angle": 0.209})
    assert not task.is_fail(UPRIGHT | {"angle": 0.2089, "position": 2.399})


def test_who_fails_in_the_last_step_has_failed():
    task = cart()
    last = UPRIGHT | {"episode": 50, "position": 2.4}
    assert task.is_fail(last)
    assert not task.is_goal(last)
    assert task.is_goal(last | {"position": 2.3})
    assert task.applicable(last) == ()


@pytest.mark.parametrize("variant", VARIANTS)
def test_explored_counts(variant):
    starts = [
        UPRIGHT | {"angle": a, "angular_velocity": w} for a in (-0.1, 0.12) for w in (0.3, 1.2)
    ]
    horizon = {"det": 6, "gust": 3}[variant]
    counts = explored(
        cart(horizon=horizon, variant=variant), CartRules(0.02, horizon, variant), starts
    )
    assert counts == EXPLORED[variant]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", FAMILY.sizes)
def test_balancing_goes_well_and_chance_does_not(size, variant):
    task = cart(size=size, variant=variant)
    assert ends(task, controller, runs=60)["goal"] >= 54
    assert ends(task, "random", runs=1_000)["fail"] >= 900


WINDS = {
    "from the left": lambda outcomes: outcomes[2],
    "from the right": lambda outcomes: outcomes[1],
    "with the cart": lambda outcomes: outcomes[2 if outcomes[0]["velocity"] > 0 else 1],
    "tilts the pole": lambda outcomes: outcomes[1 if outcomes[0]["angular_velocity"] > 0 else 2],
    "pushes off the track": lambda outcomes: outcomes[2 if outcomes[0]["position"] > 0 else 1],
}


@pytest.mark.parametrize("wind", WINDS)
def test_the_pole_can_be_held_whatever_the_wind_does(wind):
    task = cart(size="small", variant="gust")
    for position, angle in itertools.product((-0.5, 0.0, 0.5), (-0.05, 0.0, 0.05)):
        start = task.state(UPRIGHT | {"position": position, "angle": angle})
        assert task.is_goal(play(task, start, controller, WINDS[wind])[-1])


def test_some_starts_are_lost():
    # The angle is linear in the pushes, and every push to the right makes it smaller.
    task = cart()
    start = task.state(UPRIGHT | {"angle": 0.12, "angular_velocity": 1.5})
    assert task.is_start(start)
    states = play(task, start, lambda state: "right", lambda found: found[0])
    assert states[-1]["angle"] == 0.209
    slower = task.state(start.to_dict() | {"angular_velocity": 1.2})
    assert task.is_goal(play(task, slower, controller, lambda found: found[0])[-1])


@pytest.mark.parametrize("time_step", [0.01, 0.02, 0.05])
def test_speeds_are_not_cut_on_runs_by_chance(time_step):
    task = cart(time_step=time_step, horizon=200)
    for run in simulate(task, policy="random", runs=1_000).runs:
        going = [state for state in run.states if not task.is_fail(state)]
        assert max(abs(state["velocity"]) for state in going) < 4.5
        assert max(abs(state["angular_velocity"]) for state in going) < 4.5


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", FAMILY.sizes)
def test_doctor_has_nothing_to_say(size, variant):
    report = examine(cart(size=size, variant=variant))
    assert [f.code for f in report.findings] == ["start-not-finite"]
    assert not report.warnings


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"time_step": 0.1}, "time_step must be from 0.01 to 0.05, not 0.1"),
        ({"horizon": 0}, "horizon must be from 1 to 1,000,000, not 0"),
        ({"variant": "storm"}, 'there is no variant "storm"'),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError) as caught:
        cart(**parameters)
    assert (caught.value.code, caught.value.message) == ("bad-parameter", message)


def test_pictures():
    leaning = cart().picture(UPRIGHT | {"position": -1.0, "angle": 0.15})
    assert leaning.text == LEANING
    assert shapes(leaning.svg) == {"line": 4, "rect": 1, "circle": 3, "text": 1}
    assert '<rect x="165" y="150" width="50"' in leaning.svg  # 100 points a metre
    lost = cart(size="0.02").picture(UPRIGHT | {"episode": 7, "position": 2.4, "angle": -0.209})
    assert lost.text == LOST
