"""Writing policy files that ``load_policy`` reads again as the very same policy.

The suffix says the format: ``.safetensors`` (networks, also with trees that correct them) and
``.json`` (trees, our own format) hold the interface themselves; ``.onnx`` (networks) has it beside,
in ``NAME.onnx.interface.json``, which is looked at before any other. Files are written under
another name, read by the ordinary readers, and then renamed: there is never half a file, and never
one that cannot be read.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, Unsupported, quoted
from surefoot.files import not_written, write_files
from surefoot.policies.formats import with_interface
from surefoot.policies.interface import KEY, SUFFIX, Interface, beside, read_interface
from surefoot.policies.loaded import Loaded

if TYPE_CHECKING:
    from surefoot.policies import Policy

SUFFIXES_OF = {
    "network": (".safetensors", ".onnx"),
    "trees": (".json",),
    "corrected": (".safetensors",),
}
"""suffixes of the files that each kind of model is written to"""
SUFFIXES = tuple(dict.fromkeys(suffix for some in SUFFIXES_OF.values() for suffix in some))
_WHAT = {
    "network": "a network is",
    "trees": "trees are",
    "corrected": "a network with trees that correct it is",
}
HOLD_INTERFACE = (".safetensors", ".json")
WRONG_SUFFIX = "wrong-suffix"


def write_policy(
    policy: Policy | Loaded, path: str | Path, *, reads_back: bool = True
) -> list[Path]:
    """Write a learned policy to a file, by its suffix; return the files, the policy's own first.

    Raises InputError if there is no model to write, the suffix is not one for it, or the file
    cannot be written. What was there before stays then. Who reads the file at once need not have it
    read back here.
    """
    file = check_place(path)
    loaded = loaded_of(policy)
    contents = {file: _content(loaded, file)}
    if file.suffix.lower() == ".onnx":
        contents |= interface_file(loaded, file)
    else:
        _check_beside(loaded, file)
    return write_files(contents, read=_reader(file) if reads_back else None)


def policy_bytes(policy: Policy | Loaded, suffix: str) -> bytes:
    """Return the bytes of the file that a policy would be written to."""
    return _content(loaded_of(policy), Path(f"policy{suffix}"))


def loaded_of(policy: Policy | Loaded) -> Loaded:
    """Return what there is of a policy to write. Raises InputError (``no-model``) for nothing."""
    if isinstance(policy, Loaded):
        return policy
    if policy.model is None:
        raise InputError(
            "no-model",
            f"policy {quoted(policy.name)} is neither a network nor trees: it is not written",
        )
    return Loaded(policy.model, policy.interface, policy.unfiltered, policy.notes)


def _content(loaded: Loaded, file: Path) -> bytes:
    """Return the bytes of a policy file. Raises InputError if its suffix is not for the model."""
    model: Any = loaded.model
    suffixes = SUFFIXES_OF.get(model.kind)
    if suffixes is None:
        message = f"{model.kind} are not converted: the file is safe to load as it is"
        raise Unsupported("convert-rules", message)
    suffix = file.suffix.lower()
    if suffix not in suffixes:
        message = f"{_WHAT[model.kind]} written to a file {_or(suffixes)}"
        raise InputError(WRONG_SUFFIX, message, file=str(file))
    if suffix == ".onnx":
        from surefoot.policies import onnx_writer

        return onnx_writer.to_bytes(model, _interface_content(loaded))
    if suffix == ".safetensors":
        from surefoot.policies import safetensors

        more: dict[str, Any] = {"unfiltered": loaded.unfiltered, "notes": loaded.notes}
        return safetensors.to_bytes(model, loaded.interface, **more)
    from surefoot.policies.trees import own

    return own.to_text(model, loaded.interface, unfiltered=loaded.unfiltered).encode()


def interface_file(policy: Policy | Loaded, file: Path) -> dict[Path, bytes]:
    """Return name and content of the interface that stands beside a file, for those who cannot read
    it inside, or where there is none.
    """
    content = json.dumps({"file": file.name, **_interface_content(policy)}, indent=1) + "\n"
    return {file.with_name(file.name + SUFFIX): content.encode()}


def _interface_content(policy: Policy | Loaded) -> dict[str, object]:
    content: dict[str, object] = {KEY: 1, **(policy.interface or Interface()).to_dict()}
    if policy.unfiltered is not None:
        content["unfiltered"] = policy.unfiltered
    return content


def _check_beside(loaded: Loaded, file: Path) -> None:
    """Raise InputError if another interface stands beside the file: it would be read instead."""
    sibling = beside(file)
    if sibling is None:
        return
    given = read_interface(sibling)
    read = with_interface(loaded, given)
    is_same = read.interface == (loaded.interface or Interface())
    if not is_same or bool(read.unfiltered) != bool(loaded.unfiltered) or given.activation:
        raise _other_interface(sibling, file)


def _other_interface(sibling: Path, file: Path) -> InputError:
    return InputError(
        "interface-beside",
        f"{quoted(sibling.name)} stands beside the file, and would be read in place of its own "
        "interface",
        file=str(file),
        hint="remove it, or give the file another name",
    )


def _reader(file: Path) -> Callable[[Path], object]:
    from surefoot.policies import onnx, safetensors
    from surefoot.policies.trees import own

    readers = {".onnx": onnx.read, ".safetensors": safetensors.read, ".json": own.read}
    return readers[file.suffix.lower()]


# -- files -------------------------------------------------------------------------------------


def check_writable(path: str | Path, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return the path, if a policy that is still to be made can be written there: to ask before
    long work.

    Raises errors as :func:`check_place` does, and InputError (``interface-beside``) if an interface
    stands beside a file that has its own: nobody could tell whether they will be the same.
    """
    file = check_place(path, suffixes)
    sibling = beside(file)
    if sibling is not None and file.suffix.lower() in HOLD_INTERFACE:
        raise _other_interface(sibling, file)
    return file


def check_place(path: str | Path, suffixes: Sequence[str] = SUFFIXES) -> Path:
    """Return the path, if a file can be written there.

    Raises InputError: ``unknown-suffix``, or ``file-not-written`` if it is no place for a file.
    Raises Unsupported if a library is missing that the file needs.
    """
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        message = f"{quoted(str(file))} is not a file {_or(suffixes)}"
        raise InputError("unknown-suffix", message)
    if "\0" in str(file):
        raise InputError(
            "file-not-written", "a path cannot contain a NUL character", file=str(file)
        )
    try:
        if file.is_dir():
            raise InputError("file-not-written", f"{quoted(str(file))} is a folder")
        if file.exists() and not file.is_file():
            raise InputError("file-not-written", "this is not a regular file", file=str(file))
        with tempfile.TemporaryFile(dir=file.absolute().parent):
            pass
    except OSError as error:
        raise not_written(file, error) from None
    if file.suffix.lower() == ".onnx":
        from surefoot.policies.onnx_writer import onnx_library

        onnx_library()
    return file


def _or(suffixes: Sequence[str]) -> str:
    """Return suffixes as an alternative: ``*.safetensors, *.onnx or *.json``."""
    *some, last = [f"*{suffix}" for suffix in suffixes]
    return f"{', '.join(some)} or {last}" if some else last
