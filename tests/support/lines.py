"""The one-way and the two-way line once more, as plain rules, and random states to try them on.

Written from the rules alone, location by location and speed by speed, to hold the built-in domains
against.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from surefoot import State, Task, checker

Values = dict[str, int]
X, LOAD, SPEED, PARKED, FLAG = "truck_0", "truck_load_0", "truck_vel_0", "parked_0", "aux_vel"


@dataclass(frozen=True)
class LineRules:
    """What the rules say; ``icy`` is empty where nothing can slip, ``drops`` is whether packages
    fall.
    """

    packages: int
    locations: int
    top_speed: int = 3
    is_two_way: bool = False
    drops: bool = False
    icy: frozenset[int] = frozenset()
    has_parking: bool = False

    @property
    def end(self) -> int:
        return self.locations - 1

    @property
    def actions(self) -> tuple[str, ...]:
        names = ("pick_up", "drop", "acc", "dec", "move", "park")
        return tuple(f"{name}_truck_0" for name in names[: 6 if self.has_parking else 5])

    @functools.cached_property
    def bounds(self) -> dict[str, tuple[int, int]]:
        low = -self.top_speed if self.is_two_way else 0
        return {
            **{f"location_load_{i}": (0, self.packages) for i in range(self.locations)},
            X: (0, self.end),
            LOAD: (0, self.packages),
            SPEED: (low, self.top_speed),
            **({PARKED: (0, 1)} if self.has_parking else {}),
            FLAG: (low if self.is_two_way else -1, self.top_speed),
        }

    def is_fail(self, state: Mapping[str, int]) -> bool:
        return state[FLAG] < 0

    def is_goal(self, state: Mapping[str, int]) -> bool:
        loads = [state[f"location_load_{i}"] for i in range(self.locations)]
        is_delivered = loads == [0] * self.end + [self.packages]
        return is_delivered and state[X] == self.end and state[FLAG] >= 0

    def is_start(self, state: Mapping[str, int]) -> bool:
        loads = [state[f"location_load_{i}"] for i in range(self.locations)]
        rests = state[X] == 0 and state[SPEED] == 0 and state.get(PARKED, 0) == 0
        total = sum(loads) + state[LOAD]
        return rests and state[FLAG] >= 0 and loads[-1] == 0 and total == self.packages

    def applicable(self, state: Mapping[str, int]) -> tuple[str, ...]:
        return tuple(action for action in self.actions if self._changes(state, action))

    def outcomes(self, state: Mapping[str, int], action: str) -> list[Values]:
        """Return the outcomes; ModelError if one of them is not a state."""
        return [self._changed(state, changes) for changes in self._changes(state, action)]

    def _changed(self, state: Mapping[str, int], changes: Values) -> Values:
        new = {name: value + changes.get(name, 0) for name, value in state.items()}
        for name, (lower, upper) in self.bounds.items():
            if not lower <= new[name] <= upper:
                raise checker.ModelError("out-of-range", name)
        return new

    def _changes(self, state: Mapping[str, int], action: str) -> list[Values]:
        """Return what each outcome adds to the variables; empty if the action is not applicable."""
        at, speed, here = state[X], state[SPEED], f"location_load_{state[X]}"
        if action == "pick_up_truck_0":
            can_pick_up = self.is_two_way or at < self.end
            has_room = state[here] >= 1 and state[LOAD] < self.packages
            return [{here: -1, LOAD: 1}] if speed == 0 and can_pick_up and has_room else []
        if action == "drop_truck_0":
            can_drop = self.is_two_way or at == self.end
            return [{here: 1, LOAD: -1}] if speed == 0 and can_drop and state[LOAD] >= 1 else []
        if state.get(PARKED, 0) == 1:
            return []
        if action == "park_truck_0":
            return [{PARKED: 1}] if at == self.end and speed == 0 else []
        if not 0 <= at + speed <= self.end:
            return [{FLAG: -1 - state[FLAG]}]
        return self._drives(state, action.removesuffix("_truck_0"), at, speed)

    def _drives(self, state: Mapping[str, int], name: str, at: int, speed: int) -> list[Values]:
        change = {"acc": 1, "dec": -1, "move": 0}[name]
        if not self._can_drive(state, name, speed):
            return []
        outcomes = [{X: speed, SPEED: change}]
        if at in self.icy:
            outcomes += [{X: speed, SPEED: slip} for slip in self._slips(name, speed)]
        if self.drops and state[LOAD] >= 1:
            to = at if self.is_two_way else min(at + 1, self.end)
            outcomes.append({X: speed, SPEED: change, LOAD: -1, f"location_load_{to}": 1})
        return outcomes

    def _can_drive(self, state: Mapping[str, int], name: str, speed: int) -> bool:
        if name == "acc":
            return speed < self.top_speed
        if name == "dec":
            return speed > (-self.top_speed if self.is_two_way else 0)
        if self.is_two_way:
            return speed != 0 or not self.drops
        return speed > 0 and (self.drops or state[LOAD] >= 1)

    def _slips(self, name: str, speed: int) -> Iterator[int]:
        if name == "dec" or (name == "acc" and speed != 0):
            yield 0
        elif name == "move" and 0 < abs(speed) < self.top_speed:
            yield 1 if speed > 0 else -1


def uniform_state(task: Task, rng: random.Random) -> Values:
    """Return a random state, at rest or without load more often than chance would have it."""
    state = {v.name: rng.randint(int(v.lower), int(v.upper)) for v in task.variables}
    if rng.random() < 0.3:
        state[SPEED] = 0
    if rng.random() < 0.3:
        state[LOAD] = 0
    if rng.random() < 0.5:
        state[FLAG] = abs(state[FLAG])
    return state


def loaded_state(task: Task, rng: random.Random) -> Values:
    """Return a random state in which the packages add up, as they do on every run."""
    state = uniform_state(task, rng)
    loads = [name for name in state if "load" in name]
    state |= dict.fromkeys(loads, 0)
    heap = rng.choice(loads)
    for _ in range(packages_of(task)):
        state[heap if rng.random() < 0.7 else rng.choice(loads)] += 1
    return state


def delivered_state(task: Task, rng: random.Random) -> Values:
    """Return a goal state that at most one variable keeps from being one."""
    last = sum(v.name.startswith("location") for v in task.variables) - 1
    state = {v.name: 0 for v in task.variables} | {X: last}
    return spoilt(task, state | {f"location_load_{last}": packages_of(task)}, rng)


def start_state(task: Task, rng: random.Random) -> Values:
    """Return a start state that at most one variable keeps from being one."""
    state = loaded_state(task, rng) | {X: 0, SPEED: 0}
    state |= {PARKED: 0} if PARKED in state else {}
    return spoilt(task, state, rng)


def spoilt(task: Task, state: Values, rng: random.Random) -> Values:
    """Return the state with one variable drawn anew, half of the time."""
    if rng.random() < 0.5:
        variable = rng.choice(task.variables)
        state[variable.name] = rng.randint(int(variable.lower), int(variable.upper))
    return state


def packages_of(task: Task) -> int:
    """Return how many packages the line has."""
    return int(next(v.upper for v in task.variables if v.name == LOAD))


KINDS: dict[str, Callable[[Task, random.Random], Values]] = {
    "uniform": uniform_state,
    "loaded": loaded_state,
    "delivered": delivered_state,
    "start": start_state,
}


def random_states(task: Task, count: int, *, seed: int) -> Iterator[State]:
    """Yield ``count`` random states of each kind."""
    rng = random.Random(seed)
    for make in KINDS.values():
        for _ in range(count):
            yield task.state(make(task, rng))
