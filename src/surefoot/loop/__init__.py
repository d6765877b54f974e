"""The debugging loop: fuzz, find faults, repair, again, and verify (Jain et al. 2025).

``deciding`` says what comes next, as a function of the ``state``, which is what all lines so far
say together; ``performing`` does it with the work of ``stages``, and :class:`Loop` puts them
together. ``lines`` says what lines mean, ``starts`` are the start states. Nothing is written here:
whoever runs a loop gives a :class:`Store` that keeps lines and values. A campaign does;
:class:`MemoryStore` keeps nothing.
"""

from surefoot.loop.debugging import Ended, Loop
from surefoot.loop.lines import iterations_of, lacks_time, lines_in_force, max_seconds_of
from surefoot.loop.made import Made, with_findings
from surefoot.loop.store import CERTIFICATE, MemoryStore, Store, finding_name, named
from surefoot.loop.watching import Numbers, Watch

__all__ = [
    "CERTIFICATE",
    "Ended",
    "Loop",
    "Made",
    "MemoryStore",
    "Numbers",
    "Store",
    "Watch",
    "finding_name",
    "iterations_of",
    "lacks_time",
    "lines_in_force",
    "max_seconds_of",
    "named",
    "with_findings",
]
