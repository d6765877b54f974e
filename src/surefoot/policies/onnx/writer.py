"""Networks as ONNX files: a Gemm for each layer, and an operator for its activation.

The numbers are written in the network's precision, in which they are computed with anyway. So what
``onnx.read`` reads from the file scores as the network does, bit for bit. The interface stands in
the metadata: other programs do not look there, but a file that is moved alone still has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from surefoot.errors import InputError, Unsupported
from surefoot.policies.libraries import library
from surefoot.policies.models import Layer, Network, Reals

OPERATORS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "leaky_relu": "LeakyRelu"}
OPSET, IR_VERSION = 17, 8  # old enough for every runtime in use
INPUT, OUTPUT = "state", "scores"
METADATA = "surefoot"  # the key under which the interface stands


def onnx_library() -> Any:
    """Return the onnx package. Raises Unsupported if it is not installed."""
    return library("onnx", extra="onnx", what="writing ONNX files")


def to_bytes(network: Network, interface: Mapping[str, object]) -> bytes:
    """Return the ONNX file of a network: one input, a row for each state, and one output.

    ``interface`` is what an interface file says, without the name of a file.
    """
    onnx = onnx_library()
    last = len(network.layers) - 1
    nodes, numbers, value = [], [], INPUT
    for number, layer in enumerate(network.layers):
        names = [f"weights{number}", f"biases{number}"]
        numbers += [_tensor(onnx, network, array, name) for array, name in _parts(layer, names)]
        is_linear = layer.activation == "linear"
        given, value = value, OUTPUT if number == last and is_linear else f"sum{number}"
        nodes.append(onnx.helper.make_node("Gemm", [given, *names], [value], transB=1))
        if not is_linear:
            given, value = value, OUTPUT if number == last else f"layer{number}"
            nodes.append(_activation(onnx, network, layer, given, value))
    return _model(onnx, network, nodes, numbers, interface)


def _parts(layer: Layer, names: list[str]) -> list[tuple[Reals, str]]:
    return list(zip((layer.weights, layer.biases), names, strict=True))


def _tensor(onnx: Any, network: Network, array: Reals, name: str) -> object:
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(array).astype(network.precision)
    if not np.isfinite(rounded).all():
        raise InputError("bad-policy", f"a number of the network is not a {network.precision}")
    return onnx.numpy_helper.from_array(rounded, name)


def _activation(onnx: Any, network: Network, layer: Layer, given: str, value: str) -> object:
    if layer.activation != "leaky_relu":
        return onnx.helper.make_node(OPERATORS[layer.activation], [given], [value])
    if network.precision == "float64" and float(np.float32(layer.slope)) != layer.slope:
        raise Unsupported(
            "onnx-slope",
            f"ONNX has no LeakyRelu in float64 with the slope {layer.slope}: slopes are float32",
            hint="write a *.safetensors file",
        )
    return onnx.helper.make_node("LeakyRelu", [given], [value], alpha=layer.slope)


def _model(
    onnx: Any,
    network: Network,
    nodes: list[object],
    numbers: list[object],
    interface: Mapping[str, object],
) -> bytes:
    is_double = network.precision == "float64"
    type = onnx.TensorProto.DOUBLE if is_double else onnx.TensorProto.FLOAT
    vector = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        nodes,
        "policy",
        [vector(INPUT, type, ["n", network.num_inputs])],
        [vector(OUTPUT, type, ["n", network.num_outputs])],
        numbers,
    )
    model = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="surefoot",
    )
    onnx.helper.set_model_props(model, {METADATA: json.dumps(interface)})
    content: bytes = model.SerializeToString(deterministic=True)
    return content
