"""Follow car: a car follows another one and must neither hit it nor lose it.

``gap`` is the distance to the lead in metres, ``ego_v`` the speed of the car that follows, in
metres per second. A step takes ``time_step`` seconds: the gap changes by the difference of the old
speeds times these seconds, the speed by 3 metres per second squared, up for ``accelerate`` and down
for ``brake``; ``hold`` keeps it. Speeds are from 0 to 40, what would lead beyond is not applicable.
Fail is a gap of 0, a collision, or of 60, where the lead is out of sight. The goal is to have
followed for ``horizon`` steps, counted by ``episode``. At the start the gap is from 5 to 55, the
speed from 12 to 28: some starts are too close and too fast, or too far and too slow, to be safe.

Variants: ``det``, the lead drives at 20 for ever; ``brake``, in every step the lead *may* brake:
its speed ``lead_v``, 20 at the start, falls by 1 metre per second squared, but not below 12; if it
does not brake it rises at the same rate, but not above 20.

No file of this family is public. P-TREE describes a deterministic task with the time step 0.4, a
lead of constant speed and collision as fail; all else is our own design. That the lead must not be
lost is ours: who only has to avoid a collision stops and waits.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.motion import PAPERS, SMALL, TINY, between, check_times, text_of_lines
from surefoot.domains.parameters import check_variant
from surefoot.domains.pictures import BLUE, GREEN, GREY, INK, PAPER, RED, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, constant, maximum, minimum
from surefoot.tasks.state import State

LONGEST = 1.0
VARIANTS = ("det", "brake")
SIGHT = 60.0
TOP_SPEED = 40.0
STRENGTH, LEAD_STRENGTH = 3.0, 1.0  # of brakes and engine
LEAD_SPEED, LEAD_SLOWEST = 20.0, 12.0
Changes = dict[Expr, object]


def follow_car(*, time_step: float = 0.4, horizon: int = TINY, variant: str = "det") -> Description:
    """Return the drive of so many steps of so many seconds."""
    check_times(time_step, horizon, longest=LONGEST)
    check_variant(variant, VARIANTS)
    d = Description(f"follow-car-{time_step:g}-{horizon}-{variant}")
    episode = d.int("episode", 0, horizon, initial=0)
    gap = d.real("gap", 0, SIGHT, initial=SIGHT / 2)
    speed = d.real("ego_v", 0, TOP_SPEED, initial=LEAD_SPEED)
    begins = (gap >= 5) & (gap <= SIGHT - 5) & (speed >= 12) & (speed <= 28) & (episode == 0)
    lead, leads = constant(LEAD_SPEED), [Changes()]
    if variant == "brake":
        lead = d.real("lead_v", LEAD_SLOWEST, LEAD_SPEED, initial=LEAD_SPEED)
        leads = _leads(lead, LEAD_STRENGTH * time_step)
        begins = begins & (lead == LEAD_SPEED)
    # Cut where it fails, so that no step of any state leaves the bounds; guards do so for speeds.
    new_gap = between(gap + (lead - speed) * time_step, 0.0, SIGHT)
    for action, (can_change, new_speed) in _speeds(speed, STRENGTH * time_step).items():
        drives: Changes = {gap: new_gap, speed: new_speed, episode: episode + 1}
        outcomes = [{**drives, **name} for name in leads]
        d.edge(action, guard=(episode < horizon) & can_change, outcomes=outcomes)
    d.start(begins)
    d.goal((episode >= horizon) & (gap > 0) & (gap < SIGHT))
    d.fail((gap <= 0) | (gap >= SIGHT))
    return d


def _leads(lead: Expr, change: float) -> list[Changes]:
    """Return what the lead may do."""
    return [
        {lead: maximum(lead - change, LEAD_SLOWEST)},
        {lead: minimum(lead + change, LEAD_SPEED)},
    ]


def _speeds(speed: Expr, change: float) -> dict[str, tuple[Expr, Expr]]:
    """Return when each action is applicable, as far as the speed goes, and the new speed."""
    return {
        "brake": (speed - change >= 0, speed - change),
        "hold": (speed >= 0, speed),
        "accelerate": (speed + change <= TOP_SPEED, speed + change),
    }


def draw(state: State, *, horizon: int, **_: object) -> Picture:
    """Return both cars on the road: a column of text is a metre."""
    gap, speed, lead = state["gap"], state["ego_v"], dict(state).get("lead_v", LEAD_SPEED)
    head = (
        f"step {state['episode']} of {horizon}: gap {gap:.2f}, speed {speed:.2f}, lead {lead:.2f}"
    )
    metres = min(int(gap), int(SIGHT) - 1)
    between_cars = "." * metres if gap > 0 else "#"
    cars = ("[ego>" + between_cars + "[lead>").rjust(int(SIGHT) + 12)
    road = "=" * (int(SIGHT) + 12)
    return Picture(text_of_lines([head, road, cars, road]), _svg(head, gap))


def _svg(head: str, gap: float) -> str:
    metre, front = 8, 560  # the lead's back end
    canvas = Canvas(640, 110)
    canvas.label(320, 15, head)
    canvas.rectangle(20, 40, 600, 50, fill=GREY)
    for dash in range(30, 610, 40):
        canvas.line(dash, 65, dash + 20, 65, line=PAPER, width=2)
    x = front - metre * gap
    canvas.line(x, 65, front, 65, line=RED if gap <= 0 else INK, width=1)
    for left, fill in ((x - 36, BLUE), (front, GREEN)):
        canvas.rectangle(left, 55, 36, 20, fill=fill)
        canvas.rectangle(left + 22, 58, 6, 14, fill=PAPER)
    return canvas.svg()


FAMILY = Family(
    "follow-car",
    make=follow_car,
    draw=draw,
    sizes={
        "tiny": {"time_step": 0.4, "horizon": TINY},
        "small": {"time_step": 0.4, "horizon": SMALL},
        "0.4": {"time_step": 0.4, "horizon": PAPERS},
    },
)
