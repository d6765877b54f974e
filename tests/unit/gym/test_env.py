"""TaskEnv: what it says is what the task says, step by step."""

import json
import random
import warnings

import numpy as np
import pytest
from tests.support.networks import plain_scores, random_network
from tests.support.random_models import is_calm, random_model

from surefoot import (
    Description,
    InputError,
    PythonTask,
    SurefootError,
    Unsupported,
    domain,
    load_policy,
    load_task,
)

gymnasium = pytest.importorskip("gymnasium")
pytestmark = pytest.mark.filterwarnings("error")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from tests.unit.gym.support import (  # noqa: E402
    DIM,
    PAID,
    REWARDS,
    STEP,
    Coin,
    lamp,
    mask_of,
    observed,
    rests,
    result_of,
    ticking,
)

from surefoot.gym import Settings, TaskEnv  # noqa: E402
from surefoot.train.training import alone  # noqa: E402


def follow(env, *, steps, seed, max_steps):
    """Take random steps and hold everything that is returned against the task. Return how runs
    ended.
    """
    task, rng, ends = env.task, random.Random(seed), []
    (observation, info), taken = env.reset(seed=seed), 0
    for _ in range(steps):
        state = info["state"]
        assert observation in env.observation_space
        assert observation == pytest.approx(observed(task, state), rel=1e-6)
        assert info["action_mask"].tolist() == mask_of(task, env, state)
        assert env.action_masks().tolist() == mask_of(task, env, state)
        action = rng.choice(np.flatnonzero(info["action_mask"]))
        observation, reward, terminated, truncated, info = env.step(action)
        taken += 1
        name = env.interface.outputs[action]
        resting = rests(task, task.outcomes(state, name))
        assert info["state"] in resting or (not resting and info["result"] == "dead_end")
        result = result_of(task, info["state"]) or ("cut" if taken >= max_steps else None)
        if not task.silent:  # silent steps count as steps, too
            assert info.get("result") == result
        result = info.get("result")
        assert terminated == (result in ("fail", "goal", "dead_end"))
        assert truncated == (result == "cut")
        assert reward == pytest.approx(REWARDS[result] + STEP)
        if result:
            assert observation == pytest.approx(observed(task, info["state"]), rel=1e-6)
            assert env.state == info["state"]
            ends.append(result)
            (observation, info), taken = env.reset(), 0
            assert rests(task, [info["state"]]) == {info["state"]}
    return ends


# -- what it does ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "domain:one-way-line?packages=2&locations=4&variant=icy-park",
        "domain:two-way-line?variant=icy",
        "domain:flappy-bird",
        "domain:layered",
    ],
)
def test_steps_are_those_of_the_task(text):
    ends = follow(TaskEnv(text, max_steps=30, **PAID), steps=600, seed=3, max_steps=30)
    assert len(ends) > 5


def test_every_end_is_met_and_paid():
    ends = follow(TaskEnv(lamp(), max_steps=3, **PAID), steps=400, seed=0, max_steps=3)
    assert set(ends) == {"fail", "goal", "dead_end", "cut"}


def test_silent_actions_are_taken_by_the_environment():
    task = ticking().compile()
    env = TaskEnv(task, **PAID)
    assert env.interface.outputs == ("wait", "skip")
    assert set(follow(env, steps=300, seed=1, max_steps=200)) == {"dead_end"}
    _, info = env.reset(seed=5)
    assert not info["state"]["due"]


@pytest.mark.slow
def test_random_models(tmp_path):
    """Reals, arrays, several automata, silent edges: whatever a model may have."""
    path, ends, done = tmp_path / "model.jani", set(), 0
    for seed in filter(is_calm, range(500)):
        path.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            task = load_task(path)
            env = TaskEnv(task, max_steps=20, **PAID)
            env.reset(seed=0)
        except SurefootError:
            continue  # no start state, no action, or nowhere to begin
        try:
            ends.update(follow(env, steps=40, seed=seed, max_steps=20))
        except Exception as error:
            raise AssertionError(f"random_model({seed})") from error
        done += 1
    assert done > 20
    assert ends >= {"fail", "goal", "cut"}


