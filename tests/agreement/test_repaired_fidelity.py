"""Repaired ensembles, written in the format of the original: its own library loads the file and
scores as we do, bit for bit; our reader finds the very same model in it.

Leaf values are changed by hand and separating trees appended, as repair does it. Asked are random
states, states around those that the new trees single out, and both neighbours of every threshold.
"""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.agreement.test_tree_fidelity import (
    LIGHTGBM,
    XGBOOST,
    asked,
    assert_same,
    scored,
    sklearn_cases,
    sklearn_scores,
)
from tests.support.networks import grid, nnet_text, random_network, torch_sequential
from tests.support.repaired import bumped, corrected, repaired, separating
from tests.support.trees import (
    labelled,
    lightgbm_booster,
    lightgbm_scores,
    random_states,
    xgboost_booster,
    xgboost_scores,
)

from surefoot import InputError, Interface, Unsupported, load_policy, load_task
from surefoot.policies import Policy
from surefoot.policies.interface import Input
from surefoot.policies.like import fitted_like, suffix_like, write_like
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Corrected, Layer, Network
from surefoot.policies.trees import lightgbm as our_lightgbm
from surefoot.policies.trees import own, scikit_learn
from surefoot.policies.trees import xgboost as our_xgboost
from surefoot.policies.trees.forest import ZERO, appended, same_trees

TASK = grid(4, 4)
NO_AVERAGE = {"objective": "multiclass", "num_class": 4, "boost_from_average": False}


def task_for(trees):
    return TASK if trees.num_outputs == 4 else grid(4, trees.num_outputs)


def both(file, seed, *, more):
    """Return the policy of a file, and what a repair might make of it."""
    trees = (our_xgboost if file.suffix in (".ubj", ".json") else our_lightgbm).read(file).model
    original = load_policy(str(file), task_for(trees))
    model = repaired(trees, np.random.default_rng(seed), more=more)
    assert not same_trees(model, trees)
    return original, load_policy(Loaded(model, original.interface), original.task)


