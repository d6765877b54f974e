"""propagate_unsafe_bdd: what the diagrams say is what the core says, and brute force agrees."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import operator
import random
import sys
import time

import pytest
from tests.support.explicit_tasks import random_task
from tests.support.instances import INSTANCES, needs_data
from tests.support.random_models import random_model

from surefoot import _core, domain, load_task
from surefoot.errors import InputError, SurefootError, Unsupported
from surefoot.oracles import propagate_unsafe_bdd as bdd
from surefoot.oracles.bdd_encoding import SILENT, TaskDiagrams
from surefoot.oracles.bdd_evidence import FORCED
from surefoot.oracles.bdd_propagation import Propagation
from surefoot.oracles.propagate_unsafe_bdd import PropagateUnsafeBdd
from surefoot.reference import unsafe_ranks
from surefoot.tasks.compiled_task import split_states
from surefoot.tasks.description import Assignment, Description, Outcome
from surefoot.tasks.expressions import (
    Expr,
    as_expr,
    floor,
    implies,
    ite,
    log,
    make,
    maximum,
    minimum,
    sign,
    truncate,
)
from surefoot.tasks.python_task import PythonTask

pytest.importorskip("oxidd")

LIMITS = {"max_seconds": 60.0, "max_bytes": 1 << 25, "max_states": 10**8, "progress": None}
OPEN, FAIL = 0, 1


# -- brute force -----------------------------------------------------------------------------------


def decisions(task, state):
    """Return the outcomes of what can be decided in a state, None where that is an error; nothing
    for a terminal state. Raises ModelError if not even that can be said.
    """
    if task.core.kind(state) != OPEN:
        return {}
    visible = len(task.description.actions)
    applicable = task.core.applicable(state)
    groups = {action: [action] for action in applicable if action < visible}
    groups = groups or ({FORCED: applicable} if applicable else {})
    found = {}
    for decision, actions in groups.items():
        try:
            found[decision] = {o for action in actions for o in task.core.outcomes(state, action)}
        except _core.ModelError:
            found[decision] = None
    return found


def reachable(task, state, limit):
    """Return the decisions of every reachable state, None where that is an error; None beyond the
    limit.
    """
    table, stack = {}, [state]
    while stack:
        here = stack.pop()
        if here in table:
            continue
        try:
            table[here] = decisions(task, here)
        except _core.ModelError:
            table[here] = None
            continue
        stack += [o for outcomes in table[here].values() for o in outcomes or ()]
        if len(table) > limit:
            return None
    return table


def least_unsafe(task, table, *, error_is_unsafe):
    """Return the states without safe policy, with errors counted as unsafe or as safe."""
    found = {s for s, d in table.items() if d is not None and task.core.kind(s) == FAIL}
    found |= {s for s, d in table.items() if d is None and error_is_unsafe}

    def is_lost(outcomes):
        return error_is_unsafe if outcomes is None else bool(outcomes & found)

    size = -1
    while len(found) > size:
        size = len(found)
        found |= {s for s, d in table.items() if d and all(map(is_lost, d.values()))}
    return found


def expected(task, table, state):
    if state in least_unsafe(task, table, error_is_unsafe=False):
        return "unsafe"
    return "error" if state in least_unsafe(task, table, error_is_unsafe=True) else "safe"


def verdict(oracle, state):
    try:
        return oracle.decide(state, **LIMITS).verdict
    except InputError as error:
        assert error.code.startswith("model-"), error
        return "error"


def check_certificate(task, state, made, claim):
    """Check the certificate on the task, by the definition."""
    states = split_states(made.states, task.core.words)
    assert made.claim == claim
    assert states[0] == state
    assert len(set(states)) == len(states)
    assert not made.entries_left and not made.decisions
    entries = {
        states[i]: value for i, value in zip(made.entry_states, made.entry_values, strict=True)
    }
    assert len(entries) == len(made.entry_states)
    for here, value in entries.items():
        found = decisions(task, here)
        if claim == "safe":
            assert all(is_covered(task, entries, o) for o in found[value])
        elif task.core.kind(here) != FAIL:
            assert found
            for outcomes in found.values():
                assert min(entries.get(o, value) for o in outcomes) < value
    assert state in entries if claim == "unsafe" else is_covered(task, entries, state)


def is_covered(task, entries, state):
    return state in entries or (task.core.kind(state) != FAIL and not decisions(task, state))


def check_verdict(task, oracle, state, limit=400):
    """Compare the verdict with brute force if that is small enough; return the verdict."""
    answer = verdict(oracle, state)
    assert answer != "unknown"
    table = reachable(task, state, limit)
    if table is not None:
        assert answer == expected(task, table, state), task.unpack(state)
    if answer in ("safe", "unsafe"):
        check_certificate(task, state, oracle.certificate(state), answer)
    return answer


# -- the encoding against the core -----------------------------------------------------------------


def encoded(task):
    from oxidd.bcdd import BCDDManager

    diagrams = TaskDiagrams(task.description, BCDDManager(1 << 20, 1 << 14, 1), lambda: None)
    while not diagrams.is_complete:
        diagrams.step()
    return diagrams


def check_encoding(task, diagrams, state):
    """Compare everything the diagrams say about a state with the core."""
    bits = diagrams.assignment(task.core.unpack(state))
    try:
        kind = task.core.kind(state)
        applicable = task.core.applicable(state) if kind == OPEN else []
    except _core.ModelError:
        kind, applicable = "error", []
    assert diagrams.errors.eval(bits) == (kind == "error"), task.unpack(state)
    assert diagrams.fail.eval(bits) == (kind == FAIL)
    assert diagrams.open.eval(bits) == (kind == OPEN)
    if kind != OPEN:
        return
    groups = {}
    for action in applicable:
        groups.setdefault(action if action < len(task.description.actions) else SILENT, [])
        groups[action if action < len(task.description.actions) else SILENT].append(action)
    assert {a for a, where in diagrams.applicable.items() if where.eval(bits)} == set(groups)
    for action, members in groups.items():
        check_outcomes(task, diagrams, state, action, members)


def check_outcomes(task, diagrams, state, action, members):
    bits = diagrams.assignment(task.core.unpack(state))
    try:
        outcomes = {o for each in members for o in task.core.outcomes(state, each)}
    except _core.ModelError:
        assert diagrams.faulty[action].eval(bits), (task.unpack(state), action)
        return
    assert not diagrams.faulty[action].eval(bits), (task.unpack(state), action)
    found = set()
    for changes, regression in diagrams.regressions.items():
        if action in regression.conditions and regression.conditions[action].eval(bits):
            changed = {bit: function.eval(bits) for bit, function in changes}
            found.add(tuple(sorted({**dict(bits), **changed}.items())))
    wanted = {tuple(sorted(diagrams.assignment(task.core.unpack(o)))) for o in outcomes}
    assert found == wanted, (task.unpack(state), action)


def random_packed(task, rng):
    values = {
        v.name: rng.random() < 0.5 if v.type == "bool" else rng.randint(v.lower, v.upper)
        for v in task.variables
    }
    return task.state(values).packed


@pytest.fixture
def random_tasks(tmp_path):
    """Yield random tasks of integers and Booleans, without end."""

    def tasks(seed):
        path = tmp_path / "model.jani"
        while True:
            path.write_text(json.dumps(random_model(seed)), encoding="utf-8")
            seed += 1
            try:
                task = load_task(path)
            except SurefootError:
                continue
            if not any(v.type == "real" for v in task.variables):
                yield seed - 1, task

    return tasks


def test_random_models(random_tasks):
    seen = set()
    for _, (seed, task) in zip(range(100), random_tasks(100), strict=False):
        rng, oracle = random.Random(seed), PropagateUnsafeBdd(task)
        diagrams = encoded(task)
        for _ in range(5):
            state = random_packed(task, rng)
            try:
                check_encoding(task, diagrams, state)
                seen.add(check_verdict(task, oracle, state))
            except Exception as error:
                raise AssertionError(f"random_model({seed})") from error
    assert seen == {"safe", "unsafe", "error"}


def description_of(explicit):
    """Return a task written out as tables with one integer variable and edges."""
    d = Description("explicit")
    x = d.int("x", 0, len(explicit.table) - 1)
    d.silent = [f"silent{i}" for i in range(len(explicit.silent_table[0]))]
    for state, rows in enumerate(zip(explicit.table, explicit.silent_table, strict=True)):
        for names, row in zip((explicit.names, d.silent), rows, strict=True):
            for name, outcomes in zip(names, row, strict=True):
                if outcomes:
                    d.edge(name, guard=x == state, outcomes=[{x: o} for o in outcomes])
    d.fail(functools.reduce(operator.or_, (x == s for s in explicit.fail), as_expr(False)))
    d.goal(functools.reduce(operator.or_, (x == s for s in explicit.goal), as_expr(False)))
    return d


def test_random_explicit_tasks():
    rng = random.Random(0)
    for _ in range(150):
        explicit = random_task(rng)
        task = description_of(explicit).compile()
        oracle, ranks = PropagateUnsafeBdd(task), unsafe_ranks(explicit)
        for number in explicit.states:
            state = task.state(x=number).packed
            wanted = "unsafe" if number in ranks else "safe"
            assert verdict(oracle, state) == wanted, (explicit, number)
            check_certificate(task, state, oracle.certificate(state), wanted)


# -- expressions and assignments -------------------------------------------------------------------

LARGE = 2**62
EXPRESSIONS = {
    "sum": lambda x, y, b: x + y - 1,
    "product": lambda x, y, b: x * y,
    "product with a constant": lambda x, y, b: -3 * x,
    "overflow of a product": lambda x, y, b: x * LARGE * y % 5,
    "overflow of a sum": lambda x, y, b: ite(x + (LARGE * 2 - 2) + 0 * y > 0, x, y),
    "overflow of a negation": lambda x, y, b: ite(-(x * 4 * (LARGE // 2)) > 0, 1, 0),
    "overflow of abs": lambda x, y, b: ite(abs(x * (LARGE // 2) * 2) > y, 1, 0),
    "modulo": lambda x, y, b: x % y,
    "power": lambda x, y, b: x**y,
    "quotient": lambda x, y, b: floor(x / y),
    "real sum": lambda x, y, b: truncate(x * 0.5 + y),
    "logarithm": lambda x, y, b: floor(log(x, y)),
    "min and max": lambda x, y, b: minimum(x, 2) - maximum(y, x),
    "real min": lambda x, y, b: floor(minimum(x, 0.5)),
    "abs and sign": lambda x, y, b: abs(x) * sign(y) + abs(-2),
    "real abs and sign": lambda x, y, b: sign(x * 0.5) + make("ceil", abs(x / 2)),
    "ite over reals": lambda x, y, b: floor(ite(b, x, y / 2)),
    "ite is lazy": lambda x, y, b: ite(y == 0, 7, x % y),
    "and is lazy": lambda x, y, b: ite((y != 0) & (x % y == 0), 1, 0),
    "or is lazy": lambda x, y, b: ite((y == 0) | (x % y == 0), 1, 0),
    "implies is lazy": lambda x, y, b: ite(implies(y != 0, x % y == 0), 1, 0),
    "and is not lazy on the left": lambda x, y, b: ite((x % y == 0) & b, 1, 0),
    "guarded": lambda x, y, b: make("guarded", x % y, 4),
    "raise": lambda x, y, b: ite(b, x, Expr("raise", (), "int", "overflow")),
    "comparisons": lambda x, y, b: ite((x < y) == (y >= x), ite(x <= 1, 1, 2), ite(x > y, 3, 4)),
    "Booleans": lambda x, y, b: ite((b != (x == y)) & ~b, 1, 0),
    "int meets real": lambda x, y, b: ite((x == 1.0) | (y < 0.5), 1, 0),
}


def all_states(task):
    ranges = [range(int(v.lower), int(v.upper) + 1) for v in task.variables]
    for values in itertools.product(*ranges):
        yield task.state(dict(zip(task.names, values, strict=True))).packed


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expressions(name):
    d = Description("expression")
    x, y, b, z = d.int("x", -3, 3), d.int("y", -2, 4), d.bool("b"), d.int("z", -5, 6)
    d.edge("go", guard=z == 0, outcomes=[{z: EXPRESSIONS[name](x, y, b)}])
    d.fail(z == 6)
    task = d.compile()
    diagrams = encoded(task)
    for state in all_states(task):
        check_encoding(task, diagrams, state)


def choose(target, lower, upper, index=0):
    return Assignment(target, lower=as_expr(lower), upper=as_expr(upper), index=index)


def assign(target, value, index=0):
    return Assignment(target, as_expr(value), index=index)


def steps_with_arrays(d):
    a = d.array("a", "int", 3, 0, 3)
    i = d.int("i", -1, 3)
    t = d.int("t", 0, 4, initial=2, is_scratch=True)
    r = d.real("r", 0.0, 1.0, initial=0.5, is_scratch=True)
    q = d.array("q", "real", 2, 0.0, 1.5, initial=[0.5, 0.25], is_scratch=True)
    return {
        "read": [assign(i, a[i])],
        "write": [assign(a[i], i)],
        "write twice": [assign(a[i], 2), assign(a[a[0]], i)],
        "groups": [assign(i, a[0]), assign(a[i], a[i] + 1, index=1)],
        "groups out of order": [assign(i, a[0], index=8), assign(a[0], i, index=1)],
        "scratch": [assign(t, i + 1), assign(i, t, index=1), assign(i, i - t, index=2)],
        "real scratch": [assign(r, i / 2), assign(i, ite(r > 0.25, 1, 0), index=1)],
        "real scratch cells": [assign(q[i], i), assign(i, ite(q[1] > q[0], 1, 0), index=1)],
        "interval": [choose(i, a[0] - 1, a[1])],
        "interval of a cell": [choose(a[i], i, i + 1)],
        "interval and value": [choose(a[0], a[1], a[2]), assign(a[i], 1)],
        "two intervals": [choose(a[0], 1, a[2]), choose(a[i], a[1], 2)],
        "interval, then a group": [choose(i, 0, 2), assign(a[i], a[2], index=1)],
        "interval, then an error": [choose(i, a[0], a[1]), assign(a[i], 0, index=1)],
        "index never right": [choose(a[i + 10], 0, 1)],
    }


@pytest.mark.parametrize("name", steps_with_arrays(Description()))
def test_assignments(name):
    d = Description("assignments")
    d.edge("go", outcomes=[Outcome(tuple(steps_with_arrays(d)[name]))])
    task = d.compile()
    diagrams = encoded(task)
    for state in all_states(task):
        check_encoding(task, diagrams, state)


def test_probabilities():
    d = Description("probabilities")
    x, y = d.int("x", -1, 2), d.int("y", 0, 2)
    may_stay = Outcome((), (as_expr(x), y / 2))
    may_leave = Outcome((assign(x, x - 1),), (x + 1, as_expr(2) - y))
    d.edge("go", guard=y < 2, outcomes=[may_stay, Outcome((assign(x, 0),), (y * 0.5,))])
    d.edge("leave", outcomes=[may_leave, {}])
    task = d.compile()
    diagrams = encoded(task)
    for state in all_states(task):
        check_encoding(task, diagrams, state)


# -- verdicts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["one-way-line", "two-way-line"])
@pytest.mark.parametrize("variant", ["det", "icy", "icy-park"])
def test_lines(family, variant):
    task = domain(family, packages=2, locations=3, variant=variant)
    oracle, rng = PropagateUnsafeBdd(task), random.Random(0)
    states = [s.packed for s in task.list_starts()[:10]]
    states += [random_packed(task, rng) for _ in range(30)]
    seen = {check_verdict(task, oracle, state, limit=2_000) for state in states}
    assert {"safe", "unsafe"} <= seen


PUBLISHED = ["blocksworld 4", "n-puzzle", "one-way line", "two-way line"]


@needs_data
@pytest.mark.data
@pytest.mark.parametrize("name", PUBLISHED)
def test_published(name):
    """Every answer has a certificate: that is all there is to check, brute force is far away."""
    task = load_task(INSTANCES[name].path, **INSTANCES[name].arguments)
    oracle, rng = PropagateUnsafeBdd(task), random.Random(0)
    for start in task.sample_starts(5, seed=0):
        check_verdict(task, oracle, start.packed, limit=0)
    unsafe = []
    while len(unsafe) < 5:
        state = random_packed(task, rng)
        if oracle.decide(state, **{**LIMITS, "max_seconds": 0.0}).verdict == "unsafe":
            unsafe.append(state)
    for state in unsafe:
        check_certificate(task, state, oracle.certificate(state), "unsafe")


def test_a_chain_of_many_layers():
    d = Description("chain")
    x = d.int("x", 0, 1_000)
    d.edge("go", guard=x < 1_000, outcomes=[{x: x + 1}])
    d.fail(x == 1_000)
    task = d.compile()
    oracle = PropagateUnsafeBdd(task)
    found = oracle.decide(task.state(x=500).packed, **LIMITS)
    assert (found.verdict, found.expanded) == ("unsafe", 500)
    found = oracle.decide(task.state(x=0).packed, **LIMITS)
    assert (found.verdict, found.expanded) == ("unsafe", 500)
    found = oracle.decide(task.state(x=501).packed, **LIMITS)
    assert (found.verdict, found.expanded, found.outcomes) == ("unsafe", 0, 0)
    made = oracle.certificate(task.state(x=0).packed)
    assert sorted(made.entry_values) == list(range(1_001))


def test_a_large_domain():
    d = Description("doubling")
    x = d.int("x", -(2**61), 2**61)
    d.edge("double", guard=(x < 2**60) & (x > -5), outcomes=[{x: 2 * x}])
    d.fail(x >= 2**60)
    task = d.compile()
    oracle = PropagateUnsafeBdd(task)
    for value, wanted in ((3, "unsafe"), (0, "safe"), (-5, "safe"), (2**60 - 1, "unsafe")):
        assert check_verdict(task, oracle, task.state(x=value).packed) == wanted


def test_errors_elsewhere_do_not_matter():
    task = with_errors()
    oracle = PropagateUnsafeBdd(task)
    for x, wanted in {0: "safe", 1: "unsafe", 2: "unsafe", 3: "safe", 4: "safe"}.items():
        assert check_verdict(task, oracle, task.state(x=x).packed) == wanted, x


def test_an_error_that_the_answer_depends_on_is_raised():
    task = with_errors()
    for x in (5, 6, 7):
        with pytest.raises(InputError, match="would become 9") as caught:
            PropagateUnsafeBdd(task).decide(task.state(x=x).packed, **LIMITS)
        assert caught.value.code == "model-out-of-range"
        assert '"break"' in caught.value.message


def with_errors():
    """0 may stay or break; 1 must go to fail; 2 must go to 1 or to an error; 3 is a dead end; 4 may
    go to 0; 5 must break, and 6 and 7 lead there.
    """
    d = Description("with errors")
    x = d.int("x", 0, 8)
    d.edge("stay", guard=x == 0, outcomes=[{}])
    d.edge("break", guard=(x == 0) | (x == 5), outcomes=[{x: ite(x == 8, 0, 9)}])
    d.edge("go", guard=x == 1, outcomes=[{x: 8}])
    d.edge("go", guard=x == 2, outcomes=[{x: 1}, {x: 5}])
    d.edge("go", guard=x == 4, outcomes=[{x: 0}])
    d.edge("leave", guard=x == 4, outcomes=[{x: 5}])
    d.edge("go", guard=(x == 6) | (x == 7), outcomes=[{x: x - 1}])
    d.edge("fall", guard=x == 7, outcomes=[{x: 8}])
    d.fail(x == 8)
    return d.compile()


def test_silent_errors_count_only_where_the_step_is_forced():
    d = Description("silent")
    x = d.int("x", 0, 3)
    d.silent = ["tick"]
    d.edge("tick", outcomes=[{x: x - 1}])
    d.edge("go", guard=x == 0, outcomes=[{x: 3}])
    d.edge("go", guard=x == 2, outcomes=[{x: 1}])
    d.fail(x == 3)
    task = d.compile()
    oracle = PropagateUnsafeBdd(task)
    for value in range(4):
        assert check_verdict(task, oracle, task.state(x=value).packed) == "unsafe"


# -- budgets ---------------------------------------------------------------------------------------


def test_out_of_time_and_on_again():
    task = domain("one-way-line", packages=4, locations=5)
    oracle, state = PropagateUnsafeBdd(task), task.initial_state().packed
    assert oracle.decide(state, **{**LIMITS, "max_seconds": 0.0}).stopped == "seconds"
    give_up = time.monotonic() + 60
    while (answer := oracle.decide(state, **{**LIMITS, "max_seconds": 0.01})).verdict == "unknown":
        assert time.monotonic() < give_up
    assert answer.verdict == "safe"
    with pytest.raises(ValueError, match="no verdict"):
        PropagateUnsafeBdd(task).certificate(state)


def test_out_of_nodes():
    task = domain("one-way-line", packages=4, locations=5)
    oracle, state = PropagateUnsafeBdd(task), task.initial_state().packed
    found = oracle.decide(state, **{**LIMITS, "max_states": 20})
    assert (found.verdict, found.stopped) == ("unknown", "states")
    assert oracle.decide(state, **LIMITS).verdict == "safe"


def test_out_of_memory_keeps_what_is_known():
    """Unsafe at step k: all pairs from k on are equal. That takes 2^(count - k) nodes."""
    d, count = Description("pairs"), 20
    xs = [d.bool(f"x{i}") for i in range(2 * count)]
    step = d.int("step", 0, count)
    for i in range(count):
        guard = (step == i) & (xs[i] == xs[i + count])
        d.edge("go", guard=guard, outcomes=[{step: step + 1}])
    d.fail(step == count)
    task = d.compile()
    oracle, zeros = PropagateUnsafeBdd(task), dict.fromkeys(task.names, False)
    small = {**LIMITS, "max_bytes": 1 << 22}
    for at, wanted in ((0, "unknown"), (count - 3, "unsafe"), (1, "unknown"), (count, "unsafe")):
        state = task.state({**zeros, "step": at}).packed
        found = oracle.decide(state, **small)
        assert (found.verdict, found.stopped == "memory") == (wanted, wanted == "unknown")
        assert found.bytes <= 1 << 22
    check_certificate(task, state, oracle.certificate(state), "unsafe")


def test_an_interruption_leaves_nothing_wrong_behind(monkeypatch):
    task = domain("one-way-line", packages=2, locations=4, variant="icy")
    state = task.initial_state().packed
    wanted = PropagateUnsafeBdd(task).decide(state, **LIMITS).verdict
    oracle, rng = PropagateUnsafeBdd(task), random.Random(0)

    def interrupted(self, action):
        if rng.random() < 0.1:
            raise KeyboardInterrupt
        return lost_by(self, action)

    lost_by = Propagation.lost_by
    monkeypatch.setattr(Propagation, "lost_by", interrupted)
    for _ in range(10_000):
        with contextlib.suppress(KeyboardInterrupt):
            assert oracle.decide(state, **LIMITS).verdict == wanted
            break
    else:
        pytest.fail("it never got through")
    check_certificate(task, state, oracle.certificate(state), wanted)


def test_progress_is_reported(monkeypatch):
    monkeypatch.setattr(bdd, "SECONDS_PER_REPORT", 0.0)
    task = domain("one-way-line", packages=2, locations=4)
    calls = []
    limits = {**LIMITS, "progress": lambda *report: calls.append(report)}
    PropagateUnsafeBdd(task).decide(task.initial_state().packed, **limits)
    assert all(len(report) == 5 for report in calls)
    assert calls[-1][1] > 5


# -- what is not supported -------------------------------------------------------------------------


def refused(task):
    with pytest.raises(Unsupported) as caught:
        PropagateUnsafeBdd(task).decide(task.initial_state().packed, **LIMITS)
    return caught.value


def test_real_variables_are_not_supported():
    d = Description("real")
    d.real("speed", 0, 1, initial=0.5)
    assert refused(d.compile()).code == "bdd-real-variable"
    assert '"speed" is real' in refused(d.compile()).message


def test_python_tasks_are_not_supported():
    class Definition:
        def start(self):
            return [0]

        def actions(self, state):
            return []

        def outcomes(self, state, action):
            return [state]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return False

    with pytest.raises(Unsupported) as caught:
        PropagateUnsafeBdd(PythonTask(Definition()))
    assert caught.value.code == "bdd-python-task"


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "oxidd.bcdd", None)
    error = refused(domain("one-way-line"))
    assert error.code == "missing-library"
    assert error.hint == "pip install 'surefoot[verify]'"


def test_too_many_values_are_not_supported():
    d = Description("values")
    x, y = d.int("x", 0, 10_000, initial=0), d.int("y", 0, 10_000, initial=1)
    d.edge("go", outcomes=[{x: x % y}])
    assert refused(d.compile()).code == "too-many-values"


def test_too_many_outcomes_are_not_supported():
    d = Description("outcomes")
    x = d.int("x", 0, 10_000, initial=0)
    d.edge("go", outcomes=[Outcome((choose(x, 0, 10_000),))])
    assert refused(d.compile()).code == "too-many-outcomes"


def test_too_many_bits_are_not_supported():
    d = Description("bits")
    d.array("a", "bool", 1_100, initial=[False] * 1_100)
    assert refused(d.compile()).code == "too-many-bits"
