"""Numbers of ONNX models that stand in a file beside, as torch's exporter writes them.

The file is one beside the model, by its plain name: no folder, no link. What is read of it fits
into it, and all of it together into the limit of a policy file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, printable, quoted
from surefoot.files import MAX_BYTES, file_bytes

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

EXTERNAL = 1
CODE = "policy-external-data"


def with_numbers(model: ModelProto, path: Path) -> list[Path]:
    """Put the numbers of other files into the model; return these files.

    Raises InputError for a file that is not beside the model, or that does not have the numbers.
    """
    read: dict[str, bytes] = {}
    total = 0
    for tensor in _tensors(model):
        if tensor.data_location != EXTERNAL and not tensor.external_data:
            continue
        entries = {entry.key: entry.value for entry in tensor.external_data}
        name = entries.get("location", "")
        if name not in read:
            read[name] = _content(name, path)
        part = _part(tensor, entries, read[name])
        total += len(part)
        if total > MAX_BYTES:
            raise InputError(CODE, f"the numbers have more than {MAX_BYTES // 2**20} MB")
        del tensor.external_data[:]
        tensor.data_location = 0  # type: ignore[assignment]
        tensor.raw_data = part
    return [path.parent / name for name in read]


def _tensors(model: ModelProto) -> Iterator[TensorProto]:
    yield from model.graph.initializer
    for node in model.graph.node:
        yield from (entry.t for entry in node.attribute if entry.HasField("t"))


def _content(name: str, path: Path) -> bytes:
    """Return what is in a file beside the model."""
    is_plain = name not in ("", ".", "..") and not any(sign in name for sign in "/\\:\0")
    if not is_plain:
        raise InputError(
            CODE,
            f"the numbers stand in {quoted(name)}, which is not a file beside the model",
            hint="put both into one folder, or save the model as one file "
            "(torch.onnx.export: external_data=False)",
        )
    file = path.parent / name
    if file.is_symlink() or not file.is_file():
        what = "is a link" if file.is_symlink() else "is not there"
        raise InputError(CODE, f"the file of the numbers, {quoted(name)}, {what}")
    return file_bytes(file)


def _part(tensor: TensorProto, entries: dict[str, str], content: bytes) -> bytes:
    name = printable(tensor.name) or "a constant"
    begin = _whole(entries.get("offset", "0"))
    length = _whole(entries.get("length", str(len(content) - (begin or 0))))
    if begin is None or length is None or begin + length > len(content):
        raise InputError(CODE, f"the file beside does not have the numbers of {name}")
    return content[begin : begin + length]


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None
