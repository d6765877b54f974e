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

from .certificates import Place, Policy, Steps
from .evidence import (
    Clock,
    Key,
    Rejected,
    check_policy_member,
    check_task_member,
    read_list,
    read_members,
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
_FAULT_MEMBERS = ("state", "action", "alternatives", "before", "after")
_TOLERANCE = 1e-6  # of the distance, relative: a sum depends on the order


def check_repair(
    model: Steps,
    record: Mapping[str, object],
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
    distance = _check_frame(record)
    given = read_list(record["faults"], "faults")
    if not given:
        raise Rejected("there are no faults")
    faults = [
        read_members(fault, _FAULT_MEMBERS, f"fault {number}") for number, fault in enumerate(given)
    ]
    holder = {"variables": record["variables"], "states": [each["state"] for each in faults]}
    keys = read_rows(holder, model.variables, clock)
    for number, (fault, key) in enumerate(zip(faults, keys, strict=True)):
        clock.tick()
        _check_fault(model, fault, key, f"fault {number}", any_other=record["any_other"] is True)
        _recompute(model, key, fault["before"], before, f"fault {number}: the policy before")
        _recompute(model, key, fault["after"], after, f"fault {number}: the repaired policy")
    if parameters is not None:
        _check_distance(distance, *parameters)


def _check_frame(record: object) -> float:
    """Return the distance that a record with all of its members names."""
    members = read_members(record, _MEMBERS, "the repair")
    version = members["repair"]
    if type(version) is not int or version != _VERSION:
        raise Rejected(f"version {shown(version)} of repairs is not known")
    if not isinstance(members["surefoot"], str):
        raise Rejected("the version of Surefoot must be a string")
    check_task_member(members["task"])
    for name in ("before", "after"):
        check_policy_member(members[name], f"the policy {name}")
    if not isinstance(members["surefoot"], str):
        raise Rejected("the version of Surefoot must be a string")
    if not isinstance(members["any_other"], bool):
        raise Rejected("any_other must be true or false")
    distance = members["distance"]
    if isinstance(distance, bool) or not isinstance(distance, int | float):
        raise Rejected(f"the distance is {shown(distance)}, not a number of at least 0")
    if not 0 <= distance < math.inf:
        raise Rejected(f"the distance is {shown(distance)}, not a number of at least 0")
    return distance


def _check_fault(
    model: Steps, fault: Mapping[str, object], key: Key, what: str, *, any_other: bool
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
        raise Rejected(f"{what}: {now} is not one of the alternatives")


def _recompute(model: Steps, key: Key, stored: object, policy: Policy | None, label: str) -> None:
    """A policy must decide as the record says; None: it has no decision that can be taken."""
    if stored is not None and not isinstance(stored, str):
        raise Rejected(f"{label} decides {shown(stored)}, which is not an action")
    if policy is None:
        return
    place = Place(model, key)
    try:
        decision = policy(place.state, tuple(name for name in place.choices if name is not None))
    except Rejected:
        if stored is None:
            return
        raise
    if decision != stored:
        raise Rejected(f"{label} decides {shown(decision)}, not {shown(stored)}")


def _check_distance(distance: float, before: Sequence[float], after: Sequence[float]) -> None:
    """Parameters that were not there before count with their whole value."""
    if len(after) < len(before):
        raise Rejected("the repaired policy has fewer parameters than the policy before")
    old = [*before, *[0.0] * (len(after) - len(before))]
    real = math.fsum(abs(new - parameter) for new, parameter in zip(after, old, strict=True))
    if not math.isclose(real, distance, rel_tol=_TOLERANCE, abs_tol=1e-12):
        raise Rejected(f"the distance is {real:.9g}, not {distance:.9g}")
