"""The method ic3: ties and rounding, errors of the model, limits, constraints, numbers."""

from __future__ import annotations

import itertools
import random
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.tree_policies import assert_is_failing_run, assert_proves_safety

from surefoot import Description, InputError, PythonTask, Unsupported, load_task, verify
from surefoot.errors import Refusal
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy
from surefoot.policies.interface import Input, Interface
from surefoot.policies.models import Layer, Network, Trees
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.expressions import as_expr, ite, variable
from surefoot.verify.ic3 import Verification, find_constraints, method
from surefoot.verify.ic3.circuit import Circuit
from surefoot.verify.ic3.numbers import OrderAlgebra, Sum, Unary
from surefoot.verify.ic3.solver import Solver
from surefoot.verify.question import Question

pytest.importorskip("pysat")


def verification(task, policy, *, certificate=False, progress=None, **options):
    how = VerifyOptions(**{"max_seconds": 60.0, **options})
    return Verification(Question(task, as_policy(policy, task), how, progress, certificate))


def leaves(*values, precision="float64", **more):
    """Return an ensemble without inner nodes: each of the lists of values is an output."""
    flat = [(output, value) for output, row in enumerate(values) for value in row]
    count = len(flat)
    return Trees(
        num_inputs=1,
        num_outputs=len(values),
        roots=np.arange(count, dtype=np.int32),
        features=np.full(count, -1, dtype=np.int32),
        thresholds=np.zeros(count),
        left=np.arange(count, dtype=np.int32),
        right=np.array([output for output, _ in flat], dtype=np.int32),
        values=np.array([value for _, value in flat]),
        base=np.zeros(len(values)),
        input_precision="float64",
        sum_precision=precision,
        **more,
    )


def fork(bad):
    """Return a task in which one of two actions fails."""
    d = Description("fork")
    x = d.int("x", 0, 2)
    d.edge("left", guard=x == 0, outcomes=[{x: 1}])
    d.edge("right", guard=x == 0, outcomes=[{x: 2}])
    d.start(x == 0)
    d.fail(x == (1 if bad == "left" else 2))
    return d.compile()


def counter(*, end=5, fail=7, guard=True):
    """Return a task of one action that counts to ``end`` in a variable of at most 6."""
    d = Description("counter")
    x = d.int("x", 0, 6)
    d.edge("up", guard=(x < end) if guard else None, outcomes=[{x: x + 1}])
    d.start(x <= 1)
    d.fail(x >= fail)
    return d.compile()


ONE = leaves([0.0])


# -- decisions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(
    ("left", "right", "taken"),
    [
        ([1.0], [1.0], "left"),
        ([1.0, 2.0], [3.0], "left"),
        ([1.0, 2.0], [3.5], "right"),
        ([0.25], [0.125, 0.125], "left"),
        ([-3.0], [-2.0], "right"),
        ([0.0], [0.0], "left"),
    ],
)
def test_best_score_is_taken_and_of_equal_ones_the_lowest_output(left, right, taken, precision):
    for bad in ("left", "right"):
        found = verification(fork(bad), leaves(left, right, precision=precision)).run()
        assert found.verdict == ("unsafe" if bad == taken else "safe")
        assert found.rounding == 0


@pytest.mark.parametrize(
    ("left", "right", "taken"),
    [
        ([0.3, 0.2, 0.1], [0.1, 0.2, 0.3], "right"),  # 0.6 and 0.6000000000000001
        ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1], "left"),
        ([2.0**60, 1.0, -(2.0**60)], [0.5], "right"),  # 0 and 0.5
    ],
)
def test_rounding_decides_as_the_policy_does(left, right, taken):
    policy = leaves(left, right)
    assert as_policy(policy, fork("left")).decide({"x": 0}) == taken
    for bad in ("left", "right"):
        found = verification(fork(bad), policy).run()
        assert found.verdict == ("unsafe" if bad == taken else "safe")
        is_seen = found.verdict == "safe" and taken == "right"  # exact sums say left
        assert found.rounding == int(is_seen)


def test_divided_sums_that_become_equal():
    low, high = 1.0, float(np.nextafter(1.0, 2.0))
    policy = leaves([low], [high], divide_by=3.0)
    taken = as_policy(policy, fork("left")).decide({"x": 0})
    for bad in ("left", "right"):
        found = verification(fork(bad), policy).run()
        assert found.verdict == ("unsafe" if bad == taken else "safe")


