"""Environments and tasks go into pickles and come out as they were made."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from surefoot import Description, InputError, domain, explore

pytest.importorskip("gymnasium")

from surefoot.gym import TaskEnv, VectorTaskEnv

WAYS = {
    "pickle": lambda thing: pickle.loads(pickle.dumps(thing)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
def test_environment(way):
    env = TaskEnv("domain:one-way-line", max_steps=7, invalid="raise")
    first, _ = env.reset(seed=3)
    twin = way(env)
    again, _ = twin.reset(seed=3)
    assert np.array_equal(first, again)
    env.step(int(np.flatnonzero(env.action_masks())[0]))
    assert np.array_equal(twin.reset(seed=3)[0], first)  # not the same runs
    with pytest.raises(InputError):
        twin.step(int(np.flatnonzero(~twin.action_masks())[0]))


@ways
def test_vector(way):
    env = VectorTaskEnv("domain:flappy-bird", 5, max_steps=7)
    twin = way(env)
    assert np.array_equal(env.reset(seed=3)[0], twin.reset(seed=3)[0])
    assert twin.num_envs == 5


@pytest.mark.parametrize("name", ["one-way-line", "racetrack", "cartpole", "n-puzzle"])
def test_task(name):
    task = domain(name)
    again = pickle.loads(pickle.dumps(task))
    assert again.sha256 == task.sha256
    assert again.source == task.source
    (state,) = task.sample_starts(1)
    assert again.picture(state.to_dict()) == task.picture(state)
    assert copy.deepcopy(task) is task


def test_task_of_a_description():
    d = Description("lamp")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    d.start({"x": 0})
    task = d.compile()
    found = [explore(t).to_dict()["states"] for t in (task, pickle.loads(pickle.dumps(task)))]
    assert found == [4, 4]


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int8, np.int64])
def test_actions_of_every_type(kind):
    env = VectorTaskEnv("domain:one-way-line", 3)
    env.reset(seed=0)
    env.step(env.action_masks().argmax(1).astype(kind))
    with pytest.raises(InputError, match="from 0 to"):
        env.step(np.full(3, 99, kind))


@pytest.mark.parametrize("count", [0, -1, 2**40, 10**30, 1.5, None, True])
def test_number_of_environments(count):
    with pytest.raises(InputError, match="from 1 to"):
        VectorTaskEnv("domain:one-way-line", count)
