"""What a format of policy files consists of: how its files are told, and what reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Model

JSON = ".json"
ANYTHING = re.compile(b"")
"""how files begin that are not told by their beginning"""


@dataclass(frozen=True, kw_only=True)
class Looks:
    """How files of a format begin (``begins``), in words (``words``), and what they should be
    called (``suffix``) if they are found under another name. Without words nothing is said of them.
    """

    begins: re.Pattern[bytes]
    words: str | None = None
    suffix: str = ""


@dataclass(frozen=True)
class Format:
    """A format of policy files.

    ``read`` returns what is in a file. ``suffixes`` are those of its files; where one is ``.json``,
    ``members`` are what its document has and no other's. ``is_whole`` if a file holds the whole
    model and can be copied as it is. ``takes_activation`` if files leave the activation open:
    ``read`` takes it as a keyword then. ``write_like`` returns the bytes of a file with another
    model, and all else as in the file given; it raises ValueError, with the reason, if a file of
    the format cannot hold the model.
    """

    name: str
    read: Callable[..., Loaded]
    suffixes: tuple[str, ...]
    members: frozenset[str] = frozenset()
    looks: Looks | None = None
    is_whole: bool = False
    takes_activation: bool = False
    write_like: Callable[[Model, Path], bytes] | None = None
