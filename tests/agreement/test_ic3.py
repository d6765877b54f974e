"""IC3 against explicit verification, and what it says about a proof checked state by state."""

from __future__ import annotations

import copy
import functools
import itertools
import math
import operator
import random
from collections import Counter

import pytest
from tests.support.agreement import compare_calm_models
from tests.support.explicit_policies import compiled, lively_task, policy_of_kind
from tests.support.tree_policies import (
    assert_is_failing_run,
    assert_proves_safety,
    count_within,
    random_tree_policy,
    random_tree_task,
    slow_driver,
    steps_of,
)

from surefoot import InputError, Unsupported, load_policy, load_task, verify
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy
from surefoot.tasks.expressions import variable
from surefoot.verify.ic3 import Verification, method
from surefoot.verify.question import Question

pytest.importorskip("pysat")

TASKS = 400
MODELS = 300
MAX_STATES = 20_000


def answer_of(task, policy):
    """Return the verification, done, and its result; the code of the error if there was one."""
    question = Question(task, policy, VerifyOptions(max_seconds=60.0), None, False)
    try:
        verification = Verification(question)
        return verification, verification.run()
    except InputError as error:
        return None, error.code
    except Unsupported as error:
        assert error.code == "engine-lacks-feature"
        return None, "unsupported"


def explicit_answer(task, policy):
    try:
        return verify(task, policy, method="explicit").verdict
    except InputError as error:
        return error.code


def compare(task, policy, seen, *, is_calm=True):
    """Hold IC3 against explicit verification; count what it said."""
    verification, found = answer_of(task, policy)
    if found == "unsupported":
        seen[found] += 1
        return
    expected = explicit_answer(task, policy)
    if isinstance(found, str):
        assert not is_calm and expected not in ("safe", "unknown"), (found, expected)
        seen["error"] += 1
        return
    seen[found.verdict] += 1
    seen["near ties"] += verification.search.system.settled
    seen["went on"] += verification.queries > verification.search.queries
    if found.verdict == "safe":
        assert expected == "safe"
        boxes = verification.search.invariant
        assert (found.boxes, found.all_starts) == (len(boxes), True)
        if count_within(task) <= MAX_STATES:
            assert_proves_safety(task, policy, boxes, verification.constraints)
        return
    assert found.verdict == "unsafe", found
    assert expected == "unsafe" or not is_calm, expected
    assert_is_failing_run(task, policy, found.run)


def random_cases(*, errors=False):
    """Yield random tasks with policies, and what they are called."""
    for seed in range(TASKS):
        made = random_tree_task(seed, errors=errors)
        if made is not None:
            yield f"random_tree_task({seed}, errors={errors})", *made


@pytest.mark.fuzz
@pytest.mark.parametrize("errors", [False, True])
def test_random_tasks(errors):
    seen = Counter()
    for name, task, policy in random_cases(errors=errors):
        try:
            compare(task, policy, seen, is_calm=not errors)
        except Exception as error:
            raise AssertionError(name) from error
    assert seen["unsupported"] == 0, seen
    assert min(seen["safe"], seen["unsafe"]) > 40, seen
    assert seen["error"] > 20 or not errors, seen
    assert seen["near ties"] > 3, seen


@pytest.mark.fuzz
def test_scores_of_few_bits_first(monkeypatch):
    """Almost everything is a near tie, and the search goes on with more bits."""
    monkeypatch.setattr(method, "PRECISIONS", ((2, 0), (5, 1), (24, math.inf)))
    seen = Counter()
    for name, task, policy in random_cases(errors=True):
        try:
            compare(task, policy, seen, is_calm=False)
        except Exception as error:
            raise AssertionError(name) from error
    assert min(seen["safe"], seen["unsafe"], seen["error"]) > 20, seen
    assert seen["went on"] > 10, seen


@pytest.mark.fuzz
def test_certificates_are_accepted():
    accepted = 0
    for name, task, policy in itertools.islice(random_cases(), TASKS // 4):
        question = Question(task, policy, VerifyOptions(max_seconds=60.0), None, True)
        found = Verification(question).run()
        if found.verdict == "safe":
            assert found.certificate.size == found.boxes, name
            found.certificate.check()
            accepted += 1
    assert accepted > 20, accepted


@pytest.mark.fuzz
def test_a_fail_state_planted_on_a_run_is_found():
    """The state at the end of some run fails, and nothing else: never safe."""
    rng, planted = random.Random(0), 0
    for name, task, policy in random_cases():
        state = rng.choice(task.list_starts())
        for _ in range(rng.randint(0, 6)):
            state = rng.choice(steps_of(task, policy, state) or [state])
        d = copy.copy(task.description)
        is_here = [variable(v.name, v.type) == state[v.name] for v in task.variables]
        d.fail_condition = functools.reduce(operator.and_, is_here)
        spoilt = d.compile()
        same = as_policy(
            policy.model, spoilt, interface=policy.interface, unfiltered=policy.unfiltered
        )
        _, found = answer_of(spoilt, same)
        assert found.verdict == "unsafe", name
        assert found.run.states[-1] == spoilt.state(state.to_dict())
        assert_is_failing_run(spoilt, same, found.run)
        planted += 1
    assert planted > 200, planted


@pytest.mark.fuzz
def test_explicit_tasks():
    """Tasks of one variable with an edge for each state and action; many have listed starts."""
    seen = Counter()
    for seed in range(TASKS // 2):
        rng = random.Random(seed)
        explicit = lively_task(rng)
        starts = rng.sample(list(explicit.states), rng.randint(1, len(explicit.table)))
        task = compiled(explicit, starts=starts)
        policy = policy_of_kind("trees", explicit, task, rng, ())
        compare(task, policy, seen)
    assert min(seen["safe"], seen["unsafe"]) > 15, seen


@pytest.mark.fuzz
def test_random_models(tmp_path):
    """Models as files: arrays, transient variables, silent actions, several elements."""
    seen = Counter()

    def compare_model(task, explicit, starts, seed):
        if len(task.actions) > len(task.silent):
            compare(task, random_tree_policy(random.Random(seed), task), seen)
        return 1

    compare_calm_models(tmp_path, range(MODELS), compare_model, max_starts=2000, max_states=500)
    assert seen["safe"] + seen["unsafe"] > 30, seen


LINES = {
    "3 packages": "packages=3&locations=4",
    "5 packages": "packages=5&locations=5",
    "ice": "packages=4&locations=5&variant=icy-park",
}


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("wrong", [0.0, 0.5])
def test_imitated_policies_of_lines(name, wrong):
    """A policy that imitates a slow driver is safe; one that learned from a wild one as well, or
    not: both methods say the same.
    """
    pytest.importorskip("xgboost")
    task = load_task(f"domain:one-way-line?{LINES[name]}")
    policy = as_policy(slow_driver(task, wrong=wrong), task)
    seen = Counter()
    compare(task, policy, seen)
    assert seen["safe"] == 1 or wrong, seen


def test_shipped_policies():
    """Small tasks with the trees that come with Surefoot."""
    seen = Counter()
    for name, spec in (
        ("layered-trees", "domain:layered"),
        ("staircase-trees", "domain:staircase"),
        ("transport-drop-trees", "domain:transport?size=small&variant=drop"),
    ):
        task = load_task(spec)
        compare(task, load_policy(f"builtin:{name}", task), seen)
    assert seen["safe"] == 1 and seen["unsafe"] == 2, seen
