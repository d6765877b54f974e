"""Drawing from a list, reproducibly."""

from __future__ import annotations

import operator
from typing import SupportsIndex

from surefoot.errors import InputError, shown

MAX_COUNT = 100_000_000  # what is drawn is kept in memory
MAX_SEED = 2**64 - 1


def check_draw(count: SupportsIndex, seed: SupportsIndex) -> tuple[int, int]:
    """Return how many to draw and the seed as integers; InputError if they are none or out of
    range.
    """
    return _whole("count", count, MAX_COUNT), _whole("seed", seed, MAX_SEED)


def _whole(name: str, value: SupportsIndex, most: int) -> int:
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number <= most:
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
