"""Every line of docs/semantics.md, on models small enough to check by hand."""

import itertools
import json
import math
import random
import sys

import pytest
from tests.support.instances import DATA

from surefoot import checker

# Builders


def op(name, *operands):
    """Return an expression node; the number of operands decides its shape."""
    if name == "ite":
        return dict(zip(("op", "if", "then", "else"), (name, *operands), strict=True))
    if name == "av":
        return {"op": "av", "elements": list(operands)}
    if name == "aa":
        return {"op": "aa", "exp": operands[0], "index": operands[1]}
    if len(operands) == 1:
        return {"op": name, "exp": operands[0]}
    return {"op": name, "left": operands[0], "right": operands[1]}


def let(expression, **values):
    variables = [{"name": name, "value": value} for name, value in values.items()]
    return {"op": "let", "variables": variables, "expression": expression}


def call(function, *args):
    return {"op": "call", "function": function, "args": list(args)}


def bounded(lower, upper, base="int"):
    return {"kind": "bounded", "base": base, "lower-bound": lower, "upper-bound": upper}


def array(base):
    return {"kind": "array", "base": base}


def var(name, type_, initial=None, **more):
    node = {"name": name, "type": type_, **more}
    return node if initial is None else {**node, "initial-value": initial}


def put(ref, value, **more):
    return {"ref": ref, "value": value, **more}


def to(*assignments, location="l", **more):
    if "probability" in more:
        more["probability"] = {"exp": more["probability"]}
    return {"location": location, "assignments": list(assignments), **more}


def edge(action, *destinations, guard=None, location="l"):
    node = {"location": location, "destinations": list(destinations)}
    if action is not None:
        node["action"] = action
    return node if guard is None else {**node, "guard": {"exp": guard}}


def automaton(*edges, name="m", locations=("l",), **more):
    places = [each if isinstance(each, dict) else {"name": each} for each in locations]
    node = {"name": name, "locations": places, "initial-locations": [places[0]["name"]]}
    return {**node, "edges": list(edges), **more}


def condition(exp=None, **more):
    node = {"op": "state-condition", **more}
    return node if exp is None else {**node, "exp": exp}


def sync(result, *labels):
    node = {"synchronise": list(labels)}
    return node if result is None else {**node, "result": result}


def pa(name="p", **parts):
    return {"name": name, "expression": {"op": "PA", **parts}}


def goal(exp):
    return {"op": "objective", "goal": condition(exp)}


