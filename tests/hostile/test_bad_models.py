"""Bad model files are refused with the right error, at the right place, in under a second."""

import json
import os
import time

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

from surefoot.errors import InputError, SurefootError, Unsupported
from surefoot.tasks.jani import load_jani

MAX_SECONDS = 1.0
EDGE = "/automata/0/edges/0"
GUARD = EDGE + "/guard/exp"


def guarded(exp, **more):
    return model(automaton(edge("a", guard=exp)), variables=[X, Y], **more)


def assigning(ref, value, *variables):
    return model(automaton(edge("a", (ref, value))), variables=variables or [X])


def with_edge(**parts):
    return model(automaton({**edge("a"), **parts}), variables=[X])


def properties(**parts):
    return model(variables=[X], properties=[pa(**parts)])


ROW = var("row", {"kind": "array", "base": bounded(0, 9)}, av(1, 2))
CALL = {"op": "call", "function": "f", "args": []}
LONG = {"op": "ac", "var": "i", "length": 2_000_000, "exp": 0}
OPEN = {"op": "ac", "var": "i", "length": "x", "exp": 0}

TEXTS = {
    "not JSON": ("this is a model", "json-syntax"),
    "empty": ("", "json-syntax"),
    "truncated": (json.dumps(model())[:200], "json-syntax"),
    "nested without end": ('{"a":' * 100_000, "json-too-deep"),
    "nested without end, arrays": ("[" * 100_000, "json-too-deep"),
    "nested and closed": ("[" * 100_000 + "]" * 100_000, "json-too-deep"),
    "duplicate keys": ('{"name": "a", "name": "b"}', "json-duplicate-key"),
    "5000 digits": ('{"name": ' + "9" * 5000 + "}", "number-too-large"),
    "NaN": ('{"name": NaN}', "json-syntax"),
    "no object": ("[1, 2]", "jani-wrong-type"),
}

