"""Faults as repair sees them: a state, the actions to take there, and those that must not win.

States and actions become rows and outputs of the policy here: a :class:`Demand` asks that one of
the ``good`` outputs scores higher than all ``bad`` ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from surefoot import _core
from surefoot.errors import InputError, Refusal, quoted
from surefoot.policies import Policy
from surefoot.policies.callables import fed
from surefoot.policies.decisions import ask_core
from surefoot.records import FaultsResult

Reals = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

REPAIRABLE = "networks and tree ensembles"


@dataclass(frozen=True)
class Demand:
    """What a state asks for: one of the ``good`` outputs scores higher than each ``bad`` one.

    ``good`` is in the order in which the outputs are worth trying.
    """

    state: object
    row: int
    good: tuple[int, ...]
    bad: tuple[int, ...]


@dataclass(frozen=True)
class Situations:
    """Packed states with what the policy is fed in each, which outputs it can decide for, and which
    of these are applicable.
    """

    packed: bytes
    rows: Reals
    allowed: Flags
    applicable: Flags

    def __len__(self) -> int:
        return len(self.rows)

    def decisions(self, scores: Reals) -> Numbers:
        """Return the output that is decided for in each state, the lowest of the best."""
        best: Numbers = np.where(self.allowed, scores, -np.inf).argmax(axis=1)
        return best


def best_of(outputs: Sequence[int], scores: Reals) -> int:
    """Return the output with the best score, the lowest of equal ones."""
    return max(outputs, key=lambda output: (scores[output], -output))


def check_repairable(policy: Policy) -> None:
    """Raise Unsupported if the policy is of a kind that cannot be repaired."""
    if (refusal := not_repairable(policy)) is not None:
        raise refusal.error()


def not_repairable(policy: Policy) -> Refusal | None:
    """Return why the policy is of a kind that cannot be repaired; None if it can."""
    if policy.model is not None and policy.model.kind in ("network", "trees", "corrected"):
        return None
    kind = (
        "it is not a learned model"
        if policy.model is None
        else f"it is made of {policy.model.kind}"
    )
    return Refusal(
        "policy-not-repairable",
        f"policy {quoted(policy.name)} cannot be repaired: {kind}",
        hint=f"{REPAIRABLE} can; surefoot export --shield wraps any policy",
    )


def situations(policy: Policy, packed: bytes) -> Situations:
    """Return packed states as the policy sees them."""
    assert policy.interface is not None
    rows = fed(policy.interface, policy.task, packed)
    applicable = _applicable(policy, packed, len(rows))
    allowed = np.ones_like(applicable) if policy.unfiltered else applicable
    return Situations(packed, rows, allowed, applicable)


def _applicable(policy: Policy, packed: bytes, count: int) -> Flags:
    """Return which outputs are applicable in each state."""
    assert policy.interface is not None
    outputs = policy.interface.outputs
    allowed = np.zeros((count, len(policy.task.actions)), dtype=bool)
    begin = 0

    def ask_all(_: bytes, applicable: list[list[int]]) -> list[int]:
        nonlocal begin
        lengths = np.fromiter(map(len, applicable), dtype=np.int64, count=len(applicable))
        places = begin + np.repeat(np.arange(len(applicable)), lengths)
        allowed[
            places, np.concatenate([np.array(number, dtype=np.int64) for number in applicable])
        ] = 1
        begin += len(applicable)
        return [number[0] for number in applicable]

    probe = _core.CallablePolicy(lambda *_: 0, ask_all)
    ask_core(policy.task, probe.decide_all, policy.task.core, packed)
    position = {name: number for number, name in enumerate(policy.task.actions)}
    return allowed[:, np.array([position[name] for name in outputs], dtype=np.int64)]


def listed(faults: object) -> list[Any]:
    """Return faults one by one, whatever they came in."""
    if isinstance(faults, FaultsResult):
        return list(faults.faults)
    entries = list(faults) if isinstance(faults, Iterable) else [faults]
    for entry in entries:
        if not all(hasattr(entry, name) for name in ("state", "action", "alternatives")):
            raise InputError(
                "not-a-fault",
                f"{type(entry).__name__} is not a fault: it has no state, action and alternatives",
                hint="give find_faults(...), or some of its faults",
            )
    return entries


def demands_of(
    policy: Policy, faults: object, *, any_other: bool
) -> tuple[list[Demand], Situations]:
    """Return what the faults ask for, faults in the same state together.

    Raises InputError: ``no-faults``, ``contradictory-faults`` if nothing is left to take in a
    state, and that of the task if a state or action is not one of its own.
    """
    by_state: dict[bytes, list[object]] = {}
    for fault in listed(faults):
        by_state.setdefault(policy.task.packed(fault.state), []).append(fault)
    if not by_state:
        raise InputError("no-faults", "there are no faults to repair")
    where = situations(policy, b"".join(by_state))
    demands = [
        _demand(policy, row, policy.task.unpack(packed), some, where, any_other)
        for row, (packed, some) in enumerate(by_state.items())
    ]
    return demands, where


def _demand(
    policy: Policy, row: int, state: object, faults: list[Any], where: Situations, any_other: bool
) -> Demand:
    assert policy.interface is not None
    outputs = policy.interface.outputs
    guilty = {_known(policy, fault.action) for fault in faults}
    wanted = set(outputs) - guilty
    if not any_other:
        for fault in faults:
            if fault.alternatives:
                wanted &= {_known(policy, name) for name in fault.alternatives}
    applicable = where.applicable[row]
    can = [number for number in range(len(outputs)) if where.allowed[row, number]]
    good = tuple(number for number in can if applicable[number] and outputs[number] in wanted)
    bad = tuple(
        number
        for number in can
        if (any_other and outputs[number] in guilty)
        or not applicable[number]
        or (not any_other and outputs[number] not in wanted)
    )
    if not good:
        names = ", ".join(sorted(map(quoted, guilty)))
        raise InputError(
            "contradictory-faults",
            f"nothing is left to take in state {state}: {names} must not be, and the policy has no "
            "other applicable action that is known to be safe",
        )
    return Demand(state, row, good, bad)


def _known(policy: Policy, action: str) -> str:
    if policy.task.action_number(action) is None:
        raise InputError(
            "fault-other-task",
            f"a fault is about the action {quoted(action)}, which the task does not have",
            hint="give faults of the same task",
        )
    return action
