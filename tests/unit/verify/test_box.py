"""Verification with boxes, on tasks that are small enough to see what it has to do."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import textwrap

import pytest
from tests.support.hand_trees import driver, hand_trees
from tests.support.tree_policies import assert_is_failing_run, steps_of

from surefoot import Description, InputError, Unsupported, load_policy, load_task
from surefoot.verify import verify
from surefoot.verify.box import START_ERROR

BIG = float(2**24)  # the first float32 to which 1 cannot be added
PATIENCE = 30


def check(task, policy, **more):
    """Return the result; its certificate is accepted, its run is one of the policy and fails."""
    found = verify(task, policy, method="box", certificate=True, **{"max_seconds": 20, **more})
    assert (found.method, found.all_starts) == ("box", True)
    if found.verdict == "safe":
        assert (found.run, found.failing_starts, found.reason) == (None, None, None)
        assert found.boxes == found.certificate.size > 0
        found.certificate.check()
    elif found.verdict == "unsafe":
        assert_is_failing_run(task, policy, found.run)
    return found


def alone(task):
    """Return a policy that likes the first action best, and so on."""
    names = [name for name in task.actions if name not in task.silent]
    return hand_trees(task, [(name, float(-place)) for place, name in enumerate(names)])


def error_of(task, policy=None):
    with pytest.raises(InputError) as error:
        verify(task, policy or alone(task), method="box", max_seconds=20)
    return error.value.code


# -- what it has to do ---------------------------------------------------------------------------


def pouring(start):
    """Return a task in which nothing but the sum keeps the update of y within its range."""
    d = Description("pouring")
    x, y = d.int("x", 0, 1000), d.int("y", 0, 1000)
    d.edge("pour", guard=x > 0, outcomes=[{x: x - 1, y: y + 1}])
    d.start(start(x, y))
    d.fail(x + y != 1000)
    return d.compile()


def test_sums_that_no_step_changes():
    task = pouring(lambda x, y: x + y == 1000)
    found = check(task, alone(task))
    assert found.verdict == "safe"
    assert found.boxes < 5
    head = json.loads(found.certificate.path.read_text().splitlines()[0])
    assert head["constraints"] == [{"factors": {"x": 1, "y": 1}, "lower": 1000, "upper": 1000}]


def test_sums_that_differ_at_the_start():
    task = pouring(lambda x, y: x + y >= 1000)
    assert check(task, alone(task)).verdict == "unsafe"


def test_a_sum_that_one_outcome_changes_is_no_constraint():
    d = Description("leaking")
    x, y = d.int("x", 0, 200), d.int("y", 0, 200)
    pours = [{x: x - 1, y: y + 1}, {x: x - 1}]
    d.edge("pour", guard=(x > 0) & (y < 200), outcomes=pours)
    d.start(x + y == 200)
    d.fail(x + y <= 50)
    task = d.compile()
    assert check(task, alone(task)).verdict == "unsafe"


def test_a_sum_that_needs_an_earlier_group_is_no_constraint():
    """The guard says k = 0, but x is changed by the k that the first group leaves behind."""
    from surefoot.tasks.description import Assignment, Outcome
    from surefoot.tasks.expressions import as_expr

    d = Description("groups")
    x, y, k = d.int("x", 0, 200), d.int("y", 0, 200), d.int("k", 0, 9)
    late, early = Assignment(x, x + k, index=1), Assignment(k, as_expr(5), index=0)
    d.edge("go", guard=(k == 0) & (x < 190), outcomes=[Outcome((late, early), ())])
    d.start((x + y == 100) & (k == 0))
    d.fail(x + y == 105)
    task = d.compile()
    assert check(task, alone(task)).verdict == "unsafe"


def road(brake):
    """Return a task in which a car must stop before 200, and a policy that brakes from there on."""
    d = Description("road")
    x, v = d.int("x", 0, 200), d.int("v", 0, 3)
    for name, change in (("faster", 1), ("slower", -1), ("on", 0)):
        limit = (v + change >= 0) & (v + change <= 3)
        d.edge(name, guard=limit & (x + v <= 200), outcomes=[{x: x + v, v: v + change}])
    d.start((x == 0) & (v == 0))
    d.fail(x + v > 200)
    task = d.compile()
    wishes = [("faster", ("x", brake, 3.0, 0.0)), ("slower", 2.0), ("on", 1.0)]
    return task, hand_trees(task, wishes)


@pytest.mark.parametrize(("brake", "verdict"), [(100.0, "safe"), (199.0, "unsafe")])
def test_conditions_over_two_variables(brake, verdict):
    task, policy = road(brake)
    assert check(task, policy).verdict == verdict
    assert verify(task, policy, method="explicit").verdict == verdict


def swapping(fail):
    """Return a task whose states are (10, 10) and (190, 190), and whose hull is much more."""
    d = Description("swapping")
    x, y, k = d.int("x", 0, 200), d.int("y", 0, 200), d.int("k", 0, 1)
    d.edge("go", guard=k == 0, outcomes=[{k: 1, x: 10, y: 10}, {k: 1, x: 190, y: 190}])
    d.edge("swap", guard=k == 1, outcomes=[{x: y, y: x}])
    d.start((x == 0) & (y == 0) & (k == 0))
    d.fail((k == 1) & (x * y == fail))
    return d.compile()


def test_hulls_that_join_too_much_are_cut_apart():
    task = swapping(1900)
    found = check(task, alone(task))
    assert found.verdict == "safe"
    assert found.refinements > 0


def test_what_is_real_stays_when_hulls_are_cut_apart():
    task = swapping(190 * 190)
    found = check(task, alone(task))
    assert (found.verdict, found.run.steps) == ("unsafe", 1)


def test_an_update_that_no_box_bounds_well():
    """From 1 on, 2x modulo 50 is never 0; the image of a box is all from 0 to 49."""
    d = Description("doubling")
    x = d.int("x", 0, 66)
    d.edge("double", outcomes=[{x: (x + x) % 50}])
    d.start((x >= 1) & (x <= 3))
    d.fail(x == 0)
    task = d.compile()
    assert check(task, alone(task)).verdict == "safe"


def test_lines_with_more_states_than_atoms():
    for line in ("packages=60&locations=10&variant=icy-park", "packages=60&locations=25"):
        task = load_task(f"domain:one-way-line?{line}")
        found = check(task, driver(task))
        assert found.verdict == "safe"
        assert found.boxes < 100


def test_a_thousand_variables():
    d = Description("many")
    first, *others = [d.int(f"x{i}", 0, 99) for i in range(1000)]
    d.edge("go", guard=first < 50, outcomes=[{first: first + 1}])
    d.start(first == 0)
    d.fail(first > 50)
    d.goal((others[0] > 5) & (others[1] > others[2]))
    task = d.compile()
    assert check(task, alone(task)).verdict == "safe"


# -- starts that fail ----------------------------------------------------------------------------


def test_all_starts_in_the_box_of_failing_ones_fail():
    d = Description("corner")
    x, y = d.int("x", 0, 200), d.int("y", 0, 200)
    d.edge("right", guard=x < 200, outcomes=[{x: x + 1}])
    d.edge("up", guard=y < 200, outcomes=[{y: y + 1}])
    d.start((x <= 50) & (y <= 50) & (x + y >= 20))
    d.fail((x == 200) & (y == 20))
    task = d.compile()
    policy = hand_trees(task, [("right", ("y", 20.0, 0.0, 2.0)), ("up", 1.0)])
    found = check(task, policy)
    assert found.verdict == "unsafe"
    (left, right), (low, high) = found.failing_starts
    rng, looked_at = random.Random(0), 0
    for _ in range(200):
        state = task.state({"x": rng.randint(left, right), "y": rng.randint(low, high)})
        if task.is_start(state):
            while (after := steps_of(task, policy, state)) and not task.is_fail(state):
                state = after[0]
            assert task.is_fail(state)
            looked_at += 1
    assert looked_at > 20


# -- rounding ------------------------------------------------------------------------------------


def fork(bad, *, last):
    """Return a task of one decision, in states 0 to ``last``, one of whose actions fails."""
    d = Description("fork")
    x, k = d.int("x", 0, 200), d.int("k", 0, 2)
    for name in ("left", "right"):
        d.edge(name, guard=k == 0, outcomes=[{k: 2 if name == bad else 1}])
    d.start((k == 0) & (x <= last))
    d.fail(k == 2)
    return d.compile()


NEAR = [("left", BIG), *[("right", 1.0), ("left", 1.0)] * 2, ("right", BIG)]
FLAGGED = {
    "order of the sum": (NEAR, "float32", {}),
    "divided": (NEAR, "float32", {"divide_by": 3.0}),
    "divided by little": (NEAR, "float32", {"divide_by": 1e-9}),
    "doubles": ([("left", 1.0), ("right", 1.0), ("right", 1e-17)], "float64", {}),
    "leaves that differ widely": ([("left", 1.0), ("right", 1.0), ("right", 1e-40)], "float64", {}),
}


@pytest.mark.parametrize("last", [100, 0], ids=["box", "state"])
@pytest.mark.parametrize("bad", ["left", "right"])
@pytest.mark.parametrize("name", FLAGGED)
def test_rounding_decides_and_is_flagged(name, bad, last):
    """Exact sums are equal, or favour the other one: the policy's own sums count."""
    trees, precision, more = FLAGGED[name]
    task = fork(bad, last=last)
    policy = hand_trees(task, trees, precision=precision, **more)
    chosen = policy.decide({"x": 0, "k": 0})
    assert chosen == ("right" if trees is NEAR else "left")
    found = check(task, policy)
    assert found.verdict == ("unsafe" if chosen == bad else "safe")
    assert found.rounding > 0


