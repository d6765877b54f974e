"""Records of repairs: which faults are gone, by which policies, in one file that can be checked.

It is one JSON object:

* ``surefoot`` (version), ``repair`` (version of the format: 1), ``task`` as in certificates
* ``before`` and ``after``: the policies, as in findings
* ``variables``, and ``faults``: state (the values of the variables in their order), action,
  alternatives, and what was decided there ``before`` (null: nothing that can be taken) and is
  decided ``after``; ``any_other``: alternatives are not asked for
* ``distance``: the sum of the absolute changes of parameters
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from surefoot import __version__
from surefoot.certificates import (
    TASK_MEMBERS,
    checkers_policy,
    json_piece,
    model_of,
    run_checker,
    task_member,
    write_pieces,
)
from surefoot.checker.repairs import check_repair
from surefoot.errors import InputError, shown
from surefoot.files import read_json
from surefoot.findings import FRAME, Finding
from surefoot.findings.making import policy_member
from surefoot.findings.sources import check_same_policy, check_same_task, never_stuck
from surefoot.policies import Policy
from surefoot.tasks.task import Task

VERSION = 1


class RepairRecord:
    """A repair that somebody else can check: make one with :func:`repair_record`, or read one with
    :func:`read_repair`. One that was read knows its task and policies by name only.
    """

    def __init__(self, content: Mapping[str, Any], *, file: Path | None = None) -> None:
        self.content = content
        self.file = file

    def about(self, which: str) -> Finding:
        """Return task and policy ``before`` or ``after`` as findings say them."""
        said = {"task": self.content["task"], "policy": self.content[which]}
        return Finding(said, file=self.file)

    def check(
        self,
        task: Task,
        before: Policy | None,
        after: Policy | None,
        *,
        max_seconds: float | None = None,
    ) -> str | None:
        """Return if the checker accepts the record: None, or why the distance was not recomputed.

        The decisions of a policy that is None are those of the record. Raises CertificateRejected,
        OutOfBudget, and InputError if task or policies are not those of the record.
        """
        check_same_task(self.about("before"), task)
        asked = {}
        for which, policy in (("before", before), ("after", after)):
            if policy is not None:
                check_same_policy(self.about(which), policy)
            asked[which] = None if policy is None else never_stuck(checkers_policy(task, policy))
        parameters = both_parameters(before, after)
        given = None if isinstance(parameters, str) else parameters

        def check(model: Any, content: Any, *, policy: Any, max_seconds: float | None) -> None:
            check_repair(model, content, parameters=given, max_seconds=max_seconds, **policy)

        names = _actions(self.content)
        run_checker(check, model_of(task, names), self.content, asked, max_seconds)
        return parameters if isinstance(parameters, str) else None

    def write(self, path: str | Path) -> None:
        """Write the record as a JSON file, which is there completely or not at all.

        Raises InputError (``file-exists``) rather than to replace a file that is no such record.
        """
        file = Path(path)
        if file.exists() and not _is_record(file):
            raise InputError("file-exists", "a file that is no repair is there", file=str(path))
        write_pieces(file, [json_piece(dict(self.content)), "\n"], what="repair")


def repair_record(
    before: Policy, after: Policy, faults: Iterable[Any], *, distance: float, any_other: bool
) -> RepairRecord:
    """Return the record of a repair, with what both policies decide in the state of each fault."""
    task = before.task
    listed = list(faults)
    decided = after.decide_all([fault.state for fault in listed])
    content = {
        "surefoot": __version__,
        "repair": VERSION,
        "task": dict(task_member(task)),
        "before": policy_member(before),
        "after": policy_member(after),
        "variables": list(task.names),
        "faults": [_fault(fault, before, now) for fault, now in zip(listed, decided, strict=True)],
        "any_other": any_other,
        "distance": distance,
    }
    return RepairRecord(content)


def _fault(fault: Any, before: Policy, now: str) -> dict[str, Any]:
    try:
        was: str | None = before.decide(fault.state)
    except InputError as error:
        if not error.code.startswith("policy-"):
            raise
        was = None
    return {
        "state": [fault.state[name] for name in before.task.names],
        "action": fault.action,
        "alternatives": list(fault.alternatives),
        "before": was,
        "after": now,
    }


def _actions(content: Mapping[str, Any]) -> list[str]:
    """Return the names of actions: of Python-defined tasks no others are known."""
    names: list[Any] = []
    faults = content.get("faults")
    for fault in faults if isinstance(faults, list) else []:
        if isinstance(fault, Mapping):
            more = fault.get("alternatives")
            names += [fault.get("action"), fault.get("before"), fault.get("after")]
            names += more if isinstance(more, list) else []
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


# -- files -------------------------------------------------------------------------------------


def read_repair(path: str | Path) -> RepairRecord:
    """Return the record of a file, of which only the frame is checked; ``check`` does the rest."""
    return repair_from(read_json(path), path)


def repair_from(content: Any, path: str | Path) -> RepairRecord:
    """Return the record that was read from a file. Raises InputError (``not-a-repair``)."""
    if not isinstance(content, dict) or "repair" not in content:
        raise _no_repair(path, "the file is no repair")
    version = content["repair"]
    if version != VERSION or isinstance(version, bool):
        message = f"this is a repair of version {shown(version)}"
        hint = f"Surefoot {__version__} reads version {VERSION}"
        raise InputError("repair-version", message, file=str(path), hint=hint)
    members = {"task": TASK_MEMBERS, "before": FRAME["policy"], "after": FRAME["policy"]}
    for name, wanted in members.items():
        member = content.get(name)
        is_right = isinstance(member, dict) and all(
            key in member and isinstance(member[key], kind) for key, kind in wanted.items()
        )
        if not is_right:
            raise _no_repair(path, f"the repair does not say which {name}")
    return RepairRecord(content, file=Path(path))


def _no_repair(path: str | Path, message: str) -> InputError:
    return InputError("not-a-repair", message, file=str(path))


def _is_record(file: Path) -> bool:
    try:
        read_repair(file)
    except InputError as error:
        return error.code == "repair-version"
    return True


# -- parameters --------------------------------------------------------------------------------


def both_parameters(
    before: Policy | None, after: Policy | None
) -> tuple[list[float], list[float]] | str:
    """Return the parameters of two policies that can be compared, or why they cannot be."""
    if before is None or after is None:
        return "a policy was not read"
    old, new = before.model, after.model
    if old is None or new is None:
        return "a policy is no learned model"
    if not _is_extended(_fixed(old), _fixed(new)):
        return "the policies differ in more than parameters"
    return _parameters(old), _parameters(new)


def _parts(model: Any) -> list[Any]:
    return [model.network, model.trees] if model.kind == "corrected" else [model]


def _parameters(model: Any) -> list[float]:
    """Return the values of leaves, and weights and biases of the last layer."""
    found: list[float] = []
    for part in _parts(model):
        if part.kind == "network":
            last = part.layers[-1]
            found += np.column_stack([last.weights, last.biases]).ravel().tolist()
        elif part.kind == "trees":
            found += part.values.tolist()
    return found


def _fixed(model: Any) -> dict[str, Any]:
    """Return what a repair leaves as it is: for arrays, it may append to them."""
    found: dict[str, Any] = {"inputs": model.num_inputs, "outputs": model.num_outputs}
    for part in _parts(model):
        if part.kind == "network":
            found |= {f"weights {n}": one.weights for n, one in enumerate(part.layers[:-1])}
            found |= {f"biases {n}": one.biases for n, one in enumerate(part.layers[:-1])}
            found["last"] = part.layers[-1].weights.shape
        elif part.kind == "trees":
            names = ("roots", "features", "thresholds", "left", "right")
            found |= {name: getattr(part, name) for name in names}
        else:
            found["rules"] = None
    return found


def _is_extended(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Return whether everything is as it was, but for what was appended."""
    for name, value in old.items():
        if name not in new or name == "rules":
            return False
        other = new[name]
        if isinstance(value, np.ndarray) and value.ndim == 1:
            other = other[: len(value)]
        if not np.array_equal(value, other):
            return False
    return True
