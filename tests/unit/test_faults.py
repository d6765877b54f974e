"""Fault analysis as users meet it: tables by hand, what is refused, limits and what is printed."""

import time

import pytest

from surefoot import Description, InputError, domain
from surefoot.faults import FaultFinder, find_faults
from surefoot.fuzz import fuzz
from surefoot.options import FaultOptions
from surefoot.policies import as_policy
from surefoot.records import Run, RunEnd

BDD = "propagate_unsafe_bdd"


def ledge():
    """A walk along a ledge from 0 to 4: at 2 it gets narrow, and from 3 on everybody falls (5).

    ``back`` goes back, ``rest`` may slip one further or stay.
    """
    d = Description("ledge")
    x = d.int("x", 0, 5, initial=0)
    d.edge("on", guard=x < 5, outcomes=[{x: x + 1}])
    d.edge("back", guard=(x > 0) & (x < 3), outcomes=[{x: x - 1}])
    d.edge("rest", guard=x < 3, outcomes=[{}, {x: x + 1}])
    d.fail(x == 5)
    return d.compile()


def failing_runs(task, policy="first", **options):
    return fuzz(task, policy, runs=options.pop("runs", 1), **options).failing


def run_of(task, numbers, actions, **more):
    states = tuple(task.state(x=n) for n in numbers)
    return Run(0, states, tuple(actions), RunEnd.FAIL, **more)


def test_the_fault_is_where_the_safe_region_is_left():
    task = ledge()
    found = find_faults(task, "first", failing_runs(task))
    (fault,) = found.faults
    assert (fault.state["x"], fault.action, fault.outcome["x"], fault.step) == (2, "on", 3, 2)
    assert fault.alternatives == ("back",)  # resting may slip
    assert [bug.state["x"] for bug in found.bugs] == [0, 1, 2]
    assert not found.unknown and not found.unavoidable
    assert found.runs == 1


def test_an_outcome_that_the_run_did_not_take_makes_a_fault_too():
    """The run stays at 2 when it rests there, and slips later."""
    task = ledge()
    policy = as_policy(lambda s: "rest" if s["x"] == 2 else "on", task)
    run = run_of(task, (2, 2, 3, 4, 5), ("rest", "rest", "on", "on"))
    (fault,) = find_faults(task, policy, [run]).faults
    assert (fault.step, fault.outcome["x"]) == (0, 3)
    assert fault.alternatives == ("back",)


@pytest.mark.parametrize(("radius", "states"), [(0, []), (1, []), (2, []), (None, [2])], ids=str)
def test_a_difference_in_a_circle_counts_again_and_again(radius, states):
    """Going back from 2 is needed for ever: no number of differences is enough."""
    task = ledge()
    found = find_faults(task, "first", failing_runs(task), radius=radius)
    assert [fault.state["x"] for fault in found.faults] == states
    assert [fault.radius for fault in found.faults] == [radius] * len(states)


def stairs():
    """At each of three steps ``up`` is right and ``down`` falls; then comes the goal."""
    d = Description("stairs")
    x = d.int("x", -1, 3, initial=0)
    d.edge("down", guard=(x >= 0) & (x < 3), outcomes=[{x: -1}])
    d.edge("up", guard=(x >= 0) & (x < 3), outcomes=[{x: x + 1}])
    d.goal(x == 3)
    d.fail(x == -1)
    return d.compile()


def test_a_radius_counts_the_differences():
    task = stairs()
    runs = fuzz(task, "first", [{"x": n} for n in range(3)], runs=3).failing
    for radius in range(5):
        found = find_faults(task, "first", runs, radius=radius, deviations=True)
        states = [n for n in range(3) if 3 - n <= radius]
        assert [fault.state["x"] for fault in found.faults] == states
        assert [fault.deviations.least for fault in found.faults] == [3 - n for n in states]
        assert all(fault.alternatives == ("up",) for fault in found.faults)
        assert list(found.unavoidable) == [n for n in range(3) if n not in states]
        for fault in found.faults:
            fault.certificates.outcome.check()
            fault.certificates.alternatives["up"].check()
    assert "deviations 1" in str(found.faults[-1])
    assert found.faults[-1].to_dict()["deviations"] == 1


