"""How many environment steps per second there are to train on, and while training.

    python -m benchmarks.training [--seconds 2] [--steps 50000] [TASK ...]

For each task, with random applicable actions: environments that are stepped one at a time, once
written by hand over the task's public interface and once as ``gymnasium.make`` gives it; and the
core's environments, 256 and 1,024 of them stepped together, actions drawn with NumPy. Seconds are
those of the processor, all on one thread; the ways take turns, and the best of short measurements
counts: machines are shared.

Then a whole training, everything included, against the usual loop around one Gymnasium environment:
deep Q-learning in torch with an update of 64 samples every four steps. What an update learns from
differs, so the samples per step are printed too.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from typing import Any

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
for variable in THREADS:  # before the libraries are imported
    os.environ.setdefault(variable, "1")

import gymnasium  # noqa: E402
import numpy as np  # noqa: E402

import surefoot  # noqa: E402
import surefoot.gym  # noqa: E402
from surefoot import _core  # noqa: E402
from surefoot.options import TrainOptions  # noqa: E402
from surefoot.policies.binding import core_interface  # noqa: E402
from surefoot.policies.interface import scaled_interface  # noqa: E402
from surefoot.train import train  # noqa: E402

TASKS = [
    "domain:one-way-line?size=15-10&variant=icy",
    "domain:flappy-bird?size=200-10",
    "domain:cartpole?size=0.02",
    "domain:blocksworld?size=6-5",
]
COUNTS = (256, 1024)
MAX_STEPS = 200
STARTS = 1000
SHORT = 0.1  # seconds of one measurement
NEEDED = 20  # times as many steps per second, for environments in the core
UPDATE_EVERY, BATCH, COPY_EVERY, REPLAY = 4, 64, 500, 100_000
Advance = Callable[[], int]


def main() -> None:
    """Measure and print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", default=TASKS)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each figure")
    parser.add_argument("--steps", type=int, default=50_000, help="of our training")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for text in options.tasks:
        task = surefoot.load_task(text)
        print(f"{text}: {len(task.names)} variables, {len(task.actions)} actions")
        environment_table(task, options)
        training_table(task, options)


# -- environments ----------------------------------------------------------------------------


class PlainEnv(gymnasium.Env[Any, Any]):
    """A task as somebody would write it who has the task's public interface and Gymnasium."""

    def __init__(self, task: surefoot.Task) -> None:
        self.task = task
        inputs = scaled_interface(task).inputs
        self.means = np.array([one.mean for one in inputs])
        self.scales = np.array([one.scale for one in inputs])
        self.actions = [name for name in task.actions if name not in task.silent]
        self.starts = task.sample_starts(STARTS, seed=0)
        self.observation_space = gymnasium.spaces.Box(-1.0, 1.0, (len(inputs),))
        self.action_space = gymnasium.spaces.Discrete(len(self.actions))

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Begin a run in a start state."""
        super().reset(seed=seed)
        self.steps = 0
        self.state = self._on(random.choice(self.starts))
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action, with an outcome that is drawn."""
        outcomes = self.task.outcomes(self.state, self.actions[action])
        self.state = self._on(random.choice(outcomes))
        self.steps += 1
        is_fail, is_goal = self.task.is_fail(self.state), self.task.is_goal(self.state)
        info = self._info()
        ends = is_fail or is_goal or not info["action_mask"].any()
        reward = float(is_goal) - float(is_fail)
        return self._observation(), reward, ends, self.steps >= MAX_STEPS, info

    def _on(self, state: Any) -> Any:
        """Return where silent actions lead that are taken while there is nothing to decide."""
        while self.task.silent and not (self.task.is_fail(state) or self.task.is_goal(state)):
            applicable = self.task.applicable(state)
            if not applicable or any(name not in self.task.silent for name in applicable):
                return state
            state = random.choice(self.task.outcomes(state, random.choice(applicable)))
        return state

    def _observation(self) -> Any:
        values = np.array(self.state.values_tuple, dtype=np.float64)
        return ((values - self.means) / self.scales).astype(np.float32)

    def _info(self) -> dict[str, Any]:
        applicable = set(self.task.applicable(self.state))
        mask = np.array([name in applicable for name in self.actions], dtype=np.int8)
        return {"action_mask": mask}


def gymnasium_env(task: surefoot.Task) -> Any:
    """Return the task's environment as Gymnasium makes it, with the wrappers that it adds."""
    return gymnasium.make("surefoot/Task-v0", task=task, max_steps=MAX_STEPS)


def one_at_a_time(env: Any, steps: int = 64) -> Advance:
    """Return what takes some steps with random actions in one environment."""
    _, info = env.reset(seed=0)
    mask = info["action_mask"]

    def advance() -> int:
        nonlocal mask
        for _ in range(steps):
            choices = mask.nonzero()[0]
            _, _, ends, is_cut, info = env.step(choices[int(random.random() * len(choices))])
            if ends or is_cut:
                _, info = env.reset()
            mask = info["action_mask"]
        return steps

    return advance


def together(task: surefoot.Task, count: int) -> Advance:
    """Return what takes a step with random actions in each of the core's environments."""
    inputs, outputs = core_interface(task, scaled_interface(task))
    starts = task.draw_starts(STARTS, seed=0)
    environments = _core.Environments(
        task.core, starts, count=count, max_steps=MAX_STEPS, inputs=inputs, outputs=outputs
    )
    environments.reset(0)
    rng = np.random.default_rng(0)
    masks = environments.masks

    def advance() -> int:
        chances = rng.random(masks.shape, dtype=np.float32)
        actions = np.where(masks, chances, -1.0).argmax(axis=1)
        environments.step(actions.astype(np.int32))
        return count

    return advance