@pytest.mark.parametrize("last", [100, 0], ids=["box", "state"])
def test_exact_sums_are_not_flagged(last):
    for trees in (NEAR, [("left", 1.0), ("right", 1.0)], [("left", 0.1), ("right", 0.3)]):
        task = fork("right", last=last)
        found = check(task, hand_trees(task, trees))
        assert (found.verdict == "safe") == (trees[-1][1] != 0.3)
        assert found.rounding == 0


# -- budgets -------------------------------------------------------------------------------------


def slow():
    """Return a task that takes a million steps to fail."""
    d = Description("slow")
    x = d.int("x", 0, 10**6)
    d.edge("go", guard=x < 10**6, outcomes=[{x: x + 1}])
    d.start(x == 0)
    d.fail(x == 10**6)
    return d.compile()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_seconds": 0}, "ran out of seconds (0)"),
        ({"max_seconds": 0.2}, "ran out of seconds (0.2)"),
        ({"memory_mb": 0}, "ran out of memory (0 MB)"),
        ({"max_steps": 1}, "only runs of at most 1 steps were examined"),
        ({"max_steps": 300}, "only runs of at most 300 steps were examined"),
    ],
    ids=str,
)
def test_limits_give_unknown(limits, reason):
    task = slow()
    found = check(task, alone(task), **limits)
    assert (found.verdict, found.reason, found.certificate) == ("unknown", reason, None)


