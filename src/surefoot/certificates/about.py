"""What a certificate says about its task, and whether that is the task at hand."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from surefoot.errors import InputError, quoted, shown
from surefoot.tasks.identity import short_identity
from surefoot.tasks.task import Task

_MEMBERS: weakref.WeakKeyDictionary[object, dict[str, object]] = weakref.WeakKeyDictionary()


def task_member(task: Task) -> dict[str, Any]:
    """Return what a certificate says about its task: computed once, a hash takes its time."""
    member = _MEMBERS.get(task)
    if member is None:
        source = task.source
        member = _MEMBERS[task] = {
            "name": task.name,
            "sha256": identity_of(task),
            "source": None if source is None else source.text,
            "options": {} if source is None else source.words(),
        }
    return member


def identity_of(task: Task) -> str:
    """Return the SHA-256 by which certificates know their task; empty for Python-defined ones."""
    return task.sha256 or ""


def check_task(task: Task, claimed: object) -> None:
    """Raise InputError if what a certificate says about its task does not fit this one.

    Where it says nothing at all there is nothing to compare: the checker rejects it.
    """
    if not isinstance(claimed, Mapping):
        return
    digest = claimed.get("sha256")
    if isinstance(digest, str) and task.has_sha256(digest):
        return
    raise InputError(
        "certificate-other-task",
        f"the certificate is about a task with SHA-256 {_short(digest)}, "
        f"but {quoted(task.name)} has {_short(identity_of(task))}",
        hint="the task has changed since, or other files or options are needed",
    )


def _short(digest: object) -> str:
    if not isinstance(digest, str):
        return shown(digest)
    return quoted(short_identity(digest)) if digest else "none (Python code defines it)"