# model, code, place
MODELS = {
    "nothing": ({}, "jani-missing-key", "/"),
    "no elements": ({**model(), "system": {}}, "jani-missing-key", "/system"),
    "name is a number": ({**model(), "name": 3}, "jani-wrong-type", "/name"),
    "unknown type": ({**model(), "type": "mpd"}, "jani-unknown-type", "/type"),
    "edges are an object": (
        model({**automaton(), "edges": {}}), "jani-wrong-type", "/automata/0/edges"),
    "edge is a number": (model(automaton(3)), "jani-wrong-type", EDGE),
    # expressions
    "unknown variable": (guarded(op("<", "xx", 1)), "jani-unknown-variable", GUARD + "/left"),
    "unknown operator": (guarded(op("<=", "x", 1)), "jani-unknown-operator", GUARD + "/op"),
    "unknown function": (guarded(CALL), "jani-unknown-function", GUARD + "/function"),
    "missing operand": (guarded({"op": "∧", "left": True}), "jani-missing-key", GUARD),
    "null": (guarded(op("∧", True, None)), "jani-wrong-type", GUARD + "/right"),
    "no operator": (guarded({"left": 1}), "jani-missing-key", GUARD),
    "operator is a number": (guarded({"op": 1}), "jani-wrong-type", GUARD + "/op"),
    "huge literal": (guarded(op("<", "x", 2**63)), "number-too-large", GUARD + "/right"),
    "infinite literal": (
        guarded(op("<", "x", float("1e999"))), "number-not-finite", GUARD + "/right"),
    "and of a number": (guarded(op("∧", True, op("∧", "x", True))), "type-mismatch",
                        GUARD + "/right"),
    "Boolean equals number": (guarded(op("=", True, 1)), "type-mismatch", GUARD),
    "modulo of reals": (guarded(op("=", op("%", 1.5, 2), 1)), "type-mismatch", GUARD + "/left"),
    "number as guard": (guarded("x"), "type-mismatch", GUARD),
    "branches of two types": (guarded(op("ite", True, 1, False)), "type-mismatch", GUARD),
    "index is a real": (
        guarded(op("=", op("aa", av(1), 0.5), 1)), "type-mismatch", GUARD + "/left/index"),
    "access to no array": (
        guarded(op("=", op("aa", "x", 0), 1)), "type-mismatch", GUARD + "/left/exp"),
    "array as number": (guarded(op("=", av(1), 1)), "type-mismatch", GUARD + "/left"),
    # variables and constants
    "bounds the wrong way round": (
        model(variables=[var("x", bounded(5, 1), 3)]), "bad-bounds", "/variables/0"),
    "bounds too wide": (
        model(variables=[var("x", bounded(0, 2**62 + 1), 3)]), "bad-bounds", "/variables/0"),
    "bound is a real": (
        model(variables=[var("x", bounded(0, 1.5), 0)]), "type-mismatch",
        "/variables/0/type/upper-bound"),
    "initial value out of range": (
        model(variables=[Y, var("x", bounded(0, 5), 6)]), "initial-value-out-of-range",
        "/variables/1"),
    "initial value of another type": (
        model(variables=[var("x", bounded(0, 5), True)]), "type-mismatch",
        "/variables/0/initial-value"),
    "initial value reads a variable": (
        model(variables=[X, var("z", bounded(0, 5), "x")]), "jani-unknown-variable",
        "/variables/1/initial-value"),
    "variable twice": (model(variables=[X, X]), "duplicate-name", "/variables/1/name"),
    "no such type": (
        model(variables=[var("x", "integer", 1)]), "jani-unknown-type", "/variables/0/type"),
    "transient without initial value": (
        model(variables=[var("t", "bool", transient=True)]), "jani-missing-key", "/variables/0"),
    "missing constant": (
        model(constants=[{"name": "N", "type": "int"}]), "missing-constant", "/constants/0"),
    "constants in a circle": (
        model(constants=[{"name": "N", "type": "int", "value": "M"},
                         {"name": "M", "type": "int", "value": "N"}]),
        "constant-cycle", "/constants/0/value"),
    "constant of another type": (
        model(constants=[{"name": "N", "type": "int", "value": 1.5}]), "type-mismatch",
        "/constants/0/value"),
    "constant overflows": (
        model(constants=[{"name": "N", "type": "int", "value": op("+", 2**63 - 1, 1)}]),
        "overflow", "/constants/0/value"),
    "automaton twice": (
        model(automaton(), automaton(), elements=["m"]), "duplicate-name", "/automata/1/name"),
    "location twice": (
        model(automaton(locations=("l", "l"))), "duplicate-name", "/automata/0/locations/1/name"),
    "action twice": (model(actions=("a", "a")), "duplicate-name", "/actions/1/name"),
    # automata and system
    "unknown location": (with_edge(location="q"), "unknown-location", EDGE + "/location"),
    "unknown destination": (
        with_edge(destinations=[{"location": "q"}]), "unknown-location",
        EDGE + "/destinations/0/location"),
    "unknown initial location": (
        model({**automaton(), "initial-locations": ["q"]}), "unknown-location",
        "/automata/0/initial-locations/0"),
    "no initial location": (
        model({**automaton(), "initial-locations": []}), "no-initial-location",
        "/automata/0/initial-locations"),
    "unknown action": (with_edge(action="q"), "unknown-action", EDGE + "/action"),
    "unknown automaton": (
        model(elements=["n"]), "unknown-automaton", "/system/elements/0/automaton"),
    "sync of the wrong length": (
        model(syncs=[sync("a", "a", "a")]), "sync-length", "/system/syncs/0/synchronise"),
    "sync of nobody": (
        model(syncs=[sync("a", None)]), "sync-of-nobody", "/system/syncs/0/synchronise"),
    "sync of an unknown label": (
        model(syncs=[sync("a", "b")]), "unknown-action", "/system/syncs/0/synchronise/0"),
    "sync with an unknown result": (
        model(syncs=[sync("b", "a")]), "unknown-action", "/system/syncs/0/result"),
    "negative probability": (
        with_edge(destinations=[{"location": "l", "probability": {"exp": -1}}]),
        "negative-probability", EDGE + "/destinations/0/probability/exp"),
    "probability is a Boolean": (
        with_edge(destinations=[{"location": "l", "probability": {"exp": True}}]),
        "type-mismatch", EDGE + "/destinations/0/probability/exp"),
    # assignments
    "real to an int": (
        assigning("x", 0.5), "type-mismatch", EDGE + "/destinations/0/assignments/0/value"),
    "array to a variable": (
        assigning("x", av(1)), "type-mismatch", EDGE + "/destinations/0/assignments/0/value"),
    "array of another length": (
        assigning("row", av(1), ROW), "type-mismatch",
        EDGE + "/destinations/0/assignments/0/value"),
    "target unknown": (
        assigning("z", 1), "jani-unknown-variable", EDGE + "/destinations/0/assignments/0/ref"),
    "target is not a cell": (
        assigning(op("+", "x", 1), 1), "jani-missing-key",
        EDGE + "/destinations/0/assignments/0/ref"),
    # properties
    "missing file": (
        properties(start={"file": "none.jani"}), "file-not-found",
        "/properties/0/expression/start/file"),
    "reference to a device": (
        properties(start={"file": "/dev/zero"}), "not-a-file",
        "/properties/0/expression/start/file"),
    "reference to a folder": (
        properties(reach={"file": "."}), "not-a-file", "/properties/0/expression/reach/file"),
    "unknown label": (
        properties(reach={"label": "q"}), "unknown-label", "/properties/0/expression/reach/label"),
    "fail is a list": (
        properties(reach={"op": "states-values", "values": []}), "states-values-as-condition",
        "/properties/0/expression/reach"),
    "no start": (
        properties(start={"op": "states-values", "values": []}), "no-start-state",
        "/properties/0/expression/start/values"),
    "unknown element": (
        properties(reach=condition(locations=[{"automaton": "m", "index": 3, "location": "l"}])),
        "unknown-automaton", "/properties/0/expression/reach/locations/0/index"),
    "unknown variable in a condition": (
        properties(reach=condition(op("=", "X", 1))), "jani-unknown-variable",
        "/properties/0/expression/reach/exp/left"),
}  # fmt: skip

