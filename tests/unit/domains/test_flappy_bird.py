"""Flappy Bird: walls where the seed says, and two outcomes of every flap."""

from __future__ import annotations

import pytest

from surefoot import InputError, domain, explore
from surefoot.domains.flappy_bird import draw_walls

FIRST_WALLS = [
    (40, 0), (45, 0), (40, 2), (47, 2), (39, 3), (11, 4), (5, 5), (28, 5), (46, 5), (45, 6),
]  # fmt: skip
SIZES = {"50 x 8": (50, 8, 10), "200 x 10": (200, 10, 50), "1000 x 10": (1000, 10, 250)}


def bird(width, height, walls, seed=0):
    return domain("flappy-bird", width=width, height=height, walls=walls, seed=seed)


def flaps(width, height, cell):
    """Return the outcomes of each applicable action, by hand."""
    x, y = cell
    right = (x + 1) % width
    up = {"up": [(x, y + 1), (right, y + 1)]} if y + 1 < height else {}
    return up | ({"down": [(x, y - 1), (right, y - 1)]} if y > 0 else {})


def safe_cells(width, height, walls):
    """Return the cells from which the walls can be missed for ever."""
    safe = {(x, y) for x in range(width) for y in range(height)} - set(walls)
    while True:
        kept = {
            c for c in safe if any(safe.issuperset(o) for o in flaps(width, height, c).values())
        }
        if kept == safe:
            return safe
        safe = kept


@pytest.mark.parametrize("sizes", [(2, 2, 1), (3, 5, 4), (50, 8, 10), (11, 3, 30)])
def test_every_cell_follows_the_rules(sizes):
    width, height, walls = sizes
    task = bird(width, height, walls, seed=3)
    drawn = draw_walls(width, height, walls, seed=3)
    for x in range(width):
        for y in range(height):
            state = task.state(x=x, y=y)
            assert task.is_fail(state) == ((x, y) in drawn)
            assert task.is_start(state) == (x == 0)
            assert not task.is_goal(state)
            found = {
                action: [(s["x"], s["y"]) for s in task.outcomes(state, action)]
                for action in task.applicable(state)
            }
            assert found == flaps(width, height, (x, y))


@pytest.mark.parametrize("name", SIZES)
def test_starts_are_safe_and_walls_can_be_hit(name):
    width, height, walls = SIZES[name]
    lost = 0  # cells that are no wall, but too late to miss one
    for seed in range(3):
        safe = safe_cells(width, height, draw_walls(width, height, walls, seed))
        assert safe.issuperset((0, y) for y in range(height))
        lost += width * height - walls - len(safe)
    assert lost > 0
    counts = explore(bird(width, height, walls))
    assert (counts.states, counts.fail, counts.dead_ends) == (width * height, walls, 0)


def test_walls_are_where_the_seed_says_on_any_machine():
    assert draw_walls(50, 8, 10, seed=0) == FIRST_WALLS
    assert draw_walls(50, 8, 10, seed=1) != draw_walls(50, 8, 10, seed=0)
    drawn = draw_walls(200, 10, 500, seed=7)
    assert len(set(drawn)) == 500
    assert min(x for x, _ in drawn) == 20
    assert max(x for x, _ in drawn) == 199
    assert bird(50, 8, 10, seed=1).sha256 == bird(50, 8, 10, seed=1).sha256


def test_the_distance_to_fail_counts_cells():
    task = bird(30, 6, 12, seed=5)
    walls = draw_walls(30, 6, 12, seed=5)
    columns = {x for x, _ in walls}
    for x in range(30):
        for y in range(6):
            nearest = min(abs(x - a) + abs(y - b) for a, b in walls)
            found = task.distance_to_fail({"x": x, "y": y})
            assert found == nearest + (x not in columns)


def test_as_many_walls_as_there_is_room_for():
    assert explore(bird(10, 2, 18)).fail > 0
    with pytest.raises(InputError) as caught:
        bird(10, 2, 19)
    assert caught.value.message == "walls must be from 1 to 18, not 19"


def test_start_anywhere_is_every_cell_that_is_no_wall():
    task = domain("flappy-bird", width=12, height=5, walls=9, start="anywhere")
    walls = set(draw_walls(12, 5, 9, 0))
    cells = {(state["x"], state["y"]) for state in task.list_starts()}
    assert cells == {(x, y) for x in range(12) for y in range(5)} - walls
    assert len(walls) == 9
    with pytest.raises(InputError, match="no start"):
        domain("flappy-bird", start="right")
