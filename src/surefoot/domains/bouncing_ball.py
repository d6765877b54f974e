"""Bouncing ball: a paddle hits a ball down in time, so that it never comes to rest.

A ball falls and bounces. ``height`` and ``velocity`` follow the parabola of gravity for one
``time_step``; if the ball would touch the floor within it, it bounces: the height becomes 0.9 times
and the velocity -0.9487 times what it was, which takes energy. ``push`` hits the ball: its velocity
falls by 4. The paddle reaches heights from 5 to 9, elsewhere there is only ``skip``. A hit gives
energy to a falling ball and takes it from a rising one.

Fail is a ball with too little energy to come back to the paddle: height plus or minus 5 / 9.9029
times the velocity (9.9029 is the speed of a fall from height 5) at most 4.9999, before the last
step. The goal is to have played ``horizon`` steps, counted by ``episode``. The ball starts in reach
of the paddle, from 5 to 9, at speeds from -1 to 1. Nothing is left to chance.

Names, bounds and outcomes are those of the file published for the time step 0.3 and horizon 1000.
P-TREE uses the time step 0.01. As in the file, an action that would lead beyond the top speed of
100 is not applicable. A paddle that hits as often as it can brings a ball to that speed if steps
are short and many (0.01 and some thousands), and a ball that falls so fast is a dead end.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.motion import PAPERS, SMALL, TINY, check_times, text_of_lines
from surefoot.domains.pictures import BLUE, GREY, INK, RED, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, maximum
from surefoot.tasks.state import State

LONGEST = 1.0
GRAVITY = -9.8067
KEPT_HEIGHT, KEPT_VELOCITY = 0.9, -0.9487  # what is left of them after a bounce
LOW, HIGH = 5, 9  # where the paddle reaches
RETURN_SPEED = 9.9029
TOP_SPEED, CEILING = 100, 1000
HITS = {"push": 4, "skip": 0}  # what an action takes from the velocity
SHOWN, ZONE = 14, "#f6e7b0"  # the greatest height in pictures, and the colour of the reach
Changes = dict[Expr, object]


def bouncing_ball(*, time_step: float = 0.3, horizon: int = TINY) -> Description:
    """Return the ball that is played for so many steps of so many seconds."""
    check_times(time_step, horizon, longest=LONGEST)
    d = Description(f"bouncing-ball-{time_step:g}-{horizon}")
    episode = d.int("episode", 0, 4 * horizon, initial=0)
    height = d.real("height", 0, CEILING, initial=5.0)
    velocity = d.real("velocity", -TOP_SPEED, TOP_SPEED, initial=1.0)
    for action in HITS:
        _add_edges(d, action, (episode, height, velocity), time_step, episode < 4 * horizon)
    in_reach = (height >= LOW) & (height <= HIGH)
    d.start(in_reach & (velocity >= -1) & (velocity <= 1) & (episode == 0))
    d.goal(episode >= horizon)
    lead = velocity * (LOW / RETURN_SPEED)
    is_low = (height + lead <= LOW - 0.0001) & (height - lead <= LOW - 0.0001)
    d.fail(is_low & (episode <= horizon - 1))
    return d


def _add_edges(
    d: Description, action: str, ball: tuple[Expr, Expr, Expr], time_step: float, goes_on: Expr
) -> None:
    """Add what the action does in the air and at the floor.

    No step of a run leaves the bounds. In the air the guard compares the height with exactly what
    the height loses, so that it stays above 0; the velocity falls, and the guard keeps it above
    -100. The guard's sum, which is the file's, might differ in the last bit from the new velocity
    for some time step (not for 0.3): that is what the maximum is for. A ball that touches the floor
    within a step, of a second at most, has a velocity below 5, and after the bounce one above -5,
    and the guard keeps it below 100. It bounces at heights up to 0.9 times 105, from where a ball
    of speed 100 rises by 510: nothing reaches the ceiling.
    """
    episode, height, velocity = ball
    hit, change = HITS[action], time_step * GRAVITY
    drop = 0.5 * GRAVITY * (time_step * time_step)
    fall = -velocity * time_step - drop
    if hit:
        goes_on = (height >= LOW) & (height <= HIGH) & goes_on
    is_slow = velocity - hit + change >= -TOP_SPEED
    flies: Changes = {
        height: height + (velocity * time_step + drop),
        velocity: maximum(velocity + (change - hit), -float(TOP_SPEED)),
        episode: episode + 1,
    }
    d.edge(action, guard=goes_on & (fall < height) & is_slow, outcomes=[flies])
    bounced = (velocity - hit) * KEPT_VELOCITY
    bounces: Changes = {height: height * KEPT_HEIGHT, velocity: bounced, episode: episode + 1}
    d.edge(action, guard=goes_on & (height <= fall) & (bounced <= TOP_SPEED), outcomes=[bounces])


def draw(state: State, *, horizon: int, **_: object) -> Picture:
    """Return the ball above the floor, and how far the paddle reaches."""
    height, velocity = state["height"], state["velocity"]
    head = f"step {state['episode']} of {horizon}: height {height:.2f}, velocity {velocity:.2f}"
    lines = [_row(row, height) for row in range(SHOWN, -1, -1)]
    return Picture(text_of_lines([head, *lines, "   +" + "=" * 13]), _svg(head, height, velocity))


def _row(row: int, height: float) -> str:
    air = "." * 13 if LOW <= row <= HIGH else " " * 13
    here = min(int(height), SHOWN) == row
    ball = "^" if height >= SHOWN + 1 else "o"
    return f"{row:2d} |" + (air[:6] + ball + air[7:] if here else air)


def _svg(head: str, height: float, velocity: float) -> str:
    metre, left, right = 20, 40, 240
    floor = 40 + metre * (SHOWN + 1)
    canvas = Canvas(280, floor + 20)
    canvas.label(140, 15, head)
    top = floor - metre * HIGH
    canvas.rectangle(left, top, right - left, metre * (HIGH - LOW), fill=ZONE, line=GREY)
    canvas.label(left - 12, top, HIGH)
    canvas.label(left - 12, floor - metre * LOW, LOW)
    canvas.line(left, floor, right, floor, width=4)
    x, y = 140, floor - metre * min(height, SHOWN + 0.5)
    tip = y - 4 * max(-15.0, min(velocity, 15.0))
    canvas.line(x, y, x, tip, line=RED, width=2)
    canvas.circle(x, y, 8, fill=BLUE if height <= SHOWN + 0.5 else GREY, line=INK)
    return canvas.svg()


FAMILY = Family(
    "bouncing-ball",
    make=bouncing_ball,
    draw=draw,
    sizes={
        "tiny": {"time_step": 0.3, "horizon": TINY},
        "small": {"time_step": 0.3, "horizon": SMALL},
        "0.3": {"time_step": 0.3, "horizon": PAPERS},
        "0.01": {"time_step": 0.01, "horizon": PAPERS},
    },
)
