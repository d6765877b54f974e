"""Start states: listing equals trying everything, sampling is uniform."""

import functools
import itertools
import math
import operator
import random
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from surefoot import Description, InputError, OutOfBudget, domain, explore, implies, ite
from surefoot.tasks.expressions import constant, make

RANGES = {"x": range(-2, 4), "y": range(6), "z": range(7, 8), "w": range(-3, 2)}


def declared():
    d = Description("starts")
    variables = {name: d.int(name, r[0], r[-1]) for name, r in RANGES.items()}
    variables |= {name: d.bool(name) for name in ("p", "q")}
    d.edge("wait", outcomes=[{}])
    return d, variables


DOMAINS = {**RANGES, "p": (False, True), "q": (False, True)}
EVERYTHING = [
    dict(zip(DOMAINS, values, strict=True)) for values in itertools.product(*DOMAINS.values())
]


class Conditions:
    """Random conditions, each as an expression and as a Python function of a state."""

    def __init__(self, rng):
        self.rng = rng
        self.description, self.variables = declared()

    def number(self):
        """Return a linear sum, sometimes with a constant on its own."""
        names = self.rng.sample(list(RANGES), self.rng.choice([1, 1, 2, 3, 4]))
        factors = [(self.rng.choice([1, 1, 1, -1, 2, -3]), name) for name in names]
        offset = self.rng.randint(-3, 3)
        root = constant(offset)
        for factor, name in factors:
            root = root + self.variables[name] * factor
        return root, lambda s: offset + sum(f * s[name] for f, name in factors)

    def comparison(self):
        op = self.rng.choice(["eq", "eq", "ne", "lt", "le", "gt", "ge"])
        left, left_of = self.number()
        if self.rng.random() < 0.6:
            bound = self.rng.randint(-4, 9)
            right, right_of = constant(bound), lambda s: bound
        else:
            right, right_of = self.number()
        python = {
            "eq": "__eq__",
            "ne": "__ne__",
            "lt": "__lt__",
            "le": "__le__",
            "gt": "__gt__",
            "ge": "__ge__",
        }[op]
        return make(op, left, right), lambda s: getattr(left_of(s), python)(right_of(s))

    def one(self, depth):
        kind = self.rng.choice(
            ["compare"] * 3 + ["flag", "and", "and", "or", "not", "implies", "ite", "product"]
        )
        if depth == 0 or kind == "compare":
            return self.comparison()
        if kind == "flag":
            name = self.rng.choice("pq")
            return self.variables[name], lambda s: s[name]
        if kind == "product":
            x, y, bound = self.variables["x"], self.variables["y"], self.rng.randint(-4, 9)
            return x * y <= bound, lambda s: s["x"] * s["y"] <= bound
        a, a_of = self.one(depth - 1)
        if kind == "not":
            return ~a, lambda s: not a_of(s)
        b, b_of = self.one(depth - 1)
        if kind == "and":
            return a & b, lambda s: a_of(s) and b_of(s)
        if kind == "or":
            return a | b, lambda s: a_of(s) or b_of(s)
        if kind == "implies":
            return implies(a, b), lambda s: not a_of(s) or b_of(s)
        c, c_of = self.one(depth - 1)
        return ite(a, b, c), lambda s: b_of(s) if a_of(s) else c_of(s)


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(4))
def test_listing_equals_trying_everything(block):
    rng = random.Random(block)
    for _ in range(100):
        conditions = Conditions(rng)
        condition, holds = conditions.one(3)
        conditions.description.start(condition)
        found = [state.to_dict() for state in conditions.description.compile().list_starts()]
        assert len(found) == len({tuple(s.values()) for s in found})
        expected = [state for state in EVERYTHING if holds(state)]
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), condition


def test_a_condition_holds_over_what_it_does_not_mention():
    d, v = declared()
    d.start((v["x"] == 0) & (v["y"] == 3))
    task = d.compile()
    assert len(task.list_starts()) == len(RANGES["w"]) * 4
    assert task.has_start_condition
    state = {"x": 0, "y": 3, "z": 7, "w": 0, "p": True, "q": False}
    assert task.is_start(state)
    assert not task.is_start({**state, "y": 2})


