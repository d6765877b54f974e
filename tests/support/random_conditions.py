"""Conditions with local names, and reals that a start condition pins, for random models.

They are drawn from numbers of their own, so that the rest of a random model does not depend on
them. ``condition_features(model)`` names what a model uses, ``CONDITION_FEATURES`` all of it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Json = Any

CONDITION_FEATURES = frozenset(
    {
        "local name in condition", "qualified name in condition",
        "local array in condition", "qualified local array in condition",
        "real pinned by bounds", "cell pinned by bounds", "real pinned by equality",
        "real pinned by its declaration",
    }
)  # fmt: skip
_MIRRORED = {"=": "=", "<": ">", "≤": "≥", ">": "<", "≥": "≤"}


def add_conditions(model: Json, rng: random.Random, *, calm: bool) -> None:
    """Add conditions on local variables and pinned reals to the property of a random model.

    If it is not calm, its own start condition comes after the pins: behind an error nothing tells.
    """
    for each in model.get("properties", ()):
        if each["expression"]["op"] == "PA":
            _Writer(model, each["expression"], rng, calm=calm).add()


@dataclass(frozen=True)
class _Name:
    """A variable of the state, and how conditions may call it."""

    declaration: Json
    calls: tuple[str, ...]

    @property
    def base(self) -> str:
        """Its type, or that of its cells: bool, int or real."""
        declared = self.declaration["type"]
        while isinstance(declared, dict):
            declared = declared["base"]
        return str(declared)

    @property
    def is_array(self) -> bool:
        return isinstance(self.declaration["type"], dict) and (
            self.declaration["type"]["kind"] == "array"
        )

    def values(self) -> list[Json] | None:
        """Return the initial values of its cells if they are written as numbers."""
        initial = self.declaration.get("initial-value")
        if self.is_array:
            elements = initial["elements"] if initial["op"] == "av" else None
            is_plain = elements is not None and all(map(_is_number, elements))
            return list(elements) if is_plain else None
        if initial is None and isinstance(self.declaration["type"], dict):
            initial = self.declaration["type"]["lower-bound"]
        return [initial] if _is_number(initial) else None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _names(model: Json) -> tuple[list[_Name], list[_Name]]:
    """Return the variables of the state, global and local ones; the latter only of automata that
    are in the system once.
    """
    elements = Counter(each["automaton"] for each in model["system"]["elements"])
    local = [
        (automaton["name"], declaration)
        for automaton in model["automata"]
        for declaration in automaton.get("variables", ())
        if elements[automaton["name"]] and not declaration.get("transient")
    ]
    owners = Counter[str]()
    for automaton in model["automata"]:
        for declaration in automaton.get("variables", ()):
            owners[declaration["name"]] += elements[automaton["name"]]
    found = [each for each in model["variables"] if not each.get("transient")]
    return [_Name(each, (each["name"],)) for each in found], [
        _Name(each, (f"{owner}.{each['name']}", *([each["name"]] * (owners[each["name"]] == 1))))
        for owner, each in local
        if elements[owner] == 1
    ]


class _Writer:
    def __init__(self, model: Json, expression: Json, rng: random.Random, *, calm: bool) -> None:
        self.model = model
        self.calm = calm
        self.expression = expression
        self.rng = rng
        self.globals, self.locals = _names(model)

    def add(self) -> None:
        if self.locals and self.rng.random() < 0.6:
            self._add_to_conditions()
        copies = len(self.model["system"]["elements"]) > len(
            {each["automaton"] for each in self.model["system"]["elements"]}
        )
        reals = [each for each in (*self.globals, *self.locals) if each.base == "real"]
        is_known = all(each.values() is not None for each in reals)
        if reals and is_known and not copies and self.rng.random() < 0.6:
            self._pin(reals)

    def _add_to_conditions(self) -> None:
        goal = self.expression.get("objective", {}).get("goal")
        for part in (self.expression.get("reach"), goal):
            if part is not None and self.rng.random() < 0.7:
                joined = self.rng.choice("∧∨")
                part["exp"] = _node(joined, part.get("exp", joined == "∧"), self._on_local())
        start = self.expression.get("start")
        if start is not None and start["op"] == "state-condition" and self.rng.random() < 0.4:
            start["exp"] = _node("∧", start.get("exp", True), self._on_local())

    def _on_local(self) -> Json:
        """Return a condition on a local variable that cannot go wrong."""
        name = self.rng.choice(self.locals)
        called: Json = self.rng.choice(name.calls)
        if name.is_array:
            called = {"op": "aa", "exp": called, "index": 0}
        if name.base == "bool":
            return called if self.rng.random() < 0.5 else {"op": "¬", "exp": called}
        op = self.rng.choice(("<", "≤", ">", "≥", "≠", "="))
        return self._compared(op, called, self.rng.choice((-1, 0, 1, 2)))

    def _compared(self, op: str, left: Json, right: Json) -> Json:
        is_mirrored = op in _MIRRORED and self.rng.random() < 0.4
        return _node(_MIRRORED[op], right, left) if is_mirrored else _node(op, left, right)

    # pinned reals

    def _pin(self, reals: Sequence[_Name]) -> None:
        parts = [part for name in reals for part in self._pins(name)]
        old = self.expression.get("start")
        if old is None or old["op"] != "state-condition":
            old = {"op": "state-condition"}
            parts += self._initial_values()
        self.rng.shuffle(parts)
        if "exp" in old:
            parts.insert(self.rng.randrange(len(parts)) if self.calm else len(parts), old["exp"])
        while len(parts) > 1:
            at = self.rng.randrange(len(parts) - 1)
            parts[at : at + 2] = [_node("∧", parts[at], parts[at + 1])]
        self.expression["start"] = {**old, "exp": parts[0]}

    def _initial_values(self) -> Iterator[Json]:
        """Yield conditions that leave few values to the others."""
        for name in (*self.globals, *self.locals):
            initial = name.declaration.get("initial-value")
            if name.base != "real" and not name.is_array and initial is not None:
                yield _node("=", self.rng.choice(name.calls), initial)

    def _pins(self, name: _Name) -> Iterator[Json]:
        """Yield conditions that leave one value to a real, or to each cell of an array."""
        for index, value in enumerate(name.values() or ()):
            called: Json = self.rng.choice(name.calls)
            if name.is_array:
                called = {"op": "aa", "exp": called, "index": index}
            yield from self._pin_cell(name, called, value)

    def _pin_cell(self, name: _Name, called: Json, value: Json) -> Iterator[Json]:
        declared = name.declaration["type"]
        declared = declared["base"] if name.is_array else declared
        bounds = declared if isinstance(declared, dict) else {}
        form = self.rng.random()
        if form < 0.15:
            yield self._compared("=", called, value)
        elif form < 0.3 and value in (bounds.get("lower-bound"), bounds.get("upper-bound")):
            is_lower = value == bounds.get("lower-bound")
            yield self._compared("≤" if is_lower else "≥", called, value)
        else:
            yield self._compared("≥", called, value)
            yield self._compared("≤", called, value)


def _node(op: str, left: Json, right: Json) -> Json:
    return {"op": op, "left": left, "right": right}


# -- what a model uses -------------------------------------------------------------------------


def condition_features(model: Json) -> set[str]:
    """Return the features of its conditions that the model uses."""
    _, local = _names(model)
    kinds = {
        call: f"{'qualified ' if '.' in call else ''}{'local array' if each.is_array else 'name'}"
        for each in local
        for call in each.calls
    }
    words = {"name": "local name"}
    found: set[str] = set()
    for each in model.get("properties", ()):
        expression = each["expression"]
        if expression["op"] != "PA":
            continue
        for node in _nodes(expression):
            if isinstance(node, str) and node in kinds:
                found.add(f"{words.get(kinds[node], kinds[node])} in condition")
        start = expression.get("start")
        if start is not None and start["op"] == "state-condition":
            found.update(_pin_features(model, start.get("exp", True)))
    return found


def _nodes(exp: Json) -> Iterator[Json]:
    yield exp
    parts = exp.values() if isinstance(exp, dict) else exp if isinstance(exp, list) else ()
    for part in parts:
        yield from _nodes(part)


def _pin_features(model: Json, exp: Json) -> Iterator[str]:
    """Yield how the conjuncts of a start condition pin reals."""
    everything = [each for names in _names(model) for each in names]
    reals = {call: each for each in everything if each.base == "real" for call in each.calls}
    sides: dict[str, set[str]] = {}
    for part in _conjuncts(exp):
        if not isinstance(part, dict) or part.get("op") not in _MIRRORED:
            continue
        for called, op in (
            (part["left"], part["op"]),
            (part["right"], _MIRRORED[part["op"]]),
        ):
            is_cell = isinstance(called, dict) and called.get("op") == "aa"
            name = called["exp"] if is_cell else called
            if isinstance(name, str) and name in reals:
                sides.setdefault(str(called), set()).add({"<": "≥", ">": "≤"}.get(op, op))
    for called, ops in sides.items():
        if {"≥", "≤"} <= ops:
            yield "cell pinned by bounds" if called.startswith("{") else "real pinned by bounds"
        elif "=" in ops:
            yield "real pinned by equality"
        else:
            yield "real pinned by its declaration"


def _conjuncts(exp: Json) -> Iterator[Json]:
    waiting = [exp]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and part.get("op") == "∧":
            waiting += [part["left"], part["right"]]
        else:
            yield part
