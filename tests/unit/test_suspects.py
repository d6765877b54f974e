"""Suspects: the last decision of a failing run with a way out after which the policy is safe."""

from surefoot import Description, evaluate, fuzz
from surefoot.objectives import ONE, ZERO, Interval
from surefoot.options import FaultOptions
from surefoot.policies import as_policy
from surefoot.records import Fault
from surefoot.suspects import find_suspects


def corridor():
    """Return a task in which ``go`` walks towards a wall at 6, and ``stop`` ends in a safe place
    up to 3; from 4 on the way is icy.
    """
    d = Description("corridor")
    x = d.int("x", 0, 6, initial=0)
    safe = d.bool("safe", initial=False)
    d.edge("go", guard=x < 6, outcomes=[{x: x + 1}])
    d.edge("stop", guard=x <= 3, outcomes=[{safe: True}])
    d.edge("stop", guard=(x >= 4) & (x < 6), outcomes=[{safe: True}, {x: 6}])
    d.goal(safe)
    d.fail(x == 6)
    return d.compile()


def suspects_of(task, policy):
    runs = fuzz(task, policy, runs=5).failing
    return find_suspects(as_policy(policy, task), runs, options=FaultOptions())


def test_the_last_way_out_is_taken():
    task = corridor()
    policy = as_policy(lambda state: "go", task)
    (found,) = suspects_of(task, policy)
    assert (found.state["x"], found.action, found.alternatives) == (3, "go", ("stop",))
    assert found.run.states[found.step] == found.state


def test_an_alternative_must_be_safe_in_all_its_outcomes():
    task = corridor()
    late = as_policy(lambda state: "go" if state["x"] < 5 else "stop", task)
    assert {one.state["x"] for one in suspects_of(task, late)} == {3}


def test_after_the_alternative_the_policy_decides_and_may_fail():
    """What comes after the alternative is the policy's: where that fails there is no suspect."""
    d = Description("two ways")
    x = d.int("x", 0, 3, initial=0)
    d.edge("left", guard=x == 0, outcomes=[{x: 1}])
    d.edge("right", guard=x == 0, outcomes=[{x: 2}])
    d.edge("on", guard=(x == 1) | (x == 2), outcomes=[{x: 3}])
    d.edge("wait", guard=x == 2, outcomes=[{x: 2}])
    d.fail(x == 3)
    task = d.compile()
    policy = as_policy(lambda state: "left" if state["x"] == 0 else "on", task)
    assert suspects_of(task, policy) == []
    careful = as_policy(lambda s: {0: "left", 1: "on", 2: "wait"}[s["x"]], task)
    (found,) = suspects_of(task, careful)
    assert (found.state["x"], found.alternatives) == (0, ("right",))


def test_no_runs_no_suspects():
    task = corridor()
    assert find_suspects(as_policy("first", task), [], options=FaultOptions()) == []


def test_every_alternative_makes_the_policy_safe_from_there():
    task = corridor()
    policy = as_policy(lambda state: "go", task)
    for found in suspects_of(task, policy):
        for action in found.alternatives:
            for outcome in task.outcomes(found.state, action):
                assert evaluate(task, policy, [outcome]).unsafe == 0


def test_what_it_may_cost_is_an_interval_of_exact_values():
    task = corridor()
    (found,) = suspects_of(task, as_policy(lambda state: "go", task))
    assert found.loss == Interval(ZERO, ONE)
    assert Fault(found.state, found.action, ()).loss == Interval.exactly(ONE)
