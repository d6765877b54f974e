"""The libraries that policies come from, each as a function from inputs to scores.

They are imported when they are needed, if they are installed. Files are handed to them only after
our own readers have accepted them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import printable
from surefoot.policies.models import Corrected, Network, Reals, Trees

if TYPE_CHECKING:
    from surefoot.policies import Policy


@dataclass(frozen=True)
class Original:
    """A library that evaluates the policy: its name with version, and scores of rows of inputs."""

    name: str
    scores: Callable[[Reals], Reals]


def original_of(policy: Policy) -> Original | str:
    """Return the library that a policy comes from, or why there is none to compare with."""
    kind, path = _kind_of(policy)
    if kind == "onnx":
        return _onnxruntime(path)
    if isinstance(policy.model, Network):
        return _torch(policy.model)
    if isinstance(policy.model, Corrected):
        return _corrected(policy.model)
    if kind in ("xgboost", "lightgbm") and policy.model is not None:
        library = _xgboost if kind == "xgboost" else _lightgbm
        return library(path, policy.model.num_outputs)
    if policy.file is None or policy.file.suffix == ".py":
        return "the policy comes from no file: there is nothing to compare it with"
    what = {"rules": "rules", "veritas": "Veritas ensembles", "trees": "trees of our own format"}
    return f"{what.get(kind, 'such files')} have no other library to compare with"


def _kind_of(policy: Policy) -> tuple[str, Path]:
    from surefoot.policies.formats import kind_of
    from surefoot.policies.interface import read_interface

    path = policy.file
    if path is None or path.suffix == ".py":
        return "none", Path()
    kind = kind_of(path)
    if kind == "interface" and (named := read_interface(path).file) is not None:
        path = path.parent / named
        kind = kind_of(path)
    return kind, path


def _library(name: str) -> Any:
    """Return a library, None if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        return None


def _missing(name: str, extra: str) -> str:
    return f"{name} is not installed: pip install 'surefoot[{extra}]' to compare with it"


def _torch(network: Network) -> Original:
    """Return the same layers in torch, or in NumPy where that is not installed."""
    torch = _library("torch")
    if torch is None:
        return Original(f"NumPy {np.__version__}", lambda rows: numpy_scores(network, rows))
    kind = torch.float32 if network.precision == "float32" else torch.float64
    layers = [
        (torch.tensor(part.weights, dtype=kind), torch.tensor(part.biases, dtype=kind), part)
        for part in network.layers
    ]

    def activated(values: object, activation: str, slope: float) -> object:
        if activation == "linear":
            return values
        if activation == "leaky_relu":
            return torch.nn.functional.leaky_relu(values, slope)
        return getattr(torch, activation)(values)

    def scores(rows: Reals) -> Reals:
        with torch.no_grad():
            values = torch.tensor(rows, dtype=kind)
            for weights, biases, layer in layers:
                values = torch.nn.functional.linear(values, weights, biases)
                values = activated(values, layer.activation, layer.slope)
            scores: Reals = values.to(torch.float64).numpy()
            return scores

    return Original(f"torch {torch.__version__}", scores)


def _corrected(model: Corrected) -> Original:
    """Return the network by its library plus the trees by NumPy."""
    network = _torch(model.network)
    name = network.name if "NumPy" in network.name else f"{network.name} and NumPy"
    return Original(name, lambda rows: network.scores(rows) + tree_scores(model.trees, rows))


def tree_scores(trees: Trees, rows: Reals) -> Reals:
    """Return the scores of trees by NumPy, added in the order of the trees in their precision."""
    from surefoot.policies.trees.forest import leaf_places

    kind = np.dtype(trees.sum_precision).type
    base = np.tile(trees.base.astype(kind), (len(rows), 1))
    sums: Any = np.zeros_like(base) if trees.base_last else base.copy()
    outputs = np.arange(trees.num_outputs)
    for leaves in leaf_places(trees, rows).T:
        to, first = trees.right[leaves][:, None], trees.left[leaves][:, None]
        place = np.where(to == -1, first + outputs, first)
        sums += np.where((to == -1) | (to == outputs), trees.values[place], 0.0).astype(kind)
    if trees.base_last:
        sums += base
    return (sums / kind(trees.divide_by)).astype(np.float64)  # type: ignore[no-any-return]


