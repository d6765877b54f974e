"""Minimise: never longer, still a fault, and a second time changes nothing."""

import json
import random

import pytest
from tests.support.explicit_policies import (
    KINDS,
    compiled,
    in_python,
    lively_task,
    policy_of_kind,
)
from tests.support.explicit_tasks import random_policy

from surefoot import Description, InputError, load_policy, load_task
from surefoot.faults import find_faults
from surefoot.findings import finding_of
from surefoot.fuzz import fuzz
from surefoot.minimise import minimise
from surefoot.policies import as_policy
from surefoot.replay import replay

LINES = (
    "domain:one-way-line?packages=2&locations=6&variant=icy-park",
    "domain:one-way-line?packages=3&locations=4",
    "domain:two-way-line?packages=2&locations=4&variant=icy-park",
)


def check_smaller(before, result, task, policy):
    """Assert everything that minimising promises."""
    after = result.after
    assert after.kind == before.kind
    assert after.steps <= before.steps
    after.check(task, policy)
    assert replay(after, task, policy).still_fails
    again = minimise(after, policy, task=task)
    assert not again.is_smaller
    assert again.after is after
    assert json.dumps(result.to_dict())
    assert str(result).startswith("before: ")


@pytest.mark.parametrize("text", LINES)
@pytest.mark.parametrize("name", ["first", "random"])
def test_on_lines(text, name):
    task = load_task(text)
    policy = load_policy(name, task)
    runs = fuzz(task, policy, runs=40, bias="uniform").failing
    found = find_faults(task, policy, runs)
    longest = max(found.faults, key=lambda fault: fault.run.steps)
    things = [longest, found.faults[0], found.bugs[0], max(runs, key=lambda run: run.steps)]
    for thing in things:
        before = finding_of(task, policy, thing)
        result = minimise(task, policy, thing)
        check_smaller(before, result, task, policy)
        assert minimise(task, policy, thing).after.to_dict() == result.after.to_dict()
    if name == "random":
        assert minimise(task, policy, longest).after.steps < longest.run.steps


def shortest_possible(task, policy):
    """Return the fewest steps of a failing run from a start state, found layer by layer."""
    layer, steps, seen = list(task.list_starts()), 0, set()
    while layer:
        if any(task.is_fail(state) for state in layer):
            return steps
        following = []
        for state in layer:
            is_over = state in seen or task.is_goal(state) or not task.applicable(state)
            seen.add(state)
            if not is_over:
                following += task.outcomes(state, policy.decide(state))
        layer, steps = following, steps + 1
    raise AssertionError("nothing fails")


@pytest.mark.parametrize("text", LINES[:2])
def test_the_shortest_there_is(text):
    """All start states of these lines are tried and safe: nothing shorter exists."""
    task = load_task(text)
    policy = load_policy("random", task)
    faults = find_faults(task, policy, fuzz(task, policy, runs=20).failing).faults
    result = minimise(task, policy, faults[-1])
    assert result.after.steps == shortest_possible(task, policy)


@pytest.mark.parametrize("kind", KINDS)
def test_on_random_tasks(kind):
    rng = random.Random(100 + KINDS.index(kind))
    count = 0
    for seed in range(25):
        explicit = lively_task(rng, max_silent=0 if seed % 3 == 0 else 2)
        starts = sorted(rng.sample(explicit.states, 3))
        is_python = seed % 3 == 0 and kind in ("table", "callable", "first", "random")
        task = (in_python if is_python else compiled)(explicit, starts=starts)
        policy = policy_of_kind(kind, explicit, task, rng, random_policy(rng, explicit))
        runs = fuzz(task, policy, runs=10, bias="uniform").failing
        radius = rng.choice((None, None, 1, 2))
        found = find_faults(task, policy, runs, radius=radius, deviations=seed % 2 == 0)
        for thing in (*found.faults[-2:], *found.bugs[-1:], *runs[-1:]):
            before = finding_of(task, policy, thing)
            check_smaller(before, minimise(before), task, policy)
            count += 1
    assert count > 10


def test_detours_are_left_out():
    """A run that goes round in circles before it fails is cut short."""
    d = Description("ring")
    x = d.int("x", 0, 9, initial=0)
    d.edge("go", guard=x < 8, outcomes=[{x: x + 1}, {x: 0}, {x: 8}])
    d.edge("go", guard=x == 8, outcomes=[{x: 9}, {x: 0}])
    d.edge("stay", outcomes=[{}])
    d.start({"x": 0})
    d.fail(x == 9)
    task = d.compile()
    policy = as_policy(lambda state: "go", task)
    states = [0, 1, 2, 0, 1, 2, 3, 8, 0, 1, 8, 9]
    from surefoot.records import Run, RunEnd

    run = Run(3, tuple(task.state(x=x) for x in states), ("go",) * 11, RunEnd.FAIL)
    fault = find_faults(task, policy, [run]).faults[-1]
    assert fault.state == {"x": 8}
    result = minimise(task, policy, fault)
    assert [row[0] for row in result.after.content["run"]["states"]] == [0, 8, 9]
    assert result.after.content["run"]["run"] == 3
    assert result.after.about["state"] == [8]


