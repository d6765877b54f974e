"""Fuzzing as users meet it: how outcomes are picked, limits, errors, and what is refused."""

import itertools
import math
import os
import signal
import threading
import time
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from surefoot import Description, InputError, PythonTask, _core, domain
from surefoot.fuzz import fuzz, fuzz_packed
from surefoot.objectives import SAFETY, ZERO, Interval
from surefoot.options import FuzzOptions
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network
from surefoot.records import NOTHING_FAILS, RunEnd

DRAWS = 4000
CHI_SQUARE = {1: 19.5, 3: 25.9, 4: 28.5, 5: 30.9}  # exceeded once in 100,000 times


def funnel(far=9, self_loop=False):
    """From 0 to one of 1 to 5, from there to fail at ``far``."""
    d = Description("funnel")
    x = d.int("x", 0, far, initial=0)
    d.edge("jump", guard=x == 0, outcomes=[{x: k} for k in range(0 if self_loop else 1, 6)])
    d.edge("go", guard=(x > 0) & (x < far), outcomes=[{x: far}])
    d.fail(x == far)
    return d.compile()


def picked(task, variable="x", step=1, **options):
    """Return how often which value was picked first."""
    found = fuzz(task, "first", runs=DRAWS, workers=1, **options)
    assert found.counts == {"fail": DRAWS}
    runs = [run for run in found.runs if run.result == "fail"]
    return Counter(run.states[step][variable] for run in runs)


def assert_likely(counts, weights):
    """Assert that the counts may come from these weights."""
    assert set(counts) <= set(weights)
    total = sum(weights.values())
    expected = {value: DRAWS * weight / total for value, weight in weights.items()}
    off = sum((counts[value] - wanted) ** 2 / wanted for value, wanted in expected.items())
    assert off < CHI_SQUARE[len(weights) - 1], (counts, expected)


def plain(result):
    content = result.to_dict()
    del content["summary"]["seconds"]
    return content


# -- which outcome -----------------------------------------------------------------------------


@pytest.mark.parametrize("self_loop", [False, True])
def test_uniform_draws_outcomes_uniformly_but_does_not_stand_still(self_loop):
    counts = picked(funnel(self_loop=self_loop), bias="uniform", lookahead=1)
    assert_likely(counts, dict.fromkeys(range(1, 6), 1))


@pytest.mark.parametrize("lookahead", [1, 2, 5, None])
def test_greedy_takes_the_nearest(lookahead):
    assert picked(funnel(), bias="greedy", lookahead=lookahead) == {5: DRAWS}


@pytest.mark.parametrize("far", [9, 2000])
@pytest.mark.parametrize("lookahead", [1, 2, None])
def test_weighted_draws_by_the_distance(far, lookahead):
    counts = picked(funnel(far), bias="weighted", lookahead=lookahead)
    assert_likely(counts, {k: math.exp(k) for k in range(1, 6)})


def siblings():
    """Four outcomes that are equally far from fail; from 3 on it is nearer one step later."""
    d = Description("siblings")
    x = d.int("x", 0, 30, initial=0)
    y = d.int("y", 0, 4, initial=0)
    d.edge("jump", guard=y == 0, outcomes=[{y: k} for k in range(1, 5)])
    d.edge("slow", guard=(y > 0) & (y < 3), outcomes=[{x: x + 1}])
    d.edge("fast", guard=y >= 3, outcomes=[{x: x + y}])
    d.fail(x >= 12)
    return d.compile()


def test_ties_are_broken_at_random():
    counts = picked(siblings(), "y", bias="greedy", lookahead=1)
    assert_likely(counts, dict.fromkeys(range(1, 5), 1))


@pytest.mark.parametrize("lookahead", [2, 5, None])
def test_looking_ahead_breaks_ties(lookahead):
    assert picked(siblings(), "y", bias="greedy", lookahead=lookahead) == {4: DRAWS}


def fan(depth):
    """Fail lies behind one of the corners of a grid, and nothing tells how far away it is."""
    d = Description("fan")
    x, y = d.int("x", 0, depth, initial=0), d.int("y", 0, depth, initial=0)
    z = d.int("z", 0, 1, initial=0)
    d.edge("go", guard=x < depth, outcomes=[{x: x + 1}, {x: x + 1, y: y + 1}])
    d.edge("fall", guard=(x == depth) & (y == depth), outcomes=[{z: 1}])
    d.fail(z == 1)
    return d.compile()


