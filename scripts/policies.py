"""Train the policies that come with Surefoot, and write their cards.

    python -m scripts.policies [NAME ...]          or: make policies

For each task below a network is trained and trees are distilled from it. Kept is, as in the papers,
the best policy *that is not safe*: of the checkpoints of a training, those that reach the goal in
at least 0.65 of their runs, can fail from 0.005 to 0.8 of the start states, and are to blame for it
(a fault is found) count; of these the one that reaches the goal most often is kept (where there is
no goal, the one with the longest runs). A training that comes to none is repeated with the next
seed. Families with one start state have a policy that is safe or not: any will do there. NAME is
the name of a policy, or the beginning of one.

Networks take from half a minute to ten, on one core; all of it about an hour. Same machine, same
version of torch: same policies.
"""

from __future__ import annotations

import argparse
import json
import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import surefoot
from surefoot import Checkpoint, EvaluateResult, Policy, Task
from surefoot.policies.builtin import FOLDER, KEY, SUFFIX
from surefoot.policies.writing import write_policy

LEAST_GOAL = 0.65
LEAST_UNSAFE, MOST_UNSAFE = 0.005, 0.8
SEEDS = 6  # tried one after the other
LOOK_STARTS, CARD_STARTS = 1_000, 10_000
LOOK_SECONDS, CARD_SECONDS = 20.0, 300.0
LOOK_RUNS = 20  # failing ones, in which a fault is looked for
TREES = ({}, {"trees": 10}, {"depth": 4}, {"trees": 30, "depth": 6}, {"trees": 5, "depth": 4})


@dataclass(frozen=True)
class Recipe:
    """A task, and how a network is trained for it."""

    name: str
    task: str
    train: Mapping[str, Any] = field(default_factory=dict)
    discounts: tuple[float, ...] = ()  # tried in turn: the less, the more short-sighted
    max_steps: int = 1_000
    is_choosy: bool = True  # whether a policy must be good and unsafe to be kept


GOAL = {
    "potential": "goal",
    "discount": 0.98,
    "learning_rate": 0.001,
    "updates": 16,
    "checkpoints": 60,
}
CARELESS = {**GOAL, "fail_cost": 0.0, "hidden": "32,32"}
SHORT_SIGHTED = (0.94, 0.92, 0.96, 0.9, 0.93, 0.88)
CONTROL = {"max_steps": 300, "updates": 16, "checkpoints": 100}
RECIPES = (
    Recipe("one-way-line", "domain:one-way-line?size=15-10", GOAL),
    Recipe(
        "two-way-line-icy",
        "domain:two-way-line?packages=2&locations=6&variant=icy",
        {**GOAL, "fail_cost": 0.2, "steps": 300_000},
    ),
    Recipe(
        "transport-drop",
        "domain:transport?size=small&variant=drop",
        {**CARELESS, "steps": 300_000},
        SHORT_SIGHTED,
    ),
    Recipe("blocksworld", "domain:blocksworld?size=tiny", CARELESS, SHORT_SIGHTED),
    Recipe(
        "n-puzzle",
        "domain:n-puzzle?size=small",
        {**CARELESS, "hidden": "16,16", "steps": 60_000, "checkpoints": 300},
        SHORT_SIGHTED,
    ),
    Recipe("racetrack", "domain:racetrack?size=small", {**GOAL, "fail_cost": 0.2}),
    Recipe("racetrack-slip", "domain:racetrack?size=small&variant=slip", GOAL),
    Recipe("beluga", "domain:beluga?size=4-2", GOAL),
    Recipe(
        "bouncing-ball",
        "domain:bouncing-ball?size=small",
        {**CONTROL, "hidden": "16,16", "steps": 50_000, "checkpoints": 250},
    ),
    Recipe(
        "inverted-pendulum", "domain:inverted-pendulum?size=small", {**CONTROL, "hidden": "16,16"}
    ),
    Recipe("follow-car", "domain:follow-car?size=small", CONTROL),
    Recipe("cartpole", "domain:cartpole?size=small", CONTROL),
    Recipe(
        "flappy-bird",
        "domain:flappy-bird?size=200-10&start=anywhere",
        {"max_steps": 500, "discount": 0.95, "updates": 16, "checkpoints": 200},
    ),
    Recipe("layered", "domain:layered", {"steps": 20_000}, is_choosy=False),
    Recipe("staircase", "domain:staircase", {"steps": 20_000}, is_choosy=False),
)