def test_plain_values_and_the_interface_of_each():
    plain, scaled = TaskEnv(lamp(), scale=False), TaskEnv(lamp())
    state = {"light": 1, "broken": False}
    assert plain.reset(options={"state": state})[0].tolist() == [1.0, 0.0]
    assert scaled.reset(options={"state": state})[0] == pytest.approx([-1 / 3, -1.0])
    assert plain.observation_space.high.tolist() == [3.0, 1.0]
    assert scaled.observation_space.low.tolist() == [-1.0, -1.0]
    assert [one.scale for one in plain.interface.inputs] == [1.0, 1.0]
    assert plain.interface.outputs == scaled.interface.outputs == ("up", "down", "drop")


@pytest.mark.parametrize("scale", [True, False])
def test_a_network_decides_on_the_task_as_on_observations(scale):
    env = TaskEnv("domain:one-way-line?packages=2&locations=4&variant=icy", scale=scale)
    network = random_network(1, 8, 16, 5)
    policy = load_policy(network, env.task, interface=env.interface)
    (observation, info), actions = env.reset(seed=2), set()
    for _ in range(100):
        scores = plain_scores(network, observation[None].astype(np.float64))[0]
        best = int(np.where(info["action_mask"], scores, -np.inf).argmax())
        assert policy.decide(info["state"]) == env.interface.outputs[best]
        actions.add(best)
        observation, _, terminated, truncated, info = env.step(best)
        if terminated or truncated:
            observation, info = env.reset()
    assert len(actions) > 1


# -- resets and seeds ------------------------------------------------------------------------


def recorded(env, seed, *, steps=60):
    """Return what comes of first applicable actions, with resets where runs end."""
    (observation, info), seen = env.reset(seed=seed), []
    for _ in range(steps):
        seen.append(observation.tolist())
        observation, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        if terminated or truncated:
            observation, info = env.reset()
    return seen


def test_the_same_seed_gives_the_same_runs():
    task = domain("one-way-line", packages=2, locations=4, variant="icy")
    first = recorded(TaskEnv(task), 7)
    used = TaskEnv(task)
    recorded(used, 8)
    assert recorded(used, 7) == recorded(TaskEnv(task), 7) == first
    assert recorded(used, 8) != first


def test_a_reset_in_the_middle_begins_another_run():
    env = TaskEnv("domain:one-way-line?packages=3&locations=5")
    starts = {env.reset(seed=1 if i == 0 else None)[1]["state"] for i in range(40)}
    assert len(starts) > 10
    assert all(env.task.is_start(state) for state in starts)


def test_runs_begin_in_all_start_states_and_only_there():
    env = TaskEnv(lamp())
    seen = {env.reset(seed=i)[1]["state"]["light"] for i in range(30)}
    assert seen == {0, 1}
    env = TaskEnv(lamp(), starts=[{"light": 1, "broken": False}])
    assert {env.reset(seed=i)[1]["state"]["light"] for i in range(10)} == {1}


def test_a_state_to_begin_in_is_for_one_run():
    env = TaskEnv(lamp(), starts=[{"light": 0, "broken": False}])
    env.reset(seed=0)
    _, info = env.reset(options={"state": {"light": 1, "broken": False}})
    assert info["state"] == env.task.state(light=1, broken=False)
    *_, info = env.step(1)
    assert info["state"]["light"] == 0
    *_, info = env.step(2)
    while not info.get("result"):
        *_, info = env.step(2)
    assert env.state == info["state"] == {"light": 0, "broken": True}
    assert not env.action_masks().any()
    assert env.reset()[1]["state"] == {"light": 0, "broken": False}


