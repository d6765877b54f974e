"""Tree ensembles score states as the libraries that trained them do, bit for bit.

Asked are random states and, for every threshold of every tree, the threshold and its neighbours in
float32 and in double.
"""

import itertools
import json
import warnings

import numpy as np
import pytest
from tests.support.jani import automaton, bounded, edge, model, op, var
from tests.support.tree_files import LIGHTGBM as LIGHTGBM_TEXT
from tests.support.trees import (
    NUM_INPUTS,
    boundary_states,
    labelled,
    lightgbm_booster,
    lightgbm_scores,
    random_states,
    rows_of,
    xgboost_booster,
    xgboost_scores,
)

import surefoot
from surefoot.errors import Unsupported
from surefoot.policies.models import Network
from surefoot.policies.trees import lightgbm as our_lightgbm
from surefoot.policies.trees import own, scikit_learn
from surefoot.policies.trees import xgboost as our_xgboost

STATES = 10_000

XGBOOST = {
    "softprob": {"objective": "multi:softprob", "num_class": 4},
    "softmax": {"objective": "multi:softmax", "num_class": 4},
    "one base score": {"objective": "multi:softprob", "num_class": 4, "base_score": 0.3},
    "vector leaves": {
        "objective": "multi:softmax",
        "num_class": 4,
        "multi_strategy": "multi_output_tree",
    },
    "binary": {"objective": "binary:logistic"},
    "binary raw": {"objective": "binary:logitraw"},
    "regression": {"objective": "reg:squarederror"},
    "regression, 3 outputs": {"objective": "reg:squarederror", "targets": 3},
    "regression, vector leaves": {
        "targets": 3,
        "objective": "reg:squarederror",
        "multi_strategy": "multi_output_tree",
    },
    "parallel trees": {
        "objective": "multi:softprob",
        "num_class": 4,
        "num_parallel_tree": 3,
        "subsample": 0.6,
    },
    "dart": {
        "objective": "multi:softprob",
        "num_class": 4,
        "booster": "dart",
        "rate_drop": 0.4,
    },
    "pruned": {
        "objective": "multi:softprob",
        "num_class": 4,
        "tree_method": "exact",
        "gamma": 1.5,
    },
    "no round": {"objective": "multi:softprob", "num_class": 4},
}
LIGHTGBM = {
    "multiclass": {"objective": "multiclass", "num_class": 4},
    "one against all": {"objective": "multiclassova", "num_class": 4},
    "binary": {"objective": "binary"},
    "regression": {"objective": "regression"},
    "regression, absolute": {"objective": "regression_l1"},
    "forest": {
        "objective": "multiclass",
        "num_class": 4,
        "boosting": "rf",
        "bagging_fraction": 0.6,
        "bagging_freq": 1,
    },
    "dart": {"objective": "multiclass", "num_class": 4, "boosting": "dart"},
    "goss": {"objective": "multiclass", "num_class": 4, "data_sample_strategy": "goss"},
}


def scored(trees, states):
    return trees.scorer().scores(np.ascontiguousarray(states, dtype=np.float64))


def asked(trees, rng, *, real):
    """Return random states, and states at and beside every threshold."""
    near = [boundary_states(trees, rng, double=double) for double in (False, True)]
    return np.vstack([random_states(rng, STATES, real=real), *near])


def assert_same(found, wanted):
    """Both arrays have the same numbers, so every masked argmax of them is the same, too."""
    wanted = np.asarray(wanted, dtype=np.float64).reshape(len(found), -1)
    if found.shape[1] == 2 and wanted.shape[1] == 1:
        wanted = np.hstack([np.zeros_like(wanted), wanted])
    different = (found != wanted).any(axis=1)
    assert not different.any(), (
        f"{different.sum()} of {len(found)}: {found[different][:3]} {wanted[different][:3]}"
    )


