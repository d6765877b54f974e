"""Drawing from a list, reproducibly."""

from __future__ import annotations

from typing import SupportsIndex

from surefoot.errors import InputError, shown
from surefoot.options import MAX_INT, whole

MAX_COUNT = 100_000_000  # what is drawn is kept in memory


def check_draw(count: SupportsIndex, seed: SupportsIndex) -> tuple[int, int]:
    """Return how many to draw and the seed as integers; InputError if they are not, or out of
    range.
    """
    return _at_most("count", count, MAX_COUNT), _at_most("seed", seed, MAX_INT)


def _at_most(name: str, value: SupportsIndex, most: int) -> int:
    number = whole(value)
    if number is None or number > most:
        raise InputError(
            "bad-option", f"{name} must be an integer from 0 to {most:,}, not {shown(value)}"
        )
    return number


def draw_positions(count: int, *, total: int, seed: int) -> list[int]:
    """Return ``count`` positions below ``total``, drawn uniformly and independently; the same for
    the same seed.
    """
    import numpy

    generator = numpy.random.Generator(numpy.random.Philox(seed))
    return [int(i) for i in generator.integers(total, size=count)]
