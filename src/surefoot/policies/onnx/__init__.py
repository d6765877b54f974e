"""Feed-forward networks in ONNX files.

The ``onnx`` package parses the file; the graph is read here, operator by operator, in the order of
the file. What is not a chain of linear layers and known activations is tried as a graph that NumPy
computes (``graphs``), and refused by the operator's name if it is none. Nothing is opened but files
of numbers beside the model (``external``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from surefoot.errors import InputError, Unsupported, printable, quoted
from surefoot.files import file_bytes, parse_json
from surefoot.policies.foreign import MEMORY
from surefoot.policies.format import Format, Writer
from surefoot.policies.interface import interface_from
from surefoot.policies.libraries import library
from surefoot.policies.loaded import Loaded, checked, interface_content
from surefoot.policies.models import Layer, Network, Reals
from surefoot.policies.onnx import external, graphs, trees, writer
from surefoot.policies.onnx.writer import METADATA
from surefoot.policies.original import Original, installed, not_installed, refusal

if TYPE_CHECKING:
    import numpy.typing as npt
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

OPERATORS = (
    *("Gemm", "MatMul", "Add", "Relu", "Tanh", "Sigmoid", "LeakyRelu"),
    *("Flatten", "Identity", "Constant", "Transpose", "Cast", "Softmax", "LogSoftmax", "ArgMax"),
)
_FLOAT, _INT64, _DOUBLE = 1, 7, 11  # element types, as the format numbers them
_SLACK = 4_000_000  # numbers that layers may have beyond those in the file: identities, sharing
_INPUTS = {"Gemm": (2, 3), "MatMul": (2,), "Add": (2,), "Constant": (0,)}  # others: one
_ACTIVATIONS = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "LeakyRelu": "leaky_relu"}


def read(path: str | Path) -> Loaded:
    """Return the network of a file. Raises InputError if it is broken, Unsupported if it is more
    than a feed-forward network.
    """
    data = file_bytes(path)
    try:
        model = _parsed(data)
        files = external.with_numbers(model, Path(path))
        loaded = _with_metadata(_network_of(model, _SLACK + model.ByteSize()), model)
        loaded = replace(loaded, files=tuple(files))
    except (InputError, Unsupported) as error:
        error.at(file=str(path))
        raise
    return checked(loaded, path)


def network_in(data: bytes) -> Loaded:
    """Return the network of a model in memory. Raises as :func:`read` does."""
    model = _parsed(data)
    return _network_of(model, _SLACK + len(data))


def _network_of(model: ModelProto, max_numbers: int) -> Loaded:
    """Return the layers of a chain, which the core computes, or else a graph."""
    if trees.has_trees(model.graph):
        return trees.trees_in(model.graph)
    graphs.check_is_function(model.graph)
    try:
        return _Reader(model.graph, max_numbers=max_numbers).run()
    except Unsupported as error:
        if error.code != "onnx-operator":
            raise
    return graphs.graph_of(model.graph)


def _parsed(data: bytes) -> ModelProto:
    onnx = library("onnx", extra="onnx", what="reading ONNX files")
    decode_error = import_module("google.protobuf.message").DecodeError
    try:
        model: ModelProto = onnx.ModelProto.FromString(data)
    except (decode_error, ValueError, RecursionError, RuntimeError):
        raise _bad("the file is not an ONNX model") from None
    if not model.graph.node:
        raise _bad("the file is not an ONNX model: its graph is empty")
    if model.functions:
        raise Unsupported("onnx-functions", "the model defines operators of its own")
    return model


def _with_metadata(loaded: Loaded, model: ModelProto) -> Loaded:
    """Return what was loaded with the interface that a file of ours has inside."""
    for entry in model.metadata_props:
        if entry.key == METADATA:
            interface = interface_from(parse_json(entry.value))
            return replace(loaded, interface=interface.interface, unfiltered=interface.unfiltered)
    return loaded


def _bad(message: str, place: str | None = None, *, hint: str | None = None) -> InputError:
    return InputError("bad-onnx", message, place=place, hint=hint)


@dataclass(frozen=True)
class _Chain:
    """The layers between the input of the network and a value; ``is_final``: nothing may follow."""

    layers: tuple[Layer, ...] = ()
    may_take_biases: bool = False  # the last layer is a product to which nothing was added yet
    is_final: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the last layer has no activation yet."""
        return bool(self.layers) and self.layers[-1].activation == "linear"

    def activated(self, activation: str, slope: float) -> _Chain:
        """Return the chain with an activation on its last layer."""
        last = replace(self.layers[-1], activation=activation, slope=slope)
        return _Chain((*self.layers[:-1], last))


_Value = _Chain | np.ndarray