# -- XGBoost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("real", [False, True], ids=["integers", "reals"])
@pytest.mark.parametrize("depth, seed", [(2, 1), (6, 2)])
@pytest.mark.parametrize("name", XGBOOST)
def test_xgboost_scores_bit_for_bit(name, depth, seed, real, tmp_path):
    booster = xgboost_booster(
        XGBOOST[name], depth=depth, seed=seed, real=real, rounds=0 if name == "no round" else 12
    )
    trees = our_xgboost.of(booster)
    rng = np.random.default_rng(seed)
    states = asked(trees, rng, real=real)
    found = scored(trees, states)
    assert_same(found, xgboost_scores(booster, states))
    if name != "no round":
        assert len(np.unique(found, axis=0)) > 10
    for suffix in ("json", "ubj"):
        file = tmp_path / f"model.{suffix}"
        booster.save_model(file)
        assert rows_of(our_xgboost.read(file).model) == rows_of(trees)


def test_xgboost_classifier_decides_as_it_does_itself():
    import xgboost

    features, labels = labelled(np.random.default_rng(3), 800, real=False)
    estimator = xgboost.XGBClassifier(n_estimators=15, max_depth=4, n_jobs=1)
    estimator.fit(features, labels)
    states = random_states(np.random.default_rng(4), STATES, real=False)
    found = scored(our_xgboost.of(estimator), states).argmax(axis=1)
    margins = estimator.predict(states, output_margin=True)
    assert (found == margins.argmax(axis=1)).all()
    assert (found == estimator.predict(states)).mean() > 0.999


def test_xgboost_classifier_that_stopped_early_uses_its_best_rounds():
    import xgboost

    features, labels = labelled(np.random.default_rng(3), 400, real=True)
    others, other_labels = labelled(np.random.default_rng(8), 400, real=True, noise=0.6)
    estimator = xgboost.XGBClassifier(
        n_estimators=200, max_depth=6, learning_rate=0.9, n_jobs=1, early_stopping_rounds=3
    )
    estimator.fit(features, labels, eval_set=[(others, other_labels)], verbose=False)
    booster = estimator.get_booster()
    assert estimator.best_iteration + 1 < booster.num_boosted_rounds()
    states = random_states(np.random.default_rng(4), 1000, real=True)
    assert_same(
        scored(our_xgboost.of(estimator), states), estimator.predict(states, output_margin=True)
    )
    assert_same(scored(our_xgboost.of(booster), states), xgboost_scores(booster, states))


def test_xgboost_base_score_of_two_classes_bit_for_bit():
    rng = np.random.default_rng(5)
    hard = [0.48449895, 0.49716496, 0.39718282]  # the logarithm in double gives another last bit
    for base in [*hard, *rng.random(100), *10.0 ** -rng.uniform(0, 6, 100)]:
        base = float(np.float32(base))
        booster = xgboost_booster(
            {"objective": "binary:logistic", "base_score": base}, depth=1, seed=0, rounds=0
        )
        states = np.zeros((1, NUM_INPUTS))
        assert_same(scored(our_xgboost.of(booster), states), xgboost_scores(booster, states))


# -- LightGBM --------------------------------------------------------------------------------


