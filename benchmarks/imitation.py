"""Small policies to test: hand-written controllers with noise, imitated by trees or a network.

    python -m benchmarks.imitation [--runs 600] [--noise 0.05] [--kind trees] [TASK ...]

A controller drives as somebody would who knows the rules and is in a hurry: it brakes in time as
long as the ice lets it. It decides at random in a fraction of its decisions. XGBoost learns from
these runs (20 rounds, depth 5, rate 0.4, as in P-TREE), or a 64-64 network. The policies are good
but not safe: they get most things right and some corners wrong, as learned policies do. Printed is
how good and how safe they are. Same seed, same policy.

Careful policies (``careful_imitation``) imitate somebody who is not in a hurry at all, without
noise: it never drives faster than what it can stop from, even on ice. Many of them are safe.
"""

from __future__ import annotations

import argparse
import functools
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

import surefoot
from surefoot.domains.flappy_bird import draw_walls
from surefoot.domains.line import Parameters
from surefoot.domains.transport import BACKWARD, FORWARD
from surefoot.evaluate import evaluate
from surefoot.options import DistillOptions
from surefoot.policies import Policy, as_policy
from surefoot.train.fitting import fitted_booster

State = Mapping[str, Any]
Controller = Callable[[State], str]
PICK_UP, DROP, PARK = "pick_up_truck_0", "drop_truck_0", "park_truck_0"
DRIVES = {1: "acc_truck_0", 0: "move_truck_0", -1: "dec_truck_0"}
TOP_SPEED = 3
LINES = ("one-way-line", "two-way-line")
BEGINNINGS, FIRST_STEPS = 10, 30  # of careful runs: how many more there are, and how long
IMPORTANT, IMPORTANCE = (PICK_UP, PARK), 10  # what counts more for a careful policy, how much
CAREFUL_STEPS = 300  # of a careful run
ONE_WAY = "domain:one-way-line?packages={}&locations={}&variant={}"
TWO_WAY = "domain:two-way-line?packages=2&locations=10&variant={}"
TASKS = [
    ONE_WAY.format(4, 10, "det"),
    *(ONE_WAY.format(3, 8, variant) for variant in ("icy", "icy-park")),
    *(TWO_WAY.format(variant) for variant in ("det", "icy", "icy-park")),
    "domain:flappy-bird?width=200&height=10&walls=42",
]
"""the tasks that benchmarks/fuzzing.py takes by default"""


def imitation(
    task: surefoot.Task,
    *,
    runs: int = 600,
    noise: float = 0.05,
    kind: str = "trees",
    max_steps: int = 300,
    seed: int = 0,
) -> Policy:
    """Return a policy fitted to noisy runs of the controller of the task's family."""
    inputs, actions = decisions(task, runs=runs, noise=noise, max_steps=max_steps, seed=seed)
    return _fitted(task, inputs, actions, kind, seed)


def careful_imitation(
    task: surefoot.Task, *, runs: int = 300, kind: str = "trees", seed: int = 0
) -> Policy:
    """Return a policy fitted to runs of the careful controller from heaps of packages, and to the
    first steps of many more of them. Picking up counts more than other actions do: the policy
    prefers that wherever it is applicable, and needs not know where packages lie.
    """
    number = {action: i for i, action in enumerate(task.actions)}
    how = {"policy": careful_of(task), "seed": seed}
    starts = heaped_starts(task, BEGINNINGS * runs, seed)
    found = surefoot.simulate(task, starts[:runs], max_steps=CAREFUL_STEPS, **how)
    begun = surefoot.simulate(task, starts, max_steps=FIRST_STEPS, **how)
    inputs, actions = _pairs([*found.runs, *begun.runs], number)
    some = [number[one] for one in IMPORTANT if one in number]
    times = np.where(np.isin(actions, some), IMPORTANCE, 1)
    return _fitted(task, inputs.repeat(times, axis=0), actions.repeat(times), kind, seed)


