"""The model object: variables, elements and their edges.

:class:`Model` is a JANI model with names resolved. An :class:`Element` is one entry of
``system.elements``; it has three scopes, which differ in what transient variables mean there:

* ``step``: what assignments read, the variable itself;
* ``state``: what guards, probabilities and conditions read, the value that the locations give it;
* ``value``: what ``transient-values`` read, and these must not read transient variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from surefoot.errors import quoted
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, Value, all_of, constant, make
from surefoot.tasks.jani.declarations import Declarer, Transient, add_name, read_constants
from surefoot.tasks.jani.expressions import Converter, Entry, Function, Hidden, Scope
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    distinct,
    json_items,
    json_list,
    json_object,
    json_string,
    named,
    refuse,
    unsupported,
)
from surefoot.tasks.jani.transients import state_values

_MODEL_KEYS = (
    "metadata", "features", "actions", "constants", "variables", "functions", "properties",
    "restrict-initial", "labels", "rewards", "predicates",
)  # fmt: skip
_AUTOMATON_KEYS = ("variables", "functions", "restrict-initial")
_LOCATION_KEYS = ("transient-values", "x", "y")
_TYPES = ("lts", "mdp", "dtmc")
_OTHER_TYPES = {
    "ctmc": "rates", "ctmdp": "rates", "ma": "rates", "ta": "clocks", "pta": "clocks",
    "sta": "clocks", "ha": "continuous variables", "pha": "continuous variables",
    "sha": "continuous variables",
}  # fmt: skip


@dataclass(eq=False)
class Element:
    """One entry of ``system.elements``."""

    name: str
    automaton: str
    node: dict[str, Json]
    place: Place
    locations: dict[str, int]
    initial: list[int]
    location: Expr | None = None
    """the variable that holds the location; None if there is only one location"""
    step: Scope = field(default_factory=Scope)
    state: Scope = field(default_factory=Scope)
    value: Scope = field(default_factory=Scope)
    transients: list[Transient] = field(default_factory=list)

    def at(self, location: int) -> Expr | None:
        """Return the condition that this is the current location; None if it always is."""
        return None if self.location is None else make("eq", self.location, location)

    def position(self, name: Json, place: Place) -> int:
        """Return the number of a location."""
        named(json_string(name, place), self.locations, "unknown-location", "location", place)
        return self.locations[name]


@dataclass(eq=False)
class Model:
    """A JANI model while it is read."""

    node: dict[str, Json]
    description: Description
    int_range: tuple[int, int] | None = None
    converter: Converter = field(default_factory=Converter)
    elements: list[Element] = field(default_factory=list)
    constants: Scope = field(default_factory=Scope)
    step: Scope = field(default_factory=Scope)
    state: Scope = field(default_factory=Scope)
    value: Scope = field(default_factory=Scope)
    transients: list[Transient] = field(default_factory=list)
    _warned: set[tuple[str, str]] = field(default_factory=set)

    def warn(self, message: str, place: Place | str) -> None:
        """Note something unusual, once."""
        key = (message, str(place))
        if key not in self._warned:
            self._warned.add(key)
            self.description.warn(*key)

    def read(self, given: Mapping[str, object]) -> None:
        """Read everything but edges and properties."""
        self._check_head()
        self._read_actions()
        constants = read_constants(self.converter, self.node, given, self.warn)
        self.constants, values = constants
        self.description.constants.update(values)
        self.elements = _read_elements(self)
        _Variables(self).read()

    def _check_head(self) -> None:
        root = Place()
        required = ("jani-version", "name", "type", "automata", "system")
        if isinstance(self.node, dict) and "datatypes" in self.node:
            unsupported("jani-type", "datatypes are not supported", root / "datatypes")
        json_object(self.node, root, required=required, optional=_MODEL_KEYS, warn=self.warn)
        self.description.name = json_string(self.node["name"], root / "name")
        type = json_string(self.node["type"], root / "type")
        if type in _OTHER_TYPES:
            message = f"models of type {type} are not supported ({_OTHER_TYPES[type]})"
            unsupported("jani-model-type", message, root / "type")
        if type not in _TYPES:
            refuse("jani-unknown-type", f"there is no model type {quoted(type)}", root / "type")
        if self.node["jani-version"] != 1:
            unsupported("jani-version", "only JANI version 1 is supported", root / "jani-version")

    def _read_actions(self) -> None:
        actions = self.description.actions
        for item, place in json_items(self.node, "actions", Place()):
            json_object(item, place, required=("name",), optional=(), warn=self.warn)
            name = json_string(item["name"], place / "name")
            distinct(name, actions, "action", place / "name")
            actions[name] = None

    def condition(self, node: Json, scope: Scope, place: Place) -> Expr:
        """Return a condition that the model wraps as ``{"exp": ...}``."""
        json_object(node, place, required=("exp",), optional=(), warn=self.warn)
        return self.converter.condition(node["exp"], scope, place / "exp")

    def initial_values(self) -> dict[str, Value | None]:
        """Return the initial value of every state variable; None stands for any."""
        variables = self.description.variables.values()
        return {v.name: v.initial for v in variables if not v.is_scratch}


# --- elements ---------------------------------------------------------------------------------


def _read_elements(model: Model) -> list[Element]:
    automata = _automata(model)
    system = model.node["system"]
    place = Place() / "system"
    optional = ("syncs",)
    json_object(system, place, required=("elements",), optional=optional, warn=model.warn)
    entries = [
        (_automaton_of(model, item, at, automata), at)
        for item, at in json_items(system, "elements", place)
    ]
    if not entries:
        refuse("no-element", "the system has no elements", place / "elements")
    names = [name for name, _ in entries]
    counts = {name: names.count(name) for name in automata}
    elements = []
    for k, name in enumerate(names):
        shown = name if counts[name] == 1 else f"{name}#{k}"
        elements.append(_element(model, shown, name, *automata[name]))
    return elements


def _automata(model: Model) -> dict[str, tuple[dict[str, Json], Place]]:
    automata: dict[str, tuple[dict[str, Json], Place]] = {}
    required = ("name", "locations", "initial-locations", "edges")
    for item, place in json_items(model.node, "automata", Place()):
        json_object(item, place, required=required, optional=_AUTOMATON_KEYS, warn=model.warn)
        name = json_string(item["name"], place / "name")
        distinct(name, automata, "automaton", place / "name")
        automata[name] = (item, place)
    return automata


def _automaton_of(model: Model, item: Json, place: Place, automata: dict[str, Any]) -> str:
    optional = ("input-enable",)
    json_object(item, place, required=("automaton",), optional=optional, warn=model.warn)
    if item.get("input-enable"):
        unsupported("jani-input-enable", "input-enable is not supported", place / "input-enable")
    name = json_string(item["automaton"], place / "automaton")
    named(name, automata, "unknown-automaton", "automaton", place / "automaton")
    return name


def _element(
    model: Model, name: str, automaton: str, node: dict[str, Json], place: Place
) -> Element:
    locations: dict[str, int] = {}
    for item, at in json_items(node, "locations", place):
        json_object(item, at, required=("name",))
        if "time-progress" in item:
            message = "time-progress conditions are not supported (clocks)"
            unsupported("jani-time-progress", message, at / "time-progress")
        json_object(item, at, required=("name",), optional=_LOCATION_KEYS, warn=model.warn)
        location = json_string(item["name"], at / "name")
        distinct(location, locations, "location", at / "name")
        locations[location] = len(locations)
    element = Element(name, automaton, node, place, locations, [])
    at = place / "initial-locations"
    for i, initial in enumerate(json_list(node["initial-locations"], at)):
        element.initial.append(element.position(initial, at / i))
    if not element.initial:
        refuse("no-initial-location", "the automaton has no initial location", at)
    element.initial = sorted(set(element.initial))
    return element


# --- variables and scopes -----------------------------------------------------------------------

_HIDDEN = Hidden("a transient value that reads a transient variable is not supported")


class _Variables:
    """Declares all variables in their order and fills the scopes."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.declarer = Declarer(
            model.description, model.converter, model.constants, model.int_range, model.warn
        )
        self.late: list[tuple[Element | None, Json, Place]] = []

    def read(self) -> None:
        model = self.model
        names: dict[str, Entry] = dict(model.constants.names)
        self._declare(model.node, Place(), names, None)
        model.step = Scope(names)
        for element in model.elements:
            self._declare_location(element)
            own: dict[str, Entry] = {}
            self._declare(element.node, element.place, own, element)
            element.step = Scope(own, model.step)
        for owner, node, place in self.late:
            self._declare_transient(owner, node, place)
        self._add_scopes()

    def _declare(
        self, node: dict[str, Json], at: Place, names: dict[str, Entry], element: Element | None
    ) -> None:
        for item, place in json_items(node, "variables", at):
            if self.declarer.is_transient(item, place):
                self.late.append((element, item, place))
                continue
            prefix = "" if element is None else element.name + "."
            name = json_string(item["name"], place / "name")
            distinct(name, names, "variable", place / "name")
            name, meaning = self.declarer.declare(item, place, prefix=prefix)
            add_name(names, name, meaning, place)

    def _declare_location(self, element: Element) -> None:
        if len(element.locations) < 2:
            return
        initial = element.initial[0] if len(element.initial) == 1 else None
        element.location = self.model.description.int(
            f"{element.name}.location",
            0,
            len(element.locations) - 1,
            initial=initial,
            labels=tuple(element.locations),
            place=str(element.place / "locations"),
        )

    def _declare_transient(self, owner: Element | None, node: Json, place: Place) -> None:
        prefix = "" if owner is None else owner.name + "."
        names = (owner or self.model).step.names
        made = self.declarer.declare_transient(node, place, prefix=prefix)
        add_name(names, made.name, made.meaning, place)
        (owner or self.model).transients.append(made)

    def _add_scopes(self) -> None:
        """Make the scopes in which transient variables mean something else."""
        model = self.model
        self._add_functions(model.step, model.node, Place())
        model.value = self._hiding(model, model.node, Place(), None)
        for element in model.elements:
            self._add_functions(element.step, element.node, element.place)
            element.value = self._hiding(element, element.node, element.place, model.value)
        model.state = Scope({**model.step.names, **state_values(model, None)})
        self._add_functions(model.state, model.node, Place())
        for element in model.elements:
            own = {**element.step.names, **state_values(model, element)}
            element.state = Scope(own, model.state)
            self._add_functions(element.state, element.node, element.place)

    def _hiding(
        self, owner: Model | Element, node: dict[str, Json], place: Place, parent: Scope | None
    ) -> Scope:
        hidden: dict[str, Entry] = {t.name: _HIDDEN for t in owner.transients}
        scope = Scope({**owner.step.names, **hidden}, parent)
        self._add_functions(scope, node, place)
        return scope

    def _add_functions(self, scope: Scope, node: dict[str, Json], at: Place) -> None:
        required = ("name", "type", "parameters", "body")
        for item, place in json_items(node, "functions", at):
            json_object(item, place, required=required, optional=(), warn=self.model.warn)
            name = json_string(item["name"], place / "name")
            distinct(name, scope.functions, "function", place / "name")
            scope.functions[name] = Function(name, item, place, scope)


def conjunction(conditions: list[Expr]) -> Expr:
    """Return the conjunction; of nothing, it is true."""
    joined = all_of(conditions)
    return constant(True) if joined is None else joined