UNSUPPORTED = {
    "rates": ({**model(), "type": "ctmc"}, "jani-model-type", "/type"),
    "Markov automata": ({**model(), "type": "ma"}, "jani-model-type", "/type"),
    "clocks": ({**model(), "type": "pta"}, "jani-model-type", "/type"),
    "rate of an edge": (with_edge(rate={"exp": 1}), "jani-rate", EDGE + "/rate"),
    "time progress": (
        model(automaton(locations=[{"name": "l", "time-progress": {"exp": True}}])),
        "jani-time-progress", "/automata/0/locations/0/time-progress"),
    "clock": (model(variables=[var("c", "clock", 0)]), "jani-type", "/variables/0/type"),
    "continuous": (model(variables=[var("c", "continuous", 0)]), "jani-type", "/variables/0/type"),
    "datatype": (
        model(variables=[var("c", {"kind": "datatype", "ref": "d"}, 0)]), "jani-type",
        "/variables/0/type"),
    "datatypes": (model(datatypes=[]), "jani-type", "/datatypes"),
    "nested array": (
        model(variables=[var("c", {"kind": "array", "base": ROW["type"]}, 0)]), "jani-type",
        "/variables/0/type/base"),
    "empty array": (
        model(variables=[var("c", ROW["type"], av())]), "empty-array",
        "/variables/0/initial-value"),
    "array without length": (
        model(variables=[var("c", ROW["type"])]), "array-length", "/variables/0"),
    "unbounded int": (
        model(variables=[var("c", "int", 0)]), "unbounded-int", "/variables/0/type"),
    "nondet": (guarded({"op": "nondet", "var": "q"}), "jani-operator", GUARD + "/op"),
    "sine": (guarded(op("<", op("sin", 1.0), 1)), "jani-operator", GUARD + "/left/op"),
    "distribution": (guarded({"distribution": "Uniform"}), "jani-operator", GUARD),
    "long array": (
        guarded(op("=", op("aa", LONG, 0), 1)), "array-length", GUARD + "/left/exp/length"),
    "open array": (
        guarded(op("=", op("aa", OPEN, 0), 1)), "array-length", GUARD + "/left/exp/length"),
    "recursion": (
        guarded(CALL, functions=[{"name": "f", "type": "bool", "parameters": [], "body": CALL}]),
        "jani-recursion", "/functions/0/body"),
    "input-enable": (
        {**model(), "system": {"elements": [{"automaton": "m", "input-enable": ["a"]}]}},
        "jani-input-enable", "/system/elements/0/input-enable"),
}  # fmt: skip