def wide(*, free):
    """A counter that fails at the top, with variables that play no part."""
    d = Description("wide")
    x = d.int("x", 0, 3, initial=0)
    flags = [d.int(f"y{i}", 0, 50, initial=i) for i in range(free)]
    real = d.real("r", 0.0, 9.0, initial=0.5)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    condition = x <= 1
    for flag in flags:
        condition = condition & (flag >= 0)
    d.start(condition & (real >= 0.0))
    d.fail(x == 3)
    return d.compile()


def test_variables_move_to_their_initial_values():
    """There are far too many start states to list: the start moves variable by variable."""
    task = wide(free=5)
    policy = as_policy(lambda state: "up", task)
    for seed in range(3):
        start = task.sample_starts(1, seed=seed)[0]
        fault = find_faults(task, policy, fuzz(task, policy, [start], runs=1).failing).faults[0]
        result = minimise(task, policy, fault)
        run = result.after.content["run"]
        assert run["states"][0] == [1, 0, 1, 2, 3, 4, 0.5]
        assert run["actions"] == ["up", "up"]
        check_smaller(finding_of(task, policy, fault), result, task, policy)


def test_values_move_where_their_sum_is_fixed():
    d = Description("sum")
    x = d.int("x", 0, 2, initial=0)
    parts = [d.int(f"p{i}", 0, 90, initial=0) for i in range(4)]
    total = parts[0] + parts[1] + parts[2] + parts[3]
    d.edge("up", guard=x < 2, outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    d.start((x == 0) & (total == 90))
    d.fail(x == 2)
    task = d.compile()
    policy = as_policy(lambda state: "up", task)
    start = task.state(x=0, p0=30, p1=20, p2=10, p3=30)
    fault = find_faults(task, policy, fuzz(task, policy, [start], runs=1).failing).faults[0]
    result = minimise(task, policy, fault)
    assert result.is_smaller
    assert result.after.steps == 2
    assert sum(result.after.content["run"]["states"][0][1:]) == 90


def test_a_later_start():
    """A state of the run that is a start state itself begins a shorter run."""
    d = Description("later")
    x = d.int("x", 0, 4, initial=0)
    d.edge("up", guard=x < 4, outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    d.start({"x": 0}, {"x": 3})
    d.fail(x == 4)
    task = d.compile()
    policy = as_policy(lambda state: "up", task)
    fault = find_faults(task, policy, fuzz(task, policy, [{"x": 0}], runs=1).failing).faults[-1]
    result = minimise(task, policy, fault)
    assert result.after.content["run"]["states"] == [[3], [4]]


def test_unsafe_starts_are_no_way_out():
    """From start state 5 fail is near, but nobody could avoid it: there is no fault on that run."""
    d = Description("trap")
    x = d.int("x", 0, 6, initial=0)
    d.edge("up", guard=x < 4, outcomes=[{x: x + 1}])
    d.edge("stay", guard=x < 4, outcomes=[{}])
    d.edge("up", guard=(x == 4) | (x == 5), outcomes=[{x: 6}])
    d.start({"x": 0}, {"x": 5})
    d.fail(x == 6)
    task = d.compile()
    policy = as_policy(lambda state: "up", task)
    fault = find_faults(task, policy, fuzz(task, policy, [{"x": 0}], runs=1).failing).faults[-1]
    result = minimise(task, policy, fault)
    assert (result.is_smaller, result.after.steps) == (False, 5)
    run = minimise(task, policy, fault.run)
    assert run.after.content["run"]["states"] == [[5], [6]]


def test_made_starts():
    """A run that is not known to be reachable stays so, or gets a start that is."""
    task = load_task(LINES[0])
    policy = load_policy("first", task)
    runs = fuzz(task, policy, runs=30, perturb="values").failing
    faults = find_faults(task, policy, runs).faults
    for fault in faults[:5]:
        before = finding_of(task, policy, fault)
        result = minimise(before)
        check_smaller(before, result, task, policy)
        run = result.after.run(task)
        assert run.is_known_reachable or run.start == fault.run.start


def test_no_time():
    task = wide(free=5)
    policy = as_policy(lambda state: "up", task)
    fault = find_faults(task, policy, fuzz(task, policy, runs=1).failing).faults[0]
    result = minimise(task, policy, fault, max_seconds=0.0)
    assert (result.stopped, result.is_smaller) == ("seconds", False)
    result = minimise(task, policy, fault, max_seconds=0.05)
    assert result.seconds < 5
    result.after.check(task, policy)


def test_what_is_no_finding(tmp_path):
    task = wide(free=1)
    with pytest.raises(InputError):
        minimise(task, "first", None)
    with pytest.raises(InputError):
        minimise(3)
    with pytest.raises(InputError):
        minimise(tmp_path / "nothing.json")


def test_a_finding_of_another_policy():
    task = load_task(LINES[1])
    policy = load_policy("first", task)
    fault = find_faults(task, policy, fuzz(task, policy, runs=5).failing).faults[0]
    finding = finding_of(task, policy, fault)
    other = load_policy("random", task)
    with pytest.raises(InputError) as caught:
        minimise(finding, other)
    assert caught.value.code == "finding-other-policy"
    with pytest.raises(InputError) as caught:
        minimise(finding, other.renamed("first", file=None, sha256=None))
    assert caught.value.code == "not-a-failing-run"
