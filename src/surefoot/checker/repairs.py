"""Check repairs: that faults are gone, and how much was changed for that.

The record of a repair lists faults: a state, the action to leave, the alternatives, and what the
policy decided there before and decides after. It holds if every fault is answered by another
action, one of the alternatives unless any other will do; if both policies decide as it says; and if
the distance is that of the two lists of parameters, of which the second may be longer. Whether an
alternative is safe is for the findings of the faults to show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .certificates import Place, Policy, Steps
from .evidence import (
    Clock,
    Key,
    Rejected,
    check_task_member,
    read_list,
    read_names,
    read_rows,
    shown,
)

__all__ = ["check_repair"]

_VERSION = 1
_MEMBERS = (
    *("surefoot", "repair", "task", "before", "after"),
    *("variables", "faults", "any_other", "distance"),
)
_POLICY_MEMBERS = ("name", "sha256", "interface", "unfiltered")
_FAULT_MEMBERS = ("state", "action", "alternatives", "before", "after")
_TOLERANCE = 1e-6  # of the distance, relative: a sum depends on the order


def check_repair(
    model: Steps,
    record: Mapping[str, Any],
    *,
    before: Policy | None = None,
    after: Policy | None = None,
    parameters: tuple[Sequence[float], Sequence[float]] | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if everything that the record claims is true, else raise Rejected.

    Without a policy its decisions are taken to be those of the record. Raises OutOfTime, and
    ModelError if the model has an error in the state of a fault.
    """
    clock = Clock(max_seconds)
    _check_frame(record)
    faults = read_list(record["faults"], "faults")
    if not faults:
        raise Rejected("there are no faults")
    for number, fault in enumerate(faults):
        _check_names(fault, _FAULT_MEMBERS, f"fault {number}")
    holder = {"variables": record["variables"], "states": [each["state"] for each in faults]}
    keys = read_rows(holder, model.variables, clock)
    for number, (fault, key) in enumerate(zip(faults, keys, strict=True)):
        clock.tick()
        _check_fault(model, fault, key, f"fault {number}", any_other=record["any_other"])
        _recompute(model, key, fault["before"], before, f"fault {number}: the policy before")
        _recompute(model, key, fault["after"], after, f"fault {number}: the repaired policy")
    if parameters is not None:
        _check_distance(record["distance"], *parameters)


def _check_frame(record: Any) -> None:
    _check_names(record, _MEMBERS, "the repair")
    version = record["repair"]
    if type(version) is not int or version != _VERSION:
        raise Rejected(f"version {shown(version)} of repairs is not known")
    check_task_member(record["task"])
    for name in ("before", "after"):
        _check_names(record[name], _POLICY_MEMBERS, f"the policy {name}")
    if not isinstance(record["any_other"], bool):
        raise Rejected("any_other must be true or false")
    distance = record["distance"]
    is_number = type(distance) in (int, float)
    if not is_number or not 0 <= distance < math.inf:
        raise Rejected(f"the distance is {shown(distance)}, not a number of at least 0")


def _check_names(value: Any, wanted: Sequence[str], what: str) -> None:
    if not isinstance(value, Mapping):
        raise Rejected(f"{what} must be an object, not {shown(value)}")
    for name in (*wanted, *value):
        if name not in value or name not in wanted:
            why = "has no place in" if name in value else "is missing in"
            raise Rejected(f"{shown(name)} {why} {what}")


def _check_fault(
    model: Steps, fault: Mapping[str, Any], key: Key, what: str, *, any_other: bool
) -> None:
    """The new decision must be another one, of the alternatives unless any other will do."""
    loud = [name for name in Place(model, key).choices if name is not None]
    (action,) = read_names([fault["action"]], f"{what}: action", loud)
    (now,) = read_names([fault["after"]], f"{what}: after", loud)
    alternatives = read_names(fault["alternatives"], f"{what}: alternatives", loud)
    if action in alternatives:
        raise Rejected(f"{what}: {action} is an alternative to itself")
    if now == action:
        raise Rejected(f"{what}: the repaired policy still takes {action}")
    if not any_other and now not in alternatives:
        raise Rejected(f"{what}: {now} is none of the alternatives")


def _recompute(model: Steps, key: Key, said: Any, policy: Policy | None, who: str) -> None:
    """A policy must decide as the record says; None: it has no decision that can be taken."""
    if said is not None and not isinstance(said, str):
        raise Rejected(f"{who} decides {shown(said)}, which is no action")
    if policy is None or said is None:
        return
    place = Place(model, key)
    decision = policy(place.state, tuple(name for name in place.choices if name is not None))
    if decision != said:
        raise Rejected(f"{who} decides {shown(decision)}, not {shown(said)}")


def _check_distance(said: float, before: Sequence[float], after: Sequence[float]) -> None:
    """Parameters that were not there before count with their whole value."""
    if len(after) < len(before):
        raise Rejected("the repaired policy has fewer parameters than the policy before")
    old = [*before, *[0.0] * (len(after) - len(before))]
    real = math.fsum(abs(new - one) for new, one in zip(after, old, strict=True))
    if not math.isclose(real, said, rel_tol=_TOLERANCE, abs_tol=1e-12):
        raise Rejected(f"the distance is {real:.9g}, not {said:.9g}")
