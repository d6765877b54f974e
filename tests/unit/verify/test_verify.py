"""Verifying a policy: verdicts, reasons, options, runs."""

from __future__ import annotations

import pytest

from surefoot import Description, InputError, OutOfBudget, PythonTask, load_task
from surefoot.verify import METHODS, verify

LINE = "domain:one-way-line?packages=3&locations=4"


def walk(*, fail=3, starts=None):
    """Return a task in which ``go`` reaches the goal at 2 and ``fall`` goes to 3."""
    d = Description("walk")
    x = d.int("x", 0, 3)
    d.edge("go", guard=x < 2, outcomes=[{x: x + 1}])
    d.edge("fall", guard=x < 2, outcomes=[{x: 3}])
    d.start(x == 0) if starts is None else d.start(*starts)
    d.goal(x == 2)
    d.fail(x == fail)
    return d.compile()


def drift():
    """Return a task that starts in any real number from 0 to 1."""
    d = Description("drift")
    x = d.real("x", 0.0, 2.0)
    n = d.int("n", 0, 2)
    d.edge("wait", guard=n < 2, outcomes=[{n: n + 1}])
    d.start((x <= 1.0) & (n == 0))
    d.fail(x > 1.5)
    return d.compile()


def test_safe():
    found = verify(walk(), "first")
    assert (found.verdict, found.method, found.reason, found.run) == (
        "safe",
        "explicit",
        None,
        None,
    )
    assert (found.starts, found.all_starts, found.states, found.depth) == (1, True, 3, 2)
    assert found.certificate is None
    assert str(found).startswith("safe: 3 states from all 1 start state")
    assert found.to_dict()["verdict"] == "safe"


def test_unsafe_comes_with_the_run():
    found = verify(walk(), lambda state: "fall")
    assert found.verdict == "unsafe"
    assert [dict(state) for state in found.run.states] == [{"x": 0}, {"x": 3}]
    assert found.run.actions == ("fall",)
    assert found.run.result == "fail"
    assert found.run.is_complete and found.run.is_known_reachable


def test_start_state_that_fails():
    found = verify(walk(fail=0), "first")
    assert (found.verdict, found.run.steps, found.depth) == ("unsafe", 0, 0)


def test_goal_that_fails_is_fail():
    assert verify(walk(fail=2), "first").run.steps == 2


def test_equal_start_states_count_once():
    found = verify(walk(starts=[{"x": 0}, {"x": 1}, {"x": 0}]), "first")
    assert (found.starts, found.states) == (2, 3)


def test_without_start_state():
    d = Description("nowhere")
    x = d.int("x", 0, 3)
    d.start((x > 2) & (x < 1))
    with pytest.raises(InputError) as error:
        verify(d.compile(), "first")
    assert error.value.code == "no-start-state"


# -- samples and budgets -----------------------------------------------------------------------


def test_sampled_start_states_prove_nothing():
    found = verify(drift(), "first", starts=20)
    assert (found.verdict, found.reason) == ("unknown", "start states were sampled")
    assert (found.starts, found.all_starts, found.states) == (20, False, 60)


def test_sampled_start_states_may_show_a_failing_run():
    d = Description("drift")
    x = d.real("x", 0.0, 2.0)
    d.start(x <= 2.0)
    d.fail(x > 0.5)
    found = verify(d.compile(), "first", starts=20)
    assert (found.verdict, found.all_starts, found.run.steps) == ("unsafe", False, 0)


def test_sample_depends_on_the_seed_only():
    first = verify(load_task("domain:cartpole"), "first", starts=5, seed=3)
    again = verify(load_task("domain:cartpole"), "first", starts=5, seed=3, workers=1)
    other = verify(load_task("domain:cartpole"), "first", starts=5, seed=4)
    assert first.run == again.run != other.run


def many_states(starts=1):
    d = Description("many")
    x = d.int("x", 0, 10**6)
    d.edge("go", guard=x < 10**6, outcomes=[{x: x + 1}])
    d.start(x < starts)
    d.fail(x == 10**6)
    return d.compile()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_states": 100}, "ran out of states (100)"),
        ({"memory_mb": 0}, "ran out of memory (0 MB)"),
        ({"max_seconds": 0}, "ran out of seconds (0)"),
    ],
    ids=str,
)
def test_budgets_give_unknown(limits, reason):
    found = verify(many_states(), "first", **limits)
    assert found.verdict == "unknown"
    assert found.reason.startswith(reason)
    assert found.states < 10**5


