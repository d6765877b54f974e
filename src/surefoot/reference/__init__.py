"""Slow, plainly right algorithms, which the fast ones are tested against.

`ExplicitTask` is a task written out as tables, by hand or by `explicit_of` from a model of the
checker. `unsafe_ranks`, `unsafe_pairs` and `deviations` decide all its states at once,
`certificate_of` turns their answers into certificates. The module `enumeration` decides once more
by trying every policy: it needs no theory at all, and tasks of at most a few states.
"""

from .certificates import certificate_of
from .explicit import ExplicitTask, explicit_of
from .safety import deviations, unsafe_pairs, unsafe_ranks

__all__ = [
    "ExplicitTask",
    "certificate_of",
    "deviations",
    "explicit_of",
    "unsafe_pairs",
    "unsafe_ranks",
]
