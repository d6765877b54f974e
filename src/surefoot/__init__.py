"""Surefoot tests, debugs, repairs and verifies learned action policies.

The public interface. Everything else may change without notice.
"""

from surefoot.domains import domain
from surefoot.errors import InputError, OutOfBudget, SurefootError, Unsupported
from surefoot.explore import explore
from surefoot.options import ExploreOptions, SimulateOptions
from surefoot.results import ExploreResult, Run, SimulateResult
from surefoot.simulate import simulate
from surefoot.tasks import load_task
from surefoot.tasks.description import Description
from surefoot.tasks.expressions import Expr, ceil, floor, implies, ite, maximum, minimum
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

__version__ = "0.1.0"

__all__ = [
    "Description",
    "ExploreOptions",
    "ExploreResult",
    "Expr",
    "InputError",
    "OutOfBudget",
    "PythonTask",
    "Run",
    "SimulateOptions",
    "SimulateResult",
    "State",
    "SurefootError",
    "Task",
    "Unsupported",
    "ceil",
    "domain",
    "explore",
    "floor",
    "implies",
    "ite",
    "load_task",
    "maximum",
    "minimum",
    "simulate",
]