def test_a_failing_run_within_the_steps_is_found():
    task, policy = road(199.0)
    steps = check(task, policy).run.steps
    assert check(task, policy, max_steps=steps).verdict == "unsafe"
    assert check(task, policy, max_steps=steps - 1).verdict != "safe"


def test_steps_that_suffice_prove_it():
    task = swapping(1900)
    assert check(task, alone(task), max_steps=50).verdict == "safe"


def test_progress_and_interruption():
    task, seen = slow(), []
    verify(task, alone(task), method="box", max_seconds=0.5, progress=lambda *n: seen.append(n))
    assert seen and all(len(numbers) == 5 for numbers in seen)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(task, alone(task), method="box", progress=stop)


HOPELESS = {
    "as many classes as there are Booleans": """
        flags = [d.bool(f"b{i}") for i in range(40)]
        for i, flag in enumerate(flags):
            d.edge(f"set{i}", guard=~flag, outcomes=[{flag: True}])
        d.start(flags[0])
        d.fail(~flags[0])
    """,
    "a condition over many variables": """
        first, *others = [d.int(f"x{i}", 0, 9) for i in range(12)]
        d.edge("go", guard=sum(others, first) < 50, outcomes=[{first: minimum(first + 1, 9)}])
        d.start(first == 9)
        d.fail(first < 3)
    """,
    "bounds of 63 bits": """
        x, y = d.int("x", -(2**62), 2**62), d.int("y", -(2**62), 2**62)
        d.edge("go", guard=x != y, outcomes=[{y: x}])
        d.start((y == 0) & (x > 5))
        d.fail(y < 0)
    """,
}


@pytest.mark.parametrize("name", HOPELESS)
def test_the_limit_on_seconds_is_kept(name):
    """In a process of its own, so that this ends if it is not."""
    before = """
        from surefoot import Description, minimum, verify
        from tests.unit.verify.test_box import alone
        d = Description("hopeless")
    """
    after = """
        task = d.compile()
        print(verify(task, alone(task), method="box", max_seconds=2).verdict)
    """
    code = "".join(map(textwrap.dedent, (before, HOPELESS[name], after)))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stdout.strip() in ("safe", "unknown")


# -- reals ---------------------------------------------------------------------------------------


def motion(new, *, fail, upper=10.0):
    d = Description("motion")
    x = d.real("x", -upper, upper)
    d.edge("go", guard=x <= 5.0, outcomes=[{x: new(x)}])
    d.start((x >= 1.0) & (x <= 2.0))
    d.fail(fail(x))
    return d.compile()