def states_for(trees, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([asked(trees, rng, real=False), random_states(rng, 1000, real=True)])


def assert_same_policy(found, wanted):
    """The policies have the same model, interface and decisions."""
    assert same_trees(found.model, wanted.model)
    assert found.interface.outputs == wanted.interface.outputs
    assert [one.variable for one in found.interface.inputs] == list(found.task.names)
    rows = np.random.default_rng(1).integers(0, 10, (300, 4))
    rows[:, 0] = 5 + rows[:, 0] // 2  # where the last action is applicable, too
    states = [dict(zip(found.task.names, row, strict=True)) for row in rows.tolist()]
    assert found.decide_all(states) == wanted.decide_all(states)


# -- XGBoost ---------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("suffix", [".json", ".ubj"])
@pytest.mark.parametrize("name", XGBOOST)
def test_xgboost_evaluates_the_repaired_file_as_we_do(name, suffix, more, tmp_path):
    import xgboost

    rounds = 0 if name == "no round" else 6
    if name == "no round" and more == 0:
        pytest.skip("there is nothing to change")
    file = tmp_path / f"policy{suffix}"
    xgboost_booster(XGBOOST[name], depth=4, seed=5, real=False, rounds=rounds).save_model(file)
    original, policy = both(file, 1, more=more)
    assert suffix_like(policy, original) == suffix
    written = write_like(policy, original, tmp_path / f"new{suffix}")
    assert [path.name for path in written] == [f"new{suffix}", f"new{suffix}.interface.json"]
    booster = xgboost.Booster(model_file=written[0])
    states = states_for(policy.model)
    assert_same(scored(policy.model, states), xgboost_scores(booster, states))
    assert booster.num_boosted_rounds() == rounds + more
    assert_same_policy(load_policy(str(written[0]), original.task), policy)
    booster.save_model(tmp_path / "again.json")
    assert same_trees(our_xgboost.read(tmp_path / "again.json").model, policy.model)


@pytest.mark.parametrize("suffix", [".json", ".ubj"])
def test_what_else_stands_in_an_xgboost_file_stays(suffix, tmp_path):
    file = tmp_path / f"policy{suffix}"
    booster = xgboost_booster(XGBOOST["softprob"], depth=3, seed=5, real=False)
    booster.feature_names = ["é", "b", "c", "d"]
    booster.set_attr(note="from us", best_iteration="1", best_score="0.5")
    booster.save_model(file)
    original, policy = both(file, 1, more=1)
    written = write_like(policy, original, tmp_path / f"new{suffix}")[0]
    import xgboost

    found = xgboost.Booster(model_file=written)
    assert found.feature_names == ["é", "b", "c", "d"]
    assert found.attributes() == {"note": "from us"}
    with pytest.raises(AttributeError):
        _ = found.best_iteration


def test_values_are_written_in_the_precision_in_which_they_count(tmp_path):
    file = tmp_path / "policy.json"
    xgboost_booster(XGBOOST["softprob"], depth=3, seed=5, real=False).save_model(file)
    original = load_policy(str(file), TASK)
    model = replace(original.model, values=original.model.values / 3)
    policy = replaced_by(model, original)
    assert suffix_like(policy, original) == ".json"
    written = write_like(policy, original, tmp_path / "new.json")[0]
    states = states_for(model)
    import xgboost

    found = xgboost_scores(xgboost.Booster(model_file=written), states)
    assert_same(scored(model, states), found)


def test_an_unchanged_xgboost_model_keeps_its_numbers(tmp_path):
    file = tmp_path / "policy.json"
    xgboost_booster(XGBOOST["softprob"], depth=3, seed=5, real=False).save_model(file)
    original = load_policy(str(file), TASK)
    written = write_like(original, original, tmp_path / "new.json")[0]
    assert json.loads(written.read_text()) == json.loads(file.read_text())


def test_a_classifier_that_stopped_early_uses_the_appended_rounds(tmp_path):
    import xgboost

    estimator = xgboost.XGBClassifier(
        n_estimators=60, learning_rate=0.9, n_jobs=1, early_stopping_rounds=3
    )
    others = labelled(np.random.default_rng(8), 400, real=False, noise=0.6)
    features, labels = labelled(np.random.default_rng(3), 400, real=False)
    estimator.fit(features, labels, eval_set=[others], verbose=False)
    assert estimator.best_iteration + 1 < estimator.get_booster().num_boosted_rounds()
    file = tmp_path / "policy.ubj"
    estimator.save_model(file)
    original, policy = both(file, 1, more=2)
    loaded = xgboost.XGBClassifier()
    loaded.load_model(write_like(policy, original, tmp_path / "new.ubj")[0])
    states = states_for(policy.model)
    assert_same(scored(policy.model, states), loaded.predict(states, output_margin=True))
    trees = our_xgboost.of(estimator)
    model = repaired(trees, np.random.default_rng(2))
    made = fitted_like(load_policy(model, TASK), estimator)
    assert type(made) is xgboost.XGBClassifier
    states = states_for(model)
    assert_same(scored(model, states), made.predict(states, output_margin=True))
    assert (made.predict(states) == scored(model, states).argmax(axis=1)).all()
    assert same_trees(our_xgboost.of(estimator), trees)


# -- LightGBM --------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("suffix", [".txt", ".lgb"])
@pytest.mark.parametrize("name", [*LIGHTGBM, "not from the average"])
def test_lightgbm_evaluates_the_repaired_file_as_we_do(name, suffix, more, tmp_path):
    import lightgbm

    file = tmp_path / f"policy{suffix}"
    parameters = LIGHTGBM.get(name, NO_AVERAGE)
    lightgbm_booster(parameters, leaves=12, seed=5, real=False, rounds=6).save_model(file)
    original, policy = both(file, 1, more=more)
    assert suffix_like(policy, original) == suffix
    written = write_like(policy, original, tmp_path / f"new{suffix}")
    booster = lightgbm.Booster(model_file=written[0])
    states = states_for(policy.model)
    wanted = lightgbm_scores(booster, states) / policy.model.divide_by
    assert_same(scored(policy.model, states), wanted)
    if name == "forest":
        assert policy.model.divide_by == 6 + more
    assert booster.num_trees() == len(policy.model.roots)
    assert_same_policy(load_policy(str(written[0]), original.task), policy)
    booster.save_model(tmp_path / "again.txt")
    assert same_trees(our_lightgbm.read(tmp_path / "again.txt").model, policy.model)


def test_what_else_stands_in_a_lightgbm_file_stays(tmp_path):
    file = tmp_path / "policy.txt"
    lightgbm_booster(NO_AVERAGE, leaves=12, seed=5, real=False).save_model(file)
    original = load_policy(str(file), TASK)
    written = write_like(original, original, tmp_path / "new.txt")[0]
    before, after = (path.read_text().splitlines() for path in (file, written))
    assert len(before) == len(after)
    changed = {line.split("=")[0] for line, new in zip(before, after, strict=True) if line != new}
    assert changed <= {"leaf_value", "tree_sizes"}


def test_a_lightgbm_file_with_other_line_ends(tmp_path):
    import lightgbm

    file = tmp_path / "policy.txt"
    lightgbm_booster(NO_AVERAGE, leaves=12, seed=5, real=False).save_model(file)
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    original, policy = both(file, 1, more=1)
    written = write_like(policy, original, tmp_path / "new.txt")[0]
    states = states_for(policy.model)
    found = lightgbm_scores(lightgbm.Booster(model_file=written), states)
    assert_same(scored(policy.model, states), found)


@pytest.mark.parametrize("bound", [0.0, 1e-36, -1e-36, 5e-324, ZERO, -ZERO, 2 * ZERO])
def test_new_trees_that_compare_with_zero_or_nearly_so(bound, tmp_path):
    """LightGBM takes inputs near zero for zero: our new trees treat these alike, too."""
    import lightgbm

    file = tmp_path / "policy.txt"
    lightgbm_booster(NO_AVERAGE, leaves=12, seed=5, real=False).save_model(file)
    original = load_policy(str(file), TASK)
    tree = separating(np.full(4, bound), np.array([1.0, 2.0, 4.0, 8.0]), radius=0.0)
    upper = replace(tree, thresholds=tree.thresholds + 1.0 * (np.arange(len(tree.leaf)) % 2))
    policy = replaced_by(appended(original.model, [upper]), original)
    assert suffix_like(policy, original) == ".txt"
    written = write_like(policy, original, tmp_path / "new.txt")[0]
    near = [0.0, 1e-36, -1e-36, ZERO, -ZERO, 0.5, -0.5, np.nextafter(ZERO, 1), 3 * ZERO]
    states = np.random.default_rng(0).choice(near, (5000, 4))
    found = scored(policy.model, states)
    assert_same(found, lightgbm_scores(lightgbm.Booster(model_file=written), states))
    changed = (found != scored(original.model, states)).all(axis=1)
    assert 0 < changed.sum() < len(states)


@pytest.mark.parametrize("kind", ["booster", "classifier"])
def test_lightgbm_objects(kind):
    import lightgbm

    if kind == "booster":
        fitted = lightgbm_booster(NO_AVERAGE, leaves=12, seed=5, real=False)
    else:
        fitted = lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1)
        features, labels = labelled(np.random.default_rng(3), 400, real=False)
        fitted.fit(features, np.array(["a0", "a1", "a2", "a3"])[labels])
    before = our_lightgbm.of(fitted)
    model = repaired(before, np.random.default_rng(2))
    made = fitted_like(load_policy(model, TASK), fitted)
    assert type(made) is type(fitted)
    states = states_for(model)
    assert_same(scored(model, states), made.predict(states, raw_score=True))
    assert same_trees(our_lightgbm.of(made), model)
    assert same_trees(our_lightgbm.of(fitted), before)
    if kind == "classifier":
        assert (made.classes_[scored(model, states).argmax(axis=1)] == made.predict(states)).all()


