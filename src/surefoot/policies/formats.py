"""Policy files: which reader is for which file.

The suffix says what a file is; ``.json`` files are told apart by what is in them. Pickles, and the
zip files that hold them, are never opened: reading one may run any code. They are brought into
another format by ``surefoot convert --trust``, in a process of its own.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import InputError, nearest_hint, quoted
from surefoot.files import file_bytes, read_json
from surefoot.policies.interface import (
    KEY,
    Interface,
    InterfaceFile,
    beside,
    interface_from,
    read_interface,
)

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded

PICKLES = frozenset({".pt", ".pth", ".pkl", ".pickle", ".joblib", ".zip", ".ckpt"})
"""suffixes of pickles, or of zip files with pickles in them; ``.bin`` may be anything"""

ESTIMATORS = frozenset({".pkl", ".pickle", ".joblib"})
"""those of them that scikit-learn is saved under: mostly trees"""

SUFFIXES = {
    ".jani2nnet": "jani2nnet",
    ".nnet": "nnet",
    ".onnx": "onnx",
    ".safetensors": "safetensors",
    ".ubj": "xgboost",
    ".txt": "lightgbm",
    ".lgb": "lightgbm",
    ".json": "json",
}

_READERS = {
    "jani2nnet": "jani2nnet",
    "nnet": "nnet",
    "onnx": "onnx",
    "safetensors": "safetensors",
    "xgboost": "trees.xgboost",
    "lightgbm": "trees.lightgbm",
    "veritas": "trees.veritas",
    "trees": "trees.own",
    "rules": "rules",
}
"""what a file is, and the module whose ``read`` reads it"""

SHIELD = "shield"
SHIELD_KEY = "surefoot_shield"
"""what a shield is, and the member of its file that says so; ``policies.shield`` reads it"""

KNOWN_FILES = ".jani2nnet, .nnet, .onnx, .safetensors, .ubj, .json, .txt, .jsonl and FILE.py:NAME"
HEAD_BYTES = 256
_FIRST_OPCODE = 0x28  # of pickles; lengths in safetensors files have smaller bytes there
_OLD_PICKLE = re.compile(rb"c[A-Za-z_][\w.]*\n|\([dlcit]|[]})]q\x00|x[\x01\x5e\x9c\xda]")
"""how pickles of protocols 0 and 1, and those that joblib compressed, begin"""

_LOOKS = {
    "json": ("JSON", ".json", re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*\"")),
    "xgboost": ("UBJSON of XGBoost", ".ubj", re.compile(rb"\{[LilIU#$]")),
    "lightgbm": ("a text file of LightGBM", ".txt", re.compile(rb"tree\r?\n")),
    "safetensors": ("a safetensors file", ".safetensors", re.compile(rb".{5}\0\0\0\{", re.DOTALL)),
}
"""what files look like by their beginning, and what they should be called"""


# -- what a file is --------------------------------------------------------------------------


def kind_of(path: Path) -> str:
    """Return what a policy file is: a key of the readers, or ``interface``.

    Raises InputError if it is a pickle, is not there, or is nothing that is known.
    """
    try:
        return _kind_of(path)
    except InputError as error:
        error.at(file=str(path))
        raise


def _kind_of(path: Path) -> str:
    head = file_bytes(path, HEAD_BYTES)
    if is_pickle(path, head):
        raise pickle_error(path)
    kind = SUFFIXES.get(path.suffix.lower())
    _check_looks(path, kind, head)
    if kind is None:
        hint = nearest_hint(path.suffix, SUFFIXES) if path.suffix else None
        raise InputError(
            "unknown-policy-format",
            f"{quoted(path.name)} is no policy file that is known",
            hint=hint or f"policies come from {KNOWN_FILES}",
        )
    return _json_kind(path) if kind == "json" else kind


def _check_looks(path: Path, kind: str | None, head: bytes) -> None:
    """Raise InputError if a file begins like one of another kind than its suffix says."""
    if kind == "jani2nnet" or (kind in _LOOKS and _LOOKS[kind][2].match(head)):
        return
    for what, suffix, begins in _LOOKS.values():
        if begins.match(head):
            raise InputError(
                "unknown-policy-format",
                f"{quoted(path.name)} looks like {what}",
                hint=f"if it is that, rename it to {quoted(path.with_suffix(suffix).name)}",
            )


def is_pickle(path: Path, head: bytes) -> bool:
    """Return whether a file is a pickle, or a zip that may hold one, by its name or beginning."""
    is_zip = head.startswith((b"PK\x03\x04", b"PK\x05\x06"))
    has_protocol = len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5
    return (
        path.suffix.lower() in PICKLES
        or (path.suffix.lower() == ".bin" and _OLD_PICKLE.match(head) is not None)
        or is_zip
        or (has_protocol and head[2] >= _FIRST_OPCODE)
        or head.startswith(b"\x1f\x8b")  # joblib compresses
    )


def pickle_error(path: Path, *, new: Path | None = None) -> InputError:
    """Return the refusal of a pickle, with the command that converts it."""
    suffix = ".json" if path.suffix.lower() in ESTIMATORS else ".safetensors"
    target = str(new or path.with_suffix(suffix).name)
    return InputError(
        "policy-is-pickle",
        "the file is a pickle, or a zip that holds one: reading it can run any code",
        hint="if you trust who made it: "
        f"surefoot convert {shlex.quote(str(path))} -o {shlex.quote(target)} --trust",
    )


def _json_kind(path: Path) -> str:
    content = read_json(path)
    keys = set(content) if isinstance(content, dict) else set()
    for kind, wanted in _JSON_KEYS.items():
        if wanted <= keys:
            return kind
    raise InputError(
        "unknown-policy-format",
        "this JSON file is no policy that is known",
        hint="known are XGBoost models, Veritas ensembles, rules, our own trees, interfaces and "
        "shields",
    )


_JSON_KEYS = {
    "interface": {KEY},
    SHIELD: {SHIELD_KEY},
    "trees": {"surefoot_trees"},
    "xgboost": {"learner"},
    "veritas": {"trees", "base_scores"},
    "rules": {"atoms", "rules", "linear"},
}


# -- reading ---------------------------------------------------------------------------------


def given_interface(given: Any) -> InterfaceFile | None:
    """Return an interface given as a file, as plain data or as an Interface."""
    if given is None or isinstance(given, InterfaceFile):
        return given
    if isinstance(given, Interface):
        found = interface_from(given.to_dict())
        return replace(found, interface=replace(found.interface, origin=given.origin))
    if isinstance(given, str | Path):
        return read_interface(given)
    return interface_from(given)


def read_policy(path: str | Path, *, interface: InterfaceFile | None = None) -> Loaded:
    """Return what is in a policy file, with its interface.

    The interface is the one given, or the one in the file that stands beside the policy file, or
    what the file itself says. An interface file that names its policy file may be given instead
    of that.
    """
    path = Path(path)
    kind = kind_of(path)
    if kind != "interface":
        interface = interface or _beside(path)
        return with_interface(_read(kind, path, interface), interface)
    named = read_interface(path)
    path = _named_file(named, path)
    kind = kind_of(path)
    if kind == "interface":
        raise InputError("bad-interface", "this names another interface", file=str(path))
    loaded = with_interface(_read(kind, path, interface or named), interface or named)
    return replace(loaded, files=(*loaded.files, path))


def _beside(path: Path) -> InterfaceFile | None:
    found = beside(path)
    return None if found is None else read_interface(found)


def _named_file(named: InterfaceFile, path: Path) -> Path:
    if named.file is None:
        raise InputError(
            "bad-interface",
            "this is an interface that names no policy file",
            file=str(path),
            hint='add "file": "NAME", or give the policy and --interface',
        )
    found = path.parent / named.file
    if not os.path.exists(found):
        message = f"there is no file {quoted(named.file)} beside this one"
        raise InputError("file-not-found", message, file=str(path), place="/file")
    return found


def _read(kind: str, path: Path, interface: InterfaceFile | None) -> Loaded:
    if kind == SHIELD:
        raise InputError("policy-is-shield", "a shield is no model", file=str(path))
    reader: Callable[..., Loaded] = import_module(f"surefoot.policies.{_READERS[kind]}").read
    activation = None if interface is None else interface.activation
    if activation is None:
        return reader(path)
    if kind != "safetensors":
        raise InputError(
            "bad-interface",
            "only a safetensors file leaves the activation open",
            file=interface.interface.origin.file if interface else None,
            place="/activation",
        )
    return reader(path, activation=activation)


def with_interface(loaded: Loaded, given: InterfaceFile | None) -> Loaded:
    """Return what was loaded with an interface put in the place of its own, part by part."""
    if given is None:
        return loaded
    own = loaded.interface or Interface()
    new = given.interface
    merged = replace(new, inputs=new.inputs or own.inputs)
    if not (new.outputs or new.positions):
        merged = replace(merged, outputs=own.outputs, positions=own.positions)
    unfiltered = loaded.unfiltered if given.unfiltered is None else given.unfiltered
    files = loaded.files if new.origin.file is None else (*loaded.files, Path(new.origin.file))
    return replace(loaded, interface=merged, unfiltered=unfiltered, files=files)
