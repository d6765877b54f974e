"""Networks for tests: random ones, what they should answer, and the files they come in."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from surefoot import Description
from surefoot.policies.models import Layer, Network, Reals


def random_network(
    seed: int, *sizes: int, activation: str = "relu", precision: str = "float32"
) -> Network:
    """Return a network of these sizes; its numbers are those of its precision."""
    rng = np.random.default_rng(seed)
    layers = []
    for number, (below, size) in enumerate(pairwise(sizes)):
        weights = rng.normal(size=(size, below)) / np.sqrt(below)
        biases = rng.normal(size=size) / 4
        is_last = number == len(sizes) - 2
        parts = [array.astype(precision).astype(np.float64) for array in (weights, biases)]
        layers.append(Layer(*parts, "linear" if is_last else activation))
    return Network(tuple(layers), precision)  # type: ignore[arg-type]


def plain_scores(network: Network, rows: Reals) -> Reals:
    """Return the scores of rows of inputs by NumPy, in the network's precision."""
    x = rows.astype(network.precision)
    for layer in network.layers:
        weights = layer.weights.astype(network.precision)
        x = x @ weights.T + layer.biases.astype(network.precision)
        if layer.activation == "relu":
            x = np.maximum(x, 0)
        elif layer.activation == "tanh":
            x = np.tanh(x)
        elif layer.activation == "sigmoid":
            x = 1 / (1 + np.exp(-x))
        elif layer.activation == "leaky_relu":
            x = np.where(x < 0, x * x.dtype.type(layer.slope), x)
    return x.astype(np.float64)


def nnet_text(
    network: Network, *, means: list[float] | None = None, ranges: list[float] | None = None
) -> str:
    """Return a network as a .nnet file."""
    inputs, outputs = network.num_inputs, network.num_outputs
    sizes = [inputs, *(len(layer.biases) for layer in network.layers)]
    lines = ["// a network for tests", f"{len(network.layers)},{inputs},{outputs},{max(sizes)},"]
    lines += [",".join(map(str, sizes)) + ",", "0,"]
    lines += [",".join(["0"] * inputs) + ",", ",".join(["9"] * inputs)]
    lines.append(",".join(map(repr, means or [0] * (inputs + 1))))
    lines.append(",".join(map(repr, ranges or [1] * (inputs + 1))) + ",")
    for layer in network.layers:
        lines += [",".join(map(repr, row)) + "," for row in layer.weights.tolist()]
        lines += [f"{bias!r}," for bias in layer.biases.tolist()]
    return "\n".join(lines) + "\n"


def onnx_model(network: Network, *, style: str = "gemm", tail: tuple[str, ...] = ()) -> Any:
    """Return a network as an ONNX model: layers as Gemm, or as MatMul and Add."""
    from onnx import TensorProto, helper, numpy_helper

    kind = TensorProto.FLOAT if network.precision == "float32" else TensorProto.DOUBLE
    nodes, numbers, value = [], [], "x"

    def tensor(name: str, array: Reals) -> str:
        made = numpy_helper.from_array(array.astype(network.precision), name)
        numbers.append(made)
        return name

    for i, layer in enumerate(network.layers):
        biases = tensor(f"b{i}", layer.biases)
        if style == "gemm":
            weights = tensor(f"w{i}", layer.weights)
            nodes.append(helper.make_node("Gemm", [value, weights, biases], [f"y{i}"], transB=1))
        else:
            weights = tensor(f"w{i}", np.ascontiguousarray(layer.weights.T))
            nodes.append(helper.make_node("MatMul", [value, weights], [f"p{i}"]))
            nodes.append(helper.make_node("Add", [f"p{i}", biases], [f"y{i}"]))
        value = f"y{i}"
        names = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "leaky_relu": "LeakyRelu"}
        if layer.activation in names:
            how = {"alpha": layer.slope} if layer.activation == "leaky_relu" else {}
            nodes.append(helper.make_node(names[layer.activation], [value], [f"a{i}"], **how))
            value = f"a{i}"
    for i, name in enumerate(tail):
        nodes.append(helper.make_node(name, [value], [f"t{i}"], axis=1))
        value = f"t{i}"
    is_index = bool(tail) and tail[-1] == "ArgMax"
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("x", kind, ["n", network.num_inputs])],
        [helper.make_tensor_value_info(value, TensorProto.INT64 if is_index else kind, None)],
        numbers,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def torch_sequential(network: Network) -> Any:
    """Return a network as a ``torch.nn.Sequential``."""
    import torch

    kinds = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid}
    kinds |= {"leaky_relu": torch.nn.LeakyReLU}
    type = torch.float32 if network.precision == "float32" else torch.float64
    parts: list[Any] = []
    for layer in network.layers:
        outputs, inputs = layer.weights.shape
        linear = torch.nn.Linear(inputs, outputs, dtype=type)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(layer.weights))
            linear.bias.copy_(torch.from_numpy(layer.biases))
        parts.append(linear)
        if layer.activation != "linear":
            parts.append(kinds[layer.activation]())
    return torch.nn.Sequential(*parts)


def grid(variables: int = 3, actions: int = 4, *, constants: int = 0) -> Any:
    """Return a task with that many variables from 0 to 9 and actions that are always applicable,
    but the last one, which is where v0 is above 4.
    """
    d = Description("grid")
    v = [d.int(f"v{i}", 0, 9, initial=0) for i in range(variables)]
    d.constants.update({f"c{i}": 10 * (i + 1) for i in range(constants)})
    for i in range(actions):
        guard = v[0] > 4 if i == actions - 1 else None
        d.edge(f"a{i}", guard=guard, outcomes=[{}])
    return d.compile()


def rows_of(states: list[Any]) -> Reals:
    """Return the values of states, a row for each."""
    return np.array([[float(value) for value in state.values()] for state in states])


def same_network(one: Network, other: Network) -> bool:
    """Return whether two networks have the same numbers, activations and precision."""
    return (
        one.precision == other.precision
        and len(one.layers) == len(other.layers)
        and all(
            np.array_equal(a.weights, b.weights)
            and np.array_equal(a.biases, b.biases)
            and (a.activation, a.slope) == (b.activation, b.slope)
            for a, b in zip(one.layers, other.layers, strict=True)
        )
    )
