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
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, Unsupported, quoted
from surefoot.files import not_written, write_files
from surefoot.policies.format import Format, Writer
from surefoot.policies.formats import FORMATS, with_interface
from surefoot.policies.interface import SUFFIX, Interface, beside, read_interface
from surefoot.policies.loaded import Loaded, interface_content

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.policies.models import ModelKind

_WHAT = {
    "network": "a network is",
    "trees": "trees are",
    "corrected": "a network with trees that correct it is",
}
WRONG_SUFFIX = "wrong-suffix"


@cache
def _writers() -> dict[str, Format]:
    """Return the formats that models are written in, by suffix: those that hold the interface
    themselves come first.
    """
    formats = [form for name in FORMATS.built_in if (form := FORMATS[name]).writer is not None]
    formats.sort(key=lambda form: form.writer is not None and not form.writer.holds_interface)
    return {suffix: form for form in formats for suffix in form.suffixes}


def suffixes_of(kind: ModelKind | None = None) -> tuple[str, ...]:
    """Return the suffixes of files to which a kind of model is written, the usual one first;
    without a kind, those of all kinds.
    """
    kinds = _WHAT if kind is None else (kind,)
    return tuple(
        dict.fromkeys(
            suffix
            for each in kinds
            for suffix, form in _writers().items()
            if form.writer is not None and each in form.writer.kinds
        )
    )


def _writer_of(file: Path) -> Writer | None:
    form = _writers().get(file.suffix.lower())
    return None if form is None else form.writer


def _holds_interface(file: Path) -> bool:
    writer = _writer_of(file)
    return writer is not None and writer.holds_interface


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
    if _holds_interface(file):
        _check_beside(loaded, file)
    else:
        contents |= interface_file(loaded, file)
    read = _writers()[file.suffix.lower()].read
    return write_files(contents, read=read if reads_back else None)


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
    kind = loaded.model.kind
    suffixes = suffixes_of(kind)
    if not suffixes:
        message = f"{kind} are not converted: the file is safe to load as it is"
        raise Unsupported("convert-rules", message)
    writer = _writer_of(file)
    if writer is None or kind not in writer.kinds:
        message = f"{_WHAT[kind]} written to a file {_or(suffixes)}"
        raise InputError(WRONG_SUFFIX, message, file=str(file))
    return writer.to_bytes(loaded)


def interface_file(policy: Policy | Loaded, file: Path) -> dict[Path, bytes]:
    """Return name and content of the interface that stands beside a file, for those who cannot read
    it inside, or where there is none.
    """
    content = json.dumps({"file": file.name, **interface_content(policy)}, indent=1) + "\n"
    return {file.with_name(file.name + SUFFIX): content.encode()}


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


# -- files -------------------------------------------------------------------------------------


def check_writable(path: str | Path, suffixes: Sequence[str] = ()) -> Path:
    """Return the path, if a policy that is still to be made can be written there: to ask before
    long work.

    Raises errors as :func:`check_place` does, and InputError (``interface-beside``) if an interface
    stands beside a file that has its own: nobody could tell whether they will be the same.
    """
    file = check_place(path, suffixes)
    sibling = beside(file)
    if sibling is not None and _holds_interface(file):
        raise _other_interface(sibling, file)
    return file


def check_place(path: str | Path, suffixes: Sequence[str] = ()) -> Path:
    """Return the path, if a file can be written there: with one of the suffixes, or of those of any
    policy.

    Raises InputError: ``unknown-suffix``, or ``file-not-written`` if it is no place for a file.
    Raises Unsupported if a library is missing that the file needs.
    """
    file, suffixes = Path(path), suffixes or suffixes_of()
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
    if (writer := _writer_of(file)) is not None:
        writer.require()
    return file


def _or(suffixes: Sequence[str]) -> str:
    """Return suffixes as an alternative: ``*.safetensors, *.onnx or *.json``."""
    *some, last = [f"*{suffix}" for suffix in suffixes]
    return f"{', '.join(some)} or {last}" if some else last
