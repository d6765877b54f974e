"""Racetrack: a car must cross the finish line of a track and steer so that it never leaves it.

The car is on a cell and has a speed, which is how far it drives in a step along x and along y; y
grows downwards. Each of the nine actions ``accel0_a_b`` changes the speed by (a, b), -1, 0 or 1
each, and is applicable where neither part gets beyond ``top_speed``. Then the car drives, which is
a silent step: along the longer axis cell by cell, and beside it on the straight line, rounded to
the nearest cell and halves up. The first cell on the way that is not part of the track stops it:
that is a crash, which is fail. The first goal cell stops it as well: that is the goal. At the
start the car is at rest on any start cell. Variants: ``det`` as it is; ``slip``: acceleration may
have no effect.

``track`` is ``tiny``, ``corner``, ``ring`` or rows separated by ``/``, the upper one first: ``#``
wall, ``.`` free, ``s`` start, ``g`` goal, such as ``#####/#s.g#/#####``. What is outside of the
rows counts as wall. ``car0_moving`` is 1 between acceleration and driving: nothing is decided
there.

Names, actions and results are those of the published file of a 5 x 5 track (with P-IPI), which is
``tiny``; there a drive takes many silent steps of four automata. A crashed car lies, at rest, on
the cell that it hit, in the file on the one before: so here the distance to fail counts cells, and
``car0_x`` and ``car0_y`` also range over cells beside the track. The other tracks are our own.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range, check_variant
from surefoot.domains.pictures import BLUE, GREEN, GREY, INK, PAPER, RED, YELLOW, Canvas, Picture
from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import State

TRACKS = {
    "tiny": """
        .....
        ..##.
        s.#g.
        ..##.
        .....
        """,
    "corner": """
        ################
        #######........g
        ######.........g
        #####..........g
        #####..........g
        #####....#######
        ####.....#######
        ###.....########
        ##......########
        ##.....#########
        ##.....#########
        ##sssss#########
        """,
    "ring": """
        ##############################
        #####....................#####
        ###........................###
        ##..........................##
        #......##################....#
        #.....###################....#
        #ssss####################....#
        #########################....#
        #gg...##################.....#
        #gg.........................##
        #gg........................###
        ##############################
        """,
}
VARIANTS = ("det", "slip")
WALL, FREE, START, GOAL = "#.sg"
MOST, MOST_SPEED = 64, 10
DRIVE = "drive"  # the silent action
Pair = tuple[int, int]
Way = tuple[Pair, ...]
Changes = dict[Expr, object]


def racetrack(*, track: str = "tiny", top_speed: int = 6, variant: str = "det") -> Description:
    """Return the race on the track of this name, or with these rows; see the rules."""
    cells = Track.read(track)
    check_range("top_speed", top_speed, least=1, most=MOST_SPEED)
    check_variant(variant, VARIANTS)
    name = "-".join(["racetrack", *map(str, cells.size), str(top_speed), variant])
    return _Race(name, cells, top_speed, can_slip=variant == "slip").description


@dataclass(frozen=True)
class Track:
    """The cells that a car can be on, in the order of the rows; everything else is wall."""

    size: Pair  # columns and rows
    free: tuple[Pair, ...]  # start cells included
    starts: tuple[Pair, ...]
    goals: tuple[Pair, ...]

    @classmethod
    def read(cls, text: str) -> Track:
        """Return the track of that name, or of rows separated by ``/``."""
        rows = TRACKS[text].split() if text in TRACKS else text.split("/")
        _check_rows(rows, text)
        kinds = {(x, y): kind for y, row in enumerate(rows) for x, kind in enumerate(row)}
        free, starts, goals = (
            tuple(cell for cell, kind in kinds.items() if kind in wanted)
            for wanted in (FREE + START, START, GOAL)
        )
        if not (starts and goals):
            raise InputError("bad-parameter", "a track needs a start cell, s, and a goal cell, g")
        return cls((len(rows[0]), len(rows)), free, starts, goals)

    @functools.cached_property
    def outside(self) -> tuple[Pair, ...]:
        """The cells beside the track, which a car may hit, by row and column."""
        own = {*self.free, *self.goals}
        steps = list(itertools.product((-1, 0, 1), repeat=2))
        beside = {(x + a, y + b) for x, y in self.free for a, b in steps} - own
        return tuple(sorted(beside, key=lambda cell: (cell[1], cell[0])))

    @property
    def columns(self) -> range:
        """The values of x."""
        return _span(self.size[0], (x for x, _ in self.outside))

    @property
    def rows(self) -> range:
        """The values of y."""
        return _span(self.size[1], (y for _, y in self.outside))


def _span(count: int, more: Iterable[int]) -> range:
    values = {0, count - 1, *more}
    return range(min(values), max(values) + 1)


def _check_rows(rows: list[str], text: str) -> None:
    if not set("".join(rows)) <= {WALL, FREE, START, GOAL}:
        raise InputError(
            "bad-parameter",
            f"there is no track {quoted(text)}",
            hint=nearest_hint(text, TRACKS)
            or f"tracks are: {', '.join(TRACKS)}, or rows such as #####/#s.g#/#####",
        )
    if len({len(row) for row in rows}) > 1:
        raise InputError("bad-parameter", f"rows of track {quoted(text)} differ in length")
    if max(len(rows), len(rows[0])) > MOST:
        raise InputError("bad-parameter", f"a track has at most {MOST} rows and {MOST} columns")


# -- driving -------------------------------------------------------------------------------------


def way(speed: Pair) -> Way:
    """Return the cells on the way of a step, relative to where it begins, which is left out.

    Along the longer axis, x if both are equal, cell by cell; the other coordinate is on the line,
    rounded to the nearest cell and halves up.
    """
    dx, dy = speed
    count = max(abs(dx), abs(dy))
    return tuple((_part(dx, i, count), _part(dy, i, count)) for i in range(1, count + 1))


def _part(whole: int, i: int, count: int) -> int:
    return (2 * i * whole + count) // (2 * count)


@dataclass(frozen=True)
class Drive:
    """From each of these cells, at each of these speeds, the car gets as far as ``by``."""

    cells: list[Pair]
    speeds: list[Pair]
    by: Pair
    is_crash: bool


def drives(track: Track, top_speed: int) -> Iterator[Drive]:
    """Yield what driving does, for each cell and speed once.

    Ways that begin in the same way hit the same things there. So for each beginning of ways there
    is one Drive for the cells from which its last cell is a goal, and one for those from which it
    is none of the track; and if it is a whole way, one for those from which it is free.
    """
    free, goals = set(track.free), set(track.goals)
    cells_after: dict[Way, list[Pair]] = {(): list(track.free)}
    yield Drive(list(track.free), [(0, 0)], (0, 0), is_crash=False)
    for begun, speeds in _beginnings(top_speed).items():
        by, before = begun[-1], cells_after[begun[:-1]]
        there = {(x, y): (x + by[0], y + by[1]) for x, y in before}
        cells_after[begun] = [cell for cell in before if there[cell] in free]
        in_goal = [cell for cell in before if there[cell] in goals]
        crashed = [cell for cell in before if not (there[cell] in free or there[cell] in goals)]
        whole = [speed for speed in speeds if way(speed) == begun]
        yield Drive(cells_after[begun], whole, by, is_crash=False)
        yield Drive(in_goal, speeds, by, is_crash=False)
        yield Drive(crashed, speeds, by, is_crash=True)


def _beginnings(top_speed: int) -> dict[Way, list[Pair]]:
    """Return the beginnings of all ways, the shorter ones first, with the speeds of the ways."""
    beginnings: dict[Way, list[Pair]] = {}
    parts = range(-top_speed, top_speed + 1)
    for speed in itertools.product(parts, parts):
        whole = way(speed)
        for length in range(1, len(whole) + 1):
            beginnings.setdefault(whole[:length], []).append(speed)
    return dict(sorted(beginnings.items(), key=lambda item: len(item[0])))


def rectangles(pairs: Collection[Pair]) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Return sets of first and of second parts, the products of which are together the pairs."""
    firsts: dict[int, set[int]] = {}
    for first, second in pairs:
        firsts.setdefault(second, set()).add(first)
    seconds: dict[frozenset[int], set[int]] = {}
    for second, own in firsts.items():
        seconds.setdefault(frozenset(own), set()).add(second)
    return [(first, frozenset(second)) for first, second in seconds.items()]


