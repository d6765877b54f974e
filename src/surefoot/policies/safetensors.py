"""Networks in safetensors files, read and written without a library.

A file of ours says in its metadata, under ``surefoot``, which tensors are the weights and biases of
which layer, with what activation, and what the inputs and outputs are. If trees correct the
network, it describes them under ``trees``, with tensors in the place of lists. Other files will do
if their tensors are ``N.weight`` and ``N.bias`` (a ``torch.nn.Sequential``, maybe with a prefix):
the layers come in the order of the numbers, with ReLU between them unless told otherwise.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from surefoot.errors import InputError, Unsupported, nearest_hint, quoted, shown
from surefoot.files import file_bytes, parse_json
from surefoot.policies.format import Format, Looks, Writer
from surefoot.policies.interface import KEY, Interface, interface_from
from surefoot.policies.loaded import Loaded, checked
from surefoot.policies.models import (
    ACTIVATIONS,
    Corrected,
    Layer,
    Network,
    Numbers,
    Precision,
    Reals,
    Trees,
)

MAX_HEADER = 2**20
MAX_DIMENSIONS = 8
SIZES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2}
_OTHER_SIZES = {"I64": 8, "U64": 8, "I32": 4, "U32": 4, "I16": 2, "U16": 2, "I8": 1, "U8": 1}
_OTHER_SIZES |= {"BOOL": 1}
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I32": "<i4"}
_NUMBERED = re.compile(r"((?:.*\.)?)(0|[1-9][0-9]{0,6})\.(weight|bias)", re.DOTALL)


@dataclass(frozen=True)
class Tensor:
    """Where a tensor stands in the file."""

    type: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Content:
    """The tensors of a file by name, where their bytes begin, and the metadata."""

    data: bytes
    start: int
    tensors: dict[str, Tensor]
    metadata: dict[str, str] = field(default_factory=dict)

    def reals(self, name: str, place: str) -> Reals:
        """Return the numbers of a tensor as doubles."""
        tensor = self._tensor_named(name, place, types=SIZES)
        begin, count = self.start + tensor.begin, math.prod(tensor.shape)
        if tensor.type == "BF16":
            upper = np.frombuffer(self.data, "<u2", count, begin).astype(np.uint32)
            flat = (upper << 16).view(np.float32)
        else:
            flat = np.frombuffer(self.data, _TYPES[tensor.type], count, begin)
        return flat.astype(np.float64).reshape(tensor.shape)

    def whole(self, name: str, place: str) -> Numbers:
        """Return the numbers of a tensor of whole numbers."""
        tensor = self._tensor_named(name, place, types=("I32",))
        begin, count = self.start + tensor.begin, math.prod(tensor.shape)
        numbers = np.frombuffer(self.data, "<i4", count, begin)
        return numbers.astype(np.int32).reshape(tensor.shape)

    def _tensor_named(self, name: str, place: str, *, types: Iterable[str]) -> Tensor:
        tensor = self.tensors.get(name)
        if tensor is None:
            hint = nearest_hint(name, self.tensors)
            raise _bad(f"there is no tensor {quoted(name)}", place, hint=hint)
        if tensor.type not in types:
            raise Unsupported(
                "policy-number-type",
                f"tensor {quoted(name)} has numbers of type {tensor.type}",
                place=place,
                hint=f"types are {', '.join(types)}",
            )
        return tensor


# -- reading ---------------------------------------------------------------------------------


def read(path: str | Path, *, activation: str | None = None) -> Loaded:
    """Return the network of a file. Raises InputError if it holds none.

    ``activation`` is that of the hidden layers, for a file that does not say it.
    """
    try:
        loaded = _loaded(content_of(file_bytes(path)), activation)
    except (InputError, Unsupported) as error:
        error.at(file=str(path))
        raise
    return checked(loaded, path)


def content_of(data: bytes) -> Content:
    """Return the tensors and the metadata of a file's bytes, every length checked."""
    if len(data) < 8:
        raise _bad("the file is too short for a safetensors file")
    (length,) = struct.unpack("<Q", data[:8])
    if length > min(MAX_HEADER, len(data) - 8) and data[8:9] != b"{":
        raise _bad("this is not a safetensors file")
    if length > MAX_HEADER:
        raise _bad(f"the header claims {length:,} bytes, at most {MAX_HEADER:,} are read")
    if length > len(data) - 8:
        raise _bad(f"the header claims {length:,} bytes, the file has {len(data) - 8:,}")
    header = _header(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise _bad("the metadata is not text", "/__metadata__")
    tensors = {name: _tensor(name, entry) for name, entry in header.items()}
    _check_places(tensors, len(data) - 8 - length)
    return Content(data, 8 + length, tensors, metadata)


def _header(text: bytes) -> dict[str, object]:
    try:
        header = parse_json(text.decode("utf-8"))
    except UnicodeDecodeError:
        raise _bad("the header is not UTF-8 text") from None
    except InputError as error:
        raise _bad(f"the header is not JSON: {error.message}") from None
    if not isinstance(header, dict):
        raise _bad("the header is not a JSON object")
    return header


def _tensor(name: str, entry: object) -> Tensor:
    place = f"/{name}"
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise _bad(f"{quoted(name)} is not a tensor", place)
    type, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2:
        raise _bad(f"shape or place of tensor {quoted(name)} are not whole numbers", place)
    if len(shape) > MAX_DIMENSIONS:
        raise _bad(f"tensor {quoted(name)} has {len(shape):,} dimensions", place)
    size = (SIZES | _OTHER_SIZES).get(type) if isinstance(type, str) else None
    if size is None:
        message = f"tensor {quoted(name)} has numbers of type {shown(type)}"
        raise Unsupported("policy-number-type", message, place=place)
    if math.prod(shape) * size != offsets[1] - offsets[0]:
        raise _bad(f"tensor {quoted(name)} is not as large as its shape says", place)
    return Tensor(type, tuple(shape), *offsets)


def _are_counts(given: object) -> bool:
    return isinstance(given, list) and all(
        isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**48 for size in given
    )


def _check_places(tensors: dict[str, Tensor], length: int) -> None:
    """Raise InputError unless the tensors fill the rest of the file, one after the other."""
    at = 0
    for name, tensor in sorted(tensors.items(), key=lambda item: (item[1].begin, item[1].end)):
        if tensor.begin != at:
            raise _bad(f"tensor {quoted(name)} overlaps another, or leaves a gap", f"/{name}")
        at = tensor.end
    if at != length:
        raise _bad(f"the tensors take {at:,} bytes, but the file has {length:,} for them")


def _bad(message: str, place: str | None = None, *, hint: str | None = None) -> InputError:
    return InputError("bad-safetensors", message, place=place, hint=hint)


def _loaded(content: Content, activation: str | None) -> Loaded:
    if activation is not None:
        check_activation(activation)
    text = content.metadata.get("surefoot")
    if text is None:
        return _numbered(content, activation or "relu", is_said=activation is not None)
    try:
        description = parse_json(text)
    except InputError as error:
        raise _bad(f"the description is not JSON: {error.message}", "/__metadata__") from None
    if not isinstance(description, dict) or not isinstance(description.get("layers"), list):
        raise _bad("the description lists no layers", "/__metadata__/surefoot")
    if activation is not None:
        raise InputError("bad-option", "this file names its activations itself")
    return _described(content, description)


def check_activation(name: object, place: str | None = None) -> str:
    """Return the name of an activation. Raises InputError if there is none of that name."""
    if name not in ACTIVATIONS:
        hint = nearest_hint(str(name), ACTIVATIONS) or f"there are {', '.join(ACTIVATIONS)}"
        message = f"there is no activation {shown(name)}"
        raise InputError("unknown-activation", message, place=place, hint=hint)
    return str(name)


# -- files that say what they are ------------------------------------------------------------


def _described(content: Content, description: dict[str, Any]) -> Loaded:
    at = "/__metadata__/surefoot"
    layers = [
        _layer(content, layer, f"{at}/layers/{i}") for i, layer in enumerate(description["layers"])
    ]
    precision = description.get("precision")
    if precision not in ("float32", "float64"):
        raise _bad(f"there is no precision {shown(precision)}", f"{at}/precision")
    not_interface = ("layers", "precision", "trees", "notes")
    rest = {key: description[key] for key in description if key not in not_interface}
    described = interface_from({KEY: 1, **rest})
    interface = described.interface if described.interface != Interface() else None
    notes = tuple(map(str, description.get("notes") or ()))[:20]
    network = Network(tuple(layers), precision)
    if "trees" not in description:
        return Loaded(network, interface, described.unfiltered, notes=notes)
    model = Corrected(network, _trees(content, description["trees"], f"{at}/trees"))
    return Loaded(model, interface, described.unfiltered, notes=notes)


def _trees(content: Content, description: object, place: str) -> Trees:
    """Return the trees that correct a network, checked as those in a file of trees are."""
    from surefoot.policies.trees import own

    if not isinstance(description, dict):
        raise _bad("the trees are not described", place)
    parts = dict(description)
    for name in (*own.WHOLE, *own.REAL):
        tensor = parts.get(name)
        if not isinstance(tensor, str):
            raise _bad(f"no tensor is named for {quoted(name)}", place)
        is_whole = name in own.WHOLE
        parts[name] = (content.whole if is_whole else content.reals)(tensor, f"{place}/{name}")
        if parts[name].ndim != 1:
            raise _bad(f"tensor {quoted(tensor)} is not a list of numbers", f"{place}/{name}")
    try:
        return own.trees_of(parts)
    except InputError as error:
        error.place = f"{place}{error.place or ''}"
        raise
    except ValueError as error:
        raise _bad(str(error), place) from None


def _layer(content: Content, description: object, place: str) -> Layer:
    if not isinstance(description, dict) or not isinstance(description.get("weights"), str):
        raise _bad("the layer names no weights", place)
    weights = content.reals(description["weights"], place)
    biases = description.get("biases")
    if not isinstance(biases, str | None):
        raise _bad("the biases do not name a tensor", place)
    activation = check_activation(description.get("activation"), f"{place}/activation")
    slope = description.get("slope", 0.01)
    if isinstance(slope, bool) or not isinstance(slope, int | float):
        raise _bad(f"the slope is {shown(slope)}", f"{place}/slope")
    numbers = content.reals(biases, place) if biases is not None else _zeros(weights)
    return Layer(weights, numbers, activation, float(slope))


def _zeros(weights: Reals) -> Reals:
    return np.zeros(weights.shape[0] if weights.ndim else 0)


# -- files that do not -----------------------------------------------------------------------


def _numbered(content: Content, activation: str, *, is_said: bool) -> Loaded:
    arrays = {name: content.reals(name, f"/{name}") for name in content.tensors}
    is_double = any(tensor.type == "F64" for tensor in content.tensors.values())
    layers = numbered_layers(arrays, activation)
    notes = []
    if not is_said and len(layers) > 1:
        notes.append(f"the file names no activation: {activation} between layers is assumed")
    if any(tensor.type.endswith("F16") for tensor in content.tensors.values()):
        notes.append("numbers of 16 bits are computed with in float32")
    network = Network(layers, "float64" if is_double else "float32")
    return Loaded(network, notes=tuple(notes))


def numbered_layers(arrays: Mapping[str, Reals], activation: str) -> tuple[Layer, ...]:
    """Return layers of tensors ``PREFIX.N.weight`` and ``PREFIX.N.bias``, in numeric order.

    ``activation`` is that of all but the last. Raises InputError for other tensors.
    """
    layers: dict[int, dict[str, Reals]] = {}
    prefixes = set()
    for name, array in arrays.items():
        match = _NUMBERED.fullmatch(name)
        if match is None:
            raise _bad(
                f"tensor {quoted(name)} is not N.weight or N.bias",
                hint="a file without a description holds the tensors of a torch.nn.Sequential",
            )
        prefixes.add(match[1])
        layers.setdefault(int(match[2]), {})[match[3]] = array
    if len(prefixes) != 1:
        some = ", ".join(quoted(prefix) for prefix in sorted(prefixes)[:3])
        raise _bad(f"the tensors are not of one network: {some}" if some else "it has no tensors")
    return _layers(layers, activation)


def _layers(tensors: dict[int, dict[str, Reals]], activation: str) -> tuple[Layer, ...]:
    last = max(tensors)
    layers = []
    for number, parts in sorted(tensors.items()):
        weights = parts.get("weight")
        if weights is None or weights.ndim != 2:
            raise Unsupported("policy-layer", f"layer {number} is not a linear layer")
        biases = parts.get("bias", np.zeros(weights.shape[0]))
        layers.append(Layer(weights, biases, "linear" if number == last else activation))
    return tuple(layers)


# -- writing ---------------------------------------------------------------------------------


def to_bytes(
    model: Network | Corrected,
    interface: Interface | None = None,
    *,
    unfiltered: bool | None = None,
    notes: Iterable[str] = (),
) -> bytes:
    """Return the safetensors file of a network, maybe with trees, with its description."""
    network = model.network if isinstance(model, Corrected) else model
    tensors = _network_tensors(network)
    description = _description(network, interface, unfiltered, notes)
    if isinstance(model, Corrected):  # doubles come first: all stand at multiples of their size
        more, description["trees"] = _tree_tensors(model.trees)
        tensors = dict(sorted((tensors | more).items(), key=lambda item: item[1][0] != "F64"))
    return _file(tensors, description)


def _file(tensors: Mapping[str, tuple[str, Any]], description: Mapping[str, object]) -> bytes:
    """Return the file of tensors (type and numbers of each) and a description."""
    header: dict[str, object] = {}
    pieces: list[bytes] = []
    end = 0
    for name, (type, array) in tensors.items():
        pieces.append(np.ascontiguousarray(array).astype(_TYPES[type]).tobytes())
        begin, end = end, end + len(pieces[-1])
        offsets = [begin, end]
        header[name] = {"dtype": type, "shape": list(array.shape), "data_offsets": offsets}
    header["__metadata__"] = {"surefoot": json.dumps(description)}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        raise InputError("policy-too-large", "the description of the network is too long")
    return struct.pack("<Q", len(text)) + text + b"".join(pieces)


def _network_tensors(network: Network) -> dict[str, tuple[str, object]]:
    type = _written_type(network)
    return {
        f"{number}.{part}": (type, array)
        for number, layer in enumerate(network.layers)
        for part, array in (("weight", layer.weights), ("bias", layer.biases))
    }


def _tree_tensors(trees: Trees) -> tuple[dict[str, tuple[str, object]], dict[str, object]]:
    """Return the arrays of trees by name, and the description that names them."""
    from surefoot.policies.trees import own

    description: dict[str, object] = {own.KEY: own.VERSION}
    description |= {name: getattr(trees, name) for name in own.FIELDS}
    tensors: dict[str, tuple[str, object]] = {}
    for name in (*own.WHOLE, *own.REAL):
        tensors[f"trees.{name}"] = ("F64" if name in own.REAL else "I32", description[name])
        description[name] = f"trees.{name}"
    return tensors, description


def _written_type(network: Network) -> str:
    """Return the type that holds every number exactly."""
    precision: Precision = network.precision
    arrays = [array for layer in network.layers for array in (layer.weights, layer.biases)]
    fits = all(np.array_equal(array.astype(np.float32), array) for array in arrays)
    return "F32" if precision == "float32" and fits else "F64"


def _description(
    network: Network, interface: Interface | None, unfiltered: bool | None, notes: Iterable[str]
) -> dict[str, object]:
    layers = []
    for number, layer in enumerate(network.layers):
        entry: dict[str, object] = {"weights": f"{number}.weight", "biases": f"{number}.bias"}
        entry["activation"] = layer.activation
        if layer.activation == "leaky_relu":
            entry["slope"] = layer.slope
        layers.append(entry)
    whole = {**(interface or Interface()).to_dict(), "layers": layers}
    whole["precision"] = network.precision
    if unfiltered is not None:
        whole["unfiltered"] = unfiltered
    if listed := list(notes):
        whole["notes"] = listed
    return whole


def _to_bytes(loaded: Loaded) -> bytes:
    model = cast("Network | Corrected", loaded.model)
    return to_bytes(model, loaded.interface, unfiltered=loaded.unfiltered, notes=loaded.notes)


FORMAT = Format(
    "safetensors",
    read,
    (".safetensors",),
    looks=Looks(
        begins=re.compile(rb".{5}\0\0\0\{", re.DOTALL),
        words="a safetensors file",
        suffix=".safetensors",
    ),
    is_whole=True,
    takes_activation=True,
    writer=Writer(kinds=("network", "corrected"), to_bytes=_to_bytes),
)
