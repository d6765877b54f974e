"""One-way line: a truck brings packages to the end of a line and must not overrun it.

The truck moves only forwards. ``acc``, ``dec`` and ``move`` displace it by its *old* speed and then
change the speed by +1, -1 or 0; picking up is possible at rest, dropping at rest at the last
location. Whoever drives faster than the track left crashes: ``aux_vel`` becomes -1, which is fail.
The goal is all packages at the last location, none at the others, with the truck at the last one.

Variants: ``det`` as it is; ``icy``: packages may fall off while driving, and on icy locations
acceleration and braking may have no effect and moving may speed up; ``icy-park``: icy, and the
truck may park at the end, after which it cannot move.
"""

from __future__ import annotations

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, all_of

VARIANTS = ("det", "icy", "icy-park")
MAX_EDGES = 20_000
Changes = dict[Expr, object]


def one_way_line(
    *, packages: int = 3, locations: int = 4, top_speed: int = 3, variant: str = "det"
) -> Description:
    """Return the one-way line with these numbers of packages and locations.

    Icy are the two locations in the middle.
    """
    _check(packages, locations, top_speed, variant)
    return _Line(packages, locations, top_speed, variant).description


def _check(packages: int, locations: int, top_speed: int, variant: str) -> None:
    for name, value, least in (
        ("packages", packages, 1),
        ("locations", locations, 2),
        ("top_speed", top_speed, 1),
    ):
        if not least <= value <= 1000:
            text = f"{name} must be from {least} to 1000, not {shown(value)}"
            raise InputError("bad-parameter", text)
    edges = locations * (top_speed + 1) * 3
    if edges > MAX_EDGES:
        raise InputError(
            "bad-parameter",
            f"{locations} locations with top speed {top_speed} make about {edges:,} edges; "
            f"at most {MAX_EDGES:,} are made",
            hint="give fewer locations or a lower top_speed",
        )
    if variant not in VARIANTS:
        raise InputError(
            "bad-parameter",
            f"there is no variant {quoted(variant)}",
            hint=nearest_hint(variant, VARIANTS) or f"variants are: {', '.join(VARIANTS)}",
        )


class _Line:
    def __init__(self, packages: int, locations: int, top_speed: int, variant: str) -> None:
        self.packages, self.end, self.top_speed = packages, locations - 1, top_speed
        self.is_icy, self.has_parking = variant != "det", variant == "icy-park"
        middle = locations // 2
        self.icy = {middle - 1, middle} if self.is_icy else set()
        d = self.description = Description(f"one-way-line-{packages}-{locations}-{variant}")
        self.loads = [
            d.int(f"location_load_{i}", 0, packages, initial=packages if i == 0 else 0)
            for i in range(locations)
        ]
        self.x = d.int("truck_0", 0, self.end, initial=0)
        self.load = d.int("truck_load_0", 0, packages, initial=0)
        self.v = d.int("truck_vel_0", 0, top_speed, initial=0)
        self.parked = d.int("parked_0", 0, 1, initial=0) if self.has_parking else None
        self.crash = d.int("aux_vel", -1, 3, initial=1)
        self._add_edges()
        self._add_conditions()

    def _add_edges(self) -> None:
        for name in ("pick_up", "drop", "acc", "dec", "move"):
            self.description.action(f"{name}_truck_0")
        self._add_loading()
        for at in range(self.end + 1):
            for speed in range(self.top_speed + 1):
                self._add_driving(at, speed)
        if self.parked is not None:
            guard = (self.parked == 0) & (self.x == self.end) & (self.v == 0)
            self.description.edge("park_truck_0", guard=guard, outcomes=[{self.parked: 1}])

    def _add_loading(self) -> None:
        for at in range(self.end):
            is_here = (self.v == 0) & (self.x == at)
            guard = is_here & (self.loads[at] >= 1) & (self.load < self.packages)
            changes: Changes = {self.loads[at]: self.loads[at] - 1, self.load: self.load + 1}
            self.description.edge("pick_up_truck_0", guard=guard, outcomes=[changes])
        last = self.loads[self.end]
        guard = (self.v == 0) & (self.x == self.end) & (self.load >= 1)
        self.description.edge(
            "drop_truck_0", guard=guard, outcomes=[{last: last + 1, self.load: self.load - 1}]
        )

    def _add_driving(self, at: int, speed: int) -> None:
        """Add what acc, dec and move do at one location and speed."""
        here = (self.x == at) & (self.v == speed)
        if self.parked is not None:
            here = here & (self.parked == 0)
        for name, change in (("acc", 1), ("dec", -1), ("move", 0)):
            action = f"{name}_truck_0"
            if speed > self.end - at:
                self.description.edge(action, guard=here, outcomes=[{self.crash: -1}])
            elif self._is_possible(name, speed):
                needs_load = name == "move" and not self.is_icy
                guard = here & (self.load >= 1) if needs_load else here
                self._add_drive(action, guard, at, speed, change)

    def _is_possible(self, name: str, speed: int) -> bool:
        return speed < self.top_speed if name == "acc" else speed >= 1

    def _add_drive(self, action: str, guard: Expr, at: int, speed: int, change: int) -> None:
        moved: Changes = {self.x: at + speed, self.v: speed + change}
        outcomes = [moved]
        if at in self.icy:
            slipped = self._slipped(speed, change)
            outcomes += [{self.x: at + speed, self.v: slipped}] if slipped is not None else []
        if not self.is_icy:
            self.description.edge(action, guard=guard, outcomes=outcomes)
            return
        fallen = self.loads[min(at + 1, self.end)]
        falls: Changes = {**moved, fallen: fallen + 1, self.load: self.load - 1}
        self.description.edge(action, guard=guard & (self.load == 0), outcomes=outcomes)
        may_fall = guard & (self.load >= 1) & (fallen < self.packages)
        self.description.edge(action, guard=may_fall, outcomes=[*outcomes, falls])

    def _slipped(self, speed: int, change: int) -> int | None:
        """Return the speed after ice had its way; None where ice changes nothing."""
        if change == 0:
            return speed + 1 if speed < self.top_speed else None
        return speed if change < 0 or speed >= 1 else None

    def _add_conditions(self) -> None:
        total = self.load
        for load in self.loads:
            total = total + load
        begin = [self.x == 0, self.v == 0, self.crash >= 0, self.loads[self.end] == 0]
        begin += [self.parked == 0] if self.parked is not None else []
        start = all_of([*begin, total == self.packages])
        assert start is not None
        self.description.start(start)
        done = [load == 0 for load in self.loads[: self.end]]
        done += [self.loads[self.end] == self.packages, self.x == self.end, self.crash >= 0]
        goal = all_of(done)
        assert goal is not None
        self.description.goal(goal)
        self.description.fail(self.crash <= -1)
