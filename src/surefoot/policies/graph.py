"""Networks that are no chain of layers: steps between named values, computed in NumPy.

They are not in the core. Sums are added one after the other, so that the scores of a state do not
depend on which states are asked about with it: a policy is a function. What a step makes is bounded
by ``MAX_NUMBERS`` for each state, whatever a file asks for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from surefoot.policies.models import ModelKind, Precision, Reals

MAX_NUMBERS = 4_000_000
MAX_STEPS = 20_000
CHUNK = 2_000_000  # products that are held at once
PROBES = 3
Value = npt.NDArray[Any]
Attributes = Mapping[str, Any]


class NotRead(ValueError):
    """An operator means something that is right, but is not computed here."""


@dataclass(frozen=True)
class Operation:
    """One operator, by the name that ONNX has for it: from named values to a named value."""

    operator: str
    inputs: tuple[str, ...]
    output: str
    attributes: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Graph:
    """A network of any shape, fed one row of numbers for each state."""

    kind: ClassVar[ModelKind] = "graph"

    num_inputs: int
    num_outputs: int
    steps: tuple[Operation, ...]
    constants: tuple[tuple[str, Value], ...]
    source: str
    result: str
    precision: Precision

    def check(self) -> None:
        """Raise ValueError if it does not compute, or if a state's scores depend on others."""
        if self.num_inputs < 1 or len(self.steps) > MAX_STEPS:
            raise ValueError("the network has no inputs, or too many steps")
        rows = np.linspace(-2.0, 3.0, PROBES * self.num_inputs).reshape(PROBES, -1)
        together = self.scores(rows)
        if together.shape != (PROBES, self.num_outputs):
            raise ValueError(f"the scores have the shape {together.shape}, not a row for a state")
        alone = np.concatenate([self.scores(rows[at : at + 1]) for at in range(PROBES)])
        if not np.allclose(together, alone, rtol=1e-4, atol=1e-6, equal_nan=True):
            raise ValueError("the scores of a state depend on the states beside it")

    def scores(self, rows: Reals) -> Reals:
        """Return a row of scores for each row of inputs. Raises ValueError if it does not compute.

        Scores that are no number may come out: who decides by them says so.
        """
        given = np.ascontiguousarray(rows, dtype=self.precision)
        values: dict[str, Value] = {**dict(self.constants), self.source: given}
        with np.errstate(all="ignore"):
            for step in self.steps:
                inputs = [values[name] if name else None for name in step.inputs]
                values[step.output] = _made(step, inputs, len(rows))
        return np.asarray(values[self.result], dtype=np.float64)

    def scorer(self) -> Graph:
        """Return what scores rows: the graph itself, for the core has no such."""
        return self

    def __str__(self) -> str:
        return (
            f"network of {len(self.steps):,} steps, {self.num_inputs} inputs, "
            f"{self.num_outputs} outputs, {self.precision}; computed in NumPy"
        )


def of_steps(
    steps: tuple[Operation, ...],
    *,
    num_inputs: int,
    constants: Mapping[str, Value],
    source: str,
    result: str,
    precision: Precision,
) -> Graph:
    """Return the graph with as many outputs as it computes. Raises ValueError if it does not."""
    parts = (steps, tuple(constants.items()), source, result, precision)
    made = Graph(num_inputs, 1, *parts).scores(np.zeros((1, num_inputs)))
    if made.ndim != 2:
        raise ValueError(f"the scores have the shape {made.shape}, not a row for a state")
    return Graph(num_inputs, made.shape[1], *parts)


