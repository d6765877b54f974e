"""Faults in the files of a campaign, one line for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from surefoot.errors import InputError
from surefoot.files import parse_line, text_lines
from surefoot.findings import run_from
from surefoot.loop import with_findings
from surefoot.records import Fault
from surefoot.records.faults import SURE_LOSS
from surefoot.records.files import record_from
from surefoot.records.lines import FaultLine, FindingPart
from surefoot.records.values import Interval
from surefoot.tasks.state import State, loose_state
from surefoot.tasks.task import Task

HINT = 'a line looks like {"state": {...}, "action": "...", "outcome": {...}, ...}'
ORDER = ("state", "action", "outcome", "alternatives", "steps", "step", "more_unknown")
ToState = Callable[[Mapping[str, object]], State]


def line_of(fault: Fault) -> str:
    """Return a fault as it stands in the file of its round."""
    content = fault.to_dict()
    return json.dumps({name: content[name] for name in ORDER}, default=repr) + "\n"


def read_known(
    path: Path,
    task: Task | None,
    iteration: int,
    findings: Iterable[FindingPart] = (),
    *,
    loss: Interval = SURE_LOSS,
) -> list[Fault]:
    """Return the faults of a file with the findings that there are; or suspects, with their loss.

    They are in states of the task, or in such as no task knows. Raises InputError if the file holds
    something else.
    """
    as_state: ToState = loose_state if task is None else _states_of(task, path)
    faults = [_fault(line, as_state, iteration, loss) for line in _lines(path)]
    try:
        return list(with_findings(faults, findings))
    except IndexError:
        message = "a finding is about none of the faults"
        raise InputError("bad-faults", message, file=str(path)) from None


def _lines(path: Path) -> Iterable[FaultLine]:
    for number, text in text_lines(path):
        try:
            content = parse_line(text, hint=HINT)
            yield record_from(content, FaultLine, code="bad-faults", what="a fault", hint=HINT)
        except InputError as error:
            error.file, error.place = str(path), f"{number}{error.place or ''}"
            raise


def _fault(line: FaultLine, as_state: ToState, iteration: int, loss: Interval) -> Fault:
    return Fault(
        state=as_state(line.state),
        action=line.action,
        alternatives=tuple(line.alternatives),
        outcome=as_state(line.outcome),
        step=line.step,
        has_unknown_alternatives=line.more_unknown,
        loss=loss,
        num_steps=line.steps,
        iteration=iteration,
    )


def _states_of(task: Task, path: Path) -> ToState:
    return lambda values: run_from({"states": [values], "actions": []}, task, file=path).start
