"""Variables, elements, edges and the product, on models small enough to check by hand."""

import pytest
from tests.support.jani import (
    X,
    Y,
    automaton,
    av,
    bounded,
    condition,
    edge,
    model,
    op,
    pa,
    sync,
    var,
)

from surefoot.errors import InputError, Unsupported


def outcomes(task, state, action="a"):
    return sorted(tuple(each.values()) for each in task.outcomes(state, action))


def test_order_and_names_of_variables(load):
    first = automaton(
        name="m", locations=("l", "k"), variables=[var("v", "bool", False), var("a", "bool", True)]
    )
    cells = {"kind": "array", "base": bounded(0, 5)}
    second = automaton(name="n", variables=[var("b", cells, av(1, 2))])
    transient = var("t", "real", 0, transient=True)
    description = load(
        model(first, second, elements=["m", "n", "n"], variables=[transient, X], actions=())
    )
    names = ["x", "m.location", "m.v", "m.a", "n#1.b[0]", "n#1.b[1]", "n#2.b[0]", "n#2.b[1]", "t"]
    assert list(description.variables) == names
    assert description.variables["m.location"].labels == ("l", "k")
    assert description.variables["t"].is_scratch
    assert description.variables["n#2.b[1]"].initial == 2
    assert description.variables["x"].place == "/variables/1"


def test_constants_in_any_order_and_from_outside(load):
    constants = [
        {"name": "B", "type": "real", "value": op("+", "A", "C")},
        {"name": "A", "type": "int", "value": 3},
        {"name": "C", "type": "int"},
        {"name": "D", "type": "bool", "value": False},
    ]
    node = model(variables=[var("x", bounded("A", op("*", 2, "C")), "C")], constants=constants)
    description = load(node, constants={"C": "4", "D": "True"})
    assert description.constants == {"B": 7.0, "A": 3, "C": 4, "D": True}
    x = description.variables["x"]
    assert (x.lower, x.upper, x.initial) == (3, 8, 4)
    for given, code in (
        ({}, "missing-constant"),
        ({"C": "1.5"}, "type-mismatch"),
        ({"C": 1.5}, "type-mismatch"),
        ({"C": True}, "type-mismatch"),
        ({"C": 2**63}, "number-too-large"),
        ({"C": 4, "CC": 1}, "unknown-constant"),
        ({"C": 4, "D": "yes"}, "type-mismatch"),
    ):
        with pytest.raises(InputError) as caught:
            load(node, constants=given)
        assert caught.value.code == code
    assert caught.value.place == "/constants/3"


def test_unbounded_variables(load):
    node = model(variables=[var("x", "int", 0), var("r", "real", 0)])
    with pytest.raises(Unsupported) as caught:
        load(node)
    assert caught.value.code == "unbounded-int"
    assert "--int-range" in caught.value.hint
    description = load(node, int_range=(-5, 5))
    assert (description.variables["x"].lower, description.variables["x"].upper) == (-5, 5)
    half = {"kind": "bounded", "base": "int", "lower-bound": 2}
    x = load(model(variables=[var("x", half, 3)]), int_range=(-5, 5)).variables["x"]
    assert (x.lower, x.upper) == (2, 5)


def test_syncs_silent_actions_and_labels_without_sync(load):
    one = automaton(edge(None, ("x", 1)), edge("a", ("x", 2)), edge("b", ("x", 5)), name="one")
    two = automaton(edge("a", ("y", 2)), edge(None, ("y", 1)), name="two")
    syncs = [sync(None, "a", "a"), sync("a", None, "a"), sync(None, "a", None)]
    description = load(model(one, two, variables=[X, Y], actions=("a", "two", "b"), syncs=syncs))
    assert list(description.actions) == ["a", "two", "b"]
    assert description.silent == ["one", "two(silent)", "one+two"]
    task = description.compile()
    state = {"x": 0, "y": 0}
    assert task.applicable(state) == ("a", "one", "two(silent)", "one+two")
    assert outcomes(task, state, "one+two") == [(2, 2)]
    assert outcomes(task, state, "one") == [(1, 0), (2, 0)]
    joint = [e.place for e in description.edges if e.action == "one+two"]
    assert joint == ["/automata/0/edges/1 + /automata/1/edges/0"]


