"""JANI files: :func:`load_jani` reads them, :func:`write_jani` writes them.

What a model means is in docs/semantics.md. The modules, in the order in which they do their work:
``declarations`` (constants, variables), ``model`` (elements, scopes) with ``transients``, ``edges``
(of one element), ``product`` (of the system), ``properties``, ``conditions`` and ``infix``
(conditions given as text). ``reading`` and ``expressions`` serve all of them. ``FRONT_END`` is what
the rest of Surefoot knows.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from surefoot.files import read_json
from surefoot.tasks.compiled_task import has_description
from surefoot.tasks.description import Description
from surefoot.tasks.front_end import CheckerOptions, FrontEnd
from surefoot.tasks.jani.infix import expression_of
from surefoot.tasks.jani.model import Model
from surefoot.tasks.jani.options import CONDITIONS, JaniOptions, file_or_expression
from surefoot.tasks.jani.predicates import read_predicates
from surefoot.tasks.jani.product import add_edges
from surefoot.tasks.jani.properties import add_properties
from surefoot.tasks.jani.reading import Place, in_file, json_object
from surefoot.tasks.jani.writer import json_text, to_jani, write_jani
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task

__all__ = ["FRONT_END", "load_jani", "to_jani", "write_jani"]


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
    and ``fail``, expressions or files, replace single parts. ``constants`` gives values to
    constants, also as text. ``int_range`` bounds integer variables without bounds. Raises
    InputError or Unsupported, with file and place.
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


# -- the front end -------------------------------------------------------------------------------


def _load(file: str, options: JaniOptions) -> Description:
    options.check()
    return load_jani(file, **{name: getattr(options, name) for name in options.names()})


def _settled(task: Task, options: JaniOptions) -> JaniOptions:
    """Return the options with constants of the types that the model gives them."""
    assert has_description(task)
    used = {name: task.description.constants[name] for name in options.constants}
    return replace(options, constants=used)


def _text(description: Description) -> Iterable[str]:
    yield from json_text(to_jani(description))
    yield "\n"


def _old_sha256(description: Description) -> str:
    """Return the SHA-256 of the file without what versions before 0.2 did not write."""
    digest = hashlib.sha256()
    for piece in json_text(to_jani(description, with_weights=False)):
        digest.update(piece.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _checker_files(source: Source) -> tuple[Path, CheckerOptions]:
    options = source.options
    assert isinstance(options, JaniOptions)
    given = {name: _condition(source, getattr(options, name)) for name in CONDITIONS}
    files = {name: each for name, each in given.items() if isinstance(each, Path)}
    texts = {name: each for name, each in given.items() if isinstance(each, str)}
    return Path(source.directory, source.rest), CheckerOptions(
        properties=source.path(options.properties),
        property_name=options.property_name,
        start=files.get("start"),
        goal=files.get("goal"),
        fail=files.get("fail"),
        expressions={name: expression_of(text).node for name, text in texts.items()},
        constants=cast("Mapping[str, bool | int | float]", options.constants),
        int_range=options.int_range,
    )


def _condition(source: Source, given: str | Path | None) -> str | Path | None:
    """Return the file or the expression that was given where the source is."""
    if given is None:
        return None
    condition = file_or_expression(given, lambda path: Path(source.directory, path))
    return source.path(condition) if isinstance(condition, Path) else condition


FRONT_END = FrontEnd(
    "jani",
    _load,
    JaniOptions,
    about="JANI files",
    settled=_settled,
    text=_text,
    predicates=read_predicates,
    checker_files=_checker_files,
    old_sha256=_old_sha256,
)
