"""Ensembles of Veritas: nested nodes, vectors at the leaves."""

import copy
import json

import numpy as np
import pytest
from tests.support.tree_files import VERITAS as SMALL
from tests.support.tree_files import leaf, node, tree

from surefoot.errors import InputError, Unsupported
from surefoot.policies.trees import veritas


def read(content, tmp_path):
    (tmp_path / "model.json").write_text(json.dumps(content))
    return veritas.read(tmp_path / "model.json")


def scores(content, tmp_path, *states):
    return read(content, tmp_path).model.scorer().scores(np.array(states, dtype=float)).tolist()


def test_a_small_file(tmp_path):
    loaded = read(SMALL, tmp_path)
    trees = loaded.model
    assert (loaded.interface, loaded.unfiltered) == (None, None)
    assert loaded.at_least
    assert (trees.num_inputs, trees.num_outputs) == (3, 2)
    assert (trees.input_precision, trees.sum_precision) == ("float64", "float64")
    below = np.nextafter(0.1, 0)
    assert scores(SMALL, tmp_path, (0, 0, below), (-5, 0, 0.1), (-4, 0, 0.1)) == [
        [1.375, 1.5],
        [3.375, 3.5],
        [5.875, 5.5],
    ]


def test_splits_in_an_object_of_their_own(tmp_path):
    split = {"split": {"feat_id": 1, "split_value": 2}, "left": leaf(1, 0), "right": leaf(0, 1)}
    content = {"base_scores": [0, 0], "trees": [tree(split)]}
    assert scores(content, tmp_path, (0, 1.5), (0, 2)) == [[1, 0], [0, 1]]


def test_one_output_may_be_written_without_a_list(tmp_path):
    structure = node(0, 1, {"leaf_value": 2}, {"leaf_value": [3]})
    content = {"base_scores": [1], "trees": [tree(structure, num_leaf_values=1)]}
    assert scores(content, tmp_path, (0,), (1,)) == [[3.0], [4.0]]


def test_the_trees_of_xgboost_in_the_form_of_veritas(tmp_path):
    """One leaf vector per class and round, with the value in the slot of its class."""
    from tests.support.trees import random_states, xgboost_booster, xgboost_scores

    parameters = {"objective": "multi:softprob", "num_class": 4, "base_score": 0.5}
    booster = xgboost_booster(parameters, depth=5, seed=3, rounds=20)
    content = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = content["gradient_booster"]["model"]
    trees = [
        tree(nested(each, 0, output), num_leaf_values=4)
        for each, output in zip(model["trees"], model["tree_info"], strict=True)
    ]
    states = random_states(np.random.default_rng(0), 2000).astype(np.float32).astype(float)
    found = np.array(scores({"base_scores": [0.5] * 4, "trees": trees}, tmp_path, *states))
    wanted = xgboost_scores(booster, states)
    assert np.allclose(found, wanted, atol=1e-5)
    assert (found.argmax(axis=1) == wanted.argmax(axis=1)).mean() > 0.999


def nested(tree, number, output):
    if tree["left_children"][number] == -1:
        return leaf(*(tree["split_conditions"][number] if o == output else 0 for o in range(4)))
    left, right = (nested(tree, tree[f"{side}_children"][number], output) for side in
                   ("left", "right"))  # fmt: skip
    threshold = float(np.float32(tree["split_conditions"][number]))
    return node(tree["split_indices"][number], threshold, left, right)


def changed(path, value):
    content = copy.deepcopy(SMALL)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return content


STRUCTURE = ("trees", 0, "structure")
BAD = {
    "no outputs": (("base_scores",), []),
    "base score": (("base_scores",), [1, None]),
    "another number of outputs": (("base_scores",), [1, 2, 3]),
    "trees": (("trees",), {}),
    "tree": (("trees", 0), []),
    "no structure": (("trees", 0), tree(None)),
    "leaf of one value": (STRUCTURE, leaf(1)),
    "leaf of text": (STRUCTURE, leaf("1", "2")),
    "leaf of truth": (STRUCTURE, leaf(True, False)),
    "huge leaf": (STRUCTURE, leaf(10**400, 1)),
    "no child": (STRUCTURE, {"feat_id": 1, "split_value": 2, "left": leaf(1, 2)}),
    "feature": (STRUCTURE, node(-1, 2, leaf(1, 2), leaf(1, 2))),
    "large feature": (STRUCTURE, node(10**9, 2, leaf(1, 2), leaf(1, 2))),
    "feature is true": (STRUCTURE, node(True, 2, leaf(1, 2), leaf(1, 2))),
    "split value": (STRUCTURE, node(1, "2", leaf(1, 2), leaf(1, 2))),
    "infinite split value": (STRUCTURE, node(1, 1e999, leaf(1, 2), leaf(1, 2))),
    "split is a list": (STRUCTURE, {"split": [], "left": leaf(1, 2), "right": leaf(1, 2)}),
    "a billion values": (("trees", 0), tree(leaf(1, 2), num_leaf_values=10**9)),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused(name, tmp_path):
    with pytest.raises(InputError) as caught:
        read(changed(*BAD[name]), tmp_path)
    assert caught.value.code in ("bad-trees", "json-syntax")
    assert caught.value.file.endswith("model.json")


def test_other_kinds_of_trees_are_refused(tmp_path):
    with pytest.raises(Unsupported, match="LtSplitFp"):
        read(changed(("trees", 0), tree(leaf(1, 2), split_type="LtSplitFp")), tmp_path)


def chain(levels):
    """Return the text of a tree that goes down to the right only."""
    start = '{"feat_id":0,"split_value":1,"left":{"leaf_value":[1,2]},"right":'
    structure = start * levels + '{"leaf_value":[3,4]}' + "}" * levels
    head = '{"base_scores":[0,0],"trees":[{"split_type":"LtSplit","value_type":"FloatT",'
    return head + '"structure":' + structure + "}]}"


def test_deep_trees(tmp_path):
    file = tmp_path / "model.json"
    file.write_text(chain(5_000))
    trees = veritas.read(file).model
    assert trees.scorer().scores(np.array([[2.0]])).tolist() == [[3.0, 4.0]]
    file.write_text(chain(100_000))
    with pytest.raises(InputError, match="nested more than"):
        veritas.read(file)
