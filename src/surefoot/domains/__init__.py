"""The built-in task families.

``domain("one-way-line", packages=3, locations=4)`` makes a task; on the command line it is
``domain:one-way-line?packages=3&locations=4``. Each family is one function in a file of its own;
its keyword arguments, with types and defaults, are the parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints
from urllib.parse import parse_qsl, urlencode

from surefoot.domains.flappy_bird import flappy_bird
from surefoot.domains.layered import layered
from surefoot.domains.one_way_line import one_way_line
from surefoot.domains.staircase import staircase
from surefoot.domains.two_way_line import two_way_line
from surefoot.errors import InputError, nearest_hint, quoted, shown
from surefoot.tasks.description import Description
from surefoot.tasks.source import Source
from surefoot.tasks.task import Task

DOMAINS: dict[str, Callable[..., Description]] = {
    "one-way-line": one_way_line,
    "two-way-line": two_way_line,
    "flappy-bird": flappy_bird,
    "layered": layered,
    "staircase": staircase,
}
PREFIX = "domain:"
WANTED = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


def domain(name: str, **parameters: Any) -> Task:
    """Return a task of the built-in family ``name``.

    Raises InputError for an unknown name or parameter and for a value of the wrong type or size.
    """
    make = DOMAINS.get(name)
    if make is None:
        raise InputError(
            "unknown-domain",
            f"there is no built-in domain {quoted(name)}",
            hint=nearest_hint(name, DOMAINS) or f"built-in domains are: {', '.join(DOMAINS)}",
        )
    known, hints = inspect.signature(make).parameters, get_type_hints(make)
    for given, value in parameters.items():
        if given not in known:
            raise InputError(
                "unknown-parameter",
                f"domain {quoted(name)} has no parameter {quoted(given)}",
                hint=nearest_hint(given, known) or f"its parameters are: {', '.join(known)}",
            )
        _check_type(given, value, hints[given])
    task = make(**parameters).compile()
    query = urlencode(parameters)
    task.source = Source(text=f"{PREFIX}{name}?{query}" if query else f"{PREFIX}{name}")
    return task


def _check_type(name: str, value: object, kind: type) -> None:
    accepted = (int, float) if kind is float else (kind,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
        text = f"parameter {quoted(name)} needs {WANTED[kind]}, not {shown(value)}"
        raise InputError("bad-parameter", text)


def domain_from_text(text: str) -> Task:
    """Return the task of ``domain:NAME?param=value&...``."""
    name, _, query = text.removeprefix(PREFIX).partition("?")
    if name not in DOMAINS:
        return domain(name)
    hints = get_type_hints(DOMAINS[name])
    parameters: dict[str, Any] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key in parameters:
            raise InputError("bad-parameter", f"parameter {quoted(key)} is given twice")
        parameters[key] = _converted(key, value, hints)
    return domain(name, **parameters)


def _converted(key: str, value: str, hints: dict[str, Any]) -> Any:
    kind = hints.get(key, str)
    if kind not in (int, float):
        return value
    try:
        return kind(value)
    except ValueError:
        raise InputError(
            "bad-parameter", f"parameter {quoted(key)} needs {WANTED[kind]}, not {quoted(value)}"
        ) from None