def fuzzed_fan(states, *, lookahead=None, bias="greedy"):
    """Return how runs end whose lookahead sees so many states."""
    task = fan(40)
    how = FuzzOptions(runs=200, bias=bias, lookahead=lookahead, workers=1)
    starts = task.draw_starts(how.runs, seed=0, max_seconds=10)
    return fuzz_packed(as_policy("first", task), starts, how, lookahead_states=states)


@pytest.mark.parametrize("bias", ["uniform", "greedy", "weighted"])
def test_a_lookahead_of_no_states_is_one_of_one_step(bias):
    few, one = fuzzed_fan(0, bias=bias), fuzzed_fan(None, lookahead=1, bias=bias)
    assert plain(few) == plain(one)


def test_a_lookahead_goes_no_deeper_than_its_states():
    assert fuzzed_fan(None).counts == fuzzed_fan(10_000).counts == {"fail": 200}
    assert fuzzed_fan(60).counts.get("fail", 0) < 20
    assert plain(fuzzed_fan(10_000)) == plain(fuzzed_fan(None))


def test_runs_are_drawn_to_what_the_guidance_says():
    """One way by default and by the guidance to fail, the other by the guidance to a condition that
    the task does not have.
    """
    d = Description("left or right")
    x = d.int("x", -9, 9)
    d.edge("go", guard=(x > -9) & (x < 9), outcomes=[{x: x - 1}, {x: x + 1}])
    d.fail(x == 9)
    d.start(x == 0)
    task = d.compile()
    starts, how = (
        task.draw_starts(20),
        FuzzOptions(runs=20, bias="greedy", lookahead=1, max_steps=5, workers=1),
    )

    def ends(guidance):
        runs = fuzz_packed(as_policy("first", task), starts, how, guidance=guidance).runs
        return [(run.steps, run.result) for run in runs]

    plain = ends(None)
    assert plain == ends(task.guidance_to(x == 9)) == ends(task.guidance_to(x > 8))
    closer = replace(how, max_steps=50)
    to_fail = fuzz_packed(as_policy("first", task), starts, closer)
    away = fuzz_packed(as_policy("first", task), starts, closer, guidance=task.guidance_to(x == -9))
    assert to_fail.counts == {"fail": 20}
    assert away.counts.get("fail", 0) == 0


def twins(count):
    """From 0 to one of several states that fail."""
    d = Description("twins")
    x = d.int("x", 0, count, initial=0)
    d.edge("go", guard=x == 0, outcomes=[{x: k} for k in range(1, count + 1)])
    d.fail(x > 0)
    return d.compile()


@pytest.mark.parametrize("lookahead", [1, 2, 5, None])
@pytest.mark.parametrize("bias", ["uniform", "greedy", "weighted"])
def test_several_fail_states_are_all_found(bias, lookahead):
    counts = picked(twins(5), bias=bias, lookahead=lookahead)
    assert_likely(counts, dict.fromkeys(range(1, 6), 1))


