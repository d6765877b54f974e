"""Layered (P-IPI fig. 1): exponentially many paths through few states, all of them safe.

A root, ``depth`` layers of two states each, and one last state. Above the last state the one action
``down`` leads to both states of the next layer; from the last layer it leads to the last state.
There ``back`` leads to the root, and ``jump``, the second action, to fail. So every state is safe,
and 2^depth paths lead down: who forgets on the way up what was found on the way down walks all of
them. TarjanSafe as printed expands 3 * 2^depth - 1 states; the rest need 2 * depth + 2.

A state is a ``layer``, 0 the root and ``depth + 1`` the last state, and a ``side``; fail is one
layer further down.
"""

from __future__ import annotations

import itertools
import math

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range
from surefoot.domains.pictures import BLUE, GREY, PAPER, RED, Canvas, Picture, window
from surefoot.tasks.description import Description
from surefoot.tasks.state import State

MAX_DEPTH = 1_000_000_000
SHOWN = 15  # layers of a picture, around the state
ROW, RADIUS = 34, 9  # of a picture: a layer's height, half of a state and its space


def layered(*, depth: int = 10) -> Description:
    """Return the family's task with this many layers between the root and the last state."""
    check_range("depth", depth, least=1, most=MAX_DEPTH)
    d = Description(f"layered-{depth}")
    layer = d.int("layer", 0, depth + 2, initial=0)
    side = d.int("side", 0, 1, initial=0)
    below = [{layer: layer + 1, side: 0}, {layer: layer + 1, side: 1}]
    d.edge("down", guard=layer < depth, outcomes=below)
    d.edge("down", guard=layer == depth, outcomes=[{layer: depth + 1, side: 0}])
    d.edge("back", guard=layer == depth + 1, outcomes=[{layer: 0}])
    d.edge("jump", guard=layer == depth + 1, outcomes=[{layer: depth + 2}])
    d.start({"layer": 0, "side": 0})
    d.fail(layer == depth + 2)
    return d


def draw(state: State, *, depth: int) -> Picture:
    """Return a picture of the layers around the state, which is ``*`` among the others, ``o``."""
    shown = window(state["layer"], depth + 3, SHOWN)
    here = (state["layer"], state["side"])
    lines = [f"{_name(layer, depth)}  {_row_text(layer, depth, here)}" for layer in shown]
    above = ["..."] if shown.start else []
    below = ["..."] if shown.stop < depth + 3 else []
    return Picture(text="\n".join([*above, *lines, *below]), svg=_svg(here, depth, shown))


def _name(layer: int, depth: int) -> str:
    special = {0: "root", depth + 1: "last", depth + 2: "fail"}
    return special.get(layer, str(layer)).rjust(len(str(max(depth, 1000))))


def _sides(layer: int, depth: int, here: tuple[int, int]) -> dict[int, float]:
    """Return the states of a layer with their places, from 0 left to 2 right."""
    if 1 <= layer <= depth:
        return {0: 0.5, 1: 1.5}
    return {here[1] if here[0] == layer else 0: 1.0}


def _row_text(layer: int, depth: int, here: tuple[int, int]) -> str:
    line = [" "] * 9
    for side, place in _sides(layer, depth, here).items():
        line[round(4 * place)] = "*" if (layer, side) == here else "o"
    return "".join(line).rstrip()


def _svg(here: tuple[int, int], depth: int, shown: range) -> str:
    canvas = Canvas(200, ROW * len(shown))
    rows = [_sides(layer, depth, here) for layer in shown]
    for row, (upper, lower) in enumerate(itertools.pairwise(rows)):
        for x1, x2 in ((a, b) for a in upper.values() for b in lower.values()):
            y = (row + 0.5) * ROW
            canvas.arrow(*_moved(60 + 60 * x1, y, 60 + 60 * x2, y + ROW), line=GREY)
    for row, (layer, sides) in enumerate(zip(shown, rows, strict=True)):
        y = (row + 0.5) * ROW
        canvas.label(24, y, _name(layer, depth).strip())
        for side, place in sides.items():
            other = RED if layer == depth + 2 else PAPER
            fill = BLUE if (layer, side) == here else other
            canvas.circle(60 + 60 * place, y, RADIUS - 1, fill=fill)
    return canvas.svg()


def _moved(x1: float, y1: float, x2: float, y2: float) -> tuple[float, float, float, float]:
    """Return the part of a line between two circles."""
    part = RADIUS / math.hypot(x2 - x1, y2 - y1)
    dx, dy = (x2 - x1) * part, (y2 - y1) * part
    return x1 + dx, y1 + dy, x2 - dx, y2 - dy


FAMILY = Family(
    "layered",
    make=layered,
    draw=draw,
    sizes={"tiny": {"depth": 10}, "small": {"depth": 5000}},
)
