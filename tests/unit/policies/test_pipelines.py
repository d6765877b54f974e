"""Pipelines of scikit-learn: decisions are those of the pipeline, also beside every threshold."""

import pickle
import warnings

import numpy as np
import pytest
from tests.support.networks import grid
from tests.support.trees import NUM_INPUTS, boundary_states, labelled, random_states

from surefoot import Description, InputError, Unsupported, convert, load_policy
from surefoot.policies.fitted import model_of

pytest.importorskip("sklearn", reason="scikit-learn is not installed")


def scalers():
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    return {
        "standard": StandardScaler(),
        "mean only": StandardScaler(with_std=False),
        "scale only": StandardScaler(with_mean=False),
        "min max": MinMaxScaler(),
        "min max, other range": MinMaxScaler((-0.7, 1.3)),
        "min max, clipped": MinMaxScaler(clip=True),
    }


def estimators():
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.neural_network import MLPClassifier
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return {
        "tree": DecisionTreeClassifier(random_state=0),
        "regressor": DecisionTreeRegressor(random_state=0),
        "forest": RandomForestClassifier(7, random_state=0, n_jobs=1),
        "boosting": GradientBoostingClassifier(n_estimators=5, random_state=0),
        "network": MLPClassifier((8,), max_iter=200, random_state=0, learning_rate_init=0.02),
    }


def fitted(scaler, estimator, *, real=True, names=None):
    from sklearn.pipeline import make_pipeline

    states, labels = labelled(np.random.default_rng(3), 400, real=real)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        classes = labels if names is None else np.array(names)[labels]
        return make_pipeline(scaler, estimator).fit(states * [1, 30, 1e-4, 1e6], classes)


def scaled_back(states, interface):
    """Return the states that the interface takes to about the given ones."""
    if interface is None or not interface.inputs:
        return states
    means, scales = np.array([(one.mean, one.scale) for one in interface.inputs]).T
    return states * scales + means


def fed(states, interface):
    """Return what the interface feeds, as the core computes it."""
    if interface is None or not interface.inputs:
        return states
    means, scales = np.array([(one.mean, one.scale) for one in interface.inputs]).T
    return (states - means) / scales


def asked(loaded):
    """Return states at random, and around what makes each threshold, in steps of one bit."""
    rng = np.random.default_rng(5)
    near = [boundary_states(loaded.model, rng, double=double) for double in (False, True)]
    near = scaled_back(np.vstack(near), loaded.interface)
    found = [random_states(rng, 3000) * [1, 30, 1e-4, 1e6], near]
    low = high = near
    for _ in range(4):
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        found += [low, high]
    return np.vstack(found)


@pytest.mark.parametrize("real", [True, False], ids=["reals", "integers"])
@pytest.mark.parametrize("name", ["tree", "forest", "regressor", "boosting"])
@pytest.mark.parametrize("scaler", scalers())
def test_trees_score_as_the_pipeline_does_bit_for_bit(scaler, name, real):
    pipeline = fitted(scalers()[scaler], estimators()[name], real=real)
    loaded = model_of(pipeline)
    states = asked(loaded)
    found = loaded.model.scorer().scores(fed(states, loaded.interface))
    scores = {"regressor": "predict", "boosting": "decision_function"}.get(name, "predict_proba")
    wanted = getattr(pipeline, scores)(states).reshape(len(states), -1)
    assert (found == wanted).all()
    assert len(np.unique(found, axis=0)) > 3


@pytest.mark.parametrize("scaler", scalers())
@pytest.mark.parametrize("library", ["xgboost", "lightgbm"])
def test_other_libraries_behind_a_scaler(scaler, library):
    module = pytest.importorskip(library)
    how = {"n_estimators": 5, "n_jobs": 1}
    if library == "xgboost":
        estimator = module.XGBClassifier(max_depth=4, **how)
        margins = {"output_margin": True}
    else:
        estimator = module.LGBMClassifier(min_child_samples=2, verbose=-1, **how)
        margins = {"raw_score": True}
    pipeline = fitted(scalers()[scaler], estimator)
    loaded = model_of(pipeline)
    states = asked(loaded)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = pipeline.predict(states, **margins)
    found = loaded.model.scorer().scores(fed(states, loaded.interface))
    assert (found == wanted).all()