def test_locations_are_tested_before_all_guards(load):
    bad = op("=", op("%", 1, 0), 0)
    one = automaton(edge("a", guard=bad), name="one")
    two = automaton(edge("a", at="k"), name="two", locations=("l", "k"))
    task = load(model(one, two, syncs=[sync("a", "a", "a")])).compile()
    assert task.applicable({"two.location": 0}) == ()
    with pytest.raises(InputError, match="division by zero"):
        task.applicable({"two.location": 1})


def test_probabilities(load):
    def two(*probabilities):
        places = [
            {"location": "l", "probability": {"exp": p}, "assignments": [{"ref": "x", "value": i}]}
            for i, p in enumerate(probabilities)
        ]
        return model(automaton({**edge("a"), "destinations": places}), variables=[X])

    assert len(load(two(0, 0.5, op("/", 1, 2))).edges[0].outcomes) == 2
    assert load(two(0, 0.0)).edges == []
    with pytest.raises(InputError) as caught:
        load(two(0.5, op("-", 1, 2)))
    assert caught.value.code == "negative-probability"
    assert caught.value.place == "/automata/0/edges/0/destinations/1/probability/exp"
    task = load(two(op("ite", op("=", "x", 0), 1, 0), 0.5)).compile()
    assert outcomes(task, {"x": 0}) == [(0,), (1,)]
    assert outcomes(task, {"x": 5}) == [(1,)]


def test_groups_and_locations(load):
    steps = automaton(
        edge("a", ("x", op("+", "x", 1)), ("y", "x", 1), ("x", op("+", "y", 5), 2), to="k"),
        locations=("l", "k"),
    )
    task = load(model(steps, variables=[X, Y])).compile()
    assert outcomes(task, {"x": 1, "y": 0, "m.location": 0}) == [(7, 2, 1)]


def test_arrays(load):
    a = var("a", {"kind": "array", "base": bounded(0, 9)}, av(1, 2, 3))
    b = var("b", {"kind": "array", "base": "real"}, av(0, 0, 0))
    reverse = {"op": "ac", "var": "i", "length": 3, "exp": op("aa", "a", op("-", 2, "i"))}
    steps = automaton(
        edge("cell", (op("aa", "a", "x"), op("aa", "a", 0))),
        edge("copy", ("b", "a")),
        edge("reverse", ("a", reverse)),
        edge("literal", ("x", op("aa", av(4, "x", 6), "x"))),
    )
    actions = ("cell", "copy", "reverse", "literal")
    task = load(model(steps, variables=[X, a, b], actions=actions)).compile()
    state = {"x": 2, "a[0]": 1, "a[1]": 2, "a[2]": 3, "b[0]": 0, "b[1]": 0, "b[2]": 0}
    assert outcomes(task, state, "cell") == [(2, 1, 2, 1, 0, 0, 0)]
    assert outcomes(task, state, "copy") == [(2, 1, 2, 3, 1, 2, 3)]
    assert outcomes(task, state, "reverse") == [(2, 3, 2, 1, 0, 0, 0)]
    assert outcomes(task, state, "literal") == [(6, 1, 2, 3, 0, 0, 0)]
    for action in ("cell", "literal"):
        with pytest.raises(InputError, match="out of bounds"):
            task.outcomes(state | {"x": 3}, action)


def test_intervals(load):
    steps = edge("a")
    interval = {"ref": "x", "lower-bound": "y", "upper-bound": op("+", "y", 2)}
    steps["destinations"][0]["assignments"] = [interval]
    task = load(model(automaton(steps), variables=[X, Y])).compile()
    assert outcomes(task, {"x": 0, "y": 8}) == [(8, 8), (9, 8)]


def test_transient_variables(load):
    t = var("t", bounded(0, 9), 4, transient=True)
    says = {"name": "k", "transient-values": [{"ref": "t", "value": op("+", "x", 1)}]}
    steps = automaton(
        edge("a", ("x", "t"), guard=op("=", "t", 4)),
        edge("a", ("x", "t"), guard=op("=", "t", 3), at="k", to="k"),
        edge("b", ("t", 7), ("x", "t"), ("y", "t", 1), to="k"),
        locations=("l", says),
    )
    reach = condition(op("≥", "t", 5))
    node = model(steps, variables=[X, Y, t], actions=("a", "b"), properties=[pa(reach=reach)])
    task = load(node).compile()
    at_l, at_k = {"x": 2, "y": 0, "m.location": 0}, {"x": 2, "y": 0, "m.location": 1}
    assert outcomes(task, at_l) == [(4, 0, 0)]
    assert outcomes(task, at_k) == [(4, 0, 1)]
    assert outcomes(task, at_l, "b") == [(4, 7, 1)]
    assert task.applicable(at_k | {"x": 3}) == ()
    assert [task.is_fail(at_k | {"x": x}) for x in (3, 4)] == [False, True]
    assert not task.is_fail(at_l | {"x": 8})
    reads = {"name": "k", "transient-values": [{"ref": "t", "value": "t"}]}
    with pytest.raises(Unsupported) as caught:
        load(model(automaton(locations=(reads,)), variables=[t]))
    assert caught.value.code == "jani-transient"