@pytest.mark.parametrize("light", [2, 3])
def test_a_state_without_decision_cannot_be_begun_in(light):
    env = TaskEnv(lamp())
    env.reset(seed=0)
    with pytest.raises(InputError) as caught:
        env.reset(options={"state": {"light": light, "broken": False}})
    assert caught.value.code == "bad-task"
    with pytest.raises(InputError, match="no run goes on"):
        env.step(0)
    env.reset()
    env.step(0)


def test_real_variables_that_start_anywhere():
    d = Description("drift")
    x = d.real("x", -2.0, 0.7)
    y = d.real("y", initial=0.0)
    d.edge("left", guard=x > -1.5, outcomes=[{x: x - 0.125, y: y + 1.0}])
    d.edge("right", guard=x < 0.5, outcomes=[{x: x + 0.125}])
    d.start(x > 0)
    d.fail(x < -1.25)
    env = TaskEnv(d)
    assert env.observation_space.high.tolist() == [1.0, np.inf]
    seen = {env.reset(seed=i)[1]["state"]["x"] for i in range(10)}
    assert len(seen) == 10
    assert all(0 < x <= 0.7 for x in seen)


# -- actions that are not applicable ---------------------------------------------------------

UP, DOWN, DROP = 0, 1, 2


def test_an_action_that_is_not_applicable_is_ignored_and_counts():
    env = TaskEnv(lamp(), starts=[DIM], max_steps=3, invalid_reward=-0.5, step_reward=-0.25)
    before, _ = env.reset(seed=0)
    for number in range(3):
        observation, reward, terminated, truncated, info = env.step(DROP)
        assert observation.tolist() == before.tolist()
        assert (reward, terminated, truncated) == (-0.75, False, number == 2)
        assert info["applicable"] is False
        assert info["state"] == DIM
        assert info["action_mask"].tolist() == [1, 1, 0]
    assert info["result"] == "cut"
    with pytest.raises(InputError, match="no run goes on"):
        env.step(UP)


def test_ignored_actions_count_for_real_ones():
    env = TaskEnv(lamp(), starts=[DIM], max_steps=2)
    env.reset(seed=0)
    env.step(DROP)
    *_, terminated, truncated, info = env.step(DOWN)
    assert (terminated, truncated, info["result"]) == (False, True, "cut")
    assert info["state"] == env.state == {"light": 0, "broken": False}
    assert env.reset()[1]["state"] == DIM
    assert env.step(DOWN)[3] is False


def test_an_action_that_is_not_applicable_ends_the_run():
    env = TaskEnv(lamp(), starts=[DIM], invalid="end", fail_reward=-5.0)
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(DROP)
    assert (reward, terminated, truncated) == (-5.0, True, False)
    assert info["result"] == "inapplicable"


def test_an_action_that_is_not_applicable_is_refused():
    env = TaskEnv(lamp(), starts=[DIM], invalid="raise")
    env.reset(seed=0)
    with pytest.raises(InputError) as caught:
        env.step(DROP)
    assert caught.value.code == "not-applicable"
    assert 'action 2, "drop", is not applicable, in state light=1' in str(caught.value)
    env.step(DOWN)


@pytest.mark.parametrize("action", [3, -1, 2**40, 1.0, "up", None])
def test_what_is_no_action_is_refused(action):
    env = TaskEnv(lamp())
    env.reset(seed=0)
    with pytest.raises(InputError) as caught:
        env.step(action)
    assert caught.value.code == "bad-action"


def test_masked_samples_are_always_applicable():
    env = TaskEnv("domain:one-way-line?variant=icy-park", invalid="raise")
    env.action_space.seed(0)
    _, info = env.reset(seed=0)
    for _ in range(500):
        *_, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            _, info = env.reset()


# -- what it is made of ----------------------------------------------------------------------


def test_tasks_come_as_text_description_or_task(tmp_path):
    lamp().compile().write_jani(tmp_path / "lamp.jani")
    for task in (lamp(), lamp().compile(), str(tmp_path / "lamp.jani"), tmp_path / "lamp.jani"):
        assert TaskEnv(task).action_space.n == 3


