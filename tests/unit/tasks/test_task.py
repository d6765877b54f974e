"""Tasks: states in and out, steps, and the six corner cases."""

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot import Description, InputError, explore, simulate
from surefoot.tasks.description import Assignment, Outcome
from surefoot.tasks.expressions import as_expr, constant


def values(states, name="x"):
    return sorted(state[name] for state in states)


def one_step(outcomes, *, lower=0, upper=9, guard=None, **more):
    """Return the task with int x and the one action ``go``; ``outcomes`` gets x."""
    d = Description("one")
    x = d.int("x", lower, upper, initial=more.pop("initial", None))
    d.edge("go", guard=guard(x) if guard else None, outcomes=outcomes(x))
    return d.compile()


def error_of(call, *args):
    with pytest.raises(InputError) as caught:
        call(*args)
    return caught.value


# -- states ----------------------------------------------------------------------------------


def house():
    d = Description("house")
    d.int("floor", -1, 3, initial=0)
    d.bool("lit", initial=False)
    d.real("heat", -10.0, 40.0, initial=20.0)
    d.int("door", 0, 1, initial=0, labels=("open", "shut"))
    d.edge("wait", outcomes=[{}])
    return d.compile()


GOOD = {"floor": 0, "lit": True, "heat": 3, "door": "shut"}
BAD_STATES = {
    "unknown": ({**GOOD, "flor": 1}, "unknown-variable"),
    "missing": ({"floor": 0}, "missing-variable"),
    "too large": ({**GOOD, "floor": 4}, "value-out-of-range"),
    "too small": ({**GOOD, "floor": -2}, "value-out-of-range"),
    "5000 digits": ({**GOOD, "floor": 10**5000}, "value-out-of-range"),
    "real for int": ({**GOOD, "floor": 1.0}, "type-mismatch"),
    "bool for int": ({**GOOD, "floor": True}, "type-mismatch"),
    "2 for bool": ({**GOOD, "lit": 2}, "type-mismatch"),
    "text for bool": ({**GOOD, "lit": "true"}, "type-mismatch"),
    "NaN": ({**GOOD, "heat": float("nan")}, "value-out-of-range"),
    "infinite": ({**GOOD, "heat": float("inf")}, "value-out-of-range"),
    "beyond doubles": ({**GOOD, "heat": 10**400}, "value-out-of-range"),
    "no such label": ({**GOOD, "door": "ajar"}, "type-mismatch"),
    "label of no location": ({**GOOD, "floor": "open"}, "type-mismatch"),
}


@pytest.mark.parametrize("case", BAD_STATES)
def test_bad_states_are_refused(case):
    given, code = BAD_STATES[case]
    assert error_of(house().state, given).code == code


def test_states_in_and_out():
    task = house()
    state = task.state(GOOD)
    assert state == {"floor": 0, "lit": True, "heat": 3.0, "door": 1}
    assert str(state) == "floor=0,lit=true,heat=3.0,door=1"
    assert task.state({"floor": 0}, lit=1, heat=3.0, door=1) == state
    assert hash(task.state(GOOD)) == hash(state)
    assert task.packed(dict(state)) == state.packed
    assert task.unpack(state.packed) == state
    assert task.initial_state() == {"floor": 0, "lit": False, "heat": 20.0, "door": 0}
    assert error_of(task.state, {"flor": 1}).hint == 'did you mean "floor"?'
    with pytest.raises(KeyError):
        state["nothing"]


def test_initial_state_needs_initial_values():
    assert error_of(one_step(lambda x: [{}]).initial_state).code == "no-initial-value"


def test_unknown_action():
    error = error_of(house().outcomes, GOOD, "wiat")
    assert (error.code, error.hint) == ("unknown-action", 'did you mean "wait"?')


# -- the six corner cases of algorithms.md, section 1 ----------------------------------------


def test_corner_1_fail_beats_goal():
    d = Description("both")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
    d.goal(x >= 1)
    d.fail(x == 1)
    task = d.compile()
    assert [(task.is_fail({"x": i}), task.is_goal({"x": i})) for i in range(3)] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    counts = explore(task)
    assert (counts.states, counts.fail, counts.goal) == (2, 1, 0)
    assert simulate(task).runs[0].result == "fail"


