"""n-puzzle: tiles are slid into order, but one of them must never come to one cell.

The cells of a square with ``side`` rows are numbered row by row from 0, and all but one hold a
tile: ``tile_k`` is the cell of tile k, from 1 up, and ``empty`` the cell without. ``move_left``
moves the empty cell to the left, which is to slide the tile there to the right; ``move_right``,
``move_up`` and ``move_down`` likewise. A move may fail: nothing moves, and ``cost_tile_k`` of the
tile in question grows by 1. Once it is ``cost_bound`` the tile moves surely; with a bound of 0 all
tiles do. ``step_cost`` is the tile's cost before the last move.

With n the side: the goal is the reverse order, the empty cell in the last one and tile k in cell
n² - 1 - k. The two highest tiles may be swapped: that is why every start has a way to the goal,
whatever its parity. Fail is tile n in the last cell but one, beside the corner; from none of the
starts of sides 2 and 3 it has to go there. At the start no costs are counted, the state neither
fails nor is the goal, and tiles whose numbers differ by n stand in the order of their numbers. From
side 4 on only the last three rows and columns are shuffled, the other tiles stand at their goal.

Variants: ``published``: rows are ignored, so that moves to the left and right also lead from
the end of a row to the beginning of the next and back; ``plain``: they do not, as in the real
puzzle.

Names, bounds and outcomes of ``published`` with side 3 are those of the published file, which has
the cost bound as a constant without value; of its other constants without value
``failing_probability`` lies between 0 and 1 and ``cost_terminal`` is false here. There is no file
with another side: goal, fail and start of those are our own design, and so is ``plain``.
"""

from __future__ import annotations

import functools
import itertools
import operator
import textwrap
from collections.abc import Iterable, Iterator

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range, check_variant
from surefoot.domains.pictures import BLUE, GREEN, GREY, PAPER, RED, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import State

VARIANTS = ("published", "plain")
MOST = 6
CORNER = 3  # the side of what is shuffled at the start
CELL = 48  # of an SVG
CAPTION = 190  # the least width, for the words below
TEXT = 100  # columns
Changes = dict[Expr, object]


def n_puzzle(*, side: int = 2, cost_bound: int = 2, variant: str = "published") -> Description:
    """Return the puzzle of this side, in which moving a tile fails so many times at most."""
    check_range("side", side, least=2, most=MOST)
    check_range("cost_bound", cost_bound, least=0, most=1000)
    check_variant(variant, VARIANTS)
    return _Puzzle(side, cost_bound, wraps=variant == "published").description


class _Puzzle:
    """A puzzle under construction."""

    def __init__(self, side: int, bound: int, *, wraps: bool) -> None:
        self.side = side
        self.last = side * side - 1
        self.bound = bound
        variant = "published" if wraps else "plain"
        d = self.description = Description(f"n-puzzle-{side}-{bound}-{variant}")
        first = first_start(side)
        numbers = range(1, side * side)
        self.empty = d.int("empty", 0, self.last, initial=first[0])
        self.tiles = [d.int(f"tile_{k}", 0, self.last, initial=first[k]) for k in numbers]
        self.costs = [d.int(f"cost_tile_{k}", 0, bound, initial=0) for k in numbers]
        self.step_cost = d.int("step_cost", 0, bound, initial=0)
        for action, step in moves(side).items():
            for cell, beside in links(side, step, wraps=wraps):
                self._add_moves(action, cell, beside)
        self._add_conditions()

    def _add_moves(self, action: str, cell: int, beside: int) -> None:
        """Add how the empty cell moves from ``cell`` to ``beside``, for each tile there."""
        for tile, cost in zip(self.tiles, self.costs, strict=True):
            guard = (self.empty == cell) & (tile == beside)
            moved: Changes = {tile: cell, self.empty: beside, self.step_cost: cost}
            failed: Changes = {self.step_cost: cost, cost: cost + 1}
            may_fail, is_sure = guard & (cost < self.bound), guard & (cost == self.bound)
            self.description.edge(action, guard=may_fail, outcomes=[moved, failed])
            self.description.edge(action, guard=is_sure, outcomes=[moved])

    def _add_conditions(self) -> None:
        in_order = [self.empty == self.last]
        in_order += [tile == self.last - k for k, tile in enumerate(self.tiles[:-2], start=1)]
        is_goal, is_fail = _all(in_order), self.tiles[self.side - 1] == self.last - 1
        self.description.start(_all([*self._start(), ~is_fail, ~is_goal]))
        self.description.goal(is_goal)
        self.description.fail(is_fail)

    def _start(self) -> Iterator[Expr]:
        """Yield what holds of a start: tiles of the corner stand in it, the others at their goal.

        Up to side 3 the corner is all there is.
        """
        cells = corner(self.side)
        places = [self.empty, *self.tiles]
        shuffled = {k: place for k, place in enumerate(places) if self.last - k in cells}
        for k, place in enumerate(places):
            if k not in shuffled:
                yield place == self.last - k
            elif len(cells) < len(places):
                yield functools.reduce(operator.or_, (place == cell for cell in cells))
        yield from (first != other for first, other in itertools.combinations(shuffled.values(), 2))
        yield from (
            shuffled[k] < shuffled[k + self.side]
            for k in shuffled
            if k and k + self.side in shuffled
        )
        yield from (cost == 0 for cost in [*self.costs, self.step_cost])


