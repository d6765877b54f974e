"""Policies and oracles come back from a pickle with the same decisions, or say why they cannot."""

from __future__ import annotations

import pickle

import pytest

import surefoot
from surefoot.errors import Unsupported
from surefoot.policies import as_policy
from surefoot.policies.shield import ShieldedPolicy
from surefoot.tasks.task import Task

TASK = "domain:two-way-line?packages=2&locations=6&variant=icy"
TREES = "builtin:two-way-line-icy-trees"


@pytest.fixture(scope="module")
def task() -> Task:
    return surefoot.load_task(TASK)


@pytest.fixture(scope="module")
def states(task: Task) -> list[surefoot.State]:
    runs = surefoot.simulate(task, policy=TREES, runs=5, max_steps=20, seed=1).runs
    return [state for run in runs for state in run.states[:-1]]


def policy_of(kind: str, task: Task, states: list[surefoot.State]) -> surefoot.Policy:
    if kind == "table":
        decisions = surefoot.load_policy("random?seed=7", task).decide_all(states)
        return as_policy(dict(zip(states, decisions, strict=True)), task)
    if kind == "shield":
        base = surefoot.load_policy(TREES, task)
        return ShieldedPolicy(base, {states[0]: task.applicable(states[0])[-1]}, name="shield")
    return surefoot.load_policy(kind, task)


@pytest.mark.parametrize("kind", ["first", "random?seed=7", TREES, "table", "shield"])
def test_a_policy_decides_as_before(kind: str, task: Task, states: list[surefoot.State]) -> None:
    policy = policy_of(kind, task, states)
    policy.name = "renamed"
    again = pickle.loads(pickle.dumps(policy))
    assert type(again) is type(policy)
    assert again.decide_all(states) == policy.decide_all(states)
    for member in ("name", "file", "sha256", "notes", "unfiltered"):
        assert getattr(again, member) == getattr(policy, member)


def test_a_policy_and_its_task_stay_together(task: Task) -> None:
    policy = surefoot.load_policy(TREES, task)
    again, own_task = pickle.loads(pickle.dumps((policy, task)))
    assert again.task is own_task


def test_a_policy_that_is_python_code_says_that_it_cannot_be_pickled(task: Task) -> None:
    policy = as_policy(lambda state: task.applicable(state)[0], task)
    with pytest.raises(Unsupported, match="cannot be pickled: it is Python code"):
        pickle.dumps(policy)


def test_an_oracle_answers_as_before(task: Task, states: list[surefoot.State]) -> None:
    oracle = surefoot.Oracle(task, policy=TREES, radius=1)
    verdicts = [oracle.decide(state).verdict for state in states[:10]]
    again = pickle.loads(pickle.dumps(oracle))
    assert [again.decide(state).verdict for state in states[:10]] == verdicts
    assert again.options == oracle.options
