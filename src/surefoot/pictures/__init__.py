"""Pictures of states for tasks that bring none: ``PICTURES`` by name, each in a file of its own.

Families of tasks draw their states themselves (:mod:`surefoot.domains.pictures`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from surefoot.domains.pictures import Picture
from surefoot.registry import Registry, of_class
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

__all__ = ["PICTURES", "Drawing"]


@dataclass(frozen=True)
class Drawing:
    """A way to draw states: ``draw`` returns the picture of a state of a task."""

    name: str
    draw: Callable[[State, Task], Picture]


PICTURES: Registry[Drawing] = Registry(
    "picture",
    group="surefoot.pictures",
    component=of_class("picture", Drawing),
    package=__name__,
    constant="PICTURE",
    made_by="Drawing",
)
"""pictures by name"""
