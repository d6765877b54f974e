"""One-way line: a truck brings packages to the end of a line and must not overrun it.

The truck moves only forwards, picks packages up anywhere but at the last location, and drops them
only there. A package that falls off lands one location further on. Without parking the truck cannot
rest for ever at the end, so staying safe means reaching the goal. See :mod:`surefoot.domains.line`
for what it shares with the two-way line.

Names, bounds and outcomes are those of the files published with P-TEST, P-IPI and P-TREE.
"""

from __future__ import annotations

from surefoot.domains.line import Line, Parameters
from surefoot.tasks.description import Description


def one_way_line(
    *,
    packages: int = 3,
    locations: int = 4,
    top_speed: int = 3,
    variant: str = "det",
    icy: str = "",
) -> Description:
    """Return the one-way line with these numbers of packages and locations.

    ``icy`` lists the icy locations, as in ``5,7``. Without it they are those of the published
    files for 20 and 25 locations, and the two in the middle for other numbers.
    """
    return _OneWayLine(Parameters(packages, locations, top_speed, variant, icy)).description


class _OneWayLine(Line):
    family = "one-way-line"
    lowest_speed = 0
    lowest_flag = -1

    def can_pick_up(self, at: int) -> bool:
        return at < self.end

    def can_drop(self, at: int) -> bool:
        return at == self.end

    def can_move(self, speed: int) -> bool:
        return speed > 0

    @property
    def move_needs_package(self) -> bool:
        return not self.is_icy  # as in the published deterministic file, for no known reason

    def falls_to(self, at: int) -> int:
        return min(at + 1, self.end)