def test_corner_2_goal_and_dead_ends_stop_the_run():
    d = Description("stops")
    x = d.int("x", 0, 5)
    d.edge("up", guard=(x != 2) & (x < 5), outcomes=[{x: x + 1}])
    d.goal(x == 4)
    task = d.compile()
    assert task.applicable({"x": 4}) == ("up",)  # the model has an edge; a run does not take it
    assert task.applicable({"x": 2}) == ()
    ends = {0: ("dead_end", 2), 3: ("goal", 4), 4: ("goal", 4), 5: ("dead_end", 5)}
    for start, (result, last) in ends.items():
        run = simulate(task, [{"x": start}]).runs[0]
        assert (run.result, run.states[-1]["x"]) == (result, last)
    counts = explore(task, [{"x": 0}, {"x": 3}])
    assert (counts.states, counts.dead_ends, counts.goal, counts.fail) == (5, 1, 1, 0)


OUT_OF_RANGE = {
    "sum above": (lambda x, y: x + 1, 3),
    "sum below": (lambda x, y: x - 7, 3),
    "constant": (lambda x, y: 4, 0),
    "negative constant": (lambda x, y: -1, 0),
    "product": (lambda x, y: x * x, 3),
    "far away": (lambda x, y: x * 2**60, 2),
    "other variable": (lambda x, y: y, 0),
}


@pytest.mark.parametrize("case", OUT_OF_RANGE)
@pytest.mark.parametrize("way", ["simple", "general"])
def test_corner_3_an_update_out_of_range_is_an_error(case, way):
    build, at = OUT_OF_RANGE[case]
    d = Description("range", file="model.jani")
    x, y = d.int("x", 0, 3), d.int("y", 0, 7)
    z = d.int("z", 0, 3, initial=0, is_scratch=True)
    change = {x: build(x, y)} if way == "simple" else {z: 0, x: build(x, y)}
    d.edge("rest", outcomes=[{}])
    d.edge("go", outcomes=[change], place="/edges/1")
    task = d.compile()
    state = {"x": at, "y": 7}
    error = error_of(task.outcomes, state, "go")
    assert (error.code, error.file, error.place) == ("model-out-of-range", "model.jani", "/edges/1")
    for part in ('"x"', '"go"', "edge 1", f"x={at},y=7"):
        assert part in error.message
    assert error_of(explore, task, [state]).code == "model-out-of-range"
    assert task.applicable(state) == ("rest", "go")


def test_corner_3_neighbours_keep_their_bits():
    d = Description("bits")
    cells = [d.int(f"v{i}", 0, 4) for i in range(40)]
    for i, cell in enumerate(cells):
        d.edge(f"set{i}", outcomes=[{cell: k} for k in range(5)])
        d.edge(f"add{i}", guard=cell < 4, outcomes=[{cell: cell + 1}])
    task = d.compile()
    rng = random.Random(1)
    for _ in range(20):
        state = {f"v{i}": rng.randrange(4) for i in range(40)}
        i = rng.randrange(40)
        assert {s[f"v{i}"] for s in task.outcomes(state, f"set{i}")} == set(range(5))
        for after in task.outcomes(state, f"set{i}"):
            assert {**state, f"v{i}": after[f"v{i}"]} == after
        (after,) = task.outcomes(state, f"add{i}")
        assert {**state, f"v{i}": state[f"v{i}"] + 1} == after


