"""LightGBM files: what is read, and what is refused with its name."""

import numpy as np
import pytest
from tests.support.tree_files import LIGHTGBM as SMALL
from tests.support.trees import lightgbm_booster, rows_of

from surefoot.errors import InputError, Unsupported
from surefoot.policies.trees import lightgbm as reader

ZERO = float(np.float32(1e-35))


def read(text, tmp_path):
    file = tmp_path / "model.txt"
    file.write_text(text)
    return reader.read(file)


def scores(text, tmp_path, *states):
    model = read(text, tmp_path).model
    return model.scorer().scores(np.array(states, dtype=float)).tolist()


def test_a_small_file(tmp_path):
    loaded = read(SMALL, tmp_path)
    trees = loaded.model
    assert (loaded.interface, loaded.unfiltered, loaded.at_least) == (None, None, False)
    assert (trees.num_inputs, trees.num_outputs) == (3, 1)
    assert trees.roots.tolist() == [0, 5]
    assert trees.features.tolist() == [2, 0, -1, -1, -1, -1]
    assert trees.thresholds[:2].tolist() == [np.nextafter(0.5, 1), np.nextafter(-1.25, 0)]
    assert (trees.input_precision, trees.sum_precision) == ("float64", "float64")
    states = [(-1.25, 0, 0.5), (-1.2, 0, 0.5), (-9, 0, 0.6)]
    assert scores(SMALL, tmp_path, *states) == [[9.0], [12.0], [10.0]]


def test_two_classes_have_the_scores_zero_and_margin(tmp_path):
    text = SMALL.replace("objective=regression", "objective=binary sigmoid:1")
    assert scores(text, tmp_path, (-9, 0, 0.6)) == [[0.0, 10.0]]


def test_trees_go_to_classes_in_turn(tmp_path):
    text = SMALL.replace("num_tree_per_iteration=1", "num_tree_per_iteration=2")
    assert scores(text, tmp_path, (-9, 0, 0.6)) == [[2.0, 8.0]]


def test_forests_are_averaged(tmp_path):
    text = SMALL.replace("objective=", "average_output\nobjective=")
    assert read(text, tmp_path).model.divide_by == 2.0
    assert scores(text, tmp_path, (-9, 0, 0.6)) == [[5.0]]


# threshold, decision type: inputs that go left, inputs that go right; None if it is refused
NEAR_ZERO = {
    "plain": (0.0, 2, (-1, 0, ZERO, 1e-36), (np.nextafter(ZERO, 1), 1)),
    "plain, below": (-1e-36, 2, (-1, np.nextafter(-ZERO, -1)), (-ZERO, -1e-36, 0, 1)),
    "at the edge": (-ZERO, 2, (-1, np.nextafter(-ZERO, -1)), (-ZERO, 0, 1)),
    "NaN is missing": (0.5, 8 | 2, (-1, 0, 0.5), (0.6,)),
    "zero left": (0.5, 4 | 2, (-1, 0, 0.5), (0.6,)),
    "zero left, near": (-ZERO, 4 | 2, (-1, -ZERO, 0, ZERO), (np.nextafter(ZERO, 1),)),
    "zero right": (-0.5, 4, (-1, -0.5), (-0.4, 0, 1)),
    "zero right, near": (ZERO, 4, (-1, np.nextafter(-ZERO, -1)), (-ZERO, 0, ZERO, 1)),
    "zero apart on the left": (-0.5, 4 | 2, None, None),
    "zero apart on the right": (0.5, 4, None, None),
}


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_zero_goes_where_lightgbm_sends_it(name, tmp_path):
    threshold, kind, left, right = NEAR_ZERO[name]
    text = SMALL.replace("threshold=0.5 ", f"threshold={threshold!r} ")
    text = text.replace("decision_type=2 2", f"decision_type={kind} 2")
    if left is None:
        with pytest.raises(Unsupported, match="zero"):
            read(text, tmp_path)
        return
    assert scores(text, tmp_path, *((-9, 0, x) for x in left)) == [[9.0]] * len(left)
    assert scores(text, tmp_path, *((-9, 0, x) for x in right)) == [[10.0]] * len(right)