@pytest.fixture
def write(tmp_path):
    def write(content, name="model.jani"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(20_000)
        file.write_text(json.dumps(content), "utf-8")
        sys.setrecursionlimit(limit)
        return file

    return write


@pytest.fixture
def build(write):
    """Return a loader of models: each action `x` of one automaton gets the sync `x`."""

    def build(variables, *automata, actions=("a",), syncs=None, elements=None, load=None, **more):
        automata = automata or (automaton(),)
        elements = elements or [each["name"] for each in automata]
        if syncs is None:
            syncs = [sync(each, each) for each in actions] if len(elements) == 1 else []
        document = {
            "jani-version": 1,
            "name": "test",
            "type": "mdp",
            "variables": variables,
            "actions": [{"name": each} for each in actions],
            "automata": list(automata),
            "system": {"elements": [{"automaton": each} for each in elements], "syncs": syncs},
            "properties": [],
            **more,
        }
        return checker.load(write(document), **(load or {}))

    return build


X = var("x", bounded(-100, 100), 0)


def values(states, *names):
    """Return the sorted values of some variables over a list of states."""
    return sorted(tuple(state[name] for name in names) for state in states)


# Expressions

INT_MAX, INT_MIN = 2**63 - 1, -(2**63)
BAD = op("=", op("/", 1, 0), 1.0)

EXPRESSIONS = {
    "and is lazy": (op("∧", False, BAD), False),
    "and goes on": (op("∧", True, True), True),
    "and reaches the error": (op("∧", True, BAD), "division-by-zero"),
    "and starts on the left": (op("∧", BAD, False), "division-by-zero"),
    "or is lazy": (op("∨", True, BAD), True),
    "or goes on": (op("∨", False, False), False),
    "implies is lazy": (op("⇒", False, BAD), True),
    "implies goes on": (op("⇒", True, False), False),
    "implies true": (op("⇒", True, True), True),
    "not": (op("¬", False), True),
    "ite takes one branch": (op("ite", True, 1, op("%", 1, 0)), 1),
    "ite takes the other": (op("ite", False, op("%", 1, 0), 2), 2),
    "ite mixes to real": (op("ite", True, 1, 2.5), 1.0),
    "ite mixes to real, else": (op("ite", False, 2.5, 1), 1.0),
    "ite of Booleans": (op("ite", False, True, False), False),
    "equal Booleans": (op("=", True, True), True),
    "unequal Booleans": (op("≠", True, False), True),
    "equal numbers": (op("=", 2, 2.0), True),
    "comparison converts to double": (op("=", 2**53 + 1, float(2**53)), True),
    "less converts to double": (op("<", float(2**53), 2**53 + 1), False),
    "integers compare exactly": (op("=", 2**53 + 1, 2**53), False),
    "less": (op("<", 1, 2), True),
    "at most": (op("≤", 2, 2), True),
    "greater": (op(">", 2, 2), False),
    "at least": (op("≥", 2.5, 2), True),
    "int sum": (op("+", 1, 2), 3),
    "mixed sum": (op("+", 1, 2.0), 3.0),
    "difference": (op("-", 1, 2), -1),
    "unary minus": (op("-", 5), -5),
    "product": (op("*", 3, -4), -12),
    "real product": (op("*", 3, 0.5), 1.5),
    "sum overflows": (op("+", INT_MAX, 1), "overflow"),
    "sum overflows on the way": (op("-", op("+", INT_MAX, 1), 1), "overflow"),
    "difference overflows": (op("-", INT_MIN, 1), "overflow"),
    "product overflows": (op("*", 2**62, 2), "overflow"),
    "largest": (op("+", INT_MAX - 1, 1), INT_MAX),
    "smallest": (op("*", -(2**62), 2), INT_MIN),
    "minus overflows": (op("-", INT_MIN), "overflow"),
    "abs overflows": (op("abs", INT_MIN), "overflow"),
    "real sum infinite": (op("+", 1e308, 1e308), "not-finite"),
    "real product infinite": (op("*", 1e200, 1e200), "not-finite"),
    "division is real": (op("/", 6, 3), 2.0),
    "division of doubles": (op("/", INT_MAX, INT_MAX - 1), 1.0),
    "division by zero": (op("/", 1, 0), "division-by-zero"),
    "division by real zero": (op("/", 1.0, op("*", -1, 0.0)), "division-by-zero"),
    "division infinite": (op("/", 1e308, 1e-308), "not-finite"),
    "modulo of negative": (op("%", -1, 3), 2),
    "modulo by negative": (op("%", 1, -3), -2),
    "modulo exact": (op("%", INT_MIN, -1), 0),
    "modulo by zero": (op("%", 1, 0), "division-by-zero"),
    "min": (op("min", 3, 2), 2),
    "min mixed": (op("min", 3.0, 2), 2.0),
    "max": (op("max", 3, 2), 3),
    "abs": (op("abs", -3), 3),
    "abs real": (op("abs", -3.5), 3.5),
    "pow": (op("pow", 3, 4), 81),
    "pow zero": (op("pow", 0, 0), 1),
    "pow of minus one": (op("pow", -1, INT_MAX), -1),
    "pow of one": (op("pow", 1, INT_MAX), 1),
    "pow of nought": (op("pow", 0, INT_MAX), 0),
    "pow fits": (op("pow", -2, 63), INT_MIN),
    "pow overflows": (op("pow", 2, 63), "overflow"),
    "pow overflows far": (op("pow", INT_MAX, 63), "overflow"),
    "pow overflows without being computed": (op("pow", 2, INT_MAX), "overflow"),
    "pow negative exponent": (op("pow", 2, -1), "negative-exponent"),
    "pow real": (op("pow", 2.0, -1), 0.5),
    "pow not a number": (op("pow", -2.0, 0.5), "not-finite"),
    "pow infinite": (op("pow", 10.0, 400), "not-finite"),
    "pow of real zero": (op("pow", 0.0, -1), "not-finite"),
    "log": (op("log", 8, 2), math.log(8) / math.log(2)),
    "log of zero": (op("log", 0, 2), "bad-log"),
    "log to negative base": (op("log", 2, -2), "bad-log"),
    "log to base zero": (op("log", 2, 0.0), "bad-log"),
    "log to base 1": (op("log", 2, 1), "division-by-zero"),
    "floor": (op("floor", -1.5), -2),
    "ceil": (op("ceil", -1.5), -1),
    "trc": (op("trc", -1.5), -1),
    "trc up": (op("trc", 1.5), 1),
    "floor of int": (op("floor", INT_MAX), INT_MAX),
    "floor overflows": (op("floor", 1e19), "overflow"),
    "ceil overflows": (op("ceil", 2.0**63), "overflow"),
    "trc fits": (op("trc", -(2.0**63)), INT_MIN),
    "sgn": (op("sgn", -2.5), -1),
    "sgn zero": (op("sgn", 0.0), 0),
    "sgn int": (op("sgn", 7), 1),
    "e": ({"constant": "e"}, math.e),
    "pi": ({"constant": "π"}, math.pi),
    "access": (op("aa", op("av", 1, 2, 3), 2), 3),
    "access beyond": (op("aa", op("av", 1, 2, 3), 3), "index-out-of-bounds"),
    "access before": (op("aa", op("av", 1, 2, 3), -1), "index-out-of-bounds"),
    "mixed array is real": (op("aa", op("av", 1, 2.5), 0), 1.0),
    "array constructor": (
        op("aa", {"op": "ac", "var": "i", "length": 4, "exp": op("*", "i", "i")}, 3),
        9,
    ),
    "every element is evaluated": (op("aa", op("av", 1, op("%", 1, 0)), 0), "division-by-zero"),
    "let": (let(op("+", "y", "y"), y=2), 4),
    "let sees earlier names": (let("z", y=2, z=op("+", "y", 1)), 3),
    "let hides": (let(let("y", y=3), y=2), 3),
    "let evaluates where it is used": (let(1, y=op("%", 1, 0)), 1),
    "let evaluates lazily": (
        let({"op": "ite", "if": False, "then": "y", "else": 2}, y=op("%", 1, 0)),
        2,
    ),
    "let without variables": (let(op("+", 1, 1)), 2),
    "left comes first": (op("+", op("%", 1, 0), op("pow", 2, -1)), "division-by-zero"),
    "left comes first, swapped": (op("+", op("pow", 2, -1), op("%", 1, 0)), "negative-exponent"),
    "constant": ("SEVEN", 7),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression(build, name):
    expression, expected = EXPRESSIONS[name]
    assert_value(build, expression, expected)


def assert_value(build, expression, expected, **more):
    """Assign the expression to a variable of its own type, and look at the outcome."""
    if isinstance(expected, str):
        model = _assigning(build, ("bool", "int", "real"), expression, more)
        with pytest.raises(checker.ModelError) as caught:
            model.outcomes(model.initial_states(1)[0], "a")
        assert caught.value.kind == expected
        assert caught.value.detail
        return
    kind = {bool: "bool", int: "int", float: "real"}[type(expected)]
    model = _assigning(build, (kind,), expression, more)
    (outcome,) = model.outcomes(model.initial_states(1)[0], "a")
    assert outcome == {"r": expected}
    assert type(outcome["r"]) is type(expected)


def _assigning(build, kinds, expression, more):
    """Return the model for the first kind of variable that can hold the expression."""
    types = {"bool": "bool", "int": bounded(INT_MIN, INT_MAX), "real": "real"}
    constants = [{"name": "SEVEN", "type": "int", "value": 7}]
    steps = automaton(edge("a", to(put("r", expression))))
    for kind in kinds:
        try:
            r = var("r", types[kind], kind == "bool" or 0)
            return build([r], steps, constants=constants, **more)
        except checker.ReadError:
            if kind == kinds[-1]:
                raise
    raise AssertionError


TYPE_ERRORS = {
    "and of ints": op("∧", 1, True),
    "not of int": op("¬", 1),
    "Boolean equals number": op("=", True, 1),
    "less of Booleans": op("<", True, False),
    "sum of Booleans": op("+", True, 1),
    "modulo of reals": op("%", 1.0, 2),
    "ite condition": op("ite", 1, True, False),
    "ite branches": op("=", op("ite", True, 1, False), 1),
    "arrays are not compared": op("=", op("av", 1), op("av", 1)),
    "index of an array is an int": op("=", op("aa", op("av", 1), 0.0), 1),
    "access of no array": op("=", op("aa", 1, 0), 1),
    "mixed array": op("=", op("aa", op("av", 1, True), 0), 1),
    "number as condition": 1,
    "unknown name": "nowhere",
    "too big a literal": op("=", 2**63, 1),
    "no operand": {"op": "¬"},
    "nonsense": {"no": "op"},
    "null": op("∧", True, None),
    "type error behind a lazy operator": op("∧", False, op("¬", 1)),
    "unknown function": call("f"),
    "unknown constant": op("=", {"constant": "tau"}, 1),
}


@pytest.mark.parametrize("name", TYPE_ERRORS)
def test_types_are_checked_before_anything_is_evaluated(build, name):
    with pytest.raises(checker.ReadError):
        build([X], automaton(edge("a", to(), guard=TYPE_ERRORS[name])))


@pytest.mark.parametrize("node", [op("sin", 1.0), op("av", op("av", 1)), op("av")])
def test_unsupported_expressions(build, node):
    with pytest.raises(checker.NotSupported):
        build([X], automaton(edge("a", to(), guard=op("=", node, 1))))


def test_functions_are_expanded(build):
    functions = [
        {
            "name": "twice",
            "type": "real",
            "parameters": [{"name": "x", "type": "int"}],
            "body": call("sum", "x", "x"),
        },
        {
            "name": "sum",
            "type": "int",
            "parameters": [{"name": "p", "type": "int"}, {"name": "q", "type": "int"}],
            "body": op("+", "p", "q"),
        },
    ]
    more = {"functions": functions}
    assert_value(build, call("twice", call("sum", 1, 2)), 6.0, **more)
    assert_value(build, call("twice", op("%", 1, 0)), "division-by-zero", **more)
    with pytest.raises(checker.ReadError):
        build([X], automaton(edge("a", to(put("x", call("twice", 1))))), **more)
    with pytest.raises(checker.ReadError):
        build([X], automaton(edge("a", to(put("x", call("sum", 1))))), **more)


def test_a_function_sees_the_variables_of_its_declaration(build):
    reads_x = {"name": "f", "type": "int", "parameters": [], "body": op("+", "x", 1)}
    local = automaton(
        edge("a", to(put("x", call("f")))),
        variables=[var("x", bounded(0, 9), 5)],
        functions=[reads_x],
    )
    model = build([X], local)
    assert model.outcomes({"x": 1, "m.x": 5}, "a") == [{"x": 1, "m.x": 6}]
    hidden = automaton(edge("a", to(put("x", call("f")))), variables=[var("x", bounded(0, 9), 5)])
    model = build([X], hidden, functions=[reads_x])
    assert model.outcomes({"x": 1, "m.x": 5}, "a") == [{"x": 1, "m.x": 2}]


@pytest.mark.parametrize("length", [1, {"op": "call", "function": "f", "args": []}])
def test_recursion_is_not_supported(build, length):
    ac = {"op": "ac", "var": "i", "length": length, "exp": call("f")}
    body = op("aa", ac, 0)
    f = {"name": "f", "type": "int", "parameters": [], "body": body}
    with pytest.raises(checker.NotSupported):
        build([X], automaton(edge("a", to(put("x", call("f"))))), functions=[f])


@pytest.mark.parametrize("shape", ["right", "left", "sum", "ite", "not", "let"])
def test_deep_expressions(build, shape):
    node = True if shape != "sum" else 0
    for _ in range(3000):
        node = {
            "right": lambda n: op("∧", op("≤", "x", 5), n),
            "left": lambda n: op("∨", n, op("≤", "x", 5)),
            "sum": lambda n: op("+", n, 1),
            "ite": lambda n: op("ite", op("=", "x", 7), False, n),
            "not": lambda n: op("¬", n),
            "let": lambda n: let(n, y=True),
        }[shape](node)
    if shape == "sum":
        node = op("=", node, 3000)
    model = build([X], automaton(edge("a", to(), guard=node)))
    assert model.applicable({"x": 1}) == ("a",)


# States


def test_order_and_names_of_state_variables(build):
    one = automaton(
        name="one",
        locations=("here", "there"),
        variables=[var("x", "bool", True), var("b", array("bool"), op("av", True, False))],
    )
    two = automaton(name="two", variables=[var("x", bounded(0, "N"), 1)])
    model = build(
        [X, var("a", array(bounded(0, 3)), op("av", 1, 2)), var("t", "real", 0, transient=True)],
        one,
        two,
        elements=["one", "two", "two"],
        constants=[{"name": "N", "type": "int", "value": 2}],
        actions=(),
    )
    assert [(v.name, v.kind, v.lower, v.upper) for v in model.variables] == [
        ("x", "int", -100, 100),
        ("a[0]", "int", 0, 3),
        ("a[1]", "int", 0, 3),
        ("one.location", "int", 0, 1),
        ("one.x", "bool", False, True),
        ("one.b[0]", "bool", False, True),
        ("one.b[1]", "bool", False, True),
        ("two#1.x", "int", 0, 2),
        ("two#2.x", "int", 0, 2),
    ]
    (state,) = model.initial_states(1)
    assert list(state.values()) == [0, 1, 2, 0, True, True, False, 1, 1]
    assert model.name == "test"


def test_a_local_array_has_a_prefix(build):
    local = automaton(variables=[var("a", array("real"), op("av", 1, 2.5))])
    model = build([], local)
    assert model.initial_states(1) == [{"m.a[0]": 1.0, "m.a[1]": 2.5}]


def test_negative_zero_is_stored_as_zero(build):
    model = build(
        [var("r", "real", op("*", -1, 0.0))], automaton(edge("a", to(put("r", op("*", "r", -1)))))
    )
    (start,) = model.initial_states(1)
    assert math.copysign(1, start["r"]) == 1
    (outcome,) = model.outcomes({"r": 0}, "a")
    assert math.copysign(1, outcome["r"]) == 1


def test_unbounded_variables(build):
    with pytest.raises(checker.NotSupported):
        build([var("x", "int", 0)])
    step = automaton(edge("a", to(put("x", op("+", "x", 1)))))
    model = build([var("x", "int", 0), var("r", "real", 0)], step, load={"int_range": (-1, 4)})
    assert (model.variables[0].lower, model.variables[0].upper) == (-1, 4)
    with pytest.raises(checker.ModelError, match="out-of-range"):
        model.outcomes({"x": 4, "r": 0.0}, "a")
    assert model.variables[1].has(sys.float_info.max)
    assert not model.variables[1].has(math.inf)


def test_states_from_outside_are_checked(build):
    model = build([X, var("r", "real", 0)], automaton(edge("a", to())))
    assert model.outcomes({"r": 1, "x": 2}, "a") == [{"x": 2, "r": 1.0}]
    wrong = {"x": True, "r": 0.0}, {"x": 1.0, "r": 0.0}, {"x": 1}, {"x": 1, "r": 0.0, "z": 1}
    for state in wrong:
        with pytest.raises(ValueError):
            model.applicable(state)
    with pytest.raises(ValueError):
        model.outcomes({"x": 1, "r": 0.0}, "nothing")


# Steps


def test_missing_parts_have_defaults(build):
    model = build([X], automaton({"location": "l", "action": "a", "destinations": [to()]}))
    assert model.applicable({"x": 3}) == ("a",)
    assert model.outcomes({"x": 3}, "a") == [{"x": 3}]
    bare = {"location": "l", "action": "a", "destinations": [{"location": "l"}]}
    assert build([X], automaton(bare)).outcomes({"x": 3}, "a") == [{"x": 3}]


def test_edges_need_location_and_guard(build):
    steps = automaton(
        edge("a", to(put("x", 1), location="k"), location="l"),
        edge("b", to(put("x", 2), location="l"), location="k", guard=op("=", "x", 1)),
        locations=("l", "k"),
    )
    model = build([X], steps, actions=("a", "b"))
    assert model.applicable({"x": 0, "m.location": 0}) == ("a",)
    assert model.outcomes({"x": 0, "m.location": 0}, "a") == [{"x": 1, "m.location": 1}]
    assert model.applicable({"x": 0, "m.location": 1}) == ()
    assert model.outcomes({"x": 0, "m.location": 1}, "b") == []
    assert model.applicable({"x": 1, "m.location": 1}) == ("b",)
    assert model.outcomes({"x": 1, "m.location": 1}, "b") == [{"x": 2, "m.location": 0}]


def test_several_edges_of_one_action_are_united(build):
    steps = automaton(
        edge("a", to(put("x", 1)), to(put("x", 2))),
        edge("a", to(put("x", 2)), guard=op("≥", "x", 0)),
        edge("a", to(put("x", 3)), guard=op("<", "x", 0)),
    )
    model = build([X], steps)
    assert values(model.outcomes({"x": 0}, "a"), "x") == [(1,), (2,)]
    assert values(model.outcomes({"x": -1}, "a"), "x") == [(1,), (2,), (3,)]


def two_automata(one, two):
    return automaton(*one, name="one"), automaton(*two, name="two")


def test_syncs_fire_all_combinations(build):
    pair = two_automata(
        [edge("a", to(put("x", 1)), to(put("x", 2)))],
        [edge("b", to(put("y", 1))), edge("b", to(put("y", 2)), guard=op("=", "x", 0))],
    )
    y = var("y", bounded(0, 9), 0)
    model = build([X, y], *pair, actions=("a", "b", "c"), syncs=[sync("c", "a", "b")])
    assert model.actions == ("a", "b", "c")
    assert model.applicable({"x": 0, "y": 0}) == ("c",)
    outcomes = model.outcomes({"x": 0, "y": 0}, "c")
    assert values(outcomes, "x", "y") == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert values(model.outcomes({"x": 5, "y": 0}, "c"), "x", "y") == [(1, 1), (2, 1)]


def test_null_takes_no_part_and_labels_without_sync_never_fire(build):
    pair = two_automata([edge("a", to(put("x", 1)))], [edge("a", to(put("x", 2)))])
    model = build([X], *pair, syncs=[sync("a", "a", None)])
    assert model.outcomes({"x": 0}, "a") == [{"x": 1}]
    model = build([X], *pair, syncs=[sync("a", "a", None), sync("a", None, "a")])
    assert values(model.outcomes({"x": 0}, "a"), "x") == [(1,), (2,)]
    model = build([X], *pair)
    assert model.actions == ("a",)
    assert model.applicable({"x": 0}) == ()


def test_a_guard_is_evaluated_only_if_the_ones_before_hold(build):
    error = op("=", op("%", 1, "x"), 0)
    pair = two_automata([edge("a", to(), guard=op(">", "x", 5))], [edge("a", to(), guard=error)])
    model = build([X], *pair, syncs=[sync("a", "a", "a")])
    assert model.applicable({"x": 0}) == ()
    backwards = build([X], *reversed(pair), syncs=[sync("a", "a", "a")])
    for ask in (backwards.applicable, lambda state: backwards.outcomes(state, "a")):
        with pytest.raises(checker.ModelError, match="division-by-zero"):
            ask({"x": 0})


def test_locations_are_compared_before_guards_are_evaluated(build):
    error = op("=", op("%", 1, "x"), 0)
    wrong = automaton(edge("a", to(), guard=error), name="m")
    away = automaton(edge("a", to(location="k"), location="k"), name="n", locations=("l", "k"))
    for pair in ((wrong, away), (away, wrong)):
        model = build([X], *pair, syncs=[sync("a", "a", "a")])
        assert model.applicable({"x": 0, "n.location": 0}) == ()
        with pytest.raises(checker.ModelError, match="division-by-zero"):
            model.applicable({"x": 0, "n.location": 1})


def test_a_view_answers_like_its_state(build):
    """Guards are evaluated once for a view, with the same answers; errors stay errors."""
    error = op("=", op("%", 1, "x"), 0)
    steps = automaton(edge("a", to(put("x", 1))), edge("a", to()), edge("b", to(), guard=error))
    model = build([X], steps, actions=("a", "b"))
    for x in range(3):
        state, view = {"x": x}, model.view({"x": x})
        assert model.view(view) is view
        for _ in range(2):
            assert model.outcomes(view, "a") == model.outcomes(state, "a")
            if x == 0:
                with pytest.raises(checker.ModelError):
                    model.applicable(view)
            else:
                assert model.applicable(view) == model.applicable(state)
    other = build([X], steps, actions=("a", "b"))
    assert other.view(view) is not view


def test_outcomes_look_only_at_guards_of_their_action(build):
    error = op("=", op("%", 1, "x"), 0)
    steps = automaton(edge("a", to(put("x", 1))), edge("b", to(), guard=error))
    model = build([X], steps, actions=("a", "b"))
    assert model.outcomes({"x": 0}, "a") == [{"x": 1}]
    with pytest.raises(checker.ModelError):
        model.applicable({"x": 0})


def test_silent_steps(build):
    pair = two_automata(
        [edge(None, to(put("x", 1))), edge("a", to(put("x", 2)))],
        [edge("a", to(put("y", 2))), edge(None, to(put("y", 1)), guard=op("=", "y", 0))],
    )
    y = var("y", bounded(0, 9), 0)
    syncs = [sync(None, "a", "a"), sync("a", None, "a"), sync(None, "a", None)]
    model = build([X, y], *pair, actions=("a", "two"), syncs=syncs)
    assert model.actions == ("a", "two", "one", "two(silent)", "one+two")
    assert model.silent == {"one", "two(silent)", "one+two"}
    state = {"x": 0, "y": 0}
    assert model.applicable(state) == ("a", "one", "two(silent)", "one+two")
    assert model.outcomes(state, "one+two") == [{"x": 2, "y": 2}]
    assert model.outcomes(state, "two(silent)") == [{"x": 0, "y": 1}]
    assert model.outcomes(state, "a") == [{"x": 0, "y": 2}]
    assert values(model.outcomes(state, "one"), "x", "y") == [(1, 0), (2, 0)]


def test_silent_edges_of_an_element_that_occurs_twice(build):
    twice = automaton(
        edge(None, to(put("n", op("+", "n", 1)))), variables=[var("n", bounded(0, 9), 0)]
    )
    model = build([], twice, elements=["m", "m"], actions=())
    assert model.actions == ("m#0", "m#1")
    assert model.outcomes({"m#0.n": 0, "m#1.n": 5}, "m#1") == [{"m#0.n": 0, "m#1.n": 6}]


# Probabilities


def test_a_destination_of_probability_zero_is_no_outcome(build):
    steps = automaton(
        edge("a", to(put("x", 1), probability=0), to(put("x", 2), probability=op("/", 1, 1))),
        edge("b", to(put("x", 1), probability=0.0)),
        edge("c", to(put("x", 1), probability=op("-", 1, "p")), to(put("x", 2), probability="p")),
    )
    p = [{"name": "p", "type": "real"}]
    model = build([X], steps, actions=("a", "b", "c"), constants=p, load={"constants": {"p": 1}})
    assert model.applicable({"x": 0}) == ("a", "c")
    assert model.outcomes({"x": 0}, "a") == [{"x": 2}]
    assert model.outcomes({"x": 0}, "b") == []
    assert model.outcomes({"x": 0}, "c") == [{"x": 2}]


def test_a_product_of_tiny_probabilities_is_an_outcome(build):
    tiny = 1e-300
    pair = two_automata(
        [edge("a", to(put("x", 1), probability=tiny), to(probability=1.0))],
        [edge("a", to(put("y", 1), probability=tiny), to(probability=0))],
    )
    y = var("y", bounded(0, 9), 0)
    model = build([X, y], *pair, syncs=[sync("a", "a", "a")])
    assert values(model.outcomes({"x": 0, "y": 0}, "a"), "x", "y") == [(0, 1), (1, 1)]


def test_probabilities_are_evaluated_before_the_step(build):
    first = to(put("x", 0), probability=op("/", "x", 10))
    steps = automaton(edge("a", first, to(put("x", 1), probability=op("-", 1, op("/", "x", 10)))))
    model = build([X], steps)
    assert values(model.outcomes({"x": 5}, "a"), "x") == [(0,), (1,)]
    assert model.outcomes({"x": 0}, "a") == [{"x": 1}]
    for state in ({"x": -1}, {"x": 11}):
        with pytest.raises(checker.ModelError) as caught:
            model.outcomes(state, "a")
        assert caught.value.kind == "negative-probability"
        with pytest.raises(checker.ModelError):
            model.applicable(state)


# Assignments

Y = var("y", bounded(-100, 100), 0)


def test_groups_run_by_ascending_index(build):
    same = automaton(edge("a", to(put("x", "y"), put("y", "x"))))
    assert build([X, Y], same).outcomes({"x": 1, "y": 2}, "a") == [{"x": 2, "y": 1}]
    later = automaton(
        edge("a", to(put("y", op("+", "x", 1), index=2), put("x", "y", index=-1), put("x", 7)))
    )
    assert build([X, Y], later).outcomes({"x": 1, "y": 2}, "a") == [{"x": 7, "y": 8}]


def test_groups_join_the_assignments_of_all_elements(build):
    pair = two_automata(
        [edge("a", to(put("x", op("+", "y", 1), index=1)))], [edge("a", to(put("y", 5)))]
    )
    model = build([X, Y], *pair, syncs=[sync("a", "a", "a")])
    assert model.outcomes({"x": 0, "y": 0}, "a") == [{"x": 6, "y": 5}]


def test_conflicting_assignments(build):
    steps = automaton(
        edge("a", to(put("x", "y"), put("x", 1))),
        edge("b", to(put("x", 1), put("x", 2, index=1))),
    )
    model = build([X, Y], steps, actions=("a", "b"))
    assert model.outcomes({"x": 0, "y": 1}, "a") == [{"x": 1, "y": 1}]
    assert model.outcomes({"x": 0, "y": 1}, "b") == [{"x": 2, "y": 1}]
    with pytest.raises(checker.ModelError) as caught:
        model.outcomes({"x": 0, "y": 2}, "a")
    assert caught.value.kind == "conflicting-assignments"


def test_equal_values_for_a_real_do_not_conflict(build):
    steps = automaton(edge("a", to(put("r", 1), put("r", 1.0))))
    assert build([var("r", "real", 0)], steps).outcomes({"r": 0.0}, "a") == [{"r": 1.0}]


def test_bounds_are_checked_and_not_clipped(build):
    r = var("r", bounded(0, 1, "real"), 0)
    steps = automaton(
        edge("a", to(put("x", op("+", "x", 1)))),
        edge("b", to(put("r", op("+", "r", 0.25)))),
        edge("c", to(put("x", 1000), put("x", 1, index=1))),
    )
    model = build([X, r], steps, actions=("a", "b", "c"))
    assert model.outcomes({"x": 99, "r": 0.75}, "a") == [{"x": 100, "r": 0.75}]
    assert model.outcomes({"x": 99, "r": 0.75}, "b") == [{"x": 99, "r": 1.0}]
    for action in "abc":
        with pytest.raises(checker.ModelError) as caught:
            model.outcomes({"x": 100, "r": 1.0}, action)
        assert caught.value.kind == "out-of-range"
    assert model.applicable({"x": 100, "r": 1.0}) == ("a", "b", "c")


def test_types_of_assignments(build):
    r = var("r", "real", 0)
    model = build([X, r], automaton(edge("a", to(put("r", "x")))))
    (outcome,) = model.outcomes({"x": 3, "r": 0}, "a")
    assert type(outcome["r"]) is float
    a = var("a", array(bounded(0, 9)), op("av", 1, 2))
    for ref, value in (
        ("x", "r"),
        ("x", True),
        ("r", False),
        ("a", op("av", 1, 2, 3)),
        ("a", 1),
        ("x", op("av", 1)),
        (op("aa", "a", 0.0), 1),
        (op("aa", "x", 0), 1),
        ("nowhere", 1),
    ):
        with pytest.raises(checker.ReadError):
            build([X, r, a], automaton(edge("a", to(put(ref, value)))))


def test_arrays(build):
    a = var("a", array(bounded(0, 9)), op("av", 1, 2, 3))
    b = var("b", array("real"), op("av", 0, 0, 0))
    ac = {"op": "ac", "var": "i", "length": "N", "exp": op("aa", "a", op("-", 2, "i"))}
    steps = automaton(
        edge("cell", to(put(op("aa", "a", "x"), op("aa", "a", 0)))),
        edge("copy", to(put("b", "a"))),
        edge("reverse", to(put("a", ac))),
        edge("both", to(put("a", op("av", 1, 2, 3)), put(op("aa", "a", "x"), 3))),
        edge("index", to(put("x", 2), put(op("aa", "a", "x"), 9))),
        edge("later", to(put("x", 2), put(op("aa", "a", "x"), 9, index=1))),
    )
    actions = ("cell", "copy", "reverse", "both", "index", "later")
    n = [{"name": "N", "type": "int", "value": 3}]
    model = build([X, a, b], steps, actions=actions, constants=n)
    (state,) = model.initial_states(1)

    def after(action, x):
        (outcome,) = model.outcomes(state | {"x": x}, action)
        return list(outcome.values())

    assert after("cell", 2) == [2, 1, 2, 1, 0.0, 0.0, 0.0]
    assert after("copy", 0) == [0, 1, 2, 3, 1.0, 2.0, 3.0]
    assert after("reverse", 0) == [0, 3, 2, 1, 0.0, 0.0, 0.0]
    assert after("both", 2) == [2, 1, 2, 3, 0.0, 0.0, 0.0]
    assert after("index", 0) == [2, 9, 2, 3, 0.0, 0.0, 0.0]
    assert after("later", 0) == [2, 1, 2, 9, 0.0, 0.0, 0.0]
    for action, x, kind in (
        ("cell", 3, "index-out-of-bounds"),
        ("cell", -1, "index-out-of-bounds"),
        ("both", 0, "conflicting-assignments"),
    ):
        with pytest.raises(checker.ModelError) as caught:
            model.outcomes(state | {"x": x}, action)
        assert caught.value.kind == kind


def interval(ref, lower, upper, **more):
    return {"ref": ref, "lower-bound": lower, "upper-bound": upper, **more}


def test_intervals_have_one_outcome_for_each_value(build):
    z = var("z", bounded(0, 3), 0)
    steps = automaton(
        edge("a", to(interval("z", "x", "y"), put("x", op("+", "z", 1), index=1))),
        edge("b", to(interval("x", 0, 1), interval("y", 0, 1))),
    )
    model = build([X, Y, z], steps, actions=("a", "b"))
    state = {"x": 1, "y": 2, "z": 0}
    assert values(model.outcomes(state, "a"), "x", "z") == [(2, 1), (3, 2)]
    wide = model.outcomes({"x": -50, "y": 50, "z": 0}, "a")
    assert values(wide, "z") == [(0,), (1,), (2,), (3,)]
    assert values(model.outcomes(state, "b"), "x", "y") == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for x, y in ((2, 1), (4, 9), (-3, -1)):
        with pytest.raises(checker.ModelError) as caught:
            model.outcomes({"x": x, "y": y, "z": 0}, "a")
        assert caught.value.kind == "empty-interval"


def test_intervals_are_for_integers(build):
    a = var("a", array(bounded(0, 9)), op("av", 1, 2))
    cell = automaton(edge("a", to(interval(op("aa", "a", 1), 8, 20))))
    outcomes = build([a], cell).outcomes({"a[0]": 1, "a[1]": 2}, "a")
    assert values(outcomes, "a[0]", "a[1]") == [(1, 8), (1, 9)]
    for type_, initial in (("real", 0), ("bool", False)):
        with pytest.raises(checker.ReadError):
            build([var("v", type_, initial)], automaton(edge("a", to(interval("v", 0, 1)))))


# Transient variables


def test_transient_variables(build):
    t = var("t", bounded(0, 9), 4, transient=True)
    says = {"name": "k", "transient-values": [{"ref": "t", "value": op("+", "x", 1)}]}
    steps = automaton(
        edge("a", to(put("x", "t")), guard=op("=", "t", 4)),
        edge("a", to(put("x", "t"), location="k"), guard=op("=", "t", 3), location="k"),
        edge("b", to(put("t", 7), put("x", "t"), put("y", "t", index=1), location="k")),
        locations=("l", says),
    )
    reach = condition(op("≥", "t", 5))
    model = build([X, Y, t], steps, actions=("a", "b"), properties=[pa(reach=reach)])
    assert [variable.name for variable in model.variables] == ["x", "y", "m.location"]
    at_l, at_k = {"x": 2, "y": 0, "m.location": 0}, {"x": 2, "y": 0, "m.location": 1}
    assert model.outcomes(at_l, "a") == [{"x": 4, "y": 0, "m.location": 0}]
    assert model.outcomes(at_k, "a") == [{"x": 4, "y": 0, "m.location": 1}]
    assert model.outcomes(at_l, "b") == [{"x": 4, "y": 7, "m.location": 1}]
    assert model.applicable(at_k | {"x": 3}) == ()
    assert [model.is_fail(at_k | {"x": x}) for x in (3, 4)] == [False, True]
    assert not model.is_fail(at_l | {"x": 4})
    with pytest.raises(checker.ModelError, match="out-of-range"):
        model.is_fail(at_k | {"x": 9})


def test_a_transient_value_that_nobody_reads_raises_nothing(build):
    t = var("t", "real", 0, transient=True)
    places = [{"name": "l", "transient-values": [{"ref": "t", "value": op("/", 1, "x")}]}]
    model = build([X, t], automaton(edge("a", to()), locations=places))
    assert model.applicable({"x": 0}) == ("a",)


# Start, goal, fail


def test_fail_and_goal_are_raw_conditions(build):
    parts = {"reach": condition(op(">", "x", 3)), "objective": goal(op("=", "x", 5))}
    model = build([X], automaton(edge("a", to())), properties=[pa(**parts)])
    assert [model.is_fail({"x": x}) for x in (3, 4, 5)] == [False, True, True]
    assert [model.is_goal({"x": x}) for x in (3, 4, 5)] == [False, False, True]
    assert model.applicable({"x": 5}) == ("a",)
    nothing = build([X])
    assert not nothing.is_fail({"x": 0})
    assert not nothing.is_goal({"x": 0})


def test_a_start_condition_leaves_other_variables_free(build):
    z = var("z", bounded(0, 2), 1)
    start = condition(op("∧", op("≤", 99, "x"), op("=", "f", True)))
    model = build([X, z, var("f", "bool", False)], properties=[pa(start=start)])
    expected = list(itertools.product((99, 100), (0, 1, 2), (True,)))
    assert values(model.starts(1000), "x", "z", "f") == expected
    assert model.starts(10) is None
    assert model.is_start({"x": 99, "z": 2, "f": True})
    assert not model.is_start({"x": 98, "z": 2, "f": True})
    assert not model.is_start({"x": 101, "z": 2, "f": True})
    assert model.initial_states(1) == [{"x": 0, "z": 1, "f": False}]


def test_locations_of_a_start_condition(build):
    two = automaton(name="n", locations=("p", "q"))
    one = automaton(locations=("l", "k"))
    listed = [{"automaton": "n", "index": 1, "location": "q"}]
    start = condition(op("≥", "x", 100), locations=listed)
    reach = condition(locations=[{"automaton": "m", "index": 0, "location": "k"}])
    model = build([X], one, two, properties=[pa(start=start, reach=reach)])
    assert model.starts(1000) == [{"x": 100, "m.location": 0, "n.location": 1}]
    assert not model.is_start({"x": 100, "m.location": 1, "n.location": 1})
    assert not model.is_start({"x": 100, "m.location": 0, "n.location": 0})
    assert model.is_fail({"x": 0, "m.location": 1, "n.location": 0})
    assert not model.is_fail({"x": 0, "m.location": 0, "n.location": 0})


def test_listed_starts_may_be_partial(build):
    a = var("a", array(bounded(0, 9)), op("av", 1, 2))
    free = var("free", bounded(0, 1))
    entries = [
        {"variables": [{"var": "x", "value": 7}]},
        {"variables": [{"var": "a", "value": op("av", 3, 4)}, {"var": "free", "value": 1}]},
        {
            "variables": [{"var": op("aa", "a", 1), "value": 9}, {"var": "free", "value": 0}],
            "locations": [{"automaton": "m", "index": 0, "location": "k"}],
        },
    ]
    start = {"op": "states-values", "values": entries}
    steps = automaton(locations=("l", "k"))
    model = build([X, a, free], steps, properties=[pa(start=start)])
    states = model.starts(100)
    assert [list(state.values()) for state in states] == [
        [7, 1, 2, 0, 0],
        [7, 1, 2, 1, 0],
        [0, 3, 4, 1, 0],
        [0, 1, 9, 0, 1],
    ]
    assert all(model.is_start(state) for state in states)
    assert not model.is_start(states[0] | {"x": 6})
    assert not model.is_start(states[0] | {"m.location": 1})


@pytest.mark.parametrize(
    "value", [{"var": "x", "value": 101}, {"var": "x", "value": 1.0}, {"var": "q", "value": 1}]
)
def test_wrong_listed_starts(build, value):
    start = {"op": "states-values", "values": [{"variables": [value]}]}
    with pytest.raises(checker.ReadError):
        build([X], properties=[pa(start=start)])


def test_initial_states_are_restricted(build):
    one = automaton(
        variables=[var("n", bounded(0, 3))],
        locations=("l", "k", "j"),
        **{"restrict-initial": {"exp": op("≥", "n", 2)}},
    )
    one["initial-locations"] = ["j", "l"]
    free = var("free", bounded(0, 5))
    more = {"restrict-initial": {"exp": op("<", "free", 1)}}
    model = build([X, free], one, **more)
    assert values(model.starts(100), "x", "free", "m.location", "m.n") == [
        (0, 0, 0, 2),
        (0, 0, 0, 3),
        (0, 0, 2, 2),
        (0, 0, 2, 3),
    ]
    assert model.initial_states(100) == model.starts(100)
    assert not model.is_start({"x": 0, "free": 0, "m.location": 0, "m.n": 1})


def test_a_start_condition_ignores_restrict_initial(build):
    more = {"restrict-initial": {"exp": op("=", "x", 5)}}
    model = build([X], properties=[pa(start=condition(op("=", "x", 6)))], **more)
    assert model.starts(10) == [{"x": 6}]
    assert model.initial_states(10) == []


def test_real_variables_must_be_pinned_to_be_listed(build):
    r = var("r", bounded(-1, 1, "real"), 0)
    free = build([X, r], properties=[pa(start=condition(op("=", "x", 1)))])
    assert free.starts(10_000) is None
    assert free.is_start({"x": 1, "r": 0.3})
    pinned = condition(op("∧", op("=", 1, "x"), op("=", "r", op("*", -1, 0.0))))
    assert build([X, r], properties=[pa(start=pinned)]).starts(10_000) is None
    pinned = condition(op("∧", op("=", 1, "x"), op("=", "r", 1)))
    model = build([X, r], properties=[pa(start=pinned)])
    assert model.starts(1000) == [{"x": 1, "r": 1.0}]
    outside = condition(op("=", "r", 2))
    assert build([r], properties=[pa(start=outside)]).starts(10) == []


def test_an_error_behind_a_false_conjunct_is_no_error(build):
    small = [var("x", bounded(0, 2), 0), var("y", bounded(0, 1), 0)]
    guarded = op("∧", op("≠", "x", 0), op("=", op("%", 2, "x"), "y"))
    model = build(small, properties=[pa(start=condition(guarded))])
    assert values(model.starts(100), "x", "y") == [(1, 0), (2, 0)]
    assert not model.is_start({"x": 0, "y": 0})
    bare = build(small, properties=[pa(start=condition(op("=", op("%", 2, "x"), "y")))])
    for ask in (lambda: bare.starts(100), lambda: bare.is_start({"x": 0, "y": 0})):
        with pytest.raises(checker.ModelError, match="division-by-zero"):
            ask()


def test_listing_agrees_with_brute_force(build):
    rng = random.Random(7)
    names = ["p", "q", "r"]
    declared = [var(name, bounded(-1, 2), 0) for name in names]

    def formula(depth):
        if depth == 0:
            return op(rng.choice("=≠<≤"), rng.choice(names), rng.choice([*names, -1, 0, 1]))
        return op(rng.choice("∧∧∨⇒"), formula(depth - 1), formula(depth - 1))

    for _ in range(40):
        model = build(declared, properties=[pa(start=condition(formula(3)))])
        space = (
            dict(zip(names, each, strict=True)) for each in itertools.product(*[range(-1, 3)] * 3)
        )
        assert model.starts(10_000) == [state for state in space if model.is_start(state)]


# Properties and files


def test_conditions_may_name_local_variables_by_their_state_names(build):
    local = automaton(variables=[var("x", bounded(0, 3), 0)])
    model = build([X], local, properties=[pa(reach=condition(op("<", "x", "m.x")))])
    assert model.is_fail({"x": 1, "m.x": 2})
    assert not model.is_fail({"x": 2, "m.x": 2})


def test_references_are_relative_to_the_file_that_holds_them(build, write, tmp_path):
    write({"op": "states-condition", "exp": op("=", "x", 1)}, "parts/start.jani")
    write({"file": "start.jani"}, "parts/hop.jani")
    write({"op": "objective", "goal": {"file": "parts/goal.jani"}}, "objective.jani")
    write(op("=", "x", 2), "parts/goal.jani")
    collection = {
        "properties": [
            pa("ignored", predicates=[], file="policy.jani2nnet"),
            pa(
                "first",
                start={"file": "parts/hop.jani"},
                objective={"file": "objective.jani"},
                reach={"label": "bad"},
            ),
            pa("second", reach=condition(op("=", "x", 9))),
        ],
        "labels": [{"name": "bad", "element": condition(op("=", "x", 3))}],
    }
    file = write(collection, "properties.jani")
    own = [pa("own", reach=condition(op("=", "x", 8)))]

    def fails(**load):
        model = build([X], properties=own, load=load)
        return model, [x for x in range(10) if model.is_fail({"x": x})]

    model, found = fails(properties=file)
    assert found == [3]
    assert model.starts(1000) == [{"x": 1}]
    assert model.is_goal({"x": 2})
    assert fails()[1] == [8]
    assert fails(properties=str(file), property_name="second")[1] == [9]
    assert fails(properties=file, property_name="own")[1] == [8]
    bare = write(op("=", "x", 4), "bare.jani")
    assert fails(properties=file, fail=bare)[1] == [4]
    model = build([X], load={"goal": tmp_path / "objective.jani", "start": str(bare)})
    assert model.is_goal({"x": 2})
    assert model.starts(1000) == [{"x": 4}]
    with pytest.raises(checker.ReadError):
        fails(property_name="nobody")


def test_references_in_a_circle(build, write):
    write({"file": "b.jani"}, "a.jani")
    write({"file": "a.jani"}, "b.jani")
    with pytest.raises(checker.ReadError):
        build([X], properties=[pa(start={"file": "a.jani"})])


def test_constants(build):
    constants = [
        {"name": "B", "type": "real", "value": op("+", "A", "C")},
        {"name": "A", "type": "int", "value": 3},
        {"name": "C", "type": "int"},
    ]
    x = var("x", bounded(0, "C"), "C")
    model = build([x, var("r", "real", "B")], constants=constants, load={"constants": {"C": 4}})
    assert model.initial_states(1) == [{"x": 4, "r": 7.0}]
    wrong = {}, {"C": 1.5}, {"C": True}, {"C": 4, "D": 1}, {"C": 2**63}
    for given in wrong:
        with pytest.raises(checker.ReadError):
            build([x], constants=constants, load={"constants": given})
    circle = [{"name": "A", "type": "int", "value": "A"}]
    with pytest.raises(checker.ReadError):
        build([X], constants=circle)
    overflow = [{"name": "A", "type": "int", "value": op("+", INT_MAX, 1)}]
    with pytest.raises(checker.ModelError, match="overflow"):
        build([X], constants=overflow)


def test_a_byte_order_mark_is_skipped(tmp_path):
    system = {"elements": [{"automaton": "m"}]}
    model = {"type": "lts", "name": "n", "automata": [automaton()], "system": system}
    file = tmp_path / "bom.jani"
    file.write_text(json.dumps(model), "utf-8-sig")
    assert checker.load(file).initial_states(1) == [{}]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "3", '{"type": "mdp"}', "NaN", "\udcff"])