def test_corner_4_errors_are_never_verdicts():
    def broken(value):
        d = Description("broken")
        x, r = d.int("x", 0, 5), d.real("r")
        d.edge("go", outcomes=[{r: value(x)}])
        return d.compile()

    table = {
        "model-overflow": lambda x: x * 2**60 * 16,
        "model-division-by-zero": lambda x: 1 / (x - 3),
        "model-not-finite": lambda x: x * 1e308,
        "model-negative-exponent": lambda x: x ** (2 - x),
    }
    for code, value in table.items():
        task = broken(value)
        assert len(task.outcomes({"x": 0, "r": 0.0}, "go")) == 1
        error = error_of(task.outcomes, {"x": 3, "r": 0.0}, "go")
        assert error.code == code
        assert "x=3" in error.message
        assert error_of(explore, task, [{"x": 3, "r": 0.0}]).code == code
        assert error_of(simulate, task, [{"x": 3, "r": 0.0}]).code == code


@pytest.mark.parametrize("where", ["fail", "goal", "guard", "start"])
def test_corner_4_conditions_that_raise(where):
    d = Description("broken")
    x = d.int("x", 0, 3)
    raises = 6 / (x - 2) > 1.0
    d.edge("go", guard=raises if where == "guard" else None, outcomes=[{}])
    if where != "guard":
        getattr(d, where)(raises)
    task = d.compile()
    ask = {"guard": task.applicable, "start": task.is_start}.get(where, task.is_fail)
    ask = task.is_goal if where == "goal" else ask
    assert [bool(ask({"x": i})) for i in (0, 1, 3)] == [False, False, True]
    assert error_of(ask, {"x": 2}).code == "model-division-by-zero"
    if where == "start":
        assert error_of(task.list_starts).code == "model-division-by-zero"
    else:
        assert error_of(explore, task, [{"x": 2}]).code == "model-division-by-zero"


def test_corner_5_reals_are_compared_bit_for_bit():
    d = Description("reals")
    r = d.real("r", -1.0, 1.0)
    d.edge("negate", outcomes=[{r: -r}])
    d.edge("both", outcomes=[{r: 0.0}, {r: -0.0}, {r: -(r * 0.0)}])
    d.edge("add", outcomes=[{r: 0.3}, {r: r + 0.2}])
    task = d.compile()
    zero = task.state(r=0.0)
    assert task.state(r=-0.0).packed == zero.packed
    assert task.outcomes(zero, "negate") == (zero,)
    assert str(task.outcomes(zero, "negate")[0]["r"]) == "0.0"
    assert len(task.outcomes(zero, "both")) == 1
    assert values(task.outcomes({"r": 0.1}, "add"), "r") == [
        0.3,
        0.1 + 0.2,
    ]  # two doubles, two states
    assert explore(task, [{"r": 0.0}, {"r": -0.0}], max_states=1).starts == 1


def test_corner_6_a_cut_is_never_complete():
    d = Description("line")
    x = d.int("x", 0, 99, initial=0)
    d.edge("up", guard=x < 99, outcomes=[{x: x + 1}])
    d.fail(x == 99)
    task = d.compile()
    for cap in (1, 2, 50, 99):
        counts = explore(task, max_states=cap)
        assert (counts.complete, counts.stopped, counts.states) == (False, "states", cap)
    assert explore(task, max_states=100).complete
    assert simulate(task, max_steps=98).runs[0].result == "cut"
    assert simulate(task, max_steps=99).runs[0].result == "fail"


# -- steps -----------------------------------------------------------------------------------


def test_edges_with_one_label_are_one_action():
    d = Description("union")
    x = d.int("x", 0, 9, initial=0)
    d.edge("go", guard=x < 5, outcomes=[{x: 1}, {x: 2}])
    d.edge("other", outcomes=[{}])
    d.edge("go", guard=x < 3, outcomes=[{x: 2}, {x: 3}, {x: x}])
    task = d.compile()
    assert task.applicable({"x": 0}) == ("go", "other")
    assert values(task.outcomes({"x": 0}, "go")) == [0, 1, 2, 3]
    assert values(task.outcomes({"x": 4}, "go")) == [1, 2]
    assert task.outcomes({"x": 5}, "go") == ()
    counts = explore(task)
    assert (counts.states, counts.pairs, counts.outcomes) == (4, 8, 16)


