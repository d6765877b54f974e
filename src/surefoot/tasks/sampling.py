"""Drawing from a list, reproducibly."""

from __future__ import annotations


def draw_positions(count: int, *, total: int, seed: int) -> list[int]:
    """Return ``count`` positions below ``total``, drawn uniformly and independently; the same for
    the same seed.
    """
    import numpy

    generator = numpy.random.Generator(numpy.random.Philox(seed))
    return [int(i) for i in generator.integers(total, size=count)]
