"""The names under which Gymnasium makes environments of the built-in families."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from surefoot.domains import DOMAINS, domain, domain_family
from surefoot.domains.family import SIZE
from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.gym.settings import NAMES

if TYPE_CHECKING:
    from surefoot.gym.env import TaskEnv
    from surefoot.gym.vector import VectorTaskEnv

NAMESPACE = "surefoot"
ANY_TASK = f"{NAMESPACE}/Task-v0"
OPTIONS = (*NAMES, "render_mode", "invalid", "invalid_reward", "settings")
"""keywords that are for the environment; all others are parameters of the family"""


def register() -> None:
    """Tell Gymnasium about ``surefoot/OneWayLine-v0`` and so on, and about ``surefoot/Task-v0``.

    Importing ``surefoot.gym`` does it; to do it again changes nothing.
    """
    import gymnasium

    for name in DOMAINS:
        if (known_as := id_of(name)) not in gymnasium.registry:
            gymnasium.register(
                known_as,
                entry_point=f"{__name__}:domain_env",
                vector_entry_point=f"{__name__}:domain_vector_env",
                kwargs={"domain_name": name},
            )
    if ANY_TASK not in gymnasium.registry:
        gymnasium.register(
            ANY_TASK,
            entry_point="surefoot.gym.env:TaskEnv",
            vector_entry_point="surefoot.gym.vector:VectorTaskEnv",
        )


def id_of(name: str) -> str:
    """Return what Gymnasium calls a family: ``surefoot/OneWayLine-v0`` for one-way-line."""
    return f"{NAMESPACE}/{''.join(part.capitalize() for part in name.split('-'))}-v0"


def domain_env(*, domain_name: str, **more: object) -> TaskEnv:
    """Return an environment of a built-in family, with parameters and options as keywords."""
    from surefoot.gym.env import TaskEnv

    parameters, options = _split(domain_name, more)
    return TaskEnv(domain(domain_name, **parameters), **options)


def domain_vector_env(*, domain_name: str, num_envs: int, **more: object) -> VectorTaskEnv:
    """Return a vector environment of a built-in family, with parameters and options as keywords."""
    from surefoot.gym.vector import VectorTaskEnv

    parameters, options = _split(domain_name, more)
    return VectorTaskEnv(domain(domain_name, **parameters), num_envs, **options)


def _split(name: str, keywords: Mapping[str, object]) -> tuple[dict[str, object], dict[str, Any]]:
    """Return the parameters of the family and the options of the environment."""
    known = [*domain_family(name).defaults, SIZE, *OPTIONS]
    for keyword in keywords:
        if keyword not in known:
            raise InputError(
                "unknown-parameter",
                f"{id_of(name)} has no parameter {quoted(keyword)}",
                hint=nearest_hint(keyword, known) or f"its parameters are: {', '.join(known)}",
            )
    options = {keyword: keywords[keyword] for keyword in keywords if keyword in OPTIONS}
    return {keyword: keywords[keyword] for keyword in keywords if keyword not in OPTIONS}, options