def at_rest(cell: Pair) -> dict[str, int | float | bool]:
    """Return the state of a car that stands on the cell."""
    x, y = cell
    return {"car0_dx": 0, "car0_dy": 0, "car0_x": x, "car0_y": y, "car0_moving": 0}


class _Race:
    """The task under construction."""

    def __init__(self, name: str, track: Track, top_speed: int, *, can_slip: bool) -> None:
        d = self.description = Description(name)
        self.track, self.top_speed = track, top_speed
        x, y = track.starts[0]
        self.dx = d.int("car0_dx", -top_speed, top_speed, initial=0)
        self.dy = d.int("car0_dy", -top_speed, top_speed, initial=0)
        self.x = d.int("car0_x", track.columns[0], track.columns[-1], initial=x)
        self.y = d.int("car0_y", track.rows[0], track.rows[-1], initial=y)
        self.moving = d.int("car0_moving", 0, 1, initial=0)
        self.known: dict[tuple[int, frozenset[int]], Expr] = {}
        for b, a in itertools.product((-1, 0, 1), repeat=2):
            self._add_acceleration(a, b, can_slip=can_slip)
        d.silent.append(DRIVE)
        for drive in drives(track, top_speed):
            self._add_drive(drive)
        d.start(*(at_rest(cell) for cell in track.starts))
        d.goal(self._among(track.goals))
        d.fail(self._among(track.outside))

    def _add_acceleration(self, a: int, b: int, *, can_slip: bool) -> None:
        guard = self.moving == 0
        for speed, change in ((self.dx, a), (self.dy, b)):
            if change:
                room = speed < self.top_speed if change > 0 else speed > -self.top_speed
                guard = guard & room
        changed: Changes = {s: s + c for s, c in ((self.dx, a), (self.dy, b)) if c}
        outcomes: list[Changes] = [{**changed, self.moving: 1}]
        if can_slip and changed:
            outcomes.append({self.moving: 1})
        self.description.edge(f"accel0_{a}_{b}", guard=guard, outcomes=outcomes)

    def _add_drive(self, drive: Drive) -> None:
        along, beside = drive.by
        changes: Changes = {self.moving: 0}
        changes |= {at: at + by for at, by in ((self.x, along), (self.y, beside)) if by}
        changes |= {self.dx: 0, self.dy: 0} if drive.is_crash else {}
        for speeds, cells in itertools.product(rectangles(drive.speeds), rectangles(drive.cells)):
            is_there = self._within(self.x, cells[0]) & self._within(self.y, cells[1])
            is_fast = self._within(self.dx, speeds[0]) & self._within(self.dy, speeds[1])
            guard = (self.moving == 1) & is_fast & is_there
            self.description.edge(DRIVE, guard=guard, outcomes=[changes])

    def _among(self, cells: Collection[Pair]) -> Expr:
        """Return whether the car is on one of the cells."""
        sets = rectangles(cells)
        parts = [self._within(self.y, ys) & self._within(self.x, xs) for xs, ys in sets]
        return functools.reduce(operator.or_, parts)

    def _within(self, variable: Expr, values: frozenset[int]) -> Expr:
        """Return whether the variable has one of the values, which are made into intervals."""
        key = (id(variable), values)
        if key not in self.known:
            parts = [_interval(variable, first, last) for first, last in _intervals(values)]
            self.known[key] = functools.reduce(operator.or_, parts)
        return self.known[key]


