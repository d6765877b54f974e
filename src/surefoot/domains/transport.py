"""Transport: a truck brings packages over a weak bridge at the end of a road.

The road has locations 0 to ``locations - 1``; the bridge is the link to the last one. The truck
picks packages up and drops them one by one, at every location. ``drive_forward`` and
``drive_backward`` bring it one location further or back and note in ``last_capacity_diff`` how much
the link could have carried beyond the load with which the truck set out: the bridge carries one
package, every other link forward carries all, and no link carries anything backward. The goal is
all packages at the last location and the truck there. Fail is a load that the link did not carry,
``last_capacity_diff <= -1``. At the start the truck is anywhere but at the last location, the
packages are distributed over the truck and all locations but the last, and nothing was driven yet.

Variants: ``det`` as it is; ``drop``: whenever the truck drives with a load one package may fall
off, and lies where the truck came from. Whoever wants it back must first unload the rest, as
driving back with a load fails.

Names, bounds and outcomes of ``det`` are those of the published file for 15 packages and 10
locations. The papers mention a variant with drops, but no file of it is public: ``drop`` is our own
design, after the two-way line.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range, check_variant
from surefoot.domains.pictures import (
    BLUE,
    GREEN,
    GREY,
    INK,
    PAPER,
    RED,
    YELLOW,
    Canvas,
    Picture,
    window,
)
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, all_of
from surefoot.tasks.state import State
from surefoot.text import counted

VARIANTS = ("det", "drop")
MOST = 1000
FORWARD, BACKWARD = "drive_forward", "drive_backward"
MARGIN = 10  # columns of text before the first location
ROOM = 80  # columns of text for locations
CELL, ROAD, CAPTION = 44, 64, 360  # lengths in an SVG; the last is the least width
Changes = dict[Expr, object]


def transport(*, packages: int = 2, locations: int = 4, variant: str = "det") -> Description:
    """Return the road with these numbers of packages and locations."""
    check_range("packages", packages, least=1, most=MOST)
    check_range("locations", locations, least=2, most=MOST)
    check_variant(variant, VARIANTS)
    return _Transport(packages, locations - 1, variant).description


class _Transport:
    """A road under construction; ``end`` is the last location."""

    def __init__(self, packages: int, end: int, variant: str) -> None:
        self.packages = packages
        self.end = end
        d = self.description = Description(f"transport-{packages}-{end + 1}-{variant}")
        at_first = [packages] + [0] * end
        self.loads = [
            d.int(f"location_load_{i}", 0, packages, initial=load)
            for i, load in enumerate(at_first)
        ]
        self.x = d.int("truck_0", 0, end, initial=0)
        self.load = d.int("truck_load_0", 0, packages, initial=0)
        self.room = d.int("last_capacity_diff", -packages, packages, initial=0)
        self._add_loading()
        self._add_drives(has_falls=variant == "drop")
        self._add_conditions()

    def _add_loading(self) -> None:
        for at, here in enumerate(self.loads):
            can_load = (self.x == at) & (self.load < self.packages) & (here >= 1)
            taken: Changes = {here: here - 1, self.load: self.load + 1}
            self.description.edge("pick_up_truck_0", guard=can_load, outcomes=[taken])
        for at, here in enumerate(self.loads):
            left: Changes = {here: here + 1, self.load: self.load - 1}
            can_drop = (self.x == at) & (self.load >= 1)
            self.description.edge("drop_truck_0", guard=can_drop, outcomes=[left])

    def _add_drives(self, *, has_falls: bool) -> None:
        """Add an edge for each link and direction, and another one where a package may fall."""
        for action, step in ((FORWARD, 1), (BACKWARD, -1)):
            for at in range(self.end + 1):
                if not 0 <= at + step <= self.end:
                    continue
                drives: Changes = {
                    self.x: at + step,
                    self.room: self._capacity(at, step) - self.load,
                }
                is_here = self.x == at
                if has_falls:
                    here = self.loads[at]
                    falls: Changes = {**drives, here: here + 1, self.load: self.load - 1}
                    is_loaded = is_here & (self.load >= 1)
                    self.description.edge(action, guard=is_loaded, outcomes=[drives, falls])
                    is_here = is_here & (self.load == 0)
                self.description.edge(action, guard=is_here, outcomes=[drives])

    def _capacity(self, at: int, step: int) -> int:
        """Return how many packages the link from ``at`` carries."""
        if step < 0:
            return 0
        return 1 if at + step == self.end else self.packages

    def _add_conditions(self) -> None:
        total = self.load
        for load in self.loads:
            total = total + load
        first, last = self.loads[: self.end], self.loads[self.end]
        begin = [self.room == 0, self.x < self.end, last == 0, total == self.packages]
        delivered = [load == 0 for load in first]
        delivered += [last == self.packages, self.x == self.end]
        self.description.start(_all(begin))
        self.description.goal(_all(delivered))
        self.description.fail(self.room <= -1)


def _all(conditions: list[Expr]) -> Expr:
    result = all_of(conditions)
    assert result is not None
    return result


# -- pictures --------------------------------------------------------------------------------------


def draw(state: State, *, packages: int, locations: int, **_: object) -> Picture:
    """Return the picture of a state; of long roads, the part around the truck."""
    width = len(str(max(packages, locations - 1))) + 2
    shown = window(state["truck_0"], locations, ROOM // width)
    lines = _text_lines(state, shown, locations - 1, width)
    return Picture("\n".join(lines), _svg(state, shown, locations - 1))


def _text_lines(state: State, shown: range, end: int, width: int) -> list[str]:
    loads = [state[f"location_load_{at}"] for at in shown]
    links = [("=" if at == end else "-") * (width - 1) + "o" for at in shown]
    links[0] = "o".rjust(width)
    truck = "X" if _is_overloaded(state) else "T"
    rows = {
        "location": [str(at) for at in shown],
        "packages": [str(load or ".") for load in loads],
        "road": links,
        "truck": [truck if at == state["truck_0"] else "" for at in shown],
    }
    lines = [
        (name.ljust(MARGIN) + "".join(cell.rjust(width) for cell in cells)).rstrip()
        for name, cells in rows.items()
    ]
    return [*lines, _words(state)]


def _is_overloaded(state: State) -> bool:
    return bool(state["last_capacity_diff"] <= -1)


def _words(state: State) -> str:
    text = f"{counted(state['truck_load_0'], 'package')} loaded"
    room = state["last_capacity_diff"]
    if room < 0:
        return f"{text}, {-room} too many on the link just driven"
    return f"{text}, room for {room} more on the link just driven" if room else text


def _svg(state: State, shown: range, end: int) -> str:
    width = max(CELL * (len(shown) + 1), CAPTION)
    canvas = Canvas(width, ROAD + 62)
    left = (width - CELL * len(shown)) / 2
    for column, at in enumerate(shown):
        x = left + (column + 0.5) * CELL
        if column:
            is_bridge = at == end
            color, thickness = (RED, 2) if is_bridge else (GREY, 10)
            canvas.line(x - CELL, ROAD, x, ROAD, line=color, width=thickness)
        load = state[f"location_load_{at}"]
        if load:
            canvas.rectangle(x - 11, ROAD + 36, 22, 18, fill=YELLOW)
            canvas.label(x, ROAD + 45, load)
        canvas.label(x, ROAD + 22, at, fill=GREEN if at == end else INK)
    for column in range(len(shown)):
        canvas.circle(left + (column + 0.5) * CELL, ROAD, 8, fill=PAPER)
    _draw_truck(canvas, state, left + (state["truck_0"] - shown.start) * CELL)
    canvas.label(width / 2, 12, _words(state))
    return canvas.svg()


def _draw_truck(canvas: Canvas, state: State, x: float) -> None:
    fill = RED if _is_overloaded(state) else BLUE
    canvas.rectangle(x + 5, ROAD - 36, CELL - 10, 18, fill=fill)
    canvas.label(x + CELL / 2, ROAD - 27, state["truck_load_0"], fill=PAPER)
    for wheel in (12, CELL - 12):
        canvas.circle(x + wheel, ROAD - 15, 4, fill=INK)


FAMILY = Family(
    "transport",
    make=transport,
    draw=draw,
    sizes={
        "tiny": {"packages": 2, "locations": 4},
        "small": {"packages": 4, "locations": 6},
        "15-10": {"packages": 15, "locations": 10},
    },
)
