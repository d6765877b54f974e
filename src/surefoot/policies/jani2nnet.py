"""``.jani2nnet`` files: which variable feeds which input of a ``.nnet``, and what the outputs are.

``filter`` is ignored: published files say false, or nothing, where filtering is meant. A
policy decides among applicable actions unless ``unfiltered`` is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from surefoot.errors import InputError, quoted, shown
from surefoot.files import read_json
from surefoot.policies import nnet
from surefoot.policies.format import ANYTHING, Format, Looks
from surefoot.policies.interface import Input, Interface, InterfaceFile, Origin
from surefoot.policies.loaded import Loaded
from surefoot.policies.models import Network


def read(path: str | Path) -> Loaded:
    """Return the network that a file names, with the interface the file describes."""
    content = read_json(path)
    described = interface_of(content, path)
    try:
        network_file = _network_file(described.file, Path(path))
        loaded = nnet.read(network_file)
        assert isinstance(loaded.model, Network)
        _check_elements(content, loaded.model)
        interface = _scaled(described.interface, loaded)
    except InputError as error:
        error.at(file=str(path))
        raise
    return Loaded(loaded.model, interface, files=(network_file,))


def interface_of(content: object, path: str | Path) -> InterfaceFile:
    """Return the interface in the content of a ``.jani2nnet`` file."""
    try:
        return _interface_of(content, Origin(str(path), "/input", "/output"))
    except InputError as error:
        error.at(file=str(path))
        raise


def _interface_of(content: object, origin: Origin) -> InterfaceFile:
    if not isinstance(content, Mapping):
        _refuse("this is not an interface of a network", "")
    entries, labels = _listed(content, "input"), _listed(content, "output")
    inputs = tuple(_input(entry, f"/input/{i}") for i, entry in enumerate(entries))
    for i, label in enumerate(labels):
        if not isinstance(label, str):
            _refuse(f"{shown(label)} is not a label of an action", f"/output/{i}")
    if not isinstance(content.get("file"), str | None):
        _refuse("the name of a file is text", "/file")
    if not isinstance(content.get("filter", False), bool):
        _refuse("filter is true or false", "/filter")
    return InterfaceFile(Interface(inputs, tuple(labels), origin), content.get("file"))


def _listed(content: Mapping[str, object], key: str) -> list[Any]:
    entries = content.get(key)
    if not isinstance(entries, list) or not entries:
        _refuse(f"there is no list {quoted(key)}", f"/{key}")
    return entries


def _input(entry: object, place: str) -> Input:
    """Return an input by the task's name: ``x``, ``automaton.x``, ``x[3]``, ``automaton.location``.

    An entry without ``automaton`` is a location, and its ``index`` is that of the automaton.
    """
    if not isinstance(entry, Mapping):
        _refuse(f"{shown(entry)} is not an input", place)
    name = entry.get("name")
    if not isinstance(name, str):
        _refuse("the input has no name", f"{place}/name")
    if "automaton" not in entry:
        return Input(f"{name}.location")
    automaton = entry["automaton"]
    if automaton is not None:
        owner = automaton.get("name") if isinstance(automaton, Mapping) else None
        if not isinstance(owner, str):
            _refuse("the automaton has no name", f"{place}/automaton")
        name = f"{owner}.{name}"
    index = entry.get("index")
    if index is None:
        return Input(name)
    if isinstance(index, bool) or not isinstance(index, int) or index < 0:
        _refuse(f"{shown(index)} is not an index of a cell", f"{place}/index")
    return Input(f"{name}[{index}]")


def _network_file(name: str | None, path: Path) -> Path:
    if name is None:
        raise InputError("bad-jani2nnet", "the file names no network", place="/file")
    file = path.parent / name
    if "\0" in name or not os.path.exists(file):
        raise InputError(
            "file-not-found",
            f"the network {quoted(name)} is not there",
            place="/file",
            hint="put it beside this file; interfaces are published without their networks too",
        )
    return file


def _check_elements(content: Mapping[str, object], network: Network) -> None:
    hidden = [layer.weights.shape[0] for layer in network.layers[:-1]]
    if "elements" in content and content["elements"] != hidden:
        _refuse(
            f"the hidden layers of the network are {hidden}, not {shown(content['elements'])}",
            "/elements",
        )


def _scaled(interface: Interface, loaded: Loaded) -> Interface:
    """Return the interface with the scaling that the network file asks for."""
    if loaded.interface is None or len(loaded.interface.inputs) != len(interface.inputs):
        return interface
    inputs = [
        replace(entry, mean=scaling.mean, scale=scaling.scale)
        for entry, scaling in zip(interface.inputs, loaded.interface.inputs, strict=True)
    ]
    return replace(interface, inputs=tuple(inputs))


def _refuse(message: str, place: str) -> NoReturn:
    raise InputError("bad-jani2nnet", message, place=place or None)


FORMAT = Format(
    "jani2nnet",
    read,
    (".jani2nnet",),
    looks=Looks(begins=ANYTHING),
    model_file=lambda path: read(path).files[0],
)
