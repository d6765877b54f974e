"""Inverted pendulum: a pole on a pivot must be kept upright by pushing it left and right.

``angle`` is 0 for the upright pole and positive to the right, in radians. A step adds the angular
acceleration ``3 * 9.8607 / 2 * angle + 3 * u`` times ``time_step`` to ``angular_velocity``, and the
new angular velocity times ``time_step`` to the angle; ``u`` is -2 for ``left``, 2 for ``right`` and
0 for ``skip``. ``left`` and ``right`` are applicable only if the new angle is from -0.785 to 0.785,
``skip`` always is. Fail is an angle of 0.785 or more to either side, the goal is to have stood for
``horizon`` steps, counted by ``episode``. Nothing is left to chance. Pushing holds the pole where
``angle + angular_velocity / 3.846`` is about 0.4 at most to either side; beyond that it is lost.

Variants are where it starts: ``near`` with angles up to 0.05 and speeds up to 0.1 to either side,
``wide`` with angles up to 0.25 and speeds up to 0.8, some of which are lost.

The rules, names and ``near`` are those of the file published for the time step 0.1. The file has
wider bounds, 7.85 for the angle and 10 for the speed, and no guard keeps ``skip`` within them. Here
angles are cut at 0.785, where the pole has failed, and speeds at 5, which a pole that stands does
not reach. So a step never leaves the bounds, and until it fails it is the step of the file.
``episode`` ends at the horizon, and who fails in the last step has failed. ``wide`` is our own.
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
from surefoot.domains.pictures import GREY, INK, RED, Canvas, Picture
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr
from surefoot.tasks.state import State

LONGEST = 0.1
GRAVITY, MASS, LENGTH = 9.8607, 1.0, 1.0  # this gravity is the file's
LIMIT = 0.785
TOP_SPEED = 5.0
PUSHES = {"left": -2.0, "right": 2.0, "skip": 0.0}
STARTS = {"near": (0.05, 0.1), "wide": (0.25, 0.8)}  # greatest angle and speed


def inverted_pendulum(
    *, time_step: float = 0.1, horizon: int = TINY, variant: str = "wide"
) -> Description:
    """Return the pendulum that is to stand for so many steps of so many seconds."""
    check_times(time_step, horizon, longest=LONGEST)
    check_variant(variant, STARTS)
    d = Description(f"inverted-pendulum-{time_step:g}-{horizon}-{variant}")
    episode = d.int("episode", 0, horizon, initial=0)
    angle = d.real("angle", -LIMIT, LIMIT, initial=0.0)
    speed = d.real("angular_velocity", -TOP_SPEED, TOP_SPEED, initial=0.0)
    for action, push in PUSHES.items():
        new_speed = speed + _acceleration(angle, push) * time_step
        new_angle = angle + new_speed * time_step
        goes_on = episode < horizon
        if push:
            goes_on = goes_on & (new_angle >= -LIMIT) & (new_angle <= LIMIT)
        # Cut, so that no step of any state leaves the bounds; see the docstring of the module.
        turned = {angle: within(new_angle, LIMIT), speed: within(new_speed, TOP_SPEED)}
        d.edge(action, guard=goes_on, outcomes=[{**turned, episode: episode + 1}])
    most_angle, most_speed = STARTS[variant]
    d.start((abs(angle) <= most_angle) & (abs(speed) <= most_speed) & (episode == 0))
    d.goal((episode >= horizon) & (abs(angle) < LIMIT))
    d.fail(abs(angle) >= LIMIT)
    return d


def _acceleration(angle: Expr, push: float) -> Expr:
    leaning = -3 * GRAVITY / (2 * LENGTH) * (0 - angle)
    return leaning + 3 / (MASS * (LENGTH * LENGTH)) * push


def draw(state: State, *, horizon: int, **_: object) -> Picture:
    """Return the pole on its pivot, and where it would have fallen."""
    angle, speed = state["angle"], state["angular_velocity"]
    head = f"step {state['episode']} of {horizon}: angle {angle:.3f}, angular velocity {speed:.3f}"
    pole = pole_lines(angle, foot=20, rows=8, width=41)
    return Picture(text_of_lines([head, *pole, "=" * 20 + "^" + "=" * 20]), _svg(head, angle))


def _svg(head: str, angle: float) -> str:
    x, y, length = 180, 200, 140
    canvas = Canvas(360, 225)
    canvas.label(x, 15, head)
    for side in (-1, 1):
        canvas.line(x, y, x + side * 0.707 * length, y - 0.707 * length, line=RED, width=1)
    canvas.rectangle(x - 30, y, 60, 14, fill=GREY, line=INK)
    draw_pole(canvas, x, y, length, angle)
    return canvas.svg()


FAMILY = Family(
    "inverted-pendulum",
    make=inverted_pendulum,
    draw=draw,
    sizes={
        "tiny": {"time_step": 0.1, "horizon": TINY, "variant": "wide"},
        "small": {"time_step": 0.1, "horizon": SMALL, "variant": "wide"},
        "0.1": {"time_step": 0.1, "horizon": PAPERS, "variant": "near"},
    },
)
