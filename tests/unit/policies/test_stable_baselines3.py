"""Models of Stable-Baselines3, as objects: decisions are those of the library."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from surefoot import SurefootError, find_faults, fitted_like, from_gym, fuzz, load_policy, repair

sb3 = pytest.importorskip("stable_baselines3")


def made(algorithm, env, seed=0, **more):
    steps = {} if algorithm is sb3.DQN else {"n_steps": 64}
    layers = {"net_arch": [16]}
    return algorithm(
        "MlpPolicy", env, seed=seed, device="cpu", policy_kwargs=layers, **steps, **more
    )


@pytest.mark.parametrize("algorithm", [sb3.PPO, sb3.A2C, sb3.DQN])
def test_decisions_on_one_hot_observations_are_those_of_the_library(algorithm):
    env = gymnasium.make("FrozenLake-v1", map_name="8x8")
    task = from_gym(env)
    model = made(algorithm, env)
    for thing in (model, model.policy):
        policy = load_policy(thing, task)
        assert policy.model_kind == "network"
        for state in range(64):
            if not (task.is_fail({"state": state}) or task.is_goal({"state": state})):
                action, _ = model.predict(state, deterministic=True)
                assert policy.decide({"state": state}) == task.actions[int(action)]


def test_repaired_model_is_a_model_again():
    env = gymnasium.make("FrozenLake-v1")
    task = from_gym(env)
    for seed in range(20):
        model = made(sb3.PPO, env, seed)
        policy = load_policy(model, task)
        runs = fuzz(task, policy, runs=200, bias="uniform", seed=0)
        faults = find_faults(task, policy, runs.failing)
        repaired = repair(task, policy, faults).policy if faults.faults else None
        if repaired is not None and repaired.model_kind == "network":
            break
    like = fitted_like(repaired, model)
    assert type(like) is sb3.PPO
    assert load_policy(like, task).decide_all(task.list_starts()) == repaired.decide_all(
        task.list_starts()
    )
    assert load_policy(model, task).decide(faults.faults[0].state) == faults.faults[0].action


class Slope(gymnasium.Env):
    """One number, which goes down by itself."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Box(-5.0, 5.0, (2,), np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 3
        return self.shown(), {}

    def shown(self):
        return np.array([self.at, -self.at / 2])

    def step(self, action):
        self.at -= 1 + int(action)
        return self.shown(), 0.0, self.at <= 0, False, {}


def test_stepped_environment_shows_the_model_its_observations():
    env = Slope()
    task = from_gym(env, fail="never")
    model = made(sb3.PPO, env)
    policy = load_policy(model, task)
    state = task.initial_state()
    action, _ = model.predict(np.array([3, -1.5]), deterministic=True)
    assert policy.decide(state) == str(int(action))
    assert policy.model is None


def test_normalised_observations_are_normalised_here_too():
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    from surefoot.policies.fitted import model_of

    model = made(sb3.PPO, VecNormalize(DummyVecEnv([Slope]))).learn(64)
    normal = model.get_vec_normalize_env()
    loaded = model_of(model)
    assert "clips" in loaded.notes[0]
    row = np.array([2.0, -1.0])
    pairs = zip(row, loaded.interface.inputs, strict=True)
    fed = [(x - entry.mean) / entry.scale for x, entry in pairs]
    assert fed == pytest.approx(normal.normalize_obs(row))
    task = from_gym(Slope(), fail="never")
    action, _ = model.predict(normal.normalize_obs(np.array([3, -1.5])), deterministic=True)
    assert load_policy(model, task).decide(task.initial_state()) == str(int(action))


def test_policies_that_are_no_plain_layers_are_refused():
    class Smooth(Slope):
        action_space = spaces.Box(-1.0, 1.0, (1,))

    task = from_gym("FrozenLake-v1")
    with pytest.raises(SurefootError) as caught:
        load_policy(made(sb3.PPO, Smooth()), task)
    assert caught.value.code == "not-a-policy"
    with pytest.raises(SurefootError) as caught:
        load_policy(made(sb3.PPO, Slope()), task)
    assert caught.value.code == "policy-wrong-inputs"