def test_one_action_alone_is_taken_without_output():
    d = Description("alone")
    x = d.int("x", 0, 3)
    d.edge("a", guard=x == 0, outcomes=[{x: 1}])
    d.edge("b", guard=x == 1, outcomes=[{x: 2}])
    d.start(x == 0)
    d.fail(x == 2)
    task = d.compile()
    policy = as_policy(leaves([0.0]), task, interface=Interface(outputs=("a",)))
    found = verification(task, policy).run()
    assert found.verdict == "unsafe"
    assert found.run.actions == ("a", "b")


def test_no_decision_is_an_error_where_it_is_reached():
    for start, is_reached in ((0, True), (2, False)):
        d = Description("mute")
        x = d.int("x", 0, 3)
        for name in ("a", "b", "c"):
            d.edge(name, guard=(x == 0) if name != "c" else (x >= 2), outcomes=[{x: 3}])
        d.start(x == start)
        d.fail(x == 1)
        task = d.compile()
        policy = as_policy(leaves([0.0]), task, interface=Interface(outputs=("c",)))
        if is_reached:
            with pytest.raises(InputError) as caught:
                verification(task, policy).run()
            assert caught.value.code == "policy-no-decision"
        else:
            assert verification(task, policy).run().verdict == "safe"


def test_unfiltered_policy_stops_where_its_action_is_not_applicable():
    d = Description("stops")
    x = d.int("x", 0, 2)
    d.edge("a", guard=x == 0, outcomes=[{x: 1}])
    d.edge("b", guard=x == 1, outcomes=[{x: 2}])
    d.start(x == 0)
    d.fail(x == 2)
    task = d.compile()
    model = leaves([1.0], [0.0])
    assert verification(task, model).run().verdict == "unsafe"
    policy = as_policy(model, task, unfiltered=True)
    assert verification(task, policy).run().verdict == "safe"


def test_policy_first():
    assert verification(fork("right"), "first").run().verdict == "safe"
    assert verification(fork("left"), "first").run().verdict == "unsafe"


# -- runs end ----------------------------------------------------------------------------------


def test_goal_ends_runs_and_fail_comes_before_goal():
    for goal, verdict in ((3, "safe"), (4, "unsafe"), (6, "unsafe")):
        d = counter(fail=4).description
        d.goal(variable("x", "int") == goal)
        assert verification(d.compile(), ONE).run().verdict == verdict


def test_silent_actions_are_forced_only_where_nothing_else_is_applicable():
    for loud_guard, verdict in ((0, "unsafe"), (1, "safe")):
        d = Description("silent", silent=["slips"])
        x = d.int("x", 0, 2)
        d.edge("a", guard=x <= loud_guard - 1, outcomes=[{}])
        d.edge("slips", guard=x == 0, outcomes=[{x: 1}, {x: 2}])
        d.start(x == 0)
        d.fail(x == 2)
        task = d.compile()
        found = verification(task, ONE).run()
        assert found.verdict == verdict
        if found.run is not None:
            assert found.run.actions == ("slips",)


def test_outcomes_that_are_impossible_do_not_happen():
    for chance, verdict in ((0.0, "safe"), (0.1, "unsafe")):
        d = Description("chance")
        x, y = d.int("x", 0, 1), d.int("y", 0, 1)
        p = ite(y == 1, chance, 0.0)
        d.edge("a", outcomes=[Outcome((Assignment(x, as_expr(1)),), (p,)), Outcome()])
        d.start((x == 0) & (y >= 0))
        d.fail(x == 1)
        task = d.compile()
        policy = as_policy(leaves([0.0]), task, interface=Interface((Input("x"),), ("a",)))
        assert verification(task, policy).run().verdict == verdict


# -- errors of the model -----------------------------------------------------------------------


def test_update_out_of_range_is_an_error_where_it_is_reached():
    with pytest.raises(InputError) as caught:
        verification(counter(guard=False), ONE).run()
    assert caught.value.code == "model-out-of-range"
    assert verification(counter(end=6), ONE).run().verdict == "safe"


