"""Read a certificate into Evidence. Whatever it may hold, the answer is Evidence or Rejected."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard

from .arithmetic import Scalar
from .model import Variable

_VERSION = 1
_MEMBERS = (
    *("surefoot", "certificate", "claim", "radius", "task", "policy"),
    *("variables", "actions", "state", "states"),
)
_TASK_MEMBERS = {"name": str, "sha256": str, "source": str | None, "options": Mapping}
_POLICY_MEMBERS = {
    "name": str,
    "sha256": str | None,
    "interface": str | Mapping | None,
    "unfiltered": bool,
}
_TICKS_PER_LOOK = 64

Key = tuple[Scalar, ...]  # the values of a state, in the order of the model's variables


class Named(Protocol):
    """A variable that has at least a name."""

    @property
    def name(self) -> str: ...


class Rejected(Exception):
    """The certificate does not prove its claim; the message says why."""


class OutOfTime(Exception):
    """The time was over before all of the certificate was checked: nothing is known."""


class Clock:
    """Raises OutOfTime; looks at the time now and then."""

    def __init__(self, max_seconds: float | None) -> None:
        self._end = math.inf if max_seconds is None else time.monotonic() + max_seconds
        self._ticks = 0

    def tick(self) -> None:
        """Count a state or an entry."""
        self._ticks += 1
        if self._ticks % _TICKS_PER_LOOK == 0:
            self.look()

    def look(self) -> None:
        """Look at the time now, where a step may take long."""
        if time.monotonic() > self._end:
            raise OutOfTime("time ran out before the certificate was checked")


@dataclass(frozen=True)
class Claim:
    """How evidence for a claim is written: its entries stand in the member ``entries``, and
    ``read`` returns the value of an entry, given the names of actions. ``may_be_finite`` if the
    radius "finite" means something.
    """

    entries: str
    read: Callable[[object, Sequence[str]], Any]
    may_be_finite: bool = False


@dataclass(frozen=True)
class Evidence:
    """What a certificate says, in the words of the model. It may still be wrong.

    ``claim`` is one of ``CLAIMS``. ``entries`` maps the number of a state and remaining differences
    (0 without a radius `r`) to the chosen action (None for the forced step) or to the rank.
    """

    claim: str
    radius: int | str | None
    keys: tuple[Key, ...]
    state: int
    decisions: tuple[str | None, ...]
    entries: Mapping[int, Mapping[int, Any]]

    @property
    def budget(self) -> int:
        """The differences that remain in the claim's own state."""
        return self.radius if isinstance(self.radius, int) else 0


def read_evidence(
    certificate: object, *, variables: Sequence[Named], actions: Collection[str], clock: Clock
) -> Evidence:
    """Return what a certificate says about states of these variables and about these actions."""
    members = read_claim(certificate)
    radius, name = _radius(members), str(members["claim"])
    claim = CLAIMS[name]
    used = read_names(members["actions"], "actions", actions)
    keys = _read_states(members, variables, clock)
    decisions: tuple[str | None, ...] = (None,) * len(keys)
    if radius is not None:
        given = read_list(members["decisions"], "decisions", len(keys))
        decisions = tuple(_read_action(each, used) for each in given)
    entries: dict[int, dict[int, Any]] = {}
    budget = radius if isinstance(radius, int) else 0
    for each in read_list(members[claim.entries], "the evidence"):
        clock.tick()
        number, *remaining, value = read_list(each, "an entry", 3 if isinstance(radius, int) else 2)
        by_remaining = entries.setdefault(read_number(number, len(keys), "a state"), {})
        left = read_number(remaining[0], budget + 1, "remaining") if remaining else 0
        if left in by_remaining:
            raise Rejected(f"state {number} has two entries for the same")
        by_remaining[left] = claim.read(value, used)
    state = read_number(members["state"], len(keys), "the claim's state")
    return Evidence(name, radius, keys, state, decisions, entries)


def read_claim(certificate: object) -> Mapping[str, object]:
    """Return the certificate if it has the members that its claim and radius ask for."""
    if not isinstance(certificate, Mapping):
        raise Rejected(f"a certificate is an object, not {shown(certificate)}")
    version, claim, radius = (certificate.get(key) for key in ("certificate", "claim", "radius"))
    if not is_whole(version) or version != _VERSION:
        raise Rejected(f"version {shown(version)} of certificates is not known")
    if not isinstance(claim, str) or claim not in CLAIMS:
        raise Rejected(f"the claim is {shown(claim)}, not {' or '.join(CLAIMS)}")
    is_finite = radius == "finite" and CLAIMS[claim].may_be_finite
    if not (radius is None or is_whole(radius) or is_finite):
        raise Rejected(f"the radius {shown(radius)} does not apply to the claim {claim}")
    wanted = (*_MEMBERS, CLAIMS[claim].entries, *(() if radius is None else ("decisions",)))
    for name in (*wanted, *certificate):
        if name not in certificate or name not in wanted:
            why = "has no place in this certificate" if name in certificate else "is missing"
            raise Rejected(f"{shown(name)} {why}")
    check_task_member(certificate["task"])
    names = (certificate["surefoot"], "" if radius is None else certificate["policy"])
    if not all(isinstance(each, str) for each in names):
        raise Rejected("the version of Surefoot and the name of the policy must be strings")
    if radius is None and certificate["policy"] is not None:
        raise Rejected("a claim without radius is about no policy")
    return certificate