def test_too_many_start_states_are_sampled():
    found = verify(many_states(starts=10**5), "first", max_states=1000, starts=10)
    assert (found.verdict, found.all_starts) == ("unknown", False)
    assert found.starts == 10


def test_start_states_are_counted_before_they_are_listed():
    """There are 10^13 of them: whoever lists them never comes to the end."""
    task = load_task("domain:one-way-line?packages=30&locations=20&variant=icy")
    found = verify(task, lambda state: task.applicable(state)[0], starts=3, max_states=200)
    assert (found.all_starts, found.starts) == (False, 3)
    assert found.verdict != "safe"


def test_seconds_for_slow_python():
    class Slow:
        def start(self):
            return [(0,)]

        def actions(self, state):
            import time

            time.sleep(0.01)
            return ["up"]

        def outcomes(self, state, action):
            return [(state[0] + 1,)]

        def is_goal(self, state):
            return False

        def is_fail(self, state):
            return False

    found = verify(PythonTask(Slow()), "first", max_seconds=0.3)
    assert (found.verdict, found.reason) == ("unknown", "ran out of seconds (0.3)")
    assert 0 < found.states < 1000


def test_no_time_to_sample(monkeypatch):
    task = drift()

    def never(*_, **__):
        raise OutOfBudget("start-not-sampled", "no sample")

    monkeypatch.setattr(type(task), "draw_starts", never)
    found = verify(task, "first")
    assert (found.verdict, found.reason, found.states) == ("unknown", "no sample", 0)


# -- errors and options ------------------------------------------------------------------------


def test_error_of_the_model():
    d = Description("leaves")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", outcomes=[{x: x + 1}])
    with pytest.raises(InputError) as error:
        verify(d.compile(), "first", workers=2)
    assert error.value.code == "model-out-of-range"


def test_error_of_the_policy():
    with pytest.raises(InputError) as error:
        verify(walk(), lambda state: "jump")
    assert error.value.code == "policy-unknown-action"
    with pytest.raises(InputError) as error:
        verify(walk(), {})
    assert error.value.code == "policy-no-decision"


def test_error_of_python_code():
    def broken(state):
        return 1 / 0

    with pytest.raises(ZeroDivisionError):
        verify(walk(), broken)


def test_failing_state_before_an_error_wins():
    """The search goes layer by layer: what lies behind a failing state is not looked at."""
    d = Description("both")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("up", guard=x == 2, outcomes=[{x: x + 9}])
    d.fail(x == 1)
    assert verify(d.compile(), "first").verdict == "unsafe"


@pytest.mark.parametrize(
    "options",
    [{"method": "magic"}, {"starts": 0}, {"workers": 0}, {"max_states": 0}, {"workers": 10**6}],
    ids=str,
)
def test_bad_options(options):
    with pytest.raises(InputError) as error:
        verify(walk(), "first", **options)
    assert error.value.code == "bad-option"


def test_bad_certificate_option(tmp_path):
    for bad in (3, None):
        with pytest.raises(InputError):
            verify(walk(), "first", certificate=bad)
    for place in (tmp_path, tmp_path / "missing" / "c.jsonl"):
        with pytest.raises(InputError) as error:
            verify(walk(), "first", certificate=place)
        assert error.value.code == "file-not-written"


def test_methods_are_a_table():
    assert list(METHODS) == ["auto", "box", "explicit", "ic3", "predicates"]


def test_progress_and_interruption():
    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify(many_states(), lambda state: "go", progress=stop)


def test_silent_steps_are_forced():
    d = Description("quiet", silent=["tick"])
    x = d.int("x", 0, 4, initial=0)
    d.edge("go", guard=x == 0, outcomes=[{x: 1}])
    d.edge("tick", guard=x <= 1, outcomes=[{x: x + 1}, {x: x + 2}])
    d.fail(x == 3)
    found = verify(d.compile(), "first")
    assert found.run.actions == ("go", "tick")
    assert [state["x"] for state in found.run.states] == [0, 1, 3]
