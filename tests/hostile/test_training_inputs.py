"""What nobody should ask of families, trainings and environments, and what they say to it."""

from __future__ import annotations

import gc
import json
import random
import re
import threading
from xml.etree import ElementTree

import numpy as np
import pytest

from surefoot import Description, InputError, SurefootError, distill, domain, train
from surefoot.domains import DOMAINS, domain_family, domain_from_text
from surefoot.gym.env import TaskEnv
from surefoot.gym.settings import Settings
from surefoot.gym.vector import VectorTaskEnv

QUICK = {"steps": 3_000, "runs": 20, "checkpoints": 3, "updates": 1, "hidden": "8"}

# -- parameters of families --------------------------------------------------------------------

TEXTS = (
    *("", "-1", "nan", "inf", "-inf", "1e400", "1.5", "true", "0x10", "1e3", "9" * 30, "9" * 5000),
    *("%00", "%ff", "%F0%9F%98%80", "\u202e", "x" * 10_000, ",", "|", "5,,7", "0|0", "0,1,2|"),
    *("s", "g", "/", "s/gg", "sg/" * 30, "s" * 100, "sg%0A"),
)


@pytest.mark.parametrize("name", DOMAINS)
def test_texts_as_parameters(name):
    """Each makes a task, which its own text makes again, or is refused in a few words."""
    for parameter in [*domain_family(name).defaults, "size", "nope", ""]:
        for text in TEXTS:
            try:
                task = domain_from_text(f"domain:{name}?{parameter}={text}")
            except SurefootError as error:
                said = str(error)
                assert len(said) < 1000
                assert all(char == "\n" or char.isprintable() for char in said), repr(said)
            else:
                assert domain_from_text(task.source.text).sha256 == task.sha256


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize(
    "value", [None, True, float("nan"), float("inf"), 10**30, -(10**30), b"5", [5], {}, 1 + 2j]
)
def test_values_as_parameters(name, value):
    for parameter in [*domain_family(name).defaults, "size"]:
        with pytest.raises(InputError):
            domain(name, **{parameter: value})


def test_parameters_given_twice_are_refused():
    with pytest.raises(InputError, match="twice"):
        domain_from_text("domain:layered?depth=1&depth=2")


@pytest.mark.parametrize("track", ["", "/", "s", "g", "#", "s/gg", "sg/s", "s" * 65 + "g", "s g"])
def test_bad_tracks(track):
    with pytest.raises(InputError):
        domain("racetrack", track=track)


@pytest.mark.parametrize("lines", ["0,1", "0,1,2,2", "0,1,2,3", "0,1,2|", "|0,1,2", "0;1;2", "a"])
def test_bad_production_lines(lines):
    with pytest.raises(InputError):
        domain("beluga", jigs=3, lines=lines)


@pytest.mark.parametrize("icy", ["4", "-1", "1,,2", "1,1,a", "1;2", "1.5"])
def test_bad_icy_locations(icy):
    with pytest.raises(InputError):
        domain("one-way-line", variant="icy", icy=icy)


# -- pictures ----------------------------------------------------------------------------------


def any_value(variable, rng):
    lower, upper = variable.lower, variable.upper
    if variable.type == "int":
        return rng.choice([lower, upper, rng.randint(lower, upper)])
    return rng.choice([lower, upper, rng.uniform(lower, upper), -0.0 if lower <= 0 else lower])


@pytest.mark.parametrize("name", DOMAINS)
def test_pictures_of_any_states(name):
    """Also of states that no run meets: they are legal values."""
    rng = random.Random(1)
    for size in domain_family(name).sizes:
        task = domain(name, size=size)
        for _ in range(40):
            state = task.state({v.name: any_value(v, rng) for v in task.variables})
            drawn = task.picture(state)
            assert max(map(len, drawn.text.splitlines())) <= 100, state
            root = ElementTree.fromstring(drawn.svg)
            for shape in root.iter():
                for key, value in shape.attrib.items():
                    assert not re.fullmatch(r"-?(nan|inf)", value), (state, key)


# -- training ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"replay": 2**62},
        {"replay": 10**12},
        {"environments": 2**62},
        {"environments": 10**12},
        {"goal_reward": 1e300},
        {"fail_cost": 1e300},
        {"step_cost": 1e300},
        {"runs": 10**12},
        {"hidden": "9" * 5000},
        {"hidden": "64,,64"},
        {"steps": 10**30},
        {"discount": float("nan")},
        {"learning_rate": float("inf")},
    ],
    ids=str,
)
def test_numbers_that_no_training_can_use(changes):
    with pytest.raises(SurefootError):
        train(domain("layered"), **{**QUICK, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"environments": 1, "steps": 100},
        {"replay": 1},
        {"replay": 10, "batch": 5_000},
        {"hidden": ""},
        {"checkpoints": 10_000, "steps": 500},
        {"discount": 0},
        {"discount": 1},
        {"explore": 0},
        {"explore": 1},
        {"max_steps": 1},
        {"steps": 1, "runs": 1},
    ],
    ids=str,
)
def test_options_at_their_limits(changes):
    result = train(domain("one-way-line"), **{**QUICK, **changes})
    assert result.policy.model is not None
    json.dumps(result.to_dict(), allow_nan=False)


def test_numbers_that_grow_beyond_bounds_give_a_policy_or_say_so():
    for rate in (1e2, 1e3, 1e10, 1e30):
        try:
            result = train(domain("one-way-line"), **QUICK, learning_rate=rate)
        except InputError as error:
            assert "learning" in str(error)
        else:
            for layer in result.policy.model.layers:
                assert np.isfinite(layer.weights).all()


