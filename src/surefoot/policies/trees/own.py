"""Our own format for tree ensembles: JSON with every field of ``Trees`` under its name.

    {"surefoot_trees": 1, "num_inputs": 2, "num_outputs": 2, ..., "roots": [0], ...}

Numbers are written with as many digits as it takes to read the very same number again. The file may
also say what feeds the inputs and which actions the outputs are (``inputs``, ``outputs`` and
``unfiltered``, as in an interface file).
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.files import read_json, write_files
from surefoot.policies.interface import KEY as INTERFACE_KEY
from surefoot.policies.interface import Interface, InterfaceFile, interface_from
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Trees
from surefoot.policies.trees.forest import MAX_LEVELS
from surefoot.policies.trees.reading import (
    MAX_INPUTS,
    MAX_OUTPUTS,
    bad,
    errors_in,
    integers,
    part,
    reals,
    whole,
)

KEY = "surefoot_trees"
VERSION = 1
FIELDS = tuple(field.name for field in fields(Trees))
INTERFACE = ("inputs", "outputs", "unfiltered")
PRECISIONS = ("float32", "float64")
MAX_NUMBER = 2**31 - 1

WHOLE = ("roots", "features", "left", "right")
REAL = ("thresholds", "values", "base")
"""fields that are lists, of whole numbers and of others"""


def read(path: str | Path) -> Loaded:
    """Return the ensemble and the interface in a file of our own."""
    path = Path(path)
    with errors_in(path):
        content = read_json(path)
        trees = trees_of(content)
        stored = _interface_of(content, path)
    interface = stored.interface
    return Loaded(trees, interface if interface != Interface() else None, stored.unfiltered)


def write(
    trees: Trees,
    path: str | Path,
    interface: Interface | None = None,
    *,
    unfiltered: bool | None = None,
) -> None:
    """Write the ensemble, and its interface, to a file that ``read`` reads."""
    text = to_text(trees, interface, unfiltered=unfiltered)
    write_files({Path(path): text.encode()})


def to_text(
    trees: Trees, interface: Interface | None = None, *, unfiltered: bool | None = None
) -> str:
    """Return the text of a file with the ensemble and its interface."""
    members = (interface or Interface()).to_dict()
    members.pop(INTERFACE_KEY)
    if unfiltered is not None:
        members["unfiltered"] = unfiltered
    content = {KEY: VERSION, **members, **{name: _plain(trees, name) for name in FIELDS}}
    lines = [f" {json.dumps(key)}: {_text(value)}" for key, value in content.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _plain(trees: Trees, name: str) -> object:
    value = getattr(trees, name)
    if name == "thresholds":  # those of leaves mean nothing
        value = np.where(trees.features == -1, 0.0, value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def _text(value: object) -> str:
    return json.dumps(value, allow_nan=False)


# -- reading ---------------------------------------------------------------------------------


def trees_of(content: Any) -> Trees:
    """Return the ensemble that a file of our own describes. Raises InputError or ValueError if
    there is something wrong with it. Lists of numbers may be arrays.
    """
    version = part(content, KEY)
    if version is True or version != VERSION:
        raise bad(f"{shown(version)} is not a version of this format that is known", f"/{KEY}")
    for key in content:
        if key not in (KEY, *INTERFACE, *FIELDS):
            raise InputError(
                "bad-trees",
                f"there is no {quoted(key)} in this format",
                place="/",
                hint=nearest_hint(key, FIELDS),
            )
    trees = Trees(
        num_inputs=whole(part(content, "num_inputs"), "/num_inputs", least=1, most=MAX_INPUTS),
        num_outputs=whole(part(content, "num_outputs"), "/num_outputs", least=1, most=MAX_OUTPUTS),
        input_precision=_precision(content, "input_precision"),
        sum_precision=_precision(content, "sum_precision"),
        base_last=_flag(content, "base_last"),
        divide_by=float(reals([content.get("divide_by", 1.0)], "/divide_by")[0]),
        **{name: _int32(content, name) for name in WHOLE},
        **{name: reals(part(content, name), f"/{name}") for name in REAL},  # type: ignore[arg-type]
    )
    _check_levels(trees)
    trees.check()
    return trees


def _int32(content: object, name: str) -> Any:
    numbers = integers(part(content, name), f"/{name}")
    if (abs(numbers) > MAX_NUMBER).any():
        raise bad("a number is too large", f"/{name}")
    return numbers.astype(np.int32)


def _precision(content: object, name: str) -> Any:
    precision = part(content, name)
    if precision not in PRECISIONS:
        raise bad(f"{shown(precision)} is not float32 or float64", f"/{name}")
    return precision


def _flag(content: Any, name: str) -> bool:
    flag = content.get(name, False)
    if not isinstance(flag, bool):
        raise bad(f"{shown(flag)} is not true or false", f"/{name}")
    return flag


def _check_levels(trees: Trees) -> None:
    """Raise ValueError for trees so deep that it would take long to check them."""
    nodes = len(trees.features)
    if not len(trees.left) == len(trees.right) == nodes:
        return  # the check of the trees says so
    leaf = trees.features == -1
    children = np.concatenate([trees.roots, trees.left[~leaf], trees.right[~leaf]])
    if not nodes or children.min() < 0 or children.max() >= nodes:
        return
    if len(np.unique(children)) != len(children):
        return
    layer, levels = trees.roots, 0
    while len(layer):
        levels += 1
        if levels > MAX_LEVELS:
            raise ValueError(f"a tree has more than {MAX_LEVELS:,} levels")
        inner = layer[~leaf[layer]]
        layer = np.concatenate([trees.left[inner], trees.right[inner]])


def _interface_of(content: Any, path: Path) -> InterfaceFile:
    members = {key: content[key] for key in INTERFACE if key in content}
    return interface_from({INTERFACE_KEY: 1, **members}, file=str(path))
