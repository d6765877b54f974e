"""What is known of some environments that they do not tell themselves."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

Foreign = Any
"""environments, spaces and what they hand out: objects of others, whose members nobody declares"""


@dataclass(frozen=True)
class Known:
    """Names of actions and decoded variables, and which steps fail or reach the goal; which fail
    must be given where it is not known.
    """

    actions: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    fail: str | None = None
    goal: str = "terminated & reward > 0"


WORTHLESS = "terminated & reward <= 0"
KNOWN = {
    "FrozenLakeEnv": Known(("left", "down", "right", "up"), fail=WORTHLESS),
    "CliffWalkingEnv": Known(
        ("up", "right", "down", "left"), fail="reward <= -100", goal="terminated"
    ),
    "TaxiEnv": Known(
        ("south", "north", "east", "west", "pick_up", "drop_off"),
        ("row", "column", "passenger", "destination"),
        fail="reward <= -10",
    ),
    "CartPoleEnv": Known(("left", "right"), fail="terminated", goal="never"),
    "MountainCarEnv": Known(("left", "none", "right"), fail="never", goal="terminated"),
    "AcrobotEnv": Known(("left", "none", "right"), fail="never", goal="terminated"),
    "BlackjackEnv": Known(("stick", "hit"), fail="reward < 0", goal="reward > 0"),
}
"""by the name of a class of Gymnasium"""


def known_of(env: Foreign) -> Known:
    """Return what is known of an environment."""
    if is_grid(env):
        return Known(fail=WORTHLESS)
    cls = type(env.unwrapped)
    return KNOWN.get(cls.__name__, Known()) if _is_own(cls) else Known()


def _is_own(cls: type) -> bool:
    return cls.__module__.startswith("gymnasium.")


# -- MiniGrid ------------------------------------------------------------------------------------


def is_grid(env: Foreign) -> bool:
    """Return whether this is an environment of MiniGrid: an agent in a grid of cells."""
    return all(hasattr(env.unwrapped, name) for name in ("agent_pos", "agent_dir", "grid"))


def grid_key(env: Foreign) -> dict[str, int]:
    """Return the whole state of a MiniGrid: observations show only what the agent sees."""
    inner = env.unwrapped
    x, y = inner.agent_pos
    carried = getattr(inner, "carrying", None)
    held = 0 if carried is None else zlib.crc32(repr(carried.encode()).encode())
    cells = zlib.crc32(inner.grid.encode().tobytes())
    place = {"x": int(x), "y": int(y), "direction": int(inner.agent_dir)}
    return {**place, "carrying": held, "grid": cells}


def forget_time(env: Foreign) -> None:
    """Set back the counter of steps, which is no part of the state."""
    if is_grid(env) and hasattr(env.unwrapped, "step_count"):
        env.unwrapped.step_count = 0
