"""Descriptions: the example of the docstring, and every way to get one wrong."""

import pytest

from surefoot import Description, InputError, explore
from surefoot.tasks.description import REAL_LIMIT, Assignment, Outcome, Variable
from surefoot.tasks.expressions import Array, constant, make, variable


def lamp():
    lamp = Description("lamp")
    x = lamp.int("x", 0, 3, initial=0)
    lamp.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    lamp.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    lamp.start(x <= 1)
    lamp.goal(x == 2)
    lamp.fail(x == 3)
    return lamp


def test_the_example():
    task = lamp().compile()
    assert task.actions == ("up", "down")
    assert [state["x"] for state in task.list_starts()] == [0, 1]
    counts = explore(task)
    assert (counts.states, counts.pairs, counts.outcomes, counts.goal) == (3, 3, 5, 1)
    assert counts.complete


def declared(build):
    """Return a call that adds to a fresh description with int x, bool b, real r and array a."""

    def call():
        d = Description("d")
        d.int("x", 0, 3, initial=0)
        d.bool("b", initial=False)
        d.real("r", 0.0, 1.0, initial=0.0)
        d.array("a", "int", 3, 0, 9, initial=[0, 0, 0])
        build(d)
        return d.compile()

    return call


X, B, R = variable("x", "int"), variable("b", "bool"), variable("r", "real")
A = Array("a", "int", 3)


def edge(**parts):
    return lambda d: d.edge("go", **{"outcomes": [{}], **parts})


def sets(target, value):
    return edge(outcomes=[{target: value}])


def does(*assignments):
    return edge(outcomes=[Outcome(assignments)])


