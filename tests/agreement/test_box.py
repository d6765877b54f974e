"""Boxes against explicit verification: verdicts, runs, certificates, and single steps of boxes.

``SUREFOOT_BOX_TASKS`` is how many random tasks each degree of precision is tried on.
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import operator
import os
import random
import sys
from collections import Counter

import pytest
from tests.support.agreement import answer
from tests.support.boxes import learned_policy, small_task
from tests.support.hand_trees import driver, only_in
from tests.support.random_models import random_model
from tests.support.tree_policies import (
    assert_is_failing_run,
    count_within,
    random_tree_task,
    states_within,
    steps_of,
)
from tests.support.wide_tasks import wide_policy, wide_task

from surefoot import InputError, SurefootError, _core, load_task, verify
from surefoot.evaluate import CAN, CANNOT, may_fail
from surefoot.policies import as_policy
from surefoot.tasks.compiled_task import split_states
from surefoot.tasks.expressions import variable
from surefoot.verify.box import ALWAYS, START_ERROR, Try, find_bad_states
from surefoot.verify.constraints import core_constraints

TASKS = int(os.environ.get("SUREFOOT_BOX_TASKS", "160"))
MODELS = TASKS * 3 // 2
PLANTED = 200
KINDS = ("trees", "network", "corrected")
DEGREES = {
    "as it is": None,
    "exact": (Try(ALWAYS, ALWAYS, 1.0),),
    "some": (Try(12, 10, 1.0),),
    "coarse": (Try(0, 0, 1.0),),
}


@pytest.fixture(params=DEGREES.values(), ids=list(DEGREES))
def degree(request, monkeypatch):
    """Try one degree of precision only."""
    if request.param is not None:
        monkeypatch.setattr(sys.modules["surefoot.verify.box"], "TRIES", request.param)
    return request.param


def small_cases(seeds):
    """Yield small random tasks with learned policies, and what they are called."""
    for seed in seeds:
        try:
            task = small_task(seed)
        except InputError:
            continue
        policy = learned_policy(KINDS[seed % 3], task, seed, unfiltered=seed % 5 == 0)
        yield f"small_task({seed})", task, policy


def wide_cases(seeds):
    """Yield random tasks over many values with policies."""
    for seed in seeds:
        task = wide_task(seed)
        policy = wide_policy(KINDS[seed % 3], task, seed, unfiltered=seed % 5 == 0)
        yield f"wide_task({seed})", task, policy


def ask(task, policy, method, **more):
    """Return the result, or the code of the error."""
    try:
        return verify(task, policy, method=method, **{"max_seconds": 60, **more})
    except InputError as error:
        return error.code


def word(found):
    return "error" if isinstance(found, str) else found.verdict


def compare(task, policy, *, is_small=True):
    """Hold boxes against explicit verification; return both verdicts.

    Who meets an error of the model first and who a failing state depends on the order of the
    search: then both answers are right.
    """
    here = ask(task, policy, "explicit", max_states=20_000)
    found = ask(task, policy, "box", certificate=True, max_seconds=60 if is_small else 1)
    both = word(here), word(found)
    is_open = both[0] == "unknown"
    if both[1] == "safe":
        assert both[0] == "safe" or is_open, both
        found.certificate.check(max_seconds=60)
    elif both[1] == "unsafe":
        assert both[0] != "safe", both
        assert_is_failing_run(task, policy, found.run)
        assert found.failing_starts is not None
    elif both[1] == "error":
        assert both[0] in ("error", "unsafe") or is_open, both
    else:
        assert not is_small or found.reason == START_ERROR, found
        assert found.reason
    return both


def compare_all(cases, **how):
    seen = Counter()
    for name, *case in cases:
        try:
            seen[compare(*case, **how)] += 1
        except Exception as error:
            raise AssertionError(name) from error
    return seen


@pytest.mark.fuzz
def test_small_tasks(degree):
    seen = compare_all(small_cases(range(TASKS)))
    assert seen["safe", "safe"] > TASKS // 10 and seen["unsafe", "unsafe"] > TASKS // 10, seen
    assert seen["error", "error"] > 0, seen


def may_it_fail(policy, state):
    """Return whether runs from a packed state may fail, or the code of the error."""
    try:
        return may_fail(policy, [state], max_seconds=60, max_bytes=1 << 30, max_states=10**6)[0]
    except InputError as error:
        return error.code


@pytest.mark.fuzz
def test_runs_fail_from_bad_states():
    """Whatever boxes cannot rule out after some of them: a run from there fails, or is an error."""
    seen = Counter()
    seeds = range(TASKS)
    for name, task, policy in itertools.chain(small_cases(seeds), wide_cases(seeds)):
        for max_boxes in (10, 30, 100, 300, 1_000):
            how = {"max_boxes": max_boxes, "max_states": 20, "max_seconds": 60}
            try:
                found, _ = find_bad_states(task, policy, **how)
            except InputError:
                continue
            for state in split_states(found, task.core.words):
                seen[may_it_fail(policy, state)] += 1
                assert not seen[CANNOT], name
    assert seen[CAN] > TASKS // 5, seen


@pytest.mark.fuzz
@pytest.mark.parametrize("errors", [False, True])
def test_tasks_with_near_ties(errors):
    """Sums of leaves that are equal or differ by rounding, updates in groups, intervals."""

    def cases():
        for seed in range(TASKS):
            made = random_tree_task(seed, errors=errors)
            if made is not None:
                yield f"random_tree_task({seed}, errors={errors})", *made

    seen = compare_all(cases())
    assert seen["safe", "safe"] > TASKS // 10 and seen["unsafe", "unsafe"] > TASKS // 10, seen


@pytest.mark.fuzz
def test_wide_tasks(degree):
    """Variables with a hundred values: states share hulls, which must be split and cut apart.

    Few of these are hard; then boxes may run out of time.
    """

    seen = compare_all(wide_cases(range(TASKS)), is_small=False)
    assert seen["safe", "safe"] > TASKS // 10 and seen["unsafe", "unsafe"] > TASKS // 10, seen
    unknown = sum(count for (_, found), count in seen.items() if found == "unknown")
    assert unknown <= TASKS // 50, seen


def model_cases(file, seeds):
    """Yield random models with learned policies."""
    for seed in seeds:
        file.write_text(json.dumps(random_model(seed)), encoding="utf-8")
        try:
            task = load_task(file)
        except SurefootError:
            continue
        if len(task.actions) > len(task.silent) and task.variables:
            policy = learned_policy(KINDS[seed % 3], task, seed, unfiltered=seed % 5 == 0)
            yield f"random_model({seed})", task, policy


def is_finite(task):
    return all(v.type != "real" and v.upper - v.lower < 100 for v in task.variables)


@pytest.mark.slow
@pytest.mark.fuzz
def test_random_models(tmp_path):
    """Models as files: arrays, transient variables, reals, several elements, errors of all kinds.

    Where there are reals or many values, boxes may say that they do not know.
    """
    file, seen = tmp_path / "model.jani", Counter()
    for name, task, policy in model_cases(file, range(MODELS)):
        seen += compare_all([(name, task, policy)], is_small=is_finite(task))
    assert seen["safe", "safe"] > MODELS // 10 and seen["unsafe", "unsafe"] > MODELS // 10, seen
    unknown = sum(count for (_, found), count in seen.items() if found == "unknown")
    assert unknown < seen.total() // 5, seen


# -- planted failing runs ------------------------------------------------------------------------


def with_fail_in(task, state):
    """Return the task with one failing state."""
    d = copy.copy(task.description)
    is_here = [variable(v.name, v.type) == state[v.name] for v in task.variables]
    d.fail_condition = functools.reduce(operator.and_, is_here)
    return d.compile()


def plant(task, policy, rng):
    """Return the task with a state that fails on a run of the policy; None if it has no runs."""
    starts = answer(task.list_starts)
    if starts == "error" or not starts:
        return None
    state = rng.choice(starts)
    for _ in range(rng.randint(0, 8)):
        after = answer(lambda state=state: steps_of(task, policy, state))
        if after == "error":
            return None
        state = rng.choice(after or [state])
    return with_fail_in(task, state)


@pytest.mark.fuzz
def test_a_state_that_fails_on_some_run_is_found(degree):
    rng, seen = random.Random(0), Counter()
    for name, task, policy in small_cases(itertools.count(5000)):
        spoilt = plant(task, policy, rng)
        if spoilt is None:
            continue
        same = as_policy(
            policy.model, spoilt, interface=policy.interface, unfiltered=policy.unfiltered
        )
        found = ask(spoilt, same, "box")
        seen[word(found)] += 1
        assert word(found) in ("unsafe", "error"), name
        if seen.total() == PLANTED:
            break
    assert seen["unsafe"] > PLANTED * 3 // 4, seen


LINES = (
    "packages=4&locations=5",
    "packages=15&locations=8",
    "packages=8&locations=6&variant=icy-park",
)


def full_truck(task, policy, rng):
    """Return a state on a run in which a truck with packages stands at the end of the line."""
    end = next(v.upper for v in task.variables if v.name == "truck_0")
    while True:
        state = rng.choice(task.sample_starts(20, seed=rng.randrange(10**6)))
        while after := steps_of(task, policy, state):
            at_end = state["truck_0"] == end and state["truck_vel_0"] == 0
            if at_end and state["truck_load_0"] > 0 and rng.random() < 0.4:
                return state
            state = rng.choice(after)


@pytest.mark.parametrize("line", LINES)
def test_one_spoilt_decision_on_a_line_is_found(line):
    """The driver is safe; if it drives on in a single state, out of up to 10^8, it is not."""
    task = load_task(f"domain:one-way-line?{line}")
    policy = driver(task)
    safe = verify(task, policy, method="box", certificate=True)
    assert safe.verdict == "safe"
    safe.certificate.check()
    rng = random.Random(0)
    for _ in range(PLANTED // len(LINES)):
        state = full_truck(task, policy, rng)
        spoilt = driver(task, ("acc_truck_0", only_in(state, 100.0)))
        assert spoilt.decide(state) == "acc_truck_0"
        found = verify(task, spoilt, method="box", max_seconds=60)
        assert found.verdict == "unsafe", state
        assert_is_failing_run(task, spoilt, found.run)
        assert state in found.run.states


# -- start states that fail ----------------------------------------------------------------------


def can_fail(task, policy, state):
    """Return whether a run from the state fails, or comes to an error of the model."""
    seen, waiting = {state}, [state]
    while waiting:
        state = waiting.pop()
        if task.is_fail(state):
            return True
        after = answer(lambda state=state: steps_of(task, policy, state))
        if after == "error":
            return True
        waiting += [each for each in after if each not in seen]
        seen.update(after)
    return False


def is_in(state, box):
    values = [int(value) for value in state.values_tuple]
    return all(low <= value <= high for value, (low, high) in zip(values, box, strict=True))


@pytest.mark.fuzz
def test_every_start_state_in_the_box_of_failing_ones_has_a_failing_run(degree):
    looked_at = 0
    for name, task, policy in small_cases(range(TASKS)):
        found = ask(task, policy, "box")
        if word(found) != "unsafe":
            continue
        starts = [each for each in task.list_starts() if is_in(each, found.failing_starts)]
        assert found.run.states[0] in starts
        assert all(can_fail(task, policy, state) for state in starts), name
        looked_at += len(starts)
    assert looked_at > TASKS // 3, looked_at


# -- steps of boxes ------------------------------------------------------------------------------


def random_box(task, rng):
    """Return bounds within those of the variables."""
    pairs = [sorted(rng.randint(int(v.lower), int(v.upper)) for _ in "ab") for v in task.variables]
    kinds = [bool if v.type == "bool" else int for v in task.variables]
    return [(kind(low), kind(high)) for kind, (low, high) in zip(kinds, pairs, strict=True)]


def satisfies(state, constraints):
    values = [int(value) for value in state.values_tuple]
    return all(
        each.lower <= sum(factor * values[v] for v, factor in each.terms) <= each.upper
        for each in constraints
    )


def check_part(task, policy, state, part):
    """Assert that a state does what is said about a part of a box with it in it."""
    what, action = part.what, part.action
    if what == "fail":
        assert task.is_fail(state)
        return
    assert what == "unsure" or not task.is_fail(state)
    if what == "goal":
        assert task.is_goal(state)
        return
    if what == "unsure":
        return
    after = steps_of(task, policy, state)
    assert all(any(is_in(each, to.image) for to in part.images) for each in after)
    if what != "step" or task.is_goal(state):
        return
    loud = [name for name in task.applicable(state) if name not in task.silent]
    if action is None or not loud:
        assert not loud or not after
        return
    name = task.actions[action]
    if not policy.unfiltered:
        assert policy.decide(state) == name
    elif name in loud:
        assert sorted(map(str, after)) == sorted(map(str, task.outcomes(state, name)))


def check_parts(task, policy, boxes, box, max_parts):
    """Assert that the parts of a box have all its states in them, each where it belongs."""
    parts = boxes.parts(box, max_parts)
    constraints = boxes.constraints()
    for state in states_within(task):
        if not is_in(state, box) or not satisfies(state, constraints):
            continue
        own = [part for part in parts if is_in(state, part.box)]
        assert len(own) == 1, state
        check_part(task, policy, state, own[0])
    return Counter(part.what for part in parts if any(low != high for low, high in part.box))


@pytest.mark.fuzz
def test_parts_of_boxes_do_what_their_states_do():
    seen = Counter()
    for name, task, policy in small_cases(range(TASKS)):
        if count_within(task) > 300:
            continue
        rng = random.Random(name)
        boxes = _core.Boxes(task.core, policy.core, task.start_source(), core_constraints(task))
        for _ in range(4):
            box, max_parts = random_box(task, rng), rng.choice((1, 3, 1000))
            try:
                seen += check_parts(task, policy, boxes, box, max_parts)
            except _core.ModelError:
                seen["error"] += 1
            except Exception as error:
                raise AssertionError((name, box, max_parts)) from error
    assert min(seen[what] for what in ("step", "fail", "goal", "coarse", "unsure")) > 5, seen


@pytest.mark.slow
@pytest.mark.fuzz
def test_start_states_are_in_the_start_boxes_and_satisfy_the_constraints():
    """So do all reachable states, whatever is done there."""
    narrow = 0
    for name, task, policy in itertools.chain(small_cases(range(TASKS)), wide_cases(range(60))):
        starts = answer(task.list_starts)
        if starts == "error" or not starts:
            continue
        boxes = _core.Boxes(task.core, policy.core, task.start_source(), core_constraints(task))
        constraints = boxes.constraints()
        assert all(any(is_in(each, box) for box in boxes.starts()) for each in starts), name
        seen, waiting = set(starts), list(starts)
        while waiting:
            state = waiting.pop()
            assert satisfies(state, constraints), (name, state)
            for action in task.applicable(state):
                after = answer(lambda t=task, s=state, a=action: t.outcomes(s, a))
                new = [] if after == "error" else [each for each in after if each not in seen]
                waiting += new
                seen.update(new)
        narrow += bool(constraints)
    assert narrow > 2, narrow