def test_files_that_mean_nothing(tmp_path, text):
    file = tmp_path / "bad.jani"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(checker.ReadError):
        checker.load(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(checker.ReadError):
        checker.load(tmp_path / "none.jani")


def test_nesting_without_end(tmp_path):
    file = tmp_path / "deep.jani"
    file.write_text("[" * 200_000, "utf-8")
    with pytest.raises(checker.ReadError):
        checker.load(file)


BAD_MODELS = {
    "sync of wrong length": {"syncs": [sync("a", "a", "a")]},
    "sync of nobody": {"syncs": [sync("a", None)]},
    "sync of unknown label": {"syncs": [sync("a", "b")]},
    "sync with unknown result": {"syncs": [sync("b", "a")]},
    "unknown automaton": {"elements": ["nobody"]},
    "action declared twice": {"actions": ("a", "a")},
}


@pytest.mark.parametrize("name", BAD_MODELS)
def test_bad_models(build, name):
    with pytest.raises(checker.ReadError):
        build([X], **BAD_MODELS[name])


BAD_AUTOMATA = {
    "unknown location": automaton(edge("a", to(), location="nowhere")),
    "unknown destination": automaton(edge("a", to(location="nowhere"))),
    "unknown action": automaton(edge("b", to())),
    "no initial location": {**automaton(), "initial-locations": []},
    "variable twice": automaton(variables=[X, X]),
    "initial value out of range": automaton(variables=[var("y", bounded(0, 1), 2)]),
    "empty range": automaton(variables=[var("y", bounded(1, 0))]),
    "probability is a Boolean": automaton(edge("a", to(probability=True))),
    "edge is not an object": automaton(3),
    "index of a group is not an integer": automaton(edge("a", to(put("x", 1, index="0")))),
}


@pytest.mark.parametrize("name", BAD_AUTOMATA)
def test_bad_automata(build, name):
    with pytest.raises(checker.ReadError):
        build([X], BAD_AUTOMATA[name])


UNSUPPORTED = {
    "continuous time": {"type": "ctmc"},
    "clock": {"variables": [var("c", "clock", 0)]},
    "nested array": {"variables": [var("c", array(array("int")), 0)]},
    "array without length": {"variables": [var("c", array("bool"))]},
    "rate": {"automata": [automaton({**edge(None, to()), "rate": {"exp": 1}})]},
    "time": {"automata": [automaton(locations=[{"name": "l", "time-progress": {"exp": True}}])]},
    "nondet": {"automata": [automaton(edge("a", to(put("x", {"op": "nondet", "var": "y"}))))]},
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_models(build, name):
    with pytest.raises(checker.NotSupported):
        build(**{"variables": [X], **UNSUPPORTED[name]})


@pytest.mark.parametrize("type_", ["lts", "mdp", "dtmc"])
def test_supported_types(build, type_):
    assert build([X], type=type_).actions == ("a",)


# Published instances

INSTANCES = {
    "blocksworld_4_3_legacy": (
        {"path": "model.jani"},
        {"constants": {"failing_probability": 0.5, "item_cost_bound": 50}},
        14,
    ),
    "blocksworld_6_5_cost05": (
        {
            "path": "model.jani",
            "start": "start.jani",
            "goal": "objective.jani",
            "fail": "reach.jani",
        },
        {},
        202,
    ),
    "bouncing_ball_0.3": (
        {
            "path": "bouncing_ball.jani",
            "start": "start.jani",
            "goal": "objective.jani",
            "fail": "safe.jani",
        },
        {},
        1000,
    ),
    "npuzzle_3_3": (
        {"path": "model.jani"},
        {"constants": {"failing_probability": 0.5, "item_cost_bound": 3, "cost_terminal": False}},
        None,
    ),
    "one_way_line_15_10_det": (
        {
            "path": "one_way_line_15_10.jani",
            "properties": "pa_one_way_line_15_10_random_starts_1000.jani",
        },
        {},
        1000,
    ),
    "racetrack_tiny_4automata": ({"path": "model.jani"}, {}, 1),
    "two_way_line_15_10_det": ({"path": "model.jani"}, {}, None),
}


def in_bounds(model, state):
    return all(variable.has(state[variable.name]) for variable in model.variables)


@pytest.mark.parametrize("name", INSTANCES)
def test_published_instances(name):
    files, options, number_of_starts = INSTANCES[name]
    if not (DATA / name).exists():
        pytest.skip("instance files are not here")
    model = checker.load(**{key: DATA / name / file for key, file in files.items()}, **options)
    starts = model.starts(100_000)
    assert (starts and len(starts)) == number_of_starts
    assert all(model.is_start(state) for state in starts or ())
    rng = random.Random(1)
    state = (first := (starts or model.initial_states(1))[0])
    for _ in range(300):
        outcomes = []
        for action in model.applicable(state):
            found = model.outcomes(state, action)
            assert found and all(in_bounds(model, outcome) for outcome in found)
            outcomes += found
        stop = model.is_fail(state) or model.is_goal(state) or not outcomes
        state = rng.choice(starts or [first]) if stop else rng.choice(outcomes)


def random_value(rng, variable):
    if variable.kind == "bool":
        return rng.random() < 0.5
    choose = rng.uniform if variable.kind == "real" else rng.randint
    return choose(variable.lower, variable.upper)


@pytest.mark.parametrize("name", INSTANCES)
def test_random_valuations_of_published_instances(name):
    files, options, _ = INSTANCES[name]
    if not (DATA / name).exists():
        pytest.skip("instance files are not here")
    model = checker.load(**{key: DATA / name / file for key, file in files.items()}, **options)
    rng = random.Random(2)
    for _ in range(200):
        state = {v.name: random_value(rng, v) for v in model.variables}
        try:
            for action in model.applicable(state):
                assert all(in_bounds(model, each) for each in model.outcomes(state, action))
        except checker.ModelError as error:
            assert error.kind in ("out-of-range", "index-out-of-bounds", "division-by-zero")


@pytest.mark.parametrize("name", ["a", "m.a"])
def test_cells_of_arrays_can_be_pinned(build, name):
    real = {"kind": "array", "base": bounded(0, 1, "real")}
    local = var("a", real, {"op": "av", "elements": [0, 0.25]})
    cells = [{"op": "aa", "exp": name, "index": index} for index in (0, 1)]
    pinned = op("∧", op("≥", cells[0], 0.5), op("∧", op("≥", 0.5, cells[0]), op("=", cells[1], 0)))
    model = build([], automaton(variables=[local]), properties=[pa(start=condition(pinned))])
    assert model.starts(10) == [{"m.a[0]": 0.5, "m.a[1]": 0.0}]
    free = condition(op("≥", cells[0], 0.5))
    model = build([], automaton(variables=[local]), properties=[pa(start=free)])
    assert model.starts(10) is None
