"""A front end: corridors, each a line of text such as ``S.o.G``."""

from dataclasses import dataclass

from surefoot import Description, InputError
from surefoot.files import file_bytes
from surefoot.tasks.front_end import FrontEnd, FrontEndOptions


@dataclass(frozen=True, kw_only=True)
class CorridorOptions(FrontEndOptions):
    """What is given besides the file."""

    gust: int = 0
    """how many cells further than wanted a jump may go"""


def load(file: str, options: CorridorOptions) -> Description:
    """Return the corridor of a file: from S one gets to G, but must not fall into a hole, o."""
    cells = file_bytes(file).decode("utf-8", "replace").strip()
    if sorted(set(cells) - {".", "o"}) != ["G", "S"]:
        raise InputError("bad-corridor", "a corridor has one S, one G, and else . and o", file=file)
    d = Description("corridor")
    last = len(cells) - 1
    at = d.int("at", 0, last, initial=cells.index("S"))
    d.edge("step", guard=at < last, outcomes=[{at: at + 1}])
    d.edge(
        "jump",
        guard=at + 2 + options.gust <= last,
        outcomes=[{at: at + 2}, {at: at + 2 + options.gust}],
    )
    d.goal(at == cells.index("G"))
    holes = [number for number, cell in enumerate(cells) if cell == "o"]
    d.fail(at == holes[0] if holes else at < 0)
    return d


FRONT_END = FrontEnd("corridor", load, CorridorOptions, about="corridors")