def interrupted_once(value):
    """Return a function that is interrupted as it is called first, and then returns a value."""
    calls = []

    def call(*_):
        calls.append(None)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return value

    return call


def test_interrupted_while_a_policy_is_scored():
    result = train(domain("one-way-line"), **QUICK, score=interrupted_once(1.0))
    assert result.stopped == "interrupted"
    assert result.policy.model is not None


def test_interrupted_while_a_policy_is_written():
    """The policy of the result is one that was handed out completely."""
    kept, hand_out = [], interrupted_once(None)

    def better(policy, _):
        hand_out()
        kept.append(policy)

    result = train(domain("one-way-line"), **QUICK, better=better)
    assert result.stopped == "interrupted"
    assert kept[-1] is result.policy


def odd_task(start=0, guard=lambda x: x < 3, *, variables=True):
    d = Description("odd")
    if not variables:
        d.edge("a", guard=True, outcomes=[{}])
        d.edge("b", guard=True, outcomes=[{}])
        return d.compile()
    x = d.int("x", 0, 9, initial=0)
    d.edge("a", guard=guard(x), outcomes=[{x: x + 1}])
    d.edge("b", guard=x < 3, outcomes=[{x: 0}])
    d.start(x == start)
    d.goal(x == 9)
    return d.compile()


def division_by_zero(x):
    return 1.0 / x >= 0


def test_model_errors_where_runs_begin():
    with pytest.raises(InputError, match="division by zero"):
        train(odd_task(guard=division_by_zero), **QUICK)


@pytest.mark.parametrize("start", [9, 5])
def test_nothing_to_decide_at_the_start(start):
    with pytest.raises(InputError, match="begin"):
        train(odd_task(start), **QUICK)


def test_tasks_without_variables():
    with pytest.raises(SurefootError):
        train(odd_task(variables=False), **QUICK)
    with pytest.raises(SurefootError):
        distill(odd_task(variables=False), "random", runs=5)


def test_more_actions_than_boosted_trees_can_have():
    """Said in words of the task, or done: not in words about bytes of a file."""
    try:
        distill(domain("staircase", steps=20_000), "random", runs=2, trees=4)
    except SurefootError as error:
        assert "byte" not in str(error)


# -- environments ------------------------------------------------------------------------------


def one_way(count):
    env = VectorTaskEnv("domain:one-way-line?variant=icy", count)
    env.reset(seed=0)
    return env


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint32, np.uint64])
def test_actions_of_any_whole_type(dtype):
    env = one_way(3)
    env.step(env.action_masks().argmax(1).astype(dtype))
    with pytest.raises(InputError):
        env.step(np.full(3, 100, dtype))


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", None, True, 2**40, 2**62, 10**30])
def test_numbers_of_environments_that_cannot_be(count):
    with pytest.raises(SurefootError):
        VectorTaskEnv("domain:one-way-line", count)


@pytest.mark.parametrize(
    "changes", [{"goal_reward": 10**400}, {"starts": 5}, {"settings": 5}, {"max_steps": 2**63}]
)
def test_settings_that_cannot_be(changes):
    with pytest.raises(InputError):
        TaskEnv("domain:one-way-line", **changes)
    assert Settings().max_steps


def test_arrays_outlive_their_environments():
    env = one_way(1000)
    core = env._core
    arrays = [core.observations, core.masks, core.results, core.next_distances]
    before = [array.copy() for array in arrays]
    del env, core
    gc.collect()
    filler = [np.ones(10_000) for _ in range(50)]
    assert all(np.array_equal(*pair) for pair in zip(arrays, before, strict=True)), len(filler)


def test_two_threads_do_not_step_the_same_runs():
    """Whoever comes second waits or is refused; the task has no model errors, so none is met."""
    core, wrong = one_way(500)._core, []

    def work(seed):
        rng = np.random.default_rng(seed)
        for number in range(150):
            masks = core.masks.copy()
            actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(1).astype(np.int32)
            try:
                core.reset(number) if seed == 0 and number % 3 == 0 else core.step(actions)
            except (ValueError, RuntimeError):
                pass  # not applicable any more, or busy
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def sometimes_broken():
    """A task in which some start states have a model error."""
    d = Description("broken")
    x, y = d.int("x", 0, 9, initial=0), d.int("y", 0, 3, initial=0)
    d.edge("a", guard=y < 3, outcomes=[{y: y + 1}])
    d.edge("b", guard=(y < 3) & (x < 5), outcomes=[{y: y + 1}])
    d.start(y == 0)
    d.goal((y == 3) & (x < 9))
    d.fail(1.0 / (9 - x) < 0)
    return d.compile()


def test_after_a_model_error_rows_are_those_of_states():
    """Or the runs have to be begun anew: no action is taken by the mask of another state."""
    env = VectorTaskEnv(sometimes_broken(), 3)
    errors = 0
    for seed in range(100):
        try:
            env.reset(seed=seed)
            for _ in range(20):
                env.step(env.action_masks().argmax(1))
        except InputError:
            errors += 1
            check_rows_or_refused(env)
    assert errors


def check_rows_or_refused(env):
    rows = [[s["x"] / 4.5 - 1, s["y"] / 1.5 - 1] for s in env.states]
    if not np.allclose(rows, env._core.observations, atol=1e-6):
        with pytest.raises(InputError, match=r"reset|begun"):
            env.step(env.action_masks().argmax(1))