def test_xgboost_booster_objects():
    import xgboost

    for name in ("softprob", "vector leaves", "binary", "dart"):
        fitted = xgboost_booster(XGBOOST[name], depth=4, seed=5, real=False)
        before = our_xgboost.of(fitted)
        model = repaired(before, np.random.default_rng(2))
        made = fitted_like(load_policy(model, task_for(model)), fitted)
        assert type(made) is xgboost.Booster
        states = states_for(model)
        assert_same(scored(model, states), xgboost_scores(made, states))
        assert same_trees(our_xgboost.of(made), model)
        assert same_trees(our_xgboost.of(fitted), before)


# -- scikit-learn ----------------------------------------------------------------------------


@pytest.mark.parametrize("more", [0, 2])
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", sorted(sklearn_cases()))
def test_scikit_learn_evaluates_the_repaired_object_as_we_do(name, classes, more):
    estimator = sklearn_cases()[name]
    rng = np.random.default_rng(classes)
    features, labels = labelled(rng, 700, real=False, classes=classes)
    if "regressor" in name:
        labels = np.eye(classes)[labels] * rng.random((len(labels), classes))
    estimator.fit(features, labels)
    before = scikit_learn.trees_of(estimator).model
    model = repaired(before, rng, more=more)
    policy = load_policy(model, grid(4, classes))
    if more and name in ("tree", "extra tree", "tree regressor"):
        with pytest.raises(Unsupported, match="a single decision tree cannot take more") as caught:
            fitted_like(policy, estimator)
        assert caught.value.hint == "write it to a file *.json"
        return
    if name in ("histograms", "votes"):
        with pytest.raises(Unsupported, match="are not written back"):
            fitted_like(policy, estimator)
        return
    made = fitted_like(policy, estimator)
    assert type(made) is type(estimator)
    states = states_for(model)
    found = scored(model, states)
    if "regressor" not in name:
        decided = made.predict(states)
        assert (found.argmax(axis=1) == decided).all()
    if name.startswith("boosting") and classes == 2:
        found = found[:, 1:]
    assert_same(found, sklearn_scores(made, states))
    assert same_trees(scikit_learn.trees_of(made).model, model)
    assert same_trees(scikit_learn.trees_of(estimator).model, before)


