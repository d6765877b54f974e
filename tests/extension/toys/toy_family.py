"""Toy: a counter goes up by one or two, and must not come past its goal."""

from surefoot import Description, Picture, State
from surefoot.domains.family import Family
from surefoot.domains.pictures import Canvas


def counter(*, goal: int = 3) -> Description:
    """Return the counter that should stop at its goal."""
    d = Description(f"counter-{goal}")
    x = d.int("x", 0, goal + 1, initial=0)
    d.edge("one", guard=x < goal, outcomes=[{x: x + 1}])
    d.edge("two", guard=x < goal, outcomes=[{x: x + 1}, {x: x + 2}])
    d.goal(x == goal)
    d.fail(x > goal)
    return d


def draw(state: State, *, goal: int) -> Picture:
    """Return a bar as long as the counter is high."""
    canvas = Canvas(10 * (goal + 1), 10)
    canvas.rectangle(0, 0, 10 * int(state["x"]), 10, fill="#000")
    return Picture(f"counter at {state['x']}", canvas.svg())


FAMILY = Family("counter", make=counter, draw=draw, sizes={"small": {"goal": 3}})