def rates(calls: dict[str, Advance], seconds: float) -> dict[str, float]:
    """Return the steps per second of each of several ways: they take turns."""
    found = dict.fromkeys(calls, 0.0)
    for _ in range(max(round(seconds / SHORT), 1)):
        for name, advance in calls.items():
            found[name] = max(found[name], rate(advance, SHORT))
    return found


def rate(advance: Advance, seconds: float) -> float:
    """Return the steps per second of one measurement."""
    begin, steps = time.process_time(), 0
    while (taken := time.process_time() - begin) < seconds:
        steps += advance()
    return steps / taken


def environment_table(task: surefoot.Task, options: argparse.Namespace) -> None:
    """Print the steps per second of random actions."""
    random.seed(options.seed)
    single = {
        "plain Python environment": one_at_a_time(PlainEnv(task)),
        "gymnasium.make": one_at_a_time(gymnasium_env(task)),
    }
    many = {f"core, {count:,} at once": together(task, count) for count in COUNTS}
    found = rates(single | many, options.seconds)
    for name, steps in found.items():
        ratios = [f"{steps / found[one]:.1f} times {one}" for one in single if name in many]
        needed = f": {', '.join(ratios)} (needed: {NEEDED})" if ratios else ""
        print(f"  {name + ',':27} {steps:>12,.0f} steps/s{needed}", flush=True)


# -- training --------------------------------------------------------------------------------


class PlainLearning:
    """Deep Q-learning in one Gymnasium environment, as tutorials write it, with masks."""

    def __init__(self, env: Any, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self.torch, self.env = torch, env
        self.inputs = env.observation_space.shape[0]
        self.outputs = int(env.action_space.n)
        self.network, self.target = self._network(), self._network()
        self.target.load_state_dict(self.network.state_dict())
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        self.steps = self.updates = 0
        self.memory = {
            "seen": np.zeros((REPLAY, self.inputs), np.float32),
            "action": np.zeros((REPLAY, 1), np.int64),
            "reward": np.zeros(REPLAY, np.float32),
            "next": np.zeros((REPLAY, self.inputs), np.float32),
            "mask": np.zeros((REPLAY, self.outputs), np.bool_),
            "goes_on": np.zeros(REPLAY, np.float32),
        }
        self._begin()

    def _network(self) -> Any:
        nn = self.torch.nn
        sizes = [self.inputs, 64, 64, self.outputs]
        return nn.Sequential(
            nn.Linear(sizes[0], sizes[1]),
            nn.ReLU(),
            nn.Linear(sizes[1], sizes[2]),
            nn.ReLU(),
            nn.Linear(sizes[2], sizes[3]),
        )

    def _begin(self) -> None:
        self.seen, info = self.env.reset()
        self.mask = info["action_mask"].astype(bool)

    def step(self) -> int:
        """Take a step, and learn if it is time to."""
        action = self._action()
        seen, reward, ends, is_cut, info = self.env.step(action)
        mask = info["action_mask"].astype(bool)
        at = self.steps % REPLAY
        row = (self.seen, action, reward, seen, mask, not ends)
        for column, value in zip(self.memory.values(), row, strict=True):
            column[at] = value
        self.seen, self.mask = seen, mask
        self.steps += 1
        if ends or is_cut:
            self._begin()
        if self.steps % UPDATE_EVERY == 0 and self.steps >= BATCH:
            self._update()
        return 1

    def _action(self) -> int:
        """Return the best action, or any: half of them, as on average over the first third."""
        if random.random() < 0.5:
            choices = self.mask.nonzero()[0]
            return int(choices[int(random.random() * len(choices))])
        with self.torch.no_grad():
            values = self.network(self.torch.from_numpy(self.seen)[None])[0].numpy()
        return int(np.where(self.mask, values, -np.inf).argmax())

    def _update(self) -> None:
        torch = self.torch
        picked = np.random.randint(min(self.steps, REPLAY), size=BATCH)
        batch = {name: torch.from_numpy(column[picked]) for name, column in self.memory.items()}
        with torch.no_grad():
            values = self.target(batch["next"]).masked_fill(~batch["mask"], -1e9).amax(1)
            wanted = batch["reward"] + 0.99 * batch["goes_on"] * values.clamp(min=-1e6)
        got = self.network(batch["seen"]).gather(1, batch["action"])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(got, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % COPY_EVERY == 0:
            self.target.load_state_dict(self.network.state_dict())


def training_table(task: surefoot.Task, options: argparse.Namespace) -> None:
    """Print the steps per second of trainings, learning included."""
    import torch

    torch.set_num_threads(1)
    random.seed(options.seed)
    np.random.seed(options.seed)
    plain = PlainLearning(gymnasium_env(task), options.seed)
    rate(plain.step, 0.5)  # the first updates are slow
    theirs = max(rate(plain.step, options.seconds / 4) for _ in range(4))
    begin, how = time.process_time(), TrainOptions()
    result = train(task, steps=options.steps, checkpoints=2, seed=options.seed)
    ours = result.steps / (time.process_time() - begin)
    ours_learn = how.updates * how.batch / how.environments
    print(
        f"  plain deep Q-learning,      {theirs:>12,.0f} steps/s, "
        f"{BATCH / UPDATE_EVERY:g} samples learned from per step"
    )
    print(
        f"  surefoot.train,             {ours:>12,.0f} steps/s, {ours_learn:g} samples learned "
        f"from per step: {ours / theirs:.1f} times as many steps, "
        f"{ours * ours_learn / theirs / BATCH * UPDATE_EVERY:.1f} times as many samples",
        flush=True,
    )


if __name__ == "__main__":
    main()
