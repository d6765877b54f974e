"""Libraries that not everybody has installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from surefoot.errors import Unsupported


def library(name: str, *, extra: str, what: str) -> Any:
    """Return a library, imported now. Raises Unsupported, with the command that installs it, if
    ``what`` somebody wants to do needs one that is not there.
    """
    try:
        return import_module(name)
    except ImportError:
        raise Unsupported(
            "missing-library",
            f"{what} needs {name.partition('.')[0]}",
            hint=f"pip install 'surefoot[{extra}]'",
        ) from None
