"""Comparing policies: which faults are new, mended or common, and where decisions differ."""

from __future__ import annotations

import time
from typing import Any

import pytest

import surefoot
from surefoot import Description, InputError, compare, domain, find_faults, fuzz, load_policy
from surefoot.options import CompareOptions
from surefoot.policies import Policy, as_policy
from surefoot.records.comparing import sampled_interval
from surefoot.tasks.task import Task

SHIPPED = (
    ("two-way-line?packages=2&locations=6&variant=icy", "two-way-line-icy-trees"),
    ("n-puzzle?size=small", "n-puzzle-network"),
)


def corridor() -> Task:
    """One walks from 0 to 9; leaving the path at 3 or 6 may fail, and so may running there."""
    d = Description("corridor")
    x, hurt = d.int("x", 0, 9, initial=0), d.int("hurt", 0, 1, initial=0)
    trap = (x == 3) | (x == 6)
    d.edge("walk", guard=x < 9, outcomes=[{x: x + 1}])
    for name in ("leave", "run"):
        d.edge(name, guard=trap, outcomes=[{x: x + 1}, {hurt: 1}])
    d.start((hurt == 0) & (x == 0))
    d.goal(x == 9)
    d.fail(hurt == 1)
    return d.compile()


def walker(task: Task, name: str, **at: str) -> Policy:
    """Return a policy that walks, but for some places: ``x3="run"``."""
    decide = {f"x{x}": action for x, action in ((n, "walk") for n in range(10))} | at
    policy = as_policy(lambda state: decide[f"x{state['x']}"], task)
    return policy.renamed(name, file=None, sha256=None)


def keys(faults: Any) -> list[tuple[int, str, str | None]]:
    return [(each.fault.state["x"], each.fault.action, each.instead) for each in faults]


def test_new_mended_and_common_ones() -> None:
    task = corridor()
    old, new = walker(task, "old", x3="run", x6="run"), walker(task, "new", x3="leave", x6="run")
    result = compare(task, old, new)
    (change,) = result.changes
    assert keys(change.new) == [(3, "leave", "run")]
    assert keys(change.mended) == [(3, "run", "leave")]
    assert [(fault.state["x"], fault.action) for fault in change.common] == [(6, "run")]
    assert result.is_worse and result.is_complete
    assert (change.states, change.differing) == (9, 1)
    (difference,) = change.examples
    assert (difference.state["x"], difference.before, difference.after) == (3, "run", "leave")
    assert difference.margin_before is difference.margin_after is None
    assert "new: 1 new fault, 1 mended, 1 common; 1 of 9 visited states" in str(result)


def test_a_fault_is_common_where_the_other_would_do_the_same() -> None:
    """Also if the other one never comes there: its decision is no worse."""
    task = corridor()
    d = Description("fork")
    x, side, hurt = d.int("x", 0, 2, initial=0), d.int("side", 0, 1), d.int("hurt", 0, 1)
    d.edge("left", guard=x == 0, outcomes=[{x: 1, side: 0}])
    d.edge("right", guard=x == 0, outcomes=[{x: 1, side: 1}])
    d.edge("walk", guard=x == 1, outcomes=[{x: 2}])
    d.edge("run", guard=x == 1, outcomes=[{x: 2}, {hurt: 1}])
    d.start((x == 0) & (side == 0) & (hurt == 0))
    d.goal(x == 2)
    d.fail(hurt == 1)
    task = d.compile()
    old = as_policy(lambda s: "left" if s["x"] == 0 else "run", task)
    new = as_policy(lambda s: "right" if s["x"] == 0 else "run", task)
    (change,) = compare(task, old, new).changes
    assert (change.new, change.mended, len(change.common)) == ((), (), 2)


