"""The debugging loop: fuzz, find faults, repair, again, and verify (Jain et al. 2025).

:class:`Loop` goes round until nothing new is found; ``stages`` does the work of a round, ``lines``
says what is written down about it, ``known`` are faults as they are kept, ``starts`` the start
states. Whoever runs a loop gives a :class:`Store` that keeps the lines and files: a campaign does.
"""

from surefoot.loop.debugging import Ended, Loop
from surefoot.loop.known import KnownFault, read_plain
from surefoot.loop.lines import check_line, evaluation_of, iterations_of
from surefoot.loop.store import Line, Store
from surefoot.loop.watching import Numbers, Watch

__all__ = [
    "Ended",
    "KnownFault",
    "Line",
    "Loop",
    "Numbers",
    "Store",
    "Watch",
    "check_line",
    "evaluation_of",
    "iterations_of",
    "read_plain",
]
