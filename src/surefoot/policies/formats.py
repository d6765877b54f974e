"""Policy files: which reader is for which file.

The suffix says what a file is; ``.json`` files are told apart by what is in them. Pickles, and the
zip files that hold them, are never opened: reading one may run any code. They are brought into
another format by ``surefoot convert --trust``, in a process of its own.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.files import file_bytes, read_json
from surefoot.policies.foreign import check_not_foreign_file
from surefoot.policies.format import JSON, Format, Looks
from surefoot.policies.interface import (
    KEY,
    Interface,
    InterfaceFile,
    beside,
    interface_from,
    read_interface,
)
from surefoot.registry import Registry, of_class

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.policies.loaded import Loaded

PICKLES = frozenset({".pt", ".pth", ".pkl", ".pickle", ".joblib", ".zip", ".ckpt"})
"""suffixes of pickles, or of zip files with pickles in them; ``.bin`` may be anything"""

ESTIMATORS = frozenset({".pkl", ".pickle", ".joblib"})
"""those of them that scikit-learn is saved under: mostly trees"""

FORMATS: Registry[Format] = Registry(
    "policy format",
    group="surefoot.formats",
    component=of_class("policy format", Format),
    package="surefoot.policies",
    constant="FORMAT",
    made_by="Format",
    first=("trees", "xgboost", "veritas", "rules"),
)
"""formats by name"""

SHIELD = "shield"
SHIELD_KEY = "surefoot_shield"
"""what a shield is, and the member of its file that says so; ``policies.shield`` reads it"""

KNOWN_FILES = ".jani2nnet, .nnet, .onnx, .safetensors, .ubj, .json, .txt, .jsonl and FILE.py:NAME"
HEAD_BYTES = 256
_FIRST_OPCODE = 0x28  # of pickles; lengths in safetensors files have smaller bytes there
_OLD_PICKLE = re.compile(rb"c[A-Za-z_][\w.]*\n|\([dlcit]|[]})]q\x00|x[\x01\x5e\x9c\xda]")
"""how pickles of protocols 0 and 1, and those that joblib compressed, begin"""

_JSON = Looks(begins=re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*\""), words="JSON", suffix=JSON)

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


def kind_of_file(policy: Policy) -> tuple[str, Path]:
    """Return what the file of a policy's model is, and where it stands; ``none`` without one."""
    path = policy.file
    if path is None or path.suffix.lower() == ".py":
        return "none", Path()
    if policy.format is not None:
        return policy.format, path
    kind = kind_of(path)
    if kind == "interface" and (named := read_interface(path).file) is not None:
        path = path.parent / named
        kind = kind_of(path)
    return kind, path


def _kind_of(path: Path) -> str:
    head = file_bytes(path, HEAD_BYTES)
    check_not_foreign_file(path)
    if is_pickle(path, head):
        raise pickle_error(path)
    suffix = path.suffix.lower()
    names = _names_for(suffix)
    _check_looks(path, names, head)
    if suffix == JSON:
        return _json_kind(path)
    if names:
        return names[0]
    known = dict.fromkeys(each for name in FORMATS for each in FORMATS[name].suffixes)
    hint = nearest_hint(path.suffix, known) if path.suffix else None
    raise InputError(
        "unknown-policy-format",
        f"{quoted(path.name)} is no policy file that is known",
        hint=hint or f"policies come from {KNOWN_FILES}",
    )


def _names_for(suffix: str) -> list[str]:
    """Return the formats whose files have a suffix: those of installed packages only if none that
    is built in has it.
    """
    built_in = [name for name in FORMATS.built_in if suffix in FORMATS[name].suffixes]
    return built_in or [name for name in FORMATS if suffix in FORMATS[name].suffixes]


def format_of(kind: str) -> Format:
    """Return the format of what a file is; one that nothing can be written to if it is none, such
    as an interface.
    """
    is_format = kind not in ("none", "interface", SHIELD)
    return FORMATS[kind] if is_format else Format(kind, read_policy, ())


