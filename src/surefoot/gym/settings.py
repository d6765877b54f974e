"""How a task is made into an environment: rewards, when runs are cut, what is observed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.options import whole

MAX_STEPS = 2**62  # the core counts to twice that


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What environments are told beside the task."""

    goal_reward: float = 1.0
    """what the step into the goal is worth"""
    fail_reward: float = -1.0
    """what the step into fail is worth"""
    dead_end_reward: float = 0.0
    """what the step into a state without applicable action is worth, if it is not a goal"""
    step_reward: float = 0.0
    """what each step is worth, beside the above"""
    max_steps: int = 200
    """runs are cut after so many steps"""
    scale: bool = True
    """observe values scaled to -1..1 by the bounds of the variables, not the plain values"""
    starts: Iterable[Mapping[str, object]] | None = None
    """where runs begin; if not given, in the task's start states"""

    def __post_init__(self) -> None:
        for field in fields(self):
            if field.name.endswith("_reward"):
                check_reward(field.name, getattr(self, field.name))
        steps = whole(self.max_steps)
        if steps is None or not 1 <= steps <= MAX_STEPS:
            raise InputError(
                "bad-option", f"max_steps must be from 1 to {MAX_STEPS:,}, not {shown(steps)}"
            )
        if not isinstance(self.starts, Iterable | None):
            raise InputError("bad-option", f"starts are states, not {shown(self.starts)}")
        if not isinstance(self.scale, bool):
            raise InputError("bad-option", f"scale is true or false, not {shown(self.scale)}")


NAMES = tuple(field.name for field in fields(Settings))


def chosen(settings: Settings | None, changes: Mapping[str, Any]) -> Settings:
    """Return the settings with the changes. Raises InputError for a name that there is not."""
    for name in changes:
        if name not in NAMES:
            hint = nearest_hint(name, NAMES) or f"settings are: {', '.join(NAMES)}"
            raise InputError("unknown-option", f"there is no setting {quoted(name)}", hint=hint)
    if not isinstance(settings, Settings | None):
        raise InputError("bad-option", f"settings are Settings, not {shown(settings)}")
    return replace(settings or Settings(), **changes)


def check_reward(name: str, given: Any) -> float:
    """Return a reward as float. Raises InputError if it is not a finite number."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not abs(given) <= sys.float_info.max:
        raise InputError("bad-option", f"{name} must be a finite number, not {shown(given)}")
    return float(given)
