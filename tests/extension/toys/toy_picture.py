"""A picture: a bar as long as the first variable is high."""

from surefoot import Picture, State, Task
from surefoot.domains.pictures import Canvas
from surefoot.pictures import Drawing


def draw(state: State, task: Task) -> Picture:
    """Return the picture of a state."""
    height = int(state[task.names[0]])
    canvas = Canvas(100, 10)
    canvas.rectangle(0, 0, 10 * height, 10, fill="#123456")
    return Picture(f"{task.names[0]} is {height}", canvas.svg())


PICTURE = Drawing("bar", draw)
