"""Threads that share one policy get the answers that one thread gets alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

import surefoot
from surefoot.oracles import Oracle
from surefoot.policies import as_policy
from surefoot.policies.shield import ShieldedPolicy
from surefoot.tasks.task import Task

TASK = "domain:two-way-line?packages=2&locations=6&variant=icy"
POLICY = "builtin:two-way-line-icy-trees"
THREADS = 6
CALLS = {"evaluate": 200, "radius": 200, "decide_all": 200}
FEWER_CALLS = 18  # of questions that take longer
UNSAFE = 12


class Shared:
    """A task, a policy that threads share, and what is asked about them."""

    def __init__(self, task: Task, policy: surefoot.Policy) -> None:
        self.task, self.policy = task, policy
        fuzzed = surefoot.fuzz(task, policy, runs=60, seed=1, workers=1)
        self.runs = [run for run in fuzzed.runs if run.result == "fail"][:3]
        self.states = [run.start for run in fuzzed.runs][:20]

    def evaluate(self) -> object:
        return surefoot.evaluate(self.task, self.policy, workers=1).unsafe

    def radius(self) -> object:
        oracle = Oracle(self.task, policy=self.policy, radius=0)
        return [oracle.decide(state).verdict for state in self.states]

    def decide_all(self) -> object:
        return self.policy.decide_all(self.states * 20)

    def find_faults(self) -> object:
        faults = surefoot.find_faults(self.task, self.policy, self.runs).faults
        return [(fault.state, fault.action, fault.alternatives) for fault in faults]

    def fuzz(self) -> object:
        runs = surefoot.fuzz(self.task, self.policy, runs=40, seed=7, workers=2).runs
        return [(run.result, run.steps, run.start) for run in runs]

    def simulate(self) -> object:
        runs = surefoot.simulate(self.task, policy=self.policy, runs=20, seed=3).runs
        return [(run.result, run.actions) for run in runs]

    def verify(self) -> object:
        result = surefoot.verify(self.task, self.policy, method="explicit")
        return str(result.verdict)


QUESTIONS = ("evaluate", "radius", "decide_all", "find_faults", "fuzz", "simulate", "verify")
POLICIES = ("trees", "shield", "callable")


@pytest.fixture(scope="module")
def shared() -> Mapping[str, Shared]:
    """The same decisions, made by trees, by trees below a shield, and by Python."""
    task = surefoot.load_task(TASK)
    trees = surefoot.load_policy(POLICY, task)
    policies = {
        "trees": trees,
        "shield": ShieldedPolicy(trees, {}, name="shield"),
        "callable": as_policy(trees.decide, task),
    }
    return {name: Shared(task, policy) for name, policy in policies.items()}


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("question", QUESTIONS)
def test_threads_that_share_a_policy_get_the_answers_of_one(
    question: str, kind: str, shared: Mapping[str, Shared]
) -> None:
    ask: Callable[[], object] = getattr(shared[kind], question)
    alone = ask()
    calls = CALLS.get(question, FEWER_CALLS) if kind != "callable" else THREADS
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda _: ask(), range(calls)))
    wrong = [answer for answer in answers if answer != alone]
    assert not wrong, f"{len(wrong)} of {calls} answers are wrong"


@pytest.mark.parametrize("kind", POLICIES)
def test_different_questions_at_once_get_the_answers_of_one_thread(
    kind: str, shared: Mapping[str, Shared]
) -> None:
    asks: dict[str, Callable[[], object]] = {name: getattr(shared[kind], name) for name in CALLS}
    alone = {name: ask() for name, ask in asks.items()}
    names = [name for name in CALLS for _ in range(THREADS if kind == "callable" else 100)]
    with ThreadPoolExecutor(THREADS) as pool:
        answers = list(pool.map(lambda name: asks[name](), names[::2] + names[1::2]))
    asked = names[::2] + names[1::2]
    wrong = [name for name, answer in zip(asked, answers, strict=True) if answer != alone[name]]
    assert not wrong


@pytest.mark.parametrize("kind", POLICIES)
def test_twelve_start_states_are_unsafe_for_one_thread_alone(
    kind: str, shared: Mapping[str, Shared]
) -> None:
    assert shared[kind].evaluate() == UNSAFE
