"""Expressions: what they type as, how they read, and that depth is not a danger."""

import operator

import pytest

from surefoot import (
    Description,
    InputError,
    ceil,
    floor,
    implies,
    ite,
    log,
    maximum,
    minimum,
    sign,
    truncate,
)
from surefoot.tasks.expressions import (
    Array,
    all_of,
    constant,
    make,
    postorder,
    substitute,
    text_of,
    variable,
    variables_in,
)
from surefoot.tasks.lowering import Nodes

DEPTH = 100_000

B, C = variable("b", "bool"), variable("c", "bool")
X, Y = variable("x", "int"), variable("y", "int")
R, S = variable("r", "real"), variable("s", "real")
BY_TYPE = {"bool": B, "int": X, "real": R}

NUMBERS = ("int int int", "int real real", "real int real", "real real real")
TYPED = {
    "add": NUMBERS,
    "sub": NUMBERS,
    "mul": NUMBERS,
    "min": NUMBERS,
    "max": NUMBERS,
    "pow": NUMBERS,
    "div": ("int int real", "int real real", "real int real", "real real real"),
    "log": ("int int real", "int real real", "real int real", "real real real"),
    "mod": ("int int int",),
    "lt": ("int int bool", "int real bool", "real int bool", "real real bool"),
    "le": ("int int bool", "int real bool", "real int bool", "real real bool"),
    "gt": ("int int bool", "int real bool", "real int bool", "real real bool"),
    "ge": ("int int bool", "int real bool", "real int bool", "real real bool"),
    "eq": ("bool bool bool", "int int bool", "int real bool", "real int bool", "real real bool"),
    "ne": ("bool bool bool", "int int bool", "int real bool", "real int bool", "real real bool"),
    "and": ("bool bool bool",),
    "or": ("bool bool bool",),
    "implies": ("bool bool bool",),
    "not": ("bool bool",),
    "neg": ("int int", "real real"),
    "abs": ("int int", "real real"),
    "floor": ("int int", "real int"),
    "ceil": ("int int", "real int"),
    "trc": ("int int", "real int"),
    "sgn": ("int int", "real int"),
    "ite": (
        "bool bool bool bool",
        "bool int int int",
        "bool int real real",
        "bool real int real",
        "bool real real real",
    ),
}


def signatures(arity):
    if arity == 0:
        return [()]
    return [(*rest, kind) for rest in signatures(arity - 1) for kind in BY_TYPE]


@pytest.mark.parametrize("op", TYPED)
def test_every_signature_has_its_type_or_is_a_mismatch(op):
    known = {tuple(row.split()[:-1]): row.split()[-1] for row in TYPED[op]}
    arity = len(next(iter(known)))
    for kinds in signatures(arity):
        operands = [BY_TYPE[kind] for kind in kinds]
        if kinds in known:
            assert make(op, *operands).type == known[kinds]
            continue
        with pytest.raises(InputError) as caught:
            make(op, *operands)
        assert caught.value.code == "type-mismatch"
        assert ", ".join(kinds) in caught.value.message


OVERLOADED = {
    "x + y": X + Y,
    "1 + x": 1 + X,
    "x - 1": X - 1,
    "1 - x": 1 - X,
    "x * 2": X * 2,
    "2 * x": 2 * X,
    "x / 2": X / 2,
    "1 / x": 1 / X,
    "x % 3": X % 3,
    "7 % x": 7 % X,
    "pow(x, 2)": X**2,
    "-x": -X,
    "abs(x)": abs(X),
    "b ∧ c": B & C,
    "true ∧ b": True & B,
    "b ∨ c": B | C,
    "false ∨ b": False | B,
    "¬b": ~B,
    "x = 1": X == 1,
    "x ≠ 1": X != 1,
    "x < 1": X < 1,
    "x ≤ 1": X <= 1,
    "x > 1": 1 < X,  # noqa: SIM300
    "x ≥ 1": 1 <= X,  # noqa: SIM300
    "b ⇒ c": implies(B, C),
    "ite(b, x, 0)": ite(B, X, 0),
    "min(x, r)": minimum(X, R),
    "max(x, 2.5)": maximum(X, 2.5),
    "floor(r)": floor(R),
    "ceil(r)": ceil(R),
    "trc(r)": truncate(R),
    "sgn(r)": sign(R),
    "log(x, 2)": log(X, 2),
    "(x + 1) * y": (X + 1) * Y,
    "x + (1 * y)": X + 1 * Y,
    "¬(x < y)": ~(X < Y),
    "a[x + 1]": Array("a", "int", 3)[X + 1],
    "a[0] = 2": Array("a", "int", 3)[0] == 2,
    "\\x1b[2J + 1": variable("\x1b[2J", "int") + 1,
}


@pytest.mark.parametrize("text", OVERLOADED)
def test_operators_make_what_they_read_as(text):
    assert str(OVERLOADED[text]).replace("[(x + 1)]", "[x + 1]") == text


