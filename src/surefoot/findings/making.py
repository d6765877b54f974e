"""Making a finding of a fault, a bug or a run: what is found, written down as plain data.

The certificates stand in it as they are; :mod:`surefoot.findings.writing` turns them into text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET

from surefoot import __version__
from surefoot.certificates import task_member
from surefoot.errors import InputError, shown
from surefoot.policies import Policy, as_policy
from surefoot.records import Bug, Fault, Made, Run
from surefoot.records.documents import ChangePart, MadePart
from surefoot.records.evidence import (
    VERSION,
    FindingBug,
    FindingFault,
    FindingHead,
    FindingRun,
)
from surefoot.records.files import members
from surefoot.records.parts import PolicyPart, TaskPart
from surefoot.tasks import require_task
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.findings import Finding

Kind = Literal["fault", "bug", "run"]
ORDER = ("step", "state", "action", "outcome", "alternatives")
"""in which the first members of a fault stand in a file"""


def finding_of(task: Task, policy: object, subject: Fault | Bug | Run, *, seed: int = 0) -> Finding:
    """Return the finding of a fault, a bug or a failing run.

    ``seed`` is that of the fuzzing which found the run. Raises OutOfBudget if the certificates
    cannot be made in time.
    """
    from surefoot.findings import Finding

    task = require_task(task)
    bound_policy = as_policy(policy, task)
    kind, run = _kind_and_run(subject)
    head = FindingHead(
        surefoot=__version__,
        finding=VERSION,
        kind=kind,
        task=TaskPart(**task_member(task)),
        policy=policy_part(bound_policy),
        run=_run_part(run, task, seed),
    )
    content = members(head)
    if isinstance(subject, Fault):
        content |= _of_fault(subject)
    elif isinstance(subject, Bug):
        content |= _of_bug(subject)
    return Finding(content, task=task, policy=bound_policy)


def _kind_and_run(subject: object) -> tuple[Kind, Run]:
    if isinstance(subject, Run) and subject.is_complete:
        return "run", subject
    if (
        isinstance(subject, Fault)
        and subject.run is not None
        and subject.make_certificates is not None
    ):
        return "fault", subject.run
    if isinstance(subject, Bug) and subject.failing is not None:
        return "bug", subject.failing
    raise InputError(
        "not-a-finding",
        f"{shown(subject)} is neither a fault, nor a bug, nor a run with all states",
    )


def policy_part(policy: Policy) -> PolicyPart:
    """Return what files say about their policy; its interface by file, or else as data."""
    interface: str | dict[str, object] | None = None
    if policy.interface is not None:
        file = policy.interface.origin.file
        interface = policy.interface.to_dict() if file is None else file
    return PolicyPart(
        name=policy.name,
        sha256=policy.sha256,
        interface=None if interface == policy.name else interface,
        unfiltered=policy.unfiltered,
    )


def _run_part(run: Run, task: Task, seed: int) -> FindingRun:
    return FindingRun(
        run=run.run,
        seed=seed,
        known_reachable=run.is_known_reachable,
        made=UNSET if run.made is None else _made_part(run.made),
        variables=list(task.names),
        actions=list(run.actions),
        states=[_row(state, task) for state in run.states],
    )


def _made_part(made: Made) -> MadePart:
    changes = [ChangePart(**change.to_dict()) for change in made.changes]
    return MadePart(reached=made.reached.to_dict(), changes=changes)


def _row(state: State, task: Task) -> list[object]:
    return [state[name] for name in task.names]


def _of_fault(fault: Fault) -> dict[str, object]:
    evidence, task = fault.certificates, fault.certificates.outcome.task
    assert fault.outcome is not None  # it has certificates
    alternatives = fault.alternatives or tuple(evidence.alternatives)
    certified = evidence.alternatives
    about = FindingFault(
        step=fault.step,
        state=_row(fault.state, task),
        action=fault.action,
        outcome=_row(fault.outcome, task),
        alternatives=list(alternatives),
        uncertified=[name for name in alternatives if name not in certified],
        more_unknown=fault.has_unknown_alternatives,
        radius=fault.radius,
        deviations=_least(fault),
    )
    return {
        "fault": {name: getattr(about, name) for name in ORDER} | members(about),
        "certificates": {
            "outcome": evidence.outcome,
            "alternatives": dict(certified),
            "deviations": [] if fault.deviations is None else list(fault.deviations.certificates),
        },
    }


def _least(fault: Fault) -> int | Literal["inf"] | None:
    if fault.deviations is None or fault.deviations.least is None:
        return None
    return "inf" if math.isinf(fault.deviations.least) else int(fault.deviations.least)


def _of_bug(bug: Bug) -> dict[str, object]:
    certificate = bug.certificate
    state = _row(bug.state, certificate.task)
    about = FindingBug(step=bug.step, state=state, radius=bug.radius, deviations=None)
    return {
        "bug": members(about),
        "certificates": {"state": certificate, "deviations": []},
    }
