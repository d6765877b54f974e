"""One run of a task at a time, as a Gymnasium environment."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from surefoot import _core
from surefoot.errors import InputError, shown
from surefoot.gym.settings import Settings, check_reward, chosen
from surefoot.gym.setup import RENDER_FPS, RESULTS, Setup
from surefoot.options import check_word
from surefoot.tasks.state import State
from surefoot.train.rewards import CUT, GOES_ON

INVALID = ("ignore", "end", "raise")
INAPPLICABLE = "inapplicable"
Observation = NDArray[np.float32]
Mask = NDArray[np.bool_]
Rows = tuple[Observation, Mask]
Step = tuple[Observation, float, bool, bool, dict[str, object]]


class TaskEnv(gymnasium.Env[Observation, np.int64]):
    """A task as a Gymnasium environment.

    ``task`` is a task, a Description, or text such as ``domain:one-way-line``. An observation has a
    number for each variable, an action is a position among ``interface.outputs``: a network that
    was trained here decides as in training with ``load_policy(network, task,
    interface=env.interface)``. Outcomes are drawn uniformly; silent actions are taken at once.
    Which actions are applicable stands in ``info["action_mask"]`` and is what ``action_masks()``
    returns. A run is terminated by fail, goal and dead ends and truncated after ``max_steps``;
    ``info["result"]`` then says which it was. ``info["state"]`` is the state.

    ``invalid`` says what an action does that is not applicable: ``ignore``, the state stays, the
    reward is ``invalid_reward``, and ``info["applicable"]`` is False; ``end``, the run is over, as
    bad as fail; or ``raise``, InputError. All other keywords are those of :class:`Settings`.
    """

    metadata: dict[str, object] = {"render_modes": ["ansi", "svg"], "render_fps": RENDER_FPS}  # noqa: RUF012

    def __init__(
        self,
        task: object,
        *,
        render_mode: str | None = None,
        invalid: str = "ignore",
        invalid_reward: float = -0.1,
        settings: Settings | None = None,
        **changes: object,
    ) -> None:
        check_word("invalid", str(invalid), INVALID)
        self._setup = Setup(task, chosen(settings, changes))
        self._setup.check_render_mode(render_mode)
        self._invalid = invalid
        self._invalid_reward = check_reward("invalid_reward", invalid_reward)
        self.metadata = {**self.metadata, "render_modes": self._setup.render_modes}
        self.render_mode = render_mode
        self.task = self._setup.task
        self.interface = self._setup.interface
        self.observation_space = self._setup.observation_space()
        self.action_space = self._setup.action_space()
        self._num_actions = len(self.interface.outputs)
        self._rewards = self._setup.rewards
        self._max_steps = self._setup.settings.max_steps
        self._chosen = np.zeros(1, np.int32)
        self._from_starts = self._setup.environments(1)
        self._use(self._from_starts)
        self._is_over = True
        self._is_begun = False  # whether the core has ended this run and begun the next one

    def __reduce__(self) -> tuple[object, ...]:
        """Copies and pickles are environments of their own, in which no run was begun."""
        options: dict[str, Any] = {
            "render_mode": self.render_mode,
            "settings": self._setup.settings,
        }
        invalid: dict[str, Any] = {"invalid": self._invalid, "invalid_reward": self._invalid_reward}
        return partial(type(self), self.task, **options, **invalid), ()

    def _use(self, core: _core.Environments) -> None:
        """Step these runs from now on; their arrays stay where they are."""
        self._core = core
        self._results = core.results
        self._now: Rows = core.observations[0], core.masks[0]
        self._next: Rows = core.next_observations[0], core.next_masks[0]

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observation, dict[str, object]]:
        """Begin a run in a start state, or in ``options["state"]``."""
        super().reset(seed=seed)
        state = given_state(options)
        if state is not None:
            self._use(self._setup.environments(1, self.task.packed(state)))
        elif self._core is not self._from_starts:
            self._use(self._from_starts)
        elif seed is None and self._is_begun:
            return self._first()
        self._is_over = True  # unless the run begins
        self._setup.begin(self._core, self.np_random)
        return self._first()

    def _first(self) -> tuple[Observation, dict[str, object]]:
        self._is_over = self._is_begun = False
        self._steps = 0
        return self._now[0].copy(), self._info(self._now[1], self._core.states)

    def step(self, action: Any) -> Step:
        """Take an action, with an outcome that is drawn."""
        try:
            number = operator.index(action)
        except TypeError:
            raise self._refused(action) from None
        if self._is_over or not 0 <= number < self._num_actions:
            raise self._refused(action)
        if not self._now[1][number]:
            return self._not_applied(number)
        self._chosen[0] = number
        self._is_over = True  # unless the step is taken
        self._is_begun = False
        self._setup.ask(self._core.step, self._chosen)
        return self._stepped()

    def _stepped(self) -> Step:
        """Return what the core's step led to."""
        self._steps += 1
        result = int(self._results[0])
        self._is_begun = result != GOES_ON
        if result == GOES_ON and self._steps >= self._max_steps:
            result = CUT  # the core does not know of the actions that were ignored
        info = self._info(self._next[1], self._core.next_states)
        self._is_over = result != GOES_ON
        if self._is_over:
            info["result"] = RESULTS[result]
        is_cut = result == CUT
        observation = self._next[0].copy()
        return observation, self._rewards[result], self._is_over and not is_cut, is_cut, info

    def _not_applied(self, action: int) -> Step:
        """Return what comes of an action that is not applicable."""
        if self._invalid == "raise":
            hint = "choose among the actions of info['action_mask']"
            raise self._setup.not_applicable(action, self._core.states, hint=hint)
        self._steps += 1
        ends = self._invalid == "end"
        is_cut = not ends and self._steps >= self._max_steps
        info = self._info(self._now[1], self._core.states)
        info["applicable"] = False
        self._is_over = ends or is_cut
        if self._is_over:
            info["result"] = INAPPLICABLE if ends else RESULTS[CUT]
        settings = self._setup.settings
        reward = settings.step_reward + (settings.fail_reward if ends else self._invalid_reward)
        return self._now[0].copy(), reward, ends, is_cut, info

    def _refused(self, action: object) -> InputError:
        if self._is_over:
            return InputError("bad-action", "no run goes on", hint="call reset() first")
        last = self._num_actions - 1
        return InputError("bad-action", f"actions are 0 to {last}, not {shown(action)}")

    def _info(self, mask: Mask, packed: bytes) -> dict[str, object]:
        return {"action_mask": mask.astype(np.int8), "state": self.task.unpack(packed)}

    def action_masks(self) -> Mask:
        """Return which actions are applicable, as MaskablePPO of sb3-contrib asks for it."""
        _, mask = self._next if self._is_begun else self._now
        return mask.copy()

    @property
    def state(self) -> State:
        """The state in which the run is."""
        return self.task.unpack(self._packed)

    @property
    def _packed(self) -> bytes:
        return self._core.next_states if self._is_begun else self._core.states

    def render(self) -> str | None:
        """Return the state as text (``ansi``) or as SVG."""
        if self.render_mode is None:
            return None
        return self._setup.rendered(self._packed, self.render_mode)


def given_state(options: Mapping[str, object] | None) -> Any:
    """Return the state that options of ``reset`` ask for; None if they do not."""
    for name in options or {}:
        if name != "state":
            raise InputError("unknown-option", f"reset has no option {shown(name)}")
    return (options or {}).get("state")
