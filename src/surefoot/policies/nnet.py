"""Networks in ``.nnet`` files: plain text, hidden layers ReLU, doubles.

The values are fed as they are. Files whose means and ranges are not 0 and 1 have their inputs
scaled with them, but nothing is clipped to the minima and maxima of the file: these are not
reliable in published files. Scaling the outputs would not change which is the best; it is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from surefoot.errors import InputError, quoted
from surefoot.files import file_bytes
from surefoot.policies.format import Format
from surefoot.policies.interface import Input, Interface
from surefoot.policies.loaded import Loaded, checked
from surefoot.policies.models import Layer, Model, Network, Reals

COMMENT = "//"
_Row = tuple[int, list[float]]


def read(path: str | Path) -> Loaded:
    """Return the network of a file. Raises InputError, with the line, if it holds none."""
    try:
        loaded = _loaded(file_bytes(path))
    except InputError as error:
        error.at(file=str(path))
        raise
    return checked(loaded, path)


def _loaded(content: bytes) -> Loaded:
    rows = _rows(_text(content))
    line, head = _next(rows, "layers, inputs, outputs and the widest layer")
    sizes = _sizes(_next(rows, "the sizes of the layers"), head, line)
    _check_size(sizes, len(content), line)
    _next(rows, "a flag")
    _next(rows, "the minima", sizes[0])
    _next(rows, "the maxima", sizes[0])
    means = _next(rows, "the means", sizes[0] + 1)
    ranges = _next(rows, "the ranges", sizes[0] + 1)
    interface = _interface(means, ranges)
    layers = []
    for number, (below, size) in enumerate(pairwise(sizes), start=1):
        weights = _numbers(rows, f"weights of layer {number}", size, below)
        biases = _numbers(rows, f"biases of layer {number}", size, 1)[:, 0]
        activation = "linear" if number == len(sizes) - 1 else "relu"
        layers.append(Layer(weights, biases, activation))
    if (extra := next(rows, None)) is not None:
        raise InputError("bad-nnet", "there are more lines than layers need", place=str(extra[0]))
    return Loaded(Network(tuple(layers), "float64"), interface)


def _text(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("bad-nnet", "the file is not text") from None


def _rows(text: str) -> Iterator[_Row]:
    """Yield the numbers of each line that is not a comment, with the number of the line."""
    is_head, begin, number = True, 0, 0
    while begin < len(text):
        end = text.find("\n", begin)
        end = len(text) if end < 0 else end
        line, begin, number = text[begin:end].strip(), end + 1, number + 1
        if not line or (is_head and line.startswith(COMMENT)):
            continue
        is_head = False
        yield number, [_number(cell, number) for cell in line.removesuffix(",").split(",")]


def _number(cell: str, line: int) -> float:
    try:
        value = float(cell) if "_" not in cell else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        cell = cell.strip()[:40]
        raise InputError("bad-nnet", f"{quoted(cell)} is not a finite number", place=str(line))
    return value


def _next(rows: Iterator[_Row], what: str, count: int | None = None) -> _Row:
    row = next(rows, None)
    if row is None:
        raise InputError("bad-nnet", f"the file ends where {what} should be")
    if count is not None and len(row[1]) != count:
        raise InputError(
            "bad-nnet",
            f"there should be {count:,} numbers, {what}, but there are {len(row[1]):,}",
            place=str(row[0]),
        )
    return row


def _sizes(row: _Row, head: list[float], line: int) -> list[int]:
    """Return the sizes of all layers, the inputs first, which the head must agree with."""
    sizes = [int(size) for size in row[1]]
    if any(
        size != given or not 1 <= size < 2**31 for size, given in zip(sizes, row[1], strict=True)
    ):
        raise InputError("bad-nnet", "sizes of layers are whole and positive", place=str(row[0]))
    if len(head) < 3 or head[:3] != [len(sizes) - 1, sizes[0], sizes[-1]] or len(sizes) < 2:
        raise InputError(
            "bad-nnet",
            "the first line does not agree with the sizes of the layers below it",
            place=str(line),
            hint="it says how many layers (without the inputs), inputs and outputs there are",
        )
    return sizes


def _check_size(sizes: list[int], available: int, line: int) -> None:
    """Raise InputError if a file so short cannot hold layers of these sizes."""
    numbers = sum(below * size + size for below, size in pairwise(sizes))
    if 2 * numbers > available:
        raise InputError(
            "bad-nnet",
            f"layers of these sizes have {numbers:,} numbers, more than the file can hold",
            place=str(line),
        )


def _interface(means: _Row, ranges: _Row) -> Interface | None:
    """Return the scaling of the inputs; None if they are fed as they are."""
    for value in ranges[1]:
        if value <= 0:
            message = f"a range is {value:g}, it must be positive"
            raise InputError("bad-nnet", message, place=str(ranges[0]))
    inputs = [
        Input(mean=mean, scale=scale)
        for mean, scale in zip(means[1][:-1], ranges[1][:-1], strict=True)
    ]
    if all(entry == Input() for entry in inputs):
        return None
    return Interface(tuple(inputs))


def _numbers(rows: Iterator[_Row], what: str, count: int, width: int) -> Reals:
    numbers = np.empty((count, width))
    for i in range(count):
        numbers[i] = _next(rows, what, width)[1]
    return numbers


def _write_like(model: Model, source: Path) -> bytes:
    """Return a ``.nnet`` file with another last layer: its lines come last, biases at the end."""
    from surefoot.policies.like import last_layer

    last = last_layer(model, read(source).model)
    lines = [line for line in file_bytes(source).decode("utf-8-sig").splitlines() if line.strip()]
    rows = [*last.weights.tolist(), *([bias] for bias in last.biases.tolist())]
    lines[-len(rows) :] = [",".join(map(repr, row)) + "," for row in rows]
    return ("\n".join(lines) + "\n").encode()


FORMAT = Format("nnet", read, (".nnet",), interface_suffix=".jani2nnet", write_like=_write_like)