def corner(side: int) -> list[int]:
    """Return the cells of the last three rows and columns."""
    least = side - min(side, CORNER)
    return [row * side + column for row, column in itertools.product(range(least, side), repeat=2)]


def first_start(side: int) -> list[int]:
    """Return the cells of the empty one, 0, and of the tiles in a start: rising in the corner."""
    cells, last = corner(side), side * side - 1
    places = [last - k for k in range(side * side)]
    for k, cell in zip([last - cell for cell in reversed(cells)], cells, strict=True):
        places[k] = cell
    if places[side] == last - 1:  # side 2
        places[side], places[last] = places[last], places[side]
    return places


def moves(side: int) -> dict[str, int]:
    """Return how each action changes the number of the empty cell."""
    return {"move_left": -1, "move_right": 1, "move_up": -side, "move_down": side}


def links(side: int, step: int, *, wraps: bool) -> Iterator[tuple[int, int]]:
    """Yield the cells that the empty cell may leave by this step, and where it comes to."""
    for cell in range(side * side):
        beside = cell + step
        is_in_row = abs(step) != 1 or cell // side == beside // side
        if 0 <= beside < side * side and (wraps or is_in_row):
            yield cell, beside


def _all(conditions: Iterable[Expr]) -> Expr:
    return functools.reduce(operator.and_, conditions)


# -- pictures --------------------------------------------------------------------------------------


def draw(state: State, *, side: int, cost_bound: int, **_: object) -> Picture:
    """Return the picture of a state; ``!`` is beside the cell to which tile ``side`` must not
    come.
    """
    tiles = range(1, side * side)
    board: list[list[int]] = [[] for _ in range(side * side)]
    for k in tiles:
        board[state[f"tile_{k}"]].append(k)
    costs = {k: state[f"cost_tile_{k}"] for k in tiles}
    failed = ", ".join(f"{k}={cost}" for k, cost in costs.items() if cost) or "none"
    words = f"failures, at most {cost_bound}: {failed}" if cost_bound else ""
    text = "\n".join([*_rows(board, side), *textwrap.wrap(words, width=TEXT)])
    return Picture(text, _svg(state, board, side, cost_bound))


def _rows(board: list[list[int]], side: int) -> list[str]:
    """Return the board as text; in a state that no run meets a cell may hold several tiles."""
    names = ["+".join(map(str, tiles)) or "." for tiles in board]
    width = max(map(len, names)) + 1
    marked = [name.rjust(width) + " " for name in names]
    marked[-2] = marked[-2][:-1] + "!"
    return ["".join(marked[row : row + side]).rstrip() for row in range(0, len(board), side)]


def _svg(state: State, board: list[list[int]], side: int, cost_bound: int) -> str:
    width = max(CELL * side, CAPTION)
    canvas = Canvas(width + 16, CELL * side + 36)
    last, left = len(board) - 1, 8 + (width - CELL * side) / 2
    for cell, tiles in enumerate(board):
        x, y = left + CELL * (cell % side), 8 + CELL * (cell // side)
        canvas.rectangle(x, y, CELL, CELL, fill=RED if cell == last - 1 else GREY)
        for k in tiles:
            is_fail = k == side and cell == last - 1
            fill = RED if is_fail else GREEN if cell == last - k else BLUE
            canvas.rectangle(x + 4, y + 4, CELL - 8, CELL - 8, fill=fill)
            canvas.label(x + CELL / 2, y + CELL / 2, k, size=18, fill=PAPER)
            if cost_bound:
                cost = state[f"cost_tile_{k}"]
                canvas.label(x + CELL - 12, y + 12, cost, size=9, fill=PAPER)
    canvas.label(width / 2 + 8, CELL * side + 22, f"tile {side} must avoid the red cell")
    return canvas.svg()


FAMILY = Family(
    "n-puzzle",
    make=n_puzzle,
    draw=draw,
    sizes={
        "tiny": {"side": 2, "cost_bound": 2},
        "small": {"side": 2, "cost_bound": 8},
        "3-3": {"side": 3, "cost_bound": 3},
        "8-puzzle": {"side": 3, "cost_bound": 0, "variant": "plain"},
    },
)