UNSUPPORTED = {
    "linear": ("is_linear=0", "is_linear=1", "linear trees"),
    "categories": ("num_cat=0", "num_cat=1", "by category"),
    "category node": ("decision_type=2 2", "decision_type=1 2", "by category"),
    "version": ("version=v4", "version=v2", "v2"),
    "no version": ("version=v4\n", "", "without a version"),
}
BAD = {
    "first line": ("tree\nversion", "forest\nversion", "first line"),
    "end": ("end of trees", "", "ends too early"),
    "number of tree": ("Tree=1", "Tree=7", "tree 1 is called"),
    "twice": ("num_cat=0", "num_cat=0\nnum_cat=0", "twice"),
    "lost tree": ("tree_sizes=10 10", "tree_sizes=10", "the header lists 1"),
    "rounds": ("num_tree_per_iteration=1", "num_tree_per_iteration=3", "3 in each round"),
    "a billion classes": (
        "num_tree_per_iteration=1",
        "num_tree_per_iteration=1000000000",
        "not a whole number from 1",
    ),
    "features": ("max_feature_idx=2", "max_feature_idx=1", "not one of the 2 inputs"),
    "negative feature": ("split_feature=2 0", "split_feature=-1 0", "not one of the 3 inputs"),
    "many features": ("max_feature_idx=2", "max_feature_idx=9999999999", "not a whole number"),
    "no leaves": ("num_leaves=3", "num_leaves=0", "not a whole number from 1"),
    "two billion leaves": ("num_leaves=3", "num_leaves=2000000000", "where 2,000,000,000 belong"),
    "values": ("leaf_value=1 2 4", "leaf_value=1 2", "2 numbers where 3 belong"),
    "no values": ("leaf_value=1 2 4\n", "", '"leaf_value" is missing'),
    "no number": ("leaf_value=1 2 4", "leaf_value=1 2 x", "not a number"),
    "NaN": ("leaf_value=1 2 4", "leaf_value=1 2 nan", "leaf value is infinite"),
    "infinite": ("threshold=0.5 ", "threshold=inf ", "infinite"),
    "largest": ("threshold=0.5 ", "threshold=1.7976931348623157e308 ", "infinite"),
    "huge child": ("left_child=1 -1", f"left_child={10**30} -1", "not a whole number"),
    "digits": ("left_child=1 -1", f"left_child={'9' * 9000} -1", "not a whole number"),
    "child": ("left_child=1 -1", "left_child=2 -1", "not there"),
    "leaf": ("right_child=-2 -3", "right_child=-2 -4", "not there"),
    "shared leaf": ("right_child=-2 -3", "right_child=-2 -1", "shared"),
    "circle": ("left_child=1 -1", "left_child=0 -1", "cyclic"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_is_not_supported_is_named(name, tmp_path):
    before, after, message = UNSUPPORTED[name]
    with pytest.raises(Unsupported, match=message):
        read(SMALL.replace(before, after, 1), tmp_path)


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused(name, tmp_path):
    before, after, message = BAD[name]
    assert before in SMALL
    with pytest.raises(InputError, match=message) as caught:
        read(SMALL.replace(before, after, 1), tmp_path)
    assert caught.value.code == "bad-trees"
    assert caught.value.file.endswith("model.txt")


def test_trained_linear_trees_and_categories_are_refused():
    import lightgbm

    parameters = {"objective": "regression", "linear_tree": True}
    linear = lightgbm_booster(parameters, leaves=4, seed=0)
    with pytest.raises(Unsupported, match="linear trees"):
        reader.of(linear)
    rng = np.random.default_rng(0)
    features = rng.integers(0, 5, size=(400, 2)).astype(float)
    data = lightgbm.Dataset(features, features[:, 0] % 2, categorical_feature=[0])
    booster = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, data, 3)
    with pytest.raises(Unsupported, match="by category"):
        reader.of(booster)


def test_memory_and_files_give_the_same(tmp_path):
    booster = lightgbm_booster({"objective": "binary"}, leaves=5, seed=5)
    booster.save_model(tmp_path / "a.txt")
    assert rows_of(reader.read(tmp_path / "a.txt").model) == rows_of(reader.of(booster))
