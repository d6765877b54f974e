"""Gymnasium environments as tasks: tables exactly, others by samples."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import surefoot
from surefoot import InputError, Unsupported, from_gym, load_task
from surefoot.errors import SurefootError
from surefoot.tasks.gym.rules import Ending, EndRules, rule_of
from surefoot.tasks.gym.tables import TableStep, cover, ends_of
from surefoot.tasks.task import Feature

TABLES = {
    "FrozenLake-v1": (16, 4, 1),
    "Taxi-v4": (804, 400, 4),
    "CliffWalking-v1": (39, 1, 1),
}
"""reachable states, those that fail, goals"""


# -- tables --------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", TABLES)
def test_table_is_an_exact_compiled_task(env_id):
    states, fail, goal = TABLES[env_id]
    task = from_gym(env_id)
    found = surefoot.explore(task)
    assert (found.states, found.fail, found.goal) == (states, fail, goal)
    assert found.complete
    assert task.features == frozenset(Feature)
    assert not task.is_sampled
    assert task.sha256 == from_gym(env_id).sha256


@pytest.mark.parametrize(
    "env_id", [pytest.param(e, marks=pytest.mark.slow) if "Taxi" in e else e for e in TABLES]
)
def test_steps_and_probabilities_are_those_of_the_table(env_id):
    """Held against the table itself, from every start state on, to all that is reachable."""
    task = from_gym(env_id)
    table = gymnasium.make(env_id).unwrapped.P
    starts = [state for state, _ in zip(task.list_starts(), range(20), strict=False)]
    waiting = [(number_of(task, state), state) for state in starts]
    seen = {state for _, state in waiting}
    for number, state in waiting:
        for at, action in enumerate(task.actions):
            expected = {}
            for probability, target, _, _ in table[number][at]:
                expected[int(target)] = expected.get(int(target), 0.0) + probability
            (choice,) = (each for each in task.choices(state) if each.action == action)
            found = {}
            for outcome, weight in zip(choice.outcomes, choice.weights, strict=True):
                found[number_of(task, outcome)] = weight / sum(choice.weights)
                if not (outcome in seen or task.is_fail(outcome) or task.is_goal(outcome)):
                    seen.add(outcome)
                    waiting.append((number_of(task, outcome), outcome))
            assert found == pytest.approx(expected)


def number_of(task, state):
    """Return the number that the environment has for a state of the task."""
    if "state" in task.names:
        return state["state"]
    parts = (state[name] for name in ("row", "column", "passenger", "destination"))
    return gymnasium.make("Taxi-v4").unwrapped.encode(*parts)


def test_fall_that_is_no_state_leads_to_a_sink():
    task = from_gym("CliffWalking-v1")
    assert task.names == ("state", "failed")
    assert task.actions == ("up", "right", "down", "left")
    (fallen,) = task.outcomes({"state": 36, "failed": False}, "right")
    assert dict(fallen) == {"state": 36, "failed": True}
    assert task.is_fail(fallen)
    assert task.is_goal({"state": 47, "failed": False})


def test_holes_are_states_that_fail():
    task = from_gym("FrozenLake-v1")
    assert task.names == ("state",)
    assert [n for n in range(16) if task.is_fail({"state": n})] == [5, 7, 11, 12]
    assert [n for n in range(16) if task.is_goal({"state": n})] == [15]
    assert task.list_starts() == [task.state(state=0)]


def test_rules_parameters_and_options_are_taken():
    task = load_task("gym:FrozenLake-v1?map_name=8x8&is_slippery=false")
    assert surefoot.explore(task).states == 64
    assert len(task.outcomes({"state": 0}, "right")) == 1
    safe = from_gym("CliffWalking-v1", fail="never")
    assert surefoot.explore(safe).fail == 0
    assert "no step fails" in safe.description.warnings[0].message
    by_function = from_gym(
        "CliffWalking-v1", fail=lambda observation, reward, terminated, info: reward == -100
    )
    assert by_function.sha256 == from_gym("CliffWalking-v1").sha256


def test_terminal_steps_that_neither_fail_nor_reach_the_goal_end_runs():
    task = from_gym("FrozenLake-v1", fail="never", goal="never")
    assert surefoot.explore(task).dead_ends == 5


def test_state_that_is_entered_in_two_ways_keeps_both():
    table = [
        [[TableStep(0.5, 1, Ending.NONE), TableStep(0.5, 1, Ending.FAIL)]],
        [[TableStep(1.0, 0, Ending.GOAL)]],
    ]
    assert ends_of(table, [0]) == {}


def test_cover_joins_neighbours_along_every_axis():
    square = [(x, y) for x in range(3) for y in range(4)]
    assert cover(square) == [((0, 2), (0, 3))]
    boxes = cover([*square, (5, 5)])
    assert sorted(boxes) == [((0, 2), (0, 3)), ((5, 5), (5, 5))]


def test_bad_table_is_refused():
    env = gymnasium.make("FrozenLake-v1")
    env.unwrapped.P = {0: {0: [(0.5, 0, 0.0, False)]}}
    with pytest.raises(InputError) as caught:
        from_gym(env)
    assert caught.value.code == "bad-environment"


# -- rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, expected",
    [
        ("terminated", Ending.FAIL),
        ("~terminated", Ending.OVER),
        ("terminated & reward <= -2", Ending.FAIL),
        ("reward > -2", Ending.OVER),
        ("info.lives < 1", Ending.FAIL),
        ("info.lives", Ending.OVER),
        ("never", Ending.OVER),
    ],
)
def test_rules_as_text(text, expected):
    rules = EndRules(rule_of(text, "fail"), rule_of("never", "goal"))
    assert rules.end(None, -2.0, True, {"lives": 0}) == expected


@pytest.mark.parametrize("text", ["reward", "rewards < 0", "reward < much", "terminated | x", ""])
def test_bad_rules_are_refused(text):
    with pytest.raises(InputError) as caught:
        rule_of(text, "fail")
    assert caught.value.code == "bad-option"


def test_what_fails_is_not_guessed():
    gymnasium.register("surefoot-test/Walk-v0", entry_point=Walk)
    with pytest.raises(InputError) as caught:
        from_gym("surefoot-test/Walk-v0")
    assert caught.value.code == "gym-no-fail"
    assert "--task.fail" in caught.value.hint


# -- sampled -------------------------------------------------------------------------------------


class Walk(gymnasium.Env):
    """From 0 to 3; a step may go one further, and beyond 3 there is a fall."""

    observation_space = spaces.Discrete(6)
    action_space = spaces.Discrete(2)

    def __init__(self, luck=0.5):
        self.at, self.luck = 0, luck

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        further = action == 1 and self.np_random.random() < self.luck
        self.at += 1 + further
        return self.at, float(self.at == 3), self.at >= 3, False, {}


RULES = {"fail": "terminated & reward <= 0"}


def test_outcomes_are_those_that_were_seen():
    task = from_gym(Walk(), **RULES)
    start = task.initial_state()
    assert dict(start) == {"observation": 0, "end": 0}
    assert task.actions == ("0", "1")
    assert [s["observation"] for s in task.outcomes(start, "0")] == [1]
    assert {s["observation"] for s in task.outcomes(start, "1")} == {1, 2}
    found = surefoot.explore(task)
    assert (found.states, found.fail, found.goal) == (5, 1, 1)
    rare = from_gym(Walk(luck=1e-9), seeds=3, **RULES)
    assert surefoot.explore(rare).fail == 0


def test_samples_are_the_same_every_time():
    first, second = (from_gym(Walk(luck=0.1), **RULES) for _ in range(2))
    assert surefoot.explore(first).outcomes == surefoot.explore(second).outcomes
    assert [str(s) for s in first.outcomes(first.initial_state(), "1")] == [
        str(s) for s in second.outcomes(second.initial_state(), "1")
    ]


def test_every_verdict_says_that_outcomes_were_sampled():
    task = from_gym(Walk(), **RULES)
    assert task.is_sampled
    assert "sampled" in task.name
    words = "as far as outcomes were sampled"
    answer = surefoot.decide(task, task.initial_state())
    assert answer.verdict == "safe"
    assert answer.sampled
    assert words in str(answer)
    assert answer.to_dict()["sampled"] is True
    verified = surefoot.verify(task, lambda state: "0")
    assert verified.verdict == "safe"
    assert words in str(verified)
    assert verified.to_dict()["sampled"] is True
    assert words in str(surefoot.evaluate(task, lambda state: "0"))
    runs = surefoot.fuzz(task, lambda state: "1", runs=20)
    faults = surefoot.find_faults(task, lambda state: "1", runs.failing)
    assert faults.faults
    assert words in str(faults)
    assert faults.to_dict()["sampled"] is True


def test_tasks_of_other_kinds_are_not_marked():
    task = surefoot.domain("layered")
    answer = surefoot.decide(task, task.initial_state())
    assert not answer.sampled
    assert "sampled" not in answer.to_dict()


def test_save_and_restore_are_used_in_place_of_copies():
    env = Walk()
    env.lock = open(__file__)  # noqa: SIM115 - cannot be copied
    with env.lock:
        with pytest.raises(Unsupported) as caught:
            from_gym(env, **RULES)
        assert caught.value.code == "gym-no-snapshot"

        def restore(env, at):
            env.at = at

        task = from_gym(env, save=lambda env: env.at, restore=restore, **RULES)
        assert surefoot.explore(task).states == 5


def test_key_tells_states_apart():
    task = from_gym(Walk(), key=lambda observation, env: {"at": env.at, "odd": env.at % 2}, **RULES)
    assert task.names == ("at", "odd", "end")
    assert task.observation(task.initial_state()) == 0
    with pytest.raises(InputError) as caught:
        from_gym(Walk(), key=lambda observation, env: [[env.at]], **RULES)
    assert caught.value.code == "bad-key"


class Seen(gymnasium.Env):
    """Shows what it is told to show, and never moves."""

    action_space = spaces.Discrete(2)

    def __init__(self, space, shown):
        self.observation_space, self.shown = space, shown

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.shown, {}

    def step(self, action):
        return self.shown, 0.0, False, False, {}


def test_observations_become_variables_and_inputs():
    image = np.arange(4, dtype=np.uint8).reshape(2, 2)
    space = spaces.Dict(
        {
            "image": spaces.Box(0, 255, (2, 2), np.uint8),
            "gear": spaces.Discrete(3, start=1),
            "flags": spaces.Tuple((spaces.MultiBinary(2), spaces.MultiDiscrete([2, 2]))),
        }
    )
    shown = {"image": image, "gear": np.int64(2), "flags": (np.array([1, 0]), np.array([0, 1]))}
    task = from_gym(Seen(space, shown), fail="never")
    state = dict(task.initial_state())
    assert {name: state[name] for name in state if name.startswith("image")} == {
        f"image[{i}]": i for i in range(4)
    }
    assert state["gear"] == 2
    assert (state["flags.0[0]"], state["flags.1[1]"]) == (1, 1)
    flat = spaces.flatten(space, shown)
    assert len(task.observed) == len(flat)
    fed = [
        float(all(state[name] == value for name, value in each.one_hot))
        if each.one_hot
        else state[each.variable]
        for each in task.observed
    ]
    assert fed == list(flat)


def test_network_is_fed_with_what_the_environment_shows():
    from surefoot.policies.models import Layer, Network

    task = from_gym(Walk(), **RULES)
    weights = np.zeros((2, 6))
    weights[1, 1] = 1.0
    policy = surefoot.load_policy(
        Network((Layer(weights, np.zeros(2), "linear"),), "float64"), task
    )
    (after,) = task.outcomes(task.initial_state(), "0")
    assert (policy.decide(task.initial_state()), policy.decide(after)) == ("0", "1")


# -- what cannot be a task -----------------------------------------------------------------------


class Smooth(Walk):
    action_space = spaces.Box(0, 1, (1,))


@pytest.mark.parametrize(
    "call, code",
    [
        (lambda: from_gym("FrozenLek-v1"), "unknown-environment"),
        (lambda: from_gym("FrozenLake-v1", parameters={"map_nme": "8x8"}), "bad-environment"),
        (lambda: from_gym(3), "not-an-environment"),
        (lambda: from_gym(Smooth(), **RULES), "gym-action-space"),
        (lambda: from_gym(Walk(), seeds=0, **RULES), "bad-option"),
        (lambda: from_gym(Walk(), save=lambda env: 0, **RULES), "bad-option"),
        (lambda: load_task("gym:FrozenLake-v1", constants={"N": 3}), "bad-option"),
        (lambda: load_task(3), "not-a-task"),
        (lambda: surefoot.explore(gymnasium.make("FrozenLake-v1")), "not-a-task"),
    ],
)
def test_what_cannot_be_a_task_is_refused(call, code):
    with pytest.raises(SurefootError) as caught:
        call()
    assert caught.value.code == code


def test_load_task_takes_an_environment():
    task = load_task(gymnasium.make("FrozenLake-v1"))
    assert task.sha256 == from_gym("FrozenLake-v1").sha256
    with pytest.raises(InputError) as caught:
        surefoot.explore(gymnasium.make("FrozenLake-v1"))
    assert "from_gym" in caught.value.hint


# -- MiniGrid ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lava():
    pytest.importorskip("minigrid")
    return from_gym("minigrid:MiniGrid-LavaGapS5-v0")


def ahead(state):
    return "forward"


def test_lava_gap_end_to_end(lava):
    assert lava.names == ("x", "y", "direction", "carrying", "grid", "end")
    assert lava.actions[:3] == ("left", "right", "forward")
    found = surefoot.explore(lava)
    assert (found.states, found.fail, found.goal) == (20, 3, 1)
    assert surefoot.decide(lava, lava.initial_state()).verdict == "safe"
    assert surefoot.evaluate(lava, ahead).unsafe_fraction in (0.0, 1.0)

    def reckless(state):
        return "forward" if state["x"] < 2 else "right" if state["direction"] == 0 else "forward"

    runs = surefoot.fuzz(lava, reckless, runs=10)
    assert runs.failing
    faults = surefoot.find_faults(lava, reckless, runs.failing)
    assert faults.faults
    assert all(fault.alternatives for fault in faults.faults)
    assert surefoot.verify(lava, lambda state: "left").verdict == "safe"
