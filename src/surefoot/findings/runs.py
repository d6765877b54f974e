"""Runs from plain data, of findings or as fuzzing writes them, in states of a task."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.records import Run, RunEnd
from surefoot.records.runs import Change, Made, Strategy
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.state import State
from surefoot.tasks.task import Feature, Task

PICKS = ("uniform", "greedy", "weighted")


def run_from(content: object, task: Task, *, file: str | Path | None = None) -> Run:
    """Return the run of plain data: ``states`` and ``actions``, as fuzzing writes them.

    States are objects, or lists if ``variables`` says in which order. Raises InputError if that is
    no run in states of the task; whether it fails is not asked.
    """
    if (
        not isinstance(content, Mapping)
        or not all(isinstance(content.get(name), list) for name in ("states", "actions"))
        or len(content["states"]) != len(content["actions"]) + 1
    ):
        raise InputError(
            "bad-run",
            "this is not a run: there must be states and actions, one action fewer",
            file=None if file is None else str(file),
            hint='as in {"states": [{"x": 0}, {"x": 1}], "actions": ["up"]}',
        )
    run = run_in(content, task, file=file)
    for action in run.actions:
        if Feature.ACTIONS in task.features and task.action_number(action) is None:
            raise InputError(
                "unknown-action",
                f"the task has no action {quoted(action)}",
                file=None if file is None else str(file),
                hint=nearest_hint(action, task.actions),
            )
    return run


def run_in(content: Mapping[str, Any], task: Task, *, file: str | Path | None) -> Run:
    """Return the run as ``run_from`` does, where lists of states and actions are known to be there.

    Whether the task has its actions is not asked.
    """
    try:
        names = content.get("variables")
        states = tuple(state_in(each, names, task) for each in content["states"])
        actions = tuple(map(_action_in, content["actions"]))
        if len(states) != len(actions) + 1:
            raise InputError("bad-run", "a run has one state more than actions")
        made = _made_in(content, task, states[0])
    except InputError as error:
        error.file, error.place = None if file is None else str(file), "/run"
        raise
    number, same = content.get("run", 0), content.get("same", [])
    return Run(
        run=number if type(number) is int else 0,
        states=states,
        actions=actions,
        result=RunEnd.FAIL,
        made=made,
        same=tuple(each for each in same if type(each) is int) if isinstance(same, list) else (),
        strategy=_strategy_in(content.get("strategy")),
    )


def _strategy_in(given: object) -> Strategy | None:
    """Return how fuzzing made a run; None if nothing that it may have written says it."""
    if not isinstance(given, dict) or given.get("bias") not in PICKS:
        return None
    lookahead = given.get("lookahead")
    return Strategy(given["bias"], lookahead if type(lookahead) is int else None)


def state_in(given: object, names: object, task: Task) -> State:
    """Return a state that a file holds: an object, or a list of values that goes with names."""
    if isinstance(given, list):
        if not isinstance(names, list) or len(names) != len(given):
            raise InputError("bad-state", "the state does not have one value for each variable")
        if not all(isinstance(name, str) for name in names):
            raise InputError("bad-state", "the name of a variable is not text")
        given = dict(zip(names, given, strict=True))
    if not isinstance(given, Mapping):
        raise InputError("bad-state", f"{shown(given)} is not a state")
    is_plain = has_description(task)
    for name, value in given.items():
        if isinstance(value, dict) or (is_plain and isinstance(value, list)):
            raise InputError("bad-state", f"the value of {quoted(str(name))} is not a value")
    try:
        return task.state({name: _frozen(value) for name, value in given.items()})
    except RecursionError:
        raise InputError("bad-state", "a value is nested too deeply") from None


def _frozen(value: object) -> object:
    """Return a value; lists, as JSON has them, become the tuples they were."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _action_in(given: object) -> str:
    if not isinstance(given, str):
        raise InputError("unknown-action", f"{shown(given)} is not a name of an action")
    return given


def _made_in(content: Mapping[str, object], task: Task, start: State) -> Made | None:
    """Return how the start was made. Where that is not said, nobody knows more than the start."""
    if content.get("known_reachable", True) is True and "made" not in content:
        return None
    made = content.get("made")
    if not isinstance(made, Mapping) or not isinstance(made.get("changes"), list):
        return Made(start, ())
    changes = [each for each in made["changes"] if isinstance(each, Mapping)]
    reached = state_in(made.get("reached"), None, task)
    return Made(reached, tuple(_change_in(each, task) for each in changes))


def _change_in(content: Mapping[str, object], task: Task) -> Change:
    state = state_in(content.get("state"), None, task)
    if "action" in content:
        return Change(state, action=_action_in(content["action"]))
    variable = str(content.get("variable"))
    return Change(state, variable=variable, value=state.get(variable))
