"""The bias ``mixed``, the default: what it finds, that it is reproducible, and what runs say."""

import math
import time
from collections import Counter

import pytest

from surefoot import Description, InputError, domain, find_faults, load_policy
from surefoot.findings.runs import run_from
from surefoot.fuzz import fuzz
from surefoot.fuzz.bias import BIASES
from surefoot.fuzz.strategies import LOOKAHEAD_STATES, strategies_of
from surefoot.options import MAX_INT, FuzzOptions

ROUND = 50


def eighteen():
    """A way on which greedy runs take the same four decisions for ever, and never fail."""
    d = Description("eighteen")
    x = d.int("x", 0, 9, initial=0)
    d.edge("go", guard=x < 8, outcomes=[{x: x + 1}, {x: x + 2}])
    d.edge("stop", guard=x == 7, outcomes=[{x: 8}])
    d.goal(x == 8)
    d.fail(x == 9)
    return d.compile()


def grid(size=30):
    """A walk to the right that may rise: it fails high above, and ends well far right."""
    d = Description("grid")
    x, y = d.int("x", 0, size, initial=0), d.int("y", 0, size, initial=0)
    d.edge("go", guard=(x < size) & (y < size), outcomes=[{x: x + 1}, {x: x + 1, y: y + 1}])
    d.fail(y > 2 * size // 3)
    d.goal((x == size) & (y <= 2 * size // 3))
    return d.compile()


def plain(result):
    content = result.to_dict()
    del content["summary"]["seconds"]
    return content


def test_the_default_finds_what_greedy_runs_never_see():
    task = eighteen()
    assert "fail" not in fuzz(task, "first", bias="greedy").counts
    found = fuzz(task, "first")
    assert found.counts["fail"] > 100
    faults = find_faults(task, "first", found.failing).faults
    assert [(fault.state["x"], fault.action) for fault in faults] == [(7, "go")]


@pytest.mark.parametrize("runs", [7, ROUND, ROUND + 1, 333])
@pytest.mark.parametrize("make", [eighteen, grid])
def test_any_number_of_workers_makes_the_same_runs(make, runs):
    task = make()
    alone = plain(fuzz(task, "first", runs=runs, workers=1, seed=5))
    for workers in (2, 7):
        assert plain(fuzz(task, "first", runs=runs, workers=workers, seed=5)) == alone


def test_more_runs_begin_with_the_same():
    few, many = (fuzz(grid(), "first", runs=runs).runs for runs in (120, 400))
    for one, other in zip(few, many[:120], strict=True):
        assert (one.strategy, ends(one)) == (other.strategy, ends(other))


@pytest.mark.parametrize("make", [eighteen, grid])
def test_a_run_is_that_of_its_strategy_alone(make):
    task = make()
    mixed = fuzz(task, "first", runs=200, seed=3)
    assert len({run.strategy for run in mixed.runs}) == 5
    for strategy in {run.strategy for run in mixed.runs}:
        how = {"bias": strategy.bias, "lookahead": strategy.lookahead}
        alone = fuzz(task, "first", runs=200, seed=3, **how)
        theirs = [run for run in mixed.runs if run.strategy == strategy]
        assert theirs
        for run in theirs:
            assert ends(alone.runs[run.run]) == ends(run)


def ends(run):
    return run.start, run.result, run.reason, run.steps


def test_failing_runs_are_those_of_their_strategy_step_by_step():
    task = grid()
    for run in fuzz(task, "first", runs=100).failing:
        how = {"bias": run.strategy.bias, "lookahead": run.strategy.lookahead}
        again = fuzz(task, "first", runs=run.run + 1, **how).failing
        (same,) = [one for one in again if run.run in (one.run, *one.same)]
        assert (list(same.states), same.actions) == (list(run.states), run.actions)


def test_runs_shift_to_what_finds_something_new():
    """Greedy runs all fail in one way; those that look one step ahead go many ways."""
    counts = Counter(str(run.strategy) for run in fuzz(eighteen(), "first", runs=500).runs)
    assert counts["--bias greedy"] < 100
    assert min(counts.values()) >= 500 // ROUND


def test_every_strategy_makes_a_run_in_every_round():
    runs = fuzz(grid(), "first", runs=10 * ROUND).runs
    for begin in range(0, len(runs), ROUND):
        assert len({run.strategy for run in runs[begin : begin + ROUND]}) == 5


def test_a_run_says_its_strategy():
    run = fuzz(eighteen(), "first", runs=3).runs[1]
    assert run.to_dict()["strategy"] == {"bias": "uniform", "lookahead": 1}
    assert str(run.strategy) == "--bias uniform --lookahead 1"
    alone = fuzz(eighteen(), "first", runs=3, bias="uniform").runs[1]
    assert alone.strategy is None
    assert "strategy" not in alone.to_dict()


def test_a_run_with_a_strategy_is_read_back():
    task = eighteen()
    run = fuzz(task, "first").failing[0]
    again = run_from(run.to_dict(), task)
    assert (list(again.states), again.strategy) == (list(run.states), run.strategy)


@pytest.mark.parametrize("given", [3, [], {"bias": ["greedy"]}, {"bias": "\x1b[0m"}])
def test_what_is_no_strategy_is_left_out(given):
    task = eighteen()
    content = {**fuzz(task, "first").failing[0].to_dict(), "strategy": given}
    assert run_from(content, task).strategy is None


def test_perturbed_runs_are_mixed_too():
    found = fuzz(grid(), "first", runs=60, perturb="both", workers=1)
    assert len({run.strategy for run in found.runs}) == 5
    assert plain(found) == plain(fuzz(grid(), "first", runs=60, perturb="both", workers=3))


# -- coinciding runs ---------------------------------------------------------------------------


def test_runs_that_coincide_are_told():
    found = fuzz(eighteen(), "first", bias="greedy")
    assert found.distinct_runs == found.summary["distinct_runs"] == 1
    assert found.summary_text.startswith(
        "1,000 runs, 1 distinct: fuzzing saw one behaviour; 1,000 goal; 4,000 steps"
    )


def test_several_behaviours_are_counted():
    found = fuzz(eighteen(), "first", bias="uniform")
    assert found.distinct < found.distinct_runs == 55  # compositions of 8 or 9 that do not skip 8
    assert found.summary_text.startswith("1,000 runs, 55 distinct: ")


def test_runs_that_all_differ_are_not_remarked_on():
    found = fuzz(grid(), "first", runs=1)
    assert found.distinct_runs == 1
    assert "distinct:" not in found.summary_text


# -- lookahead ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", ["greedy", "weighted", "mixed"])
def test_an_explicit_lookahead_holds_for_all(bias):
    (*strategies,) = strategies_of(bias, 4, None)
    assert {strategy.lookahead for strategy in strategies} == {4}


@pytest.mark.parametrize("bias", ["greedy", "weighted"])
def test_a_guided_lookahead_is_bounded_by_states(bias):
    task = many()
    default = fuzz(task, "first", runs=1, bias=bias, max_steps=3)
    assert default.states < 60 * LOOKAHEAD_STATES
    endless = fuzz(task, "first", runs=1, bias=bias, max_steps=3, lookahead=math.inf)
    assert endless.states > 100_000


def test_uniform_needs_no_lookahead():
    task = many()
    found = fuzz(task, "first", runs=1, bias="uniform", max_steps=3)
    assert found.states < 600
    assert plain(found) == plain(
        fuzz(task, "first", runs=1, bias="uniform", max_steps=3, lookahead=1)
    )


def many(size=50):
    """From each state to a hundred others, none of which is nearer to fail."""
    d = Description("many")
    cells = [d.int(f"x{i}", 0, size, initial=0) for i in range(3)]
    z = d.int("z", 0, 1, initial=0)
    changes = [{cell: value} for cell in cells for value in range(size + 1)]
    d.edge("go", outcomes=changes)
    d.fail(z == 1)
    return d.compile()


def test_a_lookahead_without_end_has_a_number():
    assert FuzzOptions(lookahead=math.inf).lookahead == MAX_INT
    assert FuzzOptions().lookahead is None


def test_no_states_no_runs():
    with pytest.raises(InputError):
        fuzz(grid(), "first", [], runs=3)


def test_biases_are_listed_with_the_default_first():
    assert BIASES.built_in == ("mixed", "uniform", "greedy", "weighted")


@pytest.mark.parametrize("workers", [1, 2])
def test_rounds_that_are_over_at_once_keep_to_the_time(workers: int) -> None:
    task = domain("two-way-line", packages=2, locations=6, variant="icy")
    policy = load_policy("builtin:two-way-line-icy-trees", task)
    begin = time.process_time()
    result = fuzz(task, policy, runs=1_000_000, workers=workers, max_seconds=0.2)
    assert result.stopped == "seconds"
    assert time.process_time() - begin < 5
