"""What Gymnasium knows about Surefoot, and that nobody else has to know Gymnasium."""

import subprocess
import sys

import pytest

from surefoot import InputError
from surefoot.domains import DOMAINS, domain_family

gymnasium = pytest.importorskip("gymnasium")
pytestmark = pytest.mark.filterwarnings("error")

from gymnasium.utils.env_checker import check_env  # noqa: E402

import surefoot.gym  # noqa: E402
from surefoot.gym.registration import OPTIONS, id_of  # noqa: E402


def test_ids():
    assert id_of("one-way-line") == "surefoot/OneWayLine-v0"
    assert id_of("n-puzzle") == "surefoot/NPuzzle-v0"
    known = {name for name in gymnasium.registry if name.startswith("surefoot/")}
    assert known == {*map(id_of, DOMAINS), "surefoot/Task-v0"}


def test_to_register_again_changes_nothing():
    before = dict(gymnasium.registry)
    surefoot.gym.register()  # Gymnasium warns of a name that is registered twice
    assert before == gymnasium.registry


@pytest.mark.parametrize("name", DOMAINS)
def test_gymnasium_finds_nothing_wrong_with_a_family(name):
    env = gymnasium.make(id_of(name))
    assert set(env.unwrapped.metadata["render_modes"]) == {"ansi", "svg"}
    check_env(env.unwrapped)


@pytest.mark.parametrize("name", DOMAINS)
def test_families_make_vectors(name):
    envs = gymnasium.make_vec(id_of(name), num_envs=3)
    assert isinstance(envs, surefoot.gym.VectorTaskEnv)
    _, infos = envs.reset(seed=0)
    for _ in range(5):
        *_, infos = envs.step(infos["action_mask"].argmax(1))
    assert envs.spec.id == id_of(name)


@pytest.mark.parametrize("name", DOMAINS)
def test_parameters_and_options_have_different_names(name):
    ours = {"domain_name", "num_envs", *OPTIONS}
    gymnasium_s = {"id", "max_episode_steps", "disable_env_checker"}
    gymnasium_s |= {"vectorization_mode", "vector_kwargs", "wrappers"}
    assert not {*domain_family(name).defaults, "size"} & (ours | gymnasium_s)


def test_keywords_are_parameters_of_the_family_or_options():
    env = gymnasium.make(
        "surefoot/OneWayLine-v0", size="15-10", variant="icy", step_reward=-0.5, max_steps=3
    )
    assert env.unwrapped.task.name == "one-way-line-15-10-icy"
    _, info = env.reset(seed=0)
    _, reward, _, _, info = env.step(info["action_mask"].argmax())
    assert reward == -0.5
    envs = gymnasium.make_vec("surefoot/OneWayLine-v0", num_envs=2, packages=2, locations=3)
    assert envs.task.name == "one-way-line-2-3-det"


@pytest.mark.parametrize(
    ("bad", "hint"), [({"step_rewrd": 0.0}, "step_reward"), ({"pakages": 2}, "packages")]
)
def test_misspelt_keywords(bad, hint):
    with pytest.raises(InputError, match=hint) as caught:
        gymnasium.make("surefoot/OneWayLine-v0", **bad)
    assert caught.value.code == "unknown-parameter"


def test_any_task():
    env = gymnasium.make("surefoot/Task-v0", task="domain:layered")
    assert env.reset(seed=0)[0] in env.observation_space
    envs = gymnasium.make_vec("surefoot/Task-v0", num_envs=2, task="domain:layered")
    assert envs.reset(seed=0)[0] in envs.observation_space


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )


def test_the_package_may_be_named_in_the_id():
    code = "import gymnasium; print(gymnasium.make('surefoot.gym:surefoot/Layered-v0').reset())"
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_without_gymnasium_the_import_says_what_to_install():
    done = run("import sys; sys.modules['gymnasium'] = None\nimport surefoot.gym")
    assert "ImportError: surefoot.gym needs gymnasium: pip install 'surefoot[gym]'" in done.stderr


def test_the_classes_come_when_they_are_asked_for():
    code = "import sys, surefoot.gym\nassert 'surefoot.gym.env' not in sys.modules\n"
    code += "surefoot.gym.TaskEnv\nassert 'surefoot.gym.vector' not in sys.modules\n"
    code += "assert dir(surefoot.gym) == ['Settings', 'TaskEnv', 'VectorTaskEnv', 'register']"
    done = run(code)
    assert done.returncode == 0, done.stderr
    with pytest.raises(AttributeError, match="no attribute 'Guess'"):
        surefoot.gym.Guess  # noqa: B018
