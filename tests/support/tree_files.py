"""Small tree and rule models as files of other libraries have them, and trees by hand."""

from dataclasses import replace

import numpy as np

from surefoot.policies.models import Trees

LIGHTGBM = """\
tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=a b c
feature_infos=[0:1] [0:1] [0:1]
tree_sizes=10 10

Tree=0
num_leaves=3
num_cat=0
split_feature=2 0
threshold=0.5 -1.25
decision_type=2 2
left_child=1 -1
right_child=-2 -3
leaf_value=1 2 4
is_linear=0
shrinkage=1


Tree=1
num_leaves=1
num_cat=0
split_feature=
threshold=
decision_type=
left_child=
right_child=
leaf_value=8
is_linear=0
shrinkage=1


end of trees

parameters:
[boosting: gbdt]
end of parameters
"""

RULES = {
    "atoms": ["0_1", "0_2", "1_-3"],
    "rules": {
        "L1_0": {"AND": ["0_1", "1_-3"]},
        "L1_1": {"OR": ["0_2", {"NOT": "1_-3"}]},
        "L2_0": {"OR": ["L1_0", {"ref": "L1_1", "neg": True}]},
        "L2_1": {"AND": []},
        "L2_2": {"OR": []},
    },
    "linear": {
        "bias": {"class_0": 0.5, "class_1": -1},
        "weights": {
            "class_1": {"L2_1": 2.0, "L2_0": 4.0, "L1_0": 99.0},
            "class_0": {"L2_2": 8.0, "L2_0": 16.0},
        },
    },
}


def node(feature, value, left, right):
    return {"feat_id": feature, "split_value": value, "left": left, "right": right}


def leaf(*values):
    return {"leaf_value": list(values)}


def tree(structure, **more):
    head = {"num_leaf_values": 2, "split_type": "LtSplit", "value_type": "FloatT"}
    return {**head, "structure": structure, **more}


VERITAS = {
    "type": 3,
    "base_scores": [0.25, -0.5],
    "trees": [
        tree(node(2, 0.1, leaf(1, 2), node(0, -4, leaf(3, 4), leaf(5.5, 6)))),
        tree(leaf(0.125, 0)),
    ],
}


def trees(**changes):
    """Return one tree with one node and two leaves, for two outputs."""
    made = Trees(
        num_inputs=2,
        num_outputs=2,
        roots=np.array([0], dtype=np.int32),
        features=np.array([1, -1, -1], dtype=np.int32),
        thresholds=np.array([0.5, 0.0, 0.0]),
        left=np.array([1, 0, 1], dtype=np.int32),
        right=np.array([2, 0, 1], dtype=np.int32),
        values=np.array([3.0, 4.0]),
        base=np.array([0.25, 0.5]),
        input_precision="float64",
        sum_precision="float64",
    )
    return replace(made, **changes)


def chain(levels):
    """Return a tree whose right children go down without end."""
    inner, leaves = np.arange(levels), np.arange(levels, 2 * levels + 1)
    right = np.append(inner[1:], leaves[-1])
    return replace(
        trees(),
        features=np.where(np.arange(2 * levels + 1) < levels, 0, -1).astype(np.int32),
        thresholds=np.ones(2 * levels + 1),
        left=np.concatenate([leaves[:-1], np.zeros(levels + 1)]).astype(np.int32),
        right=np.concatenate([right, np.zeros(levels + 1)]).astype(np.int32),
    )