def refusal(file, **options):
    """Return the error with which a file is refused, in time."""
    started = time.process_time()
    with pytest.raises(SurefootError) as caught:
        load_jani(file, **options)
    assert time.process_time() - started < MAX_SECONDS
    assert caught.value.file == str(file)
    assert str(caught.value)
    return caught.value


@pytest.mark.parametrize("name", TEXTS)
def test_bad_texts(tmp_path, name):
    text, code = TEXTS[name]
    file = tmp_path / "model.jani"
    file.write_text(text, "utf-8")
    error = refusal(file)
    assert isinstance(error, InputError)
    assert error.code == code


@pytest.mark.parametrize("name", [*MODELS, *UNSUPPORTED])
def test_bad_models(tmp_path, name):
    node, code, place = (MODELS | UNSUPPORTED)[name]
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(node).replace("Infinity", "1e999"), "utf-8")
    error = refusal(file)
    assert (error.code, error.place) == (code, place)
    assert isinstance(error, Unsupported if name in UNSUPPORTED else InputError)


HINTS = {
    "unknown operator": 'write "≤"',
    "unknown variable": 'did you mean "x"?',
    "missing constant": "give --const N=VALUE",
    "unbounded int": "give --int-range LO..HI",
    "unknown variable in a condition": None,
}


@pytest.mark.parametrize("name", HINTS)
def test_hints(tmp_path, name):
    file = tmp_path / "model.jani"
    file.write_text(json.dumps((MODELS | UNSUPPORTED)[name][0]), "utf-8")
    assert refusal(file).hint == HINTS[name]


def test_files_that_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path, code in (
        (tmp_path / "fifo", "not-a-file"),
        (tmp_path, "not-a-file"),
        ("/dev/zero", "not-a-file"),
        (tmp_path / "none", "file-not-found"),
    ):
        assert refusal(path).code == code
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(properties(start={"file": "fifo"})))
    assert refusal(file).code == "not-a-file"


def test_errors_in_referenced_files_name_that_file(tmp_path):
    (tmp_path / "start.jani").write_text(json.dumps(condition(op("=", "q", 1))))
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(properties(start={"file": "start.jani"})))
    with pytest.raises(InputError) as caught:
        load_jani(file)
    assert caught.value.file == str(tmp_path / "start.jani")
    assert caught.value.place == "/exp/left"


def test_references_may_lead_upwards(tmp_path):
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "start.jani").write_text(json.dumps(condition(op("=", "x", 1))))
    (below / "model.jani").write_text(json.dumps(properties(start={"file": "../start.jani"})))
    assert load_jani(below / "model.jani").start_condition is not None


def test_a_deep_conjunction_loads(tmp_path):
    text = '{"op":"∧","left":{"op":"≤","left":"x","right":5},"right":' * 5000 + "true" + "}" * 5000
    file = tmp_path / "model.jani"
    file.write_text(json.dumps(guarded("@"), ensure_ascii=False).replace('"@"', text), "utf-8")
    assert len(load_jani(file).edges) == 1
