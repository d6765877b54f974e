"""The independent half: what a model means, in plain Python, read from docs/semantics.md.

Imports nothing else of Surefoot. The core is tested against it, so it prefers being plainly right
to being fast. `load` reads files into a Model; the Model answers questions about single states,
`check_certificate` tells whether evidence for a verdict holds there, and `check_finding` whether a
run fails there, by whose fault; `check_policy_safety` whether no run of a policy does.
"""

from .certificates import OutOfTime, Rejected, check_certificate
from .errors import ModelError, NotSupported, ReadError
from .model import Model, State, Variable
from .policy_safety import check_policy_safety
from .reader import load, load_text
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
