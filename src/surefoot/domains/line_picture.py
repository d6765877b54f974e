"""Pictures of the one-way and the two-way line: locations, packages, ice, and the truck.

The arrow goes from the truck to where its next motion brings it, to ``!`` if that is off the line.
"""

from __future__ import annotations

from typing import Any

from surefoot.domains.line import Parameters
from surefoot.domains.pictures import (
    BLUE,
    GREEN,
    GREY,
    INK,
    PALE,
    PAPER,
    RED,
    YELLOW,
    Canvas,
    Picture,
    window,
)
from surefoot.tasks.state import State
from surefoot.text import counted

MARGIN = 10  # columns of text before the first location
ROOM = 80  # columns of text for locations
CELL, ROAD, BOX, MIDDLE = 40, 64, 9, 140  # lengths in an SVG
STACK = 4  # boxes of a stack that are drawn


def draw_line(state: State, **given: Any) -> Picture:
    """Return the picture of a state; of long lines, the part around the truck."""
    parameters = Parameters(**given)
    width = len(str(max(parameters.packages, parameters.locations - 1))) + 1
    shown = window(state["truck_0"], parameters.locations, ROOM // width)
    return Picture(
        text="\n".join(_text_lines(state, parameters, shown, width)),
        svg=_svg(state, parameters, shown),
    )


# -- text --------------------------------------------------------------------------------------


def _text_lines(state: State, parameters: Parameters, shown: range, width: int) -> list[str]:
    loads = [state[f"location_load_{at}"] for at in shown]
    lines = [
        _row("location", [str(at) for at in shown], width),
        _row("packages", [str(load or ".") for load in loads], width),
    ]
    icy = parameters.icy_locations()
    if icy:
        lines.append(_row("ice", ["~" * (at in icy) for at in shown], width))
    lines.append("truck".ljust(MARGIN) + _truck_text(state, parameters, shown, width))
    return [*(line.rstrip() for line in lines), _words(state)]


def _row(name: str, cells: list[str], width: int) -> str:
    return name.ljust(MARGIN) + "".join(cell.rjust(width) for cell in cells)


def _truck_text(state: State, parameters: Parameters, shown: range, width: int) -> str:
    at = state["truck_0"]
    ahead = _ahead(state, parameters)
    ahead = max(shown.start - 1, min(shown.stop, ahead))
    line = [" "] * (width * (len(shown) + 2))
    begin, end = ((place - shown.start + 1) * width - 1 for place in (at, ahead))
    for column in range(min(begin, end), max(begin, end)):
        line[max(column, 0)] = "-"
    is_off = not 0 <= at + _speed(state) < parameters.locations
    line[max(end, 0)] = "!" if is_off else ">" if end > begin else "<"
    line[begin] = "X" if _is_crashed(state) else "T"
    return "".join(line)


def _words(state: State) -> str:
    words = [f"speed {state['truck_vel_0']}", counted(state["truck_load_0"], "package") + " loaded"]
    words += ["parked"] if state.get("parked_0") else []
    words += ["crashed"] if _is_crashed(state) else []
    return ", ".join(words)


# -- what both show ------------------------------------------------------------------------------


def _is_crashed(state: State) -> bool:
    return bool(state["aux_vel"] <= -1)


def _speed(state: State) -> int:
    return 0 if _is_crashed(state) else int(state["truck_vel_0"])


def _ahead(state: State, parameters: Parameters) -> int:
    """Return where the next motion brings the truck: one beyond the line if it leaves it."""
    return int(max(-1, min(parameters.locations, state["truck_0"] + _speed(state))))


# -- SVG ---------------------------------------------------------------------------------------


def _svg(state: State, parameters: Parameters, shown: range) -> str:
    canvas = Canvas(max(CELL * (len(shown) + 2), 2 * MIDDLE), ROAD + 66)
    icy = parameters.icy_locations()
    for column, at in enumerate(shown, start=1):
        x = column * CELL
        is_end = at == parameters.locations - 1
        canvas.rectangle(x, ROAD, CELL, 14, fill=PALE if at in icy else GREY)
        canvas.label(x + CELL / 2, ROAD + 24, at, fill=GREEN if is_end else INK)
        _draw_stack(canvas, x + CELL / 2, state[f"location_load_{at}"])
    _draw_truck(canvas, state, parameters, shown)
    return canvas.svg()


def _draw_stack(canvas: Canvas, x: float, load: int) -> None:
    """Draw the packages of a location below its number."""
    drawn = min(load, STACK)
    for box in range(drawn):
        left = x - drawn * BOX / 2 + box * BOX
        canvas.rectangle(left, ROAD + 36, BOX - 1, BOX - 1, fill=YELLOW)
    if load:
        canvas.label(x, ROAD + 56, load)


def _draw_truck(canvas: Canvas, state: State, parameters: Parameters, shown: range) -> None:
    x = (state["truck_0"] - shown.start + 1) * CELL
    fill = RED if _is_crashed(state) else BLUE
    canvas.rectangle(x + 4, ROAD - 24, CELL - 8, 16, fill=fill)
    canvas.label(x + CELL / 2, ROAD - 16, state["truck_load_0"], fill=PAPER)
    for wheel in (10, CELL - 10):
        canvas.circle(x + wheel, ROAD - 5, 4, fill=INK)
    ahead = max(shown.start - 1, min(shown.stop, _ahead(state, parameters)))
    tip = (ahead - shown.start + 1.5) * CELL
    is_off = not 0 <= state["truck_0"] + _speed(state) < parameters.locations
    if _speed(state):
        canvas.arrow(x + CELL / 2, ROAD - 34, tip, ROAD - 34, line=RED if is_off else INK, width=2)
    canvas.label(MIDDLE, 12, _words(state))