def _fitted(task: surefoot.Task, inputs: Any, actions: Any, kind: str, seed: int) -> Policy:
    fit = {"trees": fitted_trees, "network": fitted_network}[kind]
    return as_policy(fit(inputs, actions, len(task.actions), seed), task)


def decisions(
    task: surefoot.Task, *, runs: int, noise: float, max_steps: int, seed: int
) -> tuple[Any, Any]:
    """Return what the noisy controller was fed, and the numbers of the actions it took."""
    rng = random.Random(seed)
    controller = controller_of(task)

    def noisy(state: State) -> str:
        if rng.random() >= noise:
            return controller(state)
        return rng.choice([a for a in task.applicable(state) if a != PARK])  # there is no way back

    found = surefoot.simulate(task, policy=noisy, runs=runs, max_steps=max_steps, seed=seed)
    return _pairs(found.runs, {action: i for i, action in enumerate(task.actions)})


def _pairs(runs: Iterable[surefoot.Run], number: Mapping[str, int]) -> tuple[Any, Any]:
    """Return the states of runs as rows, and the numbers of the actions taken in them."""
    pairs = [
        (state.values_tuple, number[action])
        for run in runs
        for state, action in zip(run.states, run.actions, strict=False)
    ]
    return np.array([inputs for inputs, _ in pairs]), np.array([action for _, action in pairs])


def heaped_starts(task: surefoot.Task, count: int, seed: int) -> list[dict[str, Any]]:
    """Return start states in which all packages lie in few places, one or two or up to all: of
    those drawn uniformly hardly any is like that.
    """
    rng = random.Random(seed)
    starts = []
    for drawn in task.sample_starts(count, seed=seed):
        state = dict(drawn)
        places = [name for name in task.names if "_load_" in name]
        free = [name for name in places if name != max(places, key=_location)]
        packages = sum(state[name] for name in places)
        some = rng.sample(free, rng.randint(1, rng.randint(1, len(free))))
        state.update(dict.fromkeys(places, 0))
        for name in rng.choices(some, k=packages):
            state[name] += 1
        starts.append(state)
    return starts


def _location(name: str) -> int:
    """Return the number of the location of which a variable is the load, -1 for the truck."""
    return int(name.rpartition("_")[2]) if name.startswith("location") else -1


def fitted_trees(inputs: Any, actions: Any, num_actions: int, seed: int) -> Any:
    """Return an XGBoost model with one tree per action and round, as ``distill`` fits it."""
    return fitted_booster(
        inputs.astype(np.float32), actions, num_actions, DistillOptions(seed=seed)
    )


def fitted_network(inputs: Any, actions: Any, num_actions: int, seed: int) -> Any:
    """Return a 64-64 network."""
    import torch

    torch.manual_seed(seed)
    sizes = (inputs.shape[1], 64, 64, num_actions)
    network = torch.nn.Sequential(
        torch.nn.Linear(sizes[0], sizes[1]),
        torch.nn.ReLU(),
        torch.nn.Linear(sizes[1], sizes[2]),
        torch.nn.ReLU(),
        torch.nn.Linear(sizes[2], sizes[3]),
    )
    x, y = torch.tensor(inputs, dtype=torch.float32), torch.tensor(actions)
    adam = torch.optim.Adam(network.parameters(), lr=0.003)
    for _ in range(1500):
        picked = torch.randint(len(x), (256,))
        loss = torch.nn.functional.cross_entropy(network(x[picked]), y[picked])
        adam.zero_grad()
        loss.backward()
        adam.step()
    return network


# -- controllers -----------------------------------------------------------------------------


def controller_of(task: surefoot.Task) -> Controller:
    """Return the controller of a task of a built-in family."""
    family, given = _parameters(task)
    if family == "flappy-bird":
        return Bird(int(given["width"]), int(given["height"]), int(given["walls"]))
    if family == "transport":
        return Carrier(int(given["locations"]))
    if family not in LINES:
        raise SystemExit(f"there is no controller for {task.name}")
    sizes = int(given["packages"]), int(given["locations"])
    line = Parameters(*sizes, TOP_SPEED, given["variant"], given.get("icy", ""))
    return Truck(line.locations, line.icy_locations(), drives_back=family == LINES[1])


