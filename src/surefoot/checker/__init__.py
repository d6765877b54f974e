"""The independent half: what a model means, in plain Python, read from docs/semantics.md.

Imports nothing else of Surefoot. The core is tested against it, so it prefers being plainly right
to being fast. `load` reads files into a Model; the Model answers questions about single states.
"""

from .errors import ModelError, NotSupported, ReadError
from .model import Model, State, Variable
from .reader import load

__all__ = ["Model", "ModelError", "NotSupported", "ReadError", "State", "Variable", "load"]
