"""List the states of a StartSet by trying values variable by variable."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from .arithmetic import Scalar
from .errors import ModelError
from .expressions import Code, run
from .linear import Fact, facts_of

if TYPE_CHECKING:
    from .model import Model, StartSet, State, Variable

Domain = Sequence["Scalar"]


class _TooMany(Exception):
    """The search would need more candidates than it may try."""


class _Counter:
    """Counts candidates and stops the search at the limit."""

    def __init__(self, limit: int) -> None:
        self._left = limit

    def count(self, candidates: int = 1) -> None:
        self._left -= candidates
        if self._left < 0:
            raise _TooMany


def list_states(model: Model, starts: StartSet, limit: int) -> list[State] | None:
    """Return the states of the set, or None if that takes more than `limit` candidates.

    A candidate is a value tried for a variable that may have several, or a complete state. Gives
    up as well if a real variable is not pinned to one value. An evaluation error is raised
    for a state that violates no conjunct; a state that another conjunct rules out is passed over.
    """
    counter = _Counter(limit)
    states: dict[tuple[Scalar, ...], State] = {}
    try:
        for pattern in starts.patterns:
            for state in _search(model, pattern, starts, counter):
                states.setdefault(tuple(state.values()), state)
    except _TooMany:
        return None
    return list(states.values())


def _search(
    model: Model, pattern: Mapping[str, tuple[Scalar, ...]], starts: StartSet, counter: _Counter
) -> Iterator[State]:
    """Yield the states that fit one pattern, by backtracking in the order of the variables."""
    domains = _domains(model, pattern, starts, counter)
    checks = _checks(model, starts)
    names = [variable.name for variable in model.variables]
    values: dict[str, Scalar] = {}
    open_choices = [iter(domains[0])] if names else []
    if not names and _satisfies(model, values, starts):
        yield {}
    while open_choices:
        depth = len(open_choices) - 1
        for value in open_choices[-1]:
            counter.count(1 if len(domains[depth]) > 1 else 0)
            values[names[depth]] = value
            if all(_may_hold(code, values) for code in checks[depth]):
                break
        else:
            open_choices.pop()
            continue
        if depth + 1 < len(names):
            open_choices.append(iter(domains[depth + 1]))
            continue
        counter.count()
        state = {name: values[name] for name in names}
        if _satisfies(model, state, starts):
            yield state


def _satisfies(model: Model, state: State, starts: StartSet) -> bool:
    """Return whether a complete state satisfies the conditions, evaluated as they are written."""
    view = model.view(state)
    return all(condition.holds(view) for condition in starts.conditions)


def _may_hold(code: Code, values: Mapping[str, Scalar]) -> bool:
    """Return False only if the conjunct is false: an error may be hidden by another conjunct."""
    try:
        return bool(run(code, values))
    except ModelError:
        return True


def _checks(model: Model, starts: StartSet) -> list[list[Code]]:
    """Return for each variable the conjuncts that can be evaluated once it has a value.

    Conjuncts over transient variables are left to the final test.
    """
    order = {variable.name: number for number, variable in enumerate(model.variables)}
    checks: list[list[Code]] = [[] for _ in model.variables]
    for condition in starts.conditions:
        for code in condition.conjuncts:
            if code.reads and all(name in order for name in code.reads):
                checks[max(order[name] for name in code.reads)].append(code)
    return checks


def _domains(
    model: Model, pattern: Mapping[str, tuple[Scalar, ...]], starts: StartSet, counter: _Counter
) -> list[Domain]:
    """Return the values to try for each variable, narrowed by conjuncts over it alone."""
    conjuncts = [code for condition in starts.conditions for code in condition.conjuncts]
    facts = _facts_of_one(model, conjuncts)
    domains: list[Domain] = []
    for variable in model.variables:
        name = variable.name
        domain: Domain = pattern.get(name) or _all_values(variable, facts.get(name, ()))
        alone = [code for code in conjuncts if code.reads == {name}]
        if len(domain) > 1:
            counter.count(len(domain))
            domain = [v for v in domain if all(_may_hold(code, {name: v}) for code in alone)]
        domains.append(domain)
    return domains


def _facts_of_one(model: Model, conjuncts: Sequence[Code]) -> dict[str, list[Fact]]:
    """Return what the conjuncts say about single cells, by name: that a cell has one value or, if
    it is real, that it is between bounds.
    """
    facts: dict[str, list[Fact]] = {}
    for code in conjuncts:
        for fact in facts_of(code, lambda name: _kind(model, name)):
            (name, factor), *others = fact.factors
            if not others and factor == 1 and (_kind(model, name) == "real" or fact.is_equation):
                facts.setdefault(name, []).append(fact)
    return facts


def _kind(model: Model, name: str) -> str:
    return "transient" if name in model.transient else model.cells[name].kind


def _all_values(variable: Variable, facts: Sequence[Fact]) -> Domain:
    """Return the values between the bounds of the declaration and of the conditions.

    A real has its values listed only if these leave one.
    """
    lower = max([variable.lower, *(each.lower for each in facts if each.lower is not None)])
    upper = min([variable.upper, *(each.upper for each in facts if each.upper is not None)])
    if lower > upper:
        return []
    if lower == upper:
        return [variable.accept(type(variable.lower)(lower))]
    if variable.kind == "bool":
        return [False, True]
    if variable.kind == "int" and upper - lower < sys.maxsize:
        return range(int(lower), int(upper) + 1)
    raise _TooMany