def careful_of(task: surefoot.Task) -> Controller:
    """Return the careful controller of a line or of transport."""
    family, given = _parameters(task)
    if family == "transport":
        return Carrier(int(given["locations"]))
    if family not in LINES:
        raise SystemExit(f"there is no careful controller for {task.name}")
    return SlowTruck(int(given["locations"]), drives_back=family == LINES[1])


def _parameters(task: surefoot.Task) -> tuple[str, dict[str, str]]:
    """Return the family of a task and the parameters that were given for it."""
    family, _, query = task.source.text.removeprefix("domain:").partition("?")
    return family, dict(parse_qsl(query))


class Truck:
    """Collects what lies ahead, brings it to the end, and comes back for the rest if it can."""

    def __init__(self, locations: int, icy: frozenset[int], *, drives_back: bool) -> None:
        self.end = locations - 1
        self.icy = icy
        self.drives_back = drives_back

    def __call__(self, state: State) -> str:
        """Return the action to take."""
        at, speed = state["truck_0"], state["truck_vel_0"]
        target = self._target(state, at, speed)
        if speed != 0 or target != at:
            return self._drive(state, at, speed, target)
        if at < self.end:
            return PICK_UP
        if state["truck_load_0"] > 0:
            return DROP
        return PARK if state.get("parked_0") == 0 else DRIVES[1]

    def _target(self, state: State, at: int, speed: int) -> int:
        """Return where to stop next."""
        lying = [i for i in range(self.end) if state[f"location_load_{i}"] > 0]
        ahead = [i for i in lying if _stop(at, speed, 1) <= i]
        behind = [i for i in lying if i < at]
        if self.drives_back and behind and state["truck_load_0"] == 0 and not ahead:
            return max(behind)
        target = min(ahead, default=self.end)
        if self.icy and not self.drives_back and state["truck_load_0"] > 0:
            return min(target, max(at + 1, _stop(at, speed, 1)))  # a package may fall there
        return target

    def _drive(self, state: State, at: int, speed: int, target: int) -> str:
        """Return the fastest action after which the truck can still stop at the target. It trusts
        its brakes: on ice, where they may fail, it can be too fast. On the two-way line, where it
        crosses the ice many times, it is wary of that, but not of speeding up by itself.
        """
        way = 1 if target > at or (target == at and speed < 0) else -1
        if speed * way <= 0:
            return DRIVES[way]
        for change in (way, 0):
            after, then = at + speed, speed + change
            is_in_time = (target - _stop(after, then, way)) * way >= 0
            if is_in_time and self._is_possible(state, then, change) and self._is_wary(after, then):
                return DRIVES[change]
        return DRIVES[-way]

    def _is_possible(self, state: State, speed: int, change: int) -> bool:
        if change == 0 and not self.drives_back and not self.icy:
            return bool(state["truck_load_0"] > 0)
        return abs(speed) <= TOP_SPEED

    def _is_wary(self, at: int, speed: int) -> bool:
        way = 1 if speed > 0 else -1
        return not self.drives_back or 0 <= _stop(at, speed, way, ice=self.icy) <= self.end


def _stop(at: int, speed: int, way: int, *, ice: frozenset[int] = frozenset()) -> int:
    """Return where a truck comes to rest that brakes from now on, in vain on ice."""
    while speed * way > 0:
        at, speed = at + speed, speed if at in ice else speed - way
    return at


