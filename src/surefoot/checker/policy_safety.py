"""Check that a policy is safe: a set of states that it never leaves, none of which fails.

The certificate is a file of lines. The first one is an object that says what is claimed, each of
the others the values of a state, or a box of states (box_safety.py). The claim is true if

* all start states are in the set,
* no state of the set fails,
* all outcomes of what the policy decides in a state of the set are in the set; where only silent
  actions are applicable, those of all of them. Runs end in goal states, where nothing is
  applicable, and, if the policy is unfiltered, where its decision is not applicable.

Then every state that a run can come to is in the set, so no run fails. The set may be larger than
it need be.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from .arithmetic import Scalar
from .box_safety import check_box_safety
from .box_sets import read_set
from .certificates import Place, Steps
from .evidence import (
    Clock,
    Key,
    Rejected,
    check_policy_member,
    check_task_member,
    is_whole,
    read_list,
    read_names,
    read_value,
    shown,
)
from .model import Model
from .starts import _Counter, _search, _TooMany

__all__ = ["PolicySteps", "check_policy_safety"]

_VERSION = 1
_CLAIM = "policy-safe"
_MEMBERS = ("surefoot", "policy_certificate", "claim", "task", "policy", "variables")
_KINDS = {"states": (), "boxes": ("constraints",), "blocked": ("constraints",)}
_ALL_OF_KINDS = (*_KINDS, *(name for names in _KINDS.values() for name in names))
_BATCH = 1024  # states in which the policy is asked at once

Decide = Callable[[Sequence[Mapping[str, Scalar]]], Sequence[str | None]]


class PolicySteps(Steps, Protocol):
    """What is asked of a model that is not a Model about where runs start."""

    def starts(self, limit: int) -> Sequence[Mapping[str, Scalar]] | None: ...


def check_policy_safety(
    model: PolicySteps,
    lines: Iterable[str],
    *,
    policy: Decide,
    scores: Mapping[str, object] | None = None,
    is_unfiltered: bool | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if the certificate proves that no run of the policy fails, and raise Rejected if not.

    `policy` is asked for its decisions in many states at once; None is for one that is not
    applicable. `scores` are plain data of what it decides by (scores.py), which certificates with
    boxes are checked with; without them it is asked in each of their states. `is_unfiltered` tells
    what the policy is, and the certificate must say the same. Raises OutOfTime after
    `max_seconds`, and ModelError if the model has an error in a state of the set.
    """
    clock = Clock(max_seconds)
    left = iter(lines)
    head = _read_head(next(left, ""))
    if is_unfiltered is not None and head["policy"]["unfiltered"] is not is_unfiltered:
        raise Rejected("the certificate is about a policy that decides among other actions")
    if "states" not in head:
        _check_boxes(model, head, left, policy, scores, clock)
        return
    check = _Check(model, head, _read_states(model, head, left, clock), policy, clock)
    check.starts()
    check.steps()


def _check_boxes(
    model: PolicySteps,
    head: Mapping[str, Any],
    lines: Iterator[str],
    policy: Decide,
    scores: Mapping[str, object] | None,
    clock: Clock,
) -> None:
    if not isinstance(model, Model):
        raise Rejected("boxes of a task that Python code defines cannot be checked")
    rows = ((number, _read_json(line, f"box {number}")) for number, line in enumerate(lines))
    states = read_set(model, head, rows, clock)
    is_unfiltered = head["policy"]["unfiltered"]
    check_box_safety(
        model, states, policy=policy, scores=scores, is_unfiltered=is_unfiltered, clock=clock
    )


# -- reading -----------------------------------------------------------------------------------