def test_without_start_the_initial_values_and_anything_else():
    d = Description("initial")
    d.int("x", 0, 9, initial=4)
    d.bool("free")
    task = d.compile()
    assert [state.to_dict() for state in task.list_starts()] == [
        {"x": 4, "free": f} for f in (False, True)
    ]
    d = Description("initial")
    d.int("x", 0, 9, initial=4)
    assert d.compile().list_starts() == [{"x": 4}]


RAISING = {
    "reached": (lambda x: 6 / x > 1.0, "model-division-by-zero"),
    "hidden by the left side": (lambda x: (x != 0) & (6 / x >= 2.0), [1, 2, 3]),
    "not hidden by the right side": (lambda x: (6 / x >= 2.0) & (x != 0), "model-division-by-zero"),
    "hidden by a range": (lambda x: (x >= 1) & (6 / x >= 3.0), [1, 2]),
    "hidden in a disjunction": (lambda x: (x == 0) | (6 / x <= 1.5), [0, 4]),
    "after it, a range": (lambda x: (6 / (x + 1) > 1.4) & (x >= 2), [2, 3]),
}


@pytest.mark.parametrize("case", RAISING)
def test_conditions_that_may_raise(case):
    build, expected = RAISING[case]
    d = Description("raising")
    x = d.int("x", 0, 4)
    d.start(build(x))
    task = d.compile()
    if isinstance(expected, list):
        assert [state["x"] for state in task.list_starts()] == expected
        assert {state["x"] for state in task.sample_starts(100)} == set(expected)
        if expected:
            assert explore(task).starts == len(expected)
        return
    for call in (task.list_starts, lambda: task.sample_starts(1), lambda: explore(task)):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == expected


REALS = {
    "pinned": (lambda x, r: r == 0.5, 3),
    "pinned from the left": (lambda x, r: make("eq", 0.5, r), 3),
    "pinned to an int": (lambda x, r: r == 1, 3),
    "pinned between": (lambda x, r: (r >= 0.5) & (r <= 0.5), 3),
    "pinned to zero": (lambda x, r: (r == -0.0) & (x >= 1), 2),
    "pinned twice, differently": (lambda x, r: (r == 0.5) & (r == 0.25), 0),
    "pinned outside": (lambda x, r: r == 7.0, 0),
    "pinned and excluded": (lambda x, r: (r == 0.5) & (r < 0.5), 0),
    "free": (lambda x, r: x == 0, None),
    "a box": (lambda x, r: (r >= 0.25) & (r <= 0.75), None),
}


@pytest.mark.parametrize("case", REALS)
def test_real_variables(case):
    build, count = REALS[case]
    d = Description("reals")
    x, r = d.int("x", 0, 2), d.real("r", 0.0, 1.0)
    d.start(build(x, r))
    task = d.compile()
    if count is not None:
        assert len(task.list_starts()) == count
        assert explored(task) == count
        return
    for call in (task.list_starts, lambda: explore(task)):
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.code == "start-not-finite"


def explored(task):
    """How many states explore finds; none is an error of its own."""
    try:
        return explore(task).states
    except InputError as error:
        assert error.code == "no-start-state"
        return 0


def chi_square(counts, expected):
    return sum((count - expected) ** 2 / expected for count in counts)


def triangle():
    d = Description("triangle")
    x, y = d.int("x", 0, 5), d.int("y", 0, 5)
    d.start((x + y <= 5) & (x != 2))
    return d.compile()


def test_sampling_is_uniform_and_depends_on_the_seed_only():
    task = triangle()
    all_states = task.list_starts()
    drawn = task.sample_starts(20_000, seed=3)
    counts = [sum(1 for s in drawn if s == state) for state in all_states]
    assert sum(counts) == 20_000
    freedom = len(all_states) - 1
    assert chi_square(counts, 20_000 / len(all_states)) < freedom + 4 * math.sqrt(2 * freedom)
    assert task.sample_starts(50, seed=3) == drawn[:50]
    assert task.sample_starts(50, seed=4) != drawn[:50]
    assert task.sample_starts(0) == []


