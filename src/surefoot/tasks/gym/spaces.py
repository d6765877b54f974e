"""Observations as values of variables: one for each number of a Box, for each Discrete part and for
each text, in the order of the space.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from surefoot.errors import Unsupported, shown
from surefoot.tasks.gym.known import Foreign
from surefoot.tasks.observed import Observed

WHOLE = "observation"
"""the name of an observation that has no parts"""
MAX_VALUES = 100_000


@dataclass(frozen=True)
class ObservedLeaf:
    """A variable of an observation; a Discrete one has ``values``."""

    name: str
    kind: str
    values: range = range(0)


def leaves_of(space: Foreign) -> list[ObservedLeaf]:
    """Return the variables of the observations of a space. Raises Unsupported."""
    leaves: list[ObservedLeaf] = []
    for name, part in _parts(space, ""):
        leaves += _leaves(name, part)
        if len(leaves) > MAX_VALUES:
            raise _unsupported(f"observations of more than {MAX_VALUES:,} numbers")
    return leaves


def _parts(space: Foreign, name: str) -> Iterator[tuple[str, Foreign]]:
    kind = type(space).__name__
    if kind not in ("Dict", "Tuple"):
        yield name, space
        return
    inner = space.spaces.items() if kind == "Dict" else enumerate(space.spaces)
    for key, part in inner:
        yield from _parts(part, f"{name}.{key}" if name else str(key))


def _leaves(name: str, space: Foreign) -> list[ObservedLeaf]:
    kind, name = type(space).__name__, name or WHOLE
    if kind == "Discrete":
        first = int(space.start)
        return [ObservedLeaf(name, "discrete", range(first, first + int(space.n)))]
    if kind == "MultiDiscrete":
        counts = [int(count) for count in space.nvec.flatten()]
        return [ObservedLeaf(f"{name}[{i}]", "discrete", range(n)) for i, n in enumerate(counts)]
    if kind == "Text":
        return [ObservedLeaf(name, "text")]
    if kind not in ("Box", "MultiBinary"):
        raise _unsupported(f"observations of {shown(space)}")
    size = 1
    for length in space.shape:
        size *= int(length)
    if not space.shape:
        return [ObservedLeaf(name, "value")]
    return [ObservedLeaf(f"{name}[{i}]", "value") for i in range(min(size, MAX_VALUES + 1))]


def _unsupported(what: str) -> Unsupported:
    hint = "say what tells states apart: key=function, --task.key FILE.py:NAME"
    return Unsupported("gym-observation-space", f"{what} are no states", hint=hint)


def values_of(space: Foreign, observation: Foreign) -> tuple[Foreign, ...]:
    """Return the values of the variables of an observation."""
    kind = type(space).__name__
    parts: list[tuple[Foreign, Foreign]] = []
    if kind == "Dict":
        parts = [(part, observation[key]) for key, part in space.spaces.items()]
    elif kind == "Tuple":
        parts = list(zip(space.spaces, observation, strict=True))
    elif hasattr(observation, "flatten"):
        return tuple(observation.flatten().tolist())
    else:
        return (observation.item() if hasattr(observation, "item") else observation,)
    return tuple(value for part, inner in parts for value in values_of(part, inner))


def observed_of(leaves: list[ObservedLeaf]) -> tuple[Observed, ...]:
    """Return what policies are fed with observations: one-hot where they are Discrete. Empty if
    there is text, which is not numbers.
    """
    if any(leaf.kind == "text" for leaf in leaves):
        return ()
    observed: list[Observed] = []
    for leaf in leaves:
        hot = [Observed(one_hot=((leaf.name, value),)) for value in leaf.values]
        observed += hot or [Observed(leaf.name)]
    return tuple(observed)