def _read_json(line: str, what: str) -> object:
    try:
        return json.loads(line, object_pairs_hook=_object, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Rejected(f"{what} is not JSON") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name is listed twice")
    return made


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _read_head(line: str) -> Mapping[str, Any]:
    """Return the first line. Raises Rejected unless it claims what can be checked here."""
    head = _read_json(line, "the first line")
    if not isinstance(head, Mapping):
        raise Rejected(f"the first line is an object, not {shown(head)}")
    kind = _kind_of(head)
    wanted = (*_MEMBERS, kind, *_KINDS[kind])
    for name in (*wanted, *head):
        if name not in head or name not in wanted:
            why = "has no place in the first line" if name in head else "is missing"
            raise Rejected(f"{shown(name)} {why}")
    version = head["policy_certificate"]
    if not is_whole(version) or version != _VERSION:
        raise Rejected(f"version {shown(version)} of certificates of policies is not known")
    if head["claim"] != _CLAIM:
        raise Rejected(f"the claim is {shown(head['claim'])}, not {_CLAIM}")
    if not isinstance(head["surefoot"], str) or not is_whole(head[kind]):
        what = "states" if kind == "states" else "boxes"
        raise Rejected(f"the version of Surefoot is a string, the number of {what} a whole number")
    check_task_member(head["task"])
    check_policy_member(head["policy"])
    return head


def _kind_of(head: Mapping[str, Any]) -> str:
    """Return the member that says what the other lines are; there must be one of them."""
    kinds = [name for name in _KINDS if name in head]
    if len(kinds) > 1:
        raise Rejected(f"the first line has {' and '.join(kinds)}, of which there may be one only")
    others = [name for name in head if name not in (*_MEMBERS, *_ALL_OF_KINDS)]
    if not kinds and others:
        raise Rejected(f"evidence of the kind {shown(others[0])} is not known")
    return kinds[0] if kinds else "states"


def _read_states(
    model: Steps, head: Mapping[str, Any], lines: Iterator[str], clock: Clock
) -> set[Key]:
    """Return the states of all lines: as many as the first line says, all of them different."""
    own_names = [variable.name for variable in model.variables]
    names = read_names(head["variables"], "variables", own_names)
    if len(names) != len(own_names):
        raise Rejected(f"there are {len(own_names)} variables, not {len(names)}")
    columns = [(variable, names.index(variable.name)) for variable in model.variables]
    keys: set[Key] = set()
    for number, line in enumerate(lines):
        clock.tick()
        if number >= head["states"]:
            raise Rejected(f"there are more than {head['states']} states")
        row = read_list(_read_json(line, f"state {number}"), f"state {number}", len(names))
        keys.add(tuple([read_value(row[i], variable, number) for variable, i in columns]))
        if len(keys) != number + 1:
            raise Rejected(f"state {number} is listed twice")
    if len(keys) != head["states"]:
        raise Rejected(f"there are {len(keys)} states, not {head['states']}")
    return keys


# -- the rules ---------------------------------------------------------------------------------


class _Check:
    """The rules. Each method raises Rejected if its rule is broken."""

    def __init__(
        self,
        model: PolicySteps,
        head: Mapping[str, Any],
        keys: set[Key],
        policy: Decide,
        clock: Clock,
    ) -> None:
        self._model = model
        self._names = [variable.name for variable in model.variables]
        self._keys = keys
        self._policy = policy
        self._is_unfiltered = head["policy"]["unfiltered"]
        self._clock = clock

    def starts(self) -> None:
        """All start states must be in the set, and there must be one."""
        has_start = False
        for state in _starts_of(self._model, self._clock):
            self._clock.tick()
            has_start = True
            if self._key(state) not in self._keys:
                raise Rejected(f"the start state {self._text(self._key(state))} is not listed")
        if not has_start:
            raise Rejected("there is no start state")

    def steps(self) -> None:
        """No state may fail, and no step of the policy may lead out of the set."""
        waiting: list[Place] = []
        for key in self._keys:
            self._clock.tick()
            place = Place(self._model, key)
            if place.is_fail:
                raise Rejected(f"the state {self._text(key)} fails")
            if place.choices == (None,):
                self._stays(place, None)
            elif place.choices:
                waiting.append(place)
            if len(waiting) == _BATCH:
                self._decide(waiting)
                waiting = []
        self._decide(waiting)

    def _decide(self, places: list[Place]) -> None:
        if not places:
            return
        decisions = self._policy([place.state for place in places])
        for place, decision in zip(places, decisions, strict=True):
            self._clock.tick()
            if decision in place.choices and decision is not None:
                self._stays(place, decision)
            elif not self._is_unfiltered:
                where = self._text(self._key(place.state))
                raise Rejected(f"what the policy decides is not applicable in {where}")

    def _stays(self, place: Place, action: str | None) -> None:
        for outcome in place.outcomes(action):
            if outcome not in self._keys:
                where, name = self._text(self._key(place.state)), action or "the forced step"
                raise Rejected(
                    f"{name} in {where} has the outcome {self._text(outcome)}, which is not listed"
                )

    def _key(self, state: Mapping[str, Scalar]) -> Key:
        return tuple([state[name] for name in self._names])

    def _text(self, key: Key) -> str:
        pairs = zip(self._names, key, strict=True)
        text = ", ".join(f"{name} = {shown(value)}" for name, value in pairs)
        return f"({text[:200]}{'...' if len(text) > 200 else ''})"


class _Clocked(_Counter):
    """Counts candidates for start states; there may be many, but not for ever."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(2**63)
        self._clock = clock

    def count(self, candidates: int = 1) -> None:
        self._clock.tick()
        super().count(candidates)


def _starts_of(model: PolicySteps, clock: Clock) -> Iterator[Mapping[str, Scalar]]:
    """Yield all start states; some may come twice. Raises Rejected if they cannot be listed."""
    if not isinstance(model, Model):
        starts = model.starts(2**63)
        if starts is None:
            raise Rejected("the start states cannot be listed")
        yield from starts
        return
    counter = _Clocked(clock)
    try:
        for pattern in model.start.patterns:
            yield from _search(model, pattern, model.start, counter)
    except _TooMany:
        raise Rejected("the start states cannot be listed") from None