class SlowTruck:
    """Drives from one location to the next and stops there. At speed 1 that works everywhere but on
    ice, and as it brakes until it stands, it comes to rest right behind the ice.
    """

    def __init__(self, locations: int, *, drives_back: bool) -> None:
        self.end = locations - 1
        self.drives_back = drives_back

    def __call__(self, state: State) -> str:
        """Return the action to take."""
        at, speed = state["truck_0"], state["truck_vel_0"]
        if speed != 0:
            return DRIVES[-1 if speed > 0 else 1]
        if at < self.end:
            return PICK_UP if state[f"location_load_{at}"] > 0 else DRIVES[self._way(state, at)]
        if state["truck_load_0"] > 0:
            return DROP
        if self.drives_back:
            return DRIVES[-1]
        return PARK if state.get("parked_0") == 0 else DRIVES[1]

    def _way(self, state: State, at: int) -> int:
        """Return where to go: back only without a load, and if something lies only there."""
        if not self.drives_back or state["truck_load_0"] > 0:
            return 1
        lying = [i for i in range(self.end) if state[f"location_load_{i}"] > 0]
        return -1 if lying and max(lying) < at else 1


class Carrier:
    """Brings everything to the bridge of transport, and then package by package over it. Goes back
    only without a load.
    """

    def __init__(self, locations: int) -> None:
        self.end = locations - 1

    def __call__(self, state: State) -> str:
        """Return the action to take."""
        at, load = state["truck_0"], state["truck_load_0"]
        if at == self.end:
            return DROP if load > 0 else BACKWARD
        if at == self.end - 1 and load > 0:
            return FORWARD if load == 1 else DROP
        if state[f"location_load_{at}"] > 0:
            return PICK_UP
        is_left = any(state[f"location_load_{i}"] > 0 for i in range(at))
        return BACKWARD if load == 0 and is_left else FORWARD


class Bird:
    """Flies where no wall can be hit within some moves, else towards the middle."""

    def __init__(self, width: int, height: int, walls: int, foresight: int = 4) -> None:
        self.width, self.height, self.foresight = width, height, foresight
        self.walls = set(draw_walls(width, height, walls, 0))
        self._survives = functools.cache(self._count_moves)

    def __call__(self, state: State) -> str:
        """Return the action to take."""
        x, y = state["x"], state["y"]
        up, down = self._moves_left(x, y + 1), self._moves_left(x, y - 1)
        if up == down:
            return "up" if 2 * y < self.height - 1 else "down"
        return "up" if up > down else "down"

    def _moves_left(self, x: int, y: int) -> int:
        """Return how many moves are sure to be survived after a move to row ``y``, at most the
        foresight.
        """
        if not 0 <= y < self.height:
            return -1
        cells = {x, (x + 1) % self.width}
        return min(self._survives(cell, y, self.foresight) for cell in cells)

    def _count_moves(self, x: int, y: int, moves: int) -> int:
        if not 0 <= y < self.height or (x, y) in self.walls:
            return 0
        if moves == 0:
            return 1
        right = (x + 1) % self.width
        return 1 + max(
            min(self._survives(x, y + step, moves - 1), self._survives(right, y + step, moves - 1))
            for step in (1, -1)
        )


# -- how good they are -----------------------------------------------------------------------


def main() -> None:
    """Print how good and how safe the policies are."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", default=TASKS, metavar="TASK")
    parser.add_argument("--runs", type=int, default=600, help="of the controller")
    parser.add_argument("--noise", type=float, default=0.05, help="fraction of random decisions")
    parser.add_argument("--kind", choices=("trees", "network"), default="trees")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for text in options.tasks:
        task = surefoot.load_task(text)
        policy = imitation(
            task,
            runs=options.runs,
            noise=options.noise,
            kind=options.kind,
            seed=options.seed,
        )
        print(task.name)
        print_quality("controller", task, as_policy(controller_of(task), task), runs=100)
        print_quality(str(policy.model), task, policy, runs=1000)


def print_quality(name: str, task: surefoot.Task, policy: Policy, *, runs: int) -> None:
    """Print from which fraction of start states the policy may fail, and how its runs end."""
    unsafe = evaluate(task, policy, starts=runs)
    ended = surefoot.simulate(task, policy=policy, runs=runs, max_steps=1000)
    print(f"  {name}: may fail from {unsafe.unsafe_fraction:.1%} of the start states; ", end="")
    print(ended.summary_text, flush=True)


if __name__ == "__main__":
    main()
