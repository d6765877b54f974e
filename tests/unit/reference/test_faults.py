"""Bugs and faults by hand, and against what their definitions say about runs."""

import random

import pytest
from tests.support.explicit_policies import lively_task
from tests.support.explicit_tasks import random_policy

from surefoot.reference import ExplicitTask
from surefoot.reference.enumeration import deviations_by_enumeration, safe_by_enumeration
from surefoot.reference.faults import GuiltyDecision, bugs, faults, safe_states
from surefoot.reference.policies import failing_states, outcomes_under

# 0 may go on to 1, or to the safe sink 4; 1 may go back, or to 2, which is lost; 3 fails.
LEDGE = ExplicitTask(table=(((1,), (4,)), ((0,), (2,), (4, 3)), ((3,),), (), ()), fail={3})
CARELESS = (0, 1, 0, None, None)


def test_faults_and_bugs():
    assert faults(LEDGE, CARELESS) == {1: GuiltyDecision(1, frozenset({2}), (0,))}
    assert bugs(LEDGE, CARELESS) == {0, 1}
    assert safe_states(LEDGE, CARELESS) == {0, 1, 4}


def test_all_outcomes_count():
    assert faults(LEDGE, (0, 2, 0, None, None)) == {1: GuiltyDecision(2, frozenset({3}), (0,))}


def test_a_radius_counts_differences():
    """One difference is enough at 0. At 1 it is not: back at 0 the policy comes to 1 again."""
    assert safe_states(LEDGE, CARELESS, 0) == {4}
    assert safe_states(LEDGE, CARELESS, 1) == {0, 4}
    assert safe_states(LEDGE, CARELESS, 2) == {0, 1, 4}
    assert faults(LEDGE, CARELESS, 0) == {}
    assert faults(LEDGE, CARELESS, 1) == {0: GuiltyDecision(0, frozenset({1}), (1,))}
    assert faults(LEDGE, CARELESS, 2) == {1: GuiltyDecision(1, frozenset({2}), (0,))}
    assert bugs(LEDGE, CARELESS, 1) == {0}


def test_forced_steps_are_no_decisions():
    task = ExplicitTask(table=(((1,), (0,)), (), ()), silent_table=((), ((2,),), ()), fail={2})
    assert faults(task, (0, None, None)) == {0: GuiltyDecision(0, frozenset({1}), (1,))}


@pytest.mark.parametrize("radius", [None, 0, 1, 2])
def test_laws(radius):
    """A bug leads to a fault, and what is safe is so by enumeration too."""
    rng, checked = random.Random(3), 0
    for _ in range(120):
        task = lively_task(rng)
        policy = random_policy(rng, task)
        found, failing = faults(task, policy, radius), failing_states(task, policy)
        for state in bugs(task, policy, radius):
            assert leads_to(task, policy, state, set(found))
        for state, fault in found.items():
            assert state in failing
            assert fault.alternatives, "a safe state has a safe action"
            assert fault.action not in fault.alternatives
        if len(task.table) <= 5:
            checked += 1
            assert safe_states(task, policy, radius) == by_enumeration(task, policy, radius)
    assert checked > 10


def leads_to(task, policy, state, wanted):
    reached = [state]
    for each in reached:  # which grows
        reached += [end for end in outcomes_under(task, policy, each) if end not in reached]
    return bool(wanted & set(reached))


def by_enumeration(task, policy, radius):
    if radius is None:
        return {state for state in task.states if safe_by_enumeration(task, state)}
    least = {state: deviations_by_enumeration(task, policy, state) for state in task.states}
    return {state for state, number in least.items() if number is not None and number <= radius}
