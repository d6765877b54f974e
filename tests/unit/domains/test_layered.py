"""Layered: every path leads down and back."""

from __future__ import annotations

import time

import pytest

from surefoot import domain, explore


@pytest.mark.parametrize("depth", [1, 2, 16, 1_000])
def test_states_and_outcomes(depth):
    task = domain("layered", depth=depth)
    counts = explore(task)
    assert (counts.states, counts.fail, counts.goal) == (2 * depth + 3, 1, 0)
    assert (counts.pairs, counts.outcomes) == (2 * depth + 3, 4 * depth + 2)
    assert (counts.dead_ends, counts.depth) == (0, depth + 2)
    assert task.list_starts() == [task.state(layer=0, side=0)]


def test_every_layer_leads_to_both_states_of_the_next():
    task = domain("layered", depth=2)
    for layer, side in ((0, 0), (1, 0), (1, 1)):
        state = task.state(layer=layer, side=side)
        below = tuple(task.state(layer=layer + 1, side=s) for s in (0, 1))
        assert task.applicable(state) == ("down",)
        assert task.outcomes(state, "down") == below
    last = task.state(layer=3, side=0)
    for side in (0, 1):
        assert task.outcomes(task.state(layer=2, side=side), "down") == (last,)
    assert task.applicable(last) == ("back", "jump")
    assert task.outcomes(last, "back") == tuple(task.list_starts())
    (fallen,) = task.outcomes(last, "jump")
    assert task.is_fail(fallen)
    assert not task.is_fail(last)


def test_a_million_layers_cost_nothing_to_make():
    begin = time.process_time()
    task = domain("layered", depth=1_000_000)
    assert explore(task, max_states=100).states == 100
    assert time.process_time() - begin < 1