@pytest.mark.parametrize("task", [PythonTask(Coin()), Coin()])
def test_python_defined_tasks_are_not_supported(task):
    with pytest.raises(Unsupported) as caught:
        TaskEnv(task)
    assert caught.value.code == "gym-python-task"


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        ({"goal_rewad": 1.0}, "unknown-option"),
        ({"goal_reward": float("nan")}, "bad-option"),
        ({"invalid_reward": "much"}, "bad-option"),
        ({"max_steps": 0}, "bad-option"),
        ({"max_steps": 2.5}, "bad-option"),
        ({"scale": 1}, "bad-option"),
        ({"invalid": "forget"}, "bad-option"),
        ({"render_mode": "svg"}, "bad-option"),  # nobody knows how to draw a lamp
        ({"starts": []}, "no-start-state"),
        ({"starts": [{"light": 7, "broken": False}]}, "value-out-of-range"),
    ],
)
def test_bad_options(bad, code):
    with pytest.raises(InputError) as caught:
        TaskEnv(lamp(), **bad)
    assert caught.value.code == code


def test_unknown_options_of_reset_are_refused():
    with pytest.raises(InputError) as caught:
        TaskEnv(lamp()).reset(options={"sate": {}})
    assert caught.value.code == "unknown-option"


def test_a_task_without_actions_or_starts_is_refused():
    d = Description("nothing")
    d.int("x", 0, 1, initial=0)
    with pytest.raises(InputError, match="no action"):
        TaskEnv(d)
    d = lamp()
    d.start((d.int("never", 0, 1) == 0) & (d.int("none", 0, 1) > 1))
    with pytest.raises(InputError) as caught:
        TaskEnv(d)
    assert caught.value.code == "no-start-state"


def test_settings_may_be_given_at_once():
    settings = Settings(goal_reward=7.0, starts=[DIM])
    env = TaskEnv(lamp(), settings=settings, fail_reward=-7.0)
    rewards = set()
    for seed in range(20):
        env.reset(seed=seed)
        rewards.add(env.step(UP)[1])
    assert rewards == {7.0, -7.0}


def test_errors_of_the_model_name_edge_and_state():
    d = Description("overflow")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 2}])
    env = TaskEnv(d)
    env.reset(seed=0)
    env.step(0)
    with pytest.raises(InputError, match=r"would become 4.*in state x=2"):
        env.step(0)


# -- pictures and Gymnasium's own check ------------------------------------------------------


def test_states_are_rendered_as_text_or_picture():
    task = domain("one-way-line")
    state = task.sample_starts(1)[0]
    for mode in ("ansi", "svg"):
        env = TaskEnv(task, render_mode=mode)
        env.reset(options={"state": state})
        picture = task.picture(state)
        assert env.render() == (picture.svg if mode == "svg" else picture.text + "\n")
    assert TaskEnv(task).render() is None
    plain = TaskEnv(lamp(), render_mode="ansi")
    plain.reset(options={"state": DIM})
    assert plain.render() == "light=1,broken=false\n"


def test_gymnasium_finds_nothing_wrong_with_a_task_that_nobody_draws():
    env = gymnasium.make("surefoot/Task-v0", task=lamp())
    check_env(env.unwrapped)


def test_maskable_ppo_learns_here():
    contrib, torch = pytest.importorskip("sb3_contrib"), pytest.importorskip("torch")
    env = TaskEnv(lamp(), invalid="raise")
    with warnings.catch_warnings(), alone(torch, 0):
        warnings.simplefilter("ignore")  # of torch and stable-baselines3
        model = contrib.MaskablePPO(
            "MlpPolicy", env, n_steps=64, batch_size=32, seed=0, device="cpu"
        )
        model.learn(256)
    assert model.num_timesteps == 256