def test_faults_on_several_runs_are_listed_once():
    task = stairs()
    policy = as_policy(lambda s: "down" if s["x"] == 2 else "up", task)
    runs = fuzz(task, policy, [{"x": 0}, {"x": 1}, {"x": 0}], runs=3).failing
    assert [(run.run, run.same) for run in runs] == [(0, (2,)), (1, ())]
    found = find_faults(task, policy, runs)
    (fault,) = found.faults
    assert (fault.runs, fault.run.run, fault.step) == ((0, 2, 1), 0, 2)
    finder = FaultFinder(task, policy)
    assert [len(finder.add(run)) for run in runs] == [1, 1]
    assert finder.result().faults[0].runs == (0, 2, 1)


def test_a_run_from_an_unsafe_state_is_unavoidable():
    task = ledge()
    found = find_faults(task, "first", [run_of(task, (3, 4, 5), ("on", "on"))])
    assert not found.faults and not found.bugs
    assert found.unavoidable == (0,)
    assert "1 run from an unsafe state" in found.summary_text


def test_a_single_state_that_fails():
    task = ledge()
    found = find_faults(task, "first", [run_of(task, (5,), ())])
    assert not found.faults and found.unavoidable == (0,)


def test_silent_steps_are_nobodys_fault():
    d = Description("slide", silent=["slip", "slide"])
    x = d.int("x", 0, 4, initial=0)
    d.edge("enter", guard=x == 0, outcomes=[{x: 1}])
    d.edge("stay", guard=x == 0, outcomes=[{}])
    d.edge("slip", guard=x == 1, outcomes=[{x: 2}])
    d.edge("slide", guard=(x == 1) | (x == 2), outcomes=[{x: 3}])
    d.edge("slip", guard=x == 0, outcomes=[{x: 3}])  # never: something else is applicable
    d.fail(x == 3)
    task = d.compile()
    runs = failing_runs(task, runs=20, bias="uniform", lookahead=1)
    assert {run.actions for run in runs} == {("enter", "slide"), ("enter", "slip", "slide")}
    found = find_faults(task, "first", runs)
    assert [(f.state["x"], f.action, f.alternatives) for f in found.faults] == [
        (0, "enter", ("stay",))
    ]
    assert not found.unknown


def test_bugs_only():
    task = ledge()
    found = find_faults(task, "first", failing_runs(task), bugs_only=True)
    assert len(found.bugs) == 3
    assert not found.faults and not found.unknown and not found.undecided


# -- what is refused ---------------------------------------------------------------------------

NO_RUNS = {
    "does not fail": ((0, 1, 2), ("on", "on")),
    "another decision": ((2, 1), ("back",)),
    "impossible outcome": ((0, 5), ("on",)),
    "impossible outcome on the way": ((0, 2, 3, 4, 5), ("on", "on", "on", "on")),
    "goes on from fail": ((4, 5, 5), ("on", "on")),
    "too few actions": ((3, 4, 5), ("on",)),
    "too many actions": ((4, 5), ("on", "on")),
    "unknown action": ((4, 5), ("fly",)),
}


@pytest.mark.parametrize("name", NO_RUNS)
def test_what_is_no_failing_run_is_refused(name):
    task = ledge()
    numbers, actions = NO_RUNS[name]
    run = run_of(task, numbers, actions)
    with pytest.raises(InputError) as caught:
        find_faults(task, "first", [run])
    assert caught.value.code in ("not-a-failing-run", "nothing-to-decide")


def test_a_run_with_its_start_alone_is_refused():
    task = stairs()
    runs = fuzz(task, lambda state: "up", runs=1).runs
    with pytest.raises(InputError) as caught:
        find_faults(task, lambda state: "up", runs)
    assert caught.value.code == "not-a-failing-run"


