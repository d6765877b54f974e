"""Doctor: what a task contains, what looks unusual about it, and whether a policy fits it.

:func:`examine` fills a :class:`DoctorReport`: ``task`` looks at the task, ``policy`` at the policy
and its mapping, ``fidelity`` compares its decisions with those of the library it comes from.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Unpack

from surefoot.doctor.policy_report import PolicyFacts
from surefoot.doctor.report import DoctorReport, Remark
from surefoot.doctor.task import examine_task
from surefoot.options import DoctorOptions, chosen
from surefoot.options.keywords import DoctorChanges
from surefoot.tasks import require_task
from surefoot.tasks.task import Task

__all__ = ["DoctorReport", "PolicyFacts", "Remark", "examine"]


def examine(
    task: Task,
    policy: Any = None,
    *,
    options: DoctorOptions | None = None,
    **changes: Unpack[DoctorChanges],
) -> DoctorReport:
    """Return what the task contains and what looks unusual about it, and about a policy, if given.

    Errors of the model that the walks meet are findings; nothing is raised for them. A finding
    ``policy-differs`` says that a policy is not evaluated as the library evaluates it that it comes
    from. Options are those of :class:`DoctorOptions`, also as keywords.
    """
    task = require_task(task)
    settings = chosen(DoctorOptions, options, changes)
    begin = time.monotonic()
    report, walked = examine_task(task, settings)
    if policy is None:
        return report
    from surefoot.doctor.policy import examine_policy
    from surefoot.policies import as_policy

    given = as_policy(policy, task, seed=settings.seed)
    deadline = max(begin + settings.max_seconds, time.monotonic() + settings.max_seconds / 2)
    facts, findings = examine_policy(given, walked, seed=settings.seed, deadline=deadline)
    return replace(report, policy=facts, findings=(*report.findings, *findings))