def test_what_sampling_needs_is_made_once():
    task = domain("blocksworld", blocks=9)
    begin = time.process_time()
    drawn = task.sample_starts(10, seed=1)
    first = time.process_time() - begin
    begin = time.process_time()
    again = task.sample_starts(10, seed=1)
    assert time.process_time() - begin < first / 20
    assert again == drawn == domain("blocksworld", blocks=9).sample_starts(10, seed=1)


def test_threads_share_what_sampling_needs():
    expected = [domain("blocksworld", blocks=7).sample_starts(20, seed=seed) for seed in range(8)]
    task = domain("blocksworld", blocks=7)
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda seed: task.sample_starts(20, seed=seed), range(8)))
    assert drawn == expected
    assert task.start_sampler.count(max_seconds=60) == len(task.list_starts())


def test_a_budget_that_ends_while_counting_leaves_nothing_behind():
    task = domain("blocksworld", blocks=10)
    with pytest.raises(OutOfBudget):
        task.sample_starts(1, max_seconds=0.01)
    assert len(task.sample_starts(3, max_seconds=60)) == 3


@pytest.mark.parametrize("seed", range(40))
def test_counting_equals_listing_where_variables_must_differ(seed):
    """Variables that differ from the same later ones are exchanged, and no others."""
    rng = random.Random(seed)
    d = Description("different")
    variables = [d.int(f"x{i}", 0, rng.randint(2, 4)) for i in range(5)]
    pairs = [pair for pair in itertools.combinations(variables, 2) if rng.random() < 0.7]
    conditions = [rng.choice((a != b, ~(a == b), b != a)) for a, b in pairs]
    a, b, c = rng.sample(variables, 3)
    conditions += rng.choice(([], [a * b <= 4], [a + b >= 2], [implies(a == 1, b != c)], [a <= 1]))
    d.start(functools.reduce(operator.and_, conditions, variables[0] >= 0))
    task = d.compile()
    listed = task.list_starts()
    assert task.start_sampler.count(max_seconds=60) == len(listed)
    if listed:
        drawn = task.sample_starts(30 * len(listed), seed=seed)
        assert set(drawn) == set(listed)


def test_orders_of_many_things_are_counted_and_drawn():
    task = domain("beluga", jigs=16)
    begin = time.process_time()
    drawn = task.sample_starts(100, seed=1)
    assert time.process_time() - begin < 4
    assert len(set(drawn)) == 100
    assert all(len({s[f"jig_{i}"] for i in range(16)}) == 16 for s in drawn)
    assert task.start_sampler.count(max_seconds=9) == math.factorial(16)


