"""Tree ensembles in ONNX files: TreeEnsembleClassifier and TreeEnsembleRegressor, as scikit-learn,
CatBoost, XGBoost and LightGBM are exported.

They become trees of the core: inputs and thresholds are float32, values are added in float32 in the
order of the file. What comes after them does not change which output is the best and is left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from surefoot.errors import InputError, Unsupported, printable
from surefoot.policies.classes import interface_of
from surefoot.policies.loaded import Loaded
from surefoot.policies.onnx.graphs import BATCHED, FLOAT
from surefoot.policies.trees.forest import Tree, assemble, at_most

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

Attributes = dict[str, Any]
"""the attributes of a node, by name"""

DOMAIN = "ai.onnx.ml"
ENSEMBLES = ("TreeEnsembleClassifier", "TreeEnsembleRegressor")
AROUND = ("Cast", "Identity", "ZipMap", "Normalizer", "Reshape")
LEFT_OUT = ("NONE", "SOFTMAX", "LOGISTIC")
MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "LEAF")
Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


def has_trees(graph: GraphProto) -> bool:
    """Return whether a graph is about a tree ensemble."""
    return any(node.domain == DOMAIN and node.op_type in ENSEMBLES for node in graph.node)


def trees_in(graph: GraphProto) -> Loaded:
    """Return the ensemble of a graph. Raises Unsupported if there is more than one, or something
    before it, and InputError if it is broken.
    """
    ensembles = [node for node in graph.node if node.op_type in ENSEMBLES]
    others = [node.op_type for node in graph.node if node.op_type not in (*ENSEMBLES, *AROUND)]
    if len(ensembles) != 1 or others or len(graph.input) != 1:
        named = printable(", ".join(others)) or "several ensembles"
        raise _unsupported(f"a tree ensemble with {named} around it is not supported")
    ensemble, given = ensembles[0], graph.input[0]
    if list(ensemble.input) != [given.name]:
        raise _unsupported("a tree ensemble that is not fed with the input is not supported")
    if given.type.tensor_type.elem_type != FLOAT:
        raise _unsupported("a tree ensemble of other inputs than floats is not supported")
    try:
        return _loaded(ensemble, [size.dim_value for size in given.type.tensor_type.shape.dim])
    except (KeyError, IndexError, ValueError) as error:
        raise InputError("bad-onnx", f"the trees are broken: {printable(str(error))}") from None


def _loaded(node: NodeProto, shape: list[int]) -> Loaded:
    values = _attributes(node)
    is_classifier = node.op_type == "TreeEnsembleClassifier"
    kind = "class" if is_classifier else "target"
    labels = values.get("classlabels_strings") or values.get("classlabels_int64s") or []
    count = len(labels) if is_classifier else int(values.get("n_targets", 1))
    after, sums = values.get("post_transform", "NONE"), values.get("aggregate_function", "SUM")
    if after not in LEFT_OUT or sums not in ("SUM", "AVERAGE"):
        raise _unsupported(f"trees with {printable(after)} or {printable(sums)} are not supported")
    if not 1 <= count <= len(values["nodes_modes"]):
        raise ValueError(f"{count} outputs")
    parts = _parts(values, kind, count)
    base = _base(values, count)
    if count == 2 and is_classifier:
        parts, base = _of_margin(parts, values, base)
    features = max([0, *values["nodes_featureids"]]) + 1
    width = shape[1] if len(shape) == 2 and shape[1] > 0 else 0
    model = assemble(
        parts,
        num_inputs=width or features,
        base=base,
        input_precision="float32",
        sum_precision="float32",
    )
    interface = interface_of(np.array(labels), count) if is_classifier else None
    notes = () if after == "NONE" else (f"{after} after the trees is left out",)
    return Loaded(model, interface, notes=notes, at_least=not width)


def _attributes(node: NodeProto) -> Attributes:
    values: Attributes = {}
    kinds = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints", 8: "strings"}
    for entry in node.attribute:
        if entry.type not in kinds:
            raise _unsupported(f"trees with attribute {printable(entry.name)} are not supported")
        value = getattr(entry, kinds[entry.type])
        if entry.type == 3:
            value = value.decode("utf-8", "replace")
        elif entry.type == 8:
            value = [each.decode("utf-8", "replace") for each in value]
        values[entry.name] = list(value) if entry.type in (6, 7) else value
    return values


def _base(values: Attributes, count: int) -> Reals:
    given = np.array(values.get("base_values", []), dtype=np.float64)
    return np.zeros(count) if not given.size else np.zeros(count) + given


def _parts(values: Attributes, kind: str, count: int) -> list[Tree]:
    """Return the trees in the order of their numbers, each leaf with a value for each output."""
    numbers = list(zip(values["nodes_treeids"], values["nodes_nodeids"], strict=True))
    rows: dict[int, list[int]] = defaultdict(list)
    for row, (tree, _) in enumerate(numbers):
        rows[tree].append(row)
    weights: dict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    given = [values[f"{kind}_{name}"] for name in ("treeids", "nodeids", "ids", "weights")]
    for tree, leaf, output, weight in zip(*given, strict=True):
        if not 0 <= output < count:
            raise ValueError(f"output {output}")
        entry = weights[tree, leaf]
        entry[output] = entry.get(output, 0.0) + weight
    _check_outputs(rows, values, weights, count)
    return [_tree(values, tree, rows[tree], weights, count) for tree in sorted(rows)]


def _check_outputs(
    rows: dict[int, list[int]],
    values: Attributes,
    weights: dict[tuple[int, int], dict[int, float]],
    count: int,
) -> None:
    """Raise Unsupported unless all leaves of a tree add to the same outputs, and all outputs get
    something: what gets nothing is never the best in onnxruntime.
    """
    added: set[int] = set()
    for tree, own in rows.items():
        leaves = [row for row in own if values["nodes_modes"][row] == "LEAF"]
        sets = {frozenset(weights[tree, values["nodes_nodeids"][row]]) for row in leaves}
        if len(sets) != 1:
            raise _unsupported("trees whose leaves add to different outputs are not supported")
        added |= next(iter(sets))
    if len(added) not in (1, count) or (len(added) == 1 and count > 2):
        raise _unsupported("trees that leave outputs without a score are not supported")


def _tree(
    values: Attributes,
    tree: int,
    rows: list[int],
    weights: dict[tuple[int, int], dict[int, float]],
    count: int,
) -> Tree:
    place = {values["nodes_nodeids"][row]: at for at, row in enumerate(rows)}
    if len(place) != len(rows):
        raise ValueError(f"tree {tree} has two nodes of one number")
    modes = [values["nodes_modes"][row] for row in rows]
    if unknown := set(modes) - set(MODES):
        raise _unsupported(f"trees with {printable(', '.join(sorted(unknown)))} are not supported")
    leaf = np.array([mode == "LEAF" for mode in modes])
    thresholds = np.array([values["nodes_values"][row] for row in rows], dtype=np.float64)
    turned = np.array([mode in ("BRANCH_GTE", "BRANCH_GT") for mode in modes])
    is_inclusive = np.array([mode in ("BRANCH_LEQ", "BRANCH_GT") for mode in modes])
    yes, no = (
        np.array(
            [
                0 if mode == "LEAF" else place[values[f"nodes_{side}nodeids"][row]]
                for mode, row in zip(modes, rows, strict=True)
            ]
        )
        for side in ("true", "false")
    )
    scores = np.zeros((len(rows), count))
    for at, row in enumerate(rows):
        for output, weight in weights.get((tree, values["nodes_nodeids"][row]), {}).items():
            scores[at, output] = weight
    return Tree(
        leaf=leaf,
        features=np.array([values["nodes_featureids"][row] for row in rows], dtype=np.int64),
        thresholds=np.where(is_inclusive, at_most(thresholds), thresholds),
        left=np.where(turned, no, yes),
        right=np.where(turned, yes, no),
        places=np.arange(len(rows)) * count,
        values=scores.ravel(),
        output=-1,
    )


def _of_margin(parts: list[Tree], values: Attributes, base: Reals) -> tuple[list[Tree], Reals]:
    """Return trees of two classes as ones that score the second against a number, as onnxruntime
    decides: a half if one class alone has values and none is negative, else 0.
    """
    ids = set(values["class_ids"])
    only = ids.pop() if len(ids) == 1 else 1
    is_positive = not ids and all(weight >= 0 for weight in values["class_weights"])
    moved = []
    for tree in parts:
        scores = tree.values.reshape(-1, 2)
        column = np.stack([np.zeros(len(scores)), scores[:, only]], axis=1)
        fields = {**tree.__dict__, "values": column.ravel()}
        moved.append(Tree(**fields))
    start = float(base[only])
    return moved, np.array([0.5 if is_positive else 0.0, start])


def _unsupported(what: str) -> Unsupported:
    return Unsupported("onnx-trees", what, hint=BATCHED)
