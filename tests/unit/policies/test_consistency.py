"""Policies that decide in one state now so and now so are refused, whoever asks."""

import itertools
import random

import numpy as np
import pytest
from tests.support.networks import grid

import surefoot
from surefoot import InputError, PythonTask, batched
from surefoot.policies.consistency import ASKED_TWICE, FIRST_TIMES, SPARSE


class Steps:
    """One or two steps forward, or none; fails at 9."""

    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["go", "wait"]

    def outcomes(self, state, action):
        return [(min(9, state[0] + n),) for n in (1, 2)] if action == "go" else [state]

    def is_goal(self, state):
        return state[0] == 8

    def is_fail(self, state):
        return state[0] == 9


def steps():
    return PythonTask(Steps(), name="steps", names=["x"])


COIN = random.Random(1)


def moody(state):
    return COIN.choice(["go", "wait"])


class Recalls:
    """Decides by all the states it was asked about so far."""

    def __init__(self):
        self.seen = 0

    def __call__(self, state):
        self.seen = (self.seen * 3 + state["x"]) % 7
        return "wait" if self.seen > 3 else "go"


STAGES = {
    "simulate": lambda task, policy: surefoot.simulate(task, policy=policy, runs=5),
    "fuzz": lambda task, policy: surefoot.fuzz(task, policy=policy, runs=5),
    "faults": lambda task, policy: surefoot.find_faults(
        task, policy, surefoot.fuzz(task, policy=policy, runs=50).failing
    ),
    "evaluate": lambda task, policy: surefoot.evaluate(task, policy),
    "verify": lambda task, policy: surefoot.verify(task, policy),
    "decide": lambda task, policy: surefoot.decide(task, task.state(x=1), policy=policy, radius=2),
}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("policy", [moody, Recalls()], ids=["moody", "recalls"])
def test_what_is_no_function_is_refused_at_once(stage, policy):
    with pytest.raises(InputError) as caught:
        STAGES[stage](steps(), policy)
    assert caught.value.code == "policy-not-deterministic"
    assert '"go"' in caught.value.message and '"wait"' in caught.value.message
    assert "in state x=" in caught.value.message


def test_the_doctor_says_so():
    report = surefoot.examine(steps(), policy=moody)
    assert "policy-not-deterministic" in [remark.code for remark in report.findings]


def test_a_change_of_mind_later_on_is_noticed_where_it_was_asked_before():
    task, answers = steps(), itertools.chain(["wait"] * 10, itertools.repeat("go"))
    policy = surefoot.load_policy(lambda state: next(answers), task)
    with pytest.raises(InputError, match="asked again on"):
        policy.decide_all([{"x": 0}] * 20)


def test_few_questions_are_asked_twice():
    task, asked = PythonTask(Line(), names=["x"]), []
    policy = surefoot.load_policy(lambda state: asked.append(state["x"]) or "on", task)
    count = 1_000
    policy.decide_all([{"x": x} for x in range(count)])
    assert len(asked) <= count + 2 * ASKED_TWICE + 2 * FIRST_TIMES + 2 * count / SPARSE
    assert set(asked) == set(range(count))
    before = len(asked)
    policy.decide_all([{"x": x} for x in range(count)])
    assert len(asked) == before + count


class Line:
    def start(self):
        return [(x,) for x in range(1_000)]

    def actions(self, state):
        return ["on", "back"]

    def outcomes(self, state, action):
        return [state]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return False


def scores_by(company):
    """Scores that depend on how many states are asked about together."""

    def scores(rows):
        made = np.tile([0.0, 1.0, 0.0, 0.0], (len(rows), 1))
        made[:, 2] = company(len(rows))
        return made

    return batched(scores)


def test_company_must_not_matter():
    policy = surefoot.load_policy(scores_by(lambda count: 2.0 * (count > 1)), grid(3, 4))
    with pytest.raises(InputError) as caught:
        policy.decide({"v0": 9, "v1": 9, "v2": 9})
    assert caught.value.code == "policy-not-deterministic"


def test_rounding_may_differ_and_the_first_decision_stands():
    policy = surefoot.load_policy(scores_by(lambda count: 1 + 1e-7 * (count - 3)), grid(3, 4))
    state = {"v0": 9, "v1": 9, "v2": 9}
    assert policy.decide(state) == "a1"
    assert policy.decide_all([{**state, "v2": v} for v in range(10)])[9] == "a1"
