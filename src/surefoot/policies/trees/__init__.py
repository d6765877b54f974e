"""Tree ensembles: one reader for each library that writes them, and a format of our own.

Every reader makes a :class:`surefoot.policies.models.Trees`, and the scores of that are those of
the library, bit for bit: the same comparisons in the same precision, the same order of additions.
What cannot be had like that is refused. No library is needed to read a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from surefoot.policies.format import JSON, Format, Writer

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded
    from surefoot.policies.models import Trees


def _read_own(path: str | Path) -> Loaded:
    from surefoot.policies.trees import own

    return own.read(path)


def _to_bytes(loaded: Loaded) -> bytes:
    from surefoot.policies.trees import own

    trees = cast("Trees", loaded.model)
    return own.to_text(trees, loaded.interface, unfiltered=loaded.unfiltered).encode()


FORMAT = Format(
    "trees",
    _read_own,
    (JSON,),
    members=frozenset({"surefoot_trees"}),
    is_whole=True,
    writer=Writer(kinds=("trees",), to_bytes=_to_bytes),
    plural="trees of our own format",
)
