"""XGBoost files: what is read, and what is refused with its name."""

import copy
import json

import numpy as np
import pytest
from tests.support.trees import rows_of, xgboost_booster

from surefoot.errors import InputError, Unsupported
from surefoot.policies.trees import xgboost as reader

MODEL = ("learner", "gradient_booster", "model")
TREE = (*MODEL, "trees", 0)
PARAMETERS = ("learner", "learner_model_param")


@pytest.fixture(scope="module")
def content():
    parameters = {"objective": "multi:softprob", "num_class": 4}
    booster = xgboost_booster(parameters, depth=2, seed=1, rounds=2)
    return json.loads(bytes(booster.save_raw("json")))


def read(content, tmp_path):
    file = tmp_path / "model.json"
    file.write_text(json.dumps(content))
    return reader.read(file)


def changed(content, path, value):
    """Return the content with another value at one place."""
    content = copy.deepcopy(content)
    part = content
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return content


def test_fields_of_the_ensemble(content, tmp_path):
    loaded = read(content, tmp_path)
    trees = loaded.model
    assert (loaded.interface, loaded.unfiltered, loaded.at_least) == (None, None, False)
    assert (trees.num_inputs, trees.num_outputs, len(trees.roots)) == (4, 4, 8)
    assert (trees.input_precision, trees.sum_precision) == ("float32", "float32")
    assert (trees.base_last, trees.divide_by) == (False, 1.0)
    first = content["learner"]["gradient_booster"]["model"]["trees"][0]
    assert trees.thresholds[0] == np.float32(first["split_conditions"][0])
    outputs = [int(trees.right[leaf]) for leaf in np.flatnonzero(trees.features == -1)]
    assert set(outputs) == {0, 1, 2, 3}


def test_a_base_score_of_all_outputs_as_before_xgboost_3(content, tmp_path):
    old = changed(content, (*PARAMETERS, "base_score"), "5E-1")
    del old["learner"]["learner_model_param"]["num_target"]
    assert read(old, tmp_path).model.base.tolist() == [0.5] * 4


def test_a_single_leaf_is_fine(content, tmp_path):
    leaf = {
        "left_children": [-1],
        "right_children": [-1],
        "split_indices": [0],
        "split_conditions": [0.25],
        "tree_param": {"size_leaf_vector": "0"},
    }
    trees = read(changed(content, TREE, leaf), tmp_path)
    assert trees.model.features[0] == -1
    assert trees.model.values[0] == 0.25


def test_nodes_that_are_not_reached_are_left_out(content, tmp_path):
    """Node 3 was pruned: it is in the arrays, but nobody's child."""
    tree = {
        "left_children": [1, -1, -1, -1],
        "right_children": [2, -1, -1, -1],
        "split_indices": [1, 0, 0, 2147483647],
        "split_conditions": [0.5, 1.0, 2.0, 77.0],
        "tree_param": {"size_leaf_vector": "1", "num_deleted": "1"},
    }
    trees = read(changed(content, TREE, tree), tmp_path).model
    assert trees.features[:3].tolist() == [1, -1, -1]
    assert 77.0 not in trees.values


def test_pruned_boosters_have_such_nodes(tmp_path):
    parameters = {"objective": "multi:softprob", "num_class": 4, "tree_method": "exact"}
    booster = xgboost_booster({**parameters, "gamma": 1.5}, depth=6, seed=2)
    content = json.loads(bytes(booster.save_raw("json")))
    trees = content["learner"]["gradient_booster"]["model"]["trees"]
    nodes = sum(len(tree["left_children"]) for tree in trees)
    deleted = sum(int(tree["tree_param"]["num_deleted"]) for tree in trees)
    assert len(reader.of(booster).features) == nodes - deleted
    assert deleted > 0


