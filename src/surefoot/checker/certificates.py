"""Check certificates: evidence for a verdict, held against the model state by state.

A certificate claims that a state is safe or unsafe, and lists what makes that true:

* safe: *choices*, an action for each state, that never lead to fail nor out of what is *covered*:
  states with a choice, and terminal states that do not fail.
* unsafe: *ranks*. A ranked state fails, or whatever is decided there has an outcome of smaller
  rank; numbers cannot shrink for ever, so some run fails.

With a radius `r` the entries are about pairs of state and remaining differences: deciding as the
policy keeps what remains, deciding otherwise takes one. A choice made with few differences left is
good for more, a rank found with many is good for fewer. With the radius "finite" (only unsafe) a
rank need not shrink where a decision differs from the policy's: differences run out, then it must.

Where only silent actions are applicable, they are one *forced* step, written None here, that may
have any of their outcomes and is never a difference.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import Any, Protocol

from .arithmetic import Scalar
from .evidence import Clock, Evidence, Key, Named, OutOfTime, Rejected, read_evidence, shown

__all__ = ["OutOfTime", "Policy", "Rejected", "Steps", "check_certificate"]

Policy = Callable[[Mapping[str, Scalar], tuple[str, ...]], str]


class Steps(Protocol):
    """What the checker asks of a model. A Model answers it; variables need a name only.

    If there is a method ``view``, it prepares a state for the questions about it.
    """

    @property
    def variables(self) -> Sequence[Named]: ...
    @property
    def actions(self) -> Sequence[str]: ...
    @property
    def silent(self) -> Collection[str]: ...
    def applicable(self, state: Mapping[str, Scalar]) -> Sequence[str]: ...
    def outcomes(
        self, state: Mapping[str, Scalar], action: str
    ) -> Sequence[Mapping[str, Scalar]]: ...
    def is_fail(self, state: Mapping[str, Scalar]) -> bool: ...
    def is_goal(self, state: Mapping[str, Scalar]) -> bool: ...


def check_certificate(
    model: Steps,
    certificate: object,
    *,
    policy: Policy | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if the certificate proves its claim about the model, and raise Rejected if not.

    A claim with a radius is about the policy whose decisions the certificate lists; if `policy` is
    given, it is asked for each of them again. Raises OutOfTime after `max_seconds`, and ModelError
    if the model has an error in a state that the check steps through. The time it takes grows with
    the size of the certificate and with the outcomes of the actions that the evidence is about.
    """
    clock = Clock(max_seconds)
    loud = {name for name in model.actions if name not in model.silent}
    evidence = read_evidence(certificate, variables=model.variables, actions=loud, clock=clock)
    rule = RULES[evidence.claim](model, evidence, clock)
    rule.claim()
    for number, key in enumerate(evidence.keys):
        clock.tick()
        if number in evidence.entries or evidence.decisions[number] is not None:
            here = Place(model, key, number)
            rule.decision(here, policy)
            for remaining, value in evidence.entries.get(number, {}).items():
                clock.tick()
                rule.entry(here, remaining, value)


class Place:
    """A state and what the model does there; no action is run twice."""

    def __init__(self, model: Steps, key: Key, number: int = -1) -> None:
        names = [variable.name for variable in model.variables]
        self.number = number
        self.state = dict(zip(names, key, strict=True))
        self._model = model
        self._view: Mapping[str, Scalar] = getattr(model, "view", dict)(self.state)
        self.is_fail = model.is_fail(self._view)
        self.is_goal = not self.is_fail and model.is_goal(self._view)
        self._choices: tuple[str | None, ...] | None = None
        self._outcomes: dict[str | None, list[Key]] = {}

    @property
    def choices(self) -> tuple[str | None, ...]:
        """What can be decided here: only the forced step, if that is all; nothing, if terminal."""
        if self._choices is None:
            is_over = self.is_fail or self.is_goal
            applicable = () if is_over else self._model.applicable(self._view)
            loud = tuple(name for name in applicable if name not in self._model.silent)
            self._choices = loud or ((None,) if applicable else ())
        return self._choices

    def outcomes(self, action: str | None) -> list[Key]:
        """Return the outcomes of an action or of the forced step: none if it is not possible."""
        if action not in self._outcomes:
            names: Sequence[str] = () if action is None else (action,)
            if action is None and self.choices == (None,):
                names = self._model.applicable(self._view)
            outcomes = [each for name in names for each in self._model.outcomes(self._view, name)]
            variables = [variable.name for variable in self._model.variables]
            self._outcomes[action] = [
                tuple([each[name] for name in variables]) for each in outcomes
            ]
        return self._outcomes[action]


