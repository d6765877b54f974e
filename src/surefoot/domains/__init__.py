"""The built-in task families.

``domain("one-way-line", packages=3, locations=4)`` makes a task; on the command line it is
``domain:one-way-line?packages=3&locations=4``, or ``domain:one-way-line?size=15-10`` for a size
with a name. Each family is one file, which is imported when it is asked for; what a file has to
offer is in :mod:`surefoot.domains.family`.
"""

from __future__ import annotations

import functools
from urllib.parse import parse_qsl, urlencode

from surefoot.domains.family import Family
from surefoot.errors import InputError, quoted, shown
from surefoot.registry import Registry, of_class
from surefoot.tasks.compiled_task import CompiledTask
from surefoot.tasks.description import Description
from surefoot.tasks.source import Source

DOMAINS: Registry[Family] = Registry(
    "domain",
    group="surefoot.families",
    component=of_class("family of tasks", Family),
    package=__name__,
    constant="FAMILY",
    made_by="Family",
    separator="-",
    first=(
        *("one-way-line", "two-way-line", "transport", "blocksworld", "n-puzzle", "racetrack"),
        *("beluga", "bouncing-ball", "inverted-pendulum", "follow-car", "cartpole", "flappy-bird"),
        *("layered", "staircase"),
    ),
)
"""families of tasks by name"""
PREFIX = "domain:"


def domain_family(name: str) -> Family:
    """Return the family of that name, or of ``FILE.py:NAME``, which runs that file.

    Raises InputError if there is none.
    """
    return DOMAINS[name]


def domain(name: str, **parameters: object) -> CompiledTask:
    """Return a task of the built-in family ``name``.

    ``size`` is the name of a size, other keywords are parameters of the family and win over it.
    Raises InputError for an unknown name or parameter and for a value of the wrong type or size.
    """
    family = domain_family(name)
    every = family.parameters(parameters)
    description = family.make(**every)
    if not isinstance(description, Description):
        raise InputError(
            "plugin-error",
            f"the domain {quoted(name)} made {shown(description)}",
            hint="it must make a Description",
        )
    task = description.compile()
    query = urlencode(parameters)
    task.source = Source(text=f"{PREFIX}{name}?{query}" if query else f"{PREFIX}{name}")
    task.draw = functools.partial(family.draw, **every)
    return task


def domain_from_text(text: str) -> CompiledTask:
    """Return the task of ``domain:NAME?param=value&...``."""
    name, parameters = parse_domain(text)
    return domain(name, **parameters)


def parse_domain(text: str) -> tuple[str, dict[str, object]]:
    """Return name and parameters of ``domain:NAME?param=value&...``, as ``domain`` takes them."""
    name, _, query = text.removeprefix(PREFIX).partition("?")
    family = domain_family(name)
    parameters: dict[str, object] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        if key in parameters:
            raise InputError("bad-parameter", f"parameter {quoted(key)} is given twice")
        parameters[key] = family.value(key, value)
    return name, parameters
