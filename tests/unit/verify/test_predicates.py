"""Predicate abstraction: files of predicates, tests that come from them, and small tasks."""

from __future__ import annotations

import itertools
import json
import sys

import pytest
from tests.support.boxes import Truth
from tests.support.instances import DATA, INSTANCES, needs_data
from tests.unit.verify.test_auto import first_output

from surefoot import Description, InputError, Unsupported, ite, load_task, maximum, verify
from surefoot.records import VerifyResult
from surefoot.tasks.jani import predicates
from surefoot.verify.box import verify_box
from surefoot.verify.predicates import cover, read_cuts, read_predicates
from surefoot.verify.predicates import method as search
from surefoot.verify.predicates.atoms import Atoms, Cut, Formula, Sum, narrowed_by
from surefoot.verify.predicates.cells import balanced
from surefoot.verify.predicates.parts import without
from surefoot.verify.predicates.solver import Solver


def op(name, left, right):
    return {"op": name, "left": left, "right": right}


AT_LEAST = op("≥", "x", 3)


def small():
    """Return a task with an integer, a Boolean, an array and a constant."""
    d = Description("small")
    x, y = d.int("x", 0, 9, initial=0), d.int("m.y", -2, 5, initial=0)
    d.bool("b", initial=False)
    d.array("a", "int", 2, 0, 3, initial=[0, 0])
    d.constants["N"] = 4
    d.edge("go", guard=x < 9, outcomes=[{x: x + 1}, {y: 0}])
    d.fail(x == 9)
    return d.compile()


def road(*, length=20, careful=True):
    """Return a task whose fail no box tells from what is reached: driving needs x + v < length."""
    d = Description("road")
    x, v = d.int("x", 0, length + 3), d.int("v", 0, 3)
    d.edge("drive", guard=x + v < length if careful else x < length, outcomes=[{x: x + v}])
    d.edge("brake", outcomes=[{v: maximum(v - 1, 0)}])
    d.start((x == 0) & (v >= 1))
    d.fail(x >= length)
    task = d.compile()
    return task, first_output(task)


def written(tmp_path, content, name="predicates.jani"):
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


# -- files -------------------------------------------------------------------------------------


def pa(predicates):
    return {"name": "p", "expression": {"op": "PA", "predicates": predicates}}


@pytest.mark.parametrize(
    "content",
    [
        [AT_LEAST],
        {"predicates": [AT_LEAST]},
        {"properties": [pa([AT_LEAST])]},
        {"properties": [{"name": "q", "expression": {"op": "PA"}}, pa([AT_LEAST])]},
        {"properties": [pa({"file": "other.jani"})]},
        {"predicates": {"file": "other.jani"}},
        {"file": "other.jani"},
        {
            "properties": [pa({"label": "mine"})],
            "labels": [{"name": "mine", "element": [AT_LEAST]}],
        },
    ],
)
def test_all_kinds_of_files(tmp_path, content):
    written(tmp_path, [AT_LEAST], "other.jani")
    (found,) = read_predicates(written(tmp_path, content), small())
    assert str(found) == "x ≥ 3"


def test_predicates_of_all_properties_count(tmp_path):
    file = written(tmp_path, {"properties": [pa([AT_LEAST]), pa([op("<", "x", 7), "b"])]})
    assert [str(each) for each in read_predicates(file, small())] == ["x ≥ 3", "x < 7", "b"]


def test_names_are_those_of_the_task(tmp_path):
    """Constants, local names with and without their element, cells of arrays."""
    cell = {"op": "aa", "exp": "a", "index": 1}
    listed = [op("≤", "x", "N"), op("=", "y", 1), op("=", "m.y", 1), op(">", cell, 2)]
    found = read_predicates(written(tmp_path, listed), small())
    assert [str(each) for each in found] == ["x ≤ 4", "m.y = 1", "m.y = 1", "a[1] > 2"]


