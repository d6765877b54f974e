"""What a transient variable means in a state: what its location says, else its initial value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from surefoot.errors import quoted
from surefoot.tasks.description import REAL_LIMIT
from surefoot.tasks.expressions import Array, Expr, make
from surefoot.tasks.jani.declarations import Transient
from surefoot.tasks.jani.expressions import (
    Cells,
    Entry,
    Scope,
    as_type,
    cells_of,
    raising,
)
from surefoot.tasks.jani.reading import (
    Json,
    Place,
    json_items,
    json_object,
    json_string,
    refuse,
    unsupported,
)

if TYPE_CHECKING:
    from surefoot.tasks.jani.model import Element, Model


def state_values(model: Model, owner: Element | None) -> dict[str, Entry]:
    """Return the meaning of each transient variable of an element (or of the model) in a state."""
    transients = model.transients if owner is None else owner.transients
    return {t.name: _chain(model, owner, t) for t in transients}


def _chain(model: Model, owner: Element | None, transient: Transient) -> Expr | Cells:
    """Return the value by location, else the initial value. The first element wins."""
    result: Expr | Cells = transient.initial
    elements = model.elements if owner is None else [owner]
    for element in reversed(elements):
        for position, node, place in reversed(list(_values_of(model, element))):
            if _names(model, element, node, place) is transient.meaning:
                value = _value(model, element.value, transient, node, place)
                result = _choose(element.at(position), value, result)
    return result


def _values_of(model: Model, element: Element) -> Iterator[tuple[int, Json, Place]]:
    for position, (location, at) in enumerate(json_items(element.node, "locations", element.place)):
        seen: set[str] = set()
        for item, place in json_items(location, "transient-values", at):
            json_object(item, place, required=("ref", "value"), optional=(), warn=model.warn)
            if isinstance(item["ref"], str) and item["ref"] in seen:
                message = f"variable {quoted(item['ref'])} gets two transient values"
                refuse("duplicate-name", message, place / "ref")
            seen.add(str(item["ref"]) if isinstance(item["ref"], str) else "")
            yield position, item, place


def _names(model: Model, element: Element, node: Json, place: Place) -> Entry:
    at = place / "ref"
    if isinstance(node["ref"], dict):
        unsupported("jani-transient", "transient values of array cells are not supported", at)
    meaning = element.step.find(json_string(node["ref"], at), at)
    all_transients = [*model.transients, *element.transients]
    if not any(t.meaning is meaning for t in all_transients):
        refuse("not-transient", f"variable {quoted(node['ref'])} is not transient", at)
    return meaning


def _value(
    model: Model, scope: Scope, transient: Transient, node: Json, place: Place
) -> Expr | Cells:
    at = place / "value"
    made = model.converter.convert(node["value"], scope, at)
    type = transient.meaning.type
    if isinstance(transient.meaning, Array) == isinstance(made, Expr):
        refuse("type-mismatch", "an array can only have arrays as values", at)
    if isinstance(made, Expr):
        return _within_range(model, as_type(made, type, at), transient)
    if len(made) != len(cells_of(transient.initial)):  # type: ignore[arg-type]
        refuse("type-mismatch", "an array can only have arrays of its length as values", at)
    items = [_within_range(model, as_type(item, type, at), transient) for item in cells_of(made)]
    return Cells(type, tuple(items))


def _within_range(model: Model, value: Expr, transient: Transient) -> Expr:
    """Return the value such that it raises an error where it leaves the variable's range."""
    lower, upper = transient.lower, transient.upper
    if value.type == "bool" or (lower == -REAL_LIMIT and upper == REAL_LIMIT):
        return value
    if value.op == "variable":
        read = model.description.variables[value.value]
        if lower <= read.lower and read.upper <= upper:
            return value
    if value.op == "constant" and lower <= value.value <= upper:
        return value
    fits = make("and", make("le", lower, value), make("le", value, upper))
    return make("ite", fits, value, raising("out-of-range", value.type))


def _choose(condition: Expr | None, then: Expr | Cells, otherwise: Expr | Cells) -> Expr | Cells:
    if condition is None:
        return then
    if isinstance(then, Expr):
        return make("ite", condition, then, otherwise)
    assert isinstance(otherwise, Cells)
    pairs = zip(then.items, otherwise.items, strict=True)
    return Cells(then.type, tuple(make("ite", condition, a, b) for a, b in pairs))
