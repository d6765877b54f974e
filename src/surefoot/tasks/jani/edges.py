"""The edges of one element: guards, probabilities, assignments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from surefoot.errors import InputError, quoted
from surefoot.tasks.description import Assignment
from surefoot.tasks.expressions import Array, Expr, Type, Value, constant, make
from surefoot.tasks.jani.expressions import as_type, cells_of
from surefoot.tasks.jani.model import Element, Model
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    json_int,
    json_items,
    json_object,
    json_string,
    named,
    refuse,
    unsupported,
)
from surefoot.tasks.lowering import constant_value, is_constant

_ASSIGNMENT_KEYS = ("value", "lower-bound", "upper-bound", "index")


@dataclass(frozen=True)
class Destination:
    """What an edge may do: ``probability`` is None if it is constant (and positive)."""

    probability: Expr | None
    assignments: tuple[Assignment, ...]
    move: tuple[Expr, Expr] | None
    """the location variable and the new location; None if the location stays"""
    weight: float = 1.0
    """the probability if that is constant"""


@dataclass(frozen=True)
class LocalEdge:
    """An edge of one element; ``label`` is None if it is silent, ``test`` is for the location."""

    label: str | None
    test: Expr | None
    guard: Expr | None
    destinations: tuple[Destination, ...]
    place: str


def read_edges(model: Model, element: Element) -> list[LocalEdge]:
    """Return the edges of an element in the order of the file."""
    items = json_items(element.node, "edges", element.place)
    actions = frozenset(model.description.actions)
    return [_Edge(model, element, actions, place).read(item) for item, place in items]


class _Edge:
    def __init__(
        self, model: Model, element: Element, actions: frozenset[str], place: Place
    ) -> None:
        self.model = model
        self.element = element
        self.actions = actions
        self.place = place
        self.source = 0

    def read(self, node: Json) -> LocalEdge:
        place = self.place
        optional = ("action", "guard", "rate", "assignments")
        required = ("location", "destinations")
        json_object(node, place, required=required, optional=optional, warn=self.model.warn)
        if "rate" in node:
            unsupported("jani-rate", "edges with rates are not supported", place / "rate")
        if node.get("assignments"):
            message = "assignments of an edge, outside its destinations, are not supported"
            unsupported("jani-edge-assignments", message, place / "assignments")
        self.source = self.element.position(node["location"], place / "location")
        guard = None
        if "guard" in node:
            guard = self.model.condition(node["guard"], self.element.state, place / "guard")
        made = [self._destination(*item) for item in json_items(node, "destinations", place)]
        destinations = tuple(each for each in made if each is not None)
        test = self.element.at(self.source)
        return LocalEdge(self._label(node), test, guard, destinations, str(place))

    def _label(self, node: dict[str, Json]) -> str | None:
        if node.get("action") is None:
            return None
        at = self.place / "action"
        label = json_string(node["action"], at)
        named(label, self.actions, "unknown-action", "action", at)
        return label

    def _destination(self, node: Json, place: Place) -> Destination | None:
        """Return the destination, or None if its probability is the constant 0."""
        optional = ("probability", "assignments")
        json_object(node, place, required=("location",), optional=optional, warn=self.model.warn)
        target = self.element.position(node["location"], place / "location")
        assignments: list[Assignment] = []
        for item, at in json_items(node, "assignments", place):
            assignments += self._assignments(item, at)
        move = None
        if target != self.source and self.element.location is not None:
            move = (self.element.location, constant(target))
        weight, probability = self._probability(node, place / "probability")
        return Destination(probability, tuple(assignments), move, weight) if weight > 0 else None

    def _probability(self, node: dict[str, Json], place: Place) -> tuple[float, Expr | None]:
        """Return the constant factor of a probability and the factor that reads variables."""
        if "probability" not in node:
            return 1.0, None
        wrapped = node["probability"]
        json_object(wrapped, place, required=("exp",), optional=(), warn=self.model.warn)
        at = place / "exp"
        made = self.model.converter.number(wrapped["exp"], self.element.state, at)
        value = _constant_or_none(made)
        if value is None:
            return 1.0, made if made.type == "real" else make("mul", made, 1.0)
        if value < 0:
            refuse("negative-probability", f"a probability of {value} is negative", at)
        return float(value), None

    # -- assignments -----------------------------------------------------------------------------

    def _assignments(self, node: Json, place: Place) -> Iterator[Assignment]:
        warn = self.model.warn
        json_object(node, place, required=("ref",), optional=_ASSIGNMENT_KEYS, warn=warn)
        index = json_int(node.get("index", 0), place / "index")
        target = self._target(node["ref"], place / "ref")
        if "value" not in node:
            yield self._interval(node, target, index, place)
            return
        if "lower-bound" in node or "upper-bound" in node:
            message = "an assignment has either a value or bounds"
            refuse("jani-wrong-assignment", message, place)
        at = place / "value"
        made = self.model.converter.convert(node["value"], self.element.step, at)
        if isinstance(target, Expr):
            if not isinstance(made, Expr):
                refuse("type-mismatch", "an array does not fit into a single variable", at)
            yield Assignment(target, _fitting(made, target.type, at), index=index)
            return
        if isinstance(made, Expr) or len(made) != len(target):
            refuse("type-mismatch", f"expected an array of length {len(target)}", at)
        for cell, value in zip(cells_of(target), cells_of(made), strict=True):
            yield Assignment(cell, _fitting(value, target.type, at), index=index)

    def _target(self, ref: Json, place: Place) -> Expr | Array:
        """Return what an assignment writes: a variable, a cell or a whole array."""
        if isinstance(ref, dict):
            return self._cell(ref, place)
        meaning = self.element.step.find(json_string(ref, place), place)
        if isinstance(meaning, Array) or (isinstance(meaning, Expr) and meaning.op == "variable"):
            return meaning
        refuse("bad-target", f"{quoted(ref)} is a constant: it cannot be assigned to", place)

    def _cell(self, ref: dict[str, Json], place: Place) -> Expr:
        json_object(ref, place, required=("op", "exp", "index"))
        if ref["op"] != "aa":
            refuse("bad-target", "only variables and array cells can be assigned to", place)
        converter, scope = self.model.converter, self.element.step
        array = converter.convert(ref["exp"], scope, place / "exp")
        if not isinstance(array, Array):
            refuse("bad-target", "only cells of array variables can be assigned to", place / "exp")
        at = place / "index"
        index = as_type(converter.scalar(ref["index"], scope, at), "int", at)
        return converter.cell(array, index, place)

    def _interval(
        self, node: dict[str, Json], target: Expr | Array, index: int, place: Place
    ) -> Assignment:
        json_object(node, place, required=("lower-bound", "upper-bound"))
        if isinstance(target, Array) or target.type != "int":
            refuse("type-mismatch", "intervals are for integer variables", place / "ref")
        bounds = []
        for key in ("lower-bound", "upper-bound"):
            made = self.model.converter.scalar(node[key], self.element.step, place / key)
            bounds.append(as_type(made, "int", place / key))
        return Assignment(target, lower=bounds[0], upper=bounds[1], index=index)


def _constant_or_none(probability: Expr) -> Value | None:
    """Return the value of a constant; None if it reads variables or its evaluation is an error."""
    if not is_constant(probability):
        return None
    try:
        return constant_value(probability)
    except InputError:  # for the step to report
        return None


def _fitting(value: Expr, type: Type, place: Place) -> Expr:
    """Return the value if the variable's type can take it; the core turns ints into reals."""
    if value.type != type and (value.type, type) != ("int", "real"):
        refuse(
            "type-mismatch", f"a {value.type} does not fit into a variable of type {type}", place
        )
    return value
