"""JANI files: :func:`load_jani` reads them, :func:`write_jani` writes them.

What a model means is in docs/semantics.md. The modules, in the order in which they do their work:
``declarations`` (constants, variables), ``model`` (elements, scopes) with ``transients``, ``edges``
(of one element), ``product`` (of the system), ``properties`` and ``conditions``.
``reading`` and ``expressions`` serve all of them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from surefoot.files import read_json
from surefoot.tasks.description import Description
from surefoot.tasks.jani.model import Model
from surefoot.tasks.jani.product import add_edges
from surefoot.tasks.jani.properties import add_properties
from surefoot.tasks.jani.reading import Place, in_file, json_object
from surefoot.tasks.jani.writer import to_jani, write_jani

__all__ = ["load_jani", "to_jani", "write_jani"]


def load_jani(
    path: str | os.PathLike[str],
    *,
    properties: str | Path | None = None,
    start: str | Path | None = None,
    goal: str | Path | None = None,
    fail: str | Path | None = None,
    constants: Mapping[str, object] | None = None,
    int_range: tuple[int, int] | None = None,
    property_name: str | None = None,
) -> Description:
    """Return the description of a JANI model, with start, goal and fail of its property.

    ``properties`` is a file of properties to look at before the model's own; ``start``, ``goal``
    and ``fail`` are files that replace single parts. ``constants`` gives values to constants, also
    as text. ``int_range`` bounds integer variables without bounds. Raises InputError or
    Unsupported, with file and place.
    """
    file = os.fspath(path)
    with in_file(file):
        node = json_object(read_json(file), Place())
        model = Model(node, Description(file=file), int_range)
        model.read(constants or {})
        add_edges(model)
        add_properties(
            model,
            properties=properties,
            property_name=property_name,
            start=start,
            goal=goal,
            fail=fail,
        )
    return model.description
