"""Two-way line: a truck brings packages to one end of a line and must overrun neither.

The truck drives in both directions, with speeds from ``-top_speed`` to ``top_speed``, and picks up
and drops packages at every location. A package that falls off lands where the truck was. See
:mod:`surefoot.domains.line` for what it shares with the one-way line.

Names, bounds and outcomes are those of the files published with P-TEST, P-IPI and P-TREE. There is
none with parking: ``icy-park`` adds the rules of the one-way line.
"""

from __future__ import annotations

from surefoot.domains.line import Line, Parameters
from surefoot.tasks.description import Description


def two_way_line(
    *,
    packages: int = 3,
    locations: int = 4,
    top_speed: int = 3,
    variant: str = "det",
    icy: str = "",
) -> Description:
    """Return the two-way line with these numbers of packages and locations.

    ``icy`` lists the icy locations, as in ``5,7``. Without it they are those of the published
    files for 20 and 25 locations, and the two in the middle for other numbers.
    """
    return _TwoWayLine(Parameters(packages, locations, top_speed, variant, icy)).description


class _TwoWayLine(Line):
    family = "two-way-line"

    @property
    def lowest_speed(self) -> int:
        return -self.top_speed

    @property
    def lowest_flag(self) -> int:
        return -self.top_speed

    def can_pick_up(self, at: int) -> bool:
        return True

    def can_drop(self, at: int) -> bool:
        return True

    def can_move(self, speed: int) -> bool:
        return speed != 0 or not self.is_icy  # at rest it does nothing, and only in ``det`` files

    move_needs_package = False

    def falls_to(self, at: int) -> int:
        return at
