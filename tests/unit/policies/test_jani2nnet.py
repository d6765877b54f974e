"""Interfaces in .jani2nnet files."""

import json

import numpy as np
import pytest
from tests.support.networks import grid, nnet_text, plain_scores, random_network

from surefoot import Description, InputError, load_policy
from surefoot.policies import jani2nnet
from surefoot.policies.interface import read_interface

NETWORK = random_network(2, 3, 5, 2, precision="float64")
CONTENT = {
    "file": "net.nnet",
    "filter": False,
    "elements": [5],
    "input": [
        {"name": "v2", "automaton": None},
        {"name": "v0", "automaton": None},
        {"name": "v2", "automaton": None},
    ],
    "output": ["a3", "a1"],
}


@pytest.fixture
def written(tmp_path):
    """Return a function that writes the interface, changed, beside its network."""

    def write(**changes):
        (tmp_path / "net.nnet").write_text(nnet_text(NETWORK))
        content = {**CONTENT, **changes}
        content = {key: value for key, value in content.items() if value is not ...}
        file = tmp_path / "policy.jani2nnet"
        file.write_text(json.dumps(content))
        return file

    return write


def error_of(file, task=None):
    with pytest.raises(InputError) as caught:
        load_policy(str(file), task or grid(3, 4))
    return caught.value


def test_a_subset_in_another_order(written):
    task = grid(3, 4)
    policy = load_policy(str(written()), task)
    state = task.state(v0=6, v1=1, v2=3)
    expected = plain_scores(NETWORK, np.array([[3.0, 6.0, 3.0]]))[0]
    assert list(policy.scores(state)) == ["a3", "a1"]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected))
    assert policy.decide(state) == ["a3", "a1"][expected.argmax()]
    assert policy.unfiltered is False


def test_what_is_not_an_output_is_never_decided(written):
    task = grid(3, 4)
    policy = load_policy(str(written()), task)
    states = [task.state(v0=v, v1=0, v2=9 - v) for v in range(10)]
    decided = policy.decide_all(states)
    assert set(decided) <= {"a1", "a3"}
    assert decided[:5] == ["a1"] * 5  # a3 is not applicable below 5


def test_filter_in_the_file_changes_nothing(written):
    for said in (True, False, ...):
        assert load_policy(str(written(filter=said)), grid(3, 4)).unfiltered is False
    assert load_policy(str(written()), grid(3, 4), unfiltered=True).unfiltered is True


def test_sha256_is_that_of_both_files(written, tmp_path):
    before = load_policy(str(written()), grid(3, 4)).sha256
    file = tmp_path / "net.nnet"
    file.write_text(file.read_text().replace("// a network", "// another network"))
    assert load_policy(str(tmp_path / "policy.jani2nnet"), grid(3, 4)).sha256 != before


def test_locals_cells_and_locations(written):
    d = Description("names")
    d.int("truck.fuel", 0, 9, initial=0)
    d.int("truck.location", 0, 2, initial=0, labels=("here", "there", "gone"))
    d.array("row", "int", 3, 0, 9)
    d.array("truck.row", "int", 2, 0, 9)
    for name in ("a1", "a3"):
        d.edge(name, outcomes=[{}])
    entries = [
        {"name": "fuel", "automaton": {"name": "truck", "index": 0}},
        {"name": "truck", "index": 0},
        {"name": "row", "automaton": None, "index": 2},
    ]
    policy = load_policy(str(written(input=entries)), d.compile())
    assert [one.variable for one in policy.interface.inputs] == [
        "truck.fuel", "truck.location", "row[2]",
    ]  # fmt: skip
    entries[2] = {"name": "row", "automaton": {"name": "truck", "index": 0}, "index": 1}
    policy = load_policy(str(written(input=entries)), d.compile())
    assert policy.interface.inputs[2].variable == "truck.row[1]"
    state = dict.fromkeys(policy.task.names, 0) | {"truck.fuel": 4, "truck.location": "gone"}
    state["truck.row[1]"] = 5
    expected = plain_scores(NETWORK, np.array([[4.0, 2.0, 5.0]]))[0]
    assert list(policy.scores(state).values()) == pytest.approx(list(expected))