def _interval(variable: Expr, first: int, last: int) -> Expr:
    return variable == first if first == last else (variable >= first) & (variable <= last)


def _intervals(values: Collection[int]) -> list[Pair]:
    """Return the first and the last of each interval of numbers."""
    firsts = sorted(v for v in values if v - 1 not in values)
    lasts = sorted(v for v in values if v + 1 not in values)
    return list(zip(firsts, lasts, strict=True))


# -- pictures ------------------------------------------------------------------------------------

CELL = 18  # of an SVG, its side
FILLS = {WALL: GREY, FREE: PAPER, START: YELLOW, GOAL: GREEN}


def draw(state: State, *, track: str, **_: object) -> Picture:
    """Return the track with the car, ``O`` or if it is crashed ``X``, and ``*`` where its speed
    would bring it, if that is on the picture.
    """
    cells = Track.read(track)
    return Picture(text=_text(state, cells), svg=_svg(state, cells))


def _kind(cell: Pair, track: Track) -> str:
    if cell in track.starts:
        return START
    return GOAL if cell in track.goals else FREE if cell in track.free else WALL


def _car(state: State) -> tuple[Pair, Pair]:
    """Return where the car is, and where its speed would bring it."""
    x, y, dx, dy = (int(state[f"car0_{name}"]) for name in ("x", "y", "dx", "dy"))
    return (x, y), (x + dx, y + dy)


def _words(state: State, track: Track) -> str:
    kind = _kind(_car(state)[0], track)
    end = {WALL: ", crashed", GOAL: ", finished"}.get(kind, "")
    moving = ", driving" if state["car0_moving"] else ""
    return f"speed {state['car0_dx']}, {state['car0_dy']}{moving}{end}"


def _text(state: State, track: Track) -> str:
    car, ahead = _car(state)
    look = {ahead: "*", car: "X" if _kind(car, track) == WALL else "O"}
    rows = [
        "".join(look.get((x, y)) or _kind((x, y), track) for x in track.columns) for y in track.rows
    ]
    return "\n".join([*rows, _words(state, track)])


def _svg(state: State, track: Track) -> str:
    left, top = track.columns[0], track.rows[0]
    width, height = CELL * len(track.columns), CELL * len(track.rows)
    canvas = Canvas(max(width, 200), height + 24)
    for y, x in itertools.product(track.rows, track.columns):
        fill = FILLS[_kind((x, y), track)]
        canvas.rectangle(CELL * (x - left), CELL * (y - top), CELL, CELL, fill=fill, line=GREY)
    car, ahead = ((CELL * (x - left + 0.5), CELL * (y - top + 0.5)) for x, y in _car(state))
    is_crashed = _kind(_car(state)[0], track) == WALL
    canvas.circle(*car, CELL / 2 - 3, fill=RED if is_crashed else BLUE)
    if car != ahead:
        canvas.arrow(*car, *ahead, line=INK)
    canvas.label(max(width, 200) / 2, height + 12, _words(state, track))
    return canvas.svg()


FAMILY = Family(
    "racetrack",
    make=racetrack,
    draw=draw,
    sizes={
        "tiny": {"track": "tiny", "top_speed": 6},
        "small": {"track": "corner", "top_speed": 3},
        "corner": {"track": "corner", "top_speed": 5},
        "ring": {"track": "ring", "top_speed": 5},
    },
)