@pytest.mark.parametrize(
    ("content", "code", "place", "message", "hint"),
    [
        ("[", "json-syntax", None, "ends too early", None),
        ("", "json-syntax", None, "empty", None),
        ([], "no-predicates", None, "there are no predicates", "list of conditions"),
        (
            {"properties": []},
            "no-predicates",
            None,
            "there are no predicates",
            "list of conditions",
        ),
        ({"properties": [pa([])]}, "no-predicates", None, "there are no predicates", "list of"),
        ({"start": 3}, "no-predicates", "/", "not predicates", "list of conditions"),
        (7, "no-predicates", "/", "not predicates", "list of conditions"),
        ({"predicates": 7}, "jani-wrong-type", "/predicates", "expected an array", None),
        ([op("≥", "q", 3)], "predicates-of-another-task", "/0/left", "for another task", "m.y"),
        ([op("≥", "xx", 3)], "predicates-of-another-task", "/0/left", '"small"', 'mean "x"'),
        ([AT_LEAST, "x"], "type-mismatch", "/1", "is a number (int)", "compare it"),
        ([op("≥", "b", 3)], "type-mismatch", "/0", "≥ needs numbers", None),
        ([op("is", "x", 3)], "jani-unknown-operator", "/0/op", "is", None),
        ([{"left": "x"}], "jani-missing-key", "/0", '"op" is missing', None),
        ([None], "jani-wrong-type", "/0", "not an expression", None),
        ({"predicates": {"file": "none.jani"}}, "file-not-found", "/predicates/file", "none", None),
        ({"predicates": {"label": "l"}}, "unknown-label", "/predicates/label", '"l"', None),
        ({"properties": [{"name": "p"}]}, "jani-missing-key", "/properties/0", "expression", None),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path, content, code, place, message, hint):
    file = written(tmp_path, content)
    with pytest.raises((InputError, Unsupported)) as caught:
        read_predicates(file, small())
    error = caught.value
    assert (error.code, error.file, error.place) == (code, str(file), place)
    assert message in error.message
    assert (error.hint is not None and hint in error.hint) if hint else True


def test_lists_have_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(predicates, "MAX_PREDICATES", 2)
    assert len(read_predicates(written(tmp_path, [AT_LEAST] * 2), small())) == 2
    with pytest.raises(InputError, match="3 predicates is too long") as caught:
        read_predicates(written(tmp_path, [AT_LEAST] * 3), small())
    assert (caught.value.code, caught.value.place) == ("too-many-predicates", "/")


def test_there_is_no_such_file(tmp_path):
    with pytest.raises(InputError) as caught:
        read_predicates(tmp_path / "none.jani", small())
    assert caught.value.code == "file-not-found"


def test_verification_refuses_predicates_of_another_task(tmp_path):
    task, policy = road()
    for name in ("predicates", "box"):
        with pytest.raises(InputError) as caught:
            verify(task, policy, method=name, predicates=str(written(tmp_path, ["b"])))
        assert caught.value.code == "predicates-of-another-task"


def test_cuts_are_what_is_about_one_variable(tmp_path):
    both = {"op": "∧", "left": op("≤", 2, "x"), "right": op("<", op("+", "x", "y"), 3)}
    listed = [AT_LEAST, both, op("=", "y", 1), "b", op("<", "x", 2.5), op("≥", "x", 0), AT_LEAST]
    cuts = read_cuts(written(tmp_path, listed), small())
    assert sorted(cuts) == [(0, 2), (0, 3), (1, 1), (1, 2), (2, 1)]


def test_cuts_of_real_variables(tmp_path):
    d = Description("real")
    d.real("r", 0.0, 2.0, initial=0.0)
    d.fail(d.int("x", 0, 9, initial=0) > 3)
    cuts = read_cuts(written(tmp_path, [op("≥", "r", 0.5), op("<", 5, "r")]), d.compile())
    assert cuts[0] == (0, 0.5)
    assert all(0.5 <= value < 0.50001 for _, value in cuts)


@needs_data
@pytest.mark.parametrize(
    ("instance", "file", "predicates", "cuts"),
    [
        ("racetrack", "racetrack_tiny_4automata/property_predicates.jani", 40, 10),
        ("n-puzzle", "npuzzle_3_3/preds_property.jani", 53, 50),
        ("blocksworld 6, separate files", "blocksworld_6_5_cost05/predicates/5_0.jani", 43, 43),
        ("blocksworld 6, separate files", "blocksworld_6_5_cost05/predicates/6_0.jani", 49, 49),
        ("blocksworld 6, separate files", "blocksworld_6_5_cost05/pa_original.jani", 92, 49),
    ],
)
def test_the_published_files_load(instance, file, predicates, cuts):
    given = INSTANCES[instance]
    task = load_task(given.path, **given.arguments)
    found = read_predicates(DATA / file, task)
    assert len(found) == predicates
    assert len(read_cuts(DATA / file, task)) == cuts
    assert all(Atoms(task).tests_of(each) is not None for each in found)


@needs_data
def test_a_published_file_is_for_its_task():
    given = INSTANCES["n-puzzle"]
    task = load_task(given.path, **given.arguments)
    file = DATA / "racetrack_tiny_4automata" / "property_predicates.jani"
    with pytest.raises(InputError, match="for another task") as caught:
        read_predicates(file, task)
    place = "/properties/0/expression/predicates/0/left/right"
    assert (caught.value.file, caught.value.place) == (str(file), place)


# -- tests of conditions -------------------------------------------------------------------------


def abstract_task():
    d = Description("tests")
    x, y, b = d.int("x", 0, 6), d.int("y", -3, 3), d.bool("b")
    d.fail(x > 9)
    return d.compile(), x, y, b


def test_conditions_become_tests():
    task, x, y, b = abstract_task()
    tests_of = Atoms(task).tests_of
    assert tests_of(x >= 3) == tests_of(x < 3) == tests_of(~(2 * x < 5)) == [Cut(0, 3)]
    assert tests_of(x < 2.5) == tests_of(x > 2.5) == [Cut(0, 3)]
    assert set(tests_of(x == 3)) == {Cut(0, 3), Cut(0, 4)}
    assert tests_of(-3 * y <= 4) == [Cut(1, -1)]
    assert tests_of((x > 1) & b) == [Cut(0, 2), Cut(2, 1)]
    assert tests_of(x + y > 4) == tests_of(2 * (-x - y) < -8) == [Sum(((0, 1), (1, 1)), 4)]
    assert tests_of(x >= 0) == []
    assert set(tests_of(x % 3 == 0)) == {Cut(0, k) for k in (1, 3, 4, 6)}
    (formula,) = tests_of((x * y) % 2 == 0)
    assert isinstance(formula, Formula)
    assert tests_of((x * y) % 2 == 0) == [formula]
    assert tests_of(x / 2 > 1) is None
    assert tests_of(1 % y == 0) is None
    assert Atoms(task).known_tests((x / 2 > 1) & b) == [Cut(2, 1)]


def conditions():
    _, x, y, b = abstract_task()
    return [
        x + y > 4, 2 * x - 3 * y <= 1, x % 3 == 1, (x * y) % 2 == 0, ite(b, x, y) >= 2,
        maximum(x, y) != 3, abs(y) < 2, (x - y) % -4 == -1, b, (y == 2) | (x < y),
    ]  # fmt: skip


@pytest.mark.parametrize("condition", conditions(), ids=str)
def test_tests_decide_conditions(condition):
    """States with the same answers to all tests agree about the condition, and boxes about them."""
    task, *_ = abstract_task()
    atoms = Atoms(task)
    tests = atoms.tests_of(condition)
    seen: dict[tuple[bool | None, ...], set[tuple[int, int]]] = {}
    for state in itertools.product(range(7), range(-3, 4), range(2)):
        box = tuple((value, value) for value in state)
        answers = tuple(atoms.truth(test, box) for test in tests)
        assert None not in answers
        seen.setdefault(answers, set()).add(atoms.ranges.range_of(condition, box))
    assert tests
    assert all(len(values) == 1 for values in seen.values())
    for low, high in itertools.combinations(range(7), 2):
        box = ((low, high), (-1, 2), (0, 1))
        for test in tests:
            truth = atoms.truth(test, box)
            states = itertools.product(*(range(a, b + 1) for a, b in box))
            found = {atoms.truth(test, tuple((v, v) for v in state)) for state in states}
            assert truth is None or found == {truth}


@pytest.mark.parametrize("condition", conditions(), ids=str)
def test_z3_means_the_same(condition):
    """In every state, Z3 and intervals agree on whether a condition holds."""
    pytest.importorskip("z3")
    task, *_ = abstract_task()
    atoms, solver = Atoms(task), Solver(task, [], lambda: 60.0)
    holds = solver.condition(condition, solver.now)
    for state in itertools.product(range(0, 7, 2), range(-3, 4), range(2)):
        box = tuple((value, value) for value in state)
        expected = bool(atoms.ranges.range_of(condition, box)[0])
        assert solver.is_possible(*solver.inside(box, solver.now), holds) is expected
    assert solver.asked == 4 * 7 * 2


def test_tests_before_a_step():
    task, x, y, _ = abstract_task()
    atoms = Atoms(task)
    assert atoms.before(Cut(0, 3), {0: x + 1}) == [Cut(0, 2)]
    assert atoms.before(Cut(0, 3), {1: x + 1}) == [Cut(0, 3)]
    assert atoms.before(Cut(0, 3), {0: x + y}) == [Sum(((0, 1), (1, 1)), 2)]
    assert atoms.before(Sum(((0, 1), (1, 1)), 2), {0: x + 1}) == [Sum(((0, 1), (1, 1)), 1)]
    assert atoms.before(Cut(0, 3), {0: None}) is None


def test_sums_narrow_boxes():
    total = Sum(((0, 1), (1, 2)), 4)
    assert narrowed_by((total, True), ((1, 9), (0, 9))) == ((1, 4), (0, 1))
    assert narrowed_by((total, False), ((0, 3), (0, 2))) == ((1, 3), (1, 2))
    assert narrowed_by((total, True), ((3, 9), (1, 9))) is None


def test_cuts_are_balanced():
    cuts = [Cut(0, k) for k in range(1, 8)]
    assert balanced(cuts)[0] == Cut(0, 4)
    assert sorted(balanced([*cuts, *cuts])) == cuts


def test_a_box_without_a_state():
    box, state = ((0, 2), (0, 2)), ((1, 1), (2, 2))
    found = [s for part in without(box, state) for s in itertools.product(*map(_values, part))]
    assert sorted(found) == sorted({*itertools.product(range(3), range(3))} - {(1, 2)})


def _values(bounds):
    return range(bounds[0], bounds[1] + 1)


# -- small tasks ---------------------------------------------------------------------------------


@pytest.fixture
def asked(monkeypatch):
    """The number of questions that Z3 was asked."""
    pytest.importorskip("z3")
    count, ask = [0], Solver.is_possible

    def counting(self, *conditions):
        count[0] += 1
        return ask(self, *conditions)

    monkeypatch.setattr(Solver, "is_possible", counting)
    return count


def test_z3_decides_what_boxes_do_not(asked):
    task, policy = road()
    result = verify(task, policy, method="predicates", certificate=True)
    assert (result.verdict, result.method, result.all_starts) == ("safe", "predicates", True)
    assert asked[0] > 0
    assert result.boxes > 1
    assert result.certificate.unit == "box"
    result.certificate.check()


def test_a_failing_run_is_replayed():
    task, policy = road(careful=False)
    result = verify(task, policy, method="predicates")
    assert result.verdict == "unsafe"
    states = result.run.states
    assert task.is_start(states[0])
    assert task.is_fail(states[-1])
    for before, action, after in zip(states, result.run.actions, states[1:], strict=False):
        assert policy.decide(before) == action
        assert after in task.outcomes(before, action)


def test_z3_is_not_needed_where_boxes_decide(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    assert verify(*counting(), method="predicates").verdict == "safe"


def test_without_z3_the_message_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    task, policy = road()
    with pytest.raises(Unsupported) as caught:
        verify(task, policy, method="predicates")
    assert caught.value.code == "missing-library"
    assert "surefoot[verify]" in caught.value.hint


def test_given_predicates_are_those_that_count(tmp_path, asked):
    task, policy = road()
    listed = [op("<", op("+", "x", "v"), 20), op("≥", "x", 20)]
    file = str(written(tmp_path, listed))
    result = verify(task, policy, method="predicates", predicates=file, certificate=True)
    assert (result.verdict, result.refinements) == ("safe", 0)
    assert result.boxes <= 4
    result.certificate.check()


def test_predicates_that_cannot_be_used(tmp_path):
    task, policy = road()
    file = str(written(tmp_path, [op(">", op("/", "x", 2), 1)]))
    with pytest.raises(Unsupported, match="predicate 0") as caught:
        verify(task, policy, method="predicates", predicates=file)
    assert (caught.value.code, caught.value.file) == ("engine-lacks-feature", file)


def test_refinement_finds_the_predicates(tmp_path, asked):
    """One useless predicate to begin with: the others come from abstract runs."""
    task, policy = road(length=8)
    file = str(written(tmp_path, [op("≥", "v", 3)]))
    result = verify(task, policy, method="predicates", predicates=file, certificate=True)
    assert result.verdict == "safe"
    assert result.refinements > 0
    result.certificate.check()
    truth = Truth(task, policy)
    assert truth.reached() is not None


def test_errors_of_the_model_are_never_safe():
    d = Description("leaves")
    x, y = d.int("x", 0, 5), d.int("y", 0, 3)
    d.edge("up", guard=y == 2, outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{y: y}])
    d.start((x == 0) & (y == 2))
    d.fail(y == 3)
    task = d.compile()
    with pytest.raises(InputError) as caught:
        verify(task, first_output(task), method="predicates")
    assert caught.value.code == "model-out-of-range"


def test_errors_that_nothing_comes_to_do_no_harm():
    d = Description("leaves")
    x, y = d.int("x", 0, 5), d.int("y", 0, 3)
    d.edge("up", guard=y == 2, outcomes=[{x: x + 1}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.start((x == 4) & (y <= 1))
    d.fail(y == 3)
    task = d.compile()
    result = verify(task, first_output(task), method="predicates", certificate=True)
    assert result.verdict == "safe"
    result.certificate.check()


def test_real_variables_are_refused():
    d = Description("real")
    r = d.real("r", 0.0, 1.0, initial=0.5)
    d.edge("go", outcomes=[{r: r}])
    d.fail(r > 0.7)
    task = d.compile()
    with pytest.raises(Unsupported, match='real variables, such as "r"') as caught:
        verify(task, first_output(task), method="predicates")
    assert caught.value.code == "engine-lacks-feature"


def test_no_start_state():
    d = Description("none")
    x, y = d.int("x", 0, 5), d.int("y", 0, 5)
    d.edge("go", outcomes=[{x: y}])
    d.start((x + y == 3) & (x == y))
    task = d.compile()
    with pytest.raises(InputError) as caught:
        verify(task, first_output(task), method="predicates")
    assert caught.value.code == "no-start-state"


def counting():
    d = Description("count")
    x = d.int("x", 0, 9)
    d.edge("up", guard=x < 5, outcomes=[{x: x + 1}])
    d.start(x == 0)
    d.fail(x > 5)
    task = d.compile()
    return task, first_output(task)


def test_time_has_an_end():
    result = verify(*road(), method="predicates", max_seconds=1e-9)
    assert (result.verdict, "ran out of seconds" in result.reason) == ("unknown", True)


def test_steps_have_an_end(tmp_path):
    """What is not looked at is not called safe; what closes before the end is."""
    file = str(written(tmp_path, [op("≥", "x", value) for value in range(1, 7)]))
    found = {
        steps: verify(*counting(), method="predicates", predicates=file, max_steps=steps)
        for steps in (4, 5)
    }
    assert [result.verdict for result in found.values()] == ["unknown", "safe"]
    assert found[4].reason == "only runs of at most 4 steps were examined"
    assert (found[5].boxes, found[5].depth) == (6, 5)


def test_memory_has_an_end(monkeypatch):
    monkeypatch.setattr(search, "BYTES_PER_PART", 10**12)
    result = verify(*road(), method="predicates")
    assert (result.verdict, "ran out of memory" in result.reason) == ("unknown", True)


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(search, "SECONDS_PER_REPORT", 0.0)
    told = []
    verify(*road(), method="predicates", progress=lambda *numbers: told.append(numbers))
    assert told
    seen, refinements, depth, size, seconds = told[-1]
    assert seen > 0
    assert refinements >= 0
    assert depth > 0
    assert size > 0
    assert seconds > 0


def test_a_certificate_of_too_many_boxes_is_made_otherwise(monkeypatch):
    """Boxes alone can prove it as well; their certificate is taken then."""
    called = []
    monkeypatch.setattr(cover, "MAX_BOXES", 1)
    monkeypatch.setattr(
        search, "verify_box", lambda question: called.append(question) or verify_box(question)
    )
    result = verify(*road(length=6), method="predicates", certificate=True)
    assert (result.verdict, len(called)) == ("safe", 1)
    result.certificate.check()


def test_a_certificate_may_be_missing(monkeypatch):
    monkeypatch.setattr(cover, "MAX_BOXES", 1)
    nothing = VerifyResult("unknown", "box", 0, True, 0, 0, 0.0, reason="too hard")
    monkeypatch.setattr(search, "verify_box", lambda question: nothing)
    result = verify(*road(length=6), method="predicates", certificate=True)
    assert result.verdict == "safe"
    assert result.certificate.path is None
    assert "too many boxes" in result.certificate.missing
