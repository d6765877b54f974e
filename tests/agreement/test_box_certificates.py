"""Certificates of boxes: what the checker says about them is what looking at every state says."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tests.support.agreement import compare_calm_models
from tests.support.boxes import (
    KINDS,
    Truth,
    is_accepted,
    learned_policy,
    merged,
    neighbours,
    point,
    small_task,
)

from surefoot import InputError

TASKS = 150
PARTS = 6
MODELS = 600


def truths(seeds, *, unfiltered=False):
    """Yield random tasks and policies that have start states and no error among them."""
    for seed in seeds:
        try:
            task = small_task(seed)
            policy = learned_policy(KINDS[seed % len(KINDS)], task, seed, unfiltered=unfiltered)
            truth = Truth(task, policy)
        except InputError:
            continue
        yield seed, truth


def sums_of(truth, states):
    """Return constraints that states satisfy: the sum of all integers, and that of two."""
    ints = [v.name for v in truth.model.variables if v.kind == "int"]
    found = []
    for names in (ints, ints[:2]):
        factors = dict.fromkeys(names, 1)
        totals = [truth._sum(key, factors) for key in states]
        found.append((factors, min(totals), max(totals)))
    return found


def check(truth, file, boxes, constraints, *, blocked):
    """Assert that the checker says the truth; return it."""
    states = truth.states_of(boxes, constraints, blocked=blocked)
    expected = truth.proves(states)
    found = is_accepted(truth, file, boxes, constraints, blocked=blocked)
    assert found == expected, (boxes, constraints, blocked)
    return expected


def certificates_of(truth, states, rng):
    """Yield certificates of a closed set of states: boxes and constraints."""
    points = [point(key) for key in sorted(states)]
    yield points, [], False

    def is_closed(boxes, constraints=()):
        return truth.proves(truth.states_of(boxes, constraints, blocked=False))

    yield merged(points, is_closed, rng), [], False
    sums = sums_of(truth, states)[: rng.choice((1, 2))]
    yield merged(points, lambda boxes: is_closed(boxes, sums), rng), sums, False
    others = [point(key) for key in truth.all_states() if key not in states]
    yield others, [], True

    def is_apart(boxes):
        return not states & truth.states_of(boxes, [], blocked=False)

    yield merged(others, is_apart, rng), [], True
    yield merged(others, is_apart, rng), sums_of(truth, states), True


@pytest.mark.slow
@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(PARTS))
def test_the_checker_says_the_truth(part, tmp_path):
    seen = Counter()
    for seed, truth in truths(range(part, TASKS, PARTS)):
        states = truth.reached() if truth.starts else None
        if states is None:
            everything = [point(key) for key in truth.all_states()]
            assert not is_accepted(truth, tmp_path / "c.jsonl", everything)
            assert not is_accepted(truth, tmp_path / "c.jsonl", [], blocked=True)
            seen["unsafe"] += 1
            continue
        rng = random.Random(seed)
        for boxes, constraints, blocked in certificates_of(truth, states, rng):
            assert check(truth, tmp_path / "c.jsonl", boxes, constraints, blocked=blocked)
            seen["right"] += 1
            changed = list(neighbours(boxes, truth))
            for other in rng.sample(changed, min(12, len(changed))):
                how = check(truth, tmp_path / "c.jsonl", other, constraints, blocked=blocked)
                seen["still right" if how else "wrong"] += 1
            for others in changed_constraints(constraints):
                how = check(truth, tmp_path / "c.jsonl", boxes, others, blocked=blocked)
                seen["other constraints", how] += 1
    assert min(seen.values()) > 8 and len(seen) == 6, seen


def changed_constraints(constraints):
    """Yield constraints with a bound or a factor that is another one."""
    for number, (factors, lower, upper) in enumerate(constraints):
        name = next(iter(factors))
        for other in (
            (factors, lower + 1, upper),
            (factors, lower - 1, upper + 1),
            (factors, lower, upper - 1),
            ({**factors, name: 2}, lower, upper),
            ({**factors, name: -1}, lower, upper),
        ):
            yield [*constraints[:number], other, *constraints[number + 1 :]]
        yield [*constraints[:number], *constraints[number + 1 :]]


@pytest.mark.fuzz
def test_unfiltered_policies(tmp_path):
    seen = Counter()
    for seed, truth in truths(range(1000, 1000 + TASKS // 2), unfiltered=True):
        states = truth.reached() if truth.starts else None
        if states is None:
            continue
        rng = random.Random(seed)
        for boxes, constraints, blocked in certificates_of(truth, states, rng):
            assert check(truth, tmp_path / "c.jsonl", boxes, constraints, blocked=blocked)
            changed = list(neighbours(boxes, truth))
            for other in rng.sample(changed, min(5, len(changed))):
                seen[check(truth, tmp_path / "c.jsonl", other, constraints, blocked=blocked)] += 1
    assert min(seen[True], seen[False]) > 30, seen


@pytest.mark.fuzz
@pytest.mark.parametrize("part", range(2))
def test_random_models(part, tmp_path):
    """Models as files: transient variables, arrays, several elements, reals, silent actions."""
    file, seen = tmp_path / "c.jsonl", Counter()

    def compare(task, explicit, starts, seed):
        rng = random.Random(seed)
        if not task.names or not set(task.actions) - set(task.silent):
            return 0
        truth = Truth(task, learned_policy(KINDS[seed % len(KINDS)], task, seed))
        states = truth.reached()
        if states is None or len(states) > 200:
            return 0
        points = [point(key) for key in sorted(states)]
        assert is_accepted(truth, file, points)
        for left_out in rng.sample(sorted(states), min(4, len(states))):
            others = states - {left_out}
            is_proof = truth.proves(others)
            assert is_accepted(truth, file, [point(key) for key in others]) == is_proof
            seen["fewer", is_proof] += 1
        if num_states(truth) <= 1500:
            check_merged(truth, states, rng)
            seen["merged"] += 1
        return 1

    def check_merged(truth, states, rng):
        points = [point(key) for key in sorted(states)]

        def is_closed(boxes):
            return truth.proves(truth.states_of(boxes, [], blocked=False))

        boxes = merged(points[:40], lambda boxes: is_closed([*boxes, *points[40:]]), rng)
        boxes += points[40:]
        assert check(truth, file, boxes, [], blocked=False)
        changed = list(neighbours(boxes, truth))
        for other in rng.sample(changed, min(6, len(changed))):
            seen["changed", check(truth, file, other, [], blocked=False)] += 1
            seen["changed", check(truth, file, other, [], blocked=True)] += 1

    seeds = range(part, MODELS, 2)
    compare_calm_models(tmp_path, seeds, compare, max_starts=2000, max_states=500)
    assert min(seen["merged"], seen["changed", True], seen["changed", False]) > 10, seen


def num_states(truth):
    """Return how many states there are within the bounds; infinite with reals."""
    count = 1
    for variable in truth.model.variables:
        is_real = variable.kind == "real"
        count *= float("inf") if is_real else int(variable.upper) - int(variable.lower) + 1
    return count
