"""The independent half: what a model means, in plain Python, read from docs/semantics.md.

Imports nothing else of Surefoot. The core is tested against it, so it prefers being plainly right
to being fast. `load` reads files into a Model; the Model answers questions about single states,
`check_certificate` tells whether evidence for a verdict holds there, and `check_finding` whether a
run fails there, by whose fault; `check_policy_safety` whether no run of a policy does. What these
last ones need is imported when they are first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .certificates import OutOfTime, Rejected, check_certificate
from .errors import ModelError, NotSupported, ReadError
from .model import Model, State, Variable
from .reader import load, load_text

if TYPE_CHECKING:
    from .policy_safety import check_policy_safety
    from .runs import check_finding, check_run

__all__ = [
    "Model",
    "ModelError",
    "NotSupported",
    "OutOfTime",
    "ReadError",
    "Rejected",
    "State",
    "Variable",
    "check_certificate",
    "check_finding",
    "check_policy_safety",
    "check_run",
    "load",
    "load_text",
]

_LATER = {
    "check_finding": "runs",
    "check_policy_safety": "policy_safety",
    "check_run": "runs",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = value
    return value