def test_error_in_a_condition_is_raised_where_it_is_reached():
    for start, is_reached in ((1, True), (0, False)):
        d = Description("division")
        x, y = d.int("x", 0, 3), d.int("y", 0, 3)
        d.edge("a", guard=(x > 0) & (x % y == 0), outcomes=[{y: 0}])
        d.start((x == start) & (y == 1))
        d.fail(x == 3)
        task = d.compile()
        policy = as_policy(leaves([0.0]), task, interface=Interface((Input("x"),), ("a",)))
        if is_reached:
            with pytest.raises(InputError) as caught:
                verification(task, policy).run()
            assert caught.value.code == "model-division-by-zero"
        else:
            assert verification(task, policy).run().verdict == "safe"


def test_error_in_the_start_condition_is_not_hidden_by_a_constraint():
    d = Description("hidden")
    x, y = d.int("x", 0, 3), d.int("y", 0, 3)
    d.edge("a", guard=(x > 0) & (y < 3), outcomes=[{x: x - 1, y: y + 1}])
    d.start((3 % x == 0) & (x + y == 3) & (x > 0))
    d.fail(x == 9)
    task = d.compile()
    policy = as_policy(ONE, task, interface=Interface((Input("x"),), ("a",)))
    for method_name in ("explicit", "ic3"):
        with pytest.raises(InputError) as caught:
            verify(task, policy, method=method_name)
        assert caught.value.code == "model-division-by-zero"


def test_no_start_state():
    d = counter().description
    d.start(variable("x", "int") > 6)
    with pytest.raises(InputError) as caught:
        verification(d.compile(), ONE).run()
    assert caught.value.code == "no-start-state"


# -- results -----------------------------------------------------------------------------------


def test_safe_result_and_what_it_is_made_of():
    task = counter(end=4, fail=6)
    one = verification(task, ONE)
    found = one.run()
    assert (found.verdict, found.method, found.reason) == ("safe", "ic3", None)
    assert (found.all_starts, found.states, found.run) == (True, 0, None)
    assert found.boxes == len(one.search.invariant) > 0
    assert found.depth == len(one.search.frames) - 1
    assert_proves_safety(task, as_policy(ONE, task), one.search.invariant, one.constraints)


def test_unsafe_result_has_a_run():
    task = counter(end=6, fail=6)
    found = verification(task, ONE).run()
    assert found.verdict == "unsafe"
    assert_is_failing_run(task, as_policy(ONE, task), found.run)


def test_a_start_state_that_fails():
    found = verification(counter(fail=1), ONE).run()
    assert (found.verdict, found.run.steps) == ("unsafe", 0)


def test_same_answer_every_time():
    task = load_task("domain:one-way-line?packages=3&locations=4&variant=icy-park")
    both = [verification(task, "first") for _ in range(2)]
    results = [each.run() for each in both]
    assert results[0].run.states == results[1].run.states
    assert both[0].search.frames == both[1].search.frames
    assert both[0].queries == both[1].queries


def test_certificate_is_accepted():
    task = counter(end=4, fail=6)
    found = verify(task, as_policy(ONE, task), method="ic3", certificate=True)
    assert found.certificate.size == found.boxes
    found.certificate.check()


def test_boxes_of_a_certificate_have_values_of_the_variables():
    d = Description("lamp")
    lit, x = d.bool("lit"), d.int("x", 0, 3)
    d.edge("a", guard=~lit, outcomes=[{x: 1}])
    d.start(~lit & (x == 0))
    d.fail(x == 3)
    one = verification(d.compile(), replace(ONE, num_inputs=2))
    assert one.values_of(((0, 1), (2, 3))) == [(False, True), (2, 3)]
    assert one.values_of(((1, 1), (0, 0)))[0] == (True, True)


# -- limits ------------------------------------------------------------------------------------


def test_out_of_time_is_unknown_and_keeps_what_is_blocked():
    task = load_task("domain:one-way-line?packages=6&locations=6")
    calls = []

    def progress(*numbers):
        calls.append(numbers)

    one = verification(task, "first", max_seconds=1e-6, progress=progress)
    found = one.run()
    assert (found.verdict, found.reason) == ("unknown", "ran out of seconds (1e-06)")
    assert found.boxes == len(one.blocked)


def test_out_of_memory_is_unknown(monkeypatch):
    peaks = itertools.chain([0], itertools.repeat(10**12))
    monkeypatch.setattr(method, "_peak_bytes", lambda: next(peaks))
    monkeypatch.setattr(method, "SECONDS_PER_REPORT", 0.0)
    found = verification(counter(), ONE, memory_mb=100).run()
    assert (found.verdict, found.reason) == ("unknown", "ran out of memory (100 MB)")


