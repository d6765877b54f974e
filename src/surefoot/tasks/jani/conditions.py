"""Conditions and listed states of properties.

:class:`Part` is a piece of a property with the file it stands in; :func:`resolved` follows its
references to other files and labels, and :class:`Conditions` says what it means.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from surefoot.errors import InputError, SurefootError, quoted
from surefoot.files import UNREADABLE, read_json
from surefoot.tasks.description import Variable
from surefoot.tasks.expressions import Array, Expr, Value, make, variable
from surefoot.tasks.jani.declarations import value_for
from surefoot.tasks.jani.expressions import Entry, Scope, as_type, cells_of, value_of
from surefoot.tasks.jani.infix import WrittenCondition, expression_of
from surefoot.tasks.jani.model import Element, Model, conjunction
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    in_file,
    json_int,
    json_items,
    json_list,
    json_object,
    json_string,
    named,
    refuse,
    unsupported,
)

MAX_STARTS = 100_000
CONDITIONS = ("state-condition", "states-condition")
LISTS = ("states-values",)


@dataclass(frozen=True)
class Part:
    """A piece of JSON, the file (or option) it stands in, and that file's labels."""

    node: Json
    file: str
    place: Place
    labels: tuple[Json, Place] = field(default=((), Place()))
    written: WrittenCondition | None = None
    """the expression, if that was given instead of a file"""

    @contextmanager
    def named(self) -> Iterator[None]:
        """Give errors from within the file and, in an expression, the column."""
        try:
            with in_file(self.file):
                yield
        except SurefootError as error:
            if self.written is not None and error.file == self.file and error.place is not None:
                column = self.written.column(error.place)
                error.place = error.place if column is None else f"column {column}"
            raise

    def at(self, key: str) -> Part:
        """Return what stands under a key."""
        return Part(self.node[key], self.file, self.place / key, self.labels)

    @property
    def op(self) -> str | None:
        """The operator of an object, None for other things."""
        op = self.node.get("op") if isinstance(self.node, dict) else None
        return op if isinstance(op, str) else None


def whole_file(path: str | Path) -> Part:
    """Return the content of a file."""
    node = read_json(path)
    labels = node.get("labels", []) if isinstance(node, dict) else []
    return Part(node, str(path), Place(), (labels, Place() / "labels"))


def written(text: str, option: str) -> Part:
    """Return the expression that was given for an option."""
    name = f"{option} {quoted(text)}"
    with in_file(name):
        expression = expression_of(text)
    return Part(expression.node, name, Place(), written=expression)


def resolved(part: Part) -> Part:
    """Return the part that a chain of file and label references leads to."""
    seen: set[str] = set()
    while isinstance(part.node, dict) and "op" not in part.node:
        if "file" in part.node:
            part = _referenced(part, seen)
        elif "label" in part.node:
            part = _labelled(part, seen)
        else:
            break
    return part


def _check_new(key: str, seen: set[str], place: Place) -> None:
    if key in seen:
        refuse("reference-cycle", "references lead back to this one", place)
    seen.add(key)


def _referenced(part: Part, seen: set[str]) -> Part:
    with in_file(part.file):
        at = part.place / "file"
        name = json_string(part.node["file"], at)
        _check_new(f"{part.file}:{name}", seen, at)
        path = os.path.join(os.path.dirname(part.file), name)
    try:
        return whole_file(path)
    except InputError as error:
        if error.code in UNREADABLE:  # the reference is to blame, not what it leads to
            message = f"{quoted(name)}: {error.message}"
            error.file, error.place, error.message = part.file, str(at), message
        raise


def _labelled(part: Part, seen: set[str]) -> Part:
    with in_file(part.file):
        at = part.place / "label"
        name = json_string(part.node["label"], at)
        _check_new(f"{part.file}:label {name}", seen, at)
        node, place = part.labels
        known: dict[str, tuple[Json, Place]] = {}
        for i, item in enumerate(json_list(node, place)):
            json_object(item, place / i, required=("name", "element"))
            known[json_string(item["name"], place / i / "name")] = item["element"], place / i
        named(name, known, "unknown-label", "label", at)
    label, below = known[name]
    return Part(label, part.file, below / "element", part.labels)