def test_reals_that_close():
    task = motion(lambda x: x / 2, fail=lambda x: x > 2.5)
    found = check(task, alone(task))
    assert (found.verdict, found.boxes) == ("safe", 1)


def test_reals_that_fail():
    task = motion(lambda x: x * 2, fail=lambda x: x > 8.5)
    assert check(task, alone(task)).verdict in ("unsafe", "unknown")
    task = motion(lambda x: x - 0.5, fail=lambda x: x < -8.0)
    assert check(task, alone(task), max_seconds=5).verdict in ("unsafe", "unknown")


def test_reals_that_leave_their_range():
    task = motion(lambda x: x * 3, fail=lambda x: x < 0.0)
    with pytest.raises(InputError) as error:
        verify(task, alone(task), method="explicit")
    assert error.value.code == "model-out-of-range"
    try:
        assert check(task, alone(task), max_seconds=2).verdict == "unknown"
    except InputError as found:
        assert found.code == "model-out-of-range"


def test_starts_within_an_absolute_value():
    d = Description("near")
    x, y = d.real("x", -10.0, 10.0), d.real("y", -10.0, 10.0)
    d.edge("half", outcomes=[{x: x / 2, y: y / 2}])
    d.start((abs(x) <= 1.0) & (abs(y) <= 0.5))
    d.fail(abs(x) >= 2.0)
    task = d.compile()
    assert check(task, alone(task)).verdict == "safe"


def fails_somewhere(task, policy, *, steps):
    rng = random.Random(0)
    for state in task.sample_starts(100):
        for _ in range(steps):
            if task.is_fail(state):
                return True
            after = steps_of(task, policy, state)
            if not after:
                break
            state = rng.choice(after)
    return False


@pytest.mark.parametrize("kind", ["trees", "network"])
@pytest.mark.parametrize("name", ["bouncing-ball", "inverted-pendulum"])
def test_domains_of_reals(name, kind):
    """Nobody says that they are safe if a run fails; the reason says how far it went."""
    task = load_task(f"domain:{name}")
    policy = load_policy(f"builtin:{name}-{kind}", task)
    fails = fails_somewhere(task, policy, steps=60)
    for more in ({"max_steps": 2}, {}):
        found = check(task, policy, max_seconds=2, **more)
        assert found.verdict != "safe" or not fails
        if found.verdict == "unknown":
            assert found.reason
    found = check(task, policy, max_steps=1)
    assert found.verdict != "unknown" or found.reason.startswith(
        ("only runs of at most 1 step", "boxes over real numbers are not precise enough")
    )


# -- what is easily forgotten --------------------------------------------------------------------


def test_an_action_without_possible_outcome_is_not_applicable():
    """The policy would rather wait, but cannot where the chance of that is 0; then it goes."""
    from surefoot.tasks.description import Assignment, Outcome
    from surefoot.tasks.expressions import as_expr, ite

    d = Description("chance")
    x, k = d.int("x", 0, 200), d.int("k", 0, 1)
    d.edge("wait", outcomes=[Outcome((), (ite(x <= 150, 1.0, 0.0),))])
    d.edge("go", outcomes=[Outcome((Assignment(k, as_expr(1)),), ())])
    d.start((k == 0) & (x >= 100))
    d.fail((k == 1) & (x >= 160))
    task = d.compile()
    assert verify(task, alone(task), method="explicit").verdict == "unsafe"
    assert check(task, alone(task)).verdict == "unsafe"


def test_errors_in_the_chances_of_other_actions():
    """Which actions are applicable is asked of all of them."""
    from surefoot.tasks.description import Outcome

    d = Description("chance")
    x = d.int("x", 0, 200)
    d.edge("stay", outcomes=[{}])
    d.edge("other", outcomes=[Outcome((), (1 / (x - 50),))])
    d.start(x <= 100)
    d.fail(x > 150)
    task = d.compile()
    with pytest.raises(InputError):
        verify(task, alone(task), method="explicit")
    assert error_of(task).startswith("model-")


def test_sums_that_overflow_on_the_way():
    d = Description("overflow")
    x = d.int("x", 0, 500)
    most = 2**63 - 1
    d.edge("go", guard=x < 400, outcomes=[{x: (x + most) - most}])
    d.start(x >= 1)
    d.fail(x > 450)
    assert error_of(d.compile()) == "model-overflow"


