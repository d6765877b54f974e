"""Verify: prove that no run of a policy fails, or show one that does.

``METHODS`` has every way to do that; a further one is one more file with a ``METHOD``, or comes
from outside. Each takes a :class:`Question` and returns a VerifyResult. ``explicit`` looks at
single states, ``box``, ``predicates`` and ``ic3`` at sets of them; ``auto`` runs the others,
``children`` some of them in processes of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from surefoot.errors import InputError, shown
from surefoot.objectives import Objective, handled_objective
from surefoot.options import VerifyOptions, chosen
from surefoot.options.keywords import VerifyChanges
from surefoot.policies import as_policy
from surefoot.records import VerifyResult
from surefoot.registry import Registry, of_class
from surefoot.tasks import require_task
from surefoot.tasks.task import Task
from surefoot.verify.certificate import PolicyCertificate, check_place
from surefoot.verify.method import Method, Numbers, states_text
from surefoot.verify.outside import UNCHECKED, taken
from surefoot.verify.question import ProgressCallback, Question

__all__ = ["METHODS", "UNCHECKED", "Method", "PolicyCertificate", "Question", "verify"]


METHODS: Registry[Method] = Registry(
    "verification method",
    code="bad-option",
    group="surefoot.methods",
    component=of_class("verification method", Method),
    package=__name__,
    constant="METHOD",
    made_by="Method",
    first=("auto",),
)
"""methods by name"""


def verify(
    task: Task,
    policy: object,
    *,
    objective: str | Objective = "safety",
    options: VerifyOptions | None = None,
    progress: ProgressCallback | None = None,
    watch: Callable[[str], object] | None = None,
    certificate: bool | str | Path = False,
    max_certificate_states: int | None = None,
    **changes: Unpack[VerifyChanges],
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
    settings = chosen(VerifyOptions, options, changes)
    method = METHODS[settings.method]
    check_predicates(settings)
    if not isinstance(certificate, bool | str | Path):
        raise InputError("bad-option", f"certificate is True or a path, not {shown(certificate)}")
    check_place(certificate)
    bound_policy = as_policy(policy, task, seed=settings.seed)
    handled_objective(objective, task, bound_policy, can_handle=method.can_handle)
    question = Question(
        task, bound_policy, settings, progress, certificate, watch, max_certificate_states
    )
    if watch is not None:
        watch(settings.method)
    result = method(question)
    result = result if settings.method in METHODS.built_in else taken(result, question)
    return replace(result, sampled=task.is_sampled)


def check_predicates(options: VerifyOptions) -> None:
    """Raise InputError if predicates are given to a method that has no use for them."""
    if options.predicates is None:
        return
    if options.method == "none" or not METHODS[options.method].takes_predicates:
        raise InputError("bad-option", "predicates are for the methods box, predicates and auto")


def progress_text(method: str, numbers: Numbers) -> str:
    """Return what a method tells its progress callback in words."""
    describe = METHODS[method].progress if method in METHODS.built_in else states_text
    return describe(method, numbers)
