"""The front end of ``domain:NAME?param=value&...``: tasks of built-in families, and of others."""

from __future__ import annotations

from surefoot.registry import runs_code
from surefoot.tasks.front_end import FrontEnd, FrontEndOptions
from surefoot.tasks.task import Task


def load(address: str, options: FrontEndOptions) -> Task:
    """Return the task of ``NAME?param=value&...``."""
    from surefoot.domains import domain_from_text

    return domain_from_text(address)


def needs_code(address: str) -> bool:
    """Return whether the family is in a file of the user's, or of an installed package."""
    from surefoot.domains import DOMAINS

    name = address.partition("?")[0]
    return runs_code(name) or (name not in DOMAINS.built_in and name in DOMAINS)


FRONT_END = FrontEnd(
    "domain",
    load,
    FrontEndOptions,
    about="families of tasks",
    takes_files=False,
    instead={"constants": "give parameters as in domain:NAME?param=value"},
    runs_code=needs_code,
)