@pytest.mark.parametrize("count", [1, 2, 16, 17, 40, 300])
@pytest.mark.parametrize("distinct", [1, 3, 10])
def test_outcomes_are_a_set_in_order_of_appearance(count, distinct):
    listed = [(i * 7) % distinct for i in range(count)]
    task = one_step(lambda x: [{x: value} for value in listed])
    found = [state["x"] for state in task.outcomes({"x": 9}, "go")]
    assert found == list(dict.fromkeys(listed))


def chance(probability, change):
    return Outcome(
        tuple(Assignment(target, as_expr(value)) for target, value in change.items()),
        (as_expr(probability),),
    )


def test_probability_zero_is_no_outcome():
    task = one_step(lambda x: [chance(x / 4, {x: 9}), chance(1 - x / 4, {x: 0})], upper=9)
    for at, expected in {0: [0], 1: [0, 9], 4: [9]}.items():
        assert values(task.outcomes({"x": at}, "go")) == expected
    assert error_of(task.outcomes, {"x": 5}, "go").code == "model-negative-probability"
    assert error_of(task.applicable, {"x": 5}).code == "model-negative-probability"


def test_an_action_of_probability_zero_is_not_applicable():
    task = one_step(lambda x: [chance(x, {x: 9})])
    assert task.applicable({"x": 0}) == ()
    assert task.outcomes({"x": 0}, "go") == ()
    assert task.applicable({"x": 1}) == ("go",)


def does(*assignments):
    return Outcome(tuple(assignments))


def between(target, lower, upper, index=0):
    return Assignment(target, lower=as_expr(lower), upper=as_expr(upper), index=index)


def put(target, value, index=0):
    return Assignment(target, as_expr(value), index=index)


INTERVALS = {
    "some": (lambda x: between(x, 2, 4), [2, 3, 4]),
    "one": (lambda x: between(x, 4, 4), [4]),
    "cut to the range": (lambda x: between(x, -5, 1), [0, 1]),
    "cut on both sides": (lambda x: between(x, -(2**62), 2**62), list(range(10))),
    "computed": (lambda x: between(x, x - 1, x + 1), [4, 5, 6]),
    "empty": (lambda x: between(x, 4, 3), "model-empty-interval"),
    "empty after the cut": (lambda x: between(x, 10, 20), "model-empty-interval"),
}


@pytest.mark.parametrize("case", INTERVALS)
def test_intervals(case):
    build, expected = INTERVALS[case]
    task = one_step(lambda x: [does(build(x))])
    if isinstance(expected, list):
        assert values(task.outcomes({"x": 5}, "go")) == expected
    else:
        assert error_of(task.outcomes, {"x": 5}, "go").code == expected


def two_variables(*assignments):
    """Return the sorted outcomes (x, y) from (1, 5), or the code of the error."""
    d = Description("two")
    x, y = d.int("x", 0, 9), d.int("y", 0, 9)
    z = d.int("z", 0, 9, initial=7, is_scratch=True)
    d.edge("go", outcomes=[does(*(make(x, y, z) for make in assignments))])
    task = d.compile()
    try:
        return sorted((s["x"], s["y"]) for s in task.outcomes({"x": 1, "y": 5}, "go"))
    except InputError as error:
        return error.code


