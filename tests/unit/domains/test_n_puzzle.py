"""The n-puzzle against its rules, as tests/support/puzzles.py has them."""

from __future__ import annotations

import math
import random
from xml.etree import ElementTree

import pytest
from tests.support.agreement import compare_reachable, compare_state, reachable_counts
from tests.support.puzzles import PuzzleRules, random_board, ways_to_goal

from surefoot import InputError, domain, explore
from surefoot.doctor import examine
from surefoot.domains import domain_family

VARIANTS = ("published", "plain")
COUNTS = {"published": (1272, 2682, 4366, 162, 90), "plain": (1026, 1746, 2826, 81, 72)}


def puzzle(side, bound, variant):
    """Return the built-in task and what the rules say of it."""
    task = domain("n-puzzle", side=side, cost_bound=bound, variant=variant)
    return task, PuzzleRules(side, bound, wraps=variant == "published")


@pytest.mark.parametrize("sizes", [(2, 0), (2, 3), (3, 0), (3, 3), (4, 2), (5, 1)])
@pytest.mark.parametrize("variant", VARIANTS)
def test_states_follow_the_rules(variant, sizes):
    task, rules = puzzle(*sizes, variant)
    rng = random.Random(1)
    assert task.actions == rules.actions
    assert list(task.names) == list(random_board(rules, rng))
    for _ in range(200):
        compare_state(task, rules, task.state(random_board(rules, rng)))
    starts = task.sample_starts(20, seed=1)
    compare_reachable(task, rules, starts, count=200, rng=random.Random(1))
    assert task.is_start(task.initial_state())


@pytest.mark.parametrize("bound", [0, 1, 2])
@pytest.mark.parametrize("variant", VARIANTS)
def test_small_puzzles_follow_the_rules_to_the_last_state(variant, bound):
    task, rules = puzzle(2, bound, variant)
    starts = rules.starts()
    assert {s.packed for s in task.list_starts()} == {task.packed(s) for s in starts}
    expected = reachable_counts(rules, starts, limit=20_000)
    counts = explore(task)
    assert {name: getattr(counts, name) for name in expected} == expected
    assert counts.fail > 0
    assert counts.dead_ends == 0


