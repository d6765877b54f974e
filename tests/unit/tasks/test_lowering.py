"""Values: every operator by table, and the core against a plain evaluator on random expressions."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Description, InputError, ceil, floor, implies, ite, maximum, minimum
from surefoot.tasks.expressions import constant, make, variable
from surefoot.tasks.lowering import Nodes, bits_of, constant_value, is_constant

TOP, BOTTOM = 2**63 - 1, -(2**63)


def c(value):
    return constant(value)


T, F = c(True), c(False)
ZERO_DIVISION = c(1) / 0
BAD = ZERO_DIVISION > 0.0

VALUES = [
    (~T, False),
    (T & F, False),
    (F | T, True),
    (implies(T, F), False),
    (implies(F, F), True),
    (T == F, False),
    (T != F, True),
    (c(3) == 3.0, True),
    (c(3) != 3, False),
    (c(2**53 + 1) == 2.0**53, True),  # an int that meets a real becomes a double first
    (c(2**53 + 1) == 2**53, False),
    (c(1) < 1, False),
    (c(1) <= 1, True),
    (c(2) > 1.5, True),
    (c(-1) >= 0, False),
    (c(0.0) == -0.0, True),
    (c(-0.0) < 0.0, False),
    (c(TOP - 1) + 1, TOP),
    (c(BOTTOM + 1) - 1, BOTTOM),
    (c(TOP) * 1, TOP),
    (c(2**31) * -(2**32), BOTTOM),
    (c(1) + 0.5, 1.5),
    (c(0.1) + 0.2, 0.1 + 0.2),
    (c(3) * 0.5, 1.5),
    (c(1) - 2.5, -1.5),
    (-c(TOP), -TOP),
    (-c(2.5), -2.5),
    (abs(c(-TOP)), TOP),
    (abs(c(-2.5)), 2.5),
    (c(7) / 2, 3.5),
    (c(6) / 3, 2.0),
    (c(-1) / 3.0, -1 / 3),
    (c(7) % 3, 1),
    (c(-7) % 3, 2),
    (c(7) % -3, -2),
    (c(-7) % -3, -1),
    (c(6) % -3, 0),
    (c(BOTTOM) % -1, 0),
    (c(BOTTOM) % TOP, TOP - 1),
    (c(TOP) % BOTTOM, -1),
    (minimum(c(1), 2), 1),
    (minimum(c(1), 0.5), 0.5),
    (maximum(c(1), 2), 2),
    (maximum(c(1), 0.5), 1.0),
    (c(2) ** 62, 2**62),
    (c(-2) ** 63, BOTTOM),
    (c(3) ** 39, 3**39),
    (c(0) ** 0, 1),
    (c(-1) ** TOP, -1),
    (c(1) ** TOP, 1),
    (c(0) ** TOP, 0),
    (c(2) ** 0.5, math.sqrt(2)),
    (c(2.0) ** -1, 0.5),
    (c(-2.0) ** 3, -8.0),
    (make("log", 8, 2), math.log(8) / math.log(2)),
    (make("log", 0.5, 10.0), math.log(0.5) / math.log(10)),
    (make("log", 1, 0.5), 0.0),
    (floor(c(-1.5)), -2),
    (floor(c(1.5)), 1),
    (ceil(c(1.2)), 2),
    (ceil(c(-1.2)), -1),
    (make("trc", -1.8), -1),
    (make("trc", 1.8), 1),
    (floor(c(5)), 5),
    (ceil(c(TOP)), TOP),
    (make("trc", BOTTOM), BOTTOM),
    (floor(c(-(2.0**63))), BOTTOM),
    (floor(c(2.0**63 - 1024)), 2**63 - 1024),
    (floor(c(2**61)) * 2, 2**62),
    (ceil(c(7)) + 1, 8),
    (make("trc", 7) * make("trc", -7), -49),
    (make("sgn", -5), -1),
    (make("sgn", 0), 0),
    (make("sgn", 2.5), 1),
    (make("sgn", -0.0), 0),
    (ite(T, 1, 2), 1),
    (ite(F, 1, 2.5), 2.5),
    (ite(T, 1, 2.5), 1.0),
    (ite(F, T, F), False),
    # lazy: what is not reached raises nothing
    (F & BAD, False),
    (T | BAD, True),
    (implies(F, BAD), True),
    (ite(T, 1.0, ZERO_DIVISION), 1.0),
    (ite(F, ZERO_DIVISION, 2.0), 2.0),
    (F & (T & BAD), False),
    ((F & BAD) | T, True),
    (ite(F & BAD, 1, 2), 2),
    (ite(T | BAD, 1, 2), 1),
]

ERRORS = [
    (c(TOP) + 1, "overflow"),
    (c(BOTTOM) - 1, "overflow"),
    (c(TOP) * 2, "overflow"),
    (c(BOTTOM) * -1, "overflow"),
    (-c(BOTTOM), "overflow"),
    (abs(c(BOTTOM)), "overflow"),
    (c(2) ** 63, "overflow"),
    (c(-2) ** 64, "overflow"),
    (c(10) ** TOP, "overflow"),
    (c(TOP) + 1 - 1, "overflow"),
    (floor(c(1e19)), "overflow"),
    (ceil(c(-1e19)), "overflow"),
    (make("trc", 2.0**63), "overflow"),
    (floor(c(2**62)) * 4, "overflow"),
    (ceil(c(TOP)) + 1, "overflow"),
    (-make("trc", BOTTOM), "overflow"),
    (c(1) / 0, "division-by-zero"),
    (c(0) / 0.0, "division-by-zero"),
    (c(1) / -0.0, "division-by-zero"),
    (c(1) % 0, "division-by-zero"),
    (make("log", 2, 1), "division-by-zero"),
    (c(1e308) * 10, "not-finite"),
    (c(1e308) + 1e308, "not-finite"),
    (c(-1e308) - 1e308, "not-finite"),
    (c(1e308) / 0.1, "not-finite"),
    (c(-2.0) ** 0.5, "not-finite"),
    (c(0.0) ** -1.0, "not-finite"),
    (c(10.0) ** 400, "not-finite"),
    (c(2) ** -1, "negative-exponent"),
    (c(1) ** -1, "negative-exponent"),
    (make("log", 0, 2), "bad-log"),
    (make("log", -1.0, 2), "bad-log"),
    (make("log", 2, 0), "bad-log"),
    (make("log", 2, -3.0), "bad-log"),
    # reached
    (T & BAD, "division-by-zero"),
    (F | BAD, "division-by-zero"),
    (implies(T, BAD), "division-by-zero"),
    (BAD & F, "division-by-zero"),
    (BAD | T, "division-by-zero"),
    (implies(BAD, T), "division-by-zero"),
    (ite(BAD, 1, 1), "division-by-zero"),
    (ite(T, ZERO_DIVISION, 1.0), "division-by-zero"),
    (minimum(c(0.0), ZERO_DIVISION), "division-by-zero"),
    (ZERO_DIVISION * 0.0, "division-by-zero"),
    # from left to right
    ((c(1) / 0) + (c(1e308) * 10), "division-by-zero"),
    ((c(1e308) * 10) + (c(1) / 0), "not-finite"),
]


def named(table):
    return [pytest.param(root, expected, id=str(root)[:60]) for root, expected in table]


@pytest.mark.parametrize("root, expected", named(VALUES))
def test_value(root, expected):
    found = constant_value(root)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize("root, code", named(ERRORS))
def test_evaluation_error(root, code):
    with pytest.raises(InputError) as caught:
        constant_value(root)
    assert caught.value.code == code


def test_is_constant():
    assert is_constant(c(1) + 2)
    assert not is_constant(c(1) + variable("x", "int"))


def test_equal_parts_are_lowered_once():
    x = variable("x", "int")
    nodes = Nodes({"x": 0})
    first = nodes.add((x + 1) * 2.0)
    assert nodes.add((variable("x", "int") + 1) * 2.0) == first
    assert nodes.add(None) == -1
    assert len({*nodes.tuples}) == len(nodes.tuples)


def test_bits_of_reals_are_the_pattern_of_the_double():
    assert (bits_of(1.0, "real"), bits_of(-0.0, "real"), bits_of(5, "int")) == (
        0x3FF << 52,
        BOTTOM,
        5,
    )


def evaluated(build, x):
    """Return what a task computes for an expression over int x, through an update."""
    made = Description("one")
    v = made.int("x", -4, 4)
    result = made.real("result")
    made.edge("go", outcomes=[{result: build(v)}])
    task = made.compile()
    return task.outcomes(task.state(x=x, result=0), "go")[0]["result"]


SHARED = {
    "skipped in ite, needed after it": lambda x: (lambda n: ite(x > 0, n, 0.0) + n * n)(
        x * 2.0 + 1
    ),
    "skipped in and, needed after it": lambda x: (lambda n: ite((x > 0) & (n / x > 0.0), n, -n))(
        x * 2.0 + 1
    ),
    "raising part in both branches": lambda x: (lambda n: ite(x > 0, n + 1, n - 1))(1.0 / (x + 9)),
    "raising part skipped, then needed": lambda x: (
        lambda n: ite(ite(x > 0, n > 0.0, x < -1), 1.0, 2.0) + n
    )(1.0 / (x * 2 + 1)),
    "nested": lambda x: (lambda n: ite(x > 0, ite(x > 1, n, 1.0), ite(x < -1, n, n + 1)) + n)(
        6.0 / (x * 2 - 1)
    ),
}


@pytest.mark.parametrize("case", SHARED)
def test_what_a_skipped_branch_shares_is_computed_where_it_is_needed(case):
    build = SHARED[case]
    for x in range(-4, 5):
        assert evaluated(build, x) == plain(build(variable("x", "int")), {"x": x}), x


# -- the law ---------------------------------------------------------------------------------


class Raised(Exception):
    """The plain evaluator met an evaluation error."""


def plain(e, state):
    """Return the value of an expression, straight from docs/semantics.md."""
    if e.op == "constant":
        return e.value
    if e.op == "variable":
        return state[e.value]
    if e.op in LAZY:
        return LAZY[e.op](*(lambda arg=arg: plain(arg, state) for arg in e.args), e.type)
    values = [plain(arg, state) for arg in e.args]
    if any(isinstance(v, float) for v in values) or e.op in ("div", "log"):
        values = [float(v) for v in values]
    try:
        return checked(PLAIN[e.op](*values))
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise Raised from error


def as_type(value, kind):
    return float(value) if kind == "real" else value


LAZY = {
    "and": lambda a, b, _: a() and b(),
    "or": lambda a, b, _: a() or b(),
    "implies": lambda a, b, _: not a() or b(),
    "ite": lambda i, t, e, kind: as_type(t() if i() else e(), kind),
}


def checked(value):
    if isinstance(value, float) and not math.isfinite(value):
        raise Raised
    if isinstance(value, int) and not BOTTOM <= value <= TOP:
        raise Raised
    return value


def power(a, b):
    if isinstance(a, float):
        return math.pow(a, b)
    if b < 0 or (abs(a) > 1 and b > 64):
        raise Raised
    return a**b if b < 65 else a ** (2 - b % 2)


PLAIN = {
    "not": lambda a: not a,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "mod": lambda a, b: a % b,
    "min": min,
    "max": max,
    "abs": abs,
    "pow": power,
    "log": lambda a, b: math.log(a) / math.log(b),
    "floor": math.floor,
    "ceil": math.ceil,
    "trc": math.trunc,
    "sgn": lambda a: (a > 0) - (a < 0),
}

BOUNDS = {"x": (-3, 4), "y": (0, 9), "big": (-(2**62), 2**62)}
REALS = {"r": (-2.5, 7.0), "free": (-1.7976931348623157e308, 1.7976931348623157e308)}


def state_strategy():
    ints = {name: st.integers(*bounds) for name, bounds in BOUNDS.items()}
    reals = {name: st.floats(*bounds).map(lambda v: v + 0.0) for name, bounds in REALS.items()}
    return st.fixed_dictionaries({**ints, **reals, "b": st.booleans()})


def leaf(kind):
    if kind == "bool":
        return st.one_of(st.just(variable("b", "bool")), st.booleans().map(constant))
    if kind == "int":
        small = st.integers(-3, 5) | st.sampled_from([TOP, BOTTOM, 2**31, 64])
        return st.one_of(st.sampled_from([variable(n, "int") for n in BOUNDS]), small.map(constant))
    some = st.sampled_from([0.0, 0.5, -1.0, 3.0, 1e300, 1e-300, 9.3e18])
    return st.one_of(st.sampled_from([variable(n, "real") for n in REALS]), some.map(constant))


@st.composite
def expressions(draw, kind, depth=4):
    if depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(leaf(kind))
    sub = lambda k: draw(expressions(k, depth - 1))  # noqa: E731
    number = lambda: sub(draw(st.sampled_from(["int", "real"])))  # noqa: E731
    if kind == "bool":
        op = draw(
            st.sampled_from(
                ["not", "and", "or", "implies", "ite", "eq", "ne", "lt", "le", "gt", "ge", "same"]
            )
        )
        if op == "same":
            return make("eq", sub("bool"), sub("bool"))
        if op in ("lt", "le", "gt", "ge", "eq", "ne"):
            return make(op, number(), number())
        return make(op, *(sub("bool") for _ in range({"not": 1, "ite": 3}.get(op, 2))))
    if kind == "int":
        op = draw(
            st.sampled_from(
                [
                    "add",
                    "sub",
                    "mul",
                    "mod",
                    "pow",
                    "min",
                    "max",
                    "neg",
                    "abs",
                    "ite",
                    "round",
                    "sgn",
                ]
            )
        )
        if op == "round":
            return make(draw(st.sampled_from(["floor", "ceil", "trc"])), number())
        if op == "sgn":
            return make(op, number())
    else:
        op = draw(
            st.sampled_from(
                ["add", "sub", "mul", "div", "pow", "log", "min", "max", "neg", "abs", "ite"]
            )
        )
    if op == "ite":
        return make(op, sub("bool"), sub(kind), sub(kind))
    if op in ("neg", "abs"):
        return make(op, sub(kind))
    if kind == "real" and op not in ("div", "log"):
        return make(op, sub("real"), number())
    return make(op, sub(kind), sub(kind))


def outcome_of(root, state):
    """Return the value the core stores for ``root``; None for an evaluation error."""
    made = Description("law")
    for name, bounds in BOUNDS.items():
        made.int(name, *bounds)
    for name, bounds in REALS.items():
        made.real(name, *bounds)
    made.bool("b")
    result = {"bool": made.bool, "real": made.real}.get(
        root.type, lambda n: made.int(n, -(2**62), 2**62)
    )("result")
    made.edge("go", outcomes=[{result: root}])
    task = made.compile()
    try:
        return task.outcomes(task.state({**state, "result": 0}), "go")[0]["result"]
    except InputError as error:
        if not error.code.startswith("model-"):
            raise
        return "range" if error.code == "model-out-of-range" else None


def plain_outcome(root, state):
    try:
        value = plain(root, state)
    except Raised:
        return None
    if root.type == "int" and abs(value) > 2**62:
        return "range"
    return value


@pytest.mark.fuzz
@settings(max_examples=300, deadline=None)
@given(root=st.sampled_from(["bool", "int", "real"]).flatmap(expressions), state=state_strategy())
def test_the_core_evaluates_like_the_definition(root, state):
    found, expected = outcome_of(root, state), plain_outcome(root, state)
    assert (type(found), found) == (type(expected), expected)


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None)
@given(guard=expressions("bool"), states=st.lists(state_strategy(), min_size=1, max_size=5))
def test_guards_hold_where_the_definition_says(guard, states):
    made = Description("guards")
    for name, bounds in BOUNDS.items():
        made.int(name, *bounds)
    for name, bounds in REALS.items():
        made.real(name, *bounds)
    made.bool("b")
    made.edge("go", guard=guard, outcomes=[{}])
    task = made.compile()
    for state in states:
        try:
            found = bool(task.applicable(task.state(state)))
        except InputError as error:
            if not error.code.startswith("model-"):
                raise
            found = None
        assert found == plain_outcome(guard, state)