GROUPS = {
    "swap within a group": ((lambda x, y, z: put(x, y), lambda x, y, z: put(y, x)), [(5, 1)]),
    "later groups see earlier ones": (
        (lambda x, y, z: put(x, y), lambda x, y, z: put(y, x + 1, 1)),
        [(5, 6)],
    ),
    "by index, not by place": (
        (lambda x, y, z: put(y, x, 1), lambda x, y, z: put(x, 3, 0)),
        [(3, 3)],
    ),
    "negative index first": ((lambda x, y, z: put(y, x), lambda x, y, z: put(x, 3, -1)), [(3, 3)]),
    "two intervals": (
        (lambda x, y, z: between(x, 0, 1), lambda x, y, z: between(y, 2, 3)),
        [(0, 2), (0, 3), (1, 2), (1, 3)],
    ),
    "later groups see each choice": (
        (lambda x, y, z: between(x, 2, 4), lambda x, y, z: put(y, x, 1)),
        [(2, 2), (3, 3), (4, 4)],
    ),
    "same value twice": ((lambda x, y, z: put(x, 3), lambda x, y, z: put(x, y - 2)), [(3, 5)]),
    "different values": (
        (lambda x, y, z: put(x, 3), lambda x, y, z: put(x, 4)),
        "model-conflicting-assignments",
    ),
    "third differs": (
        (lambda x, y, z: put(x, 3), lambda x, y, z: put(x, 3), lambda x, y, z: put(x, 4)),
        "model-conflicting-assignments",
    ),
    "different groups do not conflict": (
        (lambda x, y, z: put(x, 3), lambda x, y, z: put(x, 4, 1)),
        [(4, 5)],
    ),
    "scratch starts anew": ((lambda x, y, z: put(x, z),), [(7, 5)]),
    "scratch carries a value": (
        (lambda x, y, z: put(z, x), lambda x, y, z: put(x, y), lambda x, y, z: put(y, z, 1)),
        [(5, 1)],
    ),
    "scratch has bounds": ((lambda x, y, z: put(z, x + 9),), "model-out-of-range"),
    "scratch does not tell states apart": ((lambda x, y, z: between(z, 0, 9),), [(1, 5)]),
}


@pytest.mark.parametrize("case", GROUPS)
def test_assignment_groups(case):
    assignments, expected = GROUPS[case]
    assert two_variables(*assignments) == expected


@pytest.mark.parametrize("index", [0, 1])
def test_more_than_a_million_outcomes_are_an_error(index):
    d = Description("many")
    x, y = d.int("x", 0, 1099), d.int("y", 0, 1099)
    d.edge("go", outcomes=[does(between(x, 0, 1099), between(y, 0, 1099, index))])
    task = d.compile()
    assert error_of(task.outcomes, {"x": 0, "y": 0}, "go").code == "model-too-many-outcomes"


def test_arrays_with_computed_index():
    d = Description("arrays")
    i = d.int("i", 0, 4)
    a = d.array("a", "int", 3, 0, 9)
    d.edge("inc", guard=a[i] < 9, outcomes=[{a[i]: a[i] + 1}])
    d.edge("two", outcomes=[{a[i]: 1, a[(i + 1) % 3]: 2}])
    d.edge("same", outcomes=[{a[i]: 1, a[i % 3]: a[i]}])
    task = d.compile()

    def after(at, action):
        (state,) = task.outcomes({"i": at, "a[0]": 5, "a[1]": 6, "a[2]": 1}, action)
        return [state[f"a[{k}]"] for k in range(3)]

    assert [after(at, "inc") for at in range(3)] == [[6, 6, 1], [5, 7, 1], [5, 6, 2]]
    assert [after(at, "two") for at in range(3)] == [[1, 2, 1], [5, 1, 2], [2, 6, 1]]
    assert after(2, "same") == [5, 6, 1]
    assert error_of(after, 1, "same").code == "model-conflicting-assignments"
    for action in ("inc", "two"):
        assert error_of(after, 3, action).code == "model-index-out-of-bounds"


def test_real_cells_and_int_values():
    d = Description("reals")
    i = d.int("i", 0, 1)
    a = d.array("a", "real", 2, -1.0, 1.0)
    d.edge("set", outcomes=[{a[i]: i}, {a[i]: a[1 - i] / 2}])
    task = d.compile()
    found = task.outcomes({"i": 1, "a[0]": -0.5, "a[1]": 0.0}, "set")
    assert values(found, "a[1]") == [-0.25, 1.0]


# -- bits ------------------------------------------------------------------------------------

LIMIT = 2**62
BOUNDS = st.one_of(
    st.just((0, 1)),
    st.integers(-LIMIT, LIMIT).map(lambda v: (v, v)),
    st.tuples(st.integers(-LIMIT, LIMIT), st.integers(-LIMIT, LIMIT)).map(
        lambda b: (min(b), max(b))
    ),
    st.tuples(st.integers(-9, 0), st.integers(0, 99)),
    st.sampled_from([(0, LIMIT), (-LIMIT, LIMIT), (-LIMIT, 0), "bool", "real"]),
)