def test_scikit_learn_objects_that_cannot_hold_it():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    features, labels = labelled(np.random.default_rng(3), 400, real=False)
    forest = RandomForestClassifier(1, random_state=0).fit(features, labels)
    model = repaired(scikit_learn.trees_of(forest).model, np.random.default_rng(2))
    with pytest.raises(Unsupported, match="a forest of one tree cannot take more trees"):
        fitted_like(load_policy(model, TASK), forest)
    pipeline = make_pipeline(MinMaxScaler(), forest).fit(features, labels)
    with pytest.raises(Unsupported, match="steps before its last one"):
        fitted_like(load_policy(pipeline, TASK), pipeline)
    other = RandomForestClassifier(3, random_state=1).fit(features, labels)
    with pytest.raises(Unsupported, match=r"not those of the original|fewer leaves"):
        fitted_like(load_policy(model, TASK), other)
    with pytest.raises(InputError, match="not a model of a library"):
        fitted_like(load_policy(model, TASK), object())


# -- networks --------------------------------------------------------------------------------


def with_last_layer(network: Network, seed: int = 7) -> Network:
    last = network.layers[-1]
    rng = np.random.default_rng(seed)
    new = [
        (array + rng.normal(size=array.shape)).astype(network.precision).astype(np.float64)
        for array in (last.weights, last.biases)
    ]
    return Network((*network.layers[:-1], Layer(*new, last.activation)), network.precision)


@pytest.mark.parametrize("classes", [2, 4])
def test_linear_objects_of_scikit_learn(classes):
    from sklearn.linear_model import LogisticRegression

    features, labels = labelled(np.random.default_rng(0), 300, real=True, classes=classes)
    estimator = LogisticRegression(max_iter=1000).fit(features, labels)
    model = with_last_layer(scikit_learn.trees_of(estimator).model)
    made = fitted_like(load_policy(model, grid(4, classes)), estimator)
    assert made.coef_.shape == estimator.coef_.shape
    states = random_states(np.random.default_rng(1), 1000)
    assert (made.predict(states) == scored(model, states).argmax(axis=1)).all()


def test_torch_objects():
    import torch

    network = random_network(3, 4, 9, 4)
    model = with_last_layer(network)
    module = torch_sequential(network)
    made = fitted_like(load_policy(model, TASK), module)
    states = random_states(np.random.default_rng(0), 1000)
    with torch.no_grad():
        found = made(torch.tensor(states, dtype=torch.float32)).double().numpy()
    assert np.allclose(found, scored(model, states), atol=1e-5)
    policy = load_policy(made, TASK)
    assert np.array_equal(scored(policy.model, states), scored(model, states))
    again = load_policy(module, TASK)
    assert np.array_equal(scored(again.model, states), scored(network, states))
    with pytest.raises(Unsupported, match="no place for the trees"):
        fitted_like(load_policy(corrected(), grid(3, 4)), module)
    with pytest.raises(Unsupported, match="more than the last layer"):
        fitted_like(load_policy(random_network(4, 4, 9, 4), TASK), module)


