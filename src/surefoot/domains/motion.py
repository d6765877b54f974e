"""What the families over real variables have in common: time in steps, speeds cut at bounds, poles.

A run of these families lasts ``horizon`` steps of ``time_step`` seconds, counted by the variable
``episode``, which has the name it has in the published files. Reals are IEEE doubles, and numbers
that do not depend on the state are computed once, here in Python, in the order of the rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from surefoot.domains.parameters import check_range
from surefoot.domains.pictures import BLUE, INK, Canvas
from surefoot.errors import InputError, shown
from surefoot.tasks.expressions import Expr, maximum, minimum

SHORTEST = 0.01  # seconds of a step
MOST_STEPS = 1_000_000
TINY, SMALL, PAPERS = 50, 200, 1000  # horizons
POLE = "o"


def check_times(time_step: float, horizon: int, *, longest: float) -> None:
    """Raise InputError unless steps take up to ``longest`` seconds and there is one at least."""
    if not SHORTEST <= time_step <= longest:
        text = f"time_step must be from {SHORTEST:g} to {longest:g}, not {shown(time_step)}"
        raise InputError("bad-parameter", text)
    check_range("horizon", horizon, least=1, most=MOST_STEPS)


def within(value: Expr, limit: float) -> Expr:
    """Return the value, cut where it would be below ``-limit`` or above ``limit``."""
    return between(value, -limit, limit)


def between(value: Expr, lower: float, upper: float) -> Expr:
    """Return the value, cut where it would be below ``lower`` or above ``upper``."""
    return minimum(maximum(value, lower), upper)


def pole_lines(angle: float, *, foot: int, rows: int, width: int) -> list[str]:
    """Return a pole of that many rows as text, from the top; it stands above column ``foot``.

    Characters are about twice as high as wide. Positive angles, in radians, lean to the right.
    """
    long = max(1, round(rows * math.cos(angle)))
    columns = [foot + round(2 * row * math.tan(angle)) for row in range(1, long + 1)]
    lines = [_marked(column, width) for column in columns]
    return [""] * (rows - long) + lines[::-1]


def _marked(column: int, width: int) -> str:
    return " " * column + POLE if 0 <= column < width else ""


def draw_pole(canvas: Canvas, x: float, y: float, length: float, angle: float) -> None:
    """Draw a pole that stands on (x, y)."""
    top_x, top_y = x + length * math.sin(angle), y - length * math.cos(angle)
    canvas.line(x, y, top_x, top_y, line=BLUE, width=5)
    canvas.circle(x, y, 4, fill=INK)


def text_of_lines(lines: Iterable[str]) -> str:
    """Return the lines as one text, without spaces at their ends."""
    return "\n".join(line.rstrip() for line in lines)