def _check_looks(path: Path, names: list[str], head: bytes) -> None:
    """Raise InputError if a file begins like one of another format than its suffix says."""
    own = [_JSON] if path.suffix.lower() == JSON else [FORMATS[name].looks for name in names]
    if any(looks is not None and looks.begins.match(head) for looks in own):
        return
    for looks in (_JSON, *(FORMATS[name].looks for name in FORMATS.built_in)):
        if looks is not None and looks.words and looks.begins.match(head):
            raise InputError(
                "unknown-policy-format",
                f"{quoted(path.name)} looks like {looks.words}",
                hint=f"if it is that, rename it to {quoted(path.with_suffix(looks.suffix).name)}",
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


def _one_by_one() -> Iterator[str]:
    """Yield the formats; installed packages are looked at once the built-in ones are through."""
    yield from FORMATS.built_in
    yield from FORMATS.names[len(FORMATS.built_in) :]


def _json_kind(path: Path) -> str:
    content = read_json(path)
    members = set(content) if isinstance(content, dict) else set()
    for kind, member in (("interface", KEY), (SHIELD, SHIELD_KEY)):
        if member in members:
            return kind
    for name in _one_by_one():
        form = FORMATS[name]
        if JSON in form.suffixes and form.members and form.members <= members:
            return name
    raise InputError(
        "unknown-policy-format",
        "this JSON file is no policy that is known",
        hint="known are XGBoost models, Veritas ensembles, rules, our own trees, interfaces and "
        "shields",
    )


# -- reading ---------------------------------------------------------------------------------


def given_interface(given: object) -> InterfaceFile | None:
    """Return an interface given as a file, as plain data or as an Interface."""
    if given is None or isinstance(given, InterfaceFile):
        return given
    if isinstance(given, Interface):
        interface = interface_from(given.to_dict())
        return replace(interface, interface=replace(interface.interface, origin=given.origin))
    if isinstance(given, str | Path):
        return read_interface(given)
    return interface_from(given)


def read_policy(
    path: str | Path, *, interface: InterfaceFile | None = None, form: str | None = None
) -> Loaded:
    """Return what is in a policy file, with its interface.

    The interface is the one given, or the one in the file that stands beside the policy file, or
    what the file itself says. An interface file that names its policy file may be given instead
    of that. ``form`` is the format to read the file with, whatever it is called.
    """
    path = Path(path)
    if form is None:
        kind = kind_of(path)
    else:
        kind = form
        file_bytes(path, HEAD_BYTES)  # the format need not say it well if there is no file
    if kind != "interface":
        interface = interface or _beside(path)
        loaded = _read(kind, path, interface)
        is_open = interface is not None and interface.activation is not None
        is_alone = not is_open and not loaded.files
        return replace(with_interface(loaded, interface), alone=loaded if is_alone else None)
    named = read_interface(path)
    path = _named_file(named, path)
    kind = kind_of(path)
    if kind == "interface":
        raise InputError("bad-interface", "this names another interface", file=str(path))
    loaded = with_interface(_read(kind, path, interface or named), interface or named)
    return replace(loaded, files=(*loaded.files, path))


def _beside(path: Path) -> InterfaceFile | None:
    sibling = beside(path)
    return None if sibling is None else read_interface(sibling)


def _named_file(named: InterfaceFile, path: Path) -> Path:
    if named.file is None:
        raise InputError(
            "bad-interface",
            "this is an interface that names no policy file",
            file=str(path),
            hint='add "file": "NAME", or give the policy and --interface',
        )
    file = path.parent / named.file
    if not os.path.exists(file):
        message = f"there is no file {quoted(named.file)} beside this one"
        raise InputError("file-not-found", message, file=str(path), place="/file")
    return file


def _read(kind: str, path: Path, interface: InterfaceFile | None) -> Loaded:
    if kind == SHIELD:
        raise InputError("policy-is-shield", "a shield is not a model", file=str(path))
    form = FORMATS[kind]
    activation = None if interface is None else interface.activation
    if activation is None:
        return _loaded(form.read(path), kind, path)
    if not form.takes_activation:
        raise InputError(
            "bad-interface",
            "only a safetensors file leaves the activation open",
            file=interface.interface.origin.file if interface else None,
            place="/activation",
        )
    return _loaded(form.read(path, activation=activation), kind, path)


def _loaded(content: object, kind: str, path: Path) -> Loaded:
    """Return what a format has read. Raises InputError (``plugin-error``) if it is none of it."""
    from surefoot.policies.loaded import Loaded

    if isinstance(content, Loaded):
        return content
    raise InputError(
        "plugin-error",
        f"the policy format {quoted(kind)} returned {shown(content)}",
        file=str(path),
        hint="read must return a Loaded",
    )


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
