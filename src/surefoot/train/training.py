"""One training from beginning to end: act, remember, learn, look how good it is."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _core
from surefoot.errors import InputError, shown
from surefoot.options import MAX_INT, FuzzOptions, TrainOptions
from surefoot.policies import Policy, as_policy
from surefoot.policies.binding import core_interface
from surefoot.policies.interface import scaled_interface
from surefoot.records import Checkpoint, TrainResult
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.train import hidden_sizes
from surefoot.train.learner import Learner
from surefoot.train.replay import Batch, ReplayMemory
from surefoot.train.rewards import CUT, GOES_ON, Rewards, goal_guidance

if TYPE_CHECKING:
    import numpy.typing as npt
    from torch import Tensor

    from surefoot.records import FuzzResult
    from surefoot.train.rewards import Costs

STARTS = 100_000  # drawn once; runs begin in one of these
START_SECONDS = 60.0
EXPLORING = 1 / 3  # of the training, in which random actions get fewer
DIVERGED = "diverged"
WARM_UP = 10  # batches to remember before the first update


class Training:
    """See the module's docstring."""

    def __init__(
        self,
        task: CompiledTask,
        options: TrainOptions,
        *,
        progress: Callable[[Checkpoint], object] | None,
        better: Callable[[Policy, Checkpoint], object] | None,
        score: Callable[[Policy, Checkpoint], float | None] | None,
    ) -> None:
        self.task = task
        self.options = options
        self.begin = time.perf_counter()
        self._progress = progress
        self._better = better
        self._score = score or self._default_score
        self.interface = scaled_interface(task)
        self.checkpoints: list[Checkpoint] = []
        self.best: tuple[float, Policy, Checkpoint] | None = None
        self._starts = task.draw_starts(
            STARTS, seed=options.seed, max_seconds=min(START_SECONDS, options.max_seconds)
        )
        self._looked_at = self._drawn_starts(options.runs)
        self._environments = self._begun()
        self._rewards = Rewards(options, self._environments.distances)
        self._returns = Returns(options.environments)

    # -- set-up ------------------------------------------------------------------------------

    def _drawn_starts(self, count: int) -> bytes:
        seed = (self.options.seed + 1) % (MAX_INT + 1)
        return self.task.draw_starts(count, seed=seed, max_seconds=START_SECONDS)

    def _begun(self) -> Any:
        inputs, outputs = core_interface(self.task, self.interface)
        if len(outputs) < 2 or not inputs:
            what = "one action" if inputs else "no variables"
            raise InputError("bad-task", f"there is nothing to learn: the task has {what}")
        guidance = goal_guidance(self.task) if self.options.potential == "goal" else None
        environments = self._asked(
            _core.Environments,
            self.task.core,
            self._starts,
            count=self.options.environments,
            max_steps=self.options.max_steps,
            inputs=inputs,
            outputs=outputs,
            guidance=guidance,
        )
        self._asked(environments.reset, self.options.seed)
        return environments

    def _asked(self, call: Callable[..., object], *given: object, **more: object) -> Any:
        """Return what the core answers; what it dislikes about the task comes out as InputError."""
        try:
            return call(*given, **more)
        except _core.ModelError as error:
            raise self.task.model_error(error) from None
        except ValueError as error:
            raise InputError(
                "bad-task",
                f"runs cannot go on: {error}",
                hint="start states must leave a choice, and neither goal nor fail may hold there",
            ) from None

    # -- the loop ----------------------------------------------------------------------------

    def run(self) -> TrainResult:
        """Return the best policy."""
        import torch

        self._check_memory()
        with alone(torch, self.options.seed):
            sizes = [len(self.interface.inputs), *hidden_sizes(self.options.hidden)]
            self.learner = Learner([*sizes, len(self.interface.outputs)], self.options)
            self._generator = torch.Generator().manual_seed(self.options.seed % 2**63)
            self._replay = ReplayMemory(
                max(self.options.replay, self.options.environments),
                sizes[0],
                len(self.interface.outputs),
            )
            stopped = self._learn()
        if self.best is None:
            raise self._nothing(stopped)
        _, policy, checkpoint = self.best
        return TrainResult(
            policy=policy,
            best=checkpoint,
            checkpoints=tuple(self.checkpoints),
            steps=self.steps,
            seconds=time.perf_counter() - self.begin,
            stopped=stopped,
        )

    def _check_memory(self) -> None:
        """Raise InputError if what is to be remembered takes too much memory."""
        num_inputs, num_outputs = len(self.interface.inputs), len(self.interface.outputs)
        needed = max(self.options.replay, self.options.environments) * (
            8 * num_inputs + num_outputs + 16
        )
        if needed > self.options.max_bytes:
            raise InputError(
                "bad-option",
                f"to remember {self.options.replay:,} steps takes {needed / 1e6:,.0f} MB",
                hint="make replay smaller, or memory_mb larger",
            )

    def _nothing(self, stopped: str | None) -> InputError:
        if stopped == DIVERGED:
            return InputError(
                "nothing-learned",
                "the weights of the network have diverged",
                hint="make learning_rate, or the rewards and costs, smaller",
            )
        return InputError("nothing-learned", "no policy was good enough to be kept")

    def _learn(self) -> str | None:
        """Return what ended the training before its time, if something did."""
        self.steps, next_look = 0, 1
        try:
            while self.steps < self.options.steps:
                self._step()
                if self.steps >= next_look * self.options.steps / self.options.checkpoints:
                    if not self.learner.is_finite():
                        return DIVERGED
                    self._look()
                    next_look += 1
                if time.perf_counter() - self.begin > self.options.max_seconds:
                    self._look_at_last()
                    return "seconds"
        except KeyboardInterrupt:
            self._look_at_last()
            return "interrupted"
        return None

    def _look_at_last(self) -> None:
        """Look at the last policy, unless that was done, or is not waited for."""
        is_new = not self.checkpoints or self.checkpoints[-1].steps != self.steps
        try:
            if is_new and self.learner.is_finite():
                self._look()
        except KeyboardInterrupt:
            if self.best is None:
                raise

    def _step(self) -> None:
        """Take a step in each run, and learn from what is remembered."""
        before = self._environments.distances.copy()
        inputs, actions = self._act()
        self._asked(self._environments.step, actions.astype(np.int32))
        self._remember(inputs, actions, before)
        self.steps += len(actions)
        if self._replay.size >= min(WARM_UP * self.options.batch, self._replay.capacity):
            for _ in range(self.options.updates):
                batch = self._replay.sample(self.options.batch, self._generator)
                self.learner.update(batch, min(self.steps / self.options.steps, 1.0))

    def _act(self) -> tuple[Tensor, npt.NDArray[np.int64]]:
        """Return what is seen and an action for each run: mostly the best one, now and then any."""
        import torch

        inputs = torch.from_numpy(self._environments.observations.copy())
        masks = torch.from_numpy(self._environments.masks)
        values = self.learner.values(inputs, masks)
        noise = torch.rand(values.shape, generator=self._generator).masked_fill_(~masks, -1.0)
        is_random = torch.rand(len(values), generator=self._generator) < self.exploration
        return inputs, torch.where(is_random, noise.argmax(1), values.argmax(1)).numpy()

    @property
    def exploration(self) -> float:
        """Which fraction of actions is taken at random."""
        done = min(self.steps / (self.options.steps * EXPLORING), 1.0)
        return max(1.0 - done * (1.0 - self.options.explore), self.options.explore)

    def _remember(self, inputs: Tensor, actions: npt.NDArray[np.int64], before: Costs) -> None:
        import torch

        e = self._environments
        rewards = self._rewards.of(e.results, before, e.next_distances)
        self._returns.add(rewards, e.results)
        goes_on = (e.results == GOES_ON) | (e.results == CUT)
        self._replay.add(
            Batch(
                inputs,
                torch.from_numpy(actions),
                torch.from_numpy(rewards),
                torch.from_numpy(e.next_observations),
                torch.from_numpy(e.next_masks),
                torch.from_numpy(goes_on.astype(np.float32)),
            )
        )

    # -- how good it is ----------------------------------------------------------------------

    def policy(self) -> Policy:
        """Return what was learned so far."""
        return as_policy(self.learner.model(), self.task, interface=self.interface)

    def _look(self) -> None:
        """Look how good the policy is, and keep it if it is the best."""
        policy = self.policy()
        checkpoint = self._checkpoint(self._runs(policy))
        score = checked_score(self._score(policy, checkpoint))
        if score is not None and (self.best is None or score > self.best[0]):
            if self._better is not None:
                self._better(policy, checkpoint)
            self.best = (score, policy, checkpoint)
        self.checkpoints.append(checkpoint)  # last: Ctrl-C in between, and it is looked at again
        if self._progress is not None:
            self._progress(checkpoint)

    def _runs(self, policy: Policy) -> FuzzResult:
        from surefoot.fuzz import fuzz_packed

        options = FuzzOptions(
            bias="uniform",
            lookahead=1,
            max_steps=max(self.options.max_steps, 1),
            workers=1,
            seed=self.options.seed,
            memory_mb=self.options.memory_mb,
        )
        return fuzz_packed(policy, self._looked_at, options, to_the_end=True)

    def _checkpoint(self, runs: FuzzResult) -> Checkpoint:
        done = max(sum(runs.counts.values()), 1)
        return Checkpoint(
            steps=self.steps,
            seconds=time.perf_counter() - self.begin,
            mean_return=self._returns.mean(),
            goal_fraction=runs.counts.get("goal", 0) / done,
            fail_fraction=runs.counts.get("fail", 0) / done,
            mean_steps=runs.steps / done,
        )

    def _default_score(self, policy: Policy, checkpoint: Checkpoint) -> float:
        return checkpoint.goal_fraction - 0.001 * checkpoint.fail_fraction


