"""Staircase: the order of actions and outcomes is what makes it hard."""

from __future__ import annotations

import pytest

from surefoot import domain, explore
from surefoot.domains.staircase import FAIL, LANDING, ROOT, STEPS


def places(states):
    """Return states as pairs of place and step."""
    return [(s["place"], s["step"]) for s in states]


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 800])
def test_states_and_outcomes(steps):
    task = domain("staircase", steps=steps)
    counts = explore(task)
    assert (counts.states, counts.fail, counts.goal) == (steps + 3, 1, 0)
    assert counts.pairs == (steps + 1) + steps + 1
    assert counts.outcomes == (steps + 1) + 2 * steps + 1
    assert counts.dead_ends == 0
    assert places(task.list_starts()) == [(ROOT, 0)]


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_order_of_actions_and_outcomes(steps):
    task = domain("staircase", steps=steps)
    entries = [f"enter_{k}" for k in range(1, steps + 1)]
    root = {"place": ROOT, "step": 0}
    assert task.applicable(root) == (*entries, "rest")
    assert [places(task.outcomes(root, a)) for a in entries] == [
        [(STEPS, k)] for k in range(1, steps + 1)
    ]
    stairs = [(FAIL, 0), *((STEPS, k) for k in range(1, steps + 1)), (LANDING, 0)]
    for k in range(1, steps + 1):
        state = {"place": STEPS, "step": k}
        assert task.applicable(state) == ("climb",)
        assert places(task.outcomes(state, "climb")) == [stairs[k + 1], stairs[k - 1]]
    assert task.is_fail({"place": FAIL, "step": 0})


def test_the_landing_is_left_by_nobody():
    task = domain("staircase", steps=4)
    landing = {"place": LANDING, "step": 0}
    assert places(task.outcomes({"place": ROOT, "step": 0}, "rest")) == [(LANDING, 0)]
    assert task.applicable(landing) == ("rest",)
    assert places(task.outcomes(landing, "rest")) == [(LANDING, 0)]
