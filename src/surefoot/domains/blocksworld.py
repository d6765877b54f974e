"""Blocksworld: a hand rebuilds towers of blocks on a table that has room for few of them.

The blocks are numbered from 0, and one hand moves them. ``block_i`` says what block i stands on: 0
in the hand, 1 on the table, else on block j, as j + 2 if j < i and as j + 1 if j > i. ``clear_i``
is 1 if nothing stands on block i and it is not held, ``hand-empty`` is 1 if nothing is held,
``table-counter`` is the number of blocks that stand on the table themselves. With an empty hand
``choose_block_b`` lifts block b, which must be clear. With block b in the hand ``choose_table``
puts it on the table and ``choose_block_j`` on block j, which must be clear.

Every lifting and putting down may fail: nothing moves. The goal is one tower with block 0 on the
table and every other block i on i - 1. Fail is more than ``table_limit`` blocks on the table. At
the start the hand is empty, there are at most ``table_limit`` towers, and in all of them numbers
grow downwards. With a limit of 3 or more every start has a way to the goal (tried up to 6 blocks),
with 2 only few starts have. Up to 10 blocks start states are drawn within seconds; beyond 11 there
are too many to count them in a minute, and they have to be given.

Variants: ``ca``, cost-aware: ``cost_block_b`` counts how often moving block b failed, and
``step_cost`` is what it was before the last move. A block that has failed ``cost_bound`` times
cannot be moved any more, so that there are dead ends. ``ci``, cost-ignoring: there are no such
variables and no bound, a move that fails changes nothing at all. It is what is left of ``ca`` for
somebody who does not see costs and never meets the bound; a policy for ``ci`` can be asked in
``ca`` too, as its inputs are there under the same names. ``cost_bound`` has no meaning in ``ci``.

Names, bounds and outcomes of ``ca`` are those of the published files: ``4-3`` (a legacy one; 50 is
the value that a test of its authors gives to its constant without value) and ``6-5``. The papers
name "8Blocks CI" without saying what it stands for: that it ignores costs is our reading, and that
``ci`` is a task of its own is our design. In a legacy file with 8 blocks a failure raises the cost
by any number: that rule is left out.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range, check_variant
from surefoot.domains.pictures import BLUE, GREEN, GREY, INK, PAPER, RED, YELLOW, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, ite
from surefoot.tasks.state import State

VARIANTS = ("ci", "ca")
MOST = 30
HELD, TABLE = 0, 1
SIDE, CAPTION = 40, 190  # of a block in an SVG, and its least width
Changes = dict[Expr, object]


def blocksworld(
    *, blocks: int = 5, table_limit: int = 3, cost_bound: int = 12, variant: str = "ci"
) -> Description:
    """Return the table with this number of blocks and room for so many of them."""
    check_range("blocks", blocks, least=2, most=MOST)
    check_range("table_limit", table_limit, least=1, most=blocks - 1)
    check_range("cost_bound", cost_bound, least=1, most=1000)
    check_variant(variant, VARIANTS)
    bound = cost_bound if variant == "ca" else None
    name = f"blocksworld-{blocks}-{table_limit}-" + (variant if bound is None else f"{bound}-ca")
    return _Blocksworld(name, blocks, table_limit, bound).description


def place_on(block: int, below: int) -> int:
    """Return the value of ``block_i`` that says that a block stands on another one."""
    return below + 2 if below < block else below + 1


class _Blocksworld:
    """A table under construction; ``bound`` is None if costs are ignored."""

    def __init__(self, name: str, blocks: int, limit: int, bound: int | None) -> None:
        self.description = Description(name)
        self.numbers = range(blocks)
        self.limit = limit
        self.bound = bound
        self._declare(blocks)
        for block in self.numbers:
            self._add_put("choose_table", block, TABLE, None)
        for chosen in self.numbers:
            self._add_lifts(chosen)
            for block in self.numbers:
                if block != chosen:
                    action = f"choose_block_{chosen}"
                    self._add_put(action, block, place_on(block, chosen), chosen)
        self._add_conditions()

    def _declare(self, blocks: int) -> None:
        """Declare the variables; at first there is one tower, with block 0 on top."""
        d, last = self.description, blocks - 1
        self.hand = d.int("hand-empty", 0, 1, initial=1)
        self.on_table = d.int("table-counter", 0, blocks, initial=1)
        below = [place_on(i, i + 1) if i < last else TABLE for i in self.numbers]
        self.places = [d.int(f"block_{i}", 0, blocks, initial=below[i]) for i in self.numbers]
        self.clear = [d.int(f"clear_{i}", 0, 1, initial=int(i == 0)) for i in self.numbers]
        self.costs: list[Expr] = []
        if self.bound is not None:
            names = [f"cost_block_{i}" for i in self.numbers]
            self.costs = [d.int(name, 0, self.bound, initial=0) for name in names]
            self.step_cost = d.int("step_cost", 0, self.bound, initial=0)

    # -- edges -------------------------------------------------------------------------------

    def _add_put(self, action: str, block: int, place: int, below: int | None) -> None:
        """Add how the hand puts a block on the table or on the block ``below``."""
        guard = (self.places[block] == HELD) & (self.hand == 0) & (self.clear[block] == 0)
        moved: Changes = {self.hand: 1, self.places[block]: place, self.clear[block]: 1}
        if below is None:
            moved[self.on_table] = self.on_table + 1
        else:
            guard = guard & (self.clear[below] == 1)
            moved[self.clear[below]] = 0
        self._add_move(action, block, guard, moved)

    def _add_lifts(self, block: int) -> None:
        """Add how the hand lifts a block, from wherever it stands."""
        action = f"choose_block_{block}"
        can_lift = (self.hand == 1) & (self.clear[block] == 1)
        lifted: Changes = {self.hand: 0, self.places[block]: HELD, self.clear[block]: 0}
        is_there = self.places[block] == TABLE
        from_table: Changes = {**lifted, self.on_table: self.on_table - 1}
        self._add_move(action, block, can_lift & is_there, from_table)
        for below in self.numbers:
            if below == block:
                continue
            is_there = (self.places[block] == place_on(block, below)) & (self.clear[below] == 0)
            uncovered: Changes = {**lifted, self.clear[below]: 1}
            self._add_move(action, block, can_lift & is_there, uncovered)

    def _add_move(self, action: str, block: int, guard: Expr, moved: Changes) -> None:
        """Add an edge with two outcomes: the block moves, or it does not."""
        failed: Changes = {}
        if self.bound is not None:
            cost = self.costs[block]
            guard = guard & (cost < self.bound)
            moved = {**moved, self.step_cost: cost}
            failed = {self.step_cost: cost, cost: cost + 1}
        self.description.edge(action, guard=guard, outcomes=[moved, failed])

    # -- start, goal, fail -------------------------------------------------------------------

    def _add_conditions(self) -> None:
        stands_right = [self.places[0] == TABLE]
        stands_right += [self.places[i] == place_on(i, i - 1) for i in self.numbers[1:]]
        self.description.start(_all(self._start()))
        self.description.goal(_all(stands_right))
        self.description.fail(self.on_table >= self.limit + 1)

    def _start(self) -> Iterable[Expr]:
        """Yield what holds of a start. A block on a higher one, j, has place j + 1 whichever it
        is: no two places are equal, but for the table. That the towers are counted right is said
        again after every block: whoever lists the starts then soon sees what cannot work.
        """
        yield self.hand == 1
        yield self.on_table <= self.limit
        towers: Expr | int = 0
        for i, place in enumerate(self.places):
            yield (place == TABLE) | (place >= i + 2)
            yield from ((place == TABLE) | (place != other) for other in self.places[:i])
            is_covered = [other == i + 1 for other in self.places[:i]]
            covers: Expr | bool = functools.reduce(operator.or_, is_covered) if i else False
            yield self.clear[i] == ite(covers, 0, 1)
            towers = towers + ite(place == TABLE, 1, 0)
            left = len(self.numbers) - 1 - i
            yield (self.on_table >= towers) & (self.on_table <= towers + left)
        if self.bound is not None:
            yield from (cost == 0 for cost in [*self.costs, self.step_cost])


def _all(conditions: Iterable[Expr]) -> Expr:
    return functools.reduce(operator.and_, conditions)


# -- pictures --------------------------------------------------------------------------------------


def draw(state: State, *, blocks: int, table_limit: int, cost_bound: int, **_: object) -> Picture:
    """Return the picture of a state: towers from the lowest block on the left, and the hand.

    Blocks that stand nowhere, in a state that no run meets, are named beside the towers.
    """
    view = _View(state, blocks)
    words = f"{state['table-counter']} of at most {table_limit}"
    costs = [state[f"cost_block_{i}"] for i in range(blocks)] if "step_cost" in state else []
    bound = f"at most {cost_bound}"
    is_fail = state["table-counter"] > table_limit
    return Picture(view.text(words, costs, bound), view.svg(words, costs, bound, is_fail))


class _View:
    """A state as towers, each a list of blocks from the table upwards."""

    def __init__(self, state: State, blocks: int) -> None:
        places = [state[f"block_{i}"] for i in range(blocks)]
        above = {}
        for block in reversed(range(blocks)):
            for below in range(blocks):
                if below != block and places[block] == place_on(block, below):
                    above[below] = block
        self.blocks = blocks
        self.held = [i for i in range(blocks) if places[i] == HELD]
        self.towers = [[i] for i in range(blocks) if places[i] == TABLE]
        for tower in self.towers:
            while tower[-1] in above:
                tower.append(above[tower[-1]])
        shown = {*self.held, *(block for tower in self.towers for block in tower)}
        self.lost = [i for i in range(blocks) if i not in shown]

    @property
    def height(self) -> int:
        return max(map(len, self.towers), default=0)

    def text(self, words: str, costs: list[int], bound: str) -> str:
        width = len(str(self.blocks - 1))
        box = [f"[{i:>{width}}]" for i in range(self.blocks)]
        margin, gap = "table  ", " " * (width + 2)
        lines = ["hand".ljust(len(margin)) + " ".join(box[i] for i in self.held)]
        for level in reversed(range(self.height)):
            cells = [box[t[level]] if level < len(t) else gap for t in self.towers]
            lines.append(" " * len(margin) + " ".join(cells))
        lines.append(margin + "=" * ((width + 3) * self.blocks - 1) + f"  {words}")
        if self.lost:
            lines.append("nowhere: " + " ".join(box[i] for i in self.lost))
        if costs:
            failed = [f"{i}={cost}" for i, cost in enumerate(costs) if cost]
            lines.append(f"failures, {bound}: " + (", ".join(failed) or "none"))
        return "\n".join(line.rstrip() for line in lines)

    def svg(self, words: str, costs: list[int], bound: str, is_fail: bool) -> str:
        step, floor = SIDE + 12, SIDE * (self.blocks + 2) + 16
        middle = max(step * self.blocks + 24, CAPTION) / 2
        canvas = Canvas(2 * middle, floor + 44)
        left = middle - step * self.blocks / 2
        for column, tower in enumerate(self.towers):
            is_right = tower[0] == 0
            for level, block in enumerate(tower):
                is_right = is_right and block == level
                x, y = left + 6 + column * step, floor - SIDE * (level + 1)
                self._block(canvas, x, y, block, costs, GREEN if is_right else BLUE)
        for number, block in enumerate(self.held):
            self._block(canvas, middle - SIDE / 2 + number * step, 16, block, costs, YELLOW)
        canvas.line(middle, 0, middle, 16, line=INK, width=3)
        canvas.line(middle - 24, 16, middle + 24, 16, line=INK, width=3)
        table = RED if is_fail else GREY
        canvas.rectangle(left - 4, floor, step * self.blocks + 8, 8, fill=table)
        canvas.label(middle, floor + 20, f"on the table: {words}")
        if costs:
            canvas.label(middle, floor + 36, f"small numbers: failures, {bound}", size=10)
        return canvas.svg()

    def _block(
        self, canvas: Canvas, x: float, y: float, block: int, costs: list[int], fill: str
    ) -> None:
        canvas.rectangle(x, y, SIDE, SIDE, fill=fill)
        canvas.label(x + SIDE / 2, y + SIDE / 2, block, size=16, fill=PAPER)
        if costs:
            canvas.label(x + SIDE - 8, y + 8, costs[block], size=9, fill=PAPER)


FAMILY = Family(
    "blocksworld",
    make=blocksworld,
    draw=draw,
    sizes={
        "tiny": {"blocks": 5, "table_limit": 3},
        "small": {"blocks": 6, "table_limit": 3},
        "4-3": {"blocks": 4, "table_limit": 3, "cost_bound": 50, "variant": "ca"},
        "6-5": {"blocks": 6, "table_limit": 5, "cost_bound": 12, "variant": "ca"},
        "8-7": {"blocks": 8, "table_limit": 7, "cost_bound": 8, "variant": "ca"},
    },
)
