"""Descriptions as JANI files.

All variables become global, each automaton has one location. The labelled edges live in one
automaton and the edges of each silent action in one of its own, named after that action: so the
loader gives them their names back.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from surefoot.errors import Unsupported
from surefoot.files import write_pieces
from surefoot.tasks.description import (
    REAL_LIMIT,
    Assignment,
    Description,
    Edge,
    Outcome,
    Variable,
)
from surefoot.tasks.expressions import Expr, constant, postorder

Json = Any

_LOCATION = "l"
_SYMBOLS = {
    "and": "∧", "or": "∨", "implies": "⇒", "eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">",
    "ge": "≥", "add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "min": "min",
    "max": "max", "pow": "pow", "log": "log", "not": "¬", "abs": "abs", "floor": "floor",
    "ceil": "ceil", "trc": "trc", "sgn": "sgn",
}  # fmt: skip


def to_jani(description: Description, *, with_weights: bool = True) -> dict[str, Json]:
    """Return the JANI model of a description. Shared expressions are shared objects in it.

    Costs are left out: JANI cannot express them. Versions before 0.2 left out weights, too.
    """
    return _Writer(description, with_weights=with_weights).model()


def write_jani(description: Description, path: str | Path) -> None:
    """Write the JANI model of a description, however deep its expressions are."""
    write_pieces(path, itertools.chain(json_text(to_jani(description)), "\n"), what="task")


def json_text(root: Json) -> Iterator[str]:
    """Yield the JSON text of a value in pieces, without recursion."""
    stack: list[Any] = [(root, 0)]
    while stack:
        item = stack.pop()
        if type(item) is str:
            yield item
            continue
        value, depth = item
        if type(value) is dict:
            stack.extend(reversed(list(_object_pieces(value, depth))))
        elif type(value) is list:
            stack.extend(reversed(list(_list_pieces(value, depth))))
        else:
            yield _scalar_text(value)


_LINES = 4
"""down to which depth every entry has a line of its own"""


def _separators(depth: int) -> tuple[str, str, str]:
    """Return what stands after the opening bracket, after a comma, and before the closing one."""
    if depth >= _LINES:
        return "", ", ", ""
    inner, outer = "\n" + " " * (depth + 1), "\n" + " " * depth
    return inner, "," + inner, outer


def _object_pieces(value: dict[str, Json], depth: int) -> Iterator[object]:
    first, between, last = _separators(depth)
    yield "{"
    for i, (key, item) in enumerate(value.items()):
        yield (between if i else first) + _scalar_text(key) + ": "
        yield item, depth + 1
    yield (last if value else "") + "}"


def _list_pieces(value: list[Json], depth: int) -> Iterator[object]:
    first, between, last = _separators(depth)
    yield "["
    for i, item in enumerate(value):
        yield between if i else first
        yield item, depth + 1
    yield (last if value else "") + "]"


def _scalar_text(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # half of a surrogate pair, which JSON can only write escaped
        return json.dumps(value)
    return text


class _Writer:
    def __init__(self, description: Description, *, with_weights: bool) -> None:
        self.description = description
        self.with_weights = with_weights
        self.cells = {
            f"{array.name}[{i}]": (array.name, i)
            for array in description.arrays.values()
            for i in range(array.length)
        }
        self._made: dict[int, Json] = {}
        self._kept: list[Expr] = []  # ids are only good as long as the expressions live

    def model(self) -> dict[str, Json]:
        d = self.description
        automata = self._automata()
        features = ["derived-operators"] + (["arrays"] if d.arrays else [])
        return {
            "jani-version": 1,
            "name": d.name,
            "type": "mdp",
            "features": features,
            "variables": list(self._variables()),
            "actions": [{"name": name} for name in d.actions],
            "automata": automata,
            "system": {
                "elements": [{"automaton": automaton["name"]} for automaton in automata],
                "syncs": list(self._syncs(len(automata))),
            },
            "properties": [{"name": d.name, "expression": self._property()}],
        }

    # -- variables -------------------------------------------------------------------------------

    def _variables(self) -> Iterator[Json]:
        done: set[str] = set()
        for v in self.description.variables.values():
            name = self.cells[v.name][0] if v.name in self.cells else v.name
            if name not in done:
                done.add(name)
                yield self._array(name) if v.name in self.cells else self._variable(v)

    def _variable(self, v: Variable) -> Json:
        node: Json = {"name": v.name, "type": _type_of(v)}
        if v.initial is not None or v.is_scratch:
            node["initial-value"] = v.initial if v.initial is not None else _some_value(v)
        if v.is_scratch:
            node["transient"] = True
        return node

    def _array(self, name: str) -> Json:
        variables = self.description.variables
        length = self.description.arrays[name].length
        cells = [variables[f"{name}[{i}]"] for i in range(length)]
        if not self._initial_is_open() and any(v.initial is None for v in cells):
            message = f"array {name!r} has no initial value: JANI cannot say that"
            raise Unsupported("writer-open-array", message)
        values = [_some_value(v) if v.initial is None else v.initial for v in cells]
        node: Json = {"name": name, "type": {"kind": "array", "base": _type_of(cells[0])}}
        node["initial-value"] = {"op": "av", "elements": values}
        if cells[0].is_scratch:
            node["transient"] = True
        return node

    def _initial_is_open(self) -> bool:
        """Return whether the start does not depend on initial values."""
        d = self.description
        if d.start_condition is not None:
            return True
        names = {v.name for v in d.variables.values() if not v.is_scratch}
        return d.start_states is not None and all(names <= set(s) for s in d.start_states)

    # -- automata --------------------------------------------------------------------------------

    def _automata(self) -> list[Json]:
        d = self.description
        silent = dict.fromkeys(d.silent)
        labelled = [edge for edge in d.edges if edge.action not in silent]
        name = "edges"
        while name in silent:
            name += "_"
        automata = [_automaton(name, [self._edge(e, e.action) for e in labelled])]
        for action in d.silent:
            own = [self._edge(e, None) for e in d.edges if e.action == action]
            automata.append(_automaton(action, own or [_never()]))
        return automata

    def _syncs(self, count: int) -> Iterator[Json]:
        for action in self.description.actions:
            yield {"synchronise": [action] + [None] * (count - 1), "result": action}

    def _edge(self, edge: Edge, label: str | None) -> Json:
        node: Json = {"location": _LOCATION}
        if label is not None:
            node["action"] = label
        if edge.guard is not None:
            node["guard"] = {"exp": self.expression(edge.guard)}
        is_fixed = not any(outcome.probabilities for outcome in edge.outcomes)
        weights = {outcome.weight for outcome in edge.outcomes} if self.with_weights else {1.0}
        share: Json = 1
        if is_fixed and len(weights) == 1 and len(edge.outcomes) > 1:
            share = {"op": "/", "left": 1, "right": len(edge.outcomes)}
        has_weights = self.with_weights and not (is_fixed and len(weights) == 1)
        node["destinations"] = [
            self._destination(each, share, has_weight=has_weights and each.weight != 1)
            for each in edge.outcomes
        ]
        return node

    def _destination(self, outcome: Outcome, share: Json, *, has_weight: bool) -> Json:
        factors: list[Json] = [float(outcome.weight)] if has_weight else []
        factors += [self.expression(factor) for factor in outcome.probabilities]
        probability = factors[0] if factors else share
        for factor in factors[1:]:
            probability = {"op": "*", "left": probability, "right": factor}
        node: Json = {"location": _LOCATION, "probability": {"exp": probability}}
        if outcome.assignments:
            node["assignments"] = [self._assignment(each) for each in outcome.assignments]
        return node

    def _assignment(self, assignment: Assignment) -> Json:
        node: Json = {"ref": self.expression(assignment.target)}
        if assignment.value is not None:
            node["value"] = self.expression(assignment.value)
        if assignment.lower is not None and assignment.upper is not None:
            node["lower-bound"] = self.expression(assignment.lower)
            node["upper-bound"] = self.expression(assignment.upper)
        if assignment.index:
            node["index"] = assignment.index
        return node

    # -- the property ----------------------------------------------------------------------------

    def _property(self) -> Json:
        d = self.description
        node: Json = {"op": "PA", "start": self._start()}
        if d.fail_condition is not None:
            node["reach"] = self._condition(d.fail_condition)
        if d.goal_condition is not None:
            node["objective"] = {"op": "objective", "goal": self._condition(d.goal_condition)}
        return node

    def _condition(self, condition: Expr) -> Json:
        return {"op": "state-condition", "exp": self.expression(condition)}

    def _start(self) -> Json:
        d = self.description
        if d.start_condition is None and d.start_states is not None:
            values = [{"variables": list(self._values(state))} for state in d.start_states]
            return {"op": "states-values", "values": values}
        condition = d.start_condition if d.start_condition is not None else d.initial_condition()
        return self._condition(condition if condition is not None else constant(True))

    def _values(self, state: dict[str, Any]) -> Iterator[Json]:
        for name, value in state.items():
            labels = self.description.variables[name].labels
            if labels is not None and isinstance(value, str):
                value = labels.index(value)
            yield {"var": self._name(name), "value": value}

    # -- expressions -----------------------------------------------------------------------------

    def expression(self, root: Expr) -> Json:
        """Return the JSON of an expression."""
        self._kept.append(root)
        for node in postorder(root):
            if id(node) not in self._made:
                self._made[id(node)] = self._node(node, [self._made[id(a)] for a in node.args])
        return self._made[id(root)]

    def _name(self, name: str) -> Json:
        if name not in self.cells:
            return name
        array, index = self.cells[name]
        return {"op": "aa", "exp": array, "index": index}

    def _node(self, node: Expr, args: list[Json]) -> Json:
        if node.op == "constant":
            return node.value
        if node.op == "variable":
            return self._name(node.value)
        if node.op == "raise":
            return _raising(node.type)
        if node.op == "cell":
            return {"op": "aa", "exp": node.value, "index": args[0]}
        if node.op == "ite":
            return {"op": "ite", "if": args[0], "then": args[1], "else": args[2]}
        if node.op == "neg":  # JANI has no unary minus
            return {"op": "-", "left": 0, "right": args[0]}
        if len(args) == 1:
            return {"op": _SYMBOLS[node.op], "exp": args[0]}
        return {"op": _SYMBOLS[node.op], "left": args[0], "right": args[1]}


def _type_of(v: Variable) -> Json:
    if v.type == "bool":
        return "bool"
    if v.type == "real" and (v.lower, v.upper) == (-REAL_LIMIT, REAL_LIMIT):
        return "real"
    bounds = {"lower-bound": v.lower, "upper-bound": v.upper}
    return {"kind": "bounded", "base": v.type, **bounds}


def _some_value(v: Variable) -> object:
    if v.type == "bool":
        return False
    return min(max(v.lower, 0), v.upper)


def _automaton(name: str, edges: Iterable[Json]) -> Json:
    return {
        "name": name,
        "locations": [{"name": _LOCATION}],
        "initial-locations": [_LOCATION],
        "edges": list(edges),
    }


def _raising(type: str) -> Json:
    """Return an expression that always raises an error; JANI has no word for which one."""
    error = {"op": "%", "left": 1, "right": 0}
    if type == "bool":
        return {"op": "=", "left": error, "right": 0}
    return error if type == "int" else {"op": "*", "left": error, "right": 1.0}


def _never() -> Json:
    """Return a silent edge that is never enabled: its action exists all the same."""
    destinations = [{"location": _LOCATION}]
    return {"location": _LOCATION, "guard": {"exp": False}, "destinations": destinations}
