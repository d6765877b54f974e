"""Estimators of scikit-learn as models: outputs, names, and what is refused."""

import numpy as np
import pytest
from tests.support.networks import grid
from tests.support.trees import labelled

from surefoot.errors import InputError, Unsupported
from surefoot.policies.fitted import model_of
from surefoot.policies.interface import Interface
from surefoot.policies.trees.scikit_learn import SUPPORTED, trees_of

NAMES = np.array(["stop", "go", "jump", "duck"])


@pytest.fixture(scope="module")
def data():
    return labelled(np.random.default_rng(0), 200, real=False)


def fitted(estimator, data, classes=None):
    features, labels = data
    return estimator.fit(features, labels if classes is None else classes[labels])


def test_a_tree_by_hand():
    from sklearn.tree import DecisionTreeClassifier

    estimator = DecisionTreeClassifier().fit([[0.0], [1.0], [1.0]], [0, 1, 1])
    trees = trees_of(estimator).model
    assert trees.features.tolist() == [0, -1, -1]
    assert trees.thresholds[0] == np.nextafter(0.5, 1)
    assert trees.scorer().scores(np.array([[0.5], [0.6]])).tolist() == [[1, 0], [0, 1]]
    assert (trees.input_precision, trees.sum_precision) == ("float32", "float64")


def test_names_of_actions_become_outputs(data):
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.neural_network import MLPClassifier

    for estimator in (
        RandomForestClassifier(3, random_state=0),
        GradientBoostingClassifier(n_estimators=2),
        MLPClassifier((3,), max_iter=300, tol=1.0),
    ):
        loaded = trees_of(fitted(estimator, data, NAMES))
        assert loaded.interface.outputs == ("duck", "go", "jump", "stop")
        assert loaded.interface.inputs == ()
        assert loaded.model.num_outputs == 4


def test_positions_of_actions_become_outputs(data):
    from sklearn.tree import DecisionTreeClassifier

    for classes in ((0, 1, 2, 3), (0, 2, 3, 7)):
        estimator = fitted(DecisionTreeClassifier(), data, np.array(classes))
        assert trees_of(estimator).interface is None
        loaded = model_of(estimator)
        assert loaded.interface == Interface(positions=classes)
        assert loaded.model.num_outputs == 4


@pytest.mark.parametrize("classes", [[-1, 0, 1, 2], [False, True, True, True]])
def test_other_classes_are_refused(classes, data):
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(InputError, match="not positions of actions"):
        trees_of(fitted(DecisionTreeClassifier(), data, np.array(classes)))


def test_positions_may_be_written_as_reals(data):
    from sklearn.tree import DecisionTreeClassifier

    assert trees_of(fitted(DecisionTreeClassifier(), data, np.arange(4.0))).model.num_outputs == 4


def test_a_regressor_with_several_outputs(data):
    from sklearn.tree import DecisionTreeRegressor

    features, labels = data
    trees = trees_of(DecisionTreeRegressor().fit(features, np.eye(4)[labels])).model
    assert trees.num_outputs == 4
    single = trees_of(DecisionTreeRegressor().fit(features, labels)).model
    assert single.num_outputs == 1


def unsupported_estimators():
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    return {
        "GaussianNB": (GaussianNB(), "predict_proba"),
        "KNeighborsClassifier": (KNeighborsClassifier(), "predict_proba"),
        "SVC": (SVC(), "decision_function"),
    }


@pytest.mark.parametrize("name", sorted(unsupported_estimators()))
def test_other_estimators_are_refused_with_the_way_that_is_open(name, data):
    estimator, method = unsupported_estimators()[name]
    with pytest.raises(Unsupported, match=name) as caught:
        trees_of(fitted(estimator, data, NAMES))
    wanted = f"surefoot.batched(model.{method}, actions=model.classes_)"
    assert wanted in caught.value.hint
    assert all(each in caught.value.hint for each in SUPPORTED)


def test_the_way_that_is_open_leads_to_a_policy(data):
    from sklearn.svm import SVC

    import surefoot

    model = fitted(SVC(), data, np.array(["a0", "a1", "a2", "a3"]))
    task = grid(data[0].shape[1], 4)
    policy = surefoot.load_policy(
        surefoot.batched(model.decision_function, actions=model.classes_), task
    )
    states = [dict.fromkeys(task.names, 9), dict.fromkeys(task.names, 5)]
    rows = np.array([list(state.values()) for state in states], dtype=float)
    assert policy.decide_all(states)[0] == model.predict(rows)[0]


def test_what_histograms_and_votes_cannot_be_of(data):
    from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
    from sklearn.naive_bayes import GaussianNB

    split = HistGradientBoostingClassifier(max_iter=2, categorical_features=[0])
    with pytest.raises(Unsupported, match="by category") as caught:
        trees_of(fitted(split, data))
    assert "surefoot.batched(model.predict_proba" in caught.value.hint
    with pytest.raises(Unsupported, match="AdaBoost over GaussianNB"):
        trees_of(fitted(AdaBoostClassifier(GaussianNB(), n_estimators=2), data))


def test_several_outputs_and_other_starts_are_refused(data):
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.tree import DecisionTreeClassifier

    features, labels = data
    with pytest.raises(Unsupported, match="several outputs"):
        trees_of(DecisionTreeClassifier().fit(features, np.stack([labels, labels], axis=1)))
    start = DecisionTreeClassifier(max_depth=1)
    with pytest.raises(Unsupported, match="starts from a DecisionTreeClassifier"):
        trees_of(fitted(GradientBoostingClassifier(init=start, n_estimators=2), data))


def test_what_is_not_fitted_is_refused():
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(InputError, match="not fitted"):
        trees_of(DecisionTreeClassifier())


def test_subclasses_are_what_they_derive_from(data):
    from sklearn.tree import DecisionTreeClassifier

    class Mine(DecisionTreeClassifier):
        pass

    assert trees_of(fitted(Mine(), data)).model.num_outputs == 4


def test_trees_that_saw_missing_values(data):
    """A split that only parts missing values from the others has an infinite threshold."""
    from sklearn.tree import DecisionTreeClassifier

    features = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    estimator = DecisionTreeClassifier().fit(features, [0, 0, 1, 1])
    assert np.isinf(estimator.tree_.threshold[0])
    trees = trees_of(estimator).model
    states = np.array([[-1e30], [0.0], [1e30]])
    assert (trees.scorer().scores(states) == estimator.predict_proba(states)).all()