def test_a_silent_step_where_something_can_be_decided_is_refused():
    d = Description("slip", silent=["slip"])
    x = d.int("x", 0, 2, initial=0)
    d.edge("stay", guard=x == 0, outcomes=[{}])
    d.edge("slip", guard=x == 0, outcomes=[{x: 2}])
    d.fail(x == 2)
    task = d.compile()
    with pytest.raises(InputError) as caught:
        find_faults(task, "first", [run_of(task, (0, 2), ("slip",))])
    assert caught.value.code == "not-a-failing-run"


@pytest.mark.parametrize(
    "options", [{"oracle": BDD}, {"oracle": "ipi", "radius": 1}, {"oracle": "guess"}], ids=str
)
def test_options_that_do_not_fit_are_refused(options):
    task = ledge()
    with pytest.raises(InputError):
        find_faults(task, "first", failing_runs(task), **options)


def test_options_as_an_object():
    task = ledge()
    options = FaultOptions(bugs_only=True, radius=float("inf"))
    assert len(find_faults(task, "first", failing_runs(task), options=options).bugs) == 3


# -- limits ------------------------------------------------------------------------------------


def test_what_is_unknown_says_why():
    task = ledge()
    found = find_faults(task, "first", failing_runs(task), max_states=1)
    assert not found.faults
    assert {one.reason for one in found.unknown} == {"states"}
    assert found.undecided == (0,)
    assert str(found.unknown[0]).startswith("unknown (states): the ")
    assert found.summary["unknown"] == len(found.unknown)


def endless():
    """``fall`` fails at once; ``on`` never ends."""
    d = Description("endless")
    v = [d.int(f"v{i}", 0, 2000, initial=0) for i in range(3)]
    d.edge("fall", guard=v[0] < 2000, outcomes=[{v[0]: 2000}])
    d.edge("on", guard=v[0] < 2000, outcomes=[{v[i]: (v[i] + 1) % 2000} for i in range(3)])
    d.fail(v[0] == 2000)
    return d.compile()


@pytest.mark.parametrize(
    "limits", [{"state_seconds": 0.2}, {"max_seconds": 0.2}, {"memory_mb": 5}], ids=str
)
def test_limits_are_kept_and_nothing_is_invented(limits):
    task = endless()
    runs = failing_runs(task)
    begin = time.perf_counter()
    found = find_faults(task, "first", runs, **limits)
    assert time.perf_counter() - begin < 3
    assert not found.faults and not found.bugs
    assert found.undecided == (0,)
    assert {one.reason for one in found.unknown} == {
        "memory" if "memory_mb" in limits else "seconds"
    }
    assert (found.stopped == "seconds") == ("max_seconds" in limits)


# -- what is printed ---------------------------------------------------------------------------


def test_what_is_printed():
    task = ledge()
    found = find_faults(task, "first", failing_runs(task))
    fault = found.faults[0]
    assert str(fault) == (
        "fault: on in x=2\n  may lead to x=3, which is unsafe\n  safe alternative: back"
    )
    content = found.to_dict()
    assert content["faults"][0] == {
        "state": {"x": 2},
        "action": "on",
        "outcome": {"x": 3},
        "alternatives": ["back"],
        "run": 0,
        "step": 2,
        "runs": [0],
    }
    assert content["bugs"][0] == {"state": {"x": 0}, "run": 0, "step": 0}
    assert found.summary_text.startswith("1 failing run: 1 fault, 3 bugs, 0 unknown; in ")


def test_faults_on_perturbed_runs_are_not_known_to_be_reachable():
    task = ledge()
    runs = failing_runs(task, runs=30, perturb="values")
    found = find_faults(task, "first", runs)
    assert found.faults
    assert all(fault.to_dict()["known_reachable"] is False for fault in found.faults)


def test_runs_of_an_equal_task_will_do():
    def line():
        return domain("one-way-line", packages=2, locations=6, variant="icy-park")

    runs = fuzz(line(), "first", runs=20).failing
    mine = find_faults(line(), "first", runs)
    task = line()
    other = find_faults(task, "first", fuzz(task, "first", runs=20).failing)
    assert mine.faults
    assert mine.to_dict()["faults"] == other.to_dict()["faults"]
