"""Bring a policy file into a format that is safe to load.

Networks become safetensors or ONNX files, tree ensembles JSON files of our own. Pickles (torch
files, Stable-Baselines3 zips, scikit-learn estimators) are opened only if somebody trusts them, by
a child process with limits; what it writes is read again here by the ordinary readers.
"""

from __future__ import annotations

import shlex
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, SurefootError, Unsupported, quoted
from surefoot.files import file_bytes, not_written, sha256_of
from surefoot.policies.foreign import check_not_foreign_file
from surefoot.policies.formats import (
    HEAD_BYTES,
    format_of,
    given_interface,
    is_pickle,
    kind_of,
    pickle_error,
    read_policy,
    with_interface,
)
from surefoot.policies.interface import Interface, InterfaceFile
from surefoot.policies.loaded import Loaded
from surefoot.policies.writing import (
    WRONG_SUFFIX,
    check_place,
    suffixes_of,
    write_policy,
)

if TYPE_CHECKING:
    from surefoot.policies.models import Model

MAX_SECONDS = 300.0
MEMORY_MB = 8192
TREES_HAVE_NONE = "trees have no activation"
_CLOSED = {
    "trees": TREES_HAVE_NONE,
    "rules": "rules have no activation",
    "network": "this file names its activations itself",
}
"""why an activation cannot be given, by the kind of the model"""


@dataclass(frozen=True)
class Converted:
    """What was written: the file, and what is in it as it was read again."""

    source: Path
    file: Path
    sha256: str
    loaded: Loaded

    @property
    def model(self) -> Model:
        """The network or the trees."""
        return self.loaded.model

    def to_dict(self) -> dict[str, object]:
        """Return what was made, as plain data."""
        interface = self.loaded.interface
        content = {} if interface is None else interface.to_dict()
        return {
            "source": str(self.source),
            "file": str(self.file),
            "sha256": self.sha256,
            "kind": self.model.kind,
            "model": str(self.model),
            "num_inputs": self.model.num_inputs,
            "num_outputs": self.model.num_outputs,
            "inputs": content.get("inputs"),
            "outputs": content.get("outputs"),
            "unfiltered": self.loaded.unfiltered,
            "notes": list(self.loaded.notes),
        }

    def __str__(self) -> str:
        interface = self.loaded.interface
        inputs, outputs = self.model.num_inputs, self.model.num_outputs
        lines = [f"{self.file}: {self.model}"]
        inputs_of = () if interface is None else interface.inputs
        fed = list(dict.fromkeys(name for entry in inputs_of for name in entry.variables))
        lines.append(f"  inputs   {inputs:,}: {_listed(fed) or 'by position in the task'}")
        lines.append(f"  outputs  {outputs:,}: {_named(interface)}")
        lines += [f"  note: {note}" for note in self.loaded.notes]
        return "\n".join(lines)


def _named(interface: Interface | None) -> str:
    """Return what the outputs are, in words."""
    if interface is not None and interface.positions:
        return f"actions {_listed(interface.positions)} of the task"
    return _listed(() if interface is None else interface.outputs) or "by position in the task"


def _listed(names: Any) -> str:
    some = [quoted(name) if isinstance(name, str) else str(name) for name in list(names)[:8]]
    return ", ".join(some) + (", ..." if len(names) > 8 else "")


def convert(
    path: str | Path,
    out: str | Path,
    *,
    trust: bool = False,
    activation: str | None = None,
    interface: object = None,
    max_seconds: float = MAX_SECONDS,
    memory_mb: int = MEMORY_MB,
) -> Converted:
    """Write a policy file as a safetensors or ONNX file (networks) or a JSON file of our own
    (trees). The interface of an ONNX file is written beside it, to ``NAME.onnx.interface.json``.

    Pickles need ``trust``: opening one runs the code inside it, in a process of its own that has
    ``max_seconds`` and ``memory_mb``. ``activation`` is that of the hidden layers, where the file
    does not say it. ``interface`` (a file, plain data or an Interface) is written into the file.
    """
    path, out = Path(path), Path(out)
    _check_activation(activation)
    _check_out(path, out)
    given = given_interface(interface)
    limits: dict[str, object] = {"max_seconds": max_seconds, "memory_mb": memory_mb}
    loaded: Loaded | None = None
    try:
        head = file_bytes(path, HEAD_BYTES)
        check_not_foreign_file(path)
        if is_pickle(path, head):
            if not trust:
                raise pickle_error(path, new=out).at(file=str(path))
            loaded = with_interface(_read_pickle(path, out, activation, limits), given)
        else:
            loaded = _read_plain(path, given, activation)
        _write(_with_all_inputs(loaded, path), out, path)
    except InputError as error:
        if error.code == WRONG_SUFFIX:
            given_as = interface if isinstance(interface, str | Path) else None
            options = {"--activation": activation, "--interface": given_as}
            error.code = "bad-option"
            other = _other(out, loaded)
            error.hint = None
            if other != path:
                error.hint = _command(path, other, trust=trust, options=options)
        raise
    again = replace(read_policy(out), notes=loaded.notes)
    return Converted(path, out, sha256_of(out), again)