def _radius(members: Mapping[str, object]) -> int | str | None:
    radius = members["radius"]
    return radius if isinstance(radius, int | str) else None


def check_task_member(task: object) -> Mapping[str, object]:
    """Return what a file says about its task. Raises Rejected unless it says that."""
    if not isinstance(task, Mapping) or set(task) != set(_TASK_MEMBERS):
        raise Rejected(f"the task must have the members {', '.join(_TASK_MEMBERS)}")
    if not all(isinstance(task[name], type_) for name, type_ in _TASK_MEMBERS.items()):
        raise Rejected("the task has a member of the wrong type")
    return task


def check_policy_member(policy: object, what: str = "the policy") -> Mapping[str, object]:
    """Return what a file says about a policy. Raises Rejected unless it says that."""
    members = read_members(policy, tuple(_POLICY_MEMBERS), what)
    if not all(isinstance(members[name], type_) for name, type_ in _POLICY_MEMBERS.items()):
        raise Rejected(f"{what} has a member of the wrong type")
    return members


def read_members(value: object, names: Sequence[str], what: str) -> Mapping[str, object]:
    """Return an object that has these members and no other ones."""
    if not isinstance(value, Mapping):
        raise Rejected(f"{what} must be an object, not {shown(value)}")
    for name in (*names, *value):
        if name not in value or name not in names:
            why = "has no place in" if name in value else "is missing in"
            raise Rejected(f"{shown(name)} {why} {what}")
    return value


def _read_states(
    certificate: Mapping[str, object], variables: Sequence[Named], clock: Clock
) -> tuple[Key, ...]:
    """Return the keys of all states."""
    keys: dict[Key, None] = {}
    for number, key in enumerate(read_rows(certificate, variables, clock)):
        if key in keys:
            raise Rejected(f"state {number} is listed twice")
        keys[key] = None
    return tuple(keys)


def read_rows(
    holder: Mapping[str, object], variables: Sequence[Named], clock: Clock, name: str = "states"
) -> Iterator[Key]:
    """Yield the states of a member, whose values are in the order of the member ``variables``."""
    own_names = [variable.name for variable in variables]
    names = read_names(holder["variables"], "variables", own_names)
    if len(names) != len(own_names):
        raise Rejected(f"there are {len(own_names)} variables, not {len(names)}")
    columns = [(_reader(variable), names.index(variable.name)) for variable in variables]
    for number, row in enumerate(read_list(holder[name], name)):
        clock.tick()
        values = read_list(row, f"state {number}", len(names))
        yield tuple([read(values[i], number) for read, i in columns])


def _reader(variable: Named) -> Callable[[Any, int], Any]:
    """Return what reads the values of a variable, given the numbers of their states."""
    kind = {"int": int, "bool": bool}.get(variable.kind) if isinstance(variable, Variable) else None
    low, high = (variable.lower, variable.upper) if isinstance(variable, Variable) else (0, 0)

    def read(value: Any, number: int) -> Any:
        is_of_kind = type(value) is kind
        is_plain = is_of_kind and low <= value <= high
        return value if is_plain else read_value(value, variable, number)

    return read


def read_value(value: object, variable: Named, number: int, *, what: str = "state") -> Any:
    """Return the value of a variable, of its kind and within its bounds if it is known to have."""
    try:
        if isinstance(variable, Variable):
            value = variable.accept(value)
            is_good = variable.has(value)
        else:
            is_good = isinstance(value, bool | int | float) and math.isfinite(value)
    except (ValueError, OverflowError, RecursionError):  # a list may be as deep as files are
        is_good = False
    if not is_good:
        raise Rejected(f"{what} {number}: {variable.name} cannot be {shown(value)}")
    return value


def read_names(value: object, what: str, known: Collection[str]) -> list[str]:
    """Return a list of known names, none of them twice."""
    names: list[str] = []
    for name in read_list(value, what):
        if not isinstance(name, str) or name not in known:
            raise Rejected(f"{what}: {shown(name)} is not known, or silent")
        names.append(name)
    if len(set(names)) < len(names):
        raise Rejected(f"{what}: a name is listed twice")
    return names


def _read_action(value: object, used: Sequence[str]) -> str | None:
    return None if value is None else used[read_number(value, len(used), "an action")]


def _read_rank(value: object, used: Sequence[str]) -> int:
    if not is_whole(value):
        raise Rejected(f"a rank is a whole number, not {shown(value)}")
    return value


CLAIMS = {
    "safe": Claim("choices", _read_action),
    "unsafe": Claim("ranks", _read_rank, may_be_finite=True),
}
"""by name; certificates.py has the rule of each"""


def read_number(value: object, end: int, what: str) -> int:
    """Return a whole number below `end`."""
    if not is_whole(value) or value >= end:
        raise Rejected(f"{what} has the number {shown(value)}, which is out of range")
    return value


def read_list(value: object, what: str, length: int | None = None) -> list[object]:
    """Return a list, of this length if one is given."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        size = "" if length is None else f" of length {length}"
        raise Rejected(f"{what} must be a list{size}, not {shown(value)}")
    return value


def is_whole(value: object) -> TypeGuard[int]:
    """Return whether this is a whole number of at least 0, and not a Boolean."""
    return type(value) is int and value >= 0


def shown(value: object) -> str:
    """Return a short text for whatever a certificate holds; neither deep nor long ones hurt."""
    if isinstance(value, str):
        return repr(value[:40])
    if value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**64):
        return str(value)
    return f"a {type(value).__name__}"
