"""Evaluation as users meet it: which start states, limits, what is refused and printed."""

import time

import numpy as np
import pytest

from surefoot import Description, InputError, PythonTask, domain
from surefoot.evaluate import evaluate
from surefoot.fuzz import fuzz
from surefoot.options import EvaluateOptions
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network


def shore(width=100):
    """``out`` wades one further: beyond ``width`` one drowns, at 0 is the goal."""
    d = Description("shore")
    x = d.int("x", 0, width + 1)
    d.edge("in", guard=(x > 0) & (x <= width), outcomes=[{x: x - 1}])
    d.edge("out", guard=(x > 0) & (x <= width), outcomes=[{x: x + 1}])
    d.start(x <= width)
    d.goal(x == 0)
    d.fail(x == width + 1)
    return d.compile()


def timid(state):
    return "in" if state["x"] <= 60 else "out"


def test_all_start_states_if_they_are_few():
    found = evaluate(shore(), timid)
    assert (found.starts, found.unsafe, found.goal) == (101, 40, 61)
    assert found.all_starts and found.is_exact and found.exhaustive == 101
    assert found.unsafe_fraction == 40 / 101
    assert found.goal_fraction == 61 / 101
    assert (found.fail, found.runs, found.stopped) == (40, 101, None)
    assert str(found).startswith(
        "unsafe 0.396 (40 of all 101 start states; 101 decided by enumeration), goal 0.604 (61 of "
    )
    assert found.to_dict()["unsafe"] == 40


def test_a_sample_if_they_are_many():
    found = evaluate(shore(), timid, starts=50, seed=1)
    assert not found.all_starts
    assert found.starts == found.exhaustive == found.runs == 50
    assert 5 < found.unsafe < 35
    assert found.goal == 50 - found.unsafe
    again = evaluate(shore(), timid, options=EvaluateOptions(starts=50), seed=1)
    assert {**again.to_dict(), "seconds": 0} == {**found.to_dict(), "seconds": 0}


def test_start_states_of_reals_are_sampled():
    d = Description("reals")
    y = d.real("y", 0.0, 1.0)
    d.edge("wait", guard=y < 0.5, outcomes=[{y: y / 2}])
    d.start(y > 0.25)
    d.fail(y > 0.75)
    found = evaluate(d.compile(), "first", starts=300)
    assert not found.all_starts
    assert found.starts == 300
    assert 60 < found.unsafe < 140  # a third
    assert found.is_exact  # halves become 0 in the end


def tree(depth):
    """A binary tree, one leaf of which fails: too large to enumerate in a few states."""
    d = Description("tree")
    x = d.int("x", 1, 2**depth - 1, initial=1)
    d.edge("down", guard=x < 2 ** (depth - 1), outcomes=[{x: 2 * x}, {x: 2 * x + 1}])
    d.fail(x == 2**depth - 1)
    return d.compile()


def test_beyond_the_limit_runs_are_tried():
    found = evaluate(tree(4), "first", max_states=3, sample_runs=200)
    assert (found.starts, found.exhaustive, found.unsafe) == (1, 0, 1)
    assert found.stopped == "states" and not found.is_exact
    deep = evaluate(tree(40), "first", max_states=1000, sample_runs=20)
    assert (deep.exhaustive, deep.unsafe, deep.unsafe_fraction) == (0, 0, 0.0)
    assert "at least 0" in str(deep)


def test_time_limits_are_kept():
    begin = time.perf_counter()
    found = evaluate(tree(60), "first", max_seconds=0.6, sample_runs=10**9)
    assert time.perf_counter() - begin < 3
    assert not found.is_exact and found.unsafe == 0


def test_memory_limits_are_kept():
    found = evaluate(tree(60), "first", memory_mb=5, sample_runs=3)
    assert found.stopped == "memory"
    assert (found.exhaustive, found.unsafe) == (0, 0)


def test_decisions_that_are_not_applicable_end_runs():
    task = shore()
    scores = Layer(np.zeros((2, 1)), np.array([1.0, 0.0]), "linear")
    policy = as_policy(Network((scores,), "float64"), task, unfiltered=True)
    found = evaluate(task, policy)
    assert (found.unsafe, found.goal) == (0, 101)


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_model_and_policy_come_out(workers):
    with pytest.raises(InputError) as caught:
        evaluate(shore(), lambda state: "swim", workers=workers)
    assert caught.value.code == "policy-unknown-action"
    d = Description("overflow")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 1}])
    with pytest.raises(InputError) as caught:
        evaluate(d.compile(), "first", workers=workers)
    assert caught.value.code.startswith("model-")


@pytest.mark.parametrize("option", ["starts", "workers", "max_steps"])
def test_nothing_of_anything_is_refused(option):
    with pytest.raises(InputError, match=option):
        evaluate(shore(), timid, **{option: 0})


class Coin:
    """Two throws."""

    def start(self):
        return [("none", 0), ("none", 0), ("none", 1)]

    def actions(self, state):
        return ["throw"] if state[1] < 2 else []

    def outcomes(self, state, action):
        return [("heads", state[1] + 1), ("tails", state[1] + 1)]

    def is_goal(self, state):
        return state == ("heads", 2)

    def is_fail(self, state):
        return state == ("tails", 2)


def test_python_tasks():
    found = evaluate(PythonTask(Coin()), "first")
    assert (found.starts, found.unsafe, found.all_starts) == (2, 2, True)
    assert found.goal + found.fail == 2


def test_how_the_runs_ended_is_counted():
    task = domain("one-way-line", packages=2, locations=4, variant="icy-park")
    found = evaluate(task, "first")
    assert sum(found.ends.values()) == found.runs == found.starts
    assert (found.ends.get("goal", 0), found.ends.get("fail", 0)) == (found.goal, found.fail)
    assert found.ends_text


def test_too_many_workers_are_refused():
    task = domain("one-way-line", packages=1, locations=3)
    for call in (evaluate, fuzz):
        with pytest.raises(InputError, match="workers must be at most 1,000"):
            call(task, "first", workers=33_000)


def test_without_memory_nothing_is_tried_again_and_again():
    task = domain("one-way-line", packages=2, locations=4)
    found = evaluate(task, "first", memory_mb=0, starts=10)
    assert (found.stopped, found.exhaustive, found.unsafe) == ("memory", 0, 0)
    assert found.ends == {"cut": found.runs}