def declare(d, name, bounds):
    if bounds == "bool":
        return d.bool(name), st.booleans()
    if bounds == "real":
        return d.real(name), st.floats(allow_nan=False, allow_infinity=False)
    return d.int(name, *bounds), st.integers(*bounds)


@pytest.mark.fuzz
@settings(max_examples=150, deadline=None)
@given(bounds=st.lists(BOUNDS, min_size=1, max_size=30), data=st.data())
def test_states_come_back_as_they_went_in_and_writes_stay_in_their_field(bounds, data):
    d = Description("bits")
    made = [declare(d, f"v{i}", bound) for i, bound in enumerate(bounds)]
    old = {f"v{i}": data.draw(values) for i, (_, values) in enumerate(made)}
    new = {f"v{i}": data.draw(values) for i, (_, values) in enumerate(made)}
    for i, (v, _) in enumerate(made):
        d.edge(f"set{i}", guard=v == old[f"v{i}"], outcomes=[{v: constant(new[f"v{i}"])}])
    task = d.compile()
    state = task.state(old)
    assert state == old
    assert task.unpack(state.packed) == state
    assert task.applicable(state) == task.actions
    for i in range(len(made)):
        assert task.outcomes(state, f"set{i}") == ({**old, f"v{i}": new[f"v{i}"]},)


def test_equal_tasks_have_equal_fingerprints():
    first, second = one_step(lambda x: [{x: 1}]), one_step(lambda x: [{x: 1}])
    others = [one_step(lambda x: [{x: 2}]), one_step(lambda x: [{x: 1}], upper=8)]
    assert first.sha256 == second.sha256
    assert len({first.sha256, *(task.sha256 for task in others)}) == 3


def test_edges_beyond_one_row_of_the_index():
    """More edges than one word of candidates has bits, some with conditions over two variables."""
    d = Description("many edges")
    x, y = d.int("x", 0, 19), d.int("y", 0, 19)
    for i, j in itertools.product(range(20), range(20)):
        d.edge(f"go{i}", guard=(x == i) & (x + y == j), outcomes=[{y: j}])
    task = d.compile()
    for i, j in itertools.product(range(20), range(20)):
        expected = (f"go{i}",) if i + j < 20 else ()
        assert task.applicable({"x": i, "y": j}) == expected


# -- wrong arguments -------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["x=3", 3, 0, [("floor", 1)], (), {3: 1}])
def test_a_state_is_a_dictionary(wrong):
    task = house()
    for call in (task.state, task.applicable, task.is_fail):
        assert error_of(call, wrong).code == "bad-state"


@pytest.mark.parametrize("path", ["", "no/such/folder/a.jani", "a\0b", "."])
def test_files_that_cannot_be_written(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = error_of(one_step(lambda x: [{}]).write_jani, path)
    assert (error.code, error.file) == ("file-not-written", path)


@pytest.mark.parametrize("path", [1, None, b"a.jani"])
def test_paths_are_text(path):
    assert error_of(one_step(lambda x: [{}]).write_jani, path).code == "bad-option"


def test_a_state_of_another_task_is_read_by_its_values():
    wide, narrow = Description("wide"), Description("narrow")
    wide.int("x", 0, 200, initial=200)
    x = narrow.int("x", 0, 5, initial=0)
    narrow.edge("wait", outcomes=[{}])
    narrow.fail(x == 0)
    other, task = wide.compile(), narrow.compile()
    assert task.outcomes(other.state(x=3), "wait") == (task.state(x=3),)
    with pytest.raises(InputError) as caught:
        task.is_fail(other.state(x=200))
    assert caught.value.code == "value-out-of-range"


def test_the_core_takes_only_real_states():
    d = Description("small")
    d.int("x", 0, 5, initial=0)
    task = d.compile()
    for packed in (b"", bytes(16), b"\x06" + bytes(7), b"\xff" * 8):
        with pytest.raises(ValueError, match="not a packed state"):
            task.core.applicable(packed)
