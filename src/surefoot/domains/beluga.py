"""Beluga: jigs go from a plane to a factory that asks for them in an order not known beforehand.

A jig goes from the plane to the trailer, into a rack, onto the truck and to the factory. The plane
lets out its jigs one after the other, the last position first. A rack is a row: jigs are pushed in
and popped out at its front and at its back. The factory has production lines, each of which wants
its jigs in its own order; the request is the next jig of *some* unfinished line, and every push,
every delivery and every unloading of the truck draws it anew. That is the only chance.

``unload_beluga_0`` brings the next jig from the plane to the empty trailer, ``push_E_rack_R`` the
jig on the trailer to that end of a rack with room, ``pop_E_rack_R`` the jig at that end to the
empty truck, wanted or not; ``send_to_factory`` delivers the jig on the truck if it is the request,
and ``unload_truck_0`` takes it back to the empty trailer. Every push counts as a swap, also the
first of a jig, and ``swap_limit`` swaps are fail. The goal is that all jigs are delivered. As only
pushes close loops, all runs are finite.

``jig_j`` is where a jig is: its position in the plane, a rack, the trailer, the truck or delivered.
``front_jig_j`` and ``back_jig_j`` are its neighbours in the rack, ``front_rack_r`` and
``back_rack_r`` the jigs at the ends, -1 if there is none, and ``rack_load_r`` is the *free* space,
in spite of its name. At the start all jigs are on the plane, in any order. ``lines`` is the order
that each production line wants, ``0,3|2,1`` for two lines. Without it there are two: jig 0 and then
the upper half upwards, the lower half downwards. ``swap_limit`` 0 stands for two more than jigs,
which leaves one swap to spare.

Names, bounds and outcomes are those of the one published file, ``size=4-2``; what other sizes look
like is our own extension of it.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Iterable
from dataclasses import dataclass

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range
from surefoot.domains.pictures import BLUE, GREEN, GREY, PALE, PAPER, RED, YELLOW, Canvas, Picture
from surefoot.errors import InputError, quoted
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, all_of, variable
from surefoot.tasks.state import State

MOST_JIGS, MOST_RACKS, MOST_LINES, MOST = 20, 10, 4, 1000
SPARE = 2  # swaps of the default limit beyond one for each jig
ENDS = {"front": "back", "back": "front"}  # each with the other one
Changes = dict[Expr, object]
Lines = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Places:
    """The values of ``jig_j`` beyond the positions in the plane, which come first."""

    jigs: int
    racks: int

    def rack(self, number: int) -> int:
        """Return the place of a jig in this rack."""
        return self.jigs + number

    @property
    def trailer(self) -> int:
        """The place of the jig on the trailer."""
        return self.jigs + self.racks

    @property
    def truck(self) -> int:
        """The place of the jig on the truck."""
        return self.trailer + 1

    @property
    def delivered(self) -> int:
        """The place of jigs in the factory."""
        return self.trailer + 2


def beluga(
    *, jigs: int = 3, racks: int = 2, swap_limit: int = 0, capacity: int = 12, lines: str = ""
) -> Description:
    """Return the task with so many jigs and racks; see the rules for the other parameters."""
    check_range("jigs", jigs, least=1, most=MOST_JIGS)
    check_range("racks", racks, least=1, most=MOST_RACKS)
    check_range("swap_limit", swap_limit, least=0, most=MOST)
    check_range("capacity", capacity, least=1, most=MOST)
    wanted = production_lines(jigs, lines)
    return _Beluga(wanted, racks, capacity, swap_limit or jigs + SPARE).description


def production_lines(jigs: int, text: str) -> Lines:
    """Return the jigs of each production line, in the order in which they are wanted."""
    if not text:
        half = jigs // 2
        upper, lower = (0, *range(half + 1, jigs)), tuple(range(half, 0, -1))
        return (upper, lower) if lower else (upper,)
    lines = tuple(
        tuple(_jig(part.strip(), jigs) for part in line.split(",")) for line in text.split("|")
    )
    if sorted(itertools.chain(*lines)) != list(range(jigs)) or len(lines) > MOST_LINES:
        raise InputError(
            "bad-parameter",
            f"lines must name each jig from 0 to {jigs - 1} once, in at most {MOST_LINES} lines,"
            f" not {quoted(text)}",
            hint="write lines=0,3|2,1 for two lines of two jigs each",
        )
    return lines


def _jig(text: str, jigs: int) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(MOST_JIGS))
    if not is_number or int(text) >= jigs:
        raise InputError(
            "bad-parameter",
            f"lines name jigs from 0 to {jigs - 1}, not {quoted(text)}",
            hint="write lines=0,3|2,1 for two lines of two jigs each",
        )
    return int(text)


class _Beluga:
    """The task under construction."""

    def __init__(self, lines: Lines, racks: int, capacity: int, limit: int) -> None:
        self.lines, self.limit, self.capacity = lines, limit, capacity
        self.jigs, self.racks = range(sum(map(len, lines))), range(racks)
        self.places = Places(len(self.jigs), racks)
        self.description = Description(f"beluga-{len(self.jigs)}-{racks}-{limit}")
        self._declare_jigs_and_racks()
        self._declare_the_rest()
        self._add_edges()
        self._add_conditions()

    # -- variables ---------------------------------------------------------------------------

    def _declare_jigs_and_racks(self) -> None:
        d = self.description
        last, room = self.places.delivered, self.capacity
        self.jig = [d.int(f"jig_{j}", 0, last, initial=j) for j in self.jigs]
        self.next_to = {end: [self._some_jig(f"{end}_jig_{j}") for j in self.jigs] for end in ENDS}
        self.room = [d.int(f"rack_load_{r}", 0, room, initial=room) for r in self.racks]
        self.end = {end: [self._some_jig(f"{end}_rack_{r}") for r in self.racks] for end in ENDS}

    def _declare_the_rest(self) -> None:
        d, count = self.description, len(self.jigs)
        self.trailer_is_empty = d.int("empty_trailer_0", 0, 1, initial=1)
        self.on_plane = d.int("beluga_0", 0, count, initial=count)
        self.request = self._some_jig("next_jig", self.lines[0][0])
        self.heads = [self._some_jig(f"line_{i}", line[0]) for i, line in enumerate(self.lines)]
        self.truck_is_empty = d.int("empty_truck", 0, 1, initial=1)
        self.swaps = d.int("num_swaps", 0, self.limit, initial=0)

    def _some_jig(self, name: str, initial: int = -1) -> Expr:
        return self.description.int(name, -1, len(self.jigs) - 1, initial=initial)

    # -- edges -------------------------------------------------------------------------------

    def _add_edges(self) -> None:
        for j in self.jigs:
            self._add_unload_beluga(j)
        for j in self.jigs:
            self._add_send_to_factory(j)
        for end, r, j in itertools.product(ENDS, self.racks, self.jigs):
            self._add_push(end, r, j)
        for end, r, j in itertools.product(ENDS, self.racks, self.jigs):
            self._add_pop(end, r, j)
        for j in self.jigs:
            guard = (self.jig[j] == self.places.truck) & (self.trailer_is_empty == 1)
            moved: Changes = {self.jig[j]: self.places.trailer}
            moved |= {self.trailer_is_empty: 0, self.truck_is_empty: 1}
            self._add_redraw("unload_truck_0", guard, moved)

    def _add_unload_beluga(self, j: int) -> None:
        """Add an edge for each position, so that no guard compares two variables."""
        for position in self.jigs:
            guard = (self.trailer_is_empty == 1) & (self.jig[j] == position)
            changes: Changes = {self.jig[j]: self.places.trailer, self.trailer_is_empty: 0}
            changes[self.on_plane] = position
            guard = guard & (self.on_plane == position + 1)
            self.description.edge("unload_beluga_0", guard=guard, outcomes=[changes])

    def _add_send_to_factory(self, j: int) -> None:
        guard = (self.jig[j] == self.places.truck) & (self.request == j)
        (number,) = (i for i, line in enumerate(self.lines) if j in line)
        following = (*self.lines[number], -1)[self.lines[number].index(j) + 1]
        changes: Changes = {self.jig[j]: self.places.delivered, self.truck_is_empty: 1}
        changes[self.heads[number]] = following
        self._add_redraw("send_to_factory", guard, changes, advanced={number: following})

    def _add_push(self, end: str, r: int, j: int) -> None:
        guard = (self.jig[j] == self.places.trailer) & (self.room[r] >= 1)
        guard = guard & (self.swaps <= self.limit - 1)
        changes: Changes = {self.jig[j]: self.places.rack(r), self.trailer_is_empty: 1}
        changes |= {self.room[r]: self.room[r] - 1, self.swaps: self.swaps + 1}
        changes[self.end[end][r]] = j
        action, other, old = f"push_{end}_rack_{r}", ENDS[end], self.end[end][r]
        self._add_redraw(action, guard & (old == -1), {**changes, self.end[other][r]: j})
        for k in self._others(j):
            links: Changes = {self.next_to[end][k]: j, self.next_to[other][j]: k}
            self._add_redraw(action, guard & (old == k), changes | links)

    def _add_pop(self, end: str, r: int, j: int) -> None:
        guard = (self.end[end][r] == j) & (self.truck_is_empty == 1)
        changes: Changes = {self.jig[j]: self.places.truck, self.truck_is_empty: 0}
        changes[self.room[r]] = self.room[r] + 1
        action, other = f"pop_{end}_rack_{r}", ENDS[end]
        behind = self.next_to[other][j]
        emptied: Changes = {self.end[end][r]: -1, self.end[other][r]: -1}
        edges = [(behind == -1, emptied)]
        for k in self._others(j):
            links: Changes = {self.end[end][r]: k, self.next_to[end][k]: -1, behind: -1}
            edges.append((behind == k, links))
        for is_behind, more in edges:
            self.description.edge(action, guard=guard & is_behind, outcomes=[changes | more])

    def _others(self, j: int) -> list[int]:
        return [k for k in self.jigs if k != j]

    def _add_redraw(
        self, action: str, guard: Expr, changes: Changes, advanced: dict[int, int] | None = None
    ) -> None:
        """Add the edges of an action after which any line that is not finished may be next.

        ``advanced`` is the new head of the line that the action changes, which is the delivery: it
        also wants the heads of the other lines to be jigs of theirs, as in the published file. That
        is so in all states that can be reached.
        """
        for are_open in itertools.product((False, True), repeat=len(self.lines)):
            here, drawn, is_possible = guard, [], True
            for number, is_open in enumerate(are_open):
                head: Expr | int = self.heads[number]
                if advanced is not None and number in advanced:
                    head = advanced[number]
                    is_possible = is_possible and (head >= 0) == is_open
                else:
                    here = here & self._head_is(number, is_open, is_own=advanced is not None)
                drawn += [head] if is_open else []
            outcomes = [{**changes, self.request: head} for head in drawn or [-1]]
            if is_possible:
                self.description.edge(action, guard=here, outcomes=outcomes)

    def _head_is(self, number: int, is_open: bool, *, is_own: bool) -> Expr:
        head = self.heads[number]
        if not is_open:
            return head == -1
        if not is_own:
            return head >= 0
        return functools.reduce(operator.or_, (head == j for j in self.lines[number]))

    # -- start, goal, fail -------------------------------------------------------------------

    def _add_conditions(self) -> None:
        d, count = self.description, len(self.jigs)
        others = [v for v in d.variables.values() if v.name not in {f"jig_{j}" for j in self.jigs}]
        fixed = [variable(v.name, v.type) == v.initial for v in others]
        differ = [self.jig[i] != self.jig[j] for i, j in itertools.combinations(self.jigs, 2)]
        d.start(_all([jig < count for jig in self.jig] + differ + fixed))
        d.goal(_all([jig == self.places.delivered for jig in self.jig]))
        d.fail(self.swaps >= self.limit)


def _all(conditions: list[Expr]) -> Expr:
    result = all_of(conditions)
    assert result is not None
    return result


# -- pictures ------------------------------------------------------------------------------------

LABEL, ROW, JIG = 90, 30, 26  # lengths in an SVG: the column of names, a row, a jig with its space


def draw(
    state: State, *, jigs: int, racks: int, swap_limit: int, lines: str, **_: object
) -> Picture:
    """Return a picture with a row for everything that holds jigs; delivered jigs are left out of
    the production lines, and the jig that the factory wants now is marked.
    """
    rows = _rows(state, jigs, racks, production_lines(jigs, lines))
    limit = swap_limit or jigs + SPARE
    return Picture(text=_text(state, rows, limit), svg=_svg(state, rows, jigs, limit))


Rows = dict[str, list[int]]


def _rows(state: State, jigs: int, racks: int, lines: Lines) -> Rows:
    """Return which jigs are where; of the plane, the next one to leave is the last."""
    places = Places(jigs, racks)
    rows = {"plane": sorted(_at(state, range(jigs)), key=lambda j: int(state[f"jig_{j}"]))}
    rows["trailer"] = _at(state, [places.trailer])
    for r in range(racks):
        rows[f"rack {r}"] = _in_rack(state, r, _at(state, [places.rack(r)]))
    rows["truck"] = _at(state, [places.truck])
    rows["factory"] = delivered = _at(state, [places.delivered])
    for number, line in enumerate(lines):
        rows[f"line {number}"] = [j for j in line if j not in delivered]
    return rows


def _at(state: State, places: Iterable[int]) -> list[int]:
    wanted = set(places)
    count = sum(name.startswith("jig_") for name in state)
    return [j for j in range(count) if state[f"jig_{j}"] in wanted]


def _in_rack(state: State, rack: int, jigs: list[int]) -> list[int]:
    """Return the jigs of a rack from front to back, those last that no link leads to."""
    content, following = [], state[f"front_rack_{rack}"]
    while following >= 0 and following not in content:
        content.append(int(following))
        following = state[f"back_jig_{following}"]
    return content + [j for j in jigs if j not in content]


def _text(state: State, rows: Rows, limit: int) -> str:
    texts = {name: " ".join(map(str, jigs)) or "-" for name, jigs in rows.items()}
    for r in range(sum(name.startswith("rack ") for name in rows)):
        texts[f"rack {r}"] += f"  (room for {state[f'rack_load_{r}']})"
    texts["request"] = str(state["next_jig"]) if state["next_jig"] >= 0 else "-"
    texts["swaps"] = f"{state['num_swaps']} of {limit}"
    return "\n".join(f"{name:<8} {text}" for name, text in texts.items())


def _svg(state: State, rows: Rows, jigs: int, limit: int) -> str:
    width = LABEL + JIG * max(jigs, 4) + 20
    canvas = Canvas(width, ROW * (len(rows) + 1) + 8)
    for row, (name, held) in enumerate(rows.items()):
        y = ROW * (row + 0.5) + 4
        canvas.label(LABEL / 2, y, name)
        fill = PAPER if name.startswith("line") else PALE if name.startswith("rack") else GREY
        length = 1 if name in ("trailer", "truck") else jigs
        canvas.rectangle(LABEL, y - JIG / 2, JIG * length + 4, JIG, fill=fill)
        for column, j in enumerate(held):
            x = LABEL + JIG * (column + 0.5) + 2
            other = GREEN if name == "factory" else BLUE
            canvas.circle(x, y, JIG / 2 - 2, fill=YELLOW if j == state["next_jig"] else other)
            canvas.label(x, y, j, fill=PAPER)
    _draw_swaps(canvas, state["num_swaps"], limit, ROW * (len(rows) + 0.5) + 4, width)
    return canvas.svg()


def _draw_swaps(canvas: Canvas, swaps: int, limit: int, y: float, width: float) -> None:
    """Draw a bar that is full when the limit is reached."""
    canvas.label(LABEL / 2, y, f"swaps {swaps}/{limit}")
    room = width - LABEL - 16
    canvas.rectangle(LABEL, y - 6, room, 12)
    fill = RED if swaps >= limit else GREEN
    canvas.rectangle(LABEL, y - 6, room * swaps / limit, 12, fill=fill)


FAMILY = Family(
    "beluga",
    make=beluga,
    draw=draw,
    sizes={"tiny": {"jigs": 3, "racks": 2}}
    | {f"{jigs}-2": {"jigs": jigs, "racks": 2} for jigs in (3, 4, 5, 6, 8)},
)
