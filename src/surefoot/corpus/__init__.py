"""The corpus: findings that are replayed first, as a property-based tester keeps its examples.

It is a folder, ``.surefoot``, the nearest upwards or else in the working directory. Findings are
put there by ``surefoot corpus add`` and ``--save``, and by nothing else. Each is shrunk, and there
once: a fault is the same if task, policy, state and action have the same names and values.

Entries are about a task and a policy by name, and nothing that one names is loaded for a caller who
brings both: :func:`entries` and :func:`replayed`.
"""

from surefoot.corpus.adding import Added, add
from surefoot.corpus.folder import NAME, corpus_folder, entry_of, stored
from surefoot.corpus.pruning import prune
from surefoot.corpus.replaying import ReplayedEntry, entries, replayed

__all__ = [
    "NAME",
    "Added",
    "ReplayedEntry",
    "add",
    "corpus_folder",
    "entries",
    "entry_of",
    "prune",
    "replayed",
    "stored",
]
