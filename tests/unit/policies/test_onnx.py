"""Networks in ONNX files."""

import sys

import numpy as np
import pytest
from tests.support.networks import (
    grid,
    onnx_model,
    plain_scores,
    random_network,
    same_network,
)

from surefoot import InputError, Unsupported, load_policy
from surefoot.errors import SurefootError
from surefoot.policies import onnx as reader

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

NETWORK = random_network(1, 3, 5, 4)


def read(tmp_path, model):
    file = tmp_path / "net.onnx"
    file.write_bytes(model if isinstance(model, bytes) else model.SerializeToString())
    return reader.read(file)


def error_of(tmp_path, model):
    with pytest.raises(SurefootError) as caught:
        read(tmp_path, model)
    assert caught.value.file.endswith("net.onnx")
    return caught.value


def graph(nodes, tensors=(), *, inputs=("x",), outputs=("y",), kind=TensorProto.FLOAT):
    """Return a model of these nodes."""
    made = helper.make_graph(
        list(nodes),
        "policy",
        [helper.make_tensor_value_info(name, kind, ["n", 3]) for name in inputs],
        [helper.make_tensor_value_info(name, kind, None) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in dict(tensors).items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(kind, inputs, outputs, **how):
    return helper.make_node(kind, inputs.split(), outputs.split(), **how)


W = np.arange(12, dtype=np.float32).reshape(4, 3) - 5
B = np.array([1, -2, 3, 0.5], np.float32)
ROWS = np.random.default_rng(1).normal(size=(50, 3))


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "leaky_relu"])
@pytest.mark.parametrize("style", ["gemm", "matmul"])
def test_numbers_are_read_as_they_were_written(tmp_path, style, activation, precision):
    network = random_network(1, 3, 6, 5, 4, activation=activation, precision=precision)
    loaded = read(tmp_path, onnx_model(network, style=style))
    for layer in loaded.model.layers:
        assert layer.slope == pytest.approx(0.01)
    slopes = [layer.slope for layer in loaded.model.layers]
    wanted = type(network)(
        tuple(
            type(layer)(layer.weights, layer.biases, layer.activation, slope)
            for layer, slope in zip(network.layers, slopes, strict=True)
        ),
        network.precision,
    )
    assert same_network(loaded.model, wanted)
    assert (loaded.interface, loaded.notes) == (None, ())


def test_decisions(tmp_path):
    file = tmp_path / "net.onnx"
    file.write_bytes(onnx_model(NETWORK).SerializeToString())
    task = grid(3, 4)
    policy = load_policy(str(file), task)
    expected = plain_scores(NETWORK, np.array([[7.0, 1.0, 2.0]]))[0]
    state = task.state(v0=7, v1=1, v2=2)
    assert policy.decide(state) == f"a{expected.argmax()}"
    assert list(policy.scores(state).values()) == pytest.approx(list(expected), rel=1e-5)


