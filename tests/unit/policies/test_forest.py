"""More trees behind those of an ensemble, and the leaves that inputs reach."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.repaired import bumped, separating
from tests.support.trees import boundary_states, lightgbm_booster, random_states, xgboost_booster

from surefoot.policies.models import Trees
from surefoot.policies.trees import lightgbm, xgboost
from surefoot.policies.trees.forest import Tree, appended, is_margin, leaf_places

POINT = np.array([0.5, -1.0, 2.0, 0.0])
VALUES = np.array([1.0, -2.0, 0.5, 4.0])


def ensemble(name):
    softprob = {"objective": "multi:softprob", "num_class": 4}
    if name == "one output each":
        return xgboost.of(xgboost_booster(softprob, depth=3, seed=1, rounds=3))
    if name == "vector leaves":
        vectors = softprob | {"multi_strategy": "multi_output_tree"}
        return xgboost.of(xgboost_booster(vectors, depth=3, seed=1, rounds=3))
    return replace(ensemble("vector leaves"), divide_by=3.0)


def scored(trees, states):
    return trees.scorer().scores(np.ascontiguousarray(states))


@pytest.mark.parametrize("name", ["one output each", "vector leaves", "mean"])
def test_appended_trees_add_their_values_where_they_lead_to(name):
    before = ensemble(name)
    tree = separating(POINT, VALUES, radius=1.0)
    after = appended(before, [tree, tree])
    after.check()
    states = random_states(np.random.default_rng(0), 2000)
    states[:500] = POINT + np.random.default_rng(1).uniform(-1.2, 1.2, size=(500, 4))
    inside = (np.abs(states - POINT).astype(np.float32) < 1.0).all(axis=1)
    assert 50 < inside.sum() < 500
    divisor = 5.0 if name == "mean" else 1.0
    assert after.divide_by == divisor
    sums = scored(replace(before, divide_by=1.0), states)
    wanted = (sums + inside[:, None] * 2 * VALUES) / divisor
    assert np.allclose(scored(after, states), wanted, atol=1e-5)


@pytest.mark.parametrize("name", ["one output each", "vector leaves"])
def test_what_was_there_stays_where_it_is(name):
    before = ensemble(name)
    after = appended(before, [separating(POINT, VALUES)])
    for field in ("roots", "features", "thresholds", "left", "right", "values"):
        assert np.array_equal(
            getattr(after, field)[: len(getattr(before, field))], getattr(before, field)
        )
        assert getattr(after, field).dtype == getattr(before, field).dtype
    more = len(after.roots) - len(before.roots)
    assert more == (4 if name == "one output each" else 1)
    first = after.roots[len(before.roots) :]
    outputs = [after.right[leaf] for leaf in leaf_places(after, POINT[None])[0, -more:]]
    assert outputs == (list(range(4)) if name == "one output each" else [-1])
    assert (first >= len(before.features)).all()


def test_a_margin_gets_one_tree_with_differences():
    before = lightgbm.of(lightgbm_booster({"objective": "binary"}, leaves=4, seed=1, rounds=3))
    assert is_margin(before)
    tree = separating(POINT, np.array([1.0, 4.0]))
    after = appended(before, [tree])
    assert len(after.roots) == len(before.roots) + 1
    change = scored(after, POINT[None]) - scored(before, POINT[None])
    assert np.allclose(change, [[0.0, 3.0]])


def test_no_tree_changes_nothing():
    before = ensemble("mean")
    after = appended(before, [])
    assert after.divide_by == before.divide_by
    assert np.array_equal(after.features, before.features)


def test_appended_refuses_what_is_no_tree():
    before = ensemble("vector leaves")
    tree = separating(POINT, VALUES)
    with pytest.raises(ValueError, match="value for each output"):
        appended(before, [replace(tree, output=1)])
    with pytest.raises(ValueError, match="leaf has no values"):
        appended(before, [replace(tree, values=tree.values[:3])])
    with pytest.raises(ValueError, match="leaf has no values"):
        appended(ensemble("one output each"), [replace(tree, values=tree.values[:3])])
    with pytest.raises(ValueError, match="not one of the 4 inputs"):
        appended(before, [replace(tree, features=tree.features + 4)])


def test_leaf_places_are_those_whose_values_make_the_score():
    rng = np.random.default_rng(0)
    for name in ("one output each", "vector leaves"):
        trees = bumped(ensemble(name), rng)
        states = np.vstack([random_states(rng, 500), boundary_states(trees, rng, double=True)])
        places = leaf_places(trees, states)
        assert places.shape == (len(states), len(trees.roots))
        assert (trees.features[places] == -1).all()
        sums = np.tile(trees.base.astype(np.float32), (len(states), 1))
        for leaves in places.T:
            for row, leaf in enumerate(leaves):
                output, first = trees.right[leaf], trees.left[leaf]
                if output >= 0:
                    sums[row, output] += np.float32(trees.values[first])
                else:
                    sums[row] += trees.values[first : first + 4].astype(np.float32)
        assert np.array_equal(scored(trees, states), sums.astype(np.float64))


def test_leaf_places_of_no_trees_and_of_single_leaves():
    none = np.zeros(0, dtype=np.int32)
    empty = Trees(
        2, 2, none, none, np.zeros(0), none, none, np.zeros(0), np.zeros(2), "float32", "float32"
    )
    assert leaf_places(empty, np.zeros((3, 2))).shape == (3, 0)
    one = np.zeros(1, dtype=np.int64)
    leaf = Tree(np.ones(1, dtype=bool), one, np.zeros(1), one, one, one, np.array([1.0, 2.0]), -1)
    after = appended(empty, [leaf])
    assert leaf_places(after, np.zeros((3, 2))).tolist() == [[0]] * 3
    assert scored(after, np.zeros((1, 2))).tolist() == [[1.0, 2.0]]


def test_thresholds_of_appended_trees_mean_the_same_in_float32():
    before = ensemble("vector leaves")
    below = float(np.float32(0.1))
    assert below > 0.1
    point = np.array([0.1, np.nextafter(below, 9), -0.1, 3.0])
    after = appended(before, [separating(point, VALUES, radius=0.0)])
    new = after.thresholds[len(before.features) :]
    assert np.array_equal(new, new.astype(np.float32))
    for feature, wanted in ((0, below), (1, np.nextafter(np.float32(0.1), np.float32(9)))):
        at = after.features[len(before.features) :] == feature
        assert (new[at] == wanted).all()
