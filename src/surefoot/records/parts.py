"""What several kinds of files say in the same words: which task, and which policy."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

PlainState = dict[str, object]
"""a state as documents have it"""
Row = list[object]
"""a state as files have it that say once which variables there are"""
Values = TypeVar("Values")


class Part(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """An object in a file; a member that it does not have is refused."""


class TaskPart(Part, frozen=True, kw_only=True):
    """A task by name: ``source`` and ``options`` are as they are given on the command line."""

    name: str
    sha256: str
    source: str | None
    options: dict[str, object]


class PolicyPart(Part, frozen=True, kw_only=True):
    """A policy by name; its interface is a file, or what stands in one."""

    name: str
    sha256: str | None
    interface: str | dict[str, object] | None
    unfiltered: bool


class FaultPart(Struct, Generic[Values], frozen=True, kw_only=True):
    """What is said of a fault wherever it is written: the decision, and what would be safe."""

    state: Values
    action: str
    alternatives: list[str]