@dataclass
class _Reader:
    graph: GraphProto
    max_numbers: int
    values: dict[str, _Value] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    numbers: int = 0
    is_double: set[bool] = field(default_factory=set)

    def run(self) -> Loaded:
        """Return the network of the graph."""
        if self.graph.sparse_initializer:
            raise Unsupported("onnx-sparse", "the model has sparse weights")
        for number, tensor in enumerate(self.graph.initializer):
            self._define(tensor.name, self._array(tensor), f"/graph/initializer/{number}")
        self._define_input()
        for number, node in enumerate(self.graph.node):
            self._step(node, f"/graph/node/{number}")
        return self._result()

    def _define_input(self) -> None:
        inputs = [entry for entry in self.graph.input if entry.name not in self.values]
        if len(inputs) != 1:
            raise Unsupported(
                "onnx-inputs",
                f"the model has {len(inputs):,} inputs; one vector is read",
                hint=MEMORY if len(inputs) > 1 else None,
            )
        type = inputs[0].type.tensor_type.elem_type
        if type not in (_FLOAT, _DOUBLE):
            raise Unsupported("onnx-input-type", "the input is not a vector of floats or doubles")
        self._define(inputs[0].name, _Chain(), "/graph/input")

    def _define(self, name: str, value: _Value, place: str) -> None:
        if not name or name in self.values:
            raise _bad(f"value {quoted(name)} is defined twice, or has no name", place)
        self.values[name] = value

    def _result(self) -> Loaded:
        if len(self.graph.output) != 1:
            raise Unsupported(
                "onnx-outputs",
                f"the model has {len(self.graph.output):,} outputs; one vector of scores is read",
            )
        result = self.values.get(self.graph.output[0].name)
        if not isinstance(result, _Chain) or not result.layers:
            raise _bad("the output is not computed from the input", "/graph/output/0")
        if len(self.is_double) > 1:
            raise Unsupported("onnx-mixed", "the model mixes floats and doubles")
        precision = "float64" if True in self.is_double else "float32"
        network = Network(result.layers, precision)  # type: ignore[arg-type]
        return Loaded(network, notes=tuple(self.notes))

    # -- operators ---------------------------------------------------------------------------

    def _step(self, node: NodeProto, place: str) -> None:
        if node.domain not in ("", "ai.onnx") or node.op_type not in OPERATORS:
            name = printable(f"{node.domain}.{node.op_type}".strip("."))
            raise Unsupported(
                "onnx-operator",
                f"operator {name} is not supported",
                place=place,
                hint=f"operators are {', '.join(OPERATORS)}",
            )
        if len(node.output) != 1:
            raise _bad(f"{node.op_type} has {len(node.output):,} outputs", place)
        inputs = [self._value(name, place) for name in node.input if name]
        if len(inputs) not in _INPUTS.get(node.op_type, (1,)):
            raise _bad(f"{node.op_type} has {len(inputs):,} inputs", place)
        is_past_end = any(
            isinstance(input_name, _Chain) and input_name.is_final for input_name in inputs
        )
        if is_past_end and node.op_type not in ("Identity", "ArgMax"):
            raise Unsupported("onnx-operator", f"{node.op_type} after the end", place=place)
        step: Callable[..., _Value] = getattr(self, "_" + node.op_type.lower(), self._activation)
        try:
            made = step(node, _attributes(node, place), *inputs)
        except (InputError, Unsupported) as error:
            raise error.at(place=place) from None
        self._define(node.output[0], made, place)

    def _value(self, name: str, place: str) -> _Value:
        if name not in self.values:
            raise _bad(f"value {quoted(name)} is used before it is computed", place)
        value: _Value = self.values[name]
        return value

    def _identity(self, node: object, attributes: dict[str, object], value: _Value) -> _Value:
        return value

    def _cast(self, node: object, attributes: dict[str, object], value: _Value) -> _Value:
        is_at_input = isinstance(value, _Chain) and not value.layers
        if not is_at_input or attributes.get("to") not in (_FLOAT, _DOUBLE):
            raise Unsupported("onnx-operator", "Cast is read at the input only")
        return value

    def _flatten(self, node: object, attributes: dict[str, object], value: _Value) -> _Value:
        if attributes.get("axis", 1) != 1:
            raise Unsupported("onnx-operator", "Flatten is read with axis 1 only")
        return _chain(value)

    def _constant(self, node: object, attributes: dict[str, Any]) -> _Value:
        if "value" not in attributes:
            raise Unsupported("onnx-operator", "Constant is read with a tensor only")
        return self._array(attributes["value"])

    def _transpose(self, node: object, attributes: dict[str, object], value: _Value) -> _Value:
        array = _array_of(value)
        if array.ndim != 2 or attributes.get("perm", [1, 0]) != [1, 0]:
            raise Unsupported("onnx-operator", "Transpose is read of matrices of weights only")
        return array.T

    def _gemm(
        self,
        node: NodeProto,
        attributes: dict[str, Any],
        a: _Value,
        b: _Value,
        c: _Value | None = None,
    ) -> _Value:
        chain, weights = _chain(a), _matrix(b)
        if attributes.get("transA", 0):
            raise Unsupported("onnx-operator", "Gemm with transA is not supported")
        weights = weights if attributes.get("transB", 0) else weights.T
        weights = _times(attributes.get("alpha", 1.0), weights)
        if c is None:
            return self._longer(chain, weights, np.zeros(len(weights)), may_take_biases=True)
        biases = _spread(_array_of(c), len(weights))
        return self._longer(chain, weights, _times(attributes.get("beta", 1.0), biases))

    def _matmul(self, node: object, attributes: dict[str, object], a: _Value, b: _Value) -> _Value:
        weights = _matrix(b).T
        return self._longer(_chain(a), weights, np.zeros(len(weights)), may_take_biases=True)

    def _add(self, node: object, attributes: dict[str, object], a: _Value, b: _Value) -> _Value:
        chain, other = (a, b) if isinstance(a, _Chain) else (b, a)
        chain, array = _chain(chain), _array_of(other)
        if not chain.layers:
            raise Unsupported("onnx-operator", "Add at the input is not supported")
        biases = _spread(array, len(chain.layers[-1].biases))
        if chain.may_take_biases:
            last = replace(chain.layers[-1], biases=biases)
            return _Chain((*chain.layers[:-1], last))
        return self._longer(chain, self._unit(len(biases)), biases)

    def _activation(self, node: NodeProto, attributes: dict[str, Any], value: _Value) -> _Value:
        chain = _chain(value)
        if not chain.layers:
            raise Unsupported("onnx-operator", f"{node.op_type} at the input is not supported")
        if not chain.is_open:
            size = len(chain.layers[-1].biases)
            chain = self._longer(chain, self._unit(size), np.zeros(size))
        slope = float(attributes.get("alpha", 0.01)) if node.op_type == "LeakyRelu" else 0.01
        return chain.activated(_ACTIVATIONS[node.op_type], slope)

    def _softmax(self, node: NodeProto, attributes: dict[str, object], value: _Value) -> _Value:
        if attributes.get("axis", -1) not in (-1, 1):
            raise Unsupported("onnx-operator", f"{node.op_type} along another axis")
        return self._dropped(node, value)

    _logsoftmax = _softmax

    def _argmax(self, node: NodeProto, attributes: dict[str, object], value: _Value) -> _Value:
        if attributes.get("axis", 0) not in (-1, 1) or attributes.get("select_last_index", 0):
            raise Unsupported("onnx-operator", "ArgMax is read along axis 1, first index only")
        return self._dropped(node, value)

    def _dropped(self, node: NodeProto, value: _Value) -> _Chain:
        """Return the chain without an operator that does not change which output is the best."""
        chain = _chain(value)
        if not chain.layers:
            raise Unsupported("onnx-operator", f"{node.op_type} at the input is not supported")
        self.notes.append(f"{node.op_type} at the end is left out: scores are those before it")
        return replace(chain, is_final=True, may_take_biases=False)

    # -- numbers -----------------------------------------------------------------------------

    def _longer(
        self, chain: _Chain, weights: Reals, biases: Reals, *, may_take_biases: bool = False
    ) -> _Chain:
        """Return the chain with one more linear layer."""
        self._count(weights.size)
        if chain.layers and weights.shape[1] != len(chain.layers[-1].biases):
            raise _bad(
                f"a layer takes {weights.shape[1]:,} numbers, the one below gives "
                f"{len(chain.layers[-1].biases):,}"
            )
        layer = Layer(weights, biases, "linear")
        return _Chain((*chain.layers, layer), may_take_biases=may_take_biases)

    def _unit(self, size: int) -> Reals:
        self._count(size * size)
        return np.eye(size)

    def _count(self, numbers: int) -> None:
        self.numbers += numbers
        if self.numbers > self.max_numbers:
            raise Unsupported("onnx-too-large", "the layers have more numbers than the file")

    def _array(self, tensor: TensorProto) -> Reals:
        """Return the numbers of a tensor, if they are where the file says."""
        name = printable(tensor.name) or "a constant"
        if tensor.data_type == _INT64:  # shapes and the like, which no layer takes
            return np.empty((0, 0))
        if tensor.data_type not in (_FLOAT, _DOUBLE):
            raise Unsupported("policy-number-type", f"{name} is not of type float or double")
        is_double = tensor.data_type == _DOUBLE
        flat = _numbers_of(tensor, is_double)
        if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) != flat.size:
            raise _bad(f"{name} has {flat.size:,} numbers, not those that its shape asks for")
        if flat.size > 1:
            self.is_double.add(is_double)
        if len(tensor.dims) > 8:
            raise _bad(f"{name} has {len(tensor.dims):,} dimensions")
        made: Reals = flat.astype(np.float64).reshape(tuple(tensor.dims))
        return made


