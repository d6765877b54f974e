"""Explore: the counts of a plain breadth-first search, and every way to be stopped."""

import itertools
import random

import pytest

from surefoot import Description, ExploreOptions, InputError, explore
from surefoot.tasks.expressions import make

NAMES = ("states", "starts", "expanded", "pairs", "outcomes", "fail", "goal", "dead_ends", "depth")


def plain_counts(task, starts):
    """Return what explore should count, by a search over single answers."""
    counts = dict.fromkeys(NAMES, 0)
    layer = list(dict.fromkeys(starts))
    seen = set(layer)
    counts["starts"] = len(layer)
    while layer:
        following = []
        for state in layer:
            counts["expanded"] += 1
            if task.is_fail(state) or task.is_goal(state):
                counts["fail" if task.is_fail(state) else "goal"] += 1
                continue
            actions = task.applicable(state)
            counts["dead_ends"] += not actions
            counts["pairs"] += len(actions)
            for action in actions:
                outcomes = task.outcomes(state, action)
                counts["outcomes"] += len(outcomes)
                following += [s for s in dict.fromkeys(outcomes) if s not in seen]
                seen.update(outcomes)
        layer = following
        counts["depth"] += bool(layer)
    return {**counts, "states": len(seen)}


def random_description(rng):
    d = Description("random")
    variables = [
        d.int(f"v{i}", *rng.choice([(0, 2), (-1, 1), (0, 0), (0, 4)]))
        for i in range(rng.randint(1, 4))
    ]
    flag = d.bool("flag")

    def bounds(v):
        return d.lookup(v.value).lower, d.lookup(v.value).upper

    def change(v):
        lower, upper = bounds(v)
        new = rng.choice([v + 1, v - 1, rng.randint(lower, upper), rng.choice(variables), v * 2])
        return make("min", make("max", new, int(lower)), int(upper))

    def condition():
        v = rng.choice(variables)
        one = make(
            rng.choice(["eq", "ne", "lt", "le", "gt", "ge"]), v, rng.randint(*map(int, bounds(v)))
        )
        return rng.choice([one, one | flag, one & ~flag, v + rng.choice(variables) <= 1])

    for _ in range(rng.randint(1, 6)):
        outcomes = []
        for _ in range(rng.randint(1, 3)):
            outcome = {v: change(v) for v in rng.sample(variables, rng.randint(0, len(variables)))}
            outcomes.append({**outcome, flag: condition()} if rng.random() < 0.3 else outcome)
        d.edge(rng.choice("abc"), guard=rng.choice([None, condition()]), outcomes=outcomes)
    d.start(condition())
    if rng.random() < 0.7:
        d.goal(condition() & condition())
    if rng.random() < 0.7:
        d.fail(condition() & condition())
    return d


@pytest.mark.fuzz
def test_explore_counts_like_a_plain_search():
    rng = random.Random(11)
    sizes = []
    for _ in range(150):
        task = random_description(rng).compile()
        starts = task.list_starts()
        if not starts:
            assert_no_start(task)
            continue
        expected = plain_counts(task, starts)
        found = explore(task)
        assert {name: getattr(found, name) for name in NAMES} == expected
        assert found.complete
        assert found.starts_complete
        sizes.append(found.states)
        exact = explore(task, max_states=found.states)
        assert {name: getattr(exact, name) for name in NAMES} == expected
        assert exact.complete
        cut = explore(task, max_states=found.states - 1)
        assert (cut.states, cut.complete, cut.stopped) == (found.states - 1, False, "states")
        assert cut.starts_complete == (found.states - 1 >= found.starts)
    assert max(sizes) > 50


def assert_no_start(task, *states):
    with pytest.raises(InputError) as caught:
        explore(task, *states)
    assert caught.value.code == "no-start-state"


def counter(bits=40):
    """A task with 2^bits states, one after the other."""
    d = Description("counter")
    x = d.int("x", 0, 2**bits - 1, initial=0)
    d.edge("up", guard=x < 2**bits - 1, outcomes=[{x: x + 1}])
    d.edge("jump", guard=x < 2 ** (bits - 1), outcomes=[{x: x * 2}, {x: x * 2 + 1}])
    return d.compile()


def test_seconds_stop():
    counts = explore(counter(), max_seconds=0.05)
    assert (counts.complete, counts.stopped) == (False, "seconds")
    assert 0.05 <= counts.seconds < 2
    assert counts.states_per_second == pytest.approx(counts.states / counts.seconds)


def test_memory_stops():
    counts = explore(counter(), memory_mb=8, max_seconds=20)
    assert (counts.complete, counts.stopped) == (False, "memory")
    assert 1_000_000 < counts.bytes_per_state * counts.states <= 8_000_000


def test_progress_is_told_and_may_stop():
    seen = []
    explore(counter(), max_seconds=0.5, progress=lambda *told: seen.append(told))
    assert 2 <= len(seen) <= 6
    assert all(len(told) == 5 for told in seen)
    for before, after in itertools.pairwise(seen):
        assert all(a <= b for a, b in zip(before, after, strict=True))
    states, expanded, _, used, seconds = seen[-1]
    assert 0 < expanded <= states
    assert used > 0
    assert 0 < seconds <= 1

    def refuse(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(counter(), max_seconds=20, progress=refuse)


def test_more_starts_than_the_cap():
    d = Description("wide")
    x, y = d.int("x", 0, 999), d.int("y", 0, 999)
    d.edge("wait", outcomes=[{}])
    d.start(x + y >= 0)
    task = d.compile()
    counts = explore(task, max_states=1000)
    assert (counts.starts, counts.states, counts.starts_complete, counts.complete) == (
        1000,
        1000,
        False,
        False,
    )
    assert counts.expanded == 0


def test_given_states_replace_the_starts_and_count_once():
    task = counter(3)
    assert explore(task, [{"x": 7}]).states == 1
    counts = explore(task, [{"x": 6}, {"x": 7}, {"x": 6}])
    assert (counts.starts, counts.states, counts.depth) == (2, 2, 0)
    assert explore(task, iter([task.state(x=6)])).depth == 1
    assert explore(task, {"x": 6}).depth == 1
    assert_no_start(task, [])
    with pytest.raises(InputError):
        explore(task, [{"x": 8}])


def test_options_as_object_or_keywords_but_none_is_lost():
    task = counter(10)
    assert explore(task, options=ExploreOptions(max_states=5)).states == 5
    assert explore(task, max_states=5).states == 5
    assert explore(task, options=ExploreOptions(), max_states=5).states == 5


def test_result_is_printable_and_plain():
    counts = explore(counter(3))
    assert str(counts).startswith("8 states (1 start, 0 fail, 0 goal, 1 dead ends)")
    assert counts.to_dict()["states"] == 8
    assert "cut (states)" in str(explore(counter(3), max_states=2))


@pytest.mark.parametrize(
    "changes", [{"max_states": -1}, {"memory_mb": -1}, {"max_seconds": float("nan")}]
)
def test_bad_limits_are_input_errors(changes):
    with pytest.raises(InputError):
        explore(counter(3), **changes)
