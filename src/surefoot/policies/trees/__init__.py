"""Tree ensembles: one reader for each library that writes them, and a format of our own.

Every reader makes a :class:`surefoot.policies.models.Trees`, and the scores of that are those of
the library, bit for bit: the same comparisons in the same precision, the same order of additions.
What cannot be had like that is refused. No library is needed to read a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.policies.format import JSON, Format

if TYPE_CHECKING:
    from surefoot.policies.loaded import Loaded


def _read_own(path: str | Path) -> Loaded:
    from surefoot.policies.trees import own

    return own.read(path)


FORMAT = Format("trees", _read_own, (JSON,), members=frozenset({"surefoot_trees"}), is_whole=True)