class Rule(ABC):
    """The rule of a claim. Each method raises Rejected if it is broken."""

    def __init__(self, model: Steps, evidence: Evidence, clock: Clock) -> None:
        self._model = model
        self._evidence = evidence
        self._clock = clock
        self._number_of = {key: number for number, key in enumerate(evidence.keys)}

    @abstractmethod
    def claim(self) -> None:
        """The evidence must be about the claim's own state."""

    @abstractmethod
    def entry(self, here: Place, remaining: int, value: Any) -> None:
        """What is said of a state must follow from the model and from other entries."""

    def decision(self, here: Place, policy: Policy | None) -> None:
        """A listed decision must be possible, and the policy's own."""
        listed = self._evidence.decisions[here.number]
        if listed is None:
            return
        if listed not in here.choices:
            raise Rejected(f"{listed} cannot be decided in {self._shown(here.number)}")
        if policy is not None:
            decision = policy(here.state, tuple(name for name in here.choices if name is not None))
            if decision != listed:
                where = self._shown(here.number)
                raise Rejected(f"the policy decides {shown(decision)}, not {listed}, in {where}")

    def _differs(self, here: Place, action: str | None) -> bool:
        """Return whether a choice is not the policy's; where a step is forced both are None."""
        return action != self._evidence.decisions[here.number]

    def _after(self, here: Place, remaining: int, action: str | None) -> int:
        """Return the differences that remain after a choice, -1 if it is one too many."""
        is_counted = isinstance(self._evidence.radius, int) and self._differs(here, action)
        return remaining - 1 if is_counted else remaining

    def _shown(self, number: int) -> str:
        names = (variable.name for variable in self._model.variables)
        pairs = zip(names, self._evidence.keys[number], strict=True)
        text = ", ".join(f"{name} = {shown(value)}" for name, value in pairs)
        return f"state {number} ({text[:200]}{'...' if len(text) > 200 else ''})"


class _Choices(Rule):
    """Of a safe state: choices that never lead to fail nor out of what is covered."""

    def __init__(self, model: Steps, evidence: Evidence, clock: Clock) -> None:
        super().__init__(model, evidence, clock)
        self._harmless: set[Key] = set()
        entries = evidence.entries.items()
        self._least_remaining = {number: min(entry) for number, entry in entries}

    def claim(self) -> None:
        """The claim's own state must be covered."""
        number = self._evidence.state
        if not self._is_covered(self._evidence.keys[number], self._evidence.budget):
            raise Rejected(f"{self._shown(number)} fails or is not covered")

    def entry(self, here: Place, remaining: int, value: str | None) -> None:
        """A choice must be possible, within the differences, and lead to what is covered."""
        name = _name(value)
        if here.is_fail or here.is_goal:
            raise Rejected(f"{self._shown(here.number)} has a choice but is fail or goal")
        if not here.outcomes(value):
            raise Rejected(f"{name} is not applicable in {self._shown(here.number)}")
        after = self._after(here, remaining, value)
        if after < 0:
            raise Rejected(f"{name} in {self._shown(here.number)} is one difference too many")
        if not all(self._is_covered(outcome, after) for outcome in here.outcomes(value)):
            where = self._shown(here.number)
            raise Rejected(f"{name} in {where} has an outcome that fails or is not covered")

    def _is_covered(self, key: Key, remaining: int) -> bool:
        """Return whether a state has a choice good for so many differences, or needs none."""
        number = self._number_of.get(key, -1)
        if number in self._least_remaining:
            return self._least_remaining[number] <= remaining
        if key not in self._harmless:
            self._clock.tick()
            here = Place(self._model, key)
            if here.is_fail or here.choices:
                return False
            self._harmless.add(key)
        return True


class _Ranks(Rule):
    """Of an unsafe state: whatever is decided there has an outcome of smaller rank."""

    def __init__(self, model: Steps, evidence: Evidence, clock: Clock) -> None:
        super().__init__(model, evidence, clock)
        entries = evidence.entries.items()
        self._ranks = {number: _good_for(entry) for number, entry in entries}

    def claim(self) -> None:
        """The claim's own state must be ranked."""
        number = self._evidence.state
        if self._rank(self._evidence.keys[number], self._evidence.budget) == math.inf:
            raise Rejected(f"{self._shown(number)} has no rank")

    def entry(self, here: Place, remaining: int, value: int) -> None:
        """A ranked state must fail, or each choice must have an outcome of smaller rank."""
        if here.is_fail:
            return
        if not here.choices:
            raise Rejected(f"{self._shown(here.number)} has a rank but is terminal, and not fail")
        is_decided = self._evidence.decisions[here.number] is not None or here.choices == (None,)
        if self._evidence.radius is not None and not is_decided:
            raise Rejected(f"the policy's decision in {self._shown(here.number)} is missing")
        for action in here.choices:
            after = self._after(here, remaining, action)
            if after < 0:
                continue  # one difference too many: nobody may decide that
            may_grow = self._evidence.radius == "finite" and self._differs(here, action)
            limit = math.inf if may_grow else value
            if not any(self._rank(outcome, after) < limit for outcome in here.outcomes(action)):
                where = self._shown(here.number)
                raise Rejected(f"{_name(action)} in {where} has no outcome of smaller rank")

    def _rank(self, key: Key, remaining: int) -> float:
        """Return the least rank that is good for so many differences, infinity if none is."""
        remainings, ranks = self._ranks.get(self._number_of.get(key, -1), ([], [math.inf]))
        return ranks[bisect_left(remainings, remaining)]


RULES: dict[str, type[Rule]] = {"safe": _Choices, "unsafe": _Ranks}
"""by claim: one more is a class, and how its evidence is written (``evidence.CLAIMS``)"""


def _good_for(ranks: Mapping[int, int]) -> tuple[list[int], list[float]]:
    """Return remaining differences, ascending, and the least rank of each or of a later one."""
    remainings = sorted(ranks)
    least = accumulate([math.inf, *(ranks[each] for each in reversed(remainings))], min)
    return remainings, list(least)[::-1]


def _name(action: str | None) -> str:
    return "the forced step" if action is None else action
