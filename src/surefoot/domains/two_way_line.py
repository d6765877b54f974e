"""Two-way line: a truck brings packages to one end of a line and must overrun neither.

The truck drives in both directions, at speeds from ``-top_speed`` to ``top_speed``.
``acc_truck_0``, ``dec_truck_0`` and ``move_truck_0`` displace it by its *old* speed and then change
the speed by +1, -1 or 0. At rest it picks packages up and drops them, at every location. Whoever
drives off either end of the line crashes: ``aux_vel`` becomes -1, which is fail. The goal is all
packages and the truck at the last location. At the start the truck stands at location 0, the
packages are distributed over the truck and all locations but the last, and ``aux_vel`` is any
number from 0 up.

Variants: ``det`` as it is; ``icy``: a package may fall off while driving and then lies where the
truck was, and at icy locations accelerating and braking may have no effect and moving may speed up;
``icy-park``: icy, and the truck may park at rest at the last location, after which it cannot drive.
``icy`` lists the icy locations, as in 5,7; without it they are those of the published files for 20
and 25 locations, and the two in the middle for other numbers.

Names, bounds and outcomes are those of the files published with P-TEST, P-IPI and P-TREE. There is
none with parking: ``icy-park`` adds the rules of the one-way line.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.line import Line, Parameters
from surefoot.domains.line_picture import draw_line
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


FAMILY = Family(
    "two-way-line",
    make=two_way_line,
    draw=draw_line,
    sizes={
        "tiny": {"packages": 3, "locations": 4},
        "small": {"packages": 4, "locations": 6},
        "15-10": {"packages": 15, "locations": 10},
        "40-25": {"packages": 40, "locations": 25},
    },
)
