"""Cartpole: a cart is pushed left and right so that the pole on it stays up and it on the track.

``position`` and ``velocity`` are the cart's, in metres; ``angle`` is the pole's in radians, 0 if it
is upright and positive to the right, ``angular_velocity`` its speed. ``left`` and ``right`` push
the cart of 1 kilogram with 10 newtons; the pole has 0.1 kilograms and its middle is 0.5 metres
above the cart. A step of ``time_step`` seconds changes positions by the old speeds and speeds by
the accelerations, which are those of small angles (the sine is the angle, the cosine is 1, the
square of a speed is nothing). Fail is a cart 2.4 metres or a pole 0.209 (12 degrees) or more from
the middle, the goal is to have gone on for ``horizon`` steps, counted by ``episode``.

Speeds are cut at 5 metres and 5 radians per second. The start is anywhere within 1.2 metres, 1
metre per second, 0.12 radians and 1.5 radians per second of the middle at rest: in some corners the
pole falls whatever one does.

Variants: ``det``; ``gust``, in every step the wind *may* push the cart with 2 newtons, from either
side.

No file of this family is public. P-TEST names the task only: these are the well-known rules with
the time step 0.02, but with small angles, the wider start and the wind, which are our own design.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.motion import (
    PAPERS,
    SMALL,
    TINY,
    check_times,
    draw_pole,
    pole_lines,
    text_of_lines,
    within,
)
from surefoot.domains.parameters import check_variant
from surefoot.domains.pictures import GREY, RED, YELLOW, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import State

LONGEST = 0.05
WINDS = {"det": (0.0,), "gust": (0.0, -2.0, 2.0)}  # what the wind may push with
PUSHES = {"left": -10.0, "right": 10.0}
GRAVITY, CART, POLE, HALF = 9.8, 1.0, 0.1, 0.5  # masses, and half the length of the pole
TRACK, LEAN, TOP_SPEED = 2.4, 0.209, 5.0
BOUNDS = {
    "position": TRACK,
    "velocity": TOP_SPEED,
    "angle": LEAN,
    "angular_velocity": TOP_SPEED,
}
STARTS = {"position": 1.2, "velocity": 1.0, "angle": 0.12, "angular_velocity": 1.5}
Changes = dict[Expr, object]


def cartpole(*, time_step: float = 0.02, horizon: int = TINY, variant: str = "det") -> Description:
    """Return the cart that is to balance its pole for so many steps of so many seconds."""
    check_times(time_step, horizon, longest=LONGEST)
    check_variant(variant, WINDS)
    d = Description(f"cartpole-{time_step:g}-{horizon}-{variant}")
    episode = d.int("episode", 0, horizon, initial=0)
    now = {name: d.real(name, -most, most, initial=0.0) for name, most in BOUNDS.items()}
    for action, push in PUSHES.items():
        outcomes = [
            {**_step(now, push + wind, time_step), episode: episode + 1} for wind in WINDS[variant]
        ]
        d.edge(action, guard=episode < horizon, outcomes=outcomes)
    begins = episode == 0
    for name, most in STARTS.items():
        begins = begins & (abs(now[name]) <= most)
    d.start(begins)
    # Shares of what is allowed, so that cart and pole count alike in the distance to fail.
    cart, pole = abs(now["position"]) / TRACK, abs(now["angle"]) / LEAN
    d.goal((episode >= horizon) & (cart < 1) & (pole < 1))
    d.fail((cart >= 1) | (pole >= 1))
    return d


def _step(now: dict[str, Expr], force: float, time_step: float) -> Changes:
    """Return the next values.

    All are cut, so that no step of any state leaves the bounds. Beyond the bounds of position and
    angle there is nothing but fail.
    """
    total = CART + POLE
    pull = force / total
    turn = (GRAVITY * now["angle"] - pull) / (HALF * (4 / 3 - POLE / total))
    changes = {
        "position": now["velocity"],
        "velocity": pull - POLE * HALF / total * turn,
        "angle": now["angular_velocity"],
        "angular_velocity": turn,
    }
    return {
        now[name]: within(now[name] + change * time_step, BOUNDS[name])
        for name, change in changes.items()
    }


def draw(state: State, *, horizon: int, **_: object) -> Picture:
    """Return the cart with its pole on the track: a column of text is a tenth of a metre."""
    position, angle = state["position"], state["angle"]
    head = f"step {state['episode']} of {horizon}: position {position:.3f}, angle {angle:.3f}"
    at = 27 + round(10 * position)
    pole = pole_lines(angle, foot=at, rows=6, width=55)
    cart = " " * (at - 2) + "[===]"
    track = "   |" + "=" * 47 + "|"
    return Picture(text_of_lines([head, *pole, cart, track]), _svg(head, position, angle))


def _svg(head: str, position: float, angle: float) -> str:
    metre, middle, track = 100, 290, 180
    canvas = Canvas(580, 200)
    canvas.label(middle, 15, head)
    canvas.line(middle - metre * TRACK, track, middle + metre * TRACK, track, line=GREY, width=4)
    for end in (-TRACK, TRACK):
        canvas.line(middle + metre * end, track - 12, middle + metre * end, track + 12, line=RED)
    x = middle + metre * position
    canvas.rectangle(x - 25, track - 30, 50, 24, fill=YELLOW)
    for wheel in (-14, 14):
        canvas.circle(x + wheel, track - 6, 5, fill=GREY)
    draw_pole(canvas, x, track - 30, metre, angle)
    return canvas.svg()


FAMILY = Family(
    "cartpole",
    make=cartpole,
    draw=draw,
    sizes={
        "tiny": {"time_step": 0.02, "horizon": TINY},
        "small": {"time_step": 0.02, "horizon": SMALL},
        "0.02": {"time_step": 0.02, "horizon": PAPERS},
    },
)
