"""Tree ensembles in ONNX files: the decisions of onnxruntime."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from surefoot import SurefootError, Unsupported
from surefoot.policies.interface import Interface
from surefoot.policies.models import Trees
from surefoot.policies.onnx import read

INPUTS = 3
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")


def random_tree(rng, depth, modes):
    """Return the nodes of a full tree: (mode, feature, value, yes, no), leaves last."""
    inner = 2**depth - 1
    nodes = [
        (str(rng.choice(modes)), int(rng.integers(INPUTS)), float(rng.integers(0, 9)),
         2 * at + 1, 2 * at + 2)
        for at in range(inner)
    ]  # fmt: skip
    return nodes + [("LEAF", 0, 0.0, 0, 0)] * (inner + 1)


def ensemble(*, outputs=4, trees=5, modes=MODES, one_each=False, margin=None, seed=0, **more):
    """Return a classifier with random trees; ``margin`` puts all weights on one of two classes."""
    rng = np.random.default_rng(seed)
    nodes, weights = [], []
    for tree in range(trees):
        made = random_tree(rng, 3, modes)
        nodes += [(tree, at, *node) for at, node in enumerate(made)]
        targets = [margin] if margin is not None else range(outputs)
        targets = [tree % outputs] if one_each else targets
        low = 0.0 if more.get("positive") else -1.0
        for at, node in enumerate(made):
            if node[0] == "LEAF":
                weights += [(tree, at, t, float(rng.uniform(low, 1))) for t in targets]
    more.pop("positive", None)
    names = ("treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids")
    columns = list(zip(*nodes, strict=True))
    attributes = {f"nodes_{name}": list(c) for name, c in zip(names, columns, strict=True)}
    columns = list(zip(*weights, strict=True))
    leaf_names = ("treeids", "nodeids", "ids", "weights")
    attributes |= {f"class_{n}": list(c) for n, c in zip(leaf_names, columns, strict=True)}
    attributes.setdefault("classlabels_int64s", list(range(outputs)))
    attributes |= more
    if "classlabels_strings" in more:
        attributes.pop("classlabels_int64s")
    node = helper.make_node(
        "TreeEnsembleClassifier", ["x"], ["label", "scores"], domain="ai.onnx.ml", **attributes
    )
    kind = TensorProto.STRING if "classlabels_strings" in more else TensorProto.INT64
    graph = helper.make_graph(
        [node],
        "trees",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, INPUTS])],
        [
            helper.make_tensor_value_info("label", kind, [None]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, [None, outputs]),
        ],
    )
    versions = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=versions, ir_version=8)


CASES = {
    "scores for all": {},
    "one output for each tree": {"one_each": True, "trees": 12},
    "at most": {"modes": MODES[:1]},
    "softmax after them": {"post_transform": "SOFTMAX"},
    "starts": {"base_values": [0.5, -0.25, 0.0, 1.0]},
    "two classes": {"outputs": 2},
    "a margin for the second": {"outputs": 2, "margin": 1},
    "a margin for the first": {"outputs": 2, "margin": 0},
    "a positive margin": {"outputs": 2, "margin": 1, "positive": True, "trees": 1},
    "a logistic margin": {"outputs": 2, "margin": 1, "post_transform": "LOGISTIC"},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_decisions_are_those_of_onnxruntime(case, seed, tmp_path):
    model = ensemble(seed=seed, **CASES[case])
    onnx.save(model, tmp_path / "trees.onnx")
    trees = read(tmp_path / "trees.onnx").model
    assert isinstance(trees, Trees)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 10, (2_000, INPUTS)).astype(np.float64)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    labels = session.run(["label"], {"x": rows.astype(np.float32)})[0]
    assert (trees.scorer().scores(rows).argmax(axis=1) == labels).all()
    assert len(set(labels.tolist())) > 1


def test_labels_are_actions(tmp_path):
    names = ["up", "down", "left", "right"]
    onnx.save(ensemble(classlabels_strings=names), tmp_path / "trees.onnx")
    assert read(tmp_path / "trees.onnx").interface == Interface(outputs=tuple(names))
    onnx.save(ensemble(), tmp_path / "trees.onnx")
    assert read(tmp_path / "trees.onnx").interface == Interface(positions=(0, 1, 2, 3))


BROKEN = {
    "a child that is not there": {"nodes_truenodeids": [99] * 75},
    "a circle": {"nodes_truenodeids": [0] * 75},
    "too few numbers": {"nodes_values": [0.0]},
    "an output that is not there": {"class_ids": [9] * 160},
    "another comparison": {"nodes_modes": ["BRANCH_EQ"] * 75},
    "a feature that is not there": {"nodes_featureids": [99] * 75},
    "no number": {"nodes_values": [float("nan")] * 75},
    "probit": {"post_transform": "PROBIT"},
}


@pytest.mark.parametrize("case", BROKEN)
def test_broken_ones_are_refused(case, tmp_path):
    onnx.save(ensemble(**BROKEN[case]), tmp_path / "trees.onnx")
    with pytest.raises(SurefootError) as caught:
        read(tmp_path / "trees.onnx")
    assert caught.value.code in ("bad-onnx", "bad-policy", "onnx-trees")


def test_what_stands_before_them_is_refused(tmp_path):
    model = ensemble()
    scaler = helper.make_node("Scaler", ["u"], ["x"], domain="ai.onnx.ml", scale=[2.0])
    model.graph.node.insert(0, scaler)
    model.graph.input[0].name = "u"
    onnx.save(model, tmp_path / "trees.onnx")
    with pytest.raises(Unsupported, match="Scaler around it") as caught:
        read(tmp_path / "trees.onnx")
    assert "surefoot.batched" in caught.value.hint
