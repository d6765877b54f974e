"""Environments by name, and what all of them have."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import EnumMeta
from urllib.parse import parse_qsl

from surefoot.errors import InputError, Unsupported, nearest_hint, printable, quoted, shown
from surefoot.tasks.gym.known import Foreign, known_of

INSTALL = "pip install 'surefoot[gym]'"


def parse(address: str) -> tuple[str, dict[str, object]]:
    """Return the id and the parameters of ``ENV-ID?param=value&...``."""
    env_id, _, query = address.partition("?")
    parameters: dict[str, object] = {}
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name in parameters:
            raise InputError("bad-parameter", f"parameter {quoted(name)} is given twice")
        parameters[name] = _value(text)
    return env_id, parameters


def _value(text: str) -> object:
    """Return a parameter: a number, a Boolean, a list as in JSON, or else text."""
    try:
        return json.loads(text)
    except ValueError:
        return {"True": True, "False": False}.get(text, text)


def made(env_id: str, parameters: Mapping[str, object]) -> Foreign:
    """Return the environment of that name. Raises InputError if there is none."""
    gymnasium = imported()
    try:
        env: Foreign = gymnasium.make(env_id, disable_env_checker=True, **parameters)
    except gymnasium.error.UnregisteredEnv as error:  # also a NameNotFound, a VersionNotFound
        raise InputError(
            "unknown-environment",
            f"there is no environment {quoted(env_id)}: {printable(str(error))}",
            hint=nearest_hint(env_id, list(gymnasium.registry))
            or "name the package that brings it: gym:minigrid:MiniGrid-LavaGapS5-v0",
        ) from None
    except (gymnasium.error.Error, ImportError, TypeError, ValueError) as error:
        why = printable(f"{type(error).__name__}: {error}", 500)
        raise InputError(
            "bad-environment",
            f"{quoted(env_id)} cannot be made: {why}",
            hint="parameters are given as in gym:FrozenLake-v1?map_name=8x8",
        ) from error
    return env


def imported() -> Foreign:
    """Return Gymnasium. Raises Unsupported where it is not installed."""
    try:
        import gymnasium
    except ImportError:
        raise Unsupported(
            "gym-not-installed", "environments need the package gymnasium", hint=INSTALL
        ) from None
    return gymnasium


def is_environment(thing: object) -> bool:
    """Return whether this looks like an environment of Gymnasium."""
    methods = ("reset", "step", "action_space", "observation_space", "unwrapped")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in methods)


def name_of(env: Foreign) -> str:
    """Return the id of an environment, or else the name of its class."""
    spec = getattr(env, "spec", None)
    return spec.id if spec is not None else type(env.unwrapped).__name__


def action_names(env: Foreign) -> tuple[str, ...]:
    """Return the names of the actions: those of the environment, or else their numbers."""
    space: Foreign = env.action_space
    if type(space).__name__ != "Discrete":
        raise Unsupported(
            "gym-action-space",
            f"the actions are {shown(space)}, not a Discrete space",
            hint="wrap the environment so that its actions are Discrete",
        )
    count, first = int(space.n), int(space.start)
    listed: Foreign = getattr(env.unwrapped, "actions", None)
    if isinstance(listed, EnumMeta):
        members: list[Foreign] = list(listed)
        named = {int(each.value): each.name for each in members if isinstance(each.value, int)}
        if set(named) >= set(range(first, first + count)):
            return tuple(named[first + at] for at in range(count))
    known = known_of(env).actions
    return known if len(known) == count else tuple(str(first + at) for at in range(count))
