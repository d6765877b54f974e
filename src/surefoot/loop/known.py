"""Faults as the loop keeps them: plain enough for a file, complete enough for repair."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from surefoot.errors import InputError
from surefoot.files import parse_line, text_lines
from surefoot.findings import run_from
from surefoot.results import Fault
from surefoot.suspects import Suspect
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

HINT = 'a line looks like {"state": {...}, "action": "...", "outcome": {...}, ...}'
MEMBERS: dict[str, type] = {
    "state": dict,
    "action": str,
    "outcome": dict,
    "alternatives": list,
    "steps": int,
    "step": int,
    "more_unknown": bool,
}


@dataclass(frozen=True)
class KnownFault:
    """A fault that was found in round ``iteration``, at ``step`` of a run of ``steps`` steps.

    ``finding`` is its file, ``checked`` whether the checker accepted it in time; both are None if
    it is not one of the smallest, which have files.
    """

    state: State
    action: str
    outcome: State
    alternatives: tuple[str, ...]
    steps: int
    step: int
    more_unknown: bool
    iteration: int
    finding: str | None = None
    checked: bool | None = None

    @property
    def key(self) -> tuple[State, str]:
        """What makes two faults the same."""
        return self.state, self.action

    def line(self) -> str:
        """Return the fault as it stands in the file of its round."""
        content = {name: self.to_dict()[name] for name in MEMBERS}
        return json.dumps(content, default=repr) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return everything about the fault as plain data."""
        return {
            "state": self.state.to_dict(),
            "action": self.action,
            "outcome": self.outcome.to_dict(),
            "alternatives": list(self.alternatives),
            "steps": self.steps,
            "step": self.step,
            "more_unknown": self.more_unknown,
            "iteration": self.iteration,
            "finding": self.finding,
            "checked": self.checked,
        }


def known(fault: Fault, iteration: int) -> KnownFault:
    """Return a fault as it was found in this round."""
    return KnownFault(
        state=fault.state,
        action=fault.action,
        outcome=fault.outcome,
        alternatives=fault.alternatives,
        steps=fault.run.steps,
        step=fault.step,
        more_unknown=fault.has_unknown_alternatives,
        iteration=iteration,
    )


def suspected(suspect: Suspect, iteration: int) -> KnownFault:
    """Return a suspect as it was found in this round; its outcome is that of the run."""
    return KnownFault(
        state=suspect.state,
        action=suspect.action,
        outcome=suspect.run.states[suspect.step + 1],
        alternatives=suspect.alternatives,
        steps=suspect.run.steps,
        step=suspect.step,
        more_unknown=True,
        iteration=iteration,
    )


def read_plain(path: Path) -> list[dict[str, Any]]:
    """Return the faults of a file as plain data. Raises InputError if that is something else."""
    found = []
    for number, text in text_lines(path):
        try:
            found.append(_checked(parse_line(text, hint=HINT)))
        except InputError as error:
            error.at(file=str(path), place=str(number))
            raise
    return found


def _checked(content: Any) -> dict[str, Any]:
    if isinstance(content, dict) and set(content) == set(MEMBERS):
        is_right = all(type(content[name]) is kind for name, kind in MEMBERS.items())
        if is_right and all(isinstance(name, str) for name in content["alternatives"]):
            return content
    raise InputError("bad-faults", "this is no fault", hint=HINT)


def read_known(
    path: Path, task: Task, iteration: int, findings: Iterable[Mapping[str, Any]]
) -> list[KnownFault]:
    """Return the faults of a file, in states of the task, with the findings that there are."""
    faults = [_known(content, task, iteration, path) for content in read_plain(path)]
    for one in findings:
        at, found = one["fault"], {"finding": one["file"], "checked": one["checked"]}
        if not 0 <= at < len(faults):
            raise InputError("bad-faults", "a finding is about none of the faults", file=str(path))
        faults[at] = replace(faults[at], **found)
    return faults


def _known(content: dict[str, Any], task: Task, iteration: int, path: Path) -> KnownFault:
    state, outcome = (_state(content[name], task, path) for name in ("state", "outcome"))
    values = {**content, "state": state, "outcome": outcome}
    return KnownFault(
        **{**values, "alternatives": tuple(content["alternatives"])}, iteration=iteration
    )


def _state(content: dict[str, Any], task: Task, path: Path) -> State:
    run = run_from({"states": [content], "actions": []}, task, file=path)
    state: State = run.start
    return state
