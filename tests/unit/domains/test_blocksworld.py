"""Blocksworld against its rules, as tests/support/puzzles.py has them."""

from __future__ import annotations

import random
from xml.etree import ElementTree

import pytest
from tests.support.agreement import compare_reachable, compare_state, reachable_counts
from tests.support.puzzles import BlocksRules, random_towers, ways_to_goal

from surefoot import InputError, domain, explore
from surefoot.doctor import examine
from surefoot.domains import domain_family

SMALL = [(2, 1, None), (3, 2, None), (3, 1, 2), (3, 2, 3), (4, 2, None), (5, 3, None)]
BELLS = {2: 2, 3: 5, 4: 15, 5: 52, 6: 203, 7: 877, 8: 4140}  # partitions of a set


def table(blocks, limit, bound):
    """Return the built-in task and what the rules say of it; ``bound`` is None for ``ci``."""
    more = {"variant": "ci"} if bound is None else {"variant": "ca", "cost_bound": bound}
    task = domain("blocksworld", blocks=blocks, table_limit=limit, **more)
    return task, BlocksRules(blocks, limit, bound)


@pytest.mark.parametrize("sizes", [*SMALL, (6, 5, 12), (8, 7, None), (8, 7, 8)])
def test_states_follow_the_rules(sizes):
    task, rules = table(*sizes)
    rng = random.Random(1)
    assert task.actions == rules.actions
    assert list(task.names) == list(random_towers(rules, rng))
    for _ in range(200):
        compare_state(task, rules, task.state(random_towers(rules, rng)))
    starts = task.sample_starts(20, seed=1)
    compare_reachable(task, rules, starts, count=200, rng=random.Random(1))
    assert task.is_start(task.initial_state())


@pytest.mark.parametrize("sizes", SMALL)
def test_small_tables_follow_the_rules_to_the_last_state(sizes):
    task, rules = table(*sizes)
    starts = rules.starts()
    assert {s.packed for s in task.list_starts()} == {task.packed(s) for s in starts}
    expected = reachable_counts(rules, starts, limit=20_000)
    counts = explore(task)
    assert {name: getattr(counts, name) for name in expected} == expected
    assert counts.fail > 0


def test_counts_of_the_tiny_table():
    counts = explore(domain("blocksworld"))
    assert (counts.states, counts.pairs, counts.outcomes) == (860, 1979, 3958)
    assert (counts.fail, counts.goal, counts.dead_ends) == (20, 1, 0)


@pytest.mark.parametrize("blocks", BELLS)
def test_starts_are_partitions(blocks):
    task, _ = table(blocks, blocks - 1, None)
    assert len(task.list_starts()) == BELLS[blocks] - 1  # all but the one with all on the table


@pytest.mark.parametrize(("blocks", "limit"), [(4, 3), (5, 3), (5, 4)])
def test_every_start_has_a_way_to_the_goal(blocks, limit):
    _, rules = table(blocks, limit, None)
    starts = rules.starts()
    solved, kinds = ways_to_goal(rules, starts)
    assert solved == len(starts)
    assert kinds["goal"] == 1
    assert kinds["fail"] > 0


def test_ignoring_costs_is_what_is_left_of_them_without_a_bound():
    """Leave the costs out of the states and outcomes of ``ca``: that is ``ci``."""
    aware, _ = table(4, 3, 50)
    ignoring, _ = table(4, 3, None)
    frontier, seen = aware.sample_starts(20, seed=3), 0
    rng = random.Random(3)
    while seen < 300:
        state = frontier.pop(rng.randrange(len(frontier)))
        seen += 1
        known = {name: value for name, value in state.to_dict().items() if "cost" not in name}
        assert aware.applicable(state) == ignoring.applicable(known)
        assert aware.is_fail(state) == ignoring.is_fail(known)
        for action in aware.applicable(state):
            outcomes = aware.outcomes(state, action)
            left = [tuple(o[name] for name in ignoring.names) for o in outcomes]
            found = ignoring.outcomes(known, action)
            assert [tuple(o[name] for name in ignoring.names) for o in found] == left
            frontier += outcomes


def test_a_block_that_failed_too_often_stays_where_it_is():
    task, rules = table(3, 2, 2)
    towers = {0: 1, 1: "table", 2: "table"}
    fresh = rules.written(towers, [0, 0, 0], 0)
    assert task.applicable(fresh) == ("choose_block_0", "choose_block_2")
    tired = rules.written(towers, [2, 0, 1], 0)
    assert task.applicable(tired) == ("choose_block_2",)
    moved, failed = task.outcomes(tired, "choose_block_2")
    assert (moved["step_cost"], moved["cost_block_2"], moved["block_2"]) == (1, 1, 0)
    assert (failed["step_cost"], failed["cost_block_2"], failed["block_2"]) == (1, 2, 1)
    assert task.applicable(failed) == ()