def _write(loaded: Loaded, out: Path, source: Path) -> None:
    """Write the new file. Errors name it if the system refuses, else the file that was read."""
    try:
        write_policy(loaded, out)
    except SurefootError as error:
        if error.code not in ("file-not-written", "interface-beside"):
            error.file = str(source)
        raise


def _read_pickle(path: Path, out: Path, activation: str | None, limits: dict[str, Any]) -> Loaded:
    """Return what an isolated process finds in a pickle."""
    from surefoot.policies.convert.parent import bytes_from_child

    suffix = ".json" if out.suffix.lower() == ".json" else ".safetensors"
    try:
        content = bytes_from_child(path, suffix, activation, folder=out.parent, **limits)
        with tempfile.TemporaryDirectory(prefix=".surefoot-", dir=out.parent) as scratch:
            made = Path(scratch) / f"policy{suffix}"
            made.write_bytes(content)
            return _read_again(made, path)
    except OSError as error:
        raise not_written(out, error) from None


def _other(out: Path, loaded: Loaded | None) -> Path:
    """Return the name that would be right if that of ``out`` is wrong for what was loaded."""
    if loaded is not None:
        return out.with_suffix(suffixes_of(loaded.model.kind)[0])
    return out.with_suffix(".safetensors" if out.suffix.lower() == ".json" else ".json")


def _command(path: Path, out: Path, *, trust: bool, options: dict[str, Any]) -> str:
    """Return the command line that converts a file."""
    words = ["surefoot", "convert", str(path), "-o", str(out)] + ["--trust"] * trust
    for name, value in options.items():
        words += [] if value is None else [name, str(value)]
    return shlex.join(words)


def _with_all_inputs(loaded: Loaded, path: Path) -> Loaded:
    """Return what was loaded with as many inputs as its interface has, if it leaves that open."""
    if not loaded.at_least:
        return loaded
    from surefoot.policies.binding import with_inputs

    if loaded.interface is None or not loaded.interface.inputs:
        raise InputError(
            "bad-option",
            "the file does not say how many inputs there are",
            file=str(path),
            hint="list them in a file: --interface FILE",
        )
    count = max(len(loaded.interface.inputs), loaded.model.num_inputs)
    return replace(loaded, model=with_inputs(loaded.model, count))


def _check_activation(activation: str | None) -> None:
    if activation is not None:
        from surefoot.policies.safetensors import check_activation

        check_activation(activation)


def _check_out(path: Path, out: Path) -> None:
    check_place(out)
    if out.exists() and path.exists() and out.samefile(path):
        message = f"{quoted(str(out))} is the file that is read: it is not overwritten"
        raise InputError("bad-option", message, hint="give the new file another name")


def _read_plain(path: Path, given: InterfaceFile | None, activation: str | None) -> Loaded:
    if activation is not None:
        _check_open(path)
        given = replace(given or InterfaceFile(Interface()), activation=activation)
    return read_policy(path, interface=given)


def _check_open(path: Path) -> None:
    """Raise InputError if a file does not leave the activation open."""
    kind = kind_of(path)
    if format_of(kind).takes_activation:
        return
    if kind == "interface":
        message = 'an interface says the activation itself: "activation": "tanh"'
    else:
        message = _CLOSED.get(read_policy(path).model.kind, _CLOSED["network"])
    raise InputError("bad-option", message, file=str(path))


def _read_again(made: Path, path: Path) -> Loaded:
    """Return what stands in the new file, by the reader that everybody uses."""
    from surefoot.policies import safetensors
    from surefoot.policies.trees import own

    try:
        return safetensors.read(made) if made.suffix == ".safetensors" else own.read(made)
    except (InputError, Unsupported) as error:
        error.file = str(path)
        raise
