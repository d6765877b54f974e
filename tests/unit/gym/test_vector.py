"""VectorTaskEnv: many runs, each of them as one environment alone would have it."""

import numpy as np
import pytest

from surefoot import InputError, PythonTask, Unsupported, domain

gymnasium = pytest.importorskip("gymnasium")
pytestmark = pytest.mark.filterwarnings("error")

from gymnasium.vector import AutoresetMode  # noqa: E402
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

from surefoot.gym import TaskEnv, VectorTaskEnv  # noqa: E402

LINE = "domain:one-way-line?packages=2&locations=4&variant=icy-park"


def drawn(masks, rng):
    """Return an applicable action for each row."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(1)


@pytest.mark.parametrize("task", [LINE, lamp(), ticking()], ids=["line", "lamp", "ticking"])
def test_one_run_of_many_is_one_alone(task):
    """The same seed and the same actions: the same numbers, from run to run."""
    single, vector = TaskEnv(task, max_steps=9, **PAID), VectorTaskEnv(task, 1, max_steps=9, **PAID)
    rng, ends = np.random.default_rng(0), 0
    one, many = single.reset(seed=3), vector.reset(seed=3)
    for _ in range(300):
        assert (one[0] == many[0][0]).all()
        assert (one[-1]["action_mask"] == many[-1]["action_mask"][0]).all()
        assert one[-1]["state"] == vector.states[0]
        action = drawn(many[-1]["action_mask"], rng)
        one, many = single.step(action[0]), vector.step(action)
        assert one[1:4] == tuple(part[0] for part in many[1:4])
        assert one[-1]["state"] == vector.next_states[0]
        if one[2] or one[3]:
            ends += 1
            infos = many[-1]
            assert (one[0] == infos["final_obs"][0]).all()
            assert one[-1]["result"] == infos["final_info"]["result"][0]
            assert (one[-1]["action_mask"] == infos["final_info"]["action_mask"][0]).all()
            one = single.reset()
    assert ends > 20


@pytest.mark.parametrize("task", [LINE, lamp(), ticking()], ids=["line", "lamp", "ticking"])
def test_steps_are_those_of_the_task(task):
    env = VectorTaskEnv(task, 7, max_steps=9, **PAID)
    task, rng, ends = env.task, np.random.default_rng(1), set()
    observations, infos = env.reset(seed=2)
    for _ in range(80):
        states = list(env.states)
        masks = infos["action_mask"].astype(bool)
        assert observations in env.observation_space
        assert observations == pytest.approx(np.array([observed(task, s) for s in states]))
        assert masks.tolist() == [mask_of(task, env, s) for s in states]
        assert (env.action_masks() == masks).all()
        actions = drawn(masks, rng)
        assert actions in env.action_space
        observations, rewards, terminated, truncated, infos = env.step(actions)
        ended = terminated | truncated
        assert ("final_obs" in infos) == ended.any()
        for i, after in enumerate(env.next_states):
            name = env.interface.outputs[actions[i]]
            assert after in rests(task, task.outcomes(states[i], name))
            result = infos["final_info"]["result"][i] if ended[i] else None
            assert result == result_of(task, after) or result == "cut"
            assert truncated[i] == (result == "cut")
            assert rewards[i] == pytest.approx(REWARDS[result] + STEP)
            assert (env.states[i] == after) or ended[i]
            ends.add(result)
        if ended.any():
            check_final(env, infos, ended)
    assert len(ends) > 1


def check_final(env, infos, ended):
    """Gymnasium's form: a mask beside each entry, object arrays of observations."""
    final = infos["final_info"]
    for mask in (infos["_final_obs"], infos["_final_info"], final["_result"]):
        assert (mask == ended).all()
    for i, state in enumerate(env.next_states):
        if not ended[i]:
            assert infos["final_obs"][i] is None
            assert final["result"][i] is None
            continue
        assert infos["final_obs"][i] == pytest.approx(observed(env.task, state))
        wanted = mask_of(env.task, env, state)
        assert final["action_mask"][i].tolist() == wanted


def test_gymnasium_s_own_vector_environment_has_infos_of_this_form():
    """Keys, types and shapes are those of SyncVectorEnv over TaskEnv."""
    own = VectorTaskEnv(lamp(), 3, max_steps=1)
    theirs = gymnasium.vector.SyncVectorEnv(
        [lambda: TaskEnv(lamp(), max_steps=1)] * 3, autoreset_mode=AutoresetMode.SAME_STEP
    )
    own.reset(seed=0), theirs.reset(seed=0)
    ours, other = own.step([0, 0, 0])[-1], theirs.step([0, 0, 0])[-1]
    assert forms(ours) == {k: v for k, v in forms(other).items() if "state" not in k}


