"""Transport once more, as plain rules, and random states to try them on."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from surefoot import State, Task, checker

Values = dict[str, int]
X, LOAD, ROOM = "truck_0", "truck_load_0", "last_capacity_diff"


@dataclass(frozen=True)
class TransportRules:
    """What the rules say; ``drops`` is whether packages fall."""

    packages: int
    locations: int
    drops: bool = False

    actions = ("pick_up_truck_0", "drop_truck_0", "drive_forward", "drive_backward")

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        loads = {f"location_load_{i}": (0, self.packages) for i in range(self.locations)}
        rest = {X: (0, self.locations - 1), LOAD: (0, self.packages)}
        return {**loads, **rest, ROOM: (-self.packages, self.packages)}

    def loads(self, state: Mapping[str, int]) -> list[int]:
        return [state[f"location_load_{i}"] for i in range(self.locations)]

    def is_fail(self, state: Mapping[str, int]) -> bool:
        return state[ROOM] < 0

    def is_goal(self, state: Mapping[str, int]) -> bool:
        is_delivered = self.loads(state) == [0] * (self.locations - 1) + [self.packages]
        return is_delivered and state[X] == self.locations - 1

    def is_start(self, state: Mapping[str, int]) -> bool:
        loads = self.loads(state)
        is_complete = sum(loads) + state[LOAD] == self.packages and loads[-1] == 0
        return is_complete and state[X] < self.locations - 1 and state[ROOM] == 0

    def starts(self) -> list[Values]:
        """Return all start states."""
        found: list[Values] = []
        for at in range(self.locations - 1):
            for loads in _splits(self.packages, self.locations):
                named = {f"location_load_{i}": load for i, load in enumerate([*loads[:-1], 0])}
                found.append({**named, X: at, LOAD: loads[-1], ROOM: 0})
        return found

    def applicable(self, state: Mapping[str, int]) -> tuple[str, ...]:
        return tuple(action for action in self.actions if self._changes(state, action))

    def outcomes(self, state: Mapping[str, int], action: str) -> list[Values]:
        """Return the outcomes; ModelError if one of them is not a state."""
        found = []
        for changes in self._changes(state, action):
            new = {**state, **changes}
            if any(not low <= new[name] <= high for name, (low, high) in self.bounds.items()):
                raise checker.ModelError("out-of-range", action)
            found.append(new)
        return found

    def _changes(self, state: Mapping[str, int], action: str) -> list[Values]:
        at, load, name = state[X], state[LOAD], f"location_load_{state[X]}"
        here = state[name]
        if action == "pick_up_truck_0":
            return [{name: here - 1, LOAD: load + 1}] if here and load < self.packages else []
        if action == "drop_truck_0":
            return [{name: here + 1, LOAD: load - 1}] if load else []
        to = at + (1 if action == "drive_forward" else -1)
        if not 0 <= to < self.locations:
            return []
        carries = 0 if to < at else 1 if to == self.locations - 1 else self.packages
        driven = {X: to, ROOM: carries - load}
        fallen = {**driven, name: here + 1, LOAD: load - 1}
        return [driven, fallen] if self.drops and load else [driven]


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield how a number of packages may be split into so many parts."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)


def random_states(task: Task, rules: TransportRules, count: int, *, seed: int) -> Iterator[State]:
    """Yield random states: with any values, with packages that add up, and near start and goal."""
    rng = random.Random(seed)
    names = [*rules.bounds][: rules.locations]
    for number in range(count):
        state = {name: rng.randint(*bounds) for name, bounds in rules.bounds.items()}
        if number % 4 == 1:
            state |= dict.fromkeys([*names, LOAD], 0)
            for _ in range(rules.packages):
                state[rng.choice([*names, LOAD])] += 1
        elif number % 4 == 2:
            state = rng.choice(rules.starts()) if rules.packages < 5 else task_start(task, rng)
        elif number % 4 == 3:
            state |= dict.fromkeys(names, 0) | {names[-1]: rules.packages, LOAD: 0}
            state |= {X: rules.locations - 1, ROOM: 1}
        if number % 3 == 0:
            name, bounds = rng.choice([*rules.bounds.items()])
            state[name] = rng.randint(*bounds)
        yield task.state(state)


def task_start(task: Task, rng: random.Random) -> Values:
    """Return one start state of the task."""
    return dict(task.sample_starts(1, seed=rng.randrange(2**32))[0].to_dict())
