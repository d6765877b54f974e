"""Read a model file: constants, variables, automata and how they move together."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from .arithmetic import Scalar, Value, fit
from .errors import NotSupported, ReadError
from .expressions import (
    Array,
    Cells,
    Code,
    Constant,
    Function,
    Scope,
    Type,
    compile_expression,
    declared_type,
    run,
)
from .files import Json, field, items, members, optional, parse_json, read_json, shown, text
from .model import (
    Assignment,
    Condition,
    Destination,
    Edge,
    Element,
    Joint,
    Model,
    StartSet,
    TransientValue,
    Variable,
)
from .properties import (
    Context,
    Pieces,
    find_pieces,
    read_condition,
    read_conjuncts,
    read_start,
)

_TYPES = ("lts", "mdp", "dtmc")


def load(
    path: str | Path,
    properties: str | Path | None = None,
    start: str | Path | None = None,
    goal: str | Path | None = None,
    fail: str | Path | None = None,
    constants: Mapping[str, Scalar] | None = None,
    int_range: tuple[int, int] | None = None,
    property_name: str | None = None,
    expressions: Mapping[str, Json] | None = None,
) -> Model:
    """Return the model of a JANI file with the start, goal and fail that its property names.

    The property is the first PA property with a start, reach or objective, those of the file
    `properties` before those of the model, or the one called `property_name`. The files `start`,
    `goal` and `fail` replace its parts, and so do JANI `expressions` by these names. `constants`
    gives or replaces values of constants.
    Raises ReadError or NotSupported, and ModelError if a constant or a bound has no value.
    """
    file = Path(path)
    document = read_json(file)
    pieces = find_pieces(
        file,
        document,
        properties=_path(properties),
        start=_path(start),
        goal=_path(goal),
        fail=_path(fail),
        expressions=expressions or {},
        name=property_name,
    )
    return _model(file, document, pieces, constants or {}, int_range)


def load_text(content: str, name: str) -> Model:
    """Return the model of the text of a JANI file, which has this name in messages. What it refers
    to in other files is not found. Raises as `load` does.
    """
    file = Path(name)
    document = parse_json(content, file)
    return _model(file, document, find_pieces(file, document), {}, None)


def _model(
    file: Path,
    document: Json,
    pieces: Pieces,
    constants: Mapping[str, Scalar],
    int_range: tuple[int, int] | None,
) -> Model:
    try:
        reader = _Reader(document, constants, int_range)
    except ReadError as error:
        raise ReadError(f"{file}: {error}") from error
    context = Context(reader.property_scope(), reader.cells, reader.elements, reader.initial)
    initial = StartSet((reader.initial,), tuple(reader.restrictions))
    joints = reader.joints
    silent = list(dict.fromkeys(j.action for j in joints if j.action not in reader.declared))
    return Model(
        name=str(members(document).get("name", file.stem)),
        variables=tuple(reader.variables),
        actions=(*reader.declared, *silent),
        silent=frozenset(silent),
        elements=tuple(reader.elements),
        joints=tuple(joints),
        transient=reader.transient,
        transient_initial=reader.transient_initial,
        cells=reader.cells,
        initial=initial,
        start=read_start(pieces.start, context, initial),
        fail=read_condition(pieces.fail, context, "fail"),
        goal=read_condition(pieces.goal, context, "goal"),
    )


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)


def _refuse(node: Json, *keys: str) -> None:
    """Raise NotSupported if an object has something under one of the keys."""
    for key in keys:
        if optional(node, key):
            raise NotSupported(f'"{key}" is not supported')


def _unique(names: Iterable[str], what: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ReadError(f'{what} "{twice[0]}" is declared twice')


class _Reader:
    """Collects what a model file declares, in the order of the state."""

    def __init__(
        self, document: Json, constants: Mapping[str, Scalar], int_range: tuple[int, int] | None
    ) -> None:
        if field(document, "type") not in _TYPES:
            raise NotSupported(f"model type {field(document, 'type')} is not supported")
        self._document = document
        self._int_range = int_range
        self.variables: list[Variable] = []
        self.transient: dict[str, Variable] = {}
        self.transient_initial: dict[str, Scalar] = {}
        self.initial: dict[str, tuple[Scalar, ...]] = {}
        self.restrictions: list[Condition] = []
        self.elements: list[Element] = []
        self._locals: list[tuple[str, str, Cells]] = []  # element, name there, cells
        self._constants = Scope(_read_constants(items(document, "constants"), constants), {})
        actions = [text(each, "name") for each in items(document, "actions")]
        _unique(actions, "action")
        self.declared = dict.fromkeys(actions)  # an ordered set
        names = self._declare(document, "")
        self._globals = _with_functions(document, self._constants.adding(names))
        self._restrict(document, self._globals)
        self._read_elements(field(document, "system"))
        self.joints = self._silent_joints() + self._syncs()
        _unique([*(each.name for each in self.variables), *self.transient], "state variable")
        self.cells = {each.name: each for each in self.variables} | self.transient

    def property_scope(self) -> Scope:
        """Return the scope of properties: what is global, the variables of the state, local ones
        as `element.name`, and as they are where only one element has the name.
        """
        cells = {each.name: Cells(each.kind, (each.name,)) for each in self.variables}
        qualified = {f"{element}.{name}": each for element, name, each in self._locals}
        uses = Counter(name for _, name, _ in self._locals)
        once = {name: each for _, name, each in self._locals if uses[name] == 1}
        names = {**once, **cells, **qualified, **self._globals.names}
        return Scope(names, self._globals.functions)

    # Variables

    def _declare(self, node: Json, prefix: str) -> dict[str, Cells]:
        """Declare the variables of the model or of an element."""
        names: dict[str, Cells] = {}
        declarations = items(node, "variables")
        _unique([text(each, "name") for each in declarations], "variable")
        for each in declarations:
            name = text(each, "name")
            try:
                names[name] = self._declare_variable(each, prefix + name)
            except ReadError as error:
                raise ReadError(f"variable {prefix}{name}: {error}") from error
        return names

    def _declare_variable(self, node: Json, name: str) -> Cells:
        type_, lower, upper = self._type(field(node, "type"))
        node_initial = optional(node, "initial-value")
        is_transient = bool(optional(node, "transient"))
        value: Value | None = None
        if node_initial is not None:
            code = compile_expression(node_initial, self._constants, "initial value", want=type_)
            type_, value = code.type, run(code, {})
        elif isinstance(type_, Array) or is_transient:
            raise NotSupported(f"{name} needs an initial value: it is transient or an array")
        values = value if isinstance(value, tuple) else (value,)
        cells: tuple[str, ...] = (name,)
        if isinstance(type_, Array):
            cells = tuple(f"{name}[{i}]" for i in range(len(values)))
        kind = type_.base if isinstance(type_, Array) else type_
        for cell, initial in zip(cells, values, strict=True):
            self._add(Variable(cell, kind, lower, upper), initial, is_transient)
        return Cells(type_, cells)

    def _add(self, variable: Variable, initial: Scalar | None, is_transient: bool) -> None:
        if initial is not None and not variable.has(initial):
            raise ReadError(f"initial value {initial} is out of range")
        if is_transient:
            assert initial is not None
            self.transient[variable.name] = variable
            self.transient_initial[variable.name] = variable.accept(initial)
            return
        self.variables.append(variable)
        if initial is not None:
            self.initial[variable.name] = (variable.accept(initial),)

    def _type(self, node: Json) -> tuple[Type, Scalar, Scalar]:
        """Return type, lower and upper bound (of the elements, for an array)."""
        type_ = declared_type(node)
        kind = type_.base if isinstance(type_, Array) else type_
        if kind == "bool":
            return type_, False, True
        scalar = field(node, "base") if isinstance(type_, Array) else node
        bounds = scalar if isinstance(scalar, dict) else {}
        lower = self._bound(bounds.get("lower-bound"), kind, 0)
        upper = self._bound(bounds.get("upper-bound"), kind, 1)
        if lower > upper:
            raise ReadError(f"the range {lower}..{upper} is empty")
        return type_, lower, upper

    def _bound(self, node: Json, kind: str, side: int) -> Scalar:
        if node is not None:
            code = compile_expression(node, self._constants, "bound", want=kind)
            bound: Scalar = run(code, {})
            return bound
        if kind == "real":
            return (-sys.float_info.max, sys.float_info.max)[side]
        if self._int_range is None:
            raise NotSupported("an unbounded integer needs a range for integers")
        return fit(self._int_range[side])

    def _restrict(self, node: Json, scope: Scope) -> None:
        restriction = optional(node, "restrict-initial")
        if restriction is not None:
            exp = field(restriction, "exp")
            conjuncts = read_conjuncts(exp, scope, "restrict-initial")
            self.restrictions.append(Condition((), conjuncts))

    # Elements

    def _read_elements(self, system: Json) -> None:
        automata = items(self._document, "automata")
        _unique([text(each, "name") for each in automata], "automaton")
        by_name = {text(each, "name"): each for each in automata}
        uses = [text(each, "automaton") for each in items(system, "elements")]
        for number, name in enumerate(uses):
            _refuse(items(system, "elements")[number], "input-enable")
            if name not in by_name:
                raise ReadError(f'automaton "{name}" is not declared')
            own_name = name if uses.count(name) == 1 else f"{name}#{number}"
            try:
                self.elements.append(self._element(by_name[name], own_name))
            except ReadError as error:
                raise ReadError(f"automaton {name}: {error}") from error

    def _element(self, node: Json, name: str) -> Element:
        places = [text(each, "name") for each in items(node, "locations")]
        _unique(places, "location")
        initial = tuple(_place(each, places) for each in items(node, "initial-locations"))
        if not initial:
            raise ReadError("there is no initial location")
        location = f"{name}.location" if len(places) > 1 else None
        if location is not None:
            self.variables.append(Variable(location, "int", 0, len(places) - 1))
            self.initial[location] = initial
        local = self._declare(node, f"{name}.")
        self._locals += [(name, own, cells) for own, cells in local.items()]
        scope = _with_functions(node, self._globals.adding(local))
        self._restrict(node, scope)
        transient = tuple(self._transient_values(each, scope) for each in items(node, "locations"))
        edges = tuple(
            self._edge(each, places, scope, f"edge {number} of {name}")
            for number, each in enumerate(items(node, "edges"))
        )
        return Element(name, text(node, "name"), location, tuple(places), initial, edges, transient)

    def _transient_values(self, location: Json, scope: Scope) -> Mapping[str, TransientValue]:
        _refuse(location, "time-progress")
        values: dict[str, TransientValue] = {}
        for each in items(location, "transient-values"):
            where = f"transient value in {text(location, 'name')}"
            target = _variable(field(each, "ref"), scope)
            code = compile_expression(field(each, "value"), scope, where, want=target.type)
            if not code.reads.isdisjoint(self.transient):
                raise NotSupported(f"{where} reads a transient variable")
            is_array = isinstance(target.type, Array)
            for position, cell in enumerate(target.names):
                if cell not in self.transient or cell in values:
                    raise ReadError(f"{where}: {cell} is not transient, or named twice")
                values[cell] = TransientValue(code, position if is_array else None)
        return values

    def _edge(self, node: Json, places: list[str], scope: Scope, where: str) -> Edge:
        _refuse(node, "rate")
        label = optional(node, "action")
        guard = optional(node, "guard")
        code = None
        if guard is not None:
            code = compile_expression(field(guard, "exp"), scope, f"{where}, guard", want="bool")
        return Edge(
            location=_place(text(node, "location"), places),
            label=None if label is None else self._action(label, where),
            guard=code,
            destinations=tuple(
                _destination(each, places, scope, where) for each in items(node, "destinations")
            ),
        )

    # Actions

    def _silent_joints(self) -> list[Joint]:
        return [
            Joint(self._silent_name(element.name), ((number, None),))
            for number, element in enumerate(self.elements)
            if any(edge.label is None for edge in element.edges)
        ]

    def _syncs(self) -> list[Joint]:
        return [self._sync(each) for each in items(field(self._document, "system"), "syncs")]

    def _sync(self, node: Json) -> Joint:
        labels = items(node, "synchronise")
        named = [(i, label) for i, label in enumerate(labels) if label is not None]
        if len(labels) != len(self.elements) or not named:
            raise ReadError("a sync needs one label or null for each element, and one label")
        parts = tuple((i, self._action(label, "sync")) for i, label in named)
        result = optional(node, "result")
        if result is None:
            together = "+".join(self.elements[i].name for i, _ in parts)
            return Joint(self._silent_name(together), parts)
        return Joint(self._action(result, "sync"), parts)

    def _action(self, label: Json, where: str) -> str:
        if not isinstance(label, str) or label not in self.declared:
            raise ReadError(f'{where}: action "{shown(label)}" is not declared')
        return label

    def _silent_name(self, name: str) -> str:
        return f"{name}(silent)" if name in self.declared else name


def _read_constants(nodes: list[Json], given: Mapping[str, Scalar]) -> dict[str, Constant]:
    """Return the constants; a value may use other constants, in whatever order they come."""
    _unique([text(each, "name") for each in nodes], "constant")
    unknown = set(given) - {text(each, "name") for each in nodes}
    if unknown:
        raise ReadError(f"there is no constant {min(unknown)}")
    known: dict[str, Constant] = {}
    waiting = list(nodes)
    while waiting:
        names = {text(each, "name") for each in waiting}
        ready = [each for each in waiting if not _reads_one_of(each, names, given)]
        if not ready:
            raise ReadError(f"constants depend on each other: {', '.join(sorted(names))}")
        for each in ready:
            known[text(each, "name")] = _constant(each, known, given)
        waiting = [each for each in waiting if text(each, "name") not in known]
    return known


def _reads_one_of(node: Json, names: set[str], given: Mapping[str, Scalar]) -> bool:
    """Return whether the value of a constant mentions one of the names."""
    waiting = [] if text(node, "name") in given else [optional(node, "value")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str) and part in names:
            return True
        if isinstance(part, dict):
            waiting += [value for key, value in part.items() if key != "op"]
        elif isinstance(part, list):
            waiting += part
    return False


def _constant(node: Json, known: Mapping[str, Constant], given: Mapping[str, Scalar]) -> Constant:
    name = text(node, "name")
    value = given.get(name, optional(node, "value"))
    if value is None:
        raise ReadError(f"constant {name} has no value: give it one")
    want = declared_type(field(node, "type"))
    code = compile_expression(value, Scope(known, {}), f"constant {name}", want=want)
    return Constant(code.type, run(code, {}))


def _with_functions(node: Json, scope: Scope) -> Scope:
    """Return the scope with the functions that a model or an automaton declares."""
    _unique([text(each, "name") for each in items(node, "functions")], "function")
    functions = dict(scope.functions)
    scope = Scope(scope.names, functions)
    functions.update(
        {text(each, "name"): Function(each, scope) for each in items(node, "functions")}
    )
    return scope


def _place(name: Json, places: list[str]) -> int:
    if name not in places:
        raise ReadError(f'location "{name}" is not declared')
    return places.index(name)


def _variable(name: Json, scope: Scope) -> Cells:
    meaning = scope.names.get(name) if isinstance(name, str) else None
    if not isinstance(meaning, Cells):
        raise ReadError(f"{str(name)[:40]} is not a variable")
    return meaning


def _destination(node: Json, places: list[str], scope: Scope, where: str) -> Destination:
    probability = optional(node, "probability")
    code = None
    if probability is not None:
        code = compile_expression(
            field(probability, "exp"), scope, f"{where}, probability", want="real"
        )
    return Destination(
        location=_place(text(node, "location"), places),
        probability=code,
        assignments=tuple(_assignment(each, scope, where) for each in items(node, "assignments")),
    )


def _assignment(node: Json, scope: Scope, where: str) -> Assignment:
    ref, index = field(node, "ref"), members(node).get("index", 0)
    if type(index) is not int:
        raise ReadError(f"{where}: the index of an assignment must be an integer")
    position: Code | None = None
    if isinstance(ref, dict):
        if ref.get("op") != "aa" or not isinstance(ref.get("exp"), str):
            raise NotSupported(f"{where}: a reference must be a variable or an array cell")
        position = compile_expression(field(ref, "index"), scope, f"{where}, index", want="int")
    variable = _variable(ref["exp"] if isinstance(ref, dict) else ref, scope)
    want = variable.type
    if position is not None:
        if not isinstance(want, Array):
            raise ReadError(f"{where}: {variable.names[0]} is not an array")
        want = want.base
    value, interval = None, None
    if "value" in members(node):
        value = compile_expression(members(node)["value"], scope, where, want=want)
    else:
        if want != "int":
            raise ReadError(f"{where}: an interval is for an integer variable")
        low, high = field(node, "lower-bound"), field(node, "upper-bound")
        interval = (
            compile_expression(low, scope, where, want="int"),
            compile_expression(high, scope, where, want="int"),
        )
    return Assignment(index, variable.names, position, value, interval, where)
