"""What policies do on written-out tasks, by hand and against trying every run."""

import random
from itertools import pairwise

import pytest
from tests.support.explicit_tasks import random_policy, random_task

from surefoot.reference import ExplicitTask
from surefoot.reference.policies import (
    failing_states,
    outcomes_under,
    reached_under,
    steps_to_fail,
)

FORK = (((1,), (2, 3)), ((1,),), (), ((4,),), ())

FAILING = {
    "the other action fails": (ExplicitTask(table=FORK, fail={4}), (0, 0, None, 0, None), {3, 4}),
    "one outcome is enough": (
        ExplicitTask(table=FORK, fail={4}),
        (1, 0, None, 0, None),
        {0, 3, 4},
    ),
    "nobody goes on from a goal": (
        ExplicitTask(table=FORK, fail={4}, goal={3}),
        (1, 0, None, None, None),
        {4},
    ),
    "fail beats goal": (
        ExplicitTask(table=FORK, fail={2}, goal={2}),
        (1, 0, None, 0, None),
        {0, 2},
    ),
    "all silent steps are possible": (
        ExplicitTask(table=((), (), ()), silent_table=(((1,), (2,)), (), ()), fail={2}),
        (None, None, None),
        {0, 2},
    ),
    "silent steps are taken only where nothing else is applicable": (
        ExplicitTask(table=(((0,),), ()), silent_table=(((1,),), ()), fail={1}),
        (0, None),
        {1},
    ),
    "a decision that is not applicable ends the run": (
        ExplicitTask(table=(((), (1,)), ()), fail={1}),
        (0, None),
        {1},
    ),
}


@pytest.mark.parametrize("name", FAILING)
def test_where_policies_may_fail(name):
    task, policy, failing = FAILING[name]
    assert failing_states(task, policy) == failing


def test_against_trying_every_run():
    """A run that fails does so within as many steps as there are states."""
    rng = random.Random(0)
    for _ in range(300):
        task = random_task(rng)
        policy = random_policy(rng, task)
        for start in task.states:
            least = shortest_by_enumeration(task, policy, start)
            assert steps_to_fail(task, policy, [start]) == least
            assert (start in failing_states(task, policy)) == (least is not None)


def shortest_by_enumeration(task, policy, start):
    runs = [[start]]
    for _ in range(len(task.table) + 1):
        failing = [len(run) - 1 for run in runs if run[-1] in task.fail]
        if failing:
            return min(failing)
        ends = {run[-1]: run for run in runs}  # one run to each state is enough
        runs = [
            [*run, end] for run in ends.values() for end in outcomes_under(task, policy, run[-1])
        ]
        assert all(
            end in outcomes_under(task, policy, state)
            for run in runs
            for state, end in pairwise(run)
        )
    return None


def test_what_is_reached():
    task = ExplicitTask(table=FORK)
    assert reached_under(task, (0, 0, None, 0, None), [0]) == {0, 1}
    assert reached_under(task, (1, 0, None, 0, None), [0]) == {0, 2, 3, 4}
    assert reached_under(task, (0, 0, None, 0, None), [1, 3]) == {1, 3, 4}
    assert steps_to_fail(task, (0, 0, None, 0, None), [0]) is None
