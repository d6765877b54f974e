"""One-way line: a truck brings packages to the end of a line and must not overrun it.

The truck drives forwards only. ``acc_truck_0``, ``dec_truck_0`` and ``move_truck_0`` displace it by
its *old* speed and then change the speed by +1, -1 or 0. At rest it picks packages up, anywhere but
at the last location, and drops them, only there. Whoever drives off the end of the line crashes:
``aux_vel`` becomes -1, which is fail. The goal is all packages and the truck at the last location.
At the start the truck stands at location 0, the packages are distributed over the truck and all
locations but the last, and ``aux_vel`` is any number from 0 up.

Variants: ``det`` as it is; ``icy``: a package may fall off while driving and then lies one location
further on, and at icy locations accelerating and braking may have no effect and moving may speed
up; ``icy-park``: icy, and the truck may park at rest at the last location, after which it cannot
drive. ``icy`` lists the icy locations, as in 5,7; without it they are those of the published files
for 20 and 25 locations, and the two in the middle for other numbers. Without parking the truck
cannot rest for ever at the end, so staying safe means reaching the goal.

Names, bounds and outcomes are those of the files published with P-TEST, P-IPI and P-TREE.
"""

from __future__ import annotations

from surefoot.domains.family import Family
from surefoot.domains.line import Line, Parameters
from surefoot.domains.line_picture import draw_line
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


FAMILY = Family(
    "one-way-line",
    make=one_way_line,
    draw=draw_line,
    sizes={
        "tiny": {"packages": 3, "locations": 4},
        "small": {"packages": 4, "locations": 6},
        "15-10": {"packages": 15, "locations": 10},
        "17-10": {"packages": 17, "locations": 10},
        "20-10": {"packages": 20, "locations": 10},
        "30-20": {"packages": 30, "locations": 20},
        "40-25": {"packages": 40, "locations": 25},
    },
)
