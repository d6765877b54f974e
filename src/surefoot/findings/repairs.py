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
    checkers_policy,
    json_piece,
    model_of,
    run_checker,
    task_member,
)
from surefoot.checker.repairs import check_repair
from surefoot.errors import InputError
from surefoot.files import read_json, write_pieces
from surefoot.findings import Finding
from surefoot.findings.making import policy_part
from surefoot.findings.sources import check_same_policy, check_same_task, never_stuck
from surefoot.policies import Policy
from surefoot.records import Fault
from surefoot.records.evidence import VERSION, RepairedFault, RepairFile, repair_file
from surefoot.records.files import members
from surefoot.records.parts import TaskPart
from surefoot.tasks.task import Task


class RepairRecord:
    """A repair that others can check: make one with :func:`repair_record`, or read one with
    :func:`read_repair`. One that was read knows its task and policies by name only.
    """

    def __init__(self, record: RepairFile, *, file: Path | None = None) -> None:
        self.record = record
        self.file = file

    @property
    def content(self) -> dict[str, object]:
        """The content of the record's file."""
        return members(self.record)

    def about(self, which: str) -> Finding:
        """Return task and policy ``before`` or ``after`` as findings say them."""
        names = {"task": members(self.record.task)}
        names["policy"] = members(self.record.before if which == "before" else self.record.after)
        return Finding(names, file=self.file)

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

        names = _actions(self.record)
        run_checker(check, model_of(task, names), self.content, asked, max_seconds)
        return parameters if isinstance(parameters, str) else None

    def write(self, path: str | Path) -> None:
        """Write the record as a JSON file, which is there completely or not at all.

        Raises InputError (``file-exists``) rather than to replace a file that is not such a record.
        """
        file = Path(path)
        if file.exists() and not _is_record(file):
            raise InputError(
                "file-exists",
                "there is already a file here, and it is not a repair",
                file=str(path),
            )
        write_pieces(file, [json_piece(self.content), "\n"], what="repair")


def repair_record(
    before: Policy, after: Policy, faults: Iterable[Fault], *, distance: float, any_other: bool
) -> RepairRecord:
    """Return the record of a repair, with what both policies decide in the state of each fault."""
    task = before.task
    listed = list(faults)
    decided = after.decide_all([fault.state for fault in listed])
    record = RepairFile(
        surefoot=__version__,
        repair=VERSION,
        task=TaskPart(**task_member(task)),
        before=policy_part(before),
        after=policy_part(after),
        variables=list(task.names),
        faults=[_fault(fault, before, now) for fault, now in zip(listed, decided, strict=True)],
        any_other=any_other,
        distance=distance,
    )
    return RepairRecord(record)


def _fault(fault: Fault, before: Policy, now: str) -> RepairedFault:
    try:
        was: str | None = before.decide(fault.state)
    except InputError as error:
        if not error.code.startswith("policy-"):
            raise
        was = None
    return RepairedFault(
        state=[fault.state[name] for name in before.task.names],
        action=fault.action,
        alternatives=list(fault.alternatives),
        before=was,
        after=now,
    )


def _actions(record: RepairFile) -> list[str]:
    """Return the names of actions: of Python-defined tasks no others are known."""
    names: dict[str | None, None] = {}
    for fault in record.faults:
        names |= dict.fromkeys([fault.action, fault.before, fault.after, *fault.alternatives])
    return [name for name in names if name is not None]


# -- files -------------------------------------------------------------------------------------


def read_repair(path: str | Path) -> RepairRecord:
    """Return the record of a file; whether what it says is true is for ``check`` to tell."""
    return repair_from(read_json(path), path)


def repair_from(content: object, path: str | Path) -> RepairRecord:
    """Return the record that was read from a file. Raises InputError (``not-a-repair``,
    ``repair-version``).
    """
    try:
        return RepairRecord(repair_file(content), file=Path(path))
    except InputError as error:
        raise error.at(file=str(path)) from None


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
        return "a policy is not a learned model"
    if not _is_extended(_fixed(old), _fixed(new)):
        return "the policies differ in more than parameters"
    return _parameters(old), _parameters(new)


def _parts(model: Any) -> list[Any]:
    return [model.network, model.trees] if model.kind == "corrected" else [model]


def _parameters(model: object) -> list[float]:
    """Return the values of leaves, and weights and biases of the last layer."""
    parameters: list[float] = []
    for part in _parts(model):
        if part.kind == "network":
            last = part.layers[-1]
            parameters += np.column_stack([last.weights, last.biases]).ravel().tolist()
        elif part.kind == "trees":
            parameters += part.values.tolist()
    return parameters


def _fixed(model: Any) -> dict[str, object]:
    """Return what a repair leaves as it is: for arrays, it may append to them."""
    members: dict[str, object] = {"inputs": model.num_inputs, "outputs": model.num_outputs}
    for part in _parts(model):
        if part.kind == "network":
            members |= {f"weights {n}": layer.weights for n, layer in enumerate(part.layers[:-1])}
            members |= {f"biases {n}": layer.biases for n, layer in enumerate(part.layers[:-1])}
            members["last"] = part.layers[-1].weights.shape
        elif part.kind == "trees":
            names = ("roots", "features", "thresholds", "left", "right")
            members |= {name: getattr(part, name) for name in names}
        else:
            members["rules"] = None
    return members


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
