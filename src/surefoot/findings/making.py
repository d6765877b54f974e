"""Making a finding of a fault, a bug or a run: what is found, written down as plain data.

The certificates stand in it as they are; :mod:`surefoot.findings.writing` turns them into text.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from surefoot import __version__
from surefoot.certificates import task_member
from surefoot.errors import InputError, shown
from surefoot.policies import Policy, as_policy
from surefoot.results import Bug, Fault, Run
from surefoot.tasks import require_task
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

if TYPE_CHECKING:
    from surefoot.findings import Finding

VERSION = 1


def finding_of(task: Task, policy: Any, found: Fault | Bug | Run, *, seed: int = 0) -> Finding:
    """Return the finding of a fault, a bug or a failing run.

    ``seed`` is that of the fuzzing which found the run. Raises OutOfBudget if the certificates
    cannot be made in time.
    """
    from surefoot.findings import Finding

    task = require_task(task)
    who = as_policy(policy, task)
    kind, run = _kind_and_run(found)
    content: dict[str, Any] = {
        "surefoot": __version__,
        "finding": VERSION,
        "kind": kind,
        "task": dict(task_member(task)),
        "policy": policy_member(who),
        "run": _run_member(run, task, seed),
    }
    if isinstance(found, Fault):
        content |= _of_fault(found)
    elif isinstance(found, Bug):
        content |= _of_bug(found)
    return Finding(content, task=task, policy=who)


def _kind_and_run(found: Any) -> tuple[str, Run]:
    if isinstance(found, Run) and found.is_complete:
        return "run", found
    if isinstance(found, Fault):
        return "fault", found.run
    if isinstance(found, Bug) and found.failing is not None:
        return "bug", found.failing
    raise InputError(
        "not-a-finding", f"{shown(found)} is neither a fault, nor a bug, nor a run with all states"
    )


def policy_member(policy: Policy) -> dict[str, Any]:
    """Return what a finding says about its policy; its interface by file, or else as data."""
    interface: Any = None
    if policy.interface is not None:
        file = policy.interface.origin.file
        interface = policy.interface.to_dict() if file is None else file
    return {
        "name": policy.name,
        "sha256": policy.sha256,
        "interface": None if interface == policy.name else interface,
        "unfiltered": policy.unfiltered,
    }


def _run_member(run: Run, task: Task, seed: int) -> dict[str, Any]:
    made = {} if run.made is None else {"made": run.made.to_dict()}
    return {
        "run": run.run,
        "seed": seed,
        "known_reachable": run.is_known_reachable,
        **made,
        "variables": list(task.names),
        "actions": list(run.actions),
        "states": [_row(state, task) for state in run.states],
    }


def _row(state: State, task: Task) -> list[Any]:
    return [state[name] for name in task.names]


def _of_fault(fault: Fault) -> dict[str, Any]:
    evidence, task = fault.certificates, fault.certificates.outcome.task
    alternatives = fault.alternatives or tuple(evidence.alternatives)
    certified = evidence.alternatives
    return {
        "fault": {
            "step": fault.step,
            "state": _row(fault.state, task),
            "action": fault.action,
            "outcome": _row(fault.outcome, task),
            "alternatives": list(alternatives),
            "uncertified": [name for name in alternatives if name not in certified],
            "more_unknown": fault.has_unknown_alternatives,
            "radius": fault.radius,
            "deviations": _least(fault),
        },
        "certificates": {
            "outcome": evidence.outcome,
            "alternatives": dict(certified),
            "deviations": [] if fault.deviations is None else list(fault.deviations.certificates),
        },
    }


def _least(fault: Fault) -> int | str | None:
    if fault.deviations is None or fault.deviations.least is None:
        return None
    return "inf" if math.isinf(fault.deviations.least) else int(fault.deviations.least)


def _of_bug(bug: Bug) -> dict[str, Any]:
    certificate = bug.certificate
    state = _row(bug.state, certificate.task)
    return {
        "bug": {"step": bug.step, "state": state, "radius": bug.radius, "deviations": None},
        "certificates": {"state": certificate, "deviations": []},
    }
