"""Verify: prove that no run of a policy fails, or show one that does.

``METHODS`` has every way to do that; a further one is one more entry. Each takes a :class:`Job` and
returns a VerifyResult. ``explicit`` looks at single states, ``box``, ``predicates`` and ``ic3`` at
sets of them; ``auto`` runs the others, ``children`` some of them in processes of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, shown
from surefoot.fuzz import check_workers
from surefoot.options import VerifyOptions, check_word, chosen
from surefoot.policies import as_policy
from surefoot.results import VerifyResult
from surefoot.tasks import require_task
from surefoot.tasks.task import Task
from surefoot.verify.certificate import PolicyCertificate, check_place
from surefoot.verify.explicit import verify_explicit
from surefoot.verify.job import SYMBOLIC, Job, ProgressCallback, check_symbolic

__all__ = ["METHODS", "PolicyCertificate", "verify"]


def _later(method: str) -> Callable[[Job], VerifyResult]:
    """Return a method whose module is imported when it is asked for: some need large libraries."""

    def run(job: Job) -> VerifyResult:
        module = import_module(f"surefoot.verify.{method}")
        found: VerifyResult = getattr(module, f"verify_{method}")(job)
        return found

    return run


METHODS: dict[str, Callable[[Job], VerifyResult]] = {
    **{name: _later(name) for name in ("auto", "box", "predicates", "ic3")},
    "explicit": verify_explicit,
}


def verify(
    task: Task,
    policy: Any,
    *,
    options: VerifyOptions | None = None,
    progress: ProgressCallback | None = None,
    watch: Callable[[str], object] | None = None,
    certificate: bool | str | Path = False,
    max_certificate_states: int | None = None,
    **changes: Any,
) -> VerifyResult:
    """Return whether runs of the policy from the start states can fail.

    The verdict is ``unsafe`` with a failing run, ``safe`` if it was proved for all start states
    that no run fails, and else ``unknown`` with a reason. With ``certificate``, a path or True for
    a file that goes when nobody needs it any more, a safe verdict comes with a certificate that can
    be checked; one of more than ``max_certificate_states`` single states is not written. Options
    are those of :class:`VerifyOptions`, also as keywords. ``progress`` is called about ten times a
    second with states, expanded, depth, bytes and seconds, or with boxes, refinements, the bound on
    steps, bytes and seconds (:data:`ProgressCallback`); ``watch`` is told which method begins.
    """
    task = require_task(task)
    how = chosen(VerifyOptions, options, changes)
    check_word("method", how.method, tuple(METHODS))
    for name in ("starts", "workers", "max_states", "max_steps"):
        if getattr(how, name) == 0:
            raise InputError("bad-option", f"{name} must be at least 1")
    if how.predicates is not None and how.method in ("ic3", "explicit"):
        raise InputError("bad-option", "predicates are for the methods box, predicates and auto")
    check_workers(how.workers)
    if not isinstance(certificate, bool | str | Path):
        raise InputError("bad-option", f"certificate is True or a path, not {shown(certificate)}")
    check_place(certificate)
    who = as_policy(policy, task, seed=how.seed)
    job = Job(task, who, how, progress, certificate, watch, max_certificate_states)
    if how.method in SYMBOLIC:
        check_symbolic(job, how.method)
    if watch is not None:
        watch(how.method)
    return METHODS[how.method](job)
