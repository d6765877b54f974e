"""Verify: prove that no run of a policy fails, or show one that does.

``METHODS`` has every way to do that; a further one is one more entry. Each takes a :class:`Job` and
returns a VerifyResult.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, shown
from surefoot.fuzz import check_workers
from surefoot.options import VerifyOptions, check_word, chosen
from surefoot.policies import as_policy
from surefoot.results import VerifyResult
from surefoot.tasks import require_task
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task
from surefoot.verify.certificate import PolicyCertificate, check_place
from surefoot.verify.explicit import verify_explicit
from surefoot.verify.job import Job, ProgressCallback

__all__ = ["METHODS", "PolicyCertificate", "verify"]

METHODS: dict[str, Callable[[Job], VerifyResult]] = {"explicit": verify_explicit}


def verify(
    task: Task | PythonTask,
    policy: Any,
    *,
    options: VerifyOptions | None = None,
    progress: ProgressCallback | None = None,
    certificate: bool | str | Path = False,
    **changes: Any,
) -> VerifyResult:
    """Return whether runs of the policy from the start states can fail.

    The verdict is ``unsafe`` with a shortest failing run, ``safe`` if all start states were looked
    at and nothing that the policy reaches from them fails, and else ``unknown`` with a reason.
    With ``certificate``, a path or True for a file that goes when nobody needs it any more, a safe
    verdict comes with a certificate that can be checked. Options are those of
    :class:`VerifyOptions`, also as keywords. ``progress`` is called about ten times a second with
    states, expanded, depth, bytes and seconds.
    """
    task = require_task(task)
    how = chosen(VerifyOptions, options, changes)
    check_word("method", how.method, tuple(METHODS))
    for name in ("starts", "workers", "max_states"):
        if getattr(how, name) == 0:
            raise InputError("bad-option", f"{name} must be at least 1")
    check_workers(how.workers)
    if not isinstance(certificate, bool | str | Path):
        raise InputError("bad-option", f"certificate is True or a path, not {shown(certificate)}")
    check_place(certificate)
    who = as_policy(policy, task, seed=how.seed)
    return METHODS[how.method](Job(task, who, how, progress, certificate))
