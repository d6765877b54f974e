"""ONNX graphs that are no chain of layers, as steps that NumPy computes.

Operators are those of :mod:`surefoot.policies.graph`, Constant, Transpose of weights, Cast to
floats and Dropout, which counts as in evaluation: not at all. Softmax and ArgMax at the end are
left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from surefoot.errors import InputError, Unsupported, printable, quoted
from surefoot.policies.foreign import MEMORY
from surefoot.policies.graph import OPERATORS, NotRead, Operation, Value, of_steps
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Precision

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, ValueInfoProto

FLOAT, INT64, DOUBLE = 1, 7, 11  # element types, as the format numbers them
PASSED_ON = ("Identity", "Cast", "Dropout")
AT_END = ("Softmax", "LogSoftmax", "ArgMax")
RECURRENT = ("GRU", "LSTM", "RNN")
BATCHED = (
    "run it with onnxruntime as a function of many states: surefoot.batched(lambda states: "
    'session.run(None, {"NAME": states.astype("float32")})[0])'
)


def graph_of(graph: GraphProto) -> Loaded:
    """Return the network of a graph. Raises Unsupported for operators that are not known, and
    InputError if it does not compute.
    """
    given = _input(graph)
    constants = {tensor.name: _array(tensor) for tensor in graph.initializer}
    kinds = {value.dtype for value in constants.values() if value.dtype.kind == "f"}
    kinds |= {np.dtype(np.float64 if given.type.tensor_type.elem_type == DOUBLE else np.float32)}
    if len(kinds) > 1:
        raise Unsupported("onnx-mixed", "the model mixes floats and doubles")
    precision: Precision = "float64" if np.dtype(np.float64) in kinds else "float32"
    nodes, result, notes = _without_end(graph)
    steps = []
    for number, node in nodes:
        place = f"/graph/node/{number}"
        if node.op_type in ("Constant", "Transpose") and len(node.output) != 1:
            raise InputError("bad-onnx", f"{node.op_type} has no output", place=place)
        if node.op_type == "Constant":
            constants[node.output[0]] = _constant(node, place)
        elif node.op_type == "Transpose":
            constants[node.output[0]] = _turned(node, constants, place)
        else:
            steps.append(_step(node, place))
            _check_product(steps[-1], constants, place)
    _check_names(steps, {*constants, given.name}, result)
    try:
        model = of_steps(
            tuple(steps),
            num_inputs=_width(given),
            constants=constants,
            source=given.name,
            result=result,
            precision=precision,
        )
    except NotRead as error:
        raise Unsupported("onnx-operator", str(error), hint=BATCHED) from None
    except ValueError as error:
        raise InputError("bad-onnx", str(error)) from None
    return Loaded(model, notes=tuple(notes))


def _check_names(steps: list[Operation], known: set[str], result: str) -> None:
    """Raise InputError unless every value is computed once, before it is used, and one is the
    output.
    """
    made: set[str] = set()
    for step in steps:
        for name in step.inputs:
            if name and name not in known and name not in made:
                raise InputError("bad-onnx", f"value {quoted(name)} is used before it is computed")
        if not step.output or step.output in known or step.output in made:
            message = f"value {quoted(step.output)} is defined twice, or has no name"
            raise InputError("bad-onnx", message)
        made.add(step.output)
    if result not in made:
        raise InputError("bad-onnx", "the output is not computed from the input")


def check_is_function(graph: GraphProto) -> None:
    """Raise Unsupported for a network that remembers: nothing is known of a state alone."""
    for number, node in enumerate(graph.node):
        if node.op_type in RECURRENT and node.domain in ("", "ai.onnx"):
            raise Unsupported(
                "policy-recurrent",
                f"{node.op_type} remembers earlier states: the policy is no function of the state",
                place=f"/graph/node/{number}",
                hint=MEMORY,
            )


def _input(graph: GraphProto) -> ValueInfoProto:
    known = {tensor.name for tensor in graph.initializer}
    inputs = [entry for entry in graph.input if entry.name not in known]
    if len(inputs) != 1:
        message = f"the model has {len(inputs):,} inputs; one vector is read"
        raise Unsupported("onnx-inputs", message, hint=BATCHED)
    if inputs[0].type.tensor_type.elem_type not in (FLOAT, DOUBLE):
        message = "the input is not a vector of floats or doubles"
        raise Unsupported("onnx-input-type", message, hint=BATCHED)
    if len(graph.output) != 1:
        message = f"the model has {len(graph.output):,} outputs; one vector of scores is read"
        raise Unsupported("onnx-outputs", message, hint=BATCHED)
    vector: ValueInfoProto = inputs[0]
    return vector


def _width(given: ValueInfoProto) -> int:
    """Return how many numbers there are for a state."""
    sizes = [size.dim_value for size in given.type.tensor_type.shape.dim]
    if len(sizes) != 2 or sizes[1] < 1:
        raise Unsupported(
            "onnx-inputs",
            f"the input has the shape {sizes}, not (states, numbers)",
            hint="export the model with an input of two dimensions",
        )
    return int(sizes[1])


def _array(tensor: TensorProto) -> Value:
    from onnx import numpy_helper

    if tensor.data_type not in (FLOAT, DOUBLE, INT64):
        name = printable(tensor.name) or "a constant"
        raise Unsupported("policy-number-type", f"{name} is not of type float or double")
    try:
        made: Value = numpy_helper.to_array(tensor)
    except (ValueError, TypeError) as error:
        raise InputError("bad-onnx", f"a tensor cannot be read: {printable(str(error))}") from None
    if made.dtype.kind == "f" and not np.isfinite(made).all():
        raise InputError("bad-policy", "a weight is infinite or not a number")
    return made


def _constant(node: NodeProto, place: str) -> Value:
    for entry in node.attribute:
        if entry.name == "value":
            return _array(entry.t)
        if entry.name in ("value_float", "value_floats"):
            return np.array(_value(entry, place), dtype=np.float32)
        if entry.name in ("value_int", "value_ints"):
            return np.array(_value(entry, place), dtype=np.int64)
    raise Unsupported("onnx-operator", "Constant is read with numbers only", place=place)


def _turned(node: NodeProto, constants: dict[str, Value], place: str) -> Value:
    """Return a matrix of weights with rows for columns."""
    matrix = constants.get(node.input[0]) if node.input else None
    if matrix is None or matrix.ndim != 2:
        message = "Transpose is read of matrices of weights only"
        raise Unsupported("onnx-operator", message, place=place, hint=BATCHED)
    return matrix.T if all(list(entry.ints) == [1, 0] for entry in node.attribute) else matrix


def _check_product(step: Operation, constants: dict[str, Value], place: str) -> None:
    """Raise Unsupported for products of two values that depend on the state."""
    if step.operator not in ("MatMul", "Gemm"):
        return
    left, right = step.inputs[:2] if len(step.inputs) > 1 else ("", "")
    if left in constants or right not in constants:
        message = f"{step.operator} is read of a value times weights only: it is no chain of layers"
        raise Unsupported("onnx-operator", message, place=place, hint=BATCHED)


def _without_end(graph: GraphProto) -> tuple[list[tuple[int, NodeProto]], str, list[str]]:
    """Return the nodes, and the output, without what does not change which output is the best."""
    nodes = list(enumerate(graph.node))
    result, notes = graph.output[0].name, []
    while nodes and nodes[-1][1].op_type in AT_END and list(nodes[-1][1].output) == [result]:
        _, last = nodes.pop()
        axis = next((entry.i for entry in last.attribute if entry.name == "axis"), -1)
        is_last = any(e.name == "select_last_index" and e.i for e in last.attribute)
        if axis not in (-1, 1) or is_last:
            raise Unsupported("onnx-operator", f"{last.op_type} along another axis", hint=BATCHED)
        result = last.input[0]
        notes.append(f"{last.op_type} at the end is left out: scores are those before it")
    return nodes, result, notes


def _step(node: NodeProto, place: str) -> Operation:
    name = printable(f"{node.domain}.{node.op_type}".strip("."))
    if node.domain not in ("", "ai.onnx") or node.op_type not in (*OPERATORS, *PASSED_ON):
        message = f"operator {name} is not supported"
        raise Unsupported("onnx-operator", message, place=place, hint=BATCHED)
    if not node.output:
        raise InputError("bad-onnx", f"{name} has no outputs", place=place)
    attributes = {entry.name: _value(entry, place) for entry in node.attribute}
    operator, inputs = node.op_type, tuple(node.input)
    if operator in PASSED_ON:
        if operator == "Cast" and attributes.get("to") not in (FLOAT, DOUBLE):
            raise Unsupported("onnx-operator", "Cast is read to floats only", place=place)
        operator, inputs, attributes = "Identity", inputs[:1], {}
    return Operation(operator, inputs, node.output[0], tuple(attributes.items()))


def _value(entry: AttributeProto, place: str) -> Any:
    kinds = {1: "f", 2: "i", 3: "s", 6: "floats", 7: "ints"}
    if entry.type not in kinds or entry.ref_attr_name:
        message = f"an operator with attribute {printable(entry.name)} is not supported"
        raise Unsupported("onnx-operator", message, place=place, hint=BATCHED)
    value = getattr(entry, kinds[entry.type])
    if entry.type == 3:
        return value.decode("utf-8", "replace")
    return list(value) if kinds[entry.type].endswith("s") else value
