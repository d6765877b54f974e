"""What the one-way and the two-way line have in common: a truck on a line of locations.

``acc``, ``dec`` and ``move`` displace the truck by its *old* speed and then change the speed by +1,
-1 or 0. A truck at rest picks up and drops packages. Whoever drives off either end of the line
crashes: ``aux_vel`` becomes -1, which is fail. The goal is all packages at the last location and
the truck there. At the start the truck stands at location 0, the packages are distributed over the
truck and all locations but the last, and ``aux_vel`` is any number from 0 up.

Variants: ``det`` as it is; ``icy``: packages may fall off while driving, and on icy locations
acceleration and braking may have no effect and moving may speed up; ``icy-park``: icy, and the
truck may park at rest at the last location, after which it cannot drive.

:class:`Line` makes the description. For each location and action there is one edge per run of
speeds that share their outcomes, twice where a package may fall: with and without a package on the
truck. No two edges of one action overlap.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

from surefoot.domains.parameters import check_range, check_variant
from surefoot.errors import InputError, quoted
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, all_of

VARIANTS = ("det", "icy", "icy-park")
MOST = 1000
DRIVES = {"acc_truck_0": 1, "dec_truck_0": -1, "move_truck_0": 0}  # changes of the speed
PUBLISHED_ICE = {20: "4,5,8,9,12", 25: "4,5,8,9,12,13,20"}  # by number of locations
Changes = dict[Expr, object]


@dataclass(frozen=True)
class Parameters:
    """The parameters of both families, checked. ``icy`` lists locations, ``5,7``; if it is empty
    the locations are those of the published files where one has as many locations, else the two
    in the middle.
    """

    packages: int
    locations: int
    top_speed: int
    variant: str
    icy: str

    def __post_init__(self) -> None:
        check_range("packages", self.packages, least=1, most=MOST)
        check_range("locations", self.locations, least=2, most=MOST)
        check_range("top_speed", self.top_speed, least=1, most=MOST)
        check_variant(self.variant, VARIANTS)
        if self.icy and not self.is_icy:
            raise InputError(
                "bad-parameter",
                f"variant {quoted(self.variant)} has no icy locations",
                hint='give variant "icy" or "icy-park" with icy',
            )

    @property
    def is_icy(self) -> bool:
        """Whether packages may fall and locations may be icy."""
        return self.variant != "det"

    def icy_locations(self) -> frozenset[int]:
        """Return the icy locations."""
        if not self.is_icy:
            return frozenset()
        middle = self.locations // 2
        listed = self.icy or PUBLISHED_ICE.get(self.locations, f"{middle - 1},{middle}")
        return frozenset(self._location(text.strip()) for text in listed.split(","))

    def _location(self, text: str) -> int:
        if not (text.isascii() and text.isdigit()):
            raise InputError(
                "bad-parameter",
                f"icy lists locations, not {quoted(text)}",
                hint="write icy=5,7 for the locations 5 and 7",
            )
        if len(text) > len(str(MOST)) or int(text) >= self.locations:
            raise InputError(
                "bad-parameter",
                f"location {quoted(text)} cannot be icy: locations are 0 to {self.locations - 1}",
            )
        return int(text)


@dataclass(frozen=True)
class Run:
    """Speeds from ``first`` to ``last``, at which ice changes the speed by ``slip`` (None: it has
    no effect).
    """

    first: int
    last: int
    slip: int | None


class Line(ABC):
    """A line under construction; the families say where they differ."""

    family: str

    def __init__(self, parameters: Parameters) -> None:
        self.packages = parameters.packages
        self.end = parameters.locations - 1
        self.top_speed = parameters.top_speed
        self.is_icy = parameters.is_icy
        self.icy = parameters.icy_locations()
        self._declare(parameters)
        self._add_loading()
        for action, change in DRIVES.items():
            for at in range(self.end + 1):
                self._add_drives(action, change, at)
        self._add_parking()
        self._add_conditions()

    @property
    @abstractmethod
    def lowest_speed(self) -> int:
        """The lowest speed of the truck."""

    @property
    @abstractmethod
    def lowest_flag(self) -> int:
        """The lower bound of ``aux_vel``."""

    @abstractmethod
    def can_pick_up(self, at: int) -> bool:
        """Return whether packages can be picked up at this location."""

    @abstractmethod
    def can_drop(self, at: int) -> bool:
        """Return whether packages can be dropped at this location."""

    @abstractmethod
    def can_move(self, speed: int) -> bool:
        """Return whether ``move`` is applicable at this speed, as far as it goes."""

    @property
    @abstractmethod
    def move_needs_package(self) -> bool:
        """Whether ``move`` needs a package on the truck."""

    @abstractmethod
    def falls_to(self, at: int) -> int:
        """Return where a package lands that falls off on the way from ``at``."""

    # -- variables ---------------------------------------------------------------------------

    def _declare(self, parameters: Parameters) -> None:
        sizes = f"{parameters.packages}-{parameters.locations}"
        d = self.description = Description(f"{self.family}-{sizes}-{parameters.variant}")
        self.loads = [
            d.int(f"location_load_{i}", 0, self.packages, initial=self.packages if i == 0 else 0)
            for i in range(self.end + 1)
        ]
        self.x = d.int("truck_0", 0, self.end, initial=0)
        self.load = d.int("truck_load_0", 0, self.packages, initial=0)
        self.v = d.int("truck_vel_0", self.lowest_speed, self.top_speed, initial=0)
        has_parking = parameters.variant == "icy-park"
        self.parked = d.int("parked_0", 0, 1, initial=0) if has_parking else None
        self.flag = d.int("aux_vel", self.lowest_flag, self.top_speed, initial=1)
        for action in ("pick_up_truck_0", "drop_truck_0", *DRIVES):
            d.action(action)

    # -- edges -------------------------------------------------------------------------------

    def _add_loading(self) -> None:
        for at in filter(self.can_pick_up, range(self.end + 1)):
            here = self.loads[at]
            is_possible = (here >= 1) & (self.load < self.packages)
            taken: Changes = {here: here - 1, self.load: self.load + 1}
            self._add_at_rest("pick_up_truck_0", at, is_possible, taken)
        for at in filter(self.can_drop, range(self.end + 1)):
            here = self.loads[at]
            left: Changes = {here: here + 1, self.load: self.load - 1}
            self._add_at_rest("drop_truck_0", at, self.load >= 1, left)

    def _add_at_rest(self, action: str, at: int, is_possible: Expr, changes: Changes) -> None:
        guard = (self.x == at) & (self.v == 0) & is_possible
        self.description.edge(action, guard=guard, outcomes=[changes])

    def _add_drives(self, action: str, change: int, at: int) -> None:
        """Add what acc, dec or move does at one location."""
        speeds = range(self.lowest_speed, self.top_speed + 1)
        stays = [s for s in speeds if 0 <= at + s <= self.end and self._is_possible(change, s)]
        leaves = [s for s in speeds if not 0 <= at + s <= self.end]
        for run in _runs((s, self._slip(change, s, at)) for s in stays):
            self._add_drive(action, change, at, run)
        for run in _runs((s, None) for s in leaves):
            self.description.edge(action, guard=self._guard(at, run), outcomes=[{self.flag: -1}])

    def _is_possible(self, change: int, speed: int) -> bool:
        if change == 0:
            return self.can_move(speed)
        return self.lowest_speed <= speed + change <= self.top_speed

    def _slip(self, change: int, speed: int, at: int) -> int | None:
        """Return how ice changes the speed instead; None where it has no effect."""
        if at not in self.icy:
            return None
        if change != 0:
            return None if change > 0 and speed == 0 else 0
        if speed == 0 or abs(speed) == self.top_speed:
            return None
        return 1 if speed > 0 else -1

    def _add_drive(self, action: str, change: int, at: int, run: Run) -> None:
        drives: Changes = {self.x: self.x + self.v, self.v: self.v + change}
        outcomes = [drives]
        if run.slip is not None:
            outcomes.append({self.x: self.x + self.v, self.v: self.v + run.slip})
        guard = self._guard(at, run)
        if not self.is_icy:
            guard = guard & (self.load >= 1) if change == 0 and self.move_needs_package else guard
            self.description.edge(action, guard=guard, outcomes=outcomes)
            return
        there = self.loads[self.falls_to(at)]
        falls: Changes = {**drives, there: there + 1, self.load: self.load - 1}
        self.description.edge(action, guard=guard & (self.load == 0), outcomes=outcomes)
        self.description.edge(action, guard=guard & (self.load >= 1), outcomes=[*outcomes, falls])

    def _guard(self, at: int, run: Run) -> Expr:
        """Return that the truck is at this location, at a speed of the run, and not parked."""
        guard = self.x == at
        if self.parked is not None:
            guard = guard & (self.parked == 0)
        if run.first == run.last:
            return guard & (self.v == run.first)
        return guard & (self.v >= run.first) & (self.v <= run.last)

    def _add_parking(self) -> None:
        if self.parked is not None:
            parks: Changes = {self.parked: 1}
            self._add_at_rest("park_truck_0", self.end, self.parked == 0, parks)

    # -- start, goal, fail -------------------------------------------------------------------

    def _add_conditions(self) -> None:
        total = self.load
        for load in self.loads:
            total = total + load
        begin = [self.x == 0, self.v == 0, self.flag >= 0, self.loads[self.end] == 0]
        begin += [self.parked == 0] if self.parked is not None else []
        self.description.start(_all(*begin, total == self.packages))
        delivered = [load == 0 for load in self.loads[: self.end]]
        delivered += [self.loads[self.end] == self.packages, self.x == self.end]
        self.description.goal(_all(*delivered, self.flag >= 0))
        self.description.fail(self.flag <= -1)


def _runs(slips: Iterable[tuple[int, int | None]]) -> list[Run]:
    """Return the longest runs of neighbouring speeds with the same slip."""
    runs: list[Run] = []
    for speed, slip in slips:
        if runs and runs[-1].last == speed - 1 and runs[-1].slip == slip:
            runs[-1] = Run(runs[-1].first, speed, slip)
        else:
            runs.append(Run(speed, speed, slip))
    return runs


def _all(*conditions: Expr) -> Expr:
    result = all_of(list(conditions))
    assert result is not None
    return result
