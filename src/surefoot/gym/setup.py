"""What both environments are made of: the task, what is observed of it, where its runs begin."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Unsupported, printable, quoted, shown
from surefoot.gym.settings import Settings
from surefoot.policies.binding import core_interface
from surefoot.policies.interface import Input, Interface, scaled_interface
from surefoot.tasks import as_task, load_task
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.state import listed
from surefoot.tasks.task import MAX_STATE_TEXT
from surefoot.train.rewards import CUT, DEAD_END, FAIL, GOAL

if TYPE_CHECKING:
    from gymnasium.spaces import Space

MAX_STARTS = 10_000
"""how many start states are kept: all of them if there are no more, else so many drawn uniformly"""
START_SECONDS = 60.0
RESULTS = {FAIL: "fail", GOAL: "goal", DEAD_END: "dead_end", CUT: "cut"}
NUM_RESULTS = len(_core.RunEnd)
RENDER_FPS = 4


class Setup:
    """A task with its interface, start states and rewards, from which environments are made."""

    def __init__(self, task: object, settings: Settings) -> None:
        self.task = compiled(task)
        self.settings = settings
        self.interface = interface_of(self.task, scale=settings.scale)
        if not self.interface.outputs:
            raise InputError("bad-task", "there is nothing to decide: the task has no action")
        self._inputs, self._outputs = core_interface(self.task, self.interface)
        self._starts = packed_starts(self.task, settings.starts)

    def environments(self, count: int, starts: bytes | None = None) -> _core.Environments:
        """Return runs that are not begun yet; they will be in one of the packed states."""
        try:
            return _core.Environments(
                self.task.core,
                self._starts if starts is None else starts,
                count=count,
                max_steps=self.settings.max_steps,
                inputs=self._inputs,
                outputs=self._outputs,
            )
        except (ValueError, MemoryError) as error:
            raise InputError("bad-task", f"the core refuses the runs: {error}") from None

    def begin(self, environments: _core.Environments, rng: np.random.Generator) -> None:
        """Begin all runs, with a seed that is drawn."""
        self.ask(environments.reset, int(rng.integers(2**63)))

    def ask(self, call: Callable[[Any], None], given: object) -> None:
        """Call the core; what it dislikes about the task comes out as InputError."""
        try:
            call(given)
        except _core.ModelError as error:
            raise self.task.model_error(error) from None
        except ValueError as error:
            raise InputError(
                "bad-task",
                f"the runs cannot go on: {error}",
                hint="begin where an action is applicable, and neither goal nor fail holds",
            ) from None

    @property
    def rewards(self) -> tuple[float, ...]:
        """What a step is worth, by its result."""
        settings = self.settings
        extra = {
            GOAL: settings.goal_reward,
            FAIL: settings.fail_reward,
            DEAD_END: settings.dead_end_reward,
        }
        return tuple(settings.step_reward + extra.get(result, 0.0) for result in range(NUM_RESULTS))

    @property
    def render_modes(self) -> list[str]:
        """How states can be shown: as text, and as SVG if there is a way to draw them."""
        return ["ansi"] if self.task.draw is None else ["ansi", "svg"]

    def check_render_mode(self, mode: str | None) -> None:
        """Raise InputError if states cannot be shown that way."""
        if mode is not None and mode not in self.render_modes:
            known = ", ".join(self.render_modes)
            raise InputError(
                "bad-option", f"render_mode of this task is None or {known}, not {shown(mode)}"
            )

    def rendered(self, packed: bytes, mode: str) -> str:
        """Return a state as text or SVG."""
        state = self.task.unpack(packed)
        picture = self.task.picture(state)
        if picture is None:
            return f"{state}\n"
        return picture.svg if mode == "svg" else f"{picture.text}\n"

    def observation_space(self) -> Space[Any]:
        """Return the space of what is observed of one state.

        Its bounds are computed as observations are, in the same order: rounding leaves order alone,
        so that no observation is outside.
        """
        from gymnasium.spaces import Box

        inputs = list(zip(self.task.variables, self.interface.inputs, strict=True))
        with np.errstate(over="ignore"):
            low, high = (
                np.array(
                    [(float(getattr(v, end)) - entry.mean) / entry.scale for v, entry in inputs]
                ).astype(np.float32)
                for end in ("lower", "upper")
            )
        return Box(low, high, dtype=np.float32)

    def action_space(self) -> Space[Any]:
        """Return the space of one action: its position among ``interface.outputs``."""
        from gymnasium.spaces import Discrete

        return Discrete(len(self.interface.outputs))

    def not_applicable(self, action: int, packed: bytes, *, hint: str) -> InputError:
        """Return the error for an action that is not applicable in a state."""
        name = quoted(self.interface.outputs[action])
        state = printable(str(self.task.unpack(packed)), MAX_STATE_TEXT)
        text = f"action {action}, {name}, is not applicable, in state {state}"
        return InputError("not-applicable", text, hint=hint)


def compiled(task: object) -> CompiledTask:
    """Return the task of an object or text. Raises Unsupported if Python code defines it."""
    made = as_task(load_task(task) if isinstance(task, str | Path) else task)
    if has_description(made):
        return made
    raise Unsupported(
        "gym-python-task",
        "environments step in the core: they need a task whose variables and actions are known "
        "beforehand, not one that Python code defines",
        hint="describe the task with Description or in a JANI file",
    )


def interface_of(task: CompiledTask, *, scale: bool) -> Interface:
    """Return what is observed of a task, and its actions: the interface of whoever learns here."""
    scaled = scaled_interface(task)
    return scaled if scale else replace(scaled, inputs=tuple(map(Input, task.names)))


def packed_starts(task: CompiledTask, starts: Any) -> bytes:
    """Return where runs begin, packed: the given states, or the start states of the task.

    If there are too many of these, or infinitely many, as many as we keep are drawn.
    """
    if starts is not None:
        packed = b"".join(map(task.packed, listed(starts)))
        if not packed:
            raise InputError("no-start-state", "no state to begin in was given")
        return packed
    if (source := task.start_source()) is not None:
        return source or task.draw_starts(1)  # which says that there is none
    if task.core.has_finite_starts():
        with suppress(OutOfBudget):
            every = task.list_starts(max_states=MAX_STARTS, max_seconds=START_SECONDS)
            return b"".join(state.packed for state in every) or task.draw_starts(1)
    return task.draw_starts(MAX_STARTS, max_seconds=START_SECONDS)
