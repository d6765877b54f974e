"""A task that goes round in a circle, for certificates of policies."""

from __future__ import annotations

from surefoot import Description
from surefoot.tasks import Task

SIDE = 3


def ring() -> Task:
    """Return a task whose ``right`` goes round in a circle, and ``up`` fails at the top."""
    d = Description("ring")
    x, y = d.int("x", 0, SIDE), d.int("y", 0, SIDE)
    b = d.bool("b")
    d.edge("right", guard=(x < SIDE) & (y < SIDE), outcomes=[{x: x + 1}, {b: True}])
    d.edge("right", guard=x == SIDE, outcomes=[{x: 0}])
    d.edge("up", guard=y < SIDE, outcomes=[{y: y + 1}])
    d.start((x == 0) & (y <= 1) & ~b)
    d.fail(y == SIDE)
    return d.compile()