def test_one_block_too_many_on_the_table_fails():
    task, rules = table(4, 2, None)
    state = rules.written({0: 1, 1: "table", 2: "hand", 3: "table"}, [], 0)
    assert task.applicable(state) == ("choose_table", "choose_block_0", "choose_block_3")
    down, still = task.outcomes(state, "choose_table")
    assert task.is_fail(down)
    assert still.to_dict() == state
    assert [task.distance_to_fail(s) for s in (down, still)] == [0, 1]
    assert not task.is_fail(task.outcomes(state, "choose_block_3")[0])


WRONG = {
    "one block": ({"blocks": 1}, "blocks must be from 2 to 30, not 1"),
    "no table": ({"table_limit": 0}, "table_limit must be from 1 to 4, not 0"),
    "fail is impossible": ({"blocks": 3}, "table_limit must be from 1 to 2, not 3"),
    "no cost": ({"cost_bound": 0}, "cost_bound must be from 1 to 1,000, not 0"),
    "no such variant": ({"variant": "cd"}, 'there is no variant "cd"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name):
    parameters, text = WRONG[name]
    with pytest.raises(InputError) as caught:
        domain("blocksworld", **parameters)
    assert caught.value.code == "bad-parameter"
    assert text in caught.value.message


@pytest.mark.parametrize("size", ["tiny", "small", "4-3", "6-5", "8-7"])
def test_every_size_is_healthy_but_for_blocks_that_cannot_be_moved(size):
    assert size in domain_family("blocksworld").sizes
    ignoring = examine(domain("blocksworld", size=size, variant="ci"), samples=300)
    assert ignoring.findings == ()
    aware = examine(domain("blocksworld", size=size, variant="ca"), samples=300)
    assert {f.code for f in aware.findings} <= {"dead-end"}


def test_many_blocks_are_described():
    task = domain("blocksworld", blocks=20, table_limit=19, variant="ca")
    assert len(task.actions) == 21
    assert task.is_start(task.initial_state())
    assert task.applicable(task.initial_state()) == ("choose_block_0",)


# -- pictures --------------------------------------------------------------------------------------

LIFTED = """\
hand   [2]
       [1]
       [0] [3]
table  ===============  2 of at most 3
failures, at most 50: 2=3, 3=1"""

CYCLE = """\
hand
       [3]
table  =======================  2 of at most 3
nowhere: [0] [1] [2] [4] [5]"""


def lifted():
    task, rules = table(4, 3, 50)
    towers = {0: "table", 1: 0, 2: "hand", 3: "table"}
    return task.picture(rules.written(towers, [0, 0, 3, 1], 0))


def test_pictures_as_text():
    assert lifted().text == LIFTED
    task, rules = table(11, 3, None)
    towers = {0: 2, **dict.fromkeys(range(1, 11), "table")}
    lines = task.picture(rules.written(towers, [], 0)).text.splitlines()
    assert lines[1] == " " * 12 + "[ 0]"
    assert lines[2] == " " * 7 + " ".join(f"[{i:>2}]" for i in range(1, 11))
    assert lines[3] == "table  " + "=" * 54 + "  10 of at most 3"


def test_a_state_that_cannot_be_has_a_picture_too():
    task, rules = table(6, 3, None)
    towers = {0: 1, 1: 0, 2: 0, 3: "table", 4: 5, 5: 4}
    state = rules.written(towers, [], 0) | {"table-counter": 2}
    assert task.picture(state).text == CYCLE


def test_pictures_as_svg():
    texts = [e.text for e in ElementTree.fromstring(lifted().svg) if e.tag.endswith("text")]
    assert texts[:8] == ["0", "0", "1", "0", "3", "1", "2", "3"]  # each block and its failures
    assert texts[8:] == ["on the table: 2 of at most 3", "small numbers: failures, at most 50"]
    task, rules = table(4, 2, None)
    fallen = task.picture(rules.written(dict.fromkeys(range(4), "table"), [], 0))
    rows = [e for e in ElementTree.fromstring(fallen.svg) if e.tag.endswith("rect")]
    assert len(rows) == 5
    assert rows[-1].get("fill") != rows[0].get("fill")