def numpy_scores(network: Network, rows: Reals) -> Reals:
    """Return the scores of a network by NumPy, in its precision."""
    kind = np.dtype(network.precision).type
    values: Any = rows.astype(kind)
    for layer in network.layers:
        values = values @ layer.weights.astype(kind).T + layer.biases.astype(kind)
        if layer.activation == "relu":
            values = np.maximum(values, kind(0))
        elif layer.activation == "tanh":
            values = np.tanh(values)
        elif layer.activation == "sigmoid":
            with np.errstate(over="ignore"):
                values = kind(1) / (kind(1) + np.exp(-values))
        elif layer.activation == "leaky_relu":
            values = np.where(values < 0, values * kind(layer.slope), values)
    scores: Reals = values.astype(np.float64)
    return scores


def _onnxruntime(path: Path) -> Original | str:
    runtime, onnx = _library("onnxruntime"), _library("onnx")
    if runtime is None or onnx is None:
        return _missing("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        content = _before_softmax(onnx, onnx.load(str(path), load_external_data=False))
        session = runtime.InferenceSession(
            content, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        return f"onnxruntime refuses the file: {_first_line(error)}"
    given = session.get_inputs()[0]
    kind = np.float64 if given.type == "tensor(double)" else np.float32
    is_single = isinstance(given.shape[0], int) if len(given.shape) > 1 else True

    def scores(rows: Reals) -> Reals:
        parts = [rows[at : at + 1] for at in range(len(rows))] if is_single else [rows]
        shape = [-1, *(d if isinstance(d, int) else -1 for d in given.shape[1:])]
        shape = shape if shape.count(-1) == 1 else [len(parts[0]), -1]
        shape = [-1] if len(given.shape) == 1 else shape
        answers = [
            session.run(None, {given.name: part.astype(kind).reshape(shape)})[0] for part in parts
        ]
        stacked: Reals = np.concatenate(
            [np.reshape(answer, (-1, answer.shape[-1])) for answer in answers]
        )
        return stacked.astype(np.float64)

    return Original(f"onnxruntime {runtime.__version__}", scores)


def _before_softmax(onnx: Any, model: Any) -> bytes:
    """Return the model with its scores as output: what goes into a final Softmax or ArgMax."""
    makers = {name: node for node in model.graph.node for name in node.output}
    name = model.graph.output[0].name
    while (node := makers.get(name)) is not None and node.op_type in (
        *("Softmax", "LogSoftmax", "ArgMax"),
        *("Identity", "Cast"),
    ):
        name = node.input[0]
    if name != model.graph.output[0].name:
        del model.graph.output[:]
        model.graph.output.append(onnx.ValueInfoProto(name=name))
    content: bytes = model.SerializeToString()
    return content


def _xgboost(path: Path, outputs: int) -> Original | str:
    xgboost = _library("xgboost")
    if xgboost is None:
        return _missing("XGBoost", "trees")
    try:
        booster = xgboost.Booster({"nthread": 1}, model_file=str(path))
    except Exception as error:
        return f"XGBoost refuses the file: {_first_line(error)}"

    def scores(rows: Reals) -> Reals:
        matrix = xgboost.DMatrix(rows[:, : booster.num_features()])
        scores = booster.predict(matrix, output_margin=True, validate_features=False)
        return _columns(scores, len(rows), outputs)

    return Original(f"XGBoost {xgboost.__version__}", scores)


def _lightgbm(path: Path, outputs: int) -> Original | str:
    lightgbm = _library("lightgbm")
    if lightgbm is None:
        return _missing("LightGBM", "trees")
    try:
        booster = lightgbm.Booster(model_file=str(path))
    except Exception as error:
        return f"LightGBM refuses the file: {_first_line(error)}"

    def scores(rows: Reals) -> Reals:
        scores = booster.predict(
            np.ascontiguousarray(rows[:, : booster.num_feature()]), raw_score=True, num_threads=1
        )
        return _columns(scores, len(rows), outputs)

    return Original(f"LightGBM {lightgbm.__version__}", scores)


def _columns(answer: object, rows: int, outputs: int) -> Reals:
    """Return scores, a row for each input; of two classes with one margin that against 0."""
    scores: Reals = np.asarray(answer, dtype=np.float64).reshape(rows, -1)
    is_margin = outputs == 2 and scores.shape[1] == 1
    return np.hstack([np.zeros_like(scores), scores]) if is_margin else scores


def _first_line(error: Exception) -> str:
    return printable(str(error).strip().split("\n")[0])