WRONG = {
    "variable twice": (lambda d: d.int("x", 0, 1), "duplicate-name"),
    "variable like an array": (lambda d: d.bool("a"), "duplicate-name"),
    "array like a variable": (lambda d: d.array("x", "int", 2), "duplicate-name"),
    "array twice": (lambda d: d.array("a", "int", 2), "duplicate-name"),
    "variable like a cell": (lambda d: d.int("a[1]", 0, 1), "duplicate-name"),
    "bounds crossed": (lambda d: d.int("y", 3, 2), "bad-bounds"),
    "bound beyond 2^62": (lambda d: d.int("y", 0, 2**62 + 1), "bad-bounds"),
    "bound below -2^62": (lambda d: d.int("y", -(2**62) - 1, 0), "bad-bounds"),
    "bound with 5000 digits": (lambda d: d.int("y", 10**5000, 0), "bad-bounds"),
    "fractional int bound": (lambda d: d.int("y", 0.5, 3), "bad-bounds"),
    "real bounds crossed": (lambda d: d.real("y", 1.0, 0.0), "bad-bounds"),
    "real bound infinite": (lambda d: d.real("y", 0.0, float("inf")), "bad-bounds"),
    "real bound NaN": (lambda d: d.real("y", float("nan"), 1.0), "bad-bounds"),
    "real bound beyond doubles": (lambda d: d.real("y", 0, 10**400), "bad-bounds"),
    "initial below": (lambda d: d.int("y", 1, 3, initial=0), "initial-value-out-of-range"),
    "initial above": (lambda d: d.int("y", 1, 3, initial=4), "initial-value-out-of-range"),
    "initial huge": (lambda d: d.int("y", 1, 3, initial=10**5000), "initial-value-out-of-range"),
    "initial real": (lambda d: d.real("y", 0, 1, initial=1.5), "initial-value-out-of-range"),
    "initial NaN": (
        lambda d: d.real("y", 0, 1, initial=float("nan")),
        "initial-value-out-of-range",
    ),
    "initial beyond doubles": (
        lambda d: d.real("y", initial=10**400),
        "initial-value-out-of-range",
    ),
    "initial of int is real": (lambda d: d.int("y", 0, 3, initial=1.0), "type-mismatch"),
    "initial of int is bool": (lambda d: d.int("y", 0, 3, initial=True), "type-mismatch"),
    "initial of bool is 2": (lambda d: d.bool("y", initial=2), "type-mismatch"),
    "initial is text": (lambda d: d.int("y", 0, 3, initial="1"), "type-mismatch"),
    "initial of real is text": (lambda d: d.real("y", initial="one"), "type-mismatch"),
    "array of no cells": (lambda d: d.array("y", "int", 0), "bad-array-length"),
    "array of too many cells": (lambda d: d.array("y", "int", 10**7), "bad-array-length"),
    "array and initial values": (
        lambda d: d.array("y", "int", 3, initial=[0, 1]),
        "bad-array-length",
    ),
    "cell initially out of range": (
        lambda d: d.array("y", "int", 2, 0, 5, initial=[0, 6]),
        "initial-value-out-of-range",
    ),
    "array of unknown type": (lambda d: d.array("y", "integer", 2, 0, 1), "unknown-type"),
    "array of a Python type": (lambda d: d.array("y", int, 2, 0, 1), "unknown-type"),
    "array of int without bounds": (lambda d: d.array("y", "int", 2), "bad-bounds"),
    "array of int with one bound": (lambda d: d.array("y", "int", 2, 0), "bad-bounds"),
    "array of half a cell": (lambda d: d.array("y", "bool", 0.5), "bad-array-length"),
    "array initially a number": (
        lambda d: d.array("y", "int", 2, 0, 1, initial=0),
        "type-mismatch",
    ),
    "array initially text": (
        lambda d: d.array("y", "int", 2, 0, 1, initial="00"),
        "type-mismatch",
    ),
    "bound of real is text": (lambda d: d.real("y", "a", 1.0), "bad-bounds"),
    "outcomes is a dictionary": (edge(outcomes={X: 1}), "type-mismatch"),
    "outcomes is text": (edge(outcomes="x"), "type-mismatch"),
    "outcomes is None": (edge(outcomes=None), "type-mismatch"),
    "outcome is a pair": (edge(outcomes=[(X, 1)]), "type-mismatch"),
    "target is a number": (sets(3, 1), "bad-target"),
    "target is an array": (sets(A, 1), "bad-target"),
    "start mixed": (lambda d: d.start({"x": 1}, X > 2), "type-mismatch"),
    "start of two conditions": (lambda d: d.start(X > 1, X > 2), "type-mismatch"),
    "start is a list": (lambda d: d.start([{"x": 1}]), "type-mismatch"),
    "listed start by number": (lambda d: d.start({3: 1}), "bad-state"),
    "guard not Boolean": (edge(guard=X + 1), "type-mismatch"),
    "goal not Boolean": (lambda d: d.goal(X), "type-mismatch"),
    "fail not Boolean": (lambda d: d.fail(R), "type-mismatch"),
    "start not Boolean": (lambda d: d.start(X + 1), "type-mismatch"),
    "no outcome": (edge(outcomes=[]), "no-outcome"),
    "guard reads unknown": (edge(guard=variable("z", "bool")), "unknown-variable"),
    "goal reads unknown": (lambda d: d.goal(variable("z", "bool")), "unknown-variable"),
    "start reads unknown": (lambda d: d.start(variable("z", "bool")), "unknown-variable"),
    "value reads unknown": (sets(X, variable("z", "int")), "unknown-variable"),
    "probability reads unknown": (
        edge(outcomes=[Outcome((), (variable("z", "real"),))]),
        "unknown-variable",
    ),
    "probability is Boolean": (edge(outcomes=[Outcome((), (B,))]), "type-mismatch"),
    "target unknown by name": (sets("z", 1), "unknown-variable"),
    "target unknown": (sets(variable("z", "int"), 1), "unknown-variable"),
    "target is a sum": (sets(X + 1, 1), "bad-target"),
    "target is a constant": (sets(constant(1), 1), "bad-target"),
    "real into int": (sets(X, 0.5), "type-mismatch"),
    "bool into int": (sets(X, True), "type-mismatch"),
    "int into bool": (sets(B, 1), "type-mismatch"),
    "bool into real": (sets(R, B), "type-mismatch"),
    "real into cell": (sets(A[0], 0.5), "type-mismatch"),
    "nothing into int": (sets(X, None), "type-mismatch"),
    "real as interval bound": (
        does(Assignment(X, lower=constant(0.0), upper=constant(1))),
        "type-mismatch",
    ),
    "interval of a real": (
        does(Assignment(R, lower=constant(0), upper=constant(1))),
        "type-mismatch",
    ),
    "interval of a Boolean": (
        does(Assignment(B, lower=constant(False), upper=constant(True))),
        "type-mismatch",
    ),
    "x read as real": (edge(guard=variable("x", "real") > 0.5), "type-mismatch"),
    "x written as real": (sets(variable("x", "real"), 0.5), "type-mismatch"),
    "array read as variable": (edge(guard=variable("a", "int") > 0), "unknown-variable"),
    "variable read as array": (edge(guard=Array("x", "int", 2)[0] > 0), "type-mismatch"),
    "listed start misses a variable": (
        lambda d: (d.bool("y"), d.start({"x": 1})),
        "missing-variable",
    ),
    "listed start out of range": (lambda d: d.start({"x": 9}), "value-out-of-range"),
    "listed start unknown": (lambda d: d.start({"z": 0}), "unknown-variable"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_descriptions_are_refused(case):
    build, code = WRONG[case]
    with pytest.raises(InputError) as caught:
        declared(build)()
    assert caught.value.code == code


def test_declared_without_the_mistake():
    """The table above is worth something only if its frame is right."""
    task = declared(edge(guard=B, outcomes=[{X: 1, R: X, A[X]: 2}]))()
    assert task.names == ("x", "b", "r", "a[0]", "a[1]", "a[2]")


NAMED = {
    "int": lambda d, name: d.int(name, 0, 1),
    "bool": lambda d, name: d.bool(name),
    "real": lambda d, name: d.real(name),
    "array": lambda d, name: d.array(name, "bool", 2),
    "action": lambda d, name: d.action(name),
    "edge": lambda d, name: d.edge(name, outcomes=[{}]),
}


@pytest.mark.parametrize("name", ["", None, 3, X, ("a",)], ids=str)
@pytest.mark.parametrize("call", NAMED.values(), ids=NAMED)
def test_names_are_strings_that_are_not_empty(call, name):
    with pytest.raises(InputError) as caught:
        call(Description("d", silent=["tau"]), name)
    assert caught.value.code == "bad-name"


def test_arrays_of_real_are_unbounded_like_variables():
    d = Description("d")
    d.array("a", "real", 1)
    d.real("r")
    assert (d.lookup("a[0]").lower, d.lookup("a[0]").upper) == (-REAL_LIMIT, REAL_LIMIT)
    assert d.lookup("r").upper == REAL_LIMIT


def test_the_nearest_type_is_named():
    with pytest.raises(InputError) as caught:
        Description("d").array("a", "reel", 1)
    assert caught.value.hint == 'did you mean "real"?'


def test_a_refused_edge_declares_no_action():
    d = Description("d")
    with pytest.raises(InputError):
        d.edge("go", outcomes=None)
    assert list(d.actions) == []


def test_plain_truth_is_a_condition():
    d = lamp()
    d.edge("wait", guard=True, outcomes=[{}])
    d.start(True)
    task = d.compile()
    assert len(task.list_starts()) == 4
    assert task.applicable({"x": 0}) == ("up", "wait")


def test_representations_are_short():
    assert repr(lamp()) == "<Description 'lamp': 1 variable, 2 actions, 2 edges>"
    assert repr(lamp().compile()) == "<Task 'lamp': 1 variable, 2 actions, 2 edges>"
    empty = Description("empty", silent=["tau"])
    assert repr(empty) == "<Description 'empty': 0 variables, 1 action, 0 edges>"


def test_errors_in_edges_without_a_place_name_the_action():
    d = lamp()
    d.edge("go", outcomes=[{variable("y", "int"): 1}])
    with pytest.raises(InputError) as caught:
        d.compile()
    assert str(caught.value).startswith('edge 2 of "go": variable "y" is not declared')


def test_hints_and_places():
    d = Description("d")
    d.int("fuel", 0, 3)
    with pytest.raises(InputError) as caught:
        d.edge("go", outcomes=[{"fule": 1}])
    assert caught.value.hint == 'did you mean "fuel"?'
    d.file = "truck.jani"
    d.edge("go", guard=variable("fule", "bool"), outcomes=[{}], place="/edges/3")
    with pytest.raises(InputError) as caught:
        d.compile()
    assert (caught.value.file, caught.value.place) == ("truck.jani", "/edges/3")
    assert str(caught.value).startswith('truck.jani:/edges/3: variable "fule" is not declared')


def test_actions_count_in_the_order_of_first_mention():
    d = Description("d", silent=["tau"])
    d.int("x", 0, 1, initial=0)
    assert d.action("b") == d.action("b") == "b"
    for name in ("tau", "a", "b"):
        d.edge(name, outcomes=[{}])
    task = d.compile()
    assert task.actions == ("b", "a", "tau")
    assert task.silent == {"tau"}


def test_start_is_replaced_not_added():
    d = lamp()
    d.start({"x": 3}, {})
    assert [state["x"] for state in d.compile().list_starts()] == [3, 0]
    d.start(make("eq", variable("x", "int"), 2))
    assert [state["x"] for state in d.compile().list_starts()] == [2]


def test_initial_condition_names_what_has_an_initial_value():
    d = lamp()
    d.bool("free")
    d.int("scratch", 0, 3, initial=2, is_scratch=True)
    assert str(d.initial_condition()) == "x = 0"
    assert Description("empty").initial_condition() is None
    assert d.lookup("free") == Variable("free", "bool", 0, 1)


def test_an_assignment_without_value_is_refused(tmp_path):
    """In a process of its own: it used to end the interpreter."""
    import subprocess
    import sys

    script = (
        "from surefoot import Description, InputError\n"
        "from surefoot.tasks.description import Assignment, Outcome\n"
        "d = Description()\n"
        "x = d.int('x', 0, 3, initial=0)\n"
        "d.edge('go', outcomes=[Outcome((Assignment(x),))])\n"
        "try:\n"
        "    d.compile()\n"
        "except InputError:\n"
        "    raise SystemExit(7)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=tmp_path).returncode == 7
