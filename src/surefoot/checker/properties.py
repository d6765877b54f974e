"""Start, goal and fail: find the property, and read its conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .arithmetic import Scalar
from .errors import ReadError
from .expressions import Array, Cells, Code, Scope, Type, compile_expression, constant_value
from .files import Json, Piece, field, items, members, optional, read_json, read_piece, text
from .model import Condition, Element, StartSet, Variable

Pattern = Mapping[str, tuple[Scalar, ...]]
_CONDITIONS = ("state-condition", "states-condition")


@dataclass(frozen=True)
class Pieces:
    """What defines a task beside the model; None where nothing was said."""

    start: Piece | None
    goal: Piece | None
    fail: Piece | None


@dataclass(frozen=True)
class Context:
    """What conditions are about: names, variables, elements and the pattern of initial values."""

    scope: Scope
    cells: Mapping[str, Variable]
    elements: Sequence[Element]
    initial: Pattern


def find_pieces(
    model_file: Path,
    document: Json,
    *,
    properties: Path | None = None,
    start: Path | None = None,
    goal: Path | None = None,
    fail: Path | None = None,
    expressions: Mapping[str, Json] | None = None,
    name: str | None = None,
) -> Pieces:
    """Return the pieces of the chosen property; a file or an expression for a single piece wins."""
    candidates = list(_pa_properties(properties, read_json(properties))) if properties else []
    candidates += _pa_properties(model_file, document)
    chosen = _choose(candidates, name)
    own = {key: read_piece(file) for key, file in _files(start, goal, fail).items()}
    for key, node in (expressions or {}).items():
        own[key] = Piece(node, Path(f"{key} expression"), {})
    keys = {"start": "start", "goal": "objective", "fail": "reach"}
    stated = {key: chosen.part(part) if chosen else None for key, part in keys.items()}
    pieces = stated | own
    return Pieces(pieces["start"], _goal(pieces["goal"]), pieces["fail"])


def _files(start: Path | None, goal: Path | None, fail: Path | None) -> dict[str, Path]:
    """Return the files that were given, by what they are for."""
    given = {"start": start, "goal": goal, "fail": fail}
    return {key: file for key, file in given.items() if file is not None}


def _pa_properties(file: Path, document: Json) -> Iterator[tuple[str, Piece]]:
    """Yield name and expression of the properties of kind PA that a file holds."""
    labels = {text(each, "name"): field(each, "element") for each in items(document, "labels")}
    for each in items(document, "properties"):
        expression = field(each, "expression")
        if isinstance(expression, dict) and expression.get("op") == "PA":
            yield str(members(each).get("name", "")), Piece(expression, file, labels)


def _choose(candidates: list[tuple[str, Piece]], name: str | None) -> Piece | None:
    if name is not None:
        named = [piece for each, piece in candidates if each == name]
        if not named:
            raise ReadError(f'there is no PA property "{name}"')
        return named[0]
    keys = ("start", "reach", "objective")
    useful = [
        piece for _, piece in candidates if any(key in members(piece.content) for key in keys)
    ]
    return useful[0] if useful else None


def _goal(piece: Piece | None) -> Piece | None:
    """Return the goal of an objective; any other piece is a goal itself."""
    if piece is None or not isinstance(piece.content, dict):
        return piece
    return piece.part("goal") if piece.content.get("op") == "objective" else piece


def read_condition(piece: Piece | None, context: Context, where: str) -> Condition | None:
    """Return the condition of a piece: a state-condition or an expression."""
    if piece is None:
        return None
    node = piece.content
    try:
        if isinstance(node, dict) and node.get("op") in _CONDITIONS:
            exp = node.get("exp", True)
            places = _locations(node, context)
        else:
            exp, places = node, []
        listed = [(e.location, i) for e, i in places if e.location is not None]
        return Condition(tuple(listed), read_conjuncts(exp, context.scope, where))
    except ReadError as error:
        raise ReadError(f"{piece.file}: {error}") from error


def read_start(piece: Piece | None, context: Context, initial: StartSet) -> StartSet:
    """Return the start states: condition, listed states, or the initial states of the model."""
    if piece is None:
        return initial
    if isinstance(piece.content, dict) and piece.content.get("op") == "states-values":
        try:
            entries = items(piece.content, "values")
            return StartSet(tuple(_listed(each, context) for each in entries), ())
        except ReadError as error:
            raise ReadError(f"{piece.file}: {error}") from error
    condition = read_condition(piece, context, "start")
    assert condition is not None
    locations = {e.location for e in context.elements if e.location is not None}
    pattern = {name: context.initial[name] for name in locations}
    pattern.update({name: (location,) for name, location in condition.locations})
    return StartSet((pattern,), (condition,))


def read_conjuncts(node: Json, scope: Scope, where: str) -> tuple[Code, ...]:
    """Return the conjuncts of an expression from left to right."""
    conjuncts: list[Code] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        op = part.get("op") if isinstance(part, dict) else None
        if op == "∧":
            waiting += [field(part, "right"), field(part, "left")]
        elif op == "let" and not items(part, "variables"):
            waiting.append(field(part, "expression"))
        else:
            conjuncts.append(compile_expression(part, scope, where, want="bool"))
    return tuple(conjuncts)


def _locations(node: Json, context: Context) -> list[tuple[Element, int]]:
    """Return the elements and locations that a condition or a listed state names."""
    return [_location(each, context.elements) for each in items(node, "locations")]


def _location(node: Json, elements: Sequence[Element]) -> tuple[Element, int]:
    name, index = optional(node, "automaton"), optional(node, "index")
    fitting = [
        element
        for number, element in enumerate(elements)
        if index in (None, number) and name in (None, element.automaton)
    ]
    if len(fitting) != 1:
        raise ReadError(f"location of automaton {name}, index {index}: no such element, or several")
    location = text(node, "location")
    if location not in fitting[0].location_names:
        raise ReadError(f'{name} has no location "{location}"')
    return fitting[0], fitting[0].location_names.index(location)


def _listed(entry: Json, context: Context) -> Pattern:
    """Return the pattern of a listed state: what it does not name keeps its initial value."""
    pattern = dict(context.initial)
    for element, location in _locations(entry, context):
        if element.location is not None:
            pattern[element.location] = (location,)
    for each in items(entry, "variables"):
        cells, type_ = _listed_cells(field(each, "var"), context.scope)
        value = constant_value(field(each, "value"), context.scope, "listed value", want=type_)
        for cell, part in zip(cells, value if isinstance(value, tuple) else (value,), strict=True):
            if cell not in context.cells or not context.cells[cell].has(part):
                raise ReadError(f"{cell} = {part}: out of range, or not part of a state")
            pattern[cell] = (context.cells[cell].accept(part),)
    return pattern


def _listed_cells(ref: Json, scope: Scope) -> tuple[tuple[str, ...], Type]:
    """Return cells and type of the variable, array cell or array that a listed value is for."""
    name = field(ref, "exp") if isinstance(ref, dict) else ref
    meaning = scope.names.get(name) if isinstance(name, str) else None
    if not isinstance(meaning, Cells):
        raise ReadError(f'"{name}" is not a variable')
    if not isinstance(ref, dict):
        return meaning.names, meaning.type
    index = constant_value(field(ref, "index"), scope, "index", want="int")
    if not isinstance(meaning.type, Array) or not 0 <= index < len(meaning.names):
        raise ReadError(f"{name}[{index}] does not exist")
    return (meaning.names[index],), meaning.type.base