def test_functions_and_let(load):
    functions = [
        {
            "name": "twice",
            "type": "real",
            "parameters": [{"name": "p", "type": "int"}],
            "body": {"op": "call", "function": "sum", "args": ["p", "p"]},
        },
        {
            "name": "sum",
            "type": "int",
            "parameters": [{"name": "p", "type": "int"}, {"name": "q", "type": "int"}],
            "body": op("+", "p", "q"),
        },
    ]
    bound = [{"name": "u", "value": 1}, {"name": "v", "type": "int", "value": op("+", "u", "x")}]
    unused = {"name": "w", "type": "real", "value": op("/", 1, 0)}
    called = {"op": "call", "function": "twice", "args": ["v"]}
    value = {"op": "let", "variables": [*bound, unused], "expression": op("floor", called)}
    task = load(
        model(automaton(edge("a", ("x", value))), variables=[X], functions=functions)
    ).compile()
    assert outcomes(task, {"x": 2}) == [(6,)]


def test_recursion_is_not_supported(load):
    body = op("+", 1, {"op": "call", "function": "f", "args": []})
    f = {"name": "f", "type": "int", "parameters": [], "body": body}
    call = {"op": "call", "function": "f", "args": []}
    with pytest.raises(Unsupported) as caught:
        load(model(automaton(edge("a", ("x", call))), variables=[X], functions=[f]))
    assert caught.value.code == "jani-recursion"
    assert caught.value.place == "/functions/0/body/right"


def test_functions_that_explode_are_refused(load):
    functions = [{"name": "f0", "type": "int", "parameters": [], "body": 1}]
    for i in range(40):
        call = {"op": "call", "function": f"f{i}", "args": []}
        functions.append(
            {"name": f"f{i + 1}", "type": "int", "parameters": [], "body": op("+", call, call)}
        )
    call = {"op": "call", "function": "f40", "args": []}
    with pytest.raises(Unsupported) as caught:
        load(model(automaton(edge("a", ("x", call))), variables=[X], functions=functions))
    assert caught.value.code == "expression-too-large"


@pytest.mark.slow
def test_a_product_that_explodes_is_refused(load):
    many = [automaton(*[edge("a") for _ in range(60)], name=f"m{i}") for i in range(3)]
    with pytest.raises(Unsupported) as caught:
        load(model(*many, syncs=[sync("a", "a", "a", "a")]))
    assert caught.value.code == "product-too-large"


@pytest.mark.parametrize("shape", ["right", "left", "ite", "let", "sum"])
def test_deep_expressions(load, shape):
    leaf = op("≤", "x", 5)
    grow = {
        "right": lambda n: op("∧", leaf, n),
        "left": lambda n: op("∨", n, leaf),
        "ite": lambda n: op("ite", op("=", "x", 7), False, n),
        "let": lambda n: {"op": "let", "variables": [], "expression": n},
        "sum": lambda n: op("+", n, 1),
    }[shape]
    node = 0 if shape == "sum" else True
    for _ in range(5000):
        node = grow(node)
    guard = op("=", node, 5000) if shape == "sum" else node
    task = load(model(automaton(edge("a", guard=guard)), variables=[X])).compile()
    assert task.applicable({"x": 1}) == ("a",)


def test_unknown_keys_are_noticed(load):
    node = model(variables=[{**X, "colour": "red"}], **{"x-tool": 1, "metadata": {}})
    description = load(node)
    assert [(w.message, w.place) for w in description.warnings] == [
        ('unknown key "x-tool" is ignored', "/x-tool"),
        ('unknown key "colour" is ignored', "/variables/0/colour"),
    ]