def test_errors_in_the_start_condition():
    d = Description("start")
    x, y = d.int("x", 0, 5), d.int("y", 0, 5)
    d.edge("stay", outcomes=[{}])
    d.start((y - x) % (x - 3) != 7)
    d.fail(x > 7)
    task = d.compile()
    found = verify(task, alone(task), method="box")
    assert (found.verdict, found.reason) == ("unknown", START_ERROR)
    with pytest.raises(InputError, match="zero"):
        verify(task, alone(task))


@pytest.mark.parametrize("most", [3, 10**6])
def test_without_start_state(most):
    d = Description("nowhere")
    x, y = d.int("x", 0, most), d.int("y", 0, most)
    d.edge("stay", outcomes=[{}])
    d.start((x % 7 == 3) & (x % 7 == 5) & (y % 2 == 0))
    d.fail(x > y)
    task = d.compile()
    try:
        found = verify(task, alone(task), method="box", max_seconds=5)
    except InputError as error:
        assert error.code == "no-start-state"
    else:
        assert most > 3 and found.verdict != "safe"


def test_updates_out_of_range():
    d = Description("leaves")
    x = d.int("x", 0, 200)
    d.edge("up", outcomes=[{x: x + 1}])
    d.start(x <= 100)
    assert error_of(d.compile()) == "model-out-of-range"


def test_an_error_that_nobody_comes_to():
    d = Description("apart")
    x, y = d.int("x", 0, 200), d.int("y", 0, 9)
    d.edge("up", guard=x < 90, outcomes=[{x: x + 1}])
    d.edge("divide", guard=x == 100, outcomes=[{y: 5 % (x - 100)}])
    d.start(x <= 50)
    d.fail(x == 95)
    task = d.compile()
    assert check(task, alone(task)).verdict == "safe"


def no_fail(d, x):
    d.start(x <= 3)


def no_guard(d, x):
    d.edge("go", outcomes=[{}])
    d.start(x == 0)
    d.fail(x > 91)


def no_start_condition(d, x):
    d.fail(x == 200)


def fail_at_start(d, x):
    d.start(x <= 3)
    d.fail(x == 2)


def goal_that_fails(d, x):
    d.start(x <= 3)
    d.fail(x == 50)
    d.goal(x == 50)


def goal_before_fail(d, x):
    d.start(x <= 3)
    d.fail(x >= 52)
    d.goal((x >= 50) & (x <= 51))


def dead_end(d, x):
    d.start(x >= 95)
    d.fail(x <= 94)


def listed_starts(d, x):
    d.start({"x": 80}, {"x": 150})
    d.fail(x == 91)


def listed_starts_that_rest(d, x):
    d.start({"x": 92}, {"x": 150})
    d.fail(x == 91)


def one_value(d, x):
    one = d.int("one", 7, 7)
    d.start(x < one)
    d.fail(x + one > 98)


def negative_values(d, x):
    n = d.int("n", -500, -100)
    d.edge("go", guard=(x >= 90) & (n > -500), outcomes=[{n: n - 1}])
    d.start((x == 0) & (n == -100))
    d.fail(n == -490)


def flags(d, x):
    first, second = d.bool("first"), d.bool("second")
    d.edge("go", guard=(x >= 90) & ~first, outcomes=[{first: True, second: first}])
    d.start((x == 0) & ~first & second)
    d.fail(first & second)


SIMPLE = {
    no_fail: "safe",
    no_guard: "safe",
    no_start_condition: "unsafe",
    fail_at_start: "unsafe",
    goal_that_fails: "unsafe",
    goal_before_fail: "safe",
    dead_end: "safe",
    listed_starts: "unsafe",
    listed_starts_that_rest: "safe",
    one_value: "safe",
    negative_values: "unsafe",
    flags: "safe",
}


@pytest.mark.parametrize("more", SIMPLE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("silent", [False, True])
def test_simple_tasks(more, silent):
    """One variable counts to 90 or 91, by steps of a policy or silently."""
    d = Description("simple", silent=["tick"] if silent else ())
    x = d.int("x", 0, 200)
    d.action("go")
    d.edge("tick" if silent else "go", guard=x < 90, outcomes=[{x: x + 1}, {x: x + 2}])
    more(d, x)
    task = d.compile()
    found = check(task, alone(task))
    assert found.verdict == SIMPLE[more] == verify(task, alone(task), method="explicit").verdict


def test_tasks_and_policies_that_boxes_cannot_read():
    task = slow()
    for policy in ("first", lambda state: "go"):
        with pytest.raises(Unsupported) as error:
            verify(task, policy, method="box")
        assert error.value.code == "verify-policy-kind"