CONDITIONS = {
    "two sums": lambda x, y, z, b: (x + y + z == 5) & (x - z <= 1),
    "not linear": lambda x, y, z, b: (x * z <= 4) & (y * y != x),
    "a sum and a product": lambda x, y, z, b: (x + 2 * y + z >= 6) & (x * y == z) & b,
    "a branch": lambda x, y, z, b: ite(b, x == y, (y + z) % 3 == 1),
    "may raise": lambda x, y, z, b: (x + y >= 1) & ((7 % (x + y)) == z),
    "nothing said": lambda x, y, z, b: x == 1,
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_sampling_is_uniform_whatever_the_condition(case):
    d = Description("condition")
    x, y, z = (d.int(name, 0, 3) for name in "xyz")
    d.start(CONDITIONS[case](x, y, z, d.bool("b")))
    task = d.compile()
    all_states = task.list_starts()
    assert len(all_states) > 2
    counts = dict.fromkeys(all_states, 0)
    for state in task.sample_starts(200 * len(all_states), seed=5):
        counts[state] += 1
    freedom = len(all_states) - 1
    assert chi_square(counts.values(), 200) < freedom + 4 * math.sqrt(2 * freedom) + 8


def test_sampling_counts_and_does_not_list():
    """There are more than 2^64 start states: ways to place 60 packages at 40 places."""
    d = Description("huge")
    loads = [d.int(f"load_{i}", 0, 60) for i in range(40)]
    d.start(functools.reduce(operator.add, loads) == 60)
    task = d.compile()
    begin = time.process_time()
    drawn = task.sample_starts(2_000, seed=1)
    assert time.process_time() - begin < 5
    assert len(set(drawn)) == 2_000
    assert all(sum(state.values()) == 60 for state in drawn)
    # The load of one place is geometric-like with mean 1.5, whichever place it is.
    for name in ("load_0", "load_20", "load_39"):
        assert abs(sum(state[name] for state in drawn) / 2_000 - 1.5) < 0.25


def test_sampling_listed_starts_by_index():
    d = Description("listed")
    d.int("x", 0, 9, initial=7)
    d.int("y", 0, 9, initial=8)
    d.start({"x": 1}, {"x": 2, "y": 0}, {})
    task = d.compile()
    listed = [{"x": 1, "y": 8}, {"x": 2, "y": 0}, {"x": 7, "y": 8}]
    assert task.list_starts() == listed
    assert [task.is_start(s) for s in [*listed, {"x": 1, "y": 0}]] == [True, True, True, False]
    drawn = task.sample_starts(3000, seed=1)
    assert drawn[:10] == task.sample_starts(10, seed=1)
    assert chi_square([sum(1 for s in drawn if s == one) for one in listed], 1000) < 20
    with pytest.raises(OutOfBudget):
        task.list_starts(max_states=2)


def test_nothing_to_sample():
    for start in ([lambda x: (x > 3) & (x < 3)], [lambda x: x * x == 7]):
        d = Description("empty")
        x = d.int("x", 0, 9)
        d.start(*(build(x) for build in start))
        task = d.compile()
        assert task.list_starts() == []
        assert explored(task) == 0
        with pytest.raises(InputError) as caught:
            task.sample_starts(1)
        assert caught.value.code == "no-start-state"
    d = Description("empty")
    d.int("x", 0, 9)
    d.start()
    with pytest.raises(InputError):
        d.compile().sample_starts(1)


def test_sampling_reals_by_rejection():
    d = Description("disc")
    x, y = d.real("x", -1.0, 1.0), d.real("y", -1.0, 1.0)
    k = d.int("k", 0, 3)
    d.start((x * x + y * y <= 1.0) & (k >= 1))
    task = d.compile()
    drawn = task.sample_starts(4000, seed=9)
    assert all(s["x"] ** 2 + s["y"] ** 2 <= 1 for s in drawn)
    inner = sum(1 for s in drawn if s["x"] ** 2 + s["y"] ** 2 <= 0.5)
    assert abs(inner - 2000) < 4 * math.sqrt(1000)
    assert chi_square([sum(1 for s in drawn if s["k"] == i) for i in (1, 2, 3)], 4000 / 3) < 20
    assert drawn[:5] == task.sample_starts(5, seed=9)


def test_rejection_gives_up():
    d = Description("needle")
    r = d.real("r", 0.0, 1.0)
    d.start((r * 2.0 > 1.9999999999) & (r * 3.0 < 1.0))
    with pytest.raises(OutOfBudget):
        d.compile().sample_starts(1, max_seconds=0.2)


def test_cap_on_listing():
    task = triangle()
    count = len(task.list_starts())
    assert len(task.list_starts(max_states=count)) == count
    with pytest.raises(OutOfBudget) as caught:
        task.list_starts(max_states=count - 1)
    assert caught.value.code == "out-of-states"


def test_five_million_starts():
    """15 packages over 9 locations and the truck, and 4 values of aux_vel: C(24, 9) * 4."""
    task = domain("one-way-line", packages=15, locations=10)
    count = math.comb(24, 9) * 4
    assert count == 5_230_016
    cut = explore(task, max_states=count - 1)
    assert (cut.starts, cut.starts_complete, cut.stopped) == (count - 1, False, "states")
    cut = explore(task, max_states=count)
    assert (cut.starts, cut.starts_complete, cut.stopped) == (count, True, "states")


def test_budgets_hold_while_nothing_is_found():
    d = Description("hang")
    x = d.int("x", 0, 2**40)
    d.edge("wait", outcomes=[{}])
    d.start(x % 7 == 8)
    task = d.compile()
    result = explore(task, max_seconds=0.2)
    assert (result.stopped, result.starts_complete) == ("seconds", False)
    with pytest.raises(OutOfBudget) as caught:
        task.list_starts(max_seconds=0.2)
    assert caught.value.code == "out-of-seconds"
