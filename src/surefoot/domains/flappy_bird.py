"""Flappy Bird (P-IPI): a bird flies up or down, may be carried to the right, and must miss walls.

Cells are ``x`` from 0 to ``width - 1`` and ``y`` from 0 to ``height - 1``. ``up`` and ``down``
change ``y`` by one and *may* also move the bird one column to the right, from the last one to the
first. An action that would leave the grid at the top or bottom is not applicable. Fail is to be on
a wall; there is no goal, the flight goes on for ever.

``walls`` cells are walls, drawn without repetition from all cells but those of the leading columns,
a tenth of the width. The same seed makes the same walls on any machine. The bird starts anywhere in
the ``left`` column or, with ``start=anywhere``, on any cell that is not a wall: some of these are
lost, whatever it does. As a flight passes every column sooner or later, a policy mostly fails from
all cells on the left or from none; starts anywhere tell better how good it is. With one wall in
forty cells, as by default and in the benchmarks (200 x 10 with 50, 1000 x 10 with 250), the starts
on the left are safe and some cells are lost; with one in ten there is hardly ever a safe flight.
Where an action fails that many cycles depend on, TarjanSafe forgets all it found there: it is
exponential.

No file of this family is public: what goes beyond the description in P-IPI is our own design.
"""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Iterable

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range, check_variant
from surefoot.domains.pictures import BLUE, GREY, INK, PALE, RED, YELLOW, Canvas, Picture, window
from surefoot.options import MAX_INT
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, make
from surefoot.tasks.state import State

STARTS = ("left", "anywhere")
MOST_WALLS = 20_000
LEAD_IN = 10  # the leading columns are this part of the width
SHOWN = 90  # columns of a picture, around the bird
CELL = 12  # of a picture, its side
Changes = dict[Expr, object]


def flappy_bird(
    *, width: int = 50, height: int = 8, walls: int = 10, seed: int = 0, start: str = "left"
) -> Description:
    """Return the tunnel of this width and height with so many wall cells, drawn by the seed."""
    check_range("width", width, least=2, most=10_000)
    check_range("height", height, least=2, most=100)
    free = _free_columns(width)
    check_range("walls", walls, least=1, most=min((width - free) * height, MOST_WALLS))
    check_range("seed", seed, least=0, most=MAX_INT)
    check_variant(start, STARTS, what="start")
    d = Description(f"flappy-bird-{width}-{height}-{walls}-{seed}")
    x = d.int("x", 0, width - 1, initial=0)
    y = d.int("y", 0, height - 1, initial=0)
    for action, step, can_fly in (("up", 1, y < height - 1), ("down", -1, y > 0)):
        for is_here, right in ((x < width - 1, x + 1), (x == width - 1, 0)):
            stays: Changes = {y: y + step}
            d.edge(action, guard=can_fly & is_here, outcomes=[stays, {**stays, x: right}])
    is_wall = _is_wall(x, y, draw_walls(width, height, walls, seed))
    d.start(((x == 0) if start == "left" else ~is_wall) & (y >= 0))  # any row
    d.fail(is_wall)
    return d


def draw_walls(width: int, height: int, walls: int, seed: int) -> list[tuple[int, int]]:
    """Return the wall cells ``(x, y)``, by row and column.

    Of all that Python's random module offers only ``random()`` is promised to stay the same.
    """
    rng = random.Random(seed)
    cells = [(x, y) for y in range(height) for x in range(_free_columns(width), width)]
    drawn = sorted((rng.random(), cell) for cell in cells)[:walls]
    return sorted((cell for _, cell in drawn), key=lambda cell: (cell[1], cell[0]))


def _free_columns(width: int) -> int:
    return max(1, width // LEAD_IN)


def _is_wall(x: Expr, y: Expr, walls: Iterable[tuple[int, int]]) -> Expr:
    """Return whether the cell is a wall.

    A row and the columns of its walls, for every row: the distance to fail then is the number of
    cells to the nearest wall. That is long to evaluate, so that it is first asked if the column has
    walls at all, which the guard index looks up. As an equation this question adds no more than 1
    to the distance.
    """
    rows: dict[int, list[Expr]] = {}
    columns: dict[int, Expr] = {}
    for at, row in walls:
        is_column = columns.setdefault(at, x == at)
        rows.setdefault(row, []).append(is_column)
    has_walls = make("eq", _any(columns.values()), True)
    return has_walls & _any((y == row) & _any(of_row) for row, of_row in rows.items())


def _any(conditions: Iterable[Expr]) -> Expr:
    """Return the disjunction, as a tree that is not deep."""
    parts = list(conditions)
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [functools.reduce(operator.or_, pair) for pair in pairs]
    return parts[0]


def draw(state: State, *, width: int, height: int, walls: int, seed: int, **_: object) -> Picture:
    """Return a picture of the tunnel around the bird; ``X`` is a bird on a wall."""
    shown = window(state["x"], width, SHOWN)
    bird = (state["x"], state["y"])
    cells = set(draw_walls(width, height, walls, seed))
    return Picture(text=_text(bird, cells, shown, height), svg=_svg(bird, cells, shown, height))


Cell = tuple[int, int]


def _text(bird: Cell, walls: set[Cell], shown: range, height: int) -> str:
    def look(cell: Cell) -> str:
        if cell == bird:
            return "X" if cell in walls else ">"
        return "#" if cell in walls else "."

    rows = ["".join(look((x, y)) for x in shown) for y in reversed(range(height))]
    edge = "=" * len(shown)
    columns = f"columns {shown.start:,} to {shown.stop - 1:,}, bird at x={bird[0]}, y={bird[1]}"
    return "\n".join([edge, *rows, edge, columns])


def _svg(bird: Cell, walls: set[Cell], shown: range, height: int) -> str:
    canvas = Canvas(CELL * len(shown) + 8, CELL * height + 24)
    canvas.rectangle(4, 4, CELL * len(shown), CELL * height, fill=PALE)
    for x, y in sorted(walls):
        if x in shown:
            left, top = _corner((x, y), shown, height)
            canvas.rectangle(left, top, CELL, CELL, fill=RED if (x, y) == bird else GREY)
    left, top = _corner(bird, shown, height)
    canvas.circle(left + CELL / 2, top + CELL / 2, CELL / 2 - 1, fill=YELLOW, line=BLUE)
    for x in {shown.start: None, bird[0]: None, shown.stop - 1: None}:
        left, _ = _corner((x, 0), shown, height)
        canvas.label(left + CELL / 2, CELL * height + 13, x, size=10, fill=INK)
    return canvas.svg()


def _corner(cell: Cell, shown: range, height: int) -> tuple[float, float]:
    return 4 + CELL * (cell[0] - shown.start), 4 + CELL * (height - 1 - cell[1])


FAMILY = Family(
    "flappy-bird",
    make=flappy_bird,
    draw=draw,
    sizes={
        "tiny": {"width": 50, "height": 8, "walls": 10},
        "small": {"width": 500, "height": 10, "walls": 125},
        "200-10": {"width": 200, "height": 10, "walls": 50},
        "1000-10": {"width": 1000, "height": 10, "walls": 250},
    },
)
