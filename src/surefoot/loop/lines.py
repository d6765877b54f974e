"""The lines that the loop writes, one for each stage that is complete, and what they mean.

* ``begin``: the start states. ``before``, ``after``: an evaluation
* ``faults``: what fuzzing and the fault analysis found in a round, or the analysis of the run that
  verification found, or of where boxes get stuck (``from`` is ``fuzz``, ``verify`` or ``boxes``)
* ``repair``: where the repaired policy is, and what was changed. ``verify``: a verdict
* ``end``: no more rounds, why, and which policy is the best. ``result``: the last line

Each has ``seconds``, by stage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from surefoot.errors import InputError, shown
from surefoot.loop.store import Line
from surefoot.results import DecisionChange, EvaluateResult, Iteration, RepairDiff
from surefoot.tasks.state import State

NUMBER = (int, float)
TEXT = (str, type(None))
EVALUATION: dict[str, Any] = {"result": dict}
MEMBERS: dict[str, dict[str, Any]] = {
    "begin": {"starts": dict},
    "before": EVALUATION,
    "faults": {
        "iteration": int,
        "from": str,
        "runs": int,
        "unsafe_runs": int,
        "is_cut": bool,
        "new_faults": int,
        "unavoidable": int,
        "undecided": int,
        "why_undecided": TEXT,
        "faults": TEXT,
        "findings": list,
        "new_suspects": int,
        "suspects": TEXT,
    },
    "repair": {"iteration": int, "policy": str, "changes": dict},
    "verify": {
        "iteration": int,
        "result": dict,
        "certificate": TEXT,
        "checked": (bool, type(None)),
        "why_unchecked": TEXT,
    },
    "end": {"end": str, "reason": str, "best": int},
    "after": EVALUATION,
    "result": {"outcome": str, "reason": str, "final_policy": TEXT},
}
"""what stands in each kind of line, besides its number, kind, seconds, files and check"""

FINDING: dict[str, Any] = {"file": str, "checked": bool, "fault": int}
STARTS: dict[str, Any] = {
    "debugging": int,
    "evaluation": int,
    "all": bool,
    "disjoint": bool,
    "sha256": str,
}
CHANGES: dict[str, Any] = {
    "trees_added": int,
    "changed_parameters": int,
    "distance": NUMBER,
    "keep_states": int,
    "keep_lost": int,
    "diff": dict,
    "sha256": str,
}
DIFF: dict[str, Any] = {"states": int, "changed": int, "examples": list}
EXAMPLE: dict[str, Any] = {"state": dict, "before": str, "after": str}
VERDICT: dict[str, Any] = {
    "verdict": str,
    "method": str,
    "starts": int,
    "all_starts": bool,
    "states": int,
    "depth": int,
    "reason": TEXT,
}
"""besides, where the method has them: ``boxes``, ``failing_starts``, ``engines``"""
_KINDS: dict[str, Any] = {"int": int, "float": NUMBER, "str": str, "bool": bool}


def check_line(line: Any) -> None:
    """Raise InputError (``campaign-damaged``) if this is no line of a loop."""
    kind = line.get("kind") if isinstance(line, dict) else None
    if not isinstance(kind, str) or kind not in MEMBERS:
        raise _bad(f"there are no lines of kind {shown(kind)}")
    _check(line, {**MEMBERS[kind], "seconds": dict}, kind)
    for name, value in line["seconds"].items():
        _check({name: value}, {name: NUMBER}, "seconds")
    if kind == "begin":
        _check(line["starts"], STARTS, kind)
    elif kind in ("before", "after"):
        _check(line["result"], _evaluation_members(), kind)
    elif kind == "faults":
        for one in line["findings"]:
            _check(one, FINDING, "finding")
    elif kind == "repair":
        _check(line["changes"], CHANGES, kind)
        _check(line["changes"]["diff"], DIFF, "diff")
        for one in line["changes"]["diff"]["examples"]:
            _check(one, EXAMPLE, "example")
    elif kind == "verify":
        _check(line["result"], VERDICT, kind)


def _evaluation_members() -> dict[str, Any]:
    """Return what an evaluation as plain data has; what may be missing is left out."""
    return {
        field.name: _KINDS[str(field.type)]
        for field in fields(EvaluateResult)
        if str(field.type) in _KINDS
    }


def _check(content: Any, members: Mapping[str, Any], what: str) -> None:
    if not isinstance(content, dict):
        raise _bad(f"{what} is no object")
    for name, kind in members.items():
        value = content.get(name)
        is_flag = isinstance(value, bool)
        takes_flags = kind is bool or (isinstance(kind, tuple) and bool in kind)
        if name not in content or not isinstance(value, kind) or (is_flag and not takes_flags):
            raise _bad(f"{what} has no {name}")


def _bad(message: str) -> InputError:
    return InputError("campaign-damaged", f"this is no line of a campaign: {message}")


# -- what lines mean ---------------------------------------------------------------------------


def iterations_of(lines: Iterable[Line]) -> list[Iteration]:
    """Return the rounds that the lines tell of; the last one may not be complete."""
    by_number: dict[int, list[Line]] = {}
    for line in lines:
        if "iteration" in line:
            by_number.setdefault(line["iteration"], []).append(line)
    found: list[Iteration] = []
    for number, some in by_number.items():
        faults = found[-1].faults if found else 0
        found.append(_iteration(number, some, faults))
    return found


def _iteration(number: int, lines: list[Line], faults: int) -> Iteration:
    seconds = dict.fromkeys(("fuzz", "faults", "repair", "verify"), 0.0)
    values: dict[str, Any] = {"runs": 0, "unsafe_runs": 0}
    counts: dict[str, Any] = {"new_faults": 0, "unavoidable": 0, "undecided": 0}
    suspects = 0
    for line in lines:
        for stage, each in line["seconds"].items():
            seconds[stage] = seconds.get(stage, 0.0) + each
        if line["kind"] == "faults":
            suspects += line["new_suspects"]
            counts = {name: counts[name] + line[name] for name in counts}
            if line["from"] == "fuzz":
                values |= {"runs": line["runs"], "unsafe_runs": line["unsafe_runs"]}
        elif line["kind"] == "repair":
            values |= _repair_values(line)
        elif line["kind"] == "verify":
            values |= {name: line["result"][name] for name in ("verdict", "reason")}
    total = faults + counts["new_faults"]
    values |= {"faults": total, "seconds": seconds, "suspects": suspects}
    return Iteration(iteration=number, **counts, **values)


def _repair_values(line: Line) -> dict[str, Any]:
    changes = dict(line["changes"])
    return {
        **{name: changes[name] for name in CHANGES if name not in ("diff", "sha256")},
        "diff": _diff(changes["diff"]),
        "policy": line["policy"],
        "policy_sha256": changes["sha256"],
    }


def _diff(content: Mapping[str, Any]) -> RepairDiff:
    examples = [
        DecisionChange(_plain_state(one["state"]), one["before"], one["after"])
        for one in content["examples"]
    ]
    return RepairDiff(content["states"], content["changed"], tuple(examples))


def _plain_state(content: Mapping[str, Any]) -> State:
    """Return a state to look at: no task knows it."""
    return State(tuple(content), tuple(content.values()), b"")


def evaluation_of(line: Line) -> EvaluateResult:
    """Return the evaluation of a line."""
    content = line["result"]
    names = [field.name for field in fields(EvaluateResult)]
    return EvaluateResult(**{name: content[name] for name in names if name in content})


def failing_starts_of(line: Line, names: Sequence[str]) -> list[tuple[Any, Any]] | None:
    """Return the bounds of start states that fail, one for each variable; None if a verdict has
    none. Raises InputError if these are none.
    """
    bounds = line["result"].get("failing_starts")
    if bounds is None:
        return None
    is_good = isinstance(bounds, list | tuple) and len(bounds) == len(names)
    if not is_good or not all(map(_is_bound, bounds)):
        raise _bad("failing_starts are no bounds")
    return [(low, high) for low, high in bounds]


def _is_bound(pair: Any) -> bool:
    is_pair = isinstance(pair, list | tuple) and len(pair) == 2
    return is_pair and all(isinstance(one, NUMBER) for one in pair)
