"""Faults from files: findings, documents of ``surefoot faults``, and campaigns.

What is read is held against the task: faults of another task are refused by its SHA-256 where the
file says one, and else if a state or an action does not fit. A fault that is there twice is one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from surefoot.errors import InputError, SurefootError, nearest_hint, quoted
from surefoot.files import parse_line, read_json, text_lines
from surefoot.findings.runs import state_in
from surefoot.records import Fault
from surefoot.records.evidence import FaultFinding, finding_record
from surefoot.records.files import record_from
from surefoot.records.parts import FaultPart
from surefoot.tasks import require_task
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

CAMPAIGN = "campaign.json"
ROUND = re.compile(r"iteration-[0-9]{3,9}\.jsonl", re.ASCII)
LOOKS_LIKE = 'a fault looks like {"state": {...}, "action": "...", "alternatives": ["..."]}'
FAULTS_ARE = (
    "faults are in findings, in what surefoot faults --json prints, and in the directory of a "
    "campaign"
)
Place = tuple[Path, str | None]
"""a file, and where in it"""


def read_faults(paths: Iterable[str | Path], task: Task) -> list[Fault]:
    """Return the faults of files and folders, each once, in the order in which they are met.

    A path is a finding of a fault, a folder of findings, a document of ``surefoot faults --json``,
    the directory of a campaign, or its ``faults/iteration-001.jsonl``. In a folder findings of
    other kinds are passed over. Alternatives with a certificate come first. Raises InputError that
    names file and place for what is damaged, no fault, or one of another task.
    """
    task = require_task(task)
    demands: dict[tuple[bytes, str], tuple[State, dict[str, None]]] = {}
    for path in paths:
        for (file, place), content in _faults_at(Path(path), task):
            try:
                state, action, alternatives = _fault_parts(content, task)
            except SurefootError as error:
                # The place of a variable in the model says nothing about this file.
                error.file, error.place = str(file), place
                raise
            known = demands.setdefault((state.packed, action), (state, {}))
            known[1].update(dict.fromkeys(alternatives))
    return [Fault(state, action, tuple(names)) for (_, action), (state, names) in demands.items()]


# -- files -------------------------------------------------------------------------------------


def _faults_at(path: Path, task: Task) -> Iterator[tuple[Place, object]]:
    """Yield the faults of a path as plain data, and where each stands."""
    if not _is_folder(path):
        yield from _faults_in_file(path, task, is_alone=True)
    elif (path / CAMPAIGN).is_file():
        _check_campaign(path / CAMPAIGN, task)
        for file in _listed(path / "faults", ROUND.fullmatch):
            yield from _faults_in_lines(file)
    else:
        for file in _listed(path, lambda name: name.endswith(".json")):
            yield from _faults_in_file(file, task, is_alone=False)


def is_campaign(path: Path) -> bool:
    """Return whether this is the directory of a campaign."""
    return _is_folder(path) and (path / CAMPAIGN).is_file()


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _listed(folder: Path, is_wanted: Callable[[str], object]) -> list[Path]:
    try:
        return [folder / name for name in sorted(os.listdir(folder)) if is_wanted(name)]
    except OSError as error:
        message = f"the folder cannot be read: {error.strerror}"
        raise InputError("file-not-readable", message, file=str(folder)) from None


def _faults_in_file(file: Path, task: Task, *, is_alone: bool) -> Iterator[tuple[Place, object]]:
    """Yield the faults of a file. One that has none is an error only if it was asked for alone."""
    if file.suffix == ".jsonl":
        if ROUND.fullmatch(file.name) and (campaign := file.parent.parent / CAMPAIGN).is_file():
            _check_campaign(campaign, task)
        yield from _faults_in_lines(file)
        return
    content = read_json(file)
    if isinstance(content, dict) and content.get("kind") == "fault":
        yield from _fault_of_finding(content, file, task)
    elif isinstance(content, dict) and isinstance(content.get("faults"), list):
        _check_task(content.get("task"), task, file)
        for number, each in enumerate(content["faults"]):
            yield (file, f"/faults/{number}"), each
    elif is_alone:
        raise InputError(
            "no-faults", "there are no faults in this file", file=str(file), hint=FAULTS_ARE
        )


def _faults_in_lines(file: Path) -> Iterator[tuple[Place, object]]:
    for number, text in text_lines(file):
        try:
            content = parse_line(text, hint=LOOKS_LIKE)
        except InputError as error:
            raise error.at(file=str(file), place=str(number)) from None
        yield (file, str(number)), content


def _fault_of_finding(
    content: dict[str, object], file: Path, task: Task
) -> Iterator[tuple[Place, object]]:
    """Yield the fault of a finding, alternatives with a certificate first."""
    import msgspec

    try:
        finding = finding_record(content)
    except InputError as error:
        raise error.at(file=str(file)) from None
    assert isinstance(finding, FaultFinding)  # that is its kind
    _check_task(content["task"], task, file)
    fault = finding.fault
    ordered = sorted(fault.alternatives, key=lambda name: name in fault.uncertified)
    state = dict(zip(finding.run.variables, fault.state, strict=False))
    if len(fault.state) != len(finding.run.variables):
        message = "a state does not have as many values as there are variables"
        raise InputError("bad-state", message, file=str(file), place="/fault")
    yield (file, "/fault"), msgspec.structs.replace(fault, state=state, alternatives=ordered)


# -- the same task -----------------------------------------------------------------------------


def _check_campaign(file: Path, task: Task) -> None:
    content = read_json(file)
    _check_task(content.get("task") if isinstance(content, dict) else None, task, file)


def _check_task(head: object, task: Task, file: Path) -> None:
    """Raise InputError (``fault-other-task``) if a file says that its faults are of another task.

    Whether tasks that Python code defines are the same is not known.
    """
    if not isinstance(head, Mapping):
        raise InputError(
            "no-faults", "the file does not say of which task its faults are", file=str(file)
        )
    digest = head.get("sha256") or ""
    if not isinstance(digest, str) or not task.has_sha256(digest):
        name = head.get("name")
        which = quoted(name) if isinstance(name, str) else "a task without name"
        raise InputError(
            "fault-other-task",
            f"the faults are of {which}, not of {quoted(task.name)} as it is now",
            file=str(file),
            place="/task",
        )


# -- single faults -----------------------------------------------------------------------------


def _fault_parts(content: object, task: Task) -> tuple[State, str, list[str]]:
    """Return state, action and alternatives of a fault. Raises InputError if one is invalid."""
    fault: FaultPart[object] = (
        content
        if isinstance(content, FaultPart)
        else record_from(
            content, FaultPart[object], code="bad-fault", what="a fault", hint=LOOKS_LIKE
        )
    )
    state = state_in(fault.state, None, task)
    applicable = [name for name in task.applicable(state) if name not in task.silent]
    for name in (fault.action, *fault.alternatives):
        _check_action(name, applicable, task)
    if fault.action in fault.alternatives:
        message = f"{quoted(fault.action)} is an alternative to itself"
        raise InputError("bad-fault", message)
    return state, fault.action, list(fault.alternatives)


def _check_action(name: str, applicable: list[str], task: Task) -> None:
    if name in applicable:
        return
    if task.action_number(name) is None:
        message = f"a fault is about the action {quoted(name)}, which the task does not have"
        hint = nearest_hint(name, task.actions)
        raise InputError("fault-other-task", message, hint=hint)
    message = f"the action {quoted(name)} cannot be taken in the state of the fault"
    raise InputError("bad-fault", message)