@pytest.mark.parametrize("scaler", ["standard", "min max", "min max, other range"])
def test_networks_agree_to_rounding(scaler):
    pipeline = fitted(scalers()[scaler], estimators()["network"])
    loaded = model_of(pipeline)
    states = random_states(np.random.default_rng(5), 3000) * [1, 30, 1e-4, 1e6]
    found = loaded.model.scorer().scores(fed(states, loaded.interface))
    powers = np.exp(found - found.max(axis=1, keepdims=True))
    wanted = pipeline.predict_proba(states)
    assert np.allclose(powers / powers.sum(axis=1, keepdims=True), wanted, atol=1e-9)
    assert (found.argmax(axis=1) == wanted.argmax(axis=1)).all()


def real_task():
    d = Description("reals")
    for number in range(NUM_INPUTS):
        d.real(f"x{number}", -1e9, 1e9, initial=0.0)
    for number in range(5):
        d.edge(f"a{number}", outcomes=[{}])
    return d.compile()


@pytest.mark.parametrize("scaler", ["standard", "min max"])
@pytest.mark.parametrize("name", ["forest", "network"])
def test_converted_pipelines_decide_as_they_do_in_memory(tmp_path, scaler, name):
    pipeline = fitted(scalers()[scaler], estimators()[name], names=[4, 1, 0, 3])
    (tmp_path / "pipe.pkl").write_bytes(pickle.dumps(pipeline))
    out = tmp_path / f"pipe{'.safetensors' if name == 'network' else '.json'}"
    made = convert(tmp_path / "pipe.pkl", out, trust=True)
    assert made.loaded.interface.positions == (0, 1, 3, 4)
    task = real_task()
    found, wanted = load_policy(str(out), task), load_policy(pipeline, task)
    assert found.interface == wanted.interface
    rows = random_states(np.random.default_rng(5), 500) * [1, 30, 1e-4, 1e6]
    states = [task.state(dict(zip(task.names, row, strict=True))) for row in rows.tolist()]
    decided = [f"a{i}" for i in pipeline.predict(rows)]
    assert found.decide_all(states) == wanted.decide_all(states) == decided
    assert len(set(decided)) > 2


def test_pipelines_of_other_steps_are_refused_and_say_what_to_do():
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import RobustScaler, StandardScaler

    class Mine(StandardScaler):
        pass

    tree = estimators()["tree"]
    for scaler in (RobustScaler(), Mine()):
        with pytest.raises(Unsupported, match="are not supported") as caught:
            model_of(fitted(scaler, tree))
        assert "surefoot.batched(pipeline.predict_proba)" in caught.value.hint
    rows, labels = labelled(np.random.default_rng(3), 50, real=True)
    twice = make_pipeline(StandardScaler(), StandardScaler(), tree).fit(rows, labels)
    with pytest.raises(Unsupported, match="2 steps"):
        model_of(twice)
    with pytest.raises(Unsupported, match="GaussianNB"):
        model_of(fitted(StandardScaler(), GaussianNB()))
    with pytest.raises(Unsupported, match="clips"):
        model_of(fitted(scalers()["min max, clipped"], estimators()["network"]))


def test_pipelines_that_are_not_fitted():
    from sklearn.pipeline import make_pipeline

    pipeline = make_pipeline(scalers()["standard"], estimators()["tree"])
    with pytest.raises(InputError) as caught:
        load_policy(pipeline, grid(3, 4))
    assert caught.value.code == "policy-not-fitted"


def test_steps_that_pass_through():
    pipeline = fitted("passthrough", estimators()["tree"])
    assert model_of(pipeline).interface.inputs == ()
