"""Start, goal and fail, from properties and from files of their own."""

import pytest
from tests.support.jani import (
    X,
    automaton,
    av,
    bounded,
    condition,
    edge,
    model,
    objective,
    op,
    pa,
    var,
)

from surefoot.errors import InputError, Unsupported


def is_(value, name="x"):
    return op("=", name, value)


def fails(description):
    task = description.compile()
    return [x for x in range(10) if task.is_fail({"x": x})]


def goals(description):
    task = description.compile()
    return [x for x in range(10) if task.is_goal({"x": x})]


def starts(description):
    task = description.compile()
    return [x for x in range(10) if task.is_start({"x": x})]


def test_the_property_file_comes_first(load, write):
    own = [pa("own", reach=condition(is_(8)))]
    collection = {
        "properties": [
            pa("ignored", predicates=[], file="policy.jani2nnet"),
            {"name": "standard", "expression": {"op": "filter"}},
            pa("first", reach=condition(is_(3)), objective=objective(is_(4))),
            pa("second", reach=condition(is_(9))),
        ]
    }
    file = write(collection, "properties.jani")
    node = model(variables=[X], properties=own)
    assert fails(load(node)) == [8]
    both = load(node, properties=file)
    assert (fails(both), goals(both)) == ([3], [4])
    assert '"first"' in both.warnings[0].message
    assert '"second"' in both.warnings[0].message
    assert fails(load(node, properties=file, property_name="second")) == [9]
    assert fails(load(node, properties=file, property_name="own")) == [8]
    with pytest.raises(InputError) as caught:
        load(node, properties=file, property_name="secnd")
    assert caught.value.code == "unknown-property"
    assert caught.value.hint == 'did you mean "second"?'


def test_references_and_labels(load, write):
    write({"op": "states-condition", "exp": is_(1)}, "parts/start.jani")
    write({"op": "objective", "goal": {"file": "parts/goal.jani"}}, "objective.jani")
    write(is_(2), "parts/goal.jani")
    parts = {
        "start": {"file": "../parts/start.jani"},
        "objective": {"file": "../objective.jani"},
        "reach": {"label": "bad"},
    }
    labels = [{"name": "bad", "element": condition(is_(3))}]
    file = write({"properties": [pa("p", **parts)], "labels": labels}, "below/properties.jani")
    found = load(model(variables=[X]), properties=file)
    assert (starts(found), goals(found), fails(found)) == ([1], [2], [3])


def test_single_files(load, write, tmp_path):
    write(is_(4), "bare.jani")
    write(objective(is_(5)), "objective.jani")
    collection = write({"properties": [pa(start=condition(is_(6)))]}, "collection.jani")
    files = {"goal": tmp_path / "objective.jani", "fail": str(tmp_path / "bare.jani")}
    found = load(model(variables=[X]), start=collection, **files)
    assert (starts(found), goals(found), fails(found)) == ([6], [5], [4])
    listed = write({"op": "states-values", "values": [{}]}, "listed.jani")
    for option, file, code in (
        ("goal", listed, "states-values-as-condition"),
        ("fail", tmp_path / "objective.jani", "jani-unknown-operator"),
        ("fail", collection, "no-property"),
    ):
        with pytest.raises(InputError) as caught:
            load(model(variables=[X]), **{option: file})
        assert (caught.value.code, caught.value.file) == (code, str(file))


def test_references_in_a_circle(load, write):
    write({"file": "b.jani"}, "a.jani")
    write({"file": "a.jani"}, "b.jani")
    with pytest.raises(InputError) as caught:
        load(model(variables=[X], properties=[pa(start={"file": "a.jani"})]))
    assert caught.value.code == "reference-cycle"


