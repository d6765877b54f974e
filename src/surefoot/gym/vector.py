"""Many runs of a task at once, as a Gymnasium vector environment."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from surefoot import _core
from surefoot.errors import InputError, shown
from surefoot.gym.settings import Settings, chosen
from surefoot.gym.setup import RENDER_FPS, RESULTS, Setup
from surefoot.options import whole
from surefoot.tasks.state import PackedStates
from surefoot.train.rewards import CUT, GOES_ON

MAX_ENVS = 1_000_000
Observations = NDArray[np.float32]
Truths = NDArray[np.bool_]
Steps = tuple[Observations, NDArray[np.float64], Truths, Truths, dict[str, object]]


class VectorTaskEnv(VectorEnv[Observations, NDArray[Any], NDArray[Any]]):
    """``num_envs`` runs of a task, stepped together in the core.

    Observations, actions, masks and rewards are those of :class:`~surefoot.gym.env.TaskEnv`, one
    row for each run. A run that ends is begun anew in the same step: its last observation, mask and
    result stand in ``infos["final_obs"]`` and ``infos["final_info"]``. Every action must be
    applicable: InputError otherwise, and nothing has been done. Keywords are those of
    :class:`~surefoot.gym.settings.Settings`.
    """

    metadata: dict[str, object] = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": ["ansi", "svg"],
        "render_fps": RENDER_FPS,
    }

    def __init__(
        self,
        task: object,
        num_envs: int,
        *,
        render_mode: str | None = None,
        settings: Settings | None = None,
        **changes: object,
    ) -> None:
        if not 1 <= (whole(num_envs) or 0) <= MAX_ENVS:
            text = f"num_envs must be from 1 to {MAX_ENVS:,}, not {shown(num_envs)}"
            raise InputError("bad-option", text)
        self._setup = Setup(task, chosen(settings, changes))
        self._setup.check_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_modes": self._setup.render_modes}
        self.render_mode = render_mode
        self.num_envs = int(num_envs)
        self.task = self._setup.task
        self.interface = self._setup.interface
        self.single_observation_space = self._setup.observation_space()
        self.single_action_space = self._setup.action_space()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._rewards = np.array(self._setup.rewards)
        self._words = np.array([RESULTS.get(i) for i in range(len(self._rewards))], object)
        self._is_begun = False
        self._core = self._setup.environments(self.num_envs)
        self._results = self._core.results
        self._now = self._core.observations, self._core.masks
        self._next = self._core.next_observations, self._core.next_masks

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are environments of their own, in which no run was begun."""
        options: dict[str, Any] = {
            "render_mode": self.render_mode,
            "settings": self._setup.settings,
        }
        return partial(type(self), self.task, self.num_envs, **options), ()

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observations, dict[str, object]]:
        """Begin all runs anew, in start states."""
        if options:
            raise InputError(
                "unknown-option",
                f"reset has no option {shown(next(iter(options)))}",
                hint="say where runs begin with starts=, as the environment is made",
            )
        super().reset(seed=seed)
        self._is_begun = False
        self._setup.begin(self._core, self.np_random)
        self._is_begun = True
        return self._now[0].copy(), self._infos()

    def step(self, actions: object) -> Steps:
        """Take an action in each run, with outcomes that are drawn."""
        if not self._is_begun:
            raise InputError("bad-action", "no run was begun", hint="call reset() first")
        numbers = self._numbers(actions)
        try:
            self._core.step(numbers)
        except _core.ModelError as error:
            self._is_begun = False
            raise self.task.model_error(error) from None
        except ValueError as error:
            raise self._refused(numbers, error) from None
        results = self._results
        infos = self._infos()
        has_ended = results != GOES_ON
        if has_ended.any():
            infos |= self._final(has_ended)
        is_cut = results == CUT
        return self._now[0].copy(), self._rewards[results], has_ended & ~is_cut, is_cut, infos

    def _numbers(self, actions: object) -> NDArray[np.int32]:
        given = np.asarray(actions)
        if given.shape != (self.num_envs,) or given.dtype.kind not in "iu":
            raise InputError(
                "bad-action",
                f"actions are {self.num_envs} whole numbers, "
                f"not an array of {given.dtype} with shape {given.shape}",
            )
        count = len(self.interface.outputs)
        is_inside = (given >= 0) & (given < count)
        return np.where(is_inside, given, count).astype(np.int32)

    def _refused(self, numbers: NDArray[np.int32], error: ValueError) -> InputError:
        """Return the error that names the first action which cannot be taken."""
        count = len(self.interface.outputs)
        outside = np.flatnonzero((numbers < 0) | (numbers >= count))
        if outside.size:
            text = f"the action of environment {outside[0]} is not from 0 to {count - 1}"
            return InputError("bad-action", text)
        where = np.flatnonzero(~self._now[1][np.arange(self.num_envs), numbers])
        if not where.size:
            return InputError("bad-task", f"the runs cannot go on: {error}")
        first = int(where[0])
        return self._setup.not_applicable(
            int(numbers[first]),
            self.states[first].packed,
            hint=f"that was environment {first}; choose among the actions of infos['action_mask']",
        )

    def _infos(self) -> dict[str, object]:
        return {
            "action_mask": self._now[1].astype(np.int8),
            "_action_mask": np.ones(self.num_envs, bool),
        }

    def _final(self, has_ended: Truths) -> dict[str, object]:
        """Return how the runs ended that did, as Gymnasium's own vector environments say it."""
        observations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(has_ended):
            observations[i] = self._next[0][i].copy()
        masks = np.where(has_ended[:, None], self._next[1], False)
        info = {
            "action_mask": masks.astype(np.int8),
            "_action_mask": has_ended.copy(),
            "result": self._words[self._results],
            "_result": has_ended.copy(),
        }
        return {
            "final_obs": observations,
            "_final_obs": has_ended.copy(),
            "final_info": info,
            "_final_info": has_ended.copy(),
        }

    def action_masks(self) -> Truths:
        """Return which actions are applicable, a row for each run."""
        return self._now[1].copy()

    @property
    def states(self) -> PackedStates:
        """The states in which the runs are, unpacked when they are first read."""
        return self._unpacked(self._core.states)

    @property
    def next_states(self) -> PackedStates:
        """Where the last step led: other than ``states`` for runs that were begun anew."""
        return self._unpacked(self._core.next_states)

    def _unpacked(self, packed: bytes) -> PackedStates:
        return PackedStates(packed, self.task.core.words * 8, self.task.unpack)

    def render(self) -> tuple[str, ...] | None:
        """Return the state of each run as text (``ansi``) or as SVG."""
        if self.render_mode is None:
            return None
        mode = self.render_mode
        return tuple(self._setup.rendered(state.packed, mode) for state in self.states)