@pytest.mark.parametrize("real", [False, True], ids=["integers", "reals"])
@pytest.mark.parametrize("leaves, seed", [(4, 1), (31, 2)])
@pytest.mark.parametrize("name", LIGHTGBM)
def test_lightgbm_scores_bit_for_bit(name, leaves, seed, real, tmp_path):
    booster = lightgbm_booster(LIGHTGBM[name], leaves=leaves, seed=seed, real=real)
    trees = our_lightgbm.of(booster)
    rng = np.random.default_rng(seed)
    states = asked(trees, rng, real=real)
    found = scored(trees, states)
    wanted = lightgbm_scores(booster, states)
    if name == "forest":  # LightGBM averages after it has given the raw score
        wanted = wanted / (booster.num_trees() // 4)
    assert_same(found, wanted)
    assert len(np.unique(found, axis=0)) > 10
    booster.save_model(tmp_path / "model.txt")
    assert rows_of(our_lightgbm.read(tmp_path / "model.txt").model) == rows_of(trees)


def test_lightgbm_forests_average_as_predict_does():
    forest = {"boosting": "rf", "bagging_fraction": 0.6, "bagging_freq": 1}
    booster = lightgbm_booster({"objective": "regression", **forest}, leaves=31, seed=4, rounds=13)
    states = random_states(np.random.default_rng(0), STATES)
    assert_same(scored(our_lightgbm.of(booster), states), booster.predict(states))


ZERO = float(np.float32(1e-35))
NEAR = [float(x) for z in (0.0, ZERO, -ZERO) for x in (z, np.nextafter(z, -1), np.nextafter(z, 1))]


@pytest.mark.parametrize("kind", [0, 2, 4, 6, 8, 10])
@pytest.mark.parametrize("threshold", [*NEAR, 1e-36, -1e-36, 0.5, -0.5])
def test_lightgbm_sends_zero_and_its_neighbours_to_the_same_side(threshold, kind):
    """The node is written by hand: every missing type, default direction and place of zero."""
    import lightgbm

    text = LIGHTGBM_TEXT.replace("tree_sizes=10 10\n", "")
    text = text.replace("threshold=0.5 ", f"threshold={threshold!r} ")
    text = text.replace("decision_type=2 2", f"decision_type={kind} 2")
    booster = lightgbm.Booster(model_str=text)
    inputs = np.array([*NEAR, threshold, 1e-36, -1e-36, 0.4, -0.4, 0.6, -0.6, 0.5, -0.5])
    states = np.stack([np.full_like(inputs, -9.0), np.zeros_like(inputs), inputs], axis=1)
    wanted = lightgbm_scores(booster, states)
    try:
        found = scored(our_lightgbm.of(booster), states)
    except Unsupported:
        is_left = wanted[np.argsort(inputs, kind="stable")] == 9.0
        assert (np.diff(is_left.astype(int)) > 0).any(), (
            "it goes left again: no threshold does that"
        )
        return
    assert_same(found, wanted)
    assert {9.0, 10.0} == set(found.ravel())


@pytest.mark.parametrize("seed", range(6))
def test_lightgbm_zero_as_missing_is_exact_or_refused(seed):
    parameters = {"objective": "multiclass", "num_class": 4, "zero_as_missing": True}
    booster = lightgbm_booster(parameters, leaves=3, seed=seed, rounds=1 + seed % 2)
    rng = np.random.default_rng(seed)
    try:
        trees = our_lightgbm.of(booster)
    except Unsupported as error:
        assert "zero" in error.message
        return
    states = asked(trees, rng, real=True)
    assert_same(scored(trees, states), lightgbm_scores(booster, states))


def test_lightgbm_zero_as_missing_is_sometimes_exact():
    """Only 0 and 1 occur: then zero is never between numbers that go the other way."""
    import lightgbm

    rng = np.random.default_rng(1)
    features = rng.integers(0, 2, size=(400, NUM_INPUTS)).astype(float)
    labels = (features[:, 0] + 2 * features[:, 1] * features[:, 2]).astype(int)
    booster = lightgbm.train(
        {"objective": "multiclass", "num_class": 4, "zero_as_missing": True, "verbose": -1},
        lightgbm.Dataset(features, labels),
        5,
    )
    trees = our_lightgbm.of(booster)
    tiny = np.array([0.0, 1e-36, -1e-36, 1e-35, -1e-35, 5e-324, 2e-35, -2e-35, 0.5, 1.0, -1.0])
    near = [float(np.float32(1e-35)) * sign for sign in (1, -1)]
    near += [np.nextafter(each, side) for each in near for side in (-1, 1)]
    values = np.concatenate([tiny, near])
    states = np.array(list(itertools.product(values, values, values[:5])))
    states = np.hstack([states, np.zeros((len(states), NUM_INPUTS - 3))])
    assert_same(scored(trees, states), lightgbm_scores(booster, states))


def test_lightgbm_takes_tiny_inputs_for_zero():
    booster = lightgbm_booster(LIGHTGBM["multiclass"], leaves=31, seed=1, real=False)
    trees = our_lightgbm.of(booster)
    zero = float(np.float32(1e-35))
    assert (abs(trees.thresholds[trees.features >= 0]) <= 2 * zero).any()
    rng = np.random.default_rng(0)
    states = random_states(rng, 5000, real=False)
    tiny = [zero, -zero, 1e-36, -1e-36, *(np.nextafter(s * zero, s * 9) for s in (1, -1))]
    states[rng.random(states.shape) < 0.5] = 0.0
    mask = states == 0.0
    states[mask] = rng.choice(tiny, size=mask.sum())
    found = scored(trees, states)
    assert_same(found, lightgbm_scores(booster, states))
    for number in range(100):  # one row takes another way through LightGBM
        one = slice(number, number + 1)
        assert_same(found[one], lightgbm_scores(booster, states[one]))


def test_lightgbm_booster_that_stopped_early_uses_its_best_rounds():
    import lightgbm

    data = lightgbm.Dataset(*labelled(np.random.default_rng(3), 400, real=True))
    others = labelled(np.random.default_rng(8), 400, real=True, noise=0.6)
    booster = lightgbm.train(
        {**LIGHTGBM["multiclass"], "learning_rate": 0.9, "verbose": -1, "num_threads": 1},
        data,
        200,
        valid_sets=[lightgbm.Dataset(*others, reference=data)],
        callbacks=[lightgbm.early_stopping(3, verbose=False)],
        keep_training_booster=True,
    )
    assert 0 < booster.best_iteration < booster.num_trees() // 4
    states = random_states(np.random.default_rng(4), 1000)
    assert_same(scored(our_lightgbm.of(booster), states), lightgbm_scores(booster, states))


def test_lightgbm_classifier_has_the_scores_of_its_booster():
    import lightgbm

    estimator = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1)
    features, labels = labelled(np.random.default_rng(3), 400, real=True)
    estimator.fit(features, np.array(["north", "east", "south", "west"])[labels])
    states = random_states(np.random.default_rng(4), 1000)
    found = scored(our_lightgbm.of(estimator), states)
    assert_same(found, estimator.predict(states, raw_score=True))
    assert (estimator.classes_[found.argmax(axis=1)] == estimator.predict(states)).all()