def property_scope(model: Model) -> Scope:
    """Return the scope of conditions: global names, state names (``m.x``), unique local names."""
    names: dict[str, Entry] = {}
    local: dict[str, list[Entry]] = {}
    for element in model.elements:
        for name in element.step.names:
            meaning = element.state.names[name]
            names[f"{element.name}.{name}"] = meaning
            local.setdefault(name, []).append(meaning)
    for v in model.description.variables.values():
        if not v.is_scratch:
            names.setdefault(v.name, variable(v.name, v.type))
    for name, meanings in local.items():
        if len(meanings) == 1:
            names.setdefault(name, meanings[0])
    names |= model.state.names
    return Scope(names, functions=model.state.functions)


@dataclass
class Conditions:
    """Reads conditions and lists of states of one model."""

    model: Model
    scope: Scope

    def condition(self, part: Part, *, is_start: bool = False) -> Expr:
        """Return a condition; one for starts has the other elements at an initial location."""
        with part.named():
            if part.op not in CONDITIONS:
                tests = self._initial_locations(set()) if is_start else []
                exp = self.model.converter.condition(part.node, self.scope, part.place)
                return conjunction([*tests, exp])
            optional = ("exp", "locations")
            warn = self._warn(part)
            json_object(part.node, part.place, required=("op",), optional=optional, warn=warn)
            listed = self._locations(part.node, part.place)
            tests = [t for e, k in listed.items() if (t := e.at(k)) is not None]
            if is_start:
                tests += self._initial_locations(set(listed))
            if "exp" in part.node:
                at = part.place / "exp"
                tests.append(self.model.converter.condition(part.node["exp"], self.scope, at))
            return conjunction(tests)

    def _warn(self, part: Part) -> Any:
        if part.file == self.model.description.file:
            return self.model.warn
        return lambda message, place: self.model.description.warn(message, f"{part.file}:{place}")

    def _initial_locations(self, listed: set[Element]) -> list[Expr]:
        return [c for e in self.model.elements if e not in listed for c in initial_locations(e)]

    def _locations(self, node: dict[str, Json], place: Place) -> dict[Element, int]:
        locations: dict[Element, int] = {}
        for item, at in json_items(node, "locations", place):
            json_object(item, at, required=("location",))
            element = self._element(item, at)
            if element in locations:
                message = f"element {quoted(element.name)} has two locations"
                refuse("duplicate-name", message, at)
            locations[element] = element.position(item["location"], at / "location")
        return locations

    def _element(self, item: dict[str, Json], place: Place) -> Element:
        elements = self.model.elements
        if "automaton" in item:
            name = json_string(item["automaton"], place / "automaton")
            known = [e.automaton for e in elements]
            named(name, known, "unknown-automaton", "automaton", place / "automaton")
        if "index" in item:
            index = json_int(item["index"], place / "index")
            if not 0 <= index < len(elements):
                refuse("unknown-automaton", f"there is no element {index}", place / "index")
            if item.get("automaton", elements[index].automaton) != elements[index].automaton:
                message = f"element {index} is {quoted(elements[index].automaton)}"
                refuse("unknown-automaton", message, place / "automaton")
            return elements[index]
        json_object(item, place, required=("automaton",))
        fitting = [e for e in elements if e.automaton == item["automaton"]]
        if len(fitting) > 1:
            refuse("jani-missing-key", 'key "index" is missing: the automaton occurs twice', place)
        return fitting[0]

    # -- listed states ---------------------------------------------------------------------------

    def states(self, part: Part) -> list[dict[str, Value]]:
        """Return the listed states, complete: what an entry leaves open has its initial value."""
        with in_file(part.file):
            warn = self._warn(part)
            json_object(part.node, part.place, required=("values",), optional=("op",), warn=warn)
            place = part.place / "values"
            entries = json_list(part.node["values"], place)
            if not entries:
                refuse("no-start-state", "the list of start states is empty", place)
            return self._filled(self._read_entries(entries, place), place)

    def _read_entries(self, entries: list[Json], place: Place) -> Iterator[dict[str, Value | None]]:
        """Yield the states: plain ones the fast way, the rest (and all errors) the careful one."""
        initial = self.model.initial_values()
        table: dict[object, tuple[type, Any, Any]] = self._plain_values()
        for i, entry in enumerate(entries):
            given: Any = {}
            try:
                items = entry["variables"]
                for item in items:
                    value = item["value"]
                    kind, lower, upper = table[item["var"]]
                    if type(value) is not kind or not lower <= value <= upper or len(item) != 2:
                        given = None
                        break
                    given[item["var"]] = value
            except (KeyError, TypeError):
                given = None
            if given is None or len(given) != len(items) or len(entry) != 1:
                given = self._careful(entry, place / i)
            yield initial | given

    def _plain_values(self) -> dict[object, tuple[type, object, object]]:
        kinds: dict[str, type] = {"bool": bool, "int": int, "real": float}
        table: dict[object, tuple[type, object, object]] = {}
        for name, meaning in self.scope.names.items():
            if isinstance(meaning, Expr) and meaning.op == "variable" and meaning.value == name:
                v = self.model.description.variables[name]
                table[name] = (kinds[v.type], v.lower, v.upper)
        return table

    def _careful(self, entry: Json, place: Place) -> dict[str, Value]:
        optional = ("variables", "locations")
        json_object(entry, place, optional=optional, warn=self.model.warn)
        given: dict[str, Value] = {}
        for item, at in json_items(entry, "variables", place):
            json_object(item, at, required=("var", "value"), optional=(), warn=self.model.warn)
            for v, value in self._listed(item, at):
                if v.name in given:
                    message = f"variable {quoted(v.name)} has two values"
                    refuse("duplicate-name", message, at / "var")
                given[v.name] = value_for(v, value, at / "value")
        for element, position in self._locations(entry, place).items():
            if element.location is not None:
                given[element.location.value] = position
        return given

    def _listed(self, item: dict[str, Json], place: Place) -> Iterator[tuple[Variable, Value]]:
        """Yield the variables (several, if it is an array) and values of one entry."""
        converter, at = self.model.converter, place / "value"
        target = converter.convert(item["var"], self.scope, place / "var")
        value = item["value"]
        if isinstance(value, list):
            value = {"op": "av", "elements": value}
        made = converter.convert(value, self.model.constants, at)
        if isinstance(target, Expr) != isinstance(made, Expr):
            refuse("type-mismatch", "an array's value is an array, and no other's is", at)
        targets = [target] if isinstance(target, Expr) else cells_of(target)
        values = [made] if isinstance(made, Expr) else cells_of(made)
        if len(targets) != len(values):
            refuse("type-mismatch", f"the array has length {len(targets)}, not {len(values)}", at)
        for part, expr in zip(targets, values, strict=True):
            if part.op != "variable" or isinstance(target, Array) != (target is not part):
                refuse("bad-target", "only variables of the state can be given", place / "var")
            v = self.model.description.lookup(part.value, str(place / "var"))
            yield v, value_of(as_type(expr, v.type, at), at)

    def _filled(
        self, states: Iterator[dict[str, Value | None]], place: Place
    ) -> list[dict[str, Value]]:
        """Return the states with what is still open given every value of its range."""
        result: list[dict[str, Value]] = []
        may_be_open = None in self.model.initial_values().values()
        for state in states:
            if not may_be_open or None not in state.values():
                result.append(state)  # type: ignore[arg-type]
                continue
            open_names = [name for name, value in state.items() if value is None]
            ranges = [self._values_of(name, place) for name in open_names]
            for values in itertools.product(*ranges):
                filled = state | dict(zip(open_names, values, strict=True))
                result.append(filled)  # type: ignore[arg-type]
                if len(result) > MAX_STARTS:
                    self._too_many(open_names[0], place)
        return result

    def _values_of(self, name: str, place: Place) -> list[Value]:
        v = self.model.description.variables[name]
        if v.type == "bool":
            return [False, True]
        element = next((e for e in self.model.elements if _is_location(e, name)), None)
        if element is not None:
            return list(element.initial)
        if v.type == "real" or v.upper - v.lower >= MAX_STARTS:
            self._too_many(name, place)
        return list(range(int(v.lower), int(v.upper) + 1))

    def _too_many(self, name: str, place: Place) -> None:
        message = f"variable {quoted(name)} has no initial value and too many values to list"
        hint = "name it in every listed state"
        unsupported("too-many-start-states", message, place, hint)


def _is_location(element: Element, name: str) -> bool:
    return element.location is not None and element.location.value == name


def initial_locations(element: Element) -> list[Expr]:
    """Return the condition, if there is one, that the element is at an initial location."""
    tests = [test for k in element.initial if (test := element.at(k)) is not None]
    if not tests:
        return []
    joined = tests[0]
    for test in tests[1:]:
        joined = make("or", joined, test)
    return [joined]
