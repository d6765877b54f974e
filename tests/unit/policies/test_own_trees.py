"""Our own files of trees: what is written is what is read."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from tests.support.tree_files import chain, trees
from tests.support.trees import rows_of, xgboost_booster
from tests.unit.policies.test_models import ensembles

from surefoot.errors import InputError
from surefoot.policies.interface import Input, Interface
from surefoot.policies.trees import own, xgboost


@settings(max_examples=100, deadline=None)
@given(model=ensembles())
def test_every_number_comes_back_exactly(model, tmp_path_factory):
    file = tmp_path_factory.mktemp("own") / "trees.json"
    own.write(model, file)
    loaded = own.read(file)
    assert rows_of(loaded.model) == rows_of(model)
    assert (loaded.interface, loaded.unfiltered, loaded.at_least) == (None, None, False)
    states = np.zeros((1, model.num_inputs))
    assert (loaded.model.scorer().scores(states) == model.scorer().scores(states)).all()


def test_numbers_that_need_all_their_digits(tmp_path):
    values = np.array([5e-324, -0.0])
    own.write(
        trees(values=values, base=np.array([0.1 + 0.2, 1.7976931348623157e308])), tmp_path / "a"
    )
    found = own.read(tmp_path / "a").model
    assert found.values.tobytes() == values.tobytes()
    assert found.base.tolist() == [0.30000000000000004, 1.7976931348623157e308]


def test_a_trained_ensemble_comes_back(tmp_path):
    booster = xgboost_booster({"objective": "multi:softprob", "num_class": 4}, depth=5, seed=1)
    model = xgboost.of(booster)
    own.write(model, tmp_path / "a.json")
    assert rows_of(own.read(tmp_path / "a.json").model) == rows_of(model)


def test_the_interface_comes_back(tmp_path):
    inputs = (Input("x"), Input("y", mean=2.0, scale=1.5))
    interface = Interface(inputs, ("move", "größe \u202e"))
    own.write(trees(), tmp_path / "a.json", interface, unfiltered=True)
    loaded = own.read(tmp_path / "a.json")
    assert (loaded.interface, loaded.unfiltered) == (interface, True)
    content = json.loads((tmp_path / "a.json").read_text())
    assert content["surefoot_trees"] == 1
    assert content["inputs"] == ["x", {"variable": "y", "mean": 2.0, "scale": 1.5}]


def test_the_file_can_be_read_by_people(tmp_path):
    own.write(trees(thresholds=np.array([0.5, np.nan, np.nan])), tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text().splitlines() == [
        "{",
        ' "surefoot_trees": 1,',
        ' "num_inputs": 2,',
        ' "num_outputs": 2,',
        ' "roots": [0],',
        ' "features": [1, -1, -1],',
        ' "thresholds": [0.5, 0.0, 0.0],',
        ' "left": [1, 0, 1],',
        ' "right": [2, 0, 1],',
        ' "values": [3.0, 4.0],',
        ' "base": [0.25, 0.5],',
        ' "input_precision": "float64",',
        ' "sum_precision": "float64",',
        ' "base_last": false,',
        ' "divide_by": 1.0',
        "}",
    ]


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        own.write(trees(), tmp_path / "no" / "a.json")


BAD = {
    "version": {"surefoot_trees": 2},
    "version is true": {"surefoot_trees": True},
    "unknown key": {"treshold": []},
    "inputs": {"num_inputs": "x"},
    "a billion outputs": {"num_outputs": 10**9},
    "precision": {"sum_precision": "float16"},
    "precision is a list": {"sum_precision": []},
    "base_last": {"base_last": 1},
    "divide_by": {"divide_by": 0},
    "divide_by is text": {"divide_by": "2"},
    "roots": {"roots": [2]},
    "real children": {"left": [1.0, 0, 1]},
    "large child": {"left": [2**31, 0, 1]},
    "huge child": {"left": [2**70, 0, 1]},
    "lengths": {"left": [1, 0]},
    "circle": {"left": [0, 0, 1]},
    "feature": {"features": [2, -1, -1]},
    "threshold": {"thresholds": ["0.5", 0, 0]},
    "value": {"values": [None, 1.0]},
    "outputs": {"outputs": ["a", 3]},
    "no outputs": {"outputs": []},
    "unfiltered": {"unfiltered": 1},
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused(name, tmp_path):
    own.write(trees(), tmp_path / "a.json")
    content = {**json.loads((tmp_path / "a.json").read_text()), **BAD[name]}
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(InputError) as caught:
        own.read(tmp_path / "a.json")
    assert caught.value.file.endswith("a.json")
    assert caught.value.code in ("bad-trees", "bad-interface")


@pytest.mark.parametrize("name", [f for f in own.FIELDS if f not in ("base_last", "divide_by")])
def test_every_field_is_needed(name, tmp_path):
    own.write(trees(), tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text())
    del content[name]
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=f'"{name}" is missing'):
        own.read(tmp_path / "a.json")


def test_deep_trees(tmp_path):
    own.write(chain(9_000), tmp_path / "a.json")
    assert len(own.read(tmp_path / "a.json").model.features) == 18_001
    own.write(chain(300_000), tmp_path / "a.json")
    with pytest.raises(InputError, match="more than 10,000 levels"):
        own.read(tmp_path / "a.json")