@pytest.mark.parametrize("variant", VARIANTS)
def test_counts_of_the_tiny_puzzle(variant):
    counts = explore(domain("n-puzzle", variant=variant))
    found = (counts.states, counts.pairs, counts.outcomes, counts.fail, counts.goal)
    assert found == COUNTS[variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_order_of_eight_tiles_is_reached(variant):
    """All that do not fail, and of those that fail the ones with the empty cell beside tile 3."""
    counts = explore(domain("n-puzzle", side=3, cost_bound=0, variant=variant))
    assert (counts.states - counts.fail, counts.goal) == (8 * math.factorial(8), 2)
    assert counts.fail == 3 * math.factorial(7)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_start_has_a_way_to_the_goal(variant):
    _, rules = puzzle(2, 0, variant)
    starts = rules.starts()
    solved, kinds = ways_to_goal(rules, starts)
    assert (solved, len(starts)) == (9, 9)
    assert kinds["goal"] == 2


def test_rows_end_in_the_plain_puzzle_only():
    plain, rules = puzzle(3, 0, "plain")
    published, _ = puzzle(3, 0, "published")
    state = rules.written([1, 2, 3, 0, 4, 5, 6, 7, 8], [0] * 8, 0)  # the empty cell begins a row
    assert plain.applicable(state) == ("move_right", "move_up", "move_down")
    assert published.applicable(state) == ("move_left", "move_right", "move_up", "move_down")
    (wrapped,) = published.outcomes(state, "move_left")
    assert (wrapped["empty"], wrapped["tile_3"]) == (2, 3)


def test_a_move_fails_until_the_tile_costs_its_bound():
    task, rules = puzzle(2, 2, "plain")
    state = rules.written([0, 1, 3, 2], [1, 0, 0], 0)
    moved, failed = task.outcomes(state, "move_right")
    assert (moved["empty"], moved["tile_1"], moved["step_cost"], moved["cost_tile_1"]) == (
        1, 0, 1, 1,
    )  # fmt: skip
    assert (failed["empty"], failed["tile_1"], failed["step_cost"], failed["cost_tile_1"]) == (
        0, 1, 1, 2,
    )  # fmt: skip
    (sure,) = task.outcomes(failed, "move_right")
    assert (sure["empty"], sure["step_cost"], sure["cost_tile_1"]) == (1, 2, 2)


@pytest.mark.parametrize("side", [2, 3, 4, 5])
def test_goal_and_fail_of_any_side(side):
    task, rules = puzzle(side, 1, "plain")
    size = side * side
    board = list(reversed(range(size)))
    free = [0] * (size - 1)
    for swapped in (board, [board[1], board[0], *board[2:]]):
        assert task.is_goal(rules.written(swapped, free, 0))
    others = [*board[:-2], 0, 1]
    assert not task.is_goal(rules.written(others, free, 0))
    at = board.index(side)
    board[at], board[-2] = board[-2], board[at]
    assert task.is_fail(rules.written(board, free, 0))
    assert task.distance_to_fail(task.initial_state()) > 0


@pytest.mark.parametrize("side", [4, 5])
def test_large_puzzles_shuffle_the_last_three_rows_and_columns(side):
    task, rules = puzzle(side, 1, "plain")
    kept = [c for c in range(side * side) if c // side < side - 3 or c % side < side - 3]
    boards = set()
    for state in task.sample_starts(300, seed=1):
        board = rules.read(state)
        assert [board[c] for c in kept] == [side * side - 1 - c for c in kept]
        assert not task.is_fail(state)
        boards.add(tuple(board))
    assert len(boards) > 250


WRONG = {
    "one cell": ({"side": 1}, "side must be from 2 to 6, not 1"),
    "too large": ({"side": 7}, "side must be from 2 to 6, not 7"),
    "negative": ({"cost_bound": -1}, "cost_bound must be from 0 to 1,000, not -1"),
    "no such variant": ({"variant": "real"}, 'there is no variant "real"'),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_parameters(name):
    parameters, text = WRONG[name]
    with pytest.raises(InputError) as caught:
        domain("n-puzzle", **parameters)
    assert caught.value.code == "bad-parameter"
    assert text in caught.value.message


@pytest.mark.parametrize("size", ["tiny", "small", "3-3", "8-puzzle"])
def test_every_size_is_healthy(size):
    assert size in domain_family("n-puzzle").sizes
    assert examine(domain("n-puzzle", size=size), samples=300).findings == ()


# -- pictures --------------------------------------------------------------------------------------

SHUFFLED = """\
 .  1  2
 3  4  5
 6  7! 8
failures, at most 3: 2=1, 7=3"""

LARGE = """\
 15  14  13  12
 11   .   1   2
  7   4   5   6
  3   8   9! 10"""

IMPOSSIBLE = """\
   .    1
 2+3!   .
failures, at most 2: none"""


def shuffled():
    task = domain("n-puzzle", size="3-3")
    return task.picture(task.initial_state().to_dict() | {"cost_tile_2": 1, "cost_tile_7": 3})


def test_pictures_as_text():
    assert shuffled().text == SHUFFLED
    task = domain("n-puzzle", side=4, cost_bound=0)
    assert task.picture(task.initial_state()).text == LARGE
    task = domain("n-puzzle")
    state = task.initial_state().to_dict() | {"tile_2": 2, "tile_3": 2}
    assert task.picture(state).text == IMPOSSIBLE


def test_pictures_of_large_puzzles_fit_a_terminal():
    task = domain("n-puzzle", side=5, cost_bound=1000)
    costs = {f"cost_tile_{k}": 1000 for k in range(1, 25)}
    lines = task.picture(task.initial_state().to_dict() | costs).text.splitlines()
    assert max(map(len, lines)) <= 100
    assert "24=1000" in lines[-1]


def test_pictures_as_svg():
    texts = [e.text for e in ElementTree.fromstring(shuffled().svg) if e.tag.endswith("text")]
    tiles = [("1", "0"), ("2", "1"), ("3", "0"), ("4", "0"), ("5", "0"), ("6", "0"), ("7", "3")]
    assert texts == [part for tile in [*tiles, ("8", "0")] for part in tile] + [
        "tile 3 must avoid the red cell"
    ]