def test_network_that_is_scaled(written, tmp_path):
    file = written()
    (tmp_path / "net.nnet").write_text(nnet_text(NETWORK, means=[1, 2, 3, 0], ranges=[2, 4, 5, 1]))
    inputs = load_policy(str(file), grid(3, 4)).interface.inputs
    assert [(one.mean, one.scale) for one in inputs] == [(1, 2), (2, 4), (3, 5)]


def test_as_an_interface_for_another_file(written, tmp_path):
    file = written(file=...)
    found = read_interface(file)
    assert found.interface.outputs == ("a3", "a1")
    policy = load_policy(str(tmp_path / "net.nnet"), grid(3, 4), interface=file)
    assert policy.interface.outputs == ("a3", "a1")
    assert policy.interface.inputs[0].variable == "v2"


GONE = {"name": "v7", "automaton": None}
ENTRY = {"name": "v0", "automaton": None}
BAD = {
    "network is missing": ({"file": "gone.nnet"}, "file-not-found", "/file"),
    "names no network": ({"file": ...}, "bad-jani2nnet", "/file"),
    "file is a number": ({"file": 3}, "bad-jani2nnet", "/file"),
    "no inputs": ({"input": ...}, "bad-jani2nnet", "/input"),
    "no outputs": ({"output": []}, "bad-jani2nnet", "/output"),
    "filter is text": ({"filter": "yes"}, "bad-jani2nnet", "/filter"),
    "other hidden layers": ({"elements": [6]}, "bad-jani2nnet", "/elements"),
    "input without name": ({"input": [{"automaton": None}]}, "bad-jani2nnet", "/input/0/name"),
    "input is text": ({"input": ["v0"]}, "bad-jani2nnet", "/input/0"),
    "automaton is text": (
        {"input": [{"name": "x", "automaton": "truck"}]}, "bad-jani2nnet", "/input/0/automaton",
    ),
    "cell -1": ({"input": [{**ENTRY, "index": -1}]}, "bad-jani2nnet", "/input/0/index"),
    "label is a number": ({"output": ["a1", 3]}, "bad-jani2nnet", "/output/1"),
    "unknown variable": ({"input": [ENTRY, GONE, ENTRY]}, "unknown-variable", "/input/1"),
    "unknown label": ({"output": ["a1", "a9"]}, "unknown-action", "/output/1"),
    "duplicate label": ({"output": ["a1", "a1"]}, "duplicate-name", "/output/1"),
    "too few inputs": ({"input": [ENTRY]}, "policy-wrong-inputs", "/input"),
    "too many outputs": ({"output": ["a0", "a1", "a2"]}, "policy-wrong-outputs", "/output"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_name_the_place(written, case):
    changes, code, place = BAD[case]
    file = written(**changes)
    error = error_of(file)
    assert (error.code, error.place, error.file) == (code, place, str(file))


def test_location_of_an_automaton_with_one(written):
    error = error_of(written(input=[{"name": "truck", "index": 0}, ENTRY, ENTRY]))
    assert error.code == "unknown-variable"
    assert '{"constant": 0}' in error.hint


def test_silent_labels_are_refused(written):
    d = Description("silent")
    for i in range(3):
        d.int(f"v{i}", 0, 9, initial=0)
    d.silent.append("a3")
    d.edge("a1", outcomes=[{}])
    d.edge("a3", outcomes=[{}])
    assert error_of(written(), d.compile()).code == "policy-silent-action"


def test_not_an_object(tmp_path):
    file = tmp_path / "list.jani2nnet"
    file.write_text("[1]")
    with pytest.raises(InputError) as caught:
        jani2nnet.read(file)
    assert caught.value.code == "bad-jani2nnet"
