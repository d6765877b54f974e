"""Conditions as users write them, and what is said where they are wrong."""

import os

import pytest
from tests.support.jani import X, automaton, av, bounded, edge, model, op, var

from surefoot.errors import InputError
from surefoot.tasks import load_task
from surefoot.tasks.jani.infix import expression_of

CELLS = var("a", {"kind": "array", "base": bounded(0, 9)}, av(1, 2, 3))
WIND = var("wind", "bool", False)
NODES = {
    "x": "x",
    "m.x": "m.x",
    '"a name" = 1': op("=", "a name", 1),
    '"true" = 1': op("=", "true", 1),
    "true": True,
    "x = -9": op("=", "x", -9),
    "x=1.5e-1": op("=", "x", 0.15),
    "x == 9 and wind": op("∧", op("=", "x", 9), "wind"),
    "a & b | c & d": op("∨", op("∧", "a", "b"), op("∧", "c", "d")),
    "a | b => c => d": op("⇒", op("∨", "a", "b"), op("⇒", "c", "d")),
    "(a | b) & c": op("∧", op("∨", "a", "b"), "c"),
    "!x = 3 & y": op("∧", {"op": "¬", "exp": op("=", "x", 3)}, "y"),
    "y = !x": op("=", "y", {"op": "¬", "exp": "x"}),
    "x - 1 - 2 < 3 * 4 + 5": op(
        "<", op("-", op("-", "x", 1), 2), op("+", op("*", 3, 4), 5)
    ),
    "-x * 2 ≥ - 3": op("≥", op("*", {"op": "-", "exp": "x"}, 2), -3),
    "a[i + 1] != 2": op("≠", {"op": "aa", "exp": "a", "index": op("+", "i", 1)}, 2),
    "a[b[0]]": {"op": "aa", "exp": "a", "index": {"op": "aa", "exp": "b", "index": 0}},
}  # fmt: skip
WRONG = {
    "": ("column 1", "it is empty"),
    "  ": ("column 1", "it is empty"),
    "x = 9 &": ("column 8", "expected a value, found the end"),
    "x & ) y": ("column 5", 'expected a value, found ")"'),
    "(x": ("column 1", '"(" is not closed'),
    "x)": ("column 2", '")" closes nothing'),
    "(a[1)": ("column 5", '")" closes nothing'),
    "x wind": ("column 3", 'expected an operator, found "wind"'),
    "x ! wind": ("column 3", 'expected an operator, found "!"'),
    "x $ 3": ("column 3", '"$" does not belong here'),
    "x = 3x": ("column 5", '"3" does not belong here'),
    "0 < x < 3": ("column 7", "a comparison cannot be compared"),
    "3[1]": ("column 2", "only an array has elements"),
    "x = " + "9" * 5000: ("column 5", "the number is too large"),
}
MEANINGLESS = {
    "x = 9 & wnd": ("column 9", "jani-unknown-variable", 'did you mean "wind"?'),
    "wind & x + wind = 2": ("column 10", "type-mismatch", None),
    "x + 1": ("column 3", "type-mismatch", None),
    "wind | x[1] = 2": ("column 8", "type-mismatch", None),
    "x = 99999999999999999999": ("column 5", "number-too-large", None),
}


@pytest.mark.parametrize("text", NODES)
def test_text_becomes_jani(text):
    assert expression_of(text).node == NODES[text]


@pytest.mark.parametrize("text", WRONG)
def test_syntax_errors_name_the_column(text):
    with pytest.raises(InputError) as caught:
        expression_of(text)
    error = caught.value
    assert (error.code, error.place, error.message) == ("expression-syntax", *WRONG[text])


def test_depth_costs_nothing():
    depth = 20_000
    node = expression_of("(" * depth + "x" + ")" * depth).node
    assert node == "x"
    node = expression_of("!" * depth + "x").node
    for _ in range(depth):
        node = node["exp"]
    with pytest.raises(InputError) as caught:
        expression_of("x" * 100_001)
    assert "100,000 characters" in caught.value.message


@pytest.fixture
def file(write):
    step = edge("go", ("x", op("+", "x", 1)), guard=op("<", "x", 9))
    m = automaton(step, variables=[var("y", "bool", False)])
    return write(model(m, variables=[X, WIND, CELLS], actions=["go"]))


@pytest.mark.parametrize("text", MEANINGLESS)
def test_wrong_names_and_types_are_told_with_the_column(file, text):
    place, code, hint = MEANINGLESS[text]
    with pytest.raises(InputError) as caught:
        load_task(file, fail=text)
    error = caught.value
    assert (error.file, error.place, error.code) == (f'fail "{text}"', place, code)
    assert error.hint == hint


def test_expressions_are_conditions(file):
    task = load_task(file, start="x = 4 & !wind & a[0]=1 & a[1]=2 & a[2]=3 & !m.y",
                     goal="x = 8 | y", fail="x = 9 & a[2] > 2")  # fmt: skip
    state = task.sample_starts(1, seed=0)[0]
    assert state["x"] == 4
    assert task.is_goal({**state, "x": 8})
    assert task.is_goal({**state, "m.y": True})
    assert task.is_fail({**state, "x": 9})
    assert not task.is_fail({**state, "x": 9, "a[2]": 2})
    assert task.source.words()["fail"] == "x = 9 & a[2] > 2"


def test_files_stay_files(file, write, monkeypatch):
    bare = write(op("=", "x", 3), "is three")
    monkeypatch.chdir(bare.parent)
    for given in (bare, str(bare), "is three", "@is three"):
        task = load_task(file, fail=given)
        assert task.is_fail({**task.sample_starts(1, seed=0)[0], "x": 3})
    os.mkdir("wind")  # a folder is no condition
    assert load_task(file, fail="wind").source.words() == {"fail": "wind"}
    for missing in ("@nothing", "nothing.jani", "no/thing", "x = 1.json"):
        with pytest.raises(InputError) as caught:
            load_task(file, fail=missing)
        expected = "file-not-found" if "=" not in missing else "expression-syntax"
        assert caught.value.code == expected
