"""The portfolio: who is asked when, with which share of the budget, and what comes out."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

from surefoot import Description, InputError, PythonTask, Unsupported, load_task
from surefoot.policies import as_policy
from surefoot.policies.models import Layer, Network, Trees
from surefoot.records import EngineReport, VerifyResult
from surefoot.verify import METHODS, auto, verify
from surefoot.verify.auto import count_starts

MANY = 20_000  # more start states than a short search looks at


def wide(*, starts=MANY, fail=None, steps=1):
    """Return a task with many start states that counts to the number of steps, and a policy; what
    starts with ``fail`` fails in the end.
    """
    d = Description("wide")
    x, y = d.int("x", 0, starts - 1), d.int("y", 0, steps)
    d.edge("go", guard=y < steps, outcomes=[{y: y + 1}])
    d.edge("stay", guard=y < steps, outcomes=[{}])
    d.start(y == 0)
    d.fail((y == steps) & (x == fail) if fail is not None else y > steps)
    task = d.compile()
    return task, first_output(task)


def first_output(task):
    """Return trees of one leaf each that always take the first action."""
    outputs = len(task.actions)
    numbers = np.arange(outputs, dtype=np.int32)
    model = Trees(
        num_inputs=len(task.names),
        num_outputs=outputs,
        roots=numbers,
        features=np.full(outputs, -1, dtype=np.int32),
        thresholds=np.zeros(outputs),
        left=numbers,
        right=numbers,
        values=np.array([1.0] + [0.0] * (outputs - 1)),
        base=np.zeros(outputs),
        input_precision="float32",
        sum_precision="float32",
    )
    return as_policy(model, task)


def result(verdict, method, *, reason=None, **more):
    return VerifyResult(verdict, method, 0, True, 0, 0, 0.0, reason=reason, **more)


@pytest.fixture
def engines(monkeypatch):
    """Stand-ins for the methods: by default each gives up at once. ``asked`` has who was asked."""

    class Engines:
        def __init__(self):
            self.asked = []
            self.answers = {"box": result("unknown", "box", reason="ran out of boxes")}
            self.raced = []
            self.race = (None, [EngineReport("ic3", "unknown", 0.5, "gave up")], [])

        def box(self, question):
            self.asked.append(("box", question.options.max_seconds))
            answer = self.answers["box"]
            if isinstance(answer, Exception):
                raise answer
            return answer

        def explicit(self, question):
            self.asked.append(("explicit", question.options))
            answer = self.answers.get("explicit")
            return real(question) if answer is None else answer

        def side_by_side(self, question, methods):
            self.raced.append((methods, question.options.max_seconds))
            return self.race

    made, real = Engines(), METHODS["explicit"]
    monkeypatch.setitem(METHODS._made, "box", made.box)
    monkeypatch.setitem(METHODS._made, "explicit", made.explicit)
    monkeypatch.setattr(auto, "verify_side_by_side", made.side_by_side)
    return made


def names(found):
    return [one.method for one in found.engines]


# -- the schedule ------------------------------------------------------------------------------


@pytest.mark.parametrize("fail", [None, 3], ids=["safe", "unsafe"])
def test_little_is_looked_at_completely_before_all_others(engines, fail):
    task, policy = wide(starts=10, fail=fail)
    found = verify(task, policy)
    assert (found.verdict, found.method) == ("safe" if fail is None else "unsafe", "explicit")
    assert names(found) == ["explicit"]
    assert found.engines[0].verdict == found.verdict
    assert not engines.raced and "box" not in [name for name, _ in engines.asked]


def falls():
    """Return a task in which most runs fail."""
    d = Description("falls")
    x, y = d.int("x", 0, MANY), d.int("y", 0, 2)
    d.edge("go", guard=y < 2, outcomes=[{y: y + 1}])
    d.start(y == 0)
    d.fail((y == 1) & (x > 100))
    task = d.compile()
    return task, first_output(task)


def test_fuzzing_finds_failing_runs(engines):
    task, policy = falls()
    found = verify(task, policy, runs=5)
    assert (found.verdict, found.method, found.all_starts) == ("unsafe", "fuzz", False)
    runs = [found.run, *found.others]
    assert len(runs) == 5
    assert [run.run for run in runs] == list(range(5))
    for run in runs:
        assert task.is_start(run.start) and task.is_fail(run.states[-1])
        assert run.actions == ("go",)
    assert verify(task, policy).others == ()
    assert not engines.asked


def test_fuzzing_depends_on_the_seed(engines):
    task, policy = falls()
    first, again, other = (verify(task, policy, seed=seed).run for seed in (1, 1, 2))
    assert first == again != other


def test_box_decides(engines):
    engines.answers["box"] = result("safe", "box", boxes=26, refinements=2)
    found = verify(*wide())
    assert (found.verdict, found.method, found.boxes) == ("safe", "box", 26)
    assert names(found) == ["fuzz", "box"]
    assert found.engines[0].reason == "1,000 runs, none of which fails"
    assert [name for name, _ in engines.asked] == ["box"]


@pytest.mark.parametrize(("budget", "most"), [(600, 10.0), (5, 2.0)])
def test_box_gets_ten_seconds_or_a_part_of_a_small_budget(engines, budget, most):
    verify(*huge(), starts=5, max_seconds=budget)
    (seconds,) = [seconds for name, seconds in engines.asked if name == "box"]
    assert most - 1 < seconds <= most


def test_box_gets_less_where_a_search_may_decide(engines):
    verify(*wide())
    assert ("box", 3.0) in engines.asked


def test_box_gets_more_for_trees_where_a_search_takes_long(engines, monkeypatch):
    monkeypatch.setattr(auto, "STATES_PER_SECOND", MANY / 6)
    task, policy = wide()
    verify(task, policy)
    assert ("box", 6.0) in engines.asked
    network = Network((Layer(np.zeros((2, 2)), np.array([1.0, 0.0]), "linear"),), "float32")
    verify(task, as_policy(network, task))
    assert ("box", 3.0) in engines.asked


def test_few_start_states_may_reach_many_states(engines):
    task, policy = wide(starts=5, steps=30_000)
    found = verify(task, policy)
    assert (found.verdict, found.method, found.states) == ("safe", "explicit", 150_005)
    assert ("box", 3.0) in engines.asked


def test_explicit_decides_where_box_does_not(engines):
    found = verify(*wide())
    assert (found.verdict, found.method, found.starts) == ("safe", "explicit", MANY)
    assert names(found) == ["fuzz", "box", "explicit"]
    assert not engines.raced


def test_what_a_method_does_not_support_is_noted(engines):
    engines.answers["box"] = Unsupported("box-pow", "box has no powers")
    found = verify(*wide())
    assert found.verdict == "safe"
    assert replace(found.engines[1], seconds=0.0) == EngineReport(
        "box", "unknown", 0.0, "box has no powers", "box-pow"
    )


def huge():
    """Return a task with 10^12 start states."""
    d = Description("huge")
    variables = [d.int(name, 0, 9_999) for name in "abc"]
    y = d.int("y", 0, 1)
    d.edge("go", guard=y == 0, outcomes=[{y: 1}])
    d.start(y == 0)
    d.fail(y > 1 + variables[0])
    task = d.compile()
    return task, first_output(task)


def test_too_many_start_states_are_sampled_and_proved_by_others(engines):
    engines.race = (result("safe", "ic3", boxes=6), [EngineReport("ic3", "safe", 1.0)], [])
    found = verify(*huge(), starts=50)
    assert (found.verdict, found.method, found.boxes) == ("safe", "ic3", 6)
    assert names(found) == ["fuzz", "box", "explicit", "ic3"]
    assert found.engines[2].reason == "start states were sampled"
    ((methods, seconds),) = engines.raced
    assert methods == ["ic3"]  # box gave up by itself
    assert 0 < seconds < 600


def test_box_goes_on_beside_ic3_if_its_time_was_too_short(engines):
    engines.answers["box"] = result("unknown", "box", reason="no more time", code="out-of-seconds")
    reports = [EngineReport(name, "unknown", 2.0, "ran out of seconds") for name in ("box", "ic3")]
    engines.race = (None, reports, [result("unknown", "box", boxes=9, reason="ran out of time")])
    found = verify(*huge(), starts=50)
    assert engines.raced[0][0] == ["box", "ic3"]
    assert (found.verdict, found.method, found.boxes) == ("unknown", "auto", 9)
    (box,) = [one for one in found.engines if one.method == "box"]
    assert box.seconds >= 2.0  # both times together


def test_unknown_says_what_everybody_did(engines):
    found = verify(*huge(), starts=50)
    assert (found.verdict, found.method, found.starts) == ("unknown", "auto", 50)
    assert found.reason == (
        "fuzz: 1,000 runs, none of which fails; box: ran out of boxes; "
        "explicit: start states were sampled; ic3: gave up"
    )
    assert found.states == 100 and not found.all_starts
    assert found.run is None and found.certificate is None


def test_explicit_gets_what_the_others_leave(engines):
    cut = result("unknown", "explicit", reason="no more time", code="out-of-seconds")
    engines.answers["explicit"] = cut
    verify(*wide(), max_seconds=100)
    asked = [options.max_seconds for name, options in engines.asked if name == "explicit"]
    assert len(asked) == 2
    assert asked[0] <= 50 < asked[1] <= 100


def test_codes_decide_not_words(engines):
    """Reasons are for people: a method may say what it likes."""
    words = "ran out of seconds and of memory"
    engines.answers["box"] = result("unknown", "box", reason=words, code="stuck")
    engines.answers["explicit"] = result("unknown", "explicit", reason=words, code="other")
    found = verify(*wide(starts=5), max_seconds=100)
    assert engines.raced[0][0] == ["ic3"]  # box is not asked again
    asked = [options.max_seconds for name, options in engines.asked if name == "explicit"]
    assert len(asked) == 2  # the short search, and the one after it; not the rest
    codes = {report.method: report.code for report in found.engines}
    assert codes == {"explicit": "other", "fuzz": "no-run-fails", "box": "stuck", "ic3": None}


def test_memory_that_ran_out_is_not_asked_for_again(engines):
    said = result("unknown", "explicit", reason="too large", code="out-of-memory")
    engines.answers["explicit"] = said
    verify(*wide(starts=5), max_seconds=100)
    assert [name for name, _ in engines.asked].count("explicit") == 1


def test_no_time_is_unknown(engines):
    found = verify(*wide(), max_seconds=0)
    assert (found.verdict, found.method) == ("unknown", "auto")
    assert found.reason.endswith("; ran out of seconds (0)")
    assert not engines.asked and not engines.raced
    small = verify(*wide(starts=5), max_seconds=0)
    assert (small.verdict, "ran out of seconds (0)" in small.reason) == ("unknown", True)


def test_limits_of_states_hold_for_all_searches(engines):
    task, policy = wide(starts=1000)
    found = verify(task, policy, max_states=1500)
    assert found.verdict == "unknown"
    assert "explicit: ran out of states (1,500)" in found.reason
    asked = [options.max_states for name, options in engines.asked if name == "explicit"]
    assert asked == [1500]  # more would not help


def test_one_budget_for_all(engines, monkeypatch):
    """Seconds that a method used are not there for the next one."""
    slow = METHODS["box"]

    def box(question):
        time.sleep(0.3)
        return slow(question)

    monkeypatch.setitem(METHODS._made, "box", box)
    verify(*huge(), starts=5, max_seconds=2)
    ((_, seconds),) = engines.raced
    assert seconds < 1.7


# -- policies and tasks that only explicit can read --------------------------------------------


@pytest.mark.parametrize("policy", ["first", "random", lambda state: "go"])
def test_policies_without_model_are_left_to_explicit(engines, policy):
    task, _ = wide()
    found = verify(task, policy)
    assert found.method == "explicit"
    assert names(found) == ["box", "explicit"]
    assert "trees, networks" in found.engines[0].reason
    assert [name for name, _ in engines.asked] == ["explicit"]


class Counter:
    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["up"] if state[0] < 3 else []

    def outcomes(self, state, action):
        return [(state[0] + 1,)]

    def is_goal(self, state):
        return False

    def is_fail(self, state):
        return state[0] > 3


def test_tasks_of_python_code_are_left_to_explicit(engines):
    found = verify(PythonTask(Counter()), "first")
    assert (found.verdict, found.method, found.states) == ("safe", "explicit", 4)
    assert "Python code defines the task" in found.engines[0].reason


@pytest.mark.parametrize("method", ["box", "predicates", "ic3"])
def test_methods_on_sets_of_states_say_what_they_lack(method):
    with pytest.raises(Unsupported) as error:
        verify(PythonTask(Counter()), "first", method=method)
    assert error.value.code == "verify-python-task"
    assert error.value.message.startswith(f"method {method}: Python code")
    task, _ = wide()
    for policy in ("first", lambda state: "go", {}):
        with pytest.raises(Unsupported) as error:
            verify(task, policy, method=method)
        assert error.value.code == "verify-policy-kind"
        assert method in error.value.message and "explicit" in (error.value.hint or "")


def test_errors_of_the_model_are_not_hidden(engines):
    d = Description("leaves")
    x, y = d.int("x", 0, MANY), d.int("y", 0, 3)
    d.edge("up", outcomes=[{y: y + 1}])
    d.start((y == 0) & (x >= 0))
    task = d.compile()
    with pytest.raises(InputError) as error:
        verify(task, first_output(task))
    assert error.value.code == "model-out-of-range"


# -- what is told ------------------------------------------------------------------------------


def test_watch_hears_which_method_begins(engines):
    heard = []
    verify(*huge(), starts=5, watch=heard.append)
    assert heard == ["auto", "fuzz", "box", "explicit"]


def test_engines_are_plain_data(engines):
    plain = verify(*huge(), starts=5).to_dict()
    assert plain["engines"][1]["method"] == "box"
    assert set(plain["engines"][1]) == {"method", "verdict", "seconds", "reason", "code"}


def test_starts_are_counted_not_listed():
    table = {
        "domain:one-way-line?packages=3&locations=4": 80,
        "domain:one-way-line?packages=30&locations=20&variant=icy": 75406739590336,
        "domain:racetrack": len(load_task("domain:racetrack").list_starts()),
        "domain:cartpole": None,
    }
    assert {name: count_starts(load_task(name)) for name in table} == table
    assert count_starts(PythonTask(Counter())) == 1


def test_starts_that_cannot_be_counted_are_listed_if_they_are_few():
    d = Description("odd")
    x, y = d.int("x", 0, 50), d.int("y", 0, 50)
    d.start((y > 0) & (100 / y > 3) & (x == y))
    task = d.compile()
    assert count_starts(task) == len(task.list_starts())


def test_what_ic3_has_blocked_feeds_box(engines, monkeypatch):
    task, policy = wide()
    out_of_seconds = "ran out of seconds (1)"
    cut = {"reason": out_of_seconds, "code": "out-of-seconds"}
    engines.answers["box"] = result("unknown", "box", **cut)
    engines.answers["explicit"] = result("unknown", "explicit", reason="ran out of states (3)")
    blocked = result("unknown", "ic3", bounds=(("x", 3), ("y", 1)), **cut)
    engines.race = (None, [EngineReport("ic3", "unknown", 0.5, out_of_seconds)], [blocked])
    given = []

    def box(question):
        given.append(question.bounds)
        return engines.box(question) if not question.bounds else result("safe", "box")

    monkeypatch.setitem(METHODS._made, "box", box)
    found = verify(task, policy, max_seconds=60)
    assert given == [(), blocked.bounds]
    assert (found.verdict, found.method) == ("safe", "box")


def test_an_error_that_box_comes_to_is_raised_if_nobody_knows_better(engines):
    task, policy = wide()
    engines.answers["box"] = InputError("model-out-of-range", "an update leaves the range")
    engines.answers["explicit"] = result("unknown", "explicit", reason="ran out of states (3)")
    with pytest.raises(InputError, match="leaves the range"):
        verify(task, policy, max_seconds=60)
    engines.answers["explicit"] = result("unsafe", "explicit")
    assert verify(task, policy, max_seconds=60).verdict == "unsafe"