def forms(infos, prefix=""):
    found = {}
    for name, value in infos.items():
        if isinstance(value, dict):
            found |= forms(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = (value.dtype, value.shape)
    return found


def test_seeds():
    def steps(env, seed):
        rng = np.random.default_rng(0)
        observations, infos = env.reset(seed=seed)
        seen = [observations.tolist()]
        for _ in range(30):
            observations, _, _, _, infos = env.step(drawn(infos["action_mask"], rng))
            seen.append(observations.tolist())
        return seen

    env = VectorTaskEnv(LINE, 4)
    first = steps(env, 5)
    assert steps(env, 6) != first
    assert steps(env, 5) == steps(VectorTaskEnv(LINE, 4), 5) == first
    wide = steps(VectorTaskEnv(LINE, 6), 5)
    assert wide[0][:4] == first[0]  # a run does not depend on how many there are
    rows = {str(row) for row in VectorTaskEnv(LINE, 50).reset(seed=0)[0].tolist()}
    assert len(rows) > 5


def test_resets_without_seed_begin_other_runs():
    env = VectorTaskEnv("domain:one-way-line?packages=3&locations=5", 8)
    first = env.reset(seed=0)[0]
    assert not (env.reset()[0] == first).all()
    assert (env.reset(seed=0)[0] == first).all()


def test_returned_arrays_stay_as_they_are():
    env = VectorTaskEnv(LINE, 5)
    observations, infos = env.reset(seed=0)
    kept = [observations, infos["action_mask"], env.action_masks()]
    copies = [array.copy() for array in kept]
    rng = np.random.default_rng(0)
    for _ in range(20):
        result = env.step(drawn(env.action_masks(), rng))
        kept += [*result[:4], result[-1]["action_mask"]]
        copies += [array.copy() for array in kept[len(copies) :]]
    assert all((a == b).all() for a, b in zip(kept, copies, strict=True))


def test_masked_samples_are_always_applicable():
    env = VectorTaskEnv(LINE, 6)
    env.action_space.seed(0)
    _, infos = env.reset(seed=0)
    for _ in range(200):
        *_, infos = env.step(env.action_space.sample(tuple(infos["action_mask"])))


@pytest.mark.parametrize(
    ("actions", "code", "text"),
    [
        ([0, 2, 0], "not-applicable", "environment 1"),
        ([0, 0, 3], "bad-action", "environment 2"),
        ([-1, 0, 0], "bad-action", "environment 0"),
        ([0, 2**32, 0], "bad-action", "environment 1"),
        ([0, 0], "bad-action", "3 whole numbers"),
        ([0.0, 0.0, 0.0], "bad-action", "float64"),
    ],
)
def test_bad_actions_change_nothing(actions, code, text):
    env = VectorTaskEnv(lamp(), 3, starts=[DIM])
    env.reset(seed=0)
    with pytest.raises(InputError, match=text) as caught:
        env.step(actions)
    assert caught.value.code == code
    assert [dict(state) for state in env.states] == [DIM] * 3
    env.step([1, 1, 1])


def test_a_step_before_the_first_reset_is_refused():
    with pytest.raises(InputError, match="reset"):
        VectorTaskEnv(lamp(), 2).step([0, 0])


@pytest.mark.parametrize(
    ("count", "more"),
    [(0, {}), (-1, {}), ("two", {}), (2, {"invalid": "ignore"}), (2, {"render_mode": "svg"})],
)
def test_bad_options(count, more):
    with pytest.raises(InputError):
        VectorTaskEnv(lamp(), count, **more)


def test_options_of_reset_are_refused():
    with pytest.raises(InputError, match="starts="):
        VectorTaskEnv(lamp(), 2).reset(options={"state": DIM})


def test_python_defined_tasks_are_not_supported():
    with pytest.raises(Unsupported):
        VectorTaskEnv(PythonTask(Coin()), 2)


def test_all_states_are_rendered():
    env = VectorTaskEnv(lamp(), 2, starts=[DIM], render_mode="ansi")
    env.reset(seed=0)
    assert env.render() == ("light=1,broken=false\n",) * 2
    drawn_line = VectorTaskEnv(domain("one-way-line"), 2, render_mode="svg")
    drawn_line.reset(seed=0)
    assert all(text.startswith("<svg") for text in drawn_line.render())
    assert VectorTaskEnv(lamp(), 2).render() is None


def test_statistics_of_gymnasium_understand_it():
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(VectorTaskEnv(lamp(), 4, max_steps=5))
    _, infos = env.reset(seed=0)
    rng, lengths = np.random.default_rng(0), []
    for _ in range(50):
        *_, infos = env.step(drawn(infos["action_mask"], rng))
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
    assert set(lengths) <= set(range(1, 6))
    assert len(lengths) > 10