GRAPHS = {
    "gemm of an untransposed matrix": (
        [node("Gemm", "x w b", "y")], {"w": W.T.copy(), "b": B}, lambda x: x @ W.T + B,
    ),
    "gemm with alpha and beta": (
        [node("Gemm", "x w b", "y", transB=1, alpha=0.5, beta=2.0)],
        {"w": W, "b": B}, lambda x: 0.5 * (x @ W.T) + 2 * B,
    ),
    "gemm without biases": ([node("Gemm", "x w", "y", transB=1)], {"w": W}, lambda x: x @ W.T),
    "one bias for all": (
        [node("Gemm", "x w b", "y", transB=1)], {"w": W, "b": B[:1]}, lambda x: x @ W.T + 1,
    ),
    "biases as a row": (
        [node("MatMul", "x w", "p"), node("Add", "b p", "y")],
        {"w": W.T.copy(), "b": B[None]}, lambda x: x @ W.T + B,
    ),
    "transposed on the way": (
        [node("Transpose", "w", "t", perm=[1, 0]), node("MatMul", "x t", "y")],
        {"w": W}, lambda x: x @ W.T,
    ),
    "flattened, and passed on": (
        [node("Flatten", "x", "f"), node("Identity", "f", "i"),
         node("Gemm", "i w b", "g", transB=1), node("Identity", "g", "y")],
        {"w": W, "b": B}, lambda x: x @ W.T + B,
    ),
    "two additions": (
        [node("Gemm", "x w b", "g", transB=1), node("Add", "g b", "y")],
        {"w": W, "b": B}, lambda x: x @ W.T + 2 * B,
    ),
    "two activations": (
        [node("Gemm", "x w b", "g", transB=1), node("Relu", "g", "r"), node("Tanh", "r", "y")],
        {"w": W, "b": B}, lambda x: np.tanh(np.maximum(x @ W.T + B, 0)),
    ),
    "steep on the left": (
        [node("Gemm", "x w b", "g", transB=1), node("LeakyRelu", "g", "y", alpha=0.5)],
        {"w": W, "b": B}, lambda x: np.where(x @ W.T + B < 0, 0.5 * (x @ W.T + B), x @ W.T + B),
    ),
    "cast at the input": (
        [node("Cast", "x", "c", to=TensorProto.FLOAT), node("Gemm", "c w", "y", transB=1)],
        {"w": W}, lambda x: x @ W.T,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", GRAPHS)
def test_graphs_mean_what_onnx_says(tmp_path, case):
    nodes, tensors, meaning = GRAPHS[case]
    model = graph(nodes, tensors)
    found = read(tmp_path, model).model.scorer().scores(np.ascontiguousarray(ROWS))
    assert np.allclose(found, meaning(ROWS.astype(np.float32)), rtol=1e-5, atol=1e-5)


def test_constants_as_nodes(tmp_path):
    constant = helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(W))
    model = graph([constant, node("Gemm", "x w", "y", transB=1)])
    assert np.array_equal(read(tmp_path, model).model.layers[0].weights, W)


def test_numbers_that_are_not_raw(tmp_path):
    model = graph([node("Gemm", "x w", "y", transB=1)])
    made = helper.make_tensor("w", TensorProto.FLOAT, [4, 3], W.ravel().tolist())
    model.graph.initializer.append(made)
    assert np.array_equal(read(tmp_path, model).model.layers[0].weights, W)


@pytest.mark.parametrize(
    "tail", [("Softmax",), ("LogSoftmax",), ("ArgMax",), ("Softmax", "ArgMax")]
)
def test_what_does_not_change_the_best_is_left_out(tmp_path, tail):
    loaded = read(tmp_path, onnx_model(NETWORK, tail=tail))
    assert same_network(loaded.model, NETWORK)
    assert len(loaded.notes) == len(tail) and tail[0] in loaded.notes[0]


GEMM = node("Gemm", "x w b", "g", transB=1)
TENSORS = {"w": W, "b": B}
UNSUPPORTED = {
    "convolution": ([node("Conv", "x w", "y")], "Conv"),
    "another library": ([helper.make_node("Gemm", ["x", "w"], ["y"], domain="mine")], "mine.Gemm"),
    "turned input": ([node("Gemm", "x w", "y", transA=1)], "transA"),
    "two inputs multiplied": ([node("MatMul", "x x", "y")], "chain"),
    "weights times input": ([node("MatMul", "w x", "y")], "chain"),
    "softmax along the batch": ([GEMM, node("Softmax", "g", "y", axis=0)], "Softmax"),
    "last of the best": ([GEMM, node("ArgMax", "g", "y", axis=1, select_last_index=1)], "ArgMax"),
    "flattened to one": ([node("Flatten", "x", "f", axis=0), node("MatMul", "f w", "y")], "axis"),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
def test_other_graphs_are_unsupported_and_say_why(tmp_path, case):
    nodes, word = UNSUPPORTED[case]
    error = error_of(tmp_path, graph(nodes, TENSORS))
    assert isinstance(error, Unsupported)
    assert word in error.message


def test_several_inputs_or_outputs_are_unsupported(tmp_path):
    gemm = node("Gemm", "x w b", "y", transB=1)
    two = graph([gemm, node("Relu", "y", "z")], TENSORS, outputs=("y", "z"))
    assert error_of(tmp_path, two).code == "onnx-outputs"
    assert error_of(tmp_path, graph([gemm], TENSORS, inputs=("x", "u"))).code == "onnx-inputs"
    whole = graph([gemm], TENSORS, kind=TensorProto.INT64)
    assert error_of(tmp_path, whole).code == "onnx-input-type"


def test_initialisers_may_also_be_listed_as_inputs(tmp_path):
    model = graph([node("Gemm", "x w b", "y", transB=1)], TENSORS, inputs=("x", "w"))
    assert read(tmp_path, model).model.num_inputs == 3


def test_mixed_precision_is_unsupported(tmp_path):
    tensors = {"w": W, "b": B.astype(np.float64)}
    error = error_of(tmp_path, graph([node("Gemm", "x w b", "y", transB=1)], tensors))
    assert error.code == "onnx-mixed"


def test_half_precision_is_unsupported(tmp_path):
    model = graph([node("Gemm", "x w", "y", transB=1)], {"w": W.astype(np.float16)})
    assert error_of(tmp_path, model).code == "policy-number-type"


def test_without_the_library(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(Unsupported) as caught:
        read(tmp_path, b"anything")
    assert "pip install 'surefoot[onnx]'" in caught.value.hint


def test_wrong_shapes(tmp_path):
    two = [node("Gemm", "x w", "g", transB=1), node("Gemm", "g w", "y", transB=1)]
    error = error_of(tmp_path, graph(two, {"w": W}))
    assert isinstance(error, InputError)
    biases = graph([node("Gemm", "x w b", "y", transB=1)], {"w": W, "b": B[:3]})
    assert isinstance(error_of(tmp_path, biases), InputError)