def _made(step: Operation, inputs: list[Any], rows: int) -> Value:
    """Return what a step makes. Raises ValueError if that is too large, or cannot be."""
    try:
        made = OPERATORS[step.operator](dict(step.attributes), *inputs)
    except NotRead as error:
        raise NotRead(f"{step.operator} {error}") from None
    except (ValueError, IndexError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{step.operator} cannot be computed: {error}") from None
    _check_size(made.size, rows)
    return made


def _check_size(size: int, rows: int) -> None:
    if size > MAX_NUMBERS * max(rows, 1):
        raise ValueError(f"a step makes more than {MAX_NUMBERS:,} numbers for a state")


# -- operators -------------------------------------------------------------------------------


def _two(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return an operator of values that are spread to one shape."""

    def operator(_: Attributes, *values: Value) -> Value:
        shape = np.broadcast_shapes(*(value.shape for value in values))
        rows = max(value.shape[0] if value.ndim > 1 else 1 for value in values)
        _check_size(math.prod(shape), rows)
        made = values[0]
        for value in values[1:]:
            made = function(made, value)
        return made

    return operator


def _one(function: Callable[[Value], Value]) -> Callable[..., Value]:
    return lambda _, value: function(value)


def _sums(left: Value, right: Value) -> Value:
    """Return the product of matrices, its sums added one after the other."""
    if right.ndim != 2:
        raise NotRead("by what is no matrix of weights is not supported")
    inner, outputs = right.shape
    flat = left.reshape(-1, left.shape[-1])
    if flat.shape[1] != inner:
        raise ValueError(f"{flat.shape[1]:,} numbers meet {inner:,} weights")
    _check_size(len(flat) * outputs, len(left))
    made = np.empty((len(flat), outputs), dtype=np.result_type(left, right))
    chunk = max(1, CHUNK // max(1, right.size))
    for at in range(0, len(flat), chunk):
        part = flat[at : at + chunk, :, None] * right
        made[at : at + chunk] = np.add.reduce(part, axis=1)
    return made.reshape(*left.shape[:-1], outputs)


def _matmul(_: Attributes, left: Value, right: Value) -> Value:
    return _sums(left, right)


def _gemm(attributes: Attributes, left: Value, right: Value, added: Value | None = None) -> Value:
    if attributes.get("transA", 0):
        raise NotRead("with transA is not supported")
    made = _sums(left, right.T if attributes.get("transB", 0) else right)
    kind = made.dtype.type
    made *= kind(attributes.get("alpha", 1.0))
    if added is not None:
        made += added * kind(attributes.get("beta", 1.0))
    return made


def _erf(value: Value) -> Value:
    errors = [math.erf(each) for each in value.ravel().tolist()]
    return np.array(errors, dtype=value.dtype).reshape(value.shape)


def _gelu(attributes: Attributes, value: Value) -> Value:
    kind = value.dtype.type
    if attributes.get("approximate", "none") == "tanh":
        inner = kind(math.sqrt(2 / math.pi)) * (value + kind(0.044715) * value**3)
        factor: Value = kind(1) + np.tanh(inner)
    else:
        factor = kind(1) + _erf(value / kind(math.sqrt(2)))
    made: Value = kind(0.5) * value * factor
    return made


def _layer_norm(
    attributes: Attributes, value: Value, scale: Value, bias: Value | None = None
) -> Value:
    if attributes.get("axis", -1) not in (-1, value.ndim - 1):
        raise NotRead("along another axis than the last is not supported")
    mean = value.mean(axis=-1, keepdims=True)
    centred = value - mean
    spread = (centred * centred).mean(axis=-1, keepdims=True)
    kind = value.dtype.type
    made: Value = centred / np.sqrt(spread + kind(attributes.get("epsilon", 1e-5))) * scale
    return made if bias is None else made + bias


def _batch_norm(
    attributes: Attributes, value: Value, scale: Value, bias: Value, mean: Value, spread: Value
) -> Value:
    if value.ndim != 2 or attributes.get("training_mode", 0):
        raise NotRead("of other than vectors in evaluation is not supported")
    kind = value.dtype.type
    deviation = np.sqrt(spread + kind(attributes.get("epsilon", 1e-5)))
    made: Value = (value - mean) / deviation * scale + bias
    return made


def _softmax(attributes: Attributes, value: Value) -> Value:
    if attributes.get("axis", -1) not in (-1, value.ndim - 1):
        raise NotRead("along another axis than the last is not supported")
    powers = np.exp(value - value.max(axis=-1, keepdims=True))
    made: Value = powers / powers.sum(axis=-1, keepdims=True)
    return made


def _reduced(function: Callable[..., Value]) -> Callable[..., Value]:
    def operator(attributes: Attributes, value: Value, axes: Value | None = None) -> Value:
        given = attributes.get("axes") if axes is None else axes.tolist()
        if not given or any(axis % value.ndim == 0 for axis in given):
            raise NotRead("over the states is not supported")
        keep = bool(attributes.get("keepdims", 1))
        return function(np.ascontiguousarray(value), axis=tuple(given), keepdims=keep)

    return operator


def _reshape(_: Attributes, value: Value, shape: Value) -> Value:
    sizes = [value.shape[at] if size == 0 else int(size) for at, size in enumerate(shape.tolist())]
    if not sizes or (-1 in sizes[1:] and sizes[0] == -1):
        raise NotRead("that does not keep the states apart is not supported")
    return value.reshape(len(value), *sizes[1:])


def _flatten(attributes: Attributes, value: Value) -> Value:
    if attributes.get("axis", 1) != 1:
        raise NotRead("with another axis than 1 is not supported")
    return value.reshape(len(value), -1)


def _concat(attributes: Attributes, *values: Value) -> Value:
    axis = attributes["axis"]
    if axis % values[0].ndim == 0:
        raise NotRead("over the states is not supported")
    _check_size(sum(value.size for value in values), len(values[0]))
    return np.concatenate(values, axis=axis)


def _clip(
    _: Attributes, value: Value, low: Value | None = None, high: Value | None = None
) -> Value:
    made = value if low is None else np.maximum(value, low)
    return made if high is None else np.minimum(made, high)


def _leaky(attributes: Attributes, value: Value) -> Value:
    slope = value.dtype.type(attributes.get("alpha", 0.01))
    return np.where(value < 0, slope * value, value)


def _elu(attributes: Attributes, value: Value) -> Value:
    alpha = value.dtype.type(attributes.get("alpha", 1.0))
    return np.where(value < 0, alpha * np.expm1(np.minimum(value, 0)), value)


def _selu(attributes: Attributes, value: Value) -> Value:
    alpha = attributes.get("alpha", 1.6732631921768188)
    kind = value.dtype.type
    gamma = kind(attributes.get("gamma", 1.0507010221481323))
    made: Value = gamma * _elu({"alpha": alpha}, value)
    return made


def _hard_sigmoid(attributes: Attributes, value: Value) -> Value:
    kind = value.dtype.type
    alpha, beta = kind(attributes.get("alpha", 0.2)), kind(attributes.get("beta", 0.5))
    made: Value = np.clip(alpha * value + beta, kind(0), kind(1))
    return made


def _hard_swish(_: Attributes, value: Value) -> Value:
    return value * _hard_sigmoid({"alpha": 1 / 6, "beta": 0.5}, value)


def _sigmoid(value: Value) -> Value:
    kind = value.dtype.type
    made: Value = kind(1) / (kind(1) + np.exp(-value))
    return made


def _softplus(value: Value) -> Value:
    made: Value = np.logaddexp(value.dtype.type(0), value)
    return made


OPERATORS: dict[str, Callable[..., Value]] = {
    "Add": _two(np.add),
    "Sub": _two(np.subtract),
    "Mul": _two(np.multiply),
    "Div": _two(np.divide),
    "Pow": _two(np.power),
    "Max": _two(np.maximum),
    "Min": _two(np.minimum),
    "Sum": _two(np.add),
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Neg": _one(np.negative),
    "Abs": _one(np.abs),
    "Sqrt": _one(np.sqrt),
    "Exp": _one(np.exp),
    "Log": _one(np.log),
    "Reciprocal": _one(np.reciprocal),
    "Erf": _one(_erf),
    "Relu": _one(lambda value: np.maximum(value, 0)),
    "Tanh": _one(np.tanh),
    "Sigmoid": _one(_sigmoid),
    "Softplus": _one(_softplus),
    "Softsign": _one(lambda value: value / (1 + np.abs(value))),
    "Mish": _one(lambda value: value * np.tanh(_softplus(value))),
    "LeakyRelu": _leaky,
    "Elu": _elu,
    "Selu": _selu,
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _hard_swish,
    "Gelu": _gelu,
    "Clip": _clip,
    "LayerNormalization": _layer_norm,
    "BatchNormalization": _batch_norm,
    "Softmax": _softmax,
    "LogSoftmax": lambda attributes, value: np.log(_softmax(attributes, value)),
    "ReduceMean": _reduced(np.mean),
    "ReduceSum": _reduced(np.sum),
    "ReduceMax": _reduced(np.max),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Concat": _concat,
    "Identity": _one(lambda value: value),
}
