"""The reference itself, against tables by hand and against trying every policy."""

import random

import pytest
from tests.support.explicit_tasks import random_policy, random_task

from surefoot.reference import ExplicitTask, deviations, unsafe_pairs, unsafe_ranks
from surefoot.reference.enumeration import deviations_by_enumeration, safe_by_enumeration

LOOP = ((0,),)
STAIRS = (
    *(((1,), (2,), (3,), (4,)), ((2, 5),)),  # the root, and the first step down to fail
    *(((3, 1),), ((4, 2),)),
    *((), ()),  # the safe sink and fail
)

SAFE = {
    "dead end is safe": (ExplicitTask(table=((),)), {0}),
    "dead end that fails": (ExplicitTask(table=((),), fail={0}), set()),
    "fail beats goal": (ExplicitTask(table=((),), fail={0}, goal={0}), set()),
    "fail beats goal, also with actions": (
        ExplicitTask(table=(LOOP, ((0,),)), fail={0}, goal={0}),
        set(),
    ),
    "goal stops the run": (ExplicitTask(table=(((1,),), ()), fail={1}, goal={0}), {0}),
    "fail stops the run": (ExplicitTask(table=(((1,),), ()), fail={0}), {1}),
    "loop avoids fail": (ExplicitTask(table=(((0,), (1,)), ()), fail={1}), {0}),
    "one bad outcome loses the action": (
        ExplicitTask(table=(((1, 2),), (), ()), fail={2}),
        {1},
    ),
    "loop with a way out to fail": (ExplicitTask(table=(((0, 1),), ()), fail={1}), set()),
    "unsafety travels": (ExplicitTask(table=(((1,),), ((2, 3),), (), ()), fail={2}), {3}),
    "one good action is enough": (
        ExplicitTask(table=(((1,), (2,)), (), ()), fail={1}),
        {0, 2},
    ),
    "first action leads to a state known to be unsafe": (  # iPI as printed does not end here
        ExplicitTask(table=(((1,), (3,)), ((2,),), (), ()), fail={2}),
        {0, 3},
    ),
    "staircase": (ExplicitTask(table=STAIRS, fail={5}), {0, 4}),
    "an action with no outcomes is no choice": (
        ExplicitTask(table=(((), (1,)), ()), fail={1}),
        set(),
    ),
    "silent step into fail is forced": (
        ExplicitTask(table=((), ()), silent_table=(((1,),), ()), fail={1}),
        set(),
    ),
    "every silent action may be taken": (
        ExplicitTask(table=((), ()), silent_table=(((0,), (1,)), ()), fail={1}),
        set(),
    ),
    "silent step is not taken where another is possible": (
        ExplicitTask(table=(LOOP, ()), silent_table=(((1,),), ()), fail={1}),
        {0},
    ),
    "nobody escapes by a silent step": (
        ExplicitTask(table=(((1,),), ()), silent_table=(((0,),), ()), fail={1}),
        set(),
    ),
}

# Task, policy, and the least radius that makes each state safe.
DEVIATIONS = {
    "safe as it is": (ExplicitTask(table=(((0,), (1,)), ()), fail={1}), (0, None), (0, None)),
    "a difference inside a cycle counts infinitely often": (
        ExplicitTask(table=(((0,), (1,)), ()), fail={1}),
        (1, None),
        (None, None),
    ),
    "a difference that leaves the cycle counts once": (
        ExplicitTask(table=(((2,), (1,)), (), ()), fail={1}),
        (1, None, None),
        (1, None, 0),
    ),
    "unsafe for every policy": (
        ExplicitTask(table=(((1,),), ()), fail={1}),
        (0, None),
        (None,) * 2,
    ),
    "the worst outcome counts": (
        ExplicitTask(
            table=(((1, 2),), ((3,), (4,)), ((1,), (4,)), (), ()),
            fail={4},
        ),
        (0, 1, 1, None, None),
        (2, 1, 2, 0, None),
    ),
    "three differences on one run": (
        ExplicitTask(
            table=(((1,), (4,)), ((2,), (4,)), ((3,), (4,)), (), ()),
            fail={4},
        ),
        (1, 1, 1, None, None),
        (3, 2, 1, 0, None),
    ),
    "the same state with fewer differences left": (  # pairs, not states, are on the stack
        ExplicitTask(table=(((1,), (3,)), ((0, 2), (3,)), (), ()), fail={3}),
        (0, 1, None, None),
        (None, None, 0, None),
    ),
    "a forced step is no difference": (
        ExplicitTask(
            table=((), ((2,), (3,)), (), ()), silent_table=(((1,),), (), (), ()), fail={3}
        ),
        (None, 1, None, None),
        (1, 1, 0, None),
    ),
}


@pytest.mark.parametrize("name", SAFE)
def test_safe_states_by_hand(name):
    task, safe = SAFE[name]
    assert {state for state in task.states if state not in unsafe_ranks(task)} == safe
    assert {state for state in task.states if safe_by_enumeration(task, state)} == safe


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviations_by_hand(name):
    task, policy, expected = DEVIATIONS[name]
    assert tuple(deviations(task, policy)) == expected
    assert tuple(deviations_by_enumeration(task, policy, s) for s in task.states) == expected


def test_ranks_by_hand():
    task, _ = SAFE["staircase"]
    assert unsafe_ranks(task) == {5: 0, 1: 1, 2: 2, 3: 3}


def test_reference_agrees_with_trying_every_policy():
    rng = random.Random(1)
    verdicts = set()
    for _ in range(1_500):
        task = random_task(rng, max_states=5, max_actions=rng.choice((2, 2, 3)))
        policy = random_policy(rng, task)
        ranks, least = unsafe_ranks(task), deviations(task, policy)
        for state in task.states:
            assert safe_by_enumeration(task, state) == (state not in ranks), task
            assert deviations_by_enumeration(task, policy, state) == least[state], (task, policy)
            verdicts.add((state in ranks, least[state]))
    # Safe, but only with a difference on a cycle; several differences; unsafe.
    assert {(False, None), (False, 0), (False, 1), (False, 2), (True, None)} <= verdicts


def test_ranks_are_as_small_as_can_be():
    rng = random.Random(2)
    for _ in range(300):
        task = random_task(rng)
        ranks = unsafe_ranks(task)
        for state, rank in ranks.items():
            best = [
                min(ranks.get(outcome, len(task.table)) for outcome in outcomes)
                for outcomes in task.choices(state).values()
            ]
            assert rank == (0 if state in task.fail else 1 + max(best))


def test_more_differences_never_hurt():
    rng = random.Random(3)
    for _ in range(200):
        task = random_task(rng)
        policy = random_policy(rng, task)
        struck, least = unsafe_pairs(task, policy, 4), deviations(task, policy)
        for state in task.states:
            enough = [left for left in range(5) if (state, left) not in struck]
            assert enough == [] if least[state] is None else enough == list(range(least[state], 5))