def main() -> None:
    """Make all policies, or those that are named."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where to write them")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    for recipe in RECIPES:
        for kind in (Network(recipe), Trees(recipe)):
            if not options.names or kind.name.startswith(tuple(options.names)):
                kind.make(options.folder)


@dataclass(frozen=True)
class Made:
    """A policy with what goes into its card."""

    policy: Policy
    seed: int
    command: str
    card: dict[str, Any]


class Shipped:
    """What networks and trees have in common."""

    kind: str
    suffix: str

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.name = f"{recipe.name}-{self.kind}"
        self.file = self.name + self.suffix

    def make(self, folder: Path) -> None:
        """Make the policy and write it with its card."""
        task = surefoot.load_task(self.recipe.task)
        made = next(self.tries(task, folder), None)
        if made is None:
            print(f"{self.name}: NOTHING FOUND", flush=True)
            return
        write_policy(made.policy, folder / self.file)
        card = self.card(task, made)
        text = json.dumps(card, indent=1) + "\n"
        (folder / (self.name + SUFFIX)).write_text(text)
        print(f"{self.name}: goal {card['goal_fraction']:.3f}, unsafe "
              f"{card['unsafe_fraction']:.4f}, {card['mean_steps']:.1f} steps a run, seed "
              f"{made.seed}", flush=True)  # fmt: skip

    def tries(self, task: Task, folder: Path) -> Iterator[Made]:
        """Yield policies that are good enough."""
        raise NotImplementedError

    def look(self, policy: Policy) -> EvaluateResult:
        """Return how good a policy is, roughly."""
        return surefoot.evaluate(
            policy.task,
            policy,
            starts=LOOK_STARTS,
            max_steps=self.recipe.max_steps,
            max_seconds=LOOK_SECONDS,
        )

    def is_wanted(self, policy: Policy) -> bool:
        """Return whether the policy is good, but not safe."""
        if not self.recipe.is_choosy:
            return True
        found = self.look(policy)
        has_goal = policy.task.description.goal_condition is not None
        is_good = not has_goal or found.goal_fraction >= LEAST_GOAL
        is_unsafe = LEAST_UNSAFE <= found.unsafe_fraction <= MOST_UNSAFE
        return is_good and is_unsafe and self.has_fault(policy)

    def has_fault(self, policy: Policy) -> bool:
        """Return whether the policy is to blame for a failing run, as far as a short look shows."""
        runs = surefoot.fuzz(
            policy.task, policy, runs=LOOK_STARTS, max_steps=self.recipe.max_steps,
            max_seconds=LOOK_SECONDS,
        )  # fmt: skip
        found = surefoot.find_faults(
            policy.task, policy, runs.failing[:LOOK_RUNS], max_seconds=LOOK_SECONDS, state_seconds=1
        )
        return bool(found.faults)

    def card(self, task: Task, made: Made) -> dict[str, Any]:
        """Return the card of a policy."""
        found = surefoot.evaluate(
            task,
            made.policy,
            starts=CARD_STARTS,
            max_steps=self.recipe.max_steps,
            max_seconds=CARD_SECONDS,
        )
        return {
            KEY: 1,
            "name": self.name,
            "task": self.recipe.task,
            "task_sha256": task.sha256,
            "file": self.file,
            "kind": self.kind,
            "seed": made.seed,
            **made.card,
            "goal_fraction": found.goal_fraction,
            "unsafe_fraction": found.unsafe_fraction,
            "starts": found.starts,
            "exact": found.is_exact,
            "mean_steps": self.mean_steps(made.policy),
            "command": made.command,
        }

    def mean_steps(self, policy: Policy) -> float:
        """Return how long runs are."""
        runs = surefoot.fuzz(
            policy.task, policy, runs=1_000, bias="uniform", lookahead=1,
            max_steps=self.recipe.max_steps,
        )  # fmt: skip
        return runs.steps / len(runs.runs)


class Network(Shipped):
    """A network trained by Q-learning."""

    kind = "network"
    suffix = ".safetensors"

    def tries(self, task: Task, folder: Path) -> Iterator[Made]:
        """Yield the best policy of a training, seed after seed."""
        begin = time.perf_counter()
        for seed in range(SEEDS):
            self.best = -1.0  # of this training
            options = self.options(seed)
            try:
                result = surefoot.train(
                    task, seed=seed, score=self.score, progress=print, **options
                )
            except surefoot.InputError as error:
                print(f"{self.name}, seed {seed}: {error.message}", flush=True)
                continue
            card = {
                "steps": result.best.steps,
                "tries": seed + 1,
                "training_seconds": round(time.perf_counter() - begin, 1),
            }
            yield Made(result.policy, seed, self.command(seed), card)

    def score(self, policy: Policy, checkpoint: Checkpoint) -> float | None:
        """Return how good a checkpoint is; None if it is bad or safe."""
        has_goal = policy.task.description.goal_condition is not None
        score = checkpoint.goal_fraction if has_goal else checkpoint.mean_steps
        is_bad = self.recipe.is_choosy and has_goal and score < LEAST_GOAL
        if is_bad or score <= self.best or not self.is_wanted(policy):
            return None
        self.best = score
        return score

    def options(self, seed: int) -> dict[str, Any]:
        """Return how the network of a seed is trained."""
        turns = self.recipe.discounts
        more = {"discount": turns[seed % len(turns)]} if turns else {}
        return {**self.recipe.train, **more}

    def command(self, seed: int) -> str:
        """Return what trains such a network. It keeps the best one, safe or not."""
        words = ["surefoot", "train", self.recipe.task, "-o", self.file, "--seed", str(seed)]
        for name, value in self.options(seed).items():
            words += ["--" + name.replace("_", "-"), str(value)]
        return shlex.join(words)


class Trees(Shipped):
    """Trees that imitate the network."""

    kind = "trees"
    suffix = ".json"

    def tries(self, task: Task, folder: Path) -> Iterator[Made]:
        """Yield trees that are good enough, one setting after the other."""
        network = Network(self.recipe)
        teacher = surefoot.load_policy(folder / network.file, task)
        for more in TREES:
            for seed in range(SEEDS):
                found = surefoot.distill(
                    task, teacher, seed=seed, max_steps=self.recipe.max_steps, **more
                )
                if self.is_wanted(found.policy):
                    card = {"teacher": network.name, "agreement": found.agreement}
                    yield Made(found.policy, seed, self.command(seed, more, network.name), card)

    def command(self, seed: int, more: Mapping[str, Any], teacher: str) -> str:
        """Return what makes the trees."""
        words = ["surefoot", "distill", self.recipe.task, "--policy", f"builtin:{teacher}"]
        words += ["-o", self.file, "--seed", str(seed), "--max-steps", str(self.recipe.max_steps)]
        for name, value in more.items():
            words += ["--" + name, str(value)]
        return shlex.join(words)


if __name__ == "__main__":
    main()
