"""The picture ``bars``: each variable with its value, and a bar where that is within its bounds."""

from __future__ import annotations

import math

from surefoot.domains.pictures import BLUE, Canvas, Picture
from surefoot.pictures import Drawing
from surefoot.tasks.state import State
from surefoot.tasks.task import Task
from surefoot.text import counted

MOST = 24  # variables in one picture
ROW, LABEL, BAR = 18, 200, 160  # pixels: height of a row, width of names and values, of bars
CELLS = 20  # characters of a bar


def draw(state: State, task: Task) -> Picture:
    """Return the picture of a state; of tasks with many variables, the first ones."""
    shown = list(state.items())[:MOST]
    shares = [_share(name, value, task) for name, value in shown]
    left_out = len(state) - len(shown)
    lines = [_line(name, value, share) for (name, value), share in zip(shown, shares, strict=True)]
    lines += [f"... {counted(left_out, 'more variable')}"] if left_out else []
    canvas = Canvas(LABEL + BAR + 20, ROW * len(lines) + 10)
    for row, line in enumerate(lines):
        canvas.label(LABEL / 2, ROW * (row + 0.5) + 5, line.partition("  [")[0])
        if row < len(shares) and (share := shares[row]) is not None:
            canvas.rectangle(LABEL, ROW * row + 8, BAR, ROW - 6)
            canvas.rectangle(LABEL, ROW * row + 8, max(BAR * share, 1), ROW - 6, fill=BLUE)
    return Picture("\n".join(lines), canvas.svg())


def _line(name: str, value: object, share: float | None) -> str:
    if share is None:
        return f"{name} = {value}"
    filled = round(CELLS * share)
    return f"{name} = {value}  [{'#' * filled}{'.' * (CELLS - filled)}]"


def _share(name: str, value: object, task: Task) -> float | None:
    """Return where a value is between the bounds of its variable, from 0 to 1."""
    variables = {v.name: v for v in task.variables}
    if isinstance(value, bool) or not isinstance(value, int | float) or name not in variables:
        return None
    lower, upper = variables[name].lower, variables[name].upper
    span = float(upper) - float(lower)
    if not 0 < span < 1e300:
        return None
    share = (value - lower) / span
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else None


PICTURE = Drawing("bars", draw)
