"""Names of a package that are imported when they are first asked for.

A package that lists its names here costs nothing until one of them is used, and then only the file
that the name is in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module


def module_of(names_of: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Return the module of each name, of the names of each module."""
    return {name: module for module, names in names_of.items() for name in names}


def getter(package: str, modules: Mapping[str, str]) -> Callable[[str], object]:
    """Return the ``__getattr__`` of a package whose names are in these modules of it."""

    def attribute(name: str) -> object:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