@pytest.mark.parametrize(
    "value, code",
    [
        (2**63, "number-too-large"),
        (-(2**63) - 1, "number-too-large"),
        pytest.param(10**5000, "number-too-large", id="huge"),
        (float("nan"), "number-not-finite"),
        (float("inf"), "number-not-finite"),
        ("x", "type-mismatch"),
        (None, "type-mismatch"),
        ([1], "type-mismatch"),
    ],
)
def test_what_is_no_constant(value, code):
    with pytest.raises(InputError) as caught:
        constant(value)
    assert caught.value.code == code
    with pytest.raises(InputError):
        X + value


@pytest.mark.parametrize(
    "value, kind", [(True, "bool"), (2**63 - 1, "int"), (-(2**63), "int"), (0.5, "real")]
)
def test_constants_keep_type_and_value(value, kind):
    made = constant(value)
    assert (made.type, made.value) == (kind, value)


@pytest.mark.parametrize("use", [bool, operator.not_, lambda e: 0 <= e < 3, lambda e: e in (1, 2)])
def test_an_expression_has_no_truth_value(use):
    with pytest.raises(TypeError, match=r"write & \| ~"):
        use(X)


def test_array_index_is_an_int():
    with pytest.raises(InputError) as caught:
        Array("a", "int", 3)[R]
    assert caught.value.code == "type-mismatch"
    assert [str(cell) for cell in Array("a", "bool", 2)] == ["a[0]", "a[1]"]


def test_text_is_cut_after_so_many_parts():
    text = text_of(all_of([variable("x", "int") == i for i in range(1000)]), limit=30)
    assert text.endswith("…")
    assert len(text) < 200


def test_all_of():
    assert all_of([]) is None
    whole = all_of([B, C, ~B])
    assert (whole.op, str(whole.args[0]), str(whole.args[1])) == ("and", "b ∧ c", "¬b")


SUBSTITUTED = {
    "x + 1, x := y": (X + 1, {"x": Y}, "y + 1", "int"),
    "types are found anew": (X + 1, {"x": R}, "r + 1", "real"),
    "floor stays an int": (floor(X) + 1, {"x": R}, "floor(r) + 1", "int"),
    "at once, not one after the other": (X - Y, {"x": Y, "y": X}, "y - x", "int"),
    "inside an index": (Array("a", "bool", 3)[X], {"x": Y}, "a[y]", "bool"),
    "the root": (X, {"x": constant(3)}, "3", "int"),
    "nothing to do": (X + 1, {"z": Y}, "x + 1", "int"),
}


@pytest.mark.parametrize("case", SUBSTITUTED)
def test_substitute(case):
    root, replace, text, kind = SUBSTITUTED[case]
    made = substitute(root, replace)
    assert (str(made), made.type) == (text, kind)


def test_substitute_checks_types_and_keeps_sharing():
    with pytest.raises(InputError):
        substitute(X + 1, {"x": B})
    shared = X + 1
    made = substitute(shared * shared, {"x": Y})
    assert made.args[0] is made.args[1]
    untouched = Y + 2
    assert substitute(untouched * X, {"x": R}).args[0] is untouched


def deep_left():
    total = X
    for i in range(DEPTH):
        total = total + (1 if i % 2 else -1)
    return total


def deep_right():
    total = X
    for i in range(DEPTH):
        total = (1 if i % 2 else -1) + total
    return total


@pytest.mark.slow
@pytest.mark.parametrize("build", [deep_left, deep_right])
def test_a_hundred_thousand_levels(build):
    root = build()
    assert text_of(root).endswith("…")
    assert variables_in(substitute(root, {"x": Y})) == {"y"}
    nodes = Nodes({"x": 0})
    assert nodes.add(root) == len(nodes.tuples) - 1 == DEPTH + 2


@pytest.mark.slow
def test_a_task_with_a_hundred_thousand_levels():
    deep = Description("deep")
    x = deep.int("x", 0, 3, initial=0)
    root = deep_left()  # x in disguise
    deep.edge("go", guard=root <= 1, outcomes=[{x: root + 1}])
    deep.fail(root == 3)
    task = deep.compile()
    assert [state["x"] for state in task.outcomes(task.state(x=1), "go")] == [2]
    assert task.applicable(task.state(x=2)) == ()
    assert task.distance_to_fail(task.state(x=1)) == 2


@pytest.mark.slow
def test_a_task_with_a_hundred_thousand_conditions():
    wide = Description("wide")
    x = wide.int("x", 0, 9, initial=0)
    condition = low = x <= 0
    for i in range(DEPTH):
        condition = condition & low if i % 2 else condition | low
    wide.edge("go", guard=condition, outcomes=[{}])
    wide.fail(~condition)
    task = wide.compile()
    for value in (0, 1):
        assert task.applicable(task.state(x=value)) == (("go",) if value == 0 else ())
        assert task.is_fail(task.state(x=value)) == (value != 0)
        assert (task.distance_to_fail(task.state(x=value)) == 0) == (value != 0)


def test_sharing_does_not_unfold():
    x = power = variable("x", "int")
    for _ in range(200):
        power = power + power
    assert sum(1 for _ in postorder(power)) == 201
    assert variables_in(substitute(power, {"x": x + 1})) == {"x"}


def test_a_number_to_the_power_of_an_expression():
    x = variable("x", "int")
    assert str(2**x) == "pow(2, x)"
    assert str(x**2) == "pow(x, 2)"
    assert ((2**x).type, (0.5**x).type) == ("int", "real")