def test_listed_starts(load):
    cells = var("a", {"kind": "array", "base": bounded(0, 9)}, av(1, 2))
    free = var("free", bounded(0, 1))
    entries = [
        {"variables": [{"var": "x", "value": 7}]},
        {"variables": [{"var": "a", "value": av(3, 4)}, {"var": "free", "value": 1}]},
        {
            "variables": [{"var": op("aa", "a", 1), "value": 9}, {"var": "free", "value": 0}],
            "locations": [{"automaton": "m", "index": 0, "location": "k"}],
        },
    ]
    start = {"op": "states-values", "values": entries}
    steps = automaton(locations=("l", "k"))
    node = model(steps, variables=[X, cells, free], properties=[pa(start=start)])
    description = load(node)
    assert [list(state.values()) for state in description.start_states] == [
        [7, 1, 2, 0, 0],
        [7, 1, 2, 1, 0],
        [0, 3, 4, 1, 0],
        [0, 1, 9, 0, 1],
    ]
    assert list(description.start_states[0]) == ["x", "a[0]", "a[1]", "free", "m.location"]


@pytest.mark.parametrize(
    "items, code",
    [
        ([{"var": "x", "value": 10}], "value-out-of-range"),
        ([{"var": "x", "value": 1.0}], "type-mismatch"),
        ([{"var": "x", "value": True}], "type-mismatch"),
        ([{"var": "z", "value": 1}], "jani-unknown-variable"),
        ([{"var": "x", "value": 1}, {"var": "x", "value": 1}], "duplicate-name"),
        ([{"var": "x"}], "jani-missing-key"),
        ([7], "jani-wrong-type"),
        (3, "jani-wrong-type"),
    ],
)
def test_wrong_listed_starts(load, items, code):
    start = {"op": "states-values", "values": [{"variables": []}, {"variables": items}]}
    with pytest.raises(InputError) as caught:
        load(model(variables=[X], properties=[pa(start=start)]))
    assert caught.value.code == code
    assert "/start/values/1/variables" in caught.value.place


def test_too_many_open_values_are_not_listed(load):
    start = {"op": "states-values", "values": [{}]}
    for type_ in ("real", bounded(0, 10**6)):
        with pytest.raises(Unsupported) as caught:
            load(model(variables=[var("r", type_)], properties=[pa(start=start)]))
        assert caught.value.code == "too-many-start-states"


def test_locations_of_conditions(load):
    steps = automaton(edge("a"), locations=("l", "k"))
    other = automaton(name="n", locations=("p", "q"))
    listed = [{"automaton": "n", "index": 1, "location": "q"}]
    parts = {"start": condition(is_(1), locations=listed), "reach": condition(locations=listed)}
    node = model(steps, other, variables=[X], properties=[pa(**parts)])
    task = load(node).compile()
    assert task.is_start({"x": 1, "m.location": 0, "n.location": 1})
    assert not task.is_start({"x": 1, "m.location": 1, "n.location": 1})
    assert not task.is_start({"x": 1, "m.location": 0, "n.location": 0})
    assert task.is_fail({"x": 1, "m.location": 1, "n.location": 1})


def test_initial_states(load):
    assert load(model(variables=[X])).start_states == [{"x": 0}]
    one = automaton(
        variables=[var("n", bounded(0, 3))],
        locations=("l", "k", "j"),
        **{"restrict-initial": {"exp": op("≥", "n", 2)}},
    )
    one["initial-locations"] = ["j", "l"]
    more = {"restrict-initial": {"exp": op("<", "free", 1)}}
    task = load(model(one, variables=[X, var("free", bounded(0, 5))], **more)).compile()
    found = {tuple(s.values()) for s in task.sample_starts(200, seed=1)}
    assert found == {(0, 0, 0, 2), (0, 0, 0, 3), (0, 0, 2, 2), (0, 0, 2, 3)}


def test_conditions_name_local_variables(load):
    local = automaton(variables=[var("n", bounded(0, 3), 0)])
    for name in ("n", "m.n"):
        found = load(model(local, variables=[X], properties=[pa(reach=condition(is_(2, name)))]))
        assert found.compile().is_fail({"x": 0, "m.n": 2})
