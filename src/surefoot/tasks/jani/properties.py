"""Start, goal and fail: which property says so, and what it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.tasks.expressions import Expr
from surefoot.tasks.jani.conditions import (
    CONDITIONS,
    LISTS,
    Conditions,
    Part,
    initial_locations,
    property_scope,
    resolved,
    whole_file,
    written,
)
from surefoot.tasks.jani.model import Model, conjunction
from surefoot.tasks.jani.options import file_or_expression
from surefoot.tasks.jani.reading import (
    Place,
    in_file,
    json_items,
    json_object,
    json_string,
    refuse,
)

_PARTS = ("start", "reach", "objective")
_OPTIONS = {"start": "start", "reach": "fail", "objective": "goal"}
_KEYS = (*_PARTS, "op", "predicates", "file")
_OBJECTIVE_OPTIONS = {"start": "start", "reach": "fail", "objective": "goal"}
_KEYS = ("op", "goal", "goal-potential", "goal-reward", "step-reward", "accumulate")
FilePath = str | Path


@dataclass(frozen=True)
class _Property:
    name: str
    part: Part

    @property
    def says_something(self) -> bool:
        return any(key in self.part.node for key in _PARTS)


def add_properties(
    model: Model,
    *,
    properties: FilePath | None,
    property_name: str | None,
    start: FilePath | None,
    goal: FilePath | None,
    fail: FilePath | None,
) -> None:
    """Fill in start, goal and fail of the description; the last three are files or expressions."""
    description = model.description
    chosen = _choose(model, properties, property_name)
    if chosen is None and fail is None:
        _warn_of_others(model, properties)
    conditions = Conditions(model, property_scope(model))
    begin = _find(start, chosen, "start")
    if begin is None:
        _add_initial(model)
    elif begin.op in LISTS:
        description.start_states = conditions.states(begin)
    else:
        description.start_condition = conditions.condition(begin, is_start=True)
    for key, given in (("objective", goal), ("reach", fail)):
        part = _find(given, chosen, key)
        if part is not None:
            _check_condition(part)
            made = conditions.condition(part)
            description.goal(made) if key == "objective" else description.fail(made)


# --- which property -----------------------------------------------------------------------------


def _choose(model: Model, properties: FilePath | None, name: str | None) -> _Property | None:
    sources = _sources(model, properties)
    listed = [list(_properties_of(source)) for source in sources]
    if name is not None:
        return _by_name([each for some in listed for each in some], name, sources[0].file)
    for some in listed:
        saying = [each for each in some if each.says_something]
        if len(saying) > 1:
            others = ", ".join(quoted(each.name) for each in saying[1:6])
            message = f"using property {quoted(saying[0].name)}; there are also {others}"
            model.description.warn(message, str(saying[0].part.place))
        if saying:
            return saying[0]
    return None


def _warn_of_others(model: Model, properties: FilePath | None) -> None:
    """Warn of the first property that is of another kind than says what fails."""
    for source in _sources(model, properties):
        for item, place in json_items(source.node, "properties", source.place):
            expression = item.get("expression") if isinstance(item, dict) else None
            if not isinstance(expression, dict) or expression.get("op") == "PA":
                continue
            name = item.get("name")
            shown = quoted(name) if isinstance(name, str) else "a property"
            message = f'property {shown} is ignored: only those with "op": "PA" say what fails'
            model.description.warn(f"{message}; or give --fail 'x = 9'", str(place))
            return


def _sources(model: Model, properties: FilePath | None) -> list[Part]:
    """Return the files with properties: what was given, and the model itself."""
    file = model.description.file or ""
    labels = (model.node.get("labels", []), Place() / "labels")
    own = Part(model.node, file, Place(), labels)
    return [own] if properties is None else [_collection(whole_file(properties)), own]


def _collection(part: Part) -> Part:
    with in_file(part.file):
        if isinstance(part.node, dict) and "properties" not in part.node:
            hint = "files with a single condition are given with --start, --goal or --fail"
            refuse("jani-missing-key", 'key "properties" is missing', part.place, hint)
        json_object(part.node, part.place, required=("properties",))
    return part


def _properties_of(source: Part) -> Iterator[_Property]:
    with in_file(source.file):
        for item, place in json_items(source.node, "properties", source.place):
            json_object(item, place, required=("name", "expression"))
            name = json_string(item["name"], place / "name")
            node = item["expression"]
            if isinstance(node, dict) and node.get("op") == "PA":
                yield _Property(name, Part(node, source.file, place / "expression", source.labels))


def _by_name(properties: list[_Property], name: str, file: str) -> _Property:
    for each in properties:
        if each.name == name:
            return each
    hint = nearest_hint(name, [each.name for each in properties])
    message = f"there is no PA property {quoted(name)}"
    raise InputError("unknown-property", message, file=file, place="/properties", hint=hint)


# --- which part of it -----------------------------------------------------------------------------


def _find(given: FilePath | None, chosen: _Property | None, key: str) -> Part | None:
    """Return the start, fail or goal: what was given for it if anything, else of the property."""
    if given is not None:
        source = file_or_expression(given)
        if isinstance(source, Path):
            return _from_file(source, key)
        return written(source, _OPTIONS[key])
    if chosen is None or key not in chosen.part.node:
        return None
    part = resolved(chosen.part.at(key))
    return _goal_of(part) if key == "objective" else part


def _from_file(path: FilePath, key: str) -> Part:
    part = resolved(whole_file(path))
    if isinstance(part.node, dict) and "op" not in part.node and "properties" in part.node:
        chosen = next((p for p in _properties_of(part) if key in p.part.node), None)
        property_ = _find(None, chosen, key)
        if property_ is None:
            raise InputError(
                "no-property", f"no PA property here has {quoted(key)}",
                file=part.file, place="/properties",
            )  # fmt: skip
        return property_
    if part.op == "objective" and key == "objective":
        return _goal_of(part)
    return part


def _goal_of(part: Part) -> Part:
    if part.op != "objective":
        return part
    with in_file(part.file):
        json_object(part.node, part.place, required=("goal",))
    return resolved(part.at("goal"))


def _check_condition(part: Part) -> None:
    with in_file(part.file):
        if part.op in LISTS:
            message = "goal and fail are conditions; listed states are for starts"
            refuse("states-values-as-condition", message, part.place)


# --- initial states ---------------------------------------------------------------------------


def _add_initial(model: Model) -> None:
    """Set the start to what the model itself says about its initial states."""
    description = model.description
    restrictions = _restrictions(model)
    values = model.initial_values()
    if not restrictions and None not in values.values():
        description.start_states = [values]  # type: ignore[list-item]
        return
    several = [e for e in model.elements if len(e.initial) > 1]
    tests = [description.initial_condition(), *(c for e in several for c in initial_locations(e))]
    stated = [test for test in (*tests, *restrictions) if test is not None]
    description.start_condition = conjunction(stated)


def _restrictions(model: Model) -> list[Expr]:
    owners = [(model.node, Place(), model.state)]
    owners += [(e.node, e.place, e.state) for e in model.elements]
    key = "restrict-initial"
    return [
        model.condition(node[key], scope, place / key)
        for node, place, scope in owners
        if key in node
    ]


__all__ = ["CONDITIONS", "add_properties"]
