"""What is written means what was read."""

import pytest
from tests.support.jani import X, Y, automaton, edge, model, op, sync
from tests.support.random_models import random_model

from surefoot.errors import SurefootError
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import minimum
from surefoot.tasks.jani import load_jani, to_jani, write_jani


def rewritten(description, tmp_path):
    write_jani(description, tmp_path / "written.jani")
    return load_jani(tmp_path / "written.jani")


def test_a_description_written_by_hand(tmp_path):
    lamp = Description("lamp")
    x = lamp.int("x", 0, 3, initial=0)
    row = lamp.array("row", "int", 2, 0, 5, initial=[1, 2])
    lamp.edge("up", guard=x < 3, outcomes=[{x: x + 1, row[x % 2]: minimum(row[0], 5)}, {}, {x: 0}])
    lamp.edge("down", guard=x > 0, outcomes=[{x: -(1 - x)}])
    lamp.start(x <= 1)
    lamp.goal(x == 2)
    lamp.fail((x == 3) & (row[x - 2] == 1))
    back = rewritten(lamp, tmp_path)
    assert back.warnings == []
    one, two = lamp.compile(), back.compile()
    assert one.names == two.names
    assert one.actions == two.actions
    for a in range(4):
        for b in range(6):
            state = {"x": a, "row[0]": b, "row[1]": 1}
            assert one.applicable(state) == two.applicable(state)
            assert one.is_start(state) == two.is_start(state)
            for action in one.actions:
                assert set(one.outcomes(state, action)) == set(two.outcomes(state, action))
    probability = to_jani(lamp)["automata"][0]["edges"][0]["destinations"][0]["probability"]
    assert probability == {"exp": {"op": "/", "left": 1, "right": 3}}


def test_silent_actions_keep_their_names(load, tmp_path):
    one = automaton(edge(None, ("x", 1)), edge("a", ("x", 2)), name="one", locations=("l", "k"))
    two = automaton(edge("a", ("y", 2)), name="two")
    syncs = [sync(None, "a", "a"), sync("one", "a", None), sync(None, "b", None)]
    description = load(model(one, two, variables=[X, Y], actions=("a", "one", "b"), syncs=syncs))
    assert description.silent == ["one(silent)", "one+two"]
    back = rewritten(description, tmp_path)
    assert back.actions == description.actions
    assert back.silent == description.silent


def test_deep_expressions_are_written(load, tmp_path):
    guard = True
    for _ in range(5000):
        guard = op("∧", op("≤", "x", 5), guard)
    description = load(model(automaton(edge("a", guard=guard)), variables=[X]))
    back = rewritten(description, tmp_path)
    assert back.compile().sha256 == description.compile().sha256


@pytest.mark.parametrize("seed", range(60))
def test_writing_twice_is_the_same_as_writing_once(load, tmp_path, seed):
    try:
        description = load(random_model(seed))
    except SurefootError as error:  # some random models cannot be loaded
        pytest.skip(str(error))
    once = rewritten(description, tmp_path)
    assert once.compile().names == description.compile().names
    assert rewritten(once, tmp_path).compile().sha256 == once.compile().sha256
