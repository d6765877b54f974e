"""What is sent to where a job runs: all of it plain data and bytes."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec


class TaskSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task by its JANI text, or by an address that ``load_task`` takes."""

    kind: Literal["file", "address"]
    content: bytes


class PolicySource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy by the bytes of its file and the suffix of that, or by an address that
    ``load_policy`` takes. ``interface`` is that of the policy as it was given.
    """

    kind: Literal["file", "address"]
    content: bytes
    suffix: str = ""
    interface: dict[str, object] | None = None
    unfiltered: bool | None = None


class Pair(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What jobs work on: a task, and a policy unless the job makes one."""

    task: TaskSource
    policy: PolicySource | None = None

    @property
    def key(self) -> str:
        """What jobs call this pair: the same for equal pairs."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage by its registered name, the key of a pair, options, and further arguments: plain
    data, and files as bytes.
    """

    stage: str
    pair: str | None = None
    options: dict[str, object] = {}
    arguments: dict[str, object] = {}
    files: dict[str, bytes] = {}


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a job may use. None leaves it open. A result of more than ``max_answer_bytes`` counts as
    broken.
    """

    max_seconds: float | None = None
    memory_mb: int | None = None
    max_answer_bytes: int = 2**30


class Result(msgspec.Struct, frozen=True):
    """What a job returns: plain data, and files as bytes by name."""

    content: dict[str, object]
    files: dict[str, bytes] = {}


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that a worker needs for one job. ``scratch`` is a folder that goes with the worker."""

    job: Job
    pair: Pair | None
    scratch: str
    data_mb: int | None = None
    """a limit that the system enforces on the worker's memory"""