def checked_score(score: Any) -> float | None:
    """Return a score as number, or None. Raises InputError for others, and what is not finite."""
    is_number = isinstance(score, int | float | np.number) and not isinstance(score, bool)
    if score is None:
        return None
    if is_number and math.isfinite(score):
        return float(score)
    raise InputError("bad-option", f"score returns a finite number or None, not {shown(score)}")


class Returns:
    """The sums of rewards of the runs that ended since last asked for."""

    def __init__(self, count: int) -> None:
        self._open = np.zeros(count)
        self._sum = 0.0
        self._count = 0
        self._mean = 0.0

    def add(self, rewards: Any, results: Any) -> None:
        """Count the rewards of one step of each run."""
        self._open += rewards
        has_ended = results != GOES_ON
        self._sum += float(self._open[has_ended].sum())
        self._count += int(has_ended.sum())
        self._open[has_ended] = 0.0

    def mean(self) -> float:
        """Return the mean; that of before if no run has ended."""
        if self._count:
            self._mean = self._sum / self._count
        self._sum, self._count = 0.0, 0
        return self._mean


@contextmanager
def alone(torch: Any, seed: int) -> Iterator[None]:
    """Let a ``with`` block use torch on one thread, with random numbers of its own.

    One thread is faster for networks of this size, and sums have the same order every time.
    """
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed % 2**63)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