def _numbers_of(tensor: TensorProto, is_double: bool) -> npt.NDArray[np.floating]:
    type = np.dtype("<f8" if is_double else "<f4")
    if not tensor.HasField("raw_data"):
        return np.array(tensor.double_data if is_double else tensor.float_data, dtype=type)
    if len(tensor.raw_data) % type.itemsize:
        raise _bad(f"{quoted(tensor.name)} ends in the middle of a number")
    return np.frombuffer(tensor.raw_data, type)


def _attributes(node: NodeProto, place: str) -> dict[str, object]:
    """Return the attributes of a node that are numbers, lists of these, or tensors."""
    attributes: dict[str, object] = {}
    for entry in node.attribute:
        kinds = {1: "f", 2: "i", 4: "t", 6: "floats", 7: "ints"}
        if entry.type not in kinds or entry.ref_attr_name:
            raise Unsupported(
                "onnx-operator",
                f"{node.op_type} with attribute {quoted(entry.name)} is not supported",
                place=place,
            )
        value = getattr(entry, kinds[entry.type])
        attributes[entry.name] = list(value) if kinds[entry.type].endswith("s") else value
    return attributes


def _chain(value: _Value) -> _Chain:
    if not isinstance(value, _Chain):
        raise Unsupported("onnx-operator", "a computation between constants is not supported")
    return value


