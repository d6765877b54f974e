"""Staircase: the root enters one unsafe step after the other, and for each the way up is the same.

Step ``k`` has the one action ``climb`` with the outcomes step ``k + 1`` and step ``k - 1``, in this
order; above the last step is the safe landing, below step 1 is fail. The root has the actions
``enter_1``, ..., ``enter_n`` to the steps, in this order, and then ``rest`` to the landing. Every
step is unsafe, as the way down may end in fail; the root is safe by ``rest`` alone. An oracle that
finds step ``k`` unsafe and forgets the steps above explores them again from step ``k + 1``: iPI and
TarjanSafe are quadratic. One that hands unsafety on when it is found is linear.

On the landing ``rest`` leads nowhere else. Without any action the landing would be terminal, and
oracles would not agree on whether such a state counts as expanded.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.parameters import check_range
from surefoot.domains.pictures import BLUE, GREEN, GREY, INK, PAPER, RED, Canvas, Picture, window
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import State

MAX_STEPS = 100_000
SHOWN = 16  # levels of a picture, around the state
WIDE, HIGH = 46, 20  # a level of a picture
ROOT, STEPS, LANDING, FAIL = range(4)


def staircase(*, steps: int = 10) -> Description:
    """Return the staircase of this many steps.

    A state is a ``place`` (0 root, 1 on the steps, 2 landing, 3 fail) and a ``step`` (0 if it is on
    none). The place is a variable of its own so that the guard index need not tell the steps apart
    to rule out the actions of the root.
    """
    check_range("steps", steps, least=1, most=MAX_STEPS)
    d = Description(f"staircase-{steps}")
    place = d.int("place", ROOT, FAIL, initial=ROOT)
    step = d.int("step", 0, steps, initial=0)
    is_root = place == ROOT
    for k in range(1, steps + 1):
        d.edge(f"enter_{k}", guard=is_root, outcomes=[{place: STEPS, step: k}])
    d.edge("rest", guard=is_root | (place == LANDING), outcomes=[{place: LANDING, step: 0}])
    for first, last in dict.fromkeys([(1, 1), (2, steps - 1), (steps, steps)]):
        up: dict[Expr, object] = {step: step + 1}
        down: dict[Expr, object] = {step: step - 1}
        if last == steps:
            up = {place: LANDING, step: 0}
        if first == 1:
            down = {place: FAIL, step: 0}
        guard = (place == STEPS) & (step >= first) & (step <= last)
        if first <= last:
            d.edge("climb", guard=guard, outcomes=[up, down])
    d.start({"place": ROOT, "step": 0})
    d.fail(place == FAIL)
    return d


def draw(state: State, *, steps: int) -> Picture:
    """Return a picture of the stairs around the state, which is ``*``, and of the root."""
    level = {ROOT: 1, STEPS: state["step"], LANDING: steps + 1, FAIL: 0}[state["place"]]
    shown = window(level, steps + 2, SHOWN)
    at = None if state["place"] == ROOT else level
    return Picture(text=_text(at, steps, shown), svg=_svg(at, steps, shown))


def _name(level: int, steps: int) -> str:
    return {0: "fail", steps + 1: "landing"}.get(level, str(level))


def _text(at: int | None, steps: int, shown: range) -> str:
    lines = [f"root{' *' if at is None else ''}"]
    for level in reversed(shown):
        indent = "    " * (level - shown.start)
        lines.append(f"{indent}__ {_name(level, steps)}{' *' if level == at else ''}")
    return "\n".join(lines)


def _svg(at: int | None, steps: int, shown: range) -> str:
    canvas = Canvas(WIDE * (len(shown) + 1), HIGH * (len(shown) + 3))
    for column, level in enumerate(shown):
        fill = {0: RED, steps + 1: GREEN}.get(level, GREY)
        ink = INK if fill == GREY else PAPER
        x, top = WIDE * (column + 0.5), HIGH * (len(shown) - column + 1)
        canvas.rectangle(x, top, WIDE, HIGH * (column + 1), fill=fill)
        canvas.label(x + WIDE / 2, top + HIGH / 2, _name(level, steps), size=11, fill=ink)
        if level == at:
            canvas.circle(x + WIDE / 2, top - 8, 7, fill=BLUE)
    canvas.label(WIDE, HIGH, "root")
    canvas.circle(WIDE * 1.8, HIGH, 7, fill=BLUE if at is None else PAPER)
    return canvas.svg()


FAMILY = Family(
    "staircase",
    make=staircase,
    draw=draw,
    sizes={"tiny": {"steps": 10}, "small": {"steps": 5000}},
)
