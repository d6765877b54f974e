"""The front end of ``gym:ENV-ID``: Gymnasium environments as tasks.

An environment that shows its table of transitions (``env.unwrapped.P``) becomes an exact compiled
task; any other one is stepped, and what its actions may do is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from surefoot.tasks.front_end import FrontEnd, FrontEndOptions

if TYPE_CHECKING:
    from surefoot.tasks.task import Task

SEEDS = 8
STARTS = 1


@dataclass(frozen=True, kw_only=True)
class GymOptions(FrontEndOptions):
    """What is given besides the environment."""

    fail: str | None = None
    """which steps fail, as in 'reward < 0', or FILE.py:NAME"""
    goal: str | None = None
    """which steps reach the goal, as in 'terminated & reward > 0', or FILE.py:NAME"""
    key: str | None = None
    """what tells states apart, if not the observation: FILE.py:NAME, a function"""
    seeds: int = SEEDS
    """under how many seeds an action is tried where the outcomes must be sampled"""
    starts: int = STARTS
    """with how many seeds runs begin where the environment does not list its start states"""


def load(address: str, options: GymOptions) -> Task:
    """Return the task of ``ENV-ID?param=value&...``."""
    from surefoot.tasks.gym.making import parse
    from surefoot.tasks.gym.task import from_gym

    env_id, parameters = parse(address)
    return from_gym(env_id, **vars(options), parameters=parameters)


FRONT_END = FrontEnd(
    "gym",
    load,
    GymOptions,
    about="Gymnasium environments",
    takes_files=False,
    instead={"constants": "give parameters as in gym:ENV-ID?param=value"},
    runs_code=lambda address: True,
)
