"""Tasks as Gymnasium environments, for trainers that know nothing about Surefoot.

``TaskEnv(task)`` is one environment, ``VectorTaskEnv(task, num_envs)`` many that are stepped
together in the core. Importing this package registers the built-in families with Gymnasium::

    import gymnasium
    import surefoot.gym

    env = gymnasium.make("surefoot/OneWayLine-v0", packages=2, locations=4)

Everything here needs gymnasium (``pip install 'surefoot[gym]'``), which is why nothing in
Surefoot imports this package by itself.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if find_spec("gymnasium") is None:
    raise ImportError("surefoot.gym needs gymnasium: pip install 'surefoot[gym]'", name="gymnasium")

from surefoot.gym.registration import register
from surefoot.gym.settings import Settings

if TYPE_CHECKING:
    from surefoot.gym.env import TaskEnv
    from surefoot.gym.vector import VectorTaskEnv

__all__ = ["Settings", "TaskEnv", "VectorTaskEnv", "register"]

_MODULE_OF = {"TaskEnv": "env", "VectorTaskEnv": "vector"}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


register()
