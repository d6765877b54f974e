"""Packed states: a sequence that unpacks what is looked at."""

import pytest

from surefoot import domain
from surefoot.tasks.state import PackedStates


@pytest.fixture
def states():
    task = domain("layered", depth=3)
    listed = task.sample_starts(2) + [
        task.outcomes(s, a)[0] for s in task.sample_starts(1) for a in task.applicable(s)[:1]
    ]
    packed = b"".join(state.packed for state in listed)
    return listed, PackedStates(packed, 8 * task.core.words, task.unpack)


def test_they_are_a_sequence(states):
    listed, lazy = states
    assert len(lazy) == len(listed)
    assert list(lazy) == listed
    assert lazy[0] == listed[0] and lazy[-1] == listed[-1]
    assert lazy[1:] == tuple(listed[1:])
    with pytest.raises(IndexError):
        lazy[len(listed)]


def test_they_equal_tuples_of_the_same_states(states):
    listed, lazy = states
    assert lazy == tuple(listed)
    assert hash(lazy) == hash(tuple(listed))
    assert lazy != tuple(listed[:-1])
    assert lazy != 3


def test_nothing_is_unpacked_before_it_is_looked_at():
    unpacked = []
    lazy = PackedStates(bytes(24), 8, lambda one: unpacked.append(one))
    assert len(lazy) == 3
    assert unpacked == []
    assert lazy[1] is None
    assert unpacked == [bytes(8)]