def test_progress_is_told_and_may_interrupt(monkeypatch):
    monkeypatch.setattr(method, "SECONDS_PER_REPORT", 0.0)
    calls = []
    verification(counter(end=4, fail=6), ONE, progress=lambda *n: calls.append(n)).run()
    boxes, queries, frames, size, seconds = calls[-1]
    assert boxes > 0 and queries > 0 and frames > 0 and size == 0 and seconds > 0
    assert [call[1] for call in calls] == sorted(call[1] for call in calls)

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verification(counter(), ONE, progress=interrupt).run()


# -- what it cannot do -------------------------------------------------------------------------


def real_task():
    d = Description("real")
    x = d.real("x", 0.0, 1.0, initial=0.0)
    d.edge("a", outcomes=[{x: 0.5}])
    d.fail(x > 2.0)
    return d.compile()


def wide_task():
    d = Description("wide")
    x = d.int("x", 0, 10**6, initial=0)
    d.edge("a", guard=x < 10, outcomes=[{x: x + 1}])
    d.fail(x > 20)
    return d.compile()


@pytest.mark.parametrize(
    ("make", "policy", "feature"),
    [
        (real_task, ONE, "real variables"),
        (wide_task, ONE, "variables with more than"),
        (counter, Network((Layer(np.zeros((1, 1)), np.zeros(1), "linear"),), "float64"), "network"),
        (counter, lambda state: "up", "policies"),
        (counter, leaves([1e308, 1e308]), "leaf values"),
    ],
)
def test_what_cannot_be_encoded_is_named(make, policy, feature):
    with pytest.raises(Unsupported) as caught:
        verification(make(), policy).run()
    assert caught.value.code == "engine-lacks-feature"
    assert "ic3" in caught.value.message and feature in caught.value.message


class Python:
    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["a"]

    def outcomes(self, state, action):
        return [state]

    def is_fail(self, state):
        return False

    is_goal = is_fail


def test_python_tasks_are_not_supported():
    task = PythonTask(Python(), names=["x"])
    with pytest.raises(Unsupported):
        verification(task, lambda state: "a").run()


def test_missing_library_comes_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    with pytest.raises(Unsupported) as caught:
        verification(counter(), ONE).run()
    assert caught.value.hint == 'pip install "surefoot[verify]"'


# -- constraints -------------------------------------------------------------------------------


def test_packages_of_a_line_add_up():
    for variant in ("det", "icy-park"):
        task = load_task(f"domain:one-way-line?packages=5&locations=4&variant={variant}")
        ((factors, lower, upper),) = find_constraints(task)
        assert list(factors) == [name for name in task.names if "load" in name]
        assert set(factors.values()) == {1} and (lower, upper) == (5, 5)


def moved(*, outcomes, start, guard=None):
    d = Description("moved")
    names = {name: d.int(name, 0, 9) for name in "xyz"}
    d.edge("a", guard=None if guard is None else guard(**names), outcomes=[outcomes(**names)])
    d.start(start(**names))
    return d.compile()


def test_sums_that_are_kept_and_pinned():
    def begin(x, y, z):
        return (x + y == 4) & (z <= 3)

    task = moved(outcomes=lambda x, y, z: {x: x + z, y: y - z}, start=begin)
    assert find_constraints(task) == [({"x": 1, "y": 1}, 4, 4)]
    task = moved(outcomes=lambda x, y, z: {x: x + 2, y: y - 1}, start=begin)
    assert find_constraints(task) == []  # x + 2 y is kept, but may be anything
    task = moved(
        outcomes=lambda x, y, z: {x: x + 2, y: y - 1},
        start=lambda x, y, z: (x == 1) & (y == 4),
    )
    assert find_constraints(task) == [({"x": 1, "y": 2}, 9, 9)]


def test_constants_of_guards_count():
    def begin(x, y, z):
        return x + y == 4

    changes = {"outcomes": lambda x, y, z: {x: 3, y: y + 1}, "start": begin}
    assert find_constraints(moved(**changes)) == []
    assert find_constraints(moved(**changes, guard=lambda x, y, z: (x == 4) & (z > 0))) == [
        ({"x": 1, "y": 1}, 4, 4)
    ]