def test_many_are_held_against_the_first() -> None:
    task = corridor()
    safe = walker(task, "safe")
    bad, worse = walker(task, "bad", x3="run"), walker(task, "worse", x3="run", x6="run")
    result = compare(task, safe, bad, worse)
    assert [(each.number, each.name, len(each.new)) for each in result.changes] == [
        (1, "bad", 1),
        (2, "worse", 2),
    ]
    assert len(result.new) == 3
    assert result.unsafer == ("bad", "worse")
    again = compare(task, worse, safe)
    assert not again.is_worse and again.unsafer == ()
    assert len(again.changes[0].mended) == 2


def test_fractions_have_intervals() -> None:
    task = corridor()
    result = compare(task, walker(task, "safe"), walker(task, "bad", x3="run"))
    safe, bad = result.policies
    assert (safe.unsafe, bad.unsafe) == ((0.0, 0.0), (1.0, 1.0))  # enumerated
    assert safe.goal[0] < 1.0 == safe.goal[1]  # one run
    fractions = result.to_dict()["fractions"]
    assert fractions[1]["unsafe_interval"] == [1.0, 1.0] and fractions[1]["exact"]


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [
        (0, 0, 0.0, 1.0),
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (10, 10, 0.7225, 1.0),
        (50, 1_000, 0.0381, 0.0653),
    ],
)
def test_interval(count: int, total: int, low: float, high: float) -> None:
    """Against the table of Newcombe 1998 for 5 of 10, and R's binom.confint for the others."""
    assert sampled_interval(count, total) == pytest.approx((low, high), abs=5e-5)


def test_policies_without_a_decision() -> None:
    task = corridor()
    states = {task.state(x=x, hurt=0): "run" if x == 3 else "walk" for x in range(9)}
    old = as_policy(states, task)
    new = as_policy({state: action for state, action in states.items() if state["x"] != 6}, task)
    with pytest.raises(InputError):
        compare(task, old, new)  # it cannot be run


def test_same_seed_same_result() -> None:
    task = domain("two-way-line", packages=2, locations=6, variant="icy")
    policies = ("builtin:two-way-line-icy-trees", "builtin:two-way-line-icy-network")
    first, again = (compare(task, *policies, runs=100, seed=3).to_dict() for _ in range(2))
    assert first.pop("seconds") and again.pop("seconds")
    assert first == again


def test_out_of_time() -> None:
    task = domain("two-way-line", packages=2, locations=6, variant="icy")

    def slow(state: Any) -> str:
        time.sleep(0.001)
        return task.applicable(state)[0]

    result = compare(task, slow, slow, max_seconds=1)
    assert not result.is_complete
    assert "seconds" in (result.stopped, *(each.stopped for each in result.policies))
    assert result.seconds < 6


@pytest.mark.parametrize(("address", "name"), SHIPPED)
def test_shipped_policies_and_repaired_ones(address: str, name: str) -> None:
    task = surefoot.load_task(f"domain:{address}")
    old = load_policy(f"builtin:{name}", task)
    faults = find_faults(task, old, fuzz(task, old).failing)
    new = surefoot.repair(task, old, faults, keep=100, diff_states=10).policy
    result = compare(task, old, new)
    (change,) = result.changes
    repaired = {fault.key for fault in faults.faults}
    assert {each.fault.key for each in change.mended} & repaired
    assert not {fault.key for fault in change.common} & repaired
    for each in change.mended:
        assert each.instead in each.fault.alternatives
        assert each.instead == new.decide(each.fault.state)
    for each in change.new:
        assert each.instead == old.decide(each.fault.state) != each.fault.action
    assert 0 < change.differing < change.states
    assert all(each.margin_before is not None for each in change.examples)
    for each in change.examples:
        assert each.margin_before >= 0 <= each.margin_after  # type: ignore[operator]
    before, after = result.policies
    assert after.evaluation.unsafe_fraction < before.evaluation.unsafe_fraction


def test_bad_options() -> None:
    task = corridor()
    with pytest.raises(InputError, match="there is no option"):
        compare(task, "first", "first", rnus=3)  # type: ignore[call-arg]
    with pytest.raises(InputError):
        compare(task, "first", "first", bias="gready")
    assert compare(task, "first", "first", options=CompareOptions(runs=3)).changes[0].new == ()
