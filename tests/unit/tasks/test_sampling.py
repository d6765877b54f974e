"""How many to draw and with which seed: checked alike for every kind of task."""

import numpy
import pytest

from surefoot import Description, InputError, PythonTask
from surefoot.tasks.sampling import check_draw


class Definition:
    """One state, one action."""

    def start(self):
        return [(0,)]

    def actions(self, state):
        return ["stay"]

    def outcomes(self, state, action):
        return [state]

    def is_goal(self, state):
        return False

    is_fail = is_goal


def listed(*, condition=False):
    d = Description("d")
    x = d.int("x", 0, 1, initial=0)
    if condition:
        d.start(x >= 0)
    return d.compile()


TASKS = [listed(), listed(condition=True), PythonTask(Definition())]
WRONG = [(-1, 0), (1.0, 0), ("1", 0), (True, 0), (None, 0), (10**30, 0)]
WRONG += [(1, -1), (1, 2**64), (1, 0.5), (1, None), (1, "a"), (1, False)]


@pytest.mark.parametrize("count, seed", WRONG)
@pytest.mark.parametrize("task", TASKS, ids=["listed", "condition", "Python"])
def test_wrong_counts_and_seeds(task, count, seed):
    with pytest.raises(InputError) as caught:
        task.sample_starts(count, seed=seed)
    assert caught.value.code == "bad-option"


@pytest.mark.parametrize("task", TASKS, ids=["listed", "condition", "Python"])
def test_the_ends_of_the_ranges(task):
    assert task.sample_starts(0) == []
    assert len(task.sample_starts(3, seed=2**64 - 1)) == 3


def test_integers_of_numpy_count():
    assert check_draw(numpy.int64(3), numpy.uint8(4)) == (3, 4)
