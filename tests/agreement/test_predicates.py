"""Predicate abstraction against explicit verification; every certificate is checked."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest
from tests.support.boxes import KINDS, learned_policy, small_task
from tests.support.tree_policies import assert_is_failing_run

from surefoot import InputError, verify
from surefoot.tasks.expressions import variable
from surefoot.tasks.jani.writer import to_jani

pytest.importorskip("z3")

TASKS = 400
PLANTED = 60


def cases(first, count):
    """Yield random small tasks with trees and networks."""
    for seed in range(first, first + count):
        task = small_task(seed)
        yield seed, task, policy_for(task, seed)


def policy_for(task, seed):
    kind = KINDS[seed % len(KINDS)]
    kind = "trees" if kind == "rules" else kind
    return learned_policy(kind, task, seed, unfiltered=seed % 5 == 0)


def answer(task, policy, method, **options):
    try:
        return verify(task, policy, method=method, max_seconds=60, **options)
    except InputError as error:
        return error.code


def compare(task, policy, seen, **options):
    """Hold predicates against explicit verification; count what they said."""
    expected = answer(task, policy, "explicit")
    found = answer(task, policy, "predicates", certificate=True, **options)
    if isinstance(found, str):
        assert found == expected, (found, expected)
        seen[found] += 1
        return
    seen[found.verdict] += 1
    if found.verdict == "safe":
        assert not isinstance(expected, str), expected
        assert expected.verdict == "safe"
        found.certificate.check()
    elif found.verdict == "unsafe":  # explicit search may come to an error before it
        is_error = isinstance(expected, str)
        assert expected.startswith("model-") if is_error else expected.verdict == "unsafe"
        assert_is_failing_run(task, policy, found.run)


def test_random_tasks():
    seen: Counter[str] = Counter()
    for _, task, policy in cases(20_000, TASKS):
        compare(task, policy, seen)
    assert seen["safe"] > TASKS / 6, seen
    assert seen["unsafe"] > TASKS / 4, seen
    assert seen["model-out-of-range"] > 0, seen
    assert seen["unknown"] <= TASKS / 100, seen


def conditions_of(task):
    """Return the guards as JANI has them."""
    model = to_jani(task.description)
    found = [e["guard"]["exp"] for a in model["automata"] for e in a["edges"] if "guard" in e]
    return [each for each in found if isinstance(each, dict)]


def test_random_tasks_with_random_predicates(tmp_path):
    """Whatever predicates there are to begin with, the verdict is the same."""
    seen: Counter[str] = Counter()
    for seed, task, policy in cases(30_000, TASKS // 4):
        rng = random.Random(seed)
        known = conditions_of(task)
        file = tmp_path / "predicates.jani"
        file.write_text(json.dumps(rng.sample(known, min(len(known), rng.randint(1, 3)))))
        compare(task, policy, seen, predicates=str(file))
    assert seen["unknown"] <= TASKS // 100, seen
    assert min(seen["safe"], seen["unsafe"]) > 10, seen


def test_a_planted_failing_run_is_never_called_safe():
    """Fail is put where a run of a safe policy ends."""
    planted = 0
    for seed, task, policy in cases(40_000, 4 * PLANTED):
        result = answer(task, policy, "explicit")
        if isinstance(result, str) or result.verdict != "safe":
            continue
        rng = random.Random(seed)
        state = last_state(task, policy, rng)
        other = spoilt(seed, state)
        again = policy_for(other, seed)
        if answer(other, again, "explicit").verdict != "unsafe":
            continue
        planted += 1
        assert answer(other, again, "predicates").verdict == "unsafe", seed
    assert planted >= PLANTED / 2


def last_state(task, policy, rng):
    """Return a state that a run of the policy comes to."""
    state = rng.choice(task.list_starts())
    for _ in range(rng.randint(1, 6)):
        if task.is_goal(state) or not task.applicable(state):
            break
        try:
            action = policy.decide(state)
        except InputError:
            break
        if action not in task.applicable(state):
            break
        state = rng.choice(task.outcomes(state, action))
    return state


def spoilt(seed, state):
    """Return the random task with fail in one more state."""
    task = small_task(seed)
    description = task.description
    condition = None
    for v in task.variables:
        here = variable(v.name, v.type) == state[v.name]
        condition = here if condition is None else condition & here
    description.fail(description.fail_condition | condition)
    return description.compile()