def _array_of(value: _Value) -> Reals:
    if isinstance(value, _Chain):
        raise Unsupported("onnx-operator", "the model is not a chain of layers")
    return value


def _matrix(value: _Value) -> Reals:
    array = _array_of(value)
    if array.ndim != 2 or 0 in array.shape:
        raise _bad(f"weights have the shape {array.shape}, not that of a matrix")
    return array


def _times(factor: float, array: Reals) -> Reals:
    return array if factor == 1.0 else array * float(factor)


def _spread(array: Reals, size: int) -> Reals:
    """Return biases as a vector of that size: they may be one number, or one row."""
    if array.size not in (1, size) or (array.ndim and array.shape[-1] not in (1, size)):
        raise _bad(f"biases have the shape {array.shape}, for {size:,} outputs")
    spread: Reals = np.broadcast_to(array.reshape(-1), (size,)).copy()
    return spread


# -- writing, and asking the library that ONNX files are made for ------------------------------


def _to_bytes(loaded: Loaded) -> bytes:
    return writer.to_bytes(cast("Network", loaded.model), interface_content(loaded))


def _original(path: Path, _: int) -> Original | str:
    runtime, onnx = installed("onnxruntime"), installed("onnx")
    if runtime is None or onnx is None:
        return not_installed("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        model = onnx.load(str(path), load_external_data=False)
        external.with_numbers(model, path)
        if trees.has_trees(model.graph):
            return "tree ensembles in ONNX files are not compared"
        content = _before_softmax(onnx, model)
        session = runtime.InferenceSession(
            content, sess_options=options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        return refusal("onnxruntime", error)
    return Original(f"onnxruntime {runtime.__version__}", lambda rows: _scores(session, rows))


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


def _scores(session: Any, rows: Reals) -> Reals:
    """Return what a session of onnxruntime says of rows: at once if its input has no fixed size."""
    given = session.get_inputs()[0]
    kind = np.float64 if given.type == "tensor(double)" else np.float32
    is_single = isinstance(given.shape[0], int) if len(given.shape) > 1 else True
    parts = [rows[at : at + 1] for at in range(len(rows))] if is_single else [rows]
    shape = [-1, *(d if isinstance(d, int) else -1 for d in given.shape[1:])]
    shape = shape if shape.count(-1) == 1 else [len(parts[0]), -1]
    shape = [-1] if len(given.shape) == 1 else shape
    answers = [
        session.run(None, {given.name: part.astype(kind).reshape(shape)})[0] for part in parts
    ]
    stacked: Reals = np.concatenate([np.reshape(each, (-1, each.shape[-1])) for each in answers])
    return stacked.astype(np.float64)


FORMAT = Format(
    "onnx",
    read,
    (".onnx",),
    is_whole=True,
    writer=Writer(
        kinds=("network",),
        to_bytes=_to_bytes,
        holds_interface=False,
        require=writer.onnx_library,
    ),
    original=_original,
)