@pytest.mark.parametrize("classes", [2, 4])
def test_scikit_learn_networks(classes):
    from sklearn.neural_network import MLPClassifier

    features, labels = labelled(np.random.default_rng(3), 300, real=False, classes=classes)
    estimator = MLPClassifier((8,), max_iter=50, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(features, labels)
    task = grid(4, classes)
    original = load_policy(estimator, task)
    model = with_last_layer(original.model)
    made = fitted_like(load_policy(model, task), estimator)
    found = scored(model, features)
    best = np.sort(found, axis=1)
    clear = best[:, -1] - best[:, -2] > 1e-9
    assert clear.sum() > 250
    assert (made.predict(features)[clear] == found.argmax(axis=1)[clear]).all()
    if classes == 4:
        assert np.array_equal(scored(load_policy(made, task).model, features), found)


@pytest.mark.parametrize("named", ["policy.nnet", "policy.jani2nnet"])
def test_nnet_files_stay_what_they_are(named, tmp_path):
    network = random_network(3, 4, 9, 4, precision="float64")
    text = nnet_text(network, means=[0.5, 0, 0, 0, 0], ranges=[2.0, 1, 1, 1, 1])
    (tmp_path / "policy.nnet").write_text(text)
    inputs = [{"name": f"v{i}", "automaton": None} for i in (2, 0, 1, 3)]
    outputs = ["a3", "a0", "a1", "a2"]
    content = {"file": "policy.nnet", "input": inputs, "output": outputs}
    (tmp_path / "policy.jani2nnet").write_text(json.dumps(content))
    original = load_policy(str(tmp_path / named), TASK)
    model = with_last_layer(original.model)
    policy = load_policy(Loaded(model, original.interface), TASK)
    assert suffix_like(policy, original) == ".nnet"
    written = write_like(policy, original, tmp_path / "new.nnet")
    found = load_policy(str(written[0]), TASK)
    assert found.interface.inputs == original.interface.inputs
    assert found.interface.outputs == original.interface.outputs
    state = TASK.state(v0=7, v1=1, v2=3, v3=9)
    assert found.scores(state) == policy.scores(state) != original.scores(state)
    assert written[0].read_text().splitlines()[:8] == text.splitlines()[:8]
    correction = replaced_by(Corrected(model, corrected_trees(model)), policy)
    assert suffix_like(correction, original) == ".safetensors"
    with pytest.raises(Unsupported, match="no place for the trees") as caught:
        write_like(correction, original, tmp_path / "more.nnet")
    assert caught.value.hint == "write it to a file *.safetensors"


def corrected_trees(network: Network):
    rng = np.random.default_rng(0)
    fitted = xgboost_booster(XGBOOST["vector leaves"], depth=2, seed=1, rounds=1)
    return bumped(our_xgboost.of(fitted), rng)


def replaced_by(model, policy: Policy) -> Policy:
    return load_policy(Loaded(model, policy.interface), policy.task)


@pytest.mark.parametrize("suffix", [".onnx", ".safetensors"])
def test_networks_stay_in_their_format(suffix, tmp_path):
    network = random_network(3, 4, 9, 4)
    interface = Interface(tuple(Input(f"v{i}") for i in (1, 0, 3, 2)), ("a1", "a0", "a3", "a2"))
    from surefoot.policies.writing import write_policy

    file = tmp_path / f"policy{suffix}"
    write_policy(load_policy(Loaded(network, interface), TASK), file)
    original = load_policy(str(file), TASK)
    policy = replaced_by(with_last_layer(network), original)
    assert suffix_like(policy, original) == suffix
    written = write_like(policy, original, tmp_path / f"new{suffix}")
    found = load_policy(str(written[0]), TASK)
    state = TASK.state(v0=7, v1=1, v2=3, v3=9)
    assert found.scores(state) == policy.scores(state) != original.scores(state)
    correction = replaced_by(Corrected(network, corrected_trees(network)), original)
    assert suffix_like(correction, original) == ".safetensors"
    written = write_like(correction, original, tmp_path / "corrected.safetensors")
    again = load_policy(str(written[0]), TASK)
    assert again.scores(state) == correction.scores(state)


# -- what is written otherwise ---------------------------------------------------------------


def test_other_suffixes_and_other_trees_are_written_as_our_own(tmp_path):
    file = tmp_path / "policy.ubj"
    booster = xgboost_booster(XGBOOST["softprob"], depth=4, seed=5, real=False)
    booster.save_model(file)
    original, policy = both(file, 1, more=1)
    written = write_like(policy, original, tmp_path / "new.json")
    assert written == [tmp_path / "new.json"]
    assert own.read(written[0]).interface == policy.interface
    assert_same_policy(load_policy(str(written[0]), TASK), policy)
    other = xgboost_booster(XGBOOST["softprob"], depth=2, seed=9, real=False)
    stranger = load_policy(other, TASK)
    assert suffix_like(stranger, original) == ".json"
    with pytest.raises(Unsupported, match=r"a file \*.ubj cannot hold the repaired policy"):
        write_like(stranger, original, tmp_path / "stranger.ubj")
    assert not (tmp_path / "stranger.ubj").exists()
    booster.save_model(tmp_path / "policy.json")
    original = load_policy(str(tmp_path / "policy.json"), TASK)
    written = write_like(stranger, original, tmp_path / "stranger.json")
    assert same_trees(own.read(written[0]).model, stranger.model)


def test_own_trees_and_objects(tmp_path):
    booster = xgboost_booster(XGBOOST["softprob"], depth=4, seed=5, real=False)
    in_memory = load_policy(booster, TASK)
    assert suffix_like(in_memory, in_memory) == ".json"
    written = write_like(in_memory, in_memory, tmp_path / "policy.json")
    original = load_policy(str(written[0]), TASK)
    policy = replaced_by(repaired(original.model, np.random.default_rng(0)), original)
    assert suffix_like(policy, original) == ".json"
    written = write_like(policy, original, tmp_path / "new.json")
    assert_same_policy(load_policy(str(written[0]), TASK), policy)


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_built_in_policies(kind, tmp_path):
    task = load_task("domain:one-way-line?size=15-10")
    original = load_policy(f"builtin:one-way-line-{kind}", task)
    before = original.model
    if kind == "trees":
        policy = replaced_by(repaired(before, np.random.default_rng(0)), original)
    else:
        policy = replaced_by(with_last_layer(before), original)
    suffix = suffix_like(policy, original)
    assert suffix == (".json" if kind == "trees" else ".safetensors")
    written = write_like(policy, original, tmp_path / f"new{suffix}")
    found = load_policy(str(written[0]), task)
    starts = task.sample_starts(50)
    assert found.decide_all(starts) == policy.decide_all(starts)
    assert all(found.scores(start) == policy.scores(start) for start in starts)
    assert found.interface.outputs == original.interface.outputs


def test_files_named_by_an_interface(tmp_path):
    xgboost_booster(XGBOOST["softprob"], depth=4, seed=5, real=False).save_model(
        tmp_path / "model.ubj"
    )
    content = {"surefoot_interface": 1, "file": "model.ubj", "outputs": ["a3", "a2", "a1", "a0"]}
    (tmp_path / "policy.json").write_text(json.dumps(content))
    original = load_policy(str(tmp_path / "policy.json"), TASK)
    policy = replaced_by(repaired(original.model, np.random.default_rng(0)), original)
    assert suffix_like(policy, original) == ".ubj"
    written = write_like(policy, original, tmp_path / "new.ubj")
    assert_same_policy(load_policy(str(written[0]), TASK), policy)


def test_nothing_is_left_where_a_file_cannot_be_written(tmp_path):
    file = tmp_path / "policy.ubj"
    xgboost_booster(XGBOOST["softprob"], depth=4, seed=5, real=False).save_model(file)
    original, policy = both(file, 1, more=1)
    with pytest.raises(InputError) as caught:
        write_like(policy, original, tmp_path / "nowhere" / "new.ubj")
    assert caught.value.code == "file-not-written"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["policy.ubj"]
    table = load_policy("first", TASK)
    for call in (suffix_like, lambda p, o: write_like(p, o, tmp_path / "new.ubj")):
        with pytest.raises(InputError) as caught:
            call(table, original)
        assert caught.value.code in ("no-model", "unknown-suffix")