def test_listed_starts_pin_what_they_have_in_common():
    d = Description("listed")
    x, y, z = (d.int(name, 0, 9, initial=0) for name in "xyz")
    d.edge("a", outcomes=[{x: x + 1, y: y - 1}])
    d.edge("b", outcomes=[{z: 9 - z}])
    d.start({"x": 1, "y": 3}, {"x": 4, "y": 0, "z": 1})
    assert find_constraints(d.compile()) == [({"x": 1, "y": 1}, 4, 4)]
    d.start({"x": 1, "y": 3}, {"x": 4, "y": 1})
    assert find_constraints(d.compile()) == []


# -- numbers -----------------------------------------------------------------------------------


class Numbers:
    """Integers in a circuit, and what follows when they have some values."""

    def __init__(self, ranges):
        self.circuit = Circuit(lambda: None)
        self.algebra = OrderAlgebra(self.circuit)
        self.ranges = ranges
        self.numbers = [Unary([self.circuit.new() for _ in range(a, b)], a) for a, b in ranges]
        for unary in self.numbers:
            for low, high in zip(unary.bits, unary.bits[1:], strict=False):
                self.circuit.add(low, -high)

    def check(self, expected):
        """Hold literals against functions of the values, for all values."""
        solver = Solver(self.circuit, lambda: None)
        for values in itertools.product(*(range(a, b + 1) for a, b in self.ranges)):
            fixed = []
            for unary, value in zip(self.numbers, values, strict=True):
                fixed += [unary.at_least(value), -unary.at_least(value + 1)]
            assert solver.solve(fixed)
            for literal, holds in expected:
                wanted = literal if holds(*values) else -literal
                assert solver.solve([*fixed, wanted]), values
                assert not solver.solve([*fixed, -wanted]), values


@pytest.mark.parametrize("seed", range(12))
def test_sums_are_compared_as_they_should(seed):
    rng = random.Random(seed)
    ranges = [(low, low + rng.randint(1, 3)) for low in rng.choices((-2, 0, 1), k=3)]
    made = Numbers(ranges)
    factors = [rng.choice((-2, -1, 1, 3)) for _ in ranges]
    total = Sum(list(zip(made.numbers, factors, strict=True)), rng.randint(-2, 2))

    def value(*values):
        return total.constant + sum(f * v for f, v in zip(factors, values, strict=True))

    expected = []
    for number in range(total.lower - 1, total.upper + 2):
        at_least, same = (
            lambda *v, n=number: value(*v) >= n,
            lambda *v, n=number: value(*v) == n,
        )
        expected.append((made.algebra.at_least(total, number), at_least))
        expected.append((made.algebra.is_number(total, number), same))
    cut = made.algebra.unary(total, total.lower + 2, total.upper - 2)
    for number in range(cut.lower + 1, cut.upper + 1):
        expected.append((cut.at_least(number), lambda *v, n=number: value(*v) >= n))
    made.check(expected)


def test_choices_and_cases():
    made = Numbers([(-1, 2), (0, 3)])
    algebra = made.algebra
    a, b = map(algebra.variable, made.numbers)
    results = {
        min: algebra.smaller(a, b),
        max: algebra.larger(a, b),
        lambda x, y: x * y: algebra.multiply(a, b),
        lambda x, y: x if x < y else y + 1: algebra.select(
            algebra.less(a, b), a, algebra.add(b, algebra.integer(1))
        ),
        lambda x, y: x % (y + 1): algebra.by_cases(
            "mod", (a, algebra.add(b, algebra.integer(1))), "int"
        )[0],
    }
    made.check(
        [
            (algebra.is_number(result, n), lambda x, y, f=f, n=n: f(x, y) == n)
            for f, result in results.items()
            for n in range(-4, 8)
        ]
    )


def test_bounds_of_blocked_boxes_are_handed_on():
    d = Description("count")
    x, y = d.int("x", 0, 9), d.int("y", 0, 9)
    d.edge("go", guard=x < 9, outcomes=[{x: x + 1}])
    d.start((x == 0) & (y == 0))
    d.fail((x >= 5) & (y >= 7))
    made = verification(d.compile(), "first")
    made.search = SimpleNamespace(
        blocked=[((5, 9), (7, 9)), ((4, 9), (7, 9))],
        frames=[0],
        system=SimpleNamespace(roundings=0),
    )
    found = made._result("unknown", why=Refusal("out-of-seconds", "ran out of seconds (1)"))
    assert found.bounds == (("y", 7), ("x", 4), ("x", 5))