REFUSED = {
    "gblinear": (("learner", "gradient_booster", "name"), "gblinear", "gblinear"),
    "objective": (("learner", "objective", "name"), "rank:pairwise", "rank:pairwise"),
    "poisson": (("learner", "objective", "name"), "count:poisson", "count:poisson"),
    "categories": ((*TREE, "split_type"), [1], "by category"),
    "category nodes": ((*TREE, "categories_nodes"), [0], "by category"),
    "vector leaves of old": (
        (*TREE, "tree_param"),
        {"size_leaf_vector": "4"},
        "before 3.1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_supported_is_named(name, content, tmp_path):
    path, value, message = REFUSED[name]
    with pytest.raises(Unsupported, match=message) as caught:
        read(changed(content, path, value), tmp_path)
    assert caught.value.file.endswith("model.json")


def linear_booster():
    import xgboost

    data = xgboost.DMatrix(np.arange(8.0).reshape(4, 2), [0, 1, 2, 3])
    return xgboost.train({"booster": "gblinear", "nthread": 1}, data, 1)


def test_boosters_that_are_not_supported():
    with pytest.raises(Unsupported, match="gblinear"):
        reader.of(linear_booster())
    with pytest.raises(Unsupported, match="survival:cox"):
        reader.of(xgboost_booster({"objective": "survival:cox"}, depth=1, seed=2))


def test_trained_categories_are_refused():
    import xgboost

    rng = np.random.default_rng(0)
    features = rng.integers(0, 5, size=(200, 2)).astype(float)
    data = xgboost.DMatrix(
        features, features[:, 0] % 2, feature_types=["c", "q"], enable_categorical=True
    )
    booster = xgboost.train({"objective": "binary:logistic", "nthread": 1}, data, 3)
    with pytest.raises(Unsupported, match="by category"):
        reader.of(booster)


def test_another_missing_value_is_refused():
    import xgboost

    estimator = xgboost.XGBClassifier(n_estimators=2, missing=0.0, n_jobs=1)
    estimator.fit(np.arange(8.0).reshape(4, 2), [0, 1, 0, 1])
    with pytest.raises(Unsupported, match=r"0\.0 as a missing value"):
        reader.of(estimator)


BAD = {
    "no learner": ((), {}, "/"),
    "no booster": (("learner", "gradient_booster"), {}, "/learner/gradient_booster"),
    "unknown booster": (
        ("learner", "gradient_booster", "name"),
        "forest",
        "/learner/gradient_booster/name",
    ),
    "objective is a list": (("learner", "objective", "name"), [], "/learner/objective/name"),
    "base score": ((*PARAMETERS, "base_score"), "[1,x]", "base_score"),
    "base score is a number": ((*PARAMETERS, "base_score"), 0.5, "base_score"),
    "too many base scores": ((*PARAMETERS, "base_score"), "[1,2]", "base_score"),
    "infinite base score": ((*PARAMETERS, "base_score"), "[1e39,0,0,0]", "base_score"),
    "a billion classes": ((*PARAMETERS, "num_class"), "1000000000", "num_class"),
    "num_class is true": ((*PARAMETERS, "num_class"), True, "num_class"),
    "no features": ((*PARAMETERS, "num_feature"), "0", "num_feature"),
    "tree_info": ((*MODEL, "tree_info"), [0] * 7, "tree_info"),
    "output": ((*MODEL, "tree_info"), [4] * 8, "tree_info"),
    "negative output": ((*MODEL, "tree_info"), [-1] * 8, "tree_info"),
    "trees": ((*MODEL, "trees"), 3, "trees"),
    "tree": (TREE, 3, "trees/0"),
    "children": ((*TREE, "left_children"), [1.5], "left_children"),
    "text for numbers": ((*TREE, "left_children"), ["1"] * 7, "left_children"),
    "nested": ((*TREE, "left_children"), [[1]] * 7, "left_children"),
    "large children": ((*TREE, "left_children"), [10**30] * 7, "left_children"),
    "lengths": ((*TREE, "right_children"), [1], "right_children"),
    "no nodes": (
        TREE,
        {
            "left_children": [],
            "right_children": [],
            "split_indices": [],
            "split_conditions": [],
            "tree_param": {"size_leaf_vector": "1"},
        },
        None,
    ),
    "condition too large for float32": ((*TREE, "split_conditions"), [1e39] * 7, None),
    "feature": ((*TREE, "split_indices"), [4] * 7, None),
    "negative feature": ((*TREE, "split_indices"), [-1] * 7, None),
}


@pytest.mark.parametrize("name", BAD)
def test_damaged_files_are_refused_with_the_place(name, content, tmp_path):
    path, value, place = BAD[name]
    count = len(content["learner"]["gradient_booster"]["model"]["trees"][0]["left_children"])
    if isinstance(value, list) and len(value) == 7:
        value = value[:1] * count
    with pytest.raises(InputError) as caught:
        read(changed(content, path, value) if path else value, tmp_path)
    assert caught.value.file.endswith("model.json")
    assert place is None or (caught.value.place or "").endswith(place)


def test_memory_and_files_give_the_same(tmp_path):
    booster = xgboost_booster({"objective": "binary:logistic"}, depth=3, seed=5)
    booster.save_model(tmp_path / "a.ubj")
    assert rows_of(reader.read(tmp_path / "a.ubj").model) == rows_of(reader.of(booster))
    assert reader.of(booster).base[0] == 0.0