def test_other_seeds_other_runs():
    task = funnel()
    first, again, other = (
        plain(fuzz(task, "first", runs=50, bias="uniform", lookahead=1, seed=seed))
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


# -- results -----------------------------------------------------------------------------------


def corridor(length=10):
    """One way, with the goal at its end; ``fall`` fails."""
    d = Description("corridor")
    x = d.int("x", 0, length + 1, initial=0)
    d.edge("go", guard=x < length, outcomes=[{x: x + 1}])
    d.edge("fall", guard=x < length, outcomes=[{x: length + 1}])
    d.goal(x == length)
    d.fail(x == length + 1)
    return d.compile()


def test_a_run_whose_states_were_all_seen_is_cut_for_that_reason():
    task = corridor()
    found = fuzz(task, "first", runs=3)
    assert (found.counts, found.cuts) == ({"cut": 3}, {NOTHING_FAILS: 3})
    assert {(run.result, run.reason) for run in found.runs} == {("cut", NOTHING_FAILS)}
    assert found.summary["cut"] == found.summary["nothing_reachable_fails"] == 3
    assert "; 3 cut (nothing reachable fails); " in found.summary_text
    assert all(SAFETY.value_of(run, task) == Interval.exactly(ZERO) for run in found.runs)
    assert not found.failing and found.stopped is None
    assert found.policy_calls == 10 and found.states == 11


def test_steps_are_bounded():
    def circle(state):
        return "go"

    d = Description("circle")
    x = d.int("x", 0, 5, initial=0)
    d.edge("go", guard=x < 5, outcomes=[{x: (x + 1) % 4}, {x: (x + 2) % 4}])
    d.edge("out", guard=x < 5, outcomes=[{x: 5}])
    d.fail(x == 5)
    found = fuzz(d.compile(), circle, runs=4, max_steps=1, lookahead=1, bias="uniform")
    assert [(run.result, run.reason, run.steps) for run in found.runs] == [("cut", "steps", 1)] * 4
    assert fuzz(d.compile(), circle, runs=4, max_steps=50).cuts == {NOTHING_FAILS: 4}


def test_a_failing_run_is_not_longer_than_allowed():
    d = Description("steps")
    x = d.int("x", 0, 10, initial=0)
    d.edge("go", guard=x < 10, outcomes=[{x: x + 1}])
    d.fail(x == 10)
    task = d.compile()
    for bias in ("uniform", "greedy", "weighted"):
        assert fuzz(task, "first", runs=2, max_steps=10, bias=bias).counts == {"fail": 2}
        assert fuzz(task, "first", runs=2, max_steps=9, bias=bias).counts == {"cut": 2}


def test_start_states_that_are_terminal():
    task = corridor()
    starts = [{"x": 10}, {"x": 11}]
    found = fuzz(task, "first", starts, runs=4)
    assert [run.result for run in found.runs] == ["goal", "fail"] * 2
    assert [(run.run, run.same, run.steps) for run in found.failing] == [(1, (3,), 0)]


def test_what_is_printed():
    found = fuzz(corridor(), lambda s: "fall" if s["x"] == 2 else "go", runs=2)
    assert found.failing[0].same == (1,)
    assert "2 fail; 1 distinct failing" in found.summary_text
    assert str(found).startswith("run 0: fail after 3 steps\n  x=0\n  --go--> x=1")
    summary = found.summary
    assert (summary["runs"], summary["fail"], summary["distinct"], summary["steps"]) == (2, 2, 1, 6)
    rows = found.to_dict()["runs"]
    assert [row["run"] for row in rows] == [0, 1]
    assert rows[0]["same"] == [1]
    assert rows[0]["actions"] == ["go", "go", "fall"]
    assert rows[1]["same_as"] == 0 and "actions" not in rows[1]


def test_runs_begin_in_start_states():
    d = Description("starts")
    x = d.int("x", 0, 9)
    d.edge("go", guard=x < 9, outcomes=[{x: x + 1}])
    d.start((x > 2) & (x < 6))
    d.fail(x == 9)
    found = fuzz(d.compile(), "first", runs=300)
    assert {run.start["x"] for run in found.runs} == {3, 4, 5}
    assert len(found.failing) == 3


# -- policies that are not filtered ------------------------------------------------------------


def test_a_decision_that_is_not_applicable_ends_the_run():
    task = corridor()
    weights = np.array([[0.0], [0.0]])
    fall = Network((Layer(weights, np.array([0.0, 1.0]), "linear"),), "float32")
    assert fuzz(task, as_policy(fall, task, unfiltered=True), runs=2).counts == {"fail": 2}
    d = Description("locked")
    x = d.int("x", 0, 3, initial=0)
    d.edge("go", guard=x < 2, outcomes=[{x: x + 1}])
    d.edge("open", guard=x == 0, outcomes=[{x: 3}])
    d.edge("wait", guard=x == 2, outcomes=[{}])
    d.fail(x == 3)
    locked = d.compile()
    scores = Layer(np.array([[-1.0], [0.0], [0.0]]), np.array([0.5, 0.0, -9.0]), "linear")
    policy = as_policy(Network((scores,), "float64"), locked, unfiltered=True)
    found = fuzz(locked, policy, [{"x": 0}, {"x": 2}], runs=2)
    assert found.counts == {"inapplicable": 2}
    assert [run.steps for run in found.runs] == [1, 0]


# -- perturbed starts --------------------------------------------------------------------------


SHORT = {"max_steps": 5, "lookahead": 1, "workers": 1}


def mixed():
    d = Description("mixed")
    x = d.int("x", -3, 4, initial=0)
    lit = d.bool("lit", initial=False)
    y = d.real("y", -0.5, 2.0, initial=0.0)
    free = d.real("free", initial=1.0)
    d.edge("up", guard=x < 4, outcomes=[{x: x + 1}])
    d.edge("switch", outcomes=[{lit: ~lit}, {free: free + 1}])
    d.goal((x == 4) & lit)
    d.fail((x == -3) & (y > 1))
    return d.compile()


def test_values_are_changed_within_their_ranges():
    found = fuzz(mixed(), "random", runs=2000, perturb="values", **SHORT)
    seen = {"x": set(), "lit": set(), "y": set()}
    for run in found.runs:
        (change,) = run.made.changes
        before, after = run.made.reached.to_dict(), change.state.to_dict()
        assert change.state == run.start
        assert after == {**before, change.variable: change.value}
        if change.variable != "y":
            assert change.value != before[change.variable]
        seen[change.variable].add(change.value)
    assert seen["x"] == set(range(-3, 5))
    assert seen["lit"] == {False, True}
    assert len(seen["y"]) > 300
    assert -0.5 <= min(seen["y"]) < -0.45 and 1.95 < max(seen["y"]) <= 2.0


@pytest.mark.parametrize("perturb", ["values", "actions", "both"])
@pytest.mark.parametrize("changes", [1, 3])
def test_no_perturbed_run_begins_where_it_would_end(perturb, changes):
    task = mixed()
    found = fuzz(task, "random", runs=500, perturb=perturb, changes=changes, **SHORT)
    for run in found.runs:
        assert not task.is_fail(run.start) and not task.is_goal(run.start)
        assert not run.is_known_reachable
        assert len(run.made.changes) == changes
        kinds = {"action" if change.action else "value" for change in run.made.changes}
        assert perturb == "both" or kinds == {perturb.removesuffix("s")}


def test_perturbed_starts_find_what_the_policy_avoids():
    task = corridor()
    assert not fuzz(task, "first", runs=50).failing

    def careless(state):
        return "fall" if state["x"] == 3 else "go"

    starts = [{"x": 4}]  # behind the place where it falls
    assert not fuzz(task, careless, starts, runs=50).failing
    failing = fuzz(task, careless, starts, runs=50, perturb="values").failing
    assert failing
    assert all(run.start["x"] <= 3 and run.made.reached["x"] >= 4 for run in failing)
    assert "not known to be reachable: made of x=" in str(failing[0])


# -- errors ------------------------------------------------------------------------------------


def numbered():
    """``go`` goes from the first hundred states to the second hundred, ``stay`` stays."""
    d = Description("numbered")
    x = d.int("x", 0, 199, initial=0)
    d.edge("go", guard=x < 100, outcomes=[{x: x + 100}])
    d.edge("stay", outcomes=[{}])
    d.fail(x == 199)
    return d.compile()


STARTS = [{"x": k} for k in range(100)]


def error_of(task, policy, workers, **options):
    with pytest.raises(InputError) as caught:
        fuzz(task, policy, STARTS, runs=100, workers=workers, **options)
    return caught.value


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_error_is_that_of_the_lowest_run(workers):
    task = numbered()
    known = [k for k in range(200) if k not in (37, 38, 41, 60)]
    table = {task.state(x=k): "go" if k < 100 else "stay" for k in known}
    error = error_of(task, table, workers)
    assert error.code == "policy-no-decision"
    assert "x=37" in error.message and "x=137" not in error.message


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_an_error_that_comes_late_is_still_the_lowest(workers):
    def policy(state):
        if state["x"] == 5:
            time.sleep(0.05)
        return "stay" if state["x"] < 5 else "away"

    error = error_of(numbered(), policy, workers)
    assert error.code == "policy-unknown-action"
    assert "x=5" in error.message


@pytest.mark.parametrize("workers", [1, 2])
def test_decisions_that_are_not_applicable_are_errors(workers):
    def policy(state):
        return "go"

    error = error_of(numbered(), policy, workers, lookahead=1)
    assert error.code == "policy-not-applicable"
    assert "x=100" in error.message


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_of_the_users_code_come_out(workers):
    def policy(state):
        if state["x"] >= 20:
            raise ZeroDivisionError(state["x"])
        return "stay"

    with pytest.raises(ZeroDivisionError) as caught:
        fuzz(numbered(), policy, STARTS, runs=100, workers=workers)
    assert caught.value.args == (20,)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("bias", ["uniform", "greedy"])
def test_an_update_out_of_range_is_an_error(workers, bias):
    d = Description("wide")
    x = d.int("x", 0, 120, initial=0)
    d.edge("go", outcomes=[{x: x + 1}, {x: x + 2}])
    d.fail(x == -1 + 0 * x)
    task = d.compile()
    starts = [{"x": k % 3} for k in range(6)]
    errors = set()
    for _ in range(3):
        with pytest.raises(InputError) as caught:
            fuzz(task, "first", starts, runs=6, workers=workers, bias=bias, lookahead=1)
        assert caught.value.code.startswith("model-")
        errors.add(str(caught.value))
    with pytest.raises(InputError) as alone:
        fuzz(task, "first", starts, runs=6, workers=1, bias=bias, lookahead=1)
    assert errors == {str(alone.value)}


BAD = {
    "bias": ({"bias": "greedily"}, "greedy"),
    "perturb": ({"perturb": "value"}, "values"),
    "no runs": ({"runs": 0}, "runs"),
    "too many runs": ({"runs": 10**8}, "10,000,000"),
    "no lookahead": ({"lookahead": 0}, "lookahead"),
    "no workers": ({"workers": 0}, "workers"),
    "no changes": ({"changes": 0}, "changes"),
    "negative": ({"max_steps": -1}, "max_steps"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_are_refused(name):
    changes, text = BAD[name]
    with pytest.raises(InputError, match=text) as caught:
        fuzz(corridor(), "first", **changes)
    assert caught.value.code == "bad-option"


def test_no_state_to_start_from():
    with pytest.raises(InputError) as caught:
        fuzz(corridor(), "first", [])
    assert caught.value.code == "no-start-state"


def test_options_as_an_object():
    found = fuzz(corridor(), "first", options=FuzzOptions(runs=7), seed=3)
    assert len(found.runs) == found.asked == 7


class Walk:
    """A walk in Python."""

    def start(self):
        return [(k,) for k in range(5)]

    def actions(self, state):
        return ["left", "right"] if state[0] < 50 else []

    def outcomes(self, state, action):
        return [(state[0] + 1,), (state[0] + 2 + (action == "right"),)]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return state[0] in (20, 31)


@pytest.mark.parametrize("policy", ["first", "random?seed=3"])
def test_python_tasks_do_not_depend_on_workers(policy):
    results = [
        plain(fuzz(PythonTask(Walk()), policy, runs=60, workers=w, bias="uniform", lookahead=1))
        for w in (1, 2, 3, None)
    ]
    assert results[0]["summary"]["fail"] > 0
    assert all(result == results[0] for result in results)


def test_nobody_knows_the_values_of_a_python_task():
    with pytest.raises(InputError, match="perturb actions"):
        fuzz(PythonTask(Walk()), "first", perturb="values")
    assert fuzz(PythonTask(Walk()), "first", perturb="actions", runs=5).runs


# -- limits ------------------------------------------------------------------------------------


def endless(variables=4):
    """More states than anybody can visit, none of which fails."""
    d = Description("endless")
    v = [d.int(f"v{i}", 0, 1000, initial=0) for i in range(variables)]
    d.edge("one", outcomes=[{x: (x + 1) % 1000} for x in v])
    d.edge("two", outcomes=[{x: (x + 2) % 1000} for x in v])
    d.fail(v[0] == 1000)
    return d.compile()


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("bias", ["uniform", "greedy"])
def test_time_limits_are_kept(workers, bias):
    begin = time.perf_counter()
    found = fuzz(
        endless(),
        "random",
        runs=10**5,
        max_steps=10**6,
        bias=bias,
        workers=workers,
        max_seconds=0.3,
    )
    assert time.perf_counter() - begin < 2
    assert found.stopped == "seconds"
    assert len(found.runs) < found.asked == 10**5
    assert not found.failing


def test_time_limits_are_kept_with_a_slow_network_and_wide_layers():
    task = endless()
    rng = np.random.default_rng(0)
    sizes = (4, 512, 512, 2)
    layers = [
        Layer(rng.normal(size=(b, a)), rng.normal(size=b), "relu")
        for a, b in itertools.pairwise(sizes)
    ]
    policy = as_policy(Network(tuple(layers), "float32"), task)
    begin = time.perf_counter()
    found = fuzz(task, policy, runs=50, workers=1, max_seconds=0.3)
    assert time.perf_counter() - begin < 1.5
    assert found.stopped == "seconds"


def test_no_time_at_all():
    found = fuzz(corridor(), "first", runs=5, max_seconds=0)
    assert (found.runs, found.asked, found.stopped) == ((), 5, "seconds")
    assert found.summary["runs"] == 0
    assert "0 runs" in found.summary_text


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_is_heard(workers):
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fuzz(endless(), "random", runs=10**5, max_steps=10**6, workers=workers, max_seconds=20)
    assert time.perf_counter() - begin < 3
    timer.join()


def test_ctrl_c_is_heard_while_python_decides():
    def slow(state):
        time.sleep(0.01)
        return "one"

    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    begin = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        fuzz(endless(), slow, runs=10**4, max_seconds=20)
    assert time.perf_counter() - begin < 3
    timer.join()


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_is_told(workers):
    told = []
    fuzz(
        endless(),
        "random",
        runs=10**5,
        workers=workers,
        max_seconds=0.5,
        progress=lambda *numbers: told.append(numbers),
    )
    assert 1 <= len(told) <= 8
    assert all(len(one) == 5 for one in told)
    assert told[-1][0] > 0 and told[-1][4] > 0


@pytest.mark.parametrize("bias", ["uniform", "greedy", "weighted"])
def test_nobody_looks_further_than_the_run_may_go(bias):
    """From 0 every number can be reached, and all are equally far from fail."""
    d = Description("numbers")
    y = d.real("y", initial=0.0)
    broken = d.bool("broken", initial=False)
    d.edge("go", outcomes=[{y: 2 * y + 1}, {y: 2 * y + 2}])
    d.edge("break", outcomes=[{broken: True}])
    d.fail(broken)
    found = fuzz(d.compile(), "first", runs=3, max_steps=6, bias=bias, max_seconds=2)
    assert found.stopped is None
    assert [(run.result, run.reason, run.steps) for run in found.runs] == [("cut", "steps", 6)] * 3
    assert found.states < 2**8


def branches():
    """Branch 0 is long, the others are short; nothing fails."""
    d = Description("branches")
    k = d.int("k", 0, 9, initial=0)
    x = d.int("x", 0, 300_000, initial=0)
    d.edge("go", guard=(x < 200_000) & ((k == 0) | (x < 10)), outcomes=[{x: x + 1}])
    d.fail(x == 300_000)
    return d.compile()


@pytest.mark.parametrize("memory_mb", [1, 3, 5])
def test_memory_limits_cut_only_the_runs_that_need_it(memory_mb):
    """What a run does is the same before and after one that ran out of memory."""
    task = branches()
    starts = [{"k": k, "x": 0} for k in range(4)]
    ends = []
    for order in (starts, starts[::-1]):
        found = fuzz(
            task,
            "first",
            order,
            runs=4,
            max_steps=10**6,
            memory_mb=memory_mb,
            bias="uniform",
            lookahead=1,
            workers=1,
        )
        ends.append({run.start["k"]: (run.result, run.reason, run.steps) for run in found.runs})
    assert ends[0] == ends[1]
    assert ends[0][0][:2] == ("cut", "memory")
    assert {ends[0][k] for k in (1, 2, 3)} == {("dead_end", None, 10)}


def test_as_text_only_the_shortest_failing_runs_are_shown():
    found = fuzz(domain("one-way-line", packages=3, locations=5, variant="icy"), "first", runs=50)
    assert len(found.failing) > 4
    shown = [line for line in str(found).splitlines() if line.startswith("run ")]
    assert len(shown) == 3
    assert f"... and {len(found.failing) - 3} more failing runs" in str(found)
    assert len(repr(found)) < 300


def test_ends_of_runs_have_the_same_names_in_the_core():
    assert {end.name for end in _core.RunEnd} == {"none", *RunEnd}
