"""Explicit tasks, written down or explored from a model."""

import json

import pytest
from tests.support.jani import X, automaton, edge, model, objective, op, pa, sync

from surefoot import checker
from surefoot.reference import ExplicitTask, explicit_of


def test_a_task_answers_like_a_model():
    task = ExplicitTask(
        table=(((1, 2), ()), (), ((), (0,))),
        fail={2},
        goal={1, 2},
        silent_table=((), ((2,), (0, 1)), ()),
    )
    assert task.actions == ("a0", "a1", "silent0", "silent1")
    assert task.silent == ("silent0", "silent1")
    zero, one, two = map(task.state, task.states)
    assert zero == {"state": 0}
    assert task.applicable(zero) == ("a0",)
    assert task.outcomes(zero, "a0") == [one, two]
    assert task.outcomes(zero, "a1") == []
    assert task.applicable(one) == ("silent0", "silent1")
    assert task.outcomes(one, "silent1") == [zero, one]
    assert task.outcomes(two, "a1") == [zero]
    assert [task.is_fail(each) for each in (zero, one, two)] == [False, False, True]
    assert [task.is_goal(each) for each in (zero, one, two)] == [False, True, True]


def test_what_can_be_decided():
    silent = (((1,), (0, 2)), ((0,),), ((0,),), ((0,),))
    task = ExplicitTask(
        table=((), ((), (2,)), ((1,),), ((1,),)), fail={2}, goal={3}, silent_table=silent
    )
    assert task.choices(0) == {None: (0, 1, 2)}, "silent actions are one forced step"
    assert task.choices(1) == {1: (2,)}, "silent actions are not taken where others are possible"
    assert task.choices(2) == {}, "fail states are not left"
    assert task.choices(3) == {}, "goal states are not left"
    assert ExplicitTask(table=((),)).choices(0) == {}, "a dead end"


@pytest.fixture
def line(tmp_path):
    """Count x from 0 to 3 (fail) by `up`, or by a silent step from 4 up to 6 (goal)."""
    counts = automaton(
        edge("up", ("x", op("+", "x", 1)), guard=op("<", "x", 3)),
        edge("jump", ("x", 4), guard=op("=", "x", 1)),
        edge(None, ("x", op("+", "x", 1)), guard=op("∧", op(">", "x", 3), op("<", "x", 9))),
        edge(None, ("x", 8), guard=op("=", "x", 1)),
        edge(None, ("x", 0), guard=op("=", "x", 4)),
        name="m",
    )
    properties = [
        pa(
            reach={"op": "state-condition", "exp": op("=", "x", 3)},
            objective=objective(op("=", "x", 6)),
        )
    ]
    document = model(
        counts,
        variables=[X],
        actions=("up", "jump"),
        syncs=[sync("up", "up"), sync("jump", "jump")],
        properties=properties,
    )
    (tmp_path / "m.jani").write_text(json.dumps(document))
    return checker.load(tmp_path / "m.jani")


def test_exploring_a_model(line):
    task = explicit_of(line, [{"x": 0}])
    number = {task.state(each)["x"]: each for each in task.states}
    assert list(number) == [0, 1, 2, 4, 3, 5, 6]
    assert task.names == ("up", "jump")
    assert task.fail == {number[3]}
    assert task.goal == {number[6]}
    assert task.choices(number[1]) == {0: (number[2],), 1: (number[4],)}, "no silent step to 8"
    assert set(task.choices(number[4])[None]) == {number[5], number[0]}
    assert task.choices(number[3]) == task.choices(number[6]) == {}


def test_exploring_stops_at_the_limit(line):
    assert len(explicit_of(line, [{"x": 0}], max_states=7).states) == 7
    with pytest.raises(ValueError, match="more than 6"):
        explicit_of(line, [{"x": 0}], max_states=6)


def test_given_states_come_first(line):
    task = explicit_of(line, [{"x": 6}, {"x": 3}, {"x": 6}, {"x": 9}])
    assert [task.state(each)["x"] for each in task.states] == [6, 3, 9]
