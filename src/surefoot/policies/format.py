"""What a format of policy files consists of: how its files are told, what reads and writes them,
and which library they come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Model, ModelKind
    from surefoot.policies.original import Original

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


@dataclass(frozen=True, kw_only=True)
class Writer:
    """What writes new files of a format.

    ``kinds`` are those of the models that a file can hold, ``to_bytes`` returns the bytes of a
    file. ``holds_interface`` if they say how the model is fed; else that goes to a file beside.
    ``require`` raises Unsupported if a library is not installed that writing needs.
    """

    kinds: tuple[ModelKind, ...]
    to_bytes: Callable[[Loaded], bytes]
    holds_interface: bool = True
    require: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Format:
    """A format of policy files.

    ``read`` returns what is in a file. ``suffixes`` are those of its files; where one is ``.json``,
    ``members`` are what its document has and no other's. ``is_whole`` if a file holds the whole
    model and can be copied as it is. ``takes_activation`` if files leave the activation open:
    ``read`` takes it as a keyword then. ``model_file`` returns the file that holds the model where
    files of the format only name it. ``interface_suffix`` is that of a file that may stand beside
    one, and says how its model is fed.

    ``writer`` writes new files. ``write_like`` returns the bytes of a file with another model, and
    all else as in the file given; it raises ValueError, with the reason, if a file of the format
    cannot hold the model.

    ``original`` returns the library that files come from, given a file and its number of outputs,
    or why it cannot be asked. ``plural`` is what such files are called.
    """

    name: str
    read: Callable[..., Loaded]
    suffixes: tuple[str, ...]
    members: frozenset[str] = frozenset()
    looks: Looks | None = None
    is_whole: bool = False
    takes_activation: bool = False
    model_file: Callable[[Path], Path] | None = None
    interface_suffix: str | None = None
    writer: Writer | None = None
    write_like: Callable[[Model, Path], bytes] | None = None
    original: Callable[[Path, int], Original | str] | None = None
    plural: str = "such files"