# -- scikit-learn ----------------------------------------------------------------------------


def sklearn_cases():
    from sklearn import ensemble, tree

    return {
        "tree": tree.DecisionTreeClassifier(max_depth=8, random_state=0),
        "extra tree": tree.ExtraTreeClassifier(random_state=0),
        "forest": ensemble.RandomForestClassifier(17, random_state=0),
        "extra trees": ensemble.ExtraTreesClassifier(11, max_depth=6, random_state=0),
        "boosting": ensemble.GradientBoostingClassifier(n_estimators=12, random_state=0),
        "boosting from zero": ensemble.GradientBoostingClassifier(n_estimators=9, init="zero"),
        "histograms": ensemble.HistGradientBoostingClassifier(max_iter=12, random_state=0),
        "votes": ensemble.AdaBoostClassifier(
            tree.DecisionTreeClassifier(max_depth=3), n_estimators=9, random_state=0
        ),
        "tree regressor": tree.DecisionTreeRegressor(max_depth=8, random_state=0),
        "forest regressor": ensemble.RandomForestRegressor(13, random_state=0),
        "extra trees regressor": ensemble.ExtraTreesRegressor(13, max_depth=6, random_state=0),
    }


def sklearn_scores(estimator, states):
    """Return what our scores are compared with."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(states)
    if hasattr(estimator, "predict_proba"):
        return estimator.predict_proba(states)
    return estimator.predict(states)


@pytest.mark.parametrize("real", [False, True], ids=["integers", "reals"])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", sorted(sklearn_cases()))
def test_scikit_learn_scores_bit_for_bit(name, classes, real):
    estimator = sklearn_cases()[name]
    rng = np.random.default_rng(classes)
    features, labels = labelled(rng, 700, real=real, classes=classes)
    if "regressor" in name:
        labels = np.eye(classes)[labels] * rng.random((len(labels), classes))
    estimator.fit(features, labels)
    loaded = scikit_learn.trees_of(estimator)
    assert loaded.interface is None
    states = asked(loaded.model, rng, real=real)
    found = scored(loaded.model, states)
    if name.startswith("boosting") and classes == 2:
        assert (found[:, 0] == -5e-324).all()
        found = found[:, 1:]
    if name == "histograms" and classes == 2:
        assert (found[:, 0] == 0).all()
        found = found[:, 1:]
    if name == "votes" and classes == 2:
        found = found[:, 1:] - found[:, :1]
    assert_same(found, sklearn_scores(estimator, states))
    if "regressor" not in name:
        decided = scored(loaded.model, states).argmax(axis=1)
        assert (decided == estimator.predict(states)).all()


def test_scikit_learn_boosting_decides_ties_for_class_1():
    """With one state for both classes no tree says anything: the score is exactly zero."""
    from sklearn.ensemble import GradientBoostingClassifier

    estimator = GradientBoostingClassifier(n_estimators=2)
    estimator.fit(np.zeros((4, 1)), [0, 1, 0, 1])
    state = np.zeros((1, 1))
    assert estimator.decision_function(state)[0] == 0.0
    assert estimator.predict(state)[0] == 1
    assert scored(scikit_learn.trees_of(estimator).model, state).argmax() == 1


@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@pytest.mark.parametrize("classes", [2, 4])
def test_scikit_learn_networks_agree_to_rounding(activation, classes):
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    features, labels = labelled(rng, 300, real=True, classes=classes)
    estimator = MLPClassifier((12, 7), activation=activation, max_iter=30, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(features, labels)
    network = scikit_learn.trees_of(estimator).model
    assert isinstance(network, Network)
    states = random_states(rng, STATES, real=True)
    found = scored(network, states)
    wanted = estimator.predict_proba(states)
    shifted = np.exp(found - found.max(axis=1, keepdims=True))
    assert np.allclose(shifted / shifted.sum(axis=1, keepdims=True), wanted, atol=1e-12)
    assert (found.argmax(axis=1) == wanted.argmax(axis=1)).all()


def linear_cases():
    from sklearn import linear_model, svm

    return {
        "LogisticRegression": linear_model.LogisticRegression(),
        "LinearSVC": svm.LinearSVC(),
        "Perceptron": linear_model.Perceptron(),
        "RidgeClassifier": linear_model.RidgeClassifier(),
        "SGDClassifier": linear_model.SGDClassifier(random_state=0),
        "without intercept": linear_model.LogisticRegression(fit_intercept=False),
    }


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", sorted(linear_cases()))
def test_scikit_learn_linear_models_agree_to_rounding(name, classes):
    rng = np.random.default_rng(0)
    features, labels = labelled(rng, 300, real=True, classes=classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = linear_cases()[name].fit(features, labels)
    network = scikit_learn.trees_of(estimator).model
    assert isinstance(network, Network)
    states = random_states(rng, STATES, real=True)
    found, wanted = scored(network, states), estimator.decision_function(states)
    if classes == 2:
        assert (found[:, 0] == 0).all()
        found = found[:, 1]
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-9)
    decided = scored(network, states).argmax(axis=1)
    assert (decided == estimator.predict(states)).all()


def test_votes_of_equal_weight_go_to_the_first_class():
    """Two trees that never agree: of equal sums scikit-learn and we take the first class."""
    from sklearn.ensemble import AdaBoostClassifier

    features, labels = labelled(np.random.default_rng(0), 100, real=True, classes=2)
    estimator = AdaBoostClassifier(n_estimators=2, random_state=0).fit(features, labels)
    estimator.estimator_weights_[:] = 1.0
    states = random_states(np.random.default_rng(1), STATES, real=True)
    votes = np.array([each.predict(states) for each in estimator.estimators_])
    assert (votes[0] != votes[1]).any(), "the trees agree everywhere"
    found = scored(scikit_learn.trees_of(estimator).model, states)
    assert (found.argmax(axis=1) == estimator.predict(states)).all()


# -- ties ------------------------------------------------------------------------------------


def test_equal_scores_are_equal_in_both_and_go_to_the_lowest_output():
    """Classes 1 and 2 cannot be told apart: XGBoost gives both the same margin."""
    import xgboost

    rng = np.random.default_rng(0)
    features = rng.integers(0, 5, size=(300, NUM_INPUTS)).astype(float)
    half = np.where(features[:, 0] > 2, 1, 0)
    labels = np.concatenate([half, np.where(half == 1, 2, 0)])
    data = xgboost.DMatrix(np.vstack([features, features]), labels)
    parameters = {"objective": "multi:softprob", "num_class": 3, "nthread": 1, "base_score": 0.5}
    booster = xgboost.train(parameters, data, 8)
    states = random_states(rng, STATES, real=False)
    found = scored(our_xgboost.of(booster), states)
    wanted = xgboost_scores(booster, states)
    assert_same(found, wanted)
    tied = found[:, 1] == found[:, 2]
    assert tied.all()
    assert set(found.argmax(axis=1)) == {0, 1}


def test_sums_that_differ_in_the_last_bit_are_not_equal(tmp_path):
    """1 + 2**-23 + 2**-24 + 2**-24 depends on the order and precision of the additions."""
    booster = xgboost_booster(XGBOOST["softprob"], depth=1, seed=0, rounds=3)
    file = tmp_path / "model.json"
    booster.save_model(file)
    content = json.loads(file.read_text())
    trees = content["learner"]["gradient_booster"]["model"]["trees"]
    tiny = {
        0: (1.0, 2**-24, 2**-24),
        1: (2**-24, 2**-24, 1.0),
        2: (1.0, 2**-23, 0.0),
        3: (1.0, 0.0, 0.0),
    }
    for number, tree in enumerate(trees):
        value = tiny[number % 4][number // 4]
        for node, child in enumerate(tree["left_children"]):
            if child == -1:
                tree["split_conditions"][node] = value
                tree["base_weights"][node] = value
    content["learner"]["learner_model_param"]["base_score"] = "[0E0,0E0,0E0,0E0]"
    file.write_text(json.dumps(content))
    import xgboost

    changed = xgboost.Booster(model_file=file)
    states = np.zeros((1, NUM_INPUTS))
    found = scored(our_xgboost.read(file).model, states)
    assert_same(found, xgboost_scores(changed, states))
    assert found[0].tolist() == [1.0, 1 + 2**-23, 1 + 2**-23, 1.0]
    assert found.argmax() == 1


# -- the whole way ---------------------------------------------------------------------------

ACTIONS = ("north", "east", "south", "west")


def masked_task():
    """A task over four integers whose actions are applicable in many combinations."""
    names = [f"x{number}" for number in range(NUM_INPUTS)]
    guards = [
        op("≥", "x0", 2),
        op("∧", op("≤", "x1", 6), op("≥", "x2", 1)),
        op("≠", "x3", 4),
        op("≤", op("+", "x0", "x1"), 12),
    ]
    edges = [edge(a, guard=guard) for a, guard in zip(ACTIONS, guards, strict=True)]
    variables = [var(name, bounded(0, 9), 0) for name in names]
    return model(automaton(*edges), variables=variables, actions=ACTIONS)


@pytest.mark.parametrize("library", ["xgboost", "lightgbm", "own"])
def test_policies_from_files_take_the_best_applicable_action(library, tmp_path):
    (tmp_path / "task.jani").write_text(json.dumps(masked_task()))
    task = surefoot.load_task(tmp_path / "task.jani")
    if library == "lightgbm":
        booster = lightgbm_booster(LIGHTGBM["multiclass"], leaves=31, seed=3, real=False)
        booster.save_model(tmp_path / "policy.txt")
        file, scores = tmp_path / "policy.txt", lightgbm_scores
    else:
        booster = xgboost_booster(XGBOOST["softprob"], depth=5, seed=3, real=False)
        file, scores = tmp_path / "policy.ubj", xgboost_scores
        booster.save_model(file)
        if library == "own":
            file = tmp_path / "policy.json"
            own.write(our_xgboost.of(booster), file)
    policy = surefoot.load_policy(str(file), task)
    rng = np.random.default_rng(2)
    states = rng.integers(0, 10, size=(400, NUM_INPUTS))
    wanted = scores(booster, states.astype(float)).reshape(len(states), -1)
    masks = set()
    for values, row in zip(states.tolist(), wanted, strict=True):
        state = dict(zip(task.names, values, strict=True))
        applicable = task.applicable(state)
        masks.add(tuple(applicable))
        if not applicable:
            continue
        best = max(applicable, key=lambda a, row=row: (row[ACTIONS.index(a)], -ACTIONS.index(a)))
        assert policy.decide(state) == best
    assert len(masks) > 6
