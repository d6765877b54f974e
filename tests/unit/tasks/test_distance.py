"""The distance to fail: by table, and zero exactly on fail states."""

import itertools
import random

import pytest

from surefoot import Description, InputError, _core, implies, ite, minimum
from surefoot.tasks.expressions import make


def task_of(build):
    d = Description("distance")
    x, y, b, r = d.int("x", -5, 9), d.int("y", -5, 9), d.bool("b"), d.real("r", -9.0, 9.0)
    d.fail(build(x, y, b, r))
    return d.compile()


AT = {"x": 2, "y": 5, "b": False, "r": 0.5}
TABLE = {
    "x ≥ 6": (lambda x, y, b, r: x >= 6, 4),
    "x ≤ 6": (lambda x, y, b, r: x <= 6, 0),
    "x = 6": (lambda x, y, b, r: x == 6, 4),
    "x = -1": (lambda x, y, b, r: x == -1, 3),
    "x ≠ 2": (lambda x, y, b, r: x != 2, 1),
    "x ≠ 3": (lambda x, y, b, r: x != 3, 0),
    "strict on ints is tightened": (lambda x, y, b, r: x > 6, 5),
    "strict on ints, equal": (lambda x, y, b, r: x < 2, 1),
    "linear": (lambda x, y, b, r: 2 * x + 3 * y <= 4, 15),
    "both sides": (lambda x, y, b, r: x - 1 >= 2 * y, 9),
    "real": (lambda x, y, b, r: r >= 2.0, 1.5),
    "int and real": (lambda x, y, b, r: x <= r, 1.5),
    "and sums": (lambda x, y, b, r: (x >= 6) & (y <= 0), 9),
    "and of one that holds": (lambda x, y, b, r: (x >= 2) & (y <= 0), 5),
    "or is the minimum": (lambda x, y, b, r: (x >= 6) | (y <= 2), 3),
    "not pushed inwards": (lambda x, y, b, r: ~((x < 6) | (y > 2)), 7),
    "not of and": (lambda x, y, b, r: ~((x < 6) & (y > 2)), 3),
    "not of ≤ on ints": (lambda x, y, b, r: ~(x <= 6), 5),
    "not of =": (lambda x, y, b, r: ~(x == 2), 1),
    "not of ≠": (lambda x, y, b, r: ~(x != 6), 4),
    "twice not": (lambda x, y, b, r: ~~(x >= 6), 4),
    "implies": (lambda x, y, b, r: implies(x <= 6, y <= 2), 3),
    "Boolean": (lambda x, y, b, r: b, 1),
    "not Boolean": (lambda x, y, b, r: ~b, 0),
    "Booleans equal": (lambda x, y, b, r: b == True, 1),  # noqa: E712
    "ite": (lambda x, y, b, r: ite(b, x >= 3, y >= 7), 2),
    "min inside": (lambda x, y, b, r: minimum(x, y) >= 4, 2),
}


@pytest.mark.parametrize("case", TABLE)
def test_distance(case):
    build, expected = TABLE[case]
    assert task_of(build).distance_to_fail(AT) == expected


@pytest.mark.parametrize("case", TABLE)
def test_guidance_is_the_distance_to_any_condition(case):
    """Also of a task that has no such condition, nor any other."""
    build, expected = TABLE[case]
    d = Description("no condition")
    variables = d.int("x", -5, 9), d.int("y", -5, 9), d.bool("b"), d.real("r", -9.0, 9.0)
    task = d.compile()
    guidance = task.guidance_to(build(*variables))
    assert guidance.distance(task.core, task.packed(AT)) == expected


def test_guidance_is_for_states_of_the_task():
    d, other = Description("one"), Description("other")
    x = d.int("x", 0, 1)
    y = [other.int(f"y{number}", 0, 3) for number in range(70)]
    task, wide = d.compile(), other.compile()
    guidance = task.guidance_to(x == 1)
    with pytest.raises(ValueError, match="other states"):
        guidance.distance(wide.core, wide.packed(dict.fromkeys(wide.names, 0)))
    with pytest.raises(ValueError, match="no such"):
        _core.Guidance(task.core, [], 0)
    with pytest.raises(InputError, match="y0"):
        task.guidance_to(y[0] == 1)


def test_strict_on_reals_is_positive_where_both_sides_are_equal():
    task = task_of(lambda x, y, b, r: r < 0.5)
    assert 0 < task.distance_to_fail(AT) < 1e-6
    assert task.distance_to_fail({**AT, "r": 0.49}) == 0


def test_without_fail_condition_it_is_infinite():
    d = Description("none")
    d.int("x", 0, 1)
    assert d.compile().distance_to_fail({"x": 0}) == float("inf")


LARGE = {
    "ints that doubles confuse": (lambda x, r: x == 2**62, {"x": 2**62 - 1, "r": 0.0}),
    "ordered ints that doubles confuse": (lambda x, r: x >= 2**62, {"x": 2**62 - 1, "r": 0.0}),
    "reals whose difference is too large": (lambda x, r: r >= 1e308, {"x": 0, "r": -1e308}),
    "sums that are too large": (
        lambda x, r: (r >= 1.7e308) & (r + 1.0 >= 1.7e308),
        {"x": 0, "r": 0.0},
    ),
    "an error hidden by and": (lambda x, r: (x != 0) & (6 / x > 2.0), {"x": 0, "r": 0.0}),
    "an error hidden by or": (lambda x, r: ~((x == 0) | (6 / x > 2.0)), {"x": 0, "r": 0.0}),
    "an error hidden by ite": (lambda x, r: ite(x == 0, r > 1.0, 6 / x > 2.0), {"x": 0, "r": 0.0}),
}


@pytest.mark.parametrize("case", LARGE)
def test_distance_is_positive_wherever_fail_is_false(case):
    build, state = LARGE[case]
    d = Description("large")
    x, r = d.int("x", 0, 2**62), d.real("r")
    d.fail(build(x, r))
    task = d.compile()
    assert not task.is_fail(state)
    assert task.distance_to_fail(state) > 0


def random_condition(rng, variables, depth):
    x, y, b, r = variables
    kind = rng.choice(["compare", "compare", "flag", "and", "or", "not", "implies", "ite"])
    if depth == 0 or kind == "compare":
        op = rng.choice(["eq", "ne", "lt", "le", "gt", "ge"])
        left = rng.choice([x, y, x + y, x - 2 * y, r, r * 2.0])
        return make(op, left, rng.choice([rng.randint(-2, 3), 0.5, y]))
    if kind == "flag":
        return b
    parts = [
        random_condition(rng, variables, depth - 1)
        for _ in range({"not": 1, "ite": 3}.get(kind, 2))
    ]
    return make(kind, *parts)


@pytest.mark.fuzz
def test_distance_is_zero_exactly_on_fail_states():
    rng = random.Random(5)
    grid = itertools.product(range(-1, 3), range(-1, 3), (False, True), (-1.0, 0.25, 0.5))
    states = [dict(zip("xybr", values, strict=True)) for values in grid]
    seen = set()
    for _ in range(150):
        task = task_of(lambda *variables: random_condition(rng, variables, 3))
        for state in rng.sample(states, 30):
            distance, fails = task.distance_to_fail(state), task.is_fail(state)
            assert (distance == 0) == fails, (task.description.fail_condition, state)
            assert distance >= 0
            seen.add(fails)
    assert seen == {False, True}
