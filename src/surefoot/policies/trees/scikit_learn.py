"""Estimators of scikit-learn in memory: trees, forests, boosting, linear ones, the MLPClassifier.

Inputs are rounded to float32, thresholds are doubles, a node goes left if the input is at most its
threshold. Scores are those of ``predict_proba`` (trees and forests), of ``predict`` (regressors)
and of ``decision_function`` (gradient boosting), bit for bit, if forests are asked with one job:
with more, scikit-learn adds the trees in the order in which threads finish. Gradient boosting
decides for class 1 of two if its score is not negative, so class 0 has the largest negative number
for its score. HistGradientBoosting compares and adds doubles, and decides for class 1 of two only
if its score is positive. AdaBoost adds the votes of its trees and divides them by their weights: of
two classes each has a score, the second's is half of what ``decision_function`` says. The scores of
a network or a linear model are sums that BLAS adds in another order: they agree to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from surefoot.errors import InputError, Unsupported, printable
from surefoot.policies.as_function import batched_hint
from surefoot.policies.classes import interface_of
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Layer, Model, Network, Precision, Trees
from surefoot.policies.trees.forest import Tree, assemble, at_most
from surefoot.policies.trees.reading import Reals

Fitted = Any
"""an object of scikit-learn, or a part of one"""

SINGLE = ("DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier",
          "ExtraTreeRegressor")  # fmt: skip
FORESTS = ("RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier",
           "ExtraTreesRegressor")  # fmt: skip
BOOSTED = ("GradientBoostingClassifier",)
HISTOGRAMS = ("HistGradientBoostingClassifier",)
VOTING = ("AdaBoostClassifier",)
LINEAR = ("LogisticRegression", "LogisticRegressionCV", "LinearSVC", "Perceptron",
          "RidgeClassifier", "SGDClassifier")  # fmt: skip
NETWORKS = ("MLPClassifier", *LINEAR)
SUPPORTED = (*SINGLE, *FORESTS, *BOOSTED, *HISTOGRAMS, *VOTING, *NETWORKS)

ACTIVATIONS = {"identity": "linear", "logistic": "sigmoid", "tanh": "tanh", "relu": "relu"}
LARGEST_NEGATIVE = -5e-324


def trees_of(estimator: Fitted) -> Loaded:
    """Return what a fitted estimator scores actions with.

    The outputs of a classifier are its classes in order: names of actions, which are returned as
    outputs of the interface, or positions of actions, which ``fitted.model_of`` adds.
    """
    kind = kind_of(estimator)
    if not hasattr(estimator, "n_features_in_"):
        raise InputError("policy-not-fitted", f"the {kind} is not fitted")
    try:
        model = _model(estimator, kind)
        model.check()
    except ValueError as error:
        raise InputError("bad-trees", str(error)) from None
    classes = estimator.classes_ if kind.endswith("Classifier") else None
    named = interface_of(classes, model.num_outputs)
    return Loaded(model, named if named is not None and named.outputs else None)


def kind_of(estimator: object) -> str:
    """Return the name of the class of scikit-learn that an estimator is of."""
    for each in type(estimator).__mro__:
        if each.__module__.startswith("sklearn.") and each.__name__ in SUPPORTED:
            return each.__name__
    raise Unsupported(
        "trees-unsupported",
        f"estimators of the class {printable(type(estimator).__name__)} are not supported",
        hint=f"{batched_hint(estimator)}; read as they are: {', '.join(SUPPORTED)}",
    )


def unsupported(estimator: object, what: str) -> Unsupported:
    """Return the refusal of an estimator, with the way that is open to every one."""
    message = f"{what} is not supported"
    return Unsupported("trees-unsupported", message, hint=batched_hint(estimator))


def _model(estimator: object, kind: str) -> Model:
    if kind in LINEAR:
        return _linear(estimator)
    if kind in NETWORKS:
        return _network(estimator)
    if kind in HISTOGRAMS:
        return _histograms(estimator)
    if kind in VOTING:
        return _votes(estimator)
    trees = parts_of(estimator)
    if kind in BOOSTED:
        return _assembled(trees, estimator, base=_boosted_base(estimator))
    size = members_of(estimator)[0].tree_.value[0].size
    return _assembled(trees, estimator, base=np.zeros(size), divide_by=float(len(trees)))


def members_of(estimator: Fitted) -> list[Fitted]:
    """Return the decision trees of an estimator, as scikit-learn has them, in their order."""
    kind = kind_of(estimator)
    if kind in BOOSTED:
        return list(estimator.estimators_.ravel())
    return [estimator] if kind in SINGLE else list(estimator.estimators_)


def parts_of(estimator: Fitted) -> list[Tree]:
    """Return the decision trees of an estimator one by one."""
    members = [member.tree_ for member in members_of(estimator)]
    if kind_of(estimator) not in BOOSTED:
        return [_vector_tree(tree) for tree in members]
    per_round = estimator.estimators_.shape[1]
    return [
        _tree(
            tree,
            estimator.learning_rate * np.asarray(tree.value, dtype=np.float64).ravel(),
            output=number % per_round + (per_round == 1),
        )
        for number, tree in enumerate(members)
    ]


def _assembled(
    trees: Sequence[Tree],
    estimator: Fitted,
    *,
    base: Reals,
    divide_by: float = 1.0,
    input_precision: Precision = "float32",
) -> Trees:
    return assemble(
        trees,
        num_inputs=int(estimator.n_features_in_),
        base=base,
        input_precision=input_precision,
        sum_precision="float64",
        divide_by=divide_by,
    )


def _vector_tree(tree: Fitted) -> Tree:
    """Return a tree whose leaves have a value for each class or each output."""
    values = np.asarray(tree.value, dtype=np.float64).reshape(tree.node_count, -1)
    width = values.shape[1]
    if width == 1:
        return _tree(tree, values.ravel(), output=0)
    return _tree(tree, values.ravel(), output=-1, width=width)


def _tree(tree: Fitted, values: Reals, *, output: int, width: int = 1) -> Tree:
    return Tree(
        leaf=np.asarray(tree.children_left) == -1,
        features=np.asarray(tree.feature, dtype=np.int64),
        thresholds=_thresholds(tree.threshold),
        left=np.asarray(tree.children_left, dtype=np.int64),
        right=np.asarray(tree.children_right, dtype=np.int64),
        places=np.arange(tree.node_count) * width,
        values=values,
        output=output,
    )


def _thresholds(given: object) -> Reals:
    """Return what inputs are less than that are at most the numbers given."""
    largest = np.finfo(np.float64).max  # a threshold is infinite if only NaN goes right
    return np.minimum(at_most(np.asarray(given, dtype=np.float64)), largest)


def _histograms(estimator: Fitted) -> Trees:
    """Return gradient boosting over histograms, whose trees compare doubles."""
    if getattr(estimator, "_preprocessor", None) is not None:
        raise unsupported(estimator, "HistGradientBoosting with splits by category")
    rounds = estimator._predictors
    is_binary = len(rounds[0]) == 1
    trees = [
        _histogram_tree(tree.nodes, output=at + is_binary)
        for members in rounds
        for at, tree in enumerate(members)
    ]
    start = np.asarray(estimator._baseline_prediction, dtype=np.float64).ravel()
    base = np.append(0.0, start) if is_binary else start
    return _assembled(trees, estimator, base=base, input_precision="float64")


def _histogram_tree(nodes: Fitted, *, output: int) -> Tree:
    return Tree(
        leaf=nodes["is_leaf"].astype(bool),
        features=nodes["feature_idx"].astype(np.int64),
        thresholds=_thresholds(nodes["num_threshold"]),
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        places=np.arange(len(nodes)),
        values=nodes["value"].astype(np.float64),
        output=output,
    )


def _votes(estimator: Fitted) -> Trees:
    """Return AdaBoost over decision trees: each votes for a class with its weight."""
    count = len(estimator.classes_)
    kinds = {type(each).__name__ for each in estimator.estimators_}
    if not kinds <= {"DecisionTreeClassifier", "ExtraTreeClassifier"} or count < 2:
        named = printable(", ".join(sorted(kinds)))
        raise unsupported(estimator, f"AdaBoost over {named} with {count} classes")
    weights = estimator.estimator_weights_
    pairs = zip(estimator.estimators_, weights, strict=False)  # it may have stopped early
    trees = [_voting_tree(each, weight, estimator.classes_) for each, weight in pairs]
    divide_by = float(weights.sum())
    return _assembled(trees, estimator, base=np.zeros(count), divide_by=divide_by)


def _voting_tree(member: Fitted, weight: Fitted, classes: Fitted) -> Tree:
    tree, count = member.tree_, len(classes)
    proba = np.asarray(tree.value, dtype=np.float64).reshape(tree.node_count, -1)
    voted = member.classes_[proba.argmax(axis=1)]
    votes = np.where(voted[:, None] == classes, weight, -1 / (count - 1) * weight)
    return _tree(tree, votes.ravel(), output=-1, width=count)


def _boosted_base(estimator: Fitted) -> Reals:
    start = _start(estimator)
    is_binary = estimator.estimators_.shape[1] == 1
    return np.concatenate([[LARGEST_NEGATIVE], start]) if is_binary else start


def _start(estimator: Fitted) -> Reals:
    """Return the scores before the first round, if they are the same everywhere."""
    kind = type(estimator.init_).__name__
    if estimator.init_ != "zero" and kind != "DummyClassifier":
        raise Unsupported(
            "trees-unsupported",
            f"gradient boosting that starts from a {printable(kind)} is not supported",
        )
    nowhere = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    return np.asarray(estimator._raw_predict_init(nowhere), dtype=np.float64).ravel()


def _linear(estimator: Fitted) -> Network:
    """Return a linear classifier; of two classes the scores are 0 and that of the second."""
    weights = np.atleast_2d(np.asarray(estimator.coef_, dtype=np.float64))
    biases = np.zeros(len(weights)) + np.asarray(estimator.intercept_, dtype=np.float64)
    if len(weights) == 1:
        weights, biases = np.vstack([np.zeros_like(weights), weights]), np.append(0.0, biases)
    precision: Precision = "float32" if estimator.coef_.dtype == np.float32 else "float64"
    return Network((Layer(weights, biases, "linear"),), precision)


def _network(estimator: Fitted) -> Network:
    precision = str(estimator.coefs_[0].dtype)
    hidden = ACTIVATIONS[estimator.activation]
    layers = []
    for number, (weights, biases) in enumerate(
        zip(estimator.coefs_, estimator.intercepts_, strict=True), start=1
    ):
        is_last = number == len(estimator.coefs_)
        rows, offsets = weights.T.astype(np.float64), biases.astype(np.float64)
        if is_last and len(rows) == 1:  # two classes: the scores are 0 and the logit
            rows, offsets = np.vstack([np.zeros_like(rows), rows]), np.append(0.0, offsets)
        layers.append(Layer(rows, offsets, "linear" if is_last else hidden))
    return Network(tuple(layers), "float32" if precision == "float32" else "float64")
