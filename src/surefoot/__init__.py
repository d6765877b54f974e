"""Surefoot tests, debugs, repairs and verifies learned action policies.

The public interface. Everything else may change without notice. Each name is imported when it is
first used: asking for the version loads nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surefoot.certificates import Certificate, read_certificate
    from surefoot.doctor import DoctorReport, examine
    from surefoot.domains import domain
    from surefoot.domains.pictures import Picture
    from surefoot.errors import (
        CertificateRejected,
        InputError,
        OutOfBudget,
        SurefootError,
        Unsupported,
    )
    from surefoot.evaluate import evaluate
    from surefoot.explore import explore
    from surefoot.faults import find_faults
    from surefoot.findings import Finding, finding_of, read_finding
    from surefoot.fuzz import fuzz
    from surefoot.minimise import minimise
    from surefoot.options import (
        DecideOptions,
        DistillOptions,
        DoctorOptions,
        EvaluateOptions,
        ExploreOptions,
        FaultOptions,
        FuzzOptions,
        SimulateOptions,
        TrainOptions,
    )
    from surefoot.oracles import Oracle, decide
    from surefoot.policies import Policy, load_policy
    from surefoot.policies.callables import batched
    from surefoot.policies.convert import convert
    from surefoot.policies.interface import Interface
    from surefoot.policies.models import Network, Rules, Trees
    from surefoot.policies.writing import write_policy
    from surefoot.replay import replay
    from surefoot.results import (
        Answer,
        Bug,
        Checkpoint,
        Deviations,
        DistillResult,
        EvaluateResult,
        ExploreResult,
        Fault,
        FaultsResult,
        FuzzResult,
        Run,
        SimulateResult,
        TrainResult,
    )
    from surefoot.simulate import simulate
    from surefoot.tasks import load_task
    from surefoot.tasks.description import Description
    from surefoot.tasks.expressions import (
        Expr,
        ceil,
        floor,
        implies,
        ite,
        log,
        maximum,
        minimum,
        sign,
        truncate,
    )
    from surefoot.tasks.python_task import Definition, PythonTask
    from surefoot.tasks.state import State
    from surefoot.tasks.task import Task
    from surefoot.train import train
    from surefoot.train.distilling import distill

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Bug",
    "Certificate",
    "CertificateRejected",
    "Checkpoint",
    "DecideOptions",
    "Definition",
    "Description",
    "Deviations",
    "DistillOptions",
    "DistillResult",
    "DoctorOptions",
    "DoctorReport",
    "EvaluateOptions",
    "EvaluateResult",
    "ExploreOptions",
    "ExploreResult",
    "Expr",
    "Fault",
    "FaultOptions",
    "FaultsResult",
    "Finding",
    "FuzzOptions",
    "FuzzResult",
    "InputError",
    "Interface",
    "Network",
    "Oracle",
    "OutOfBudget",
    "Picture",
    "Policy",
    "PythonTask",
    "Rules",
    "Run",
    "SimulateOptions",
    "SimulateResult",
    "State",
    "SurefootError",
    "Task",
    "TrainOptions",
    "TrainResult",
    "Trees",
    "Unsupported",
    "batched",
    "ceil",
    "convert",
    "decide",
    "distill",
    "domain",
    "evaluate",
    "examine",
    "explore",
    "find_faults",
    "finding_of",
    "floor",
    "fuzz",
    "implies",
    "ite",
    "load_policy",
    "load_task",
    "log",
    "maximum",
    "minimise",
    "minimum",
    "read_certificate",
    "read_finding",
    "replay",
    "sign",
    "simulate",
    "train",
    "truncate",
    "write_policy",
]

_NAMES_OF = {
    "certificates": ("Certificate", "read_certificate"),
    "doctor": ("DoctorReport", "examine"),
    "domains": ("domain",),
    "domains.pictures": ("Picture",),
    "errors": (
        *("CertificateRejected", "InputError", "OutOfBudget"),
        *("SurefootError", "Unsupported"),
    ),
    "evaluate": ("evaluate",),
    "explore": ("explore",),
    "faults": ("find_faults",),
    "findings": ("Finding", "finding_of", "read_finding"),
    "fuzz": ("fuzz",),
    "minimise": ("minimise",),
    "options": (
        *("DecideOptions", "DistillOptions", "DoctorOptions"),
        *("EvaluateOptions", "ExploreOptions", "FaultOptions", "FuzzOptions", "SimulateOptions"),
        "TrainOptions",
    ),
    "oracles": ("Oracle", "decide"),
    "policies": ("Policy", "load_policy"),
    "policies.callables": ("batched",),
    "policies.convert": ("convert",),
    "policies.interface": ("Interface",),
    "policies.models": ("Network", "Rules", "Trees"),
    "policies.writing": ("write_policy",),
    "replay": ("replay",),
    "results": (
        *("Answer", "Bug", "Checkpoint", "Deviations", "DistillResult", "EvaluateResult"),
        *("ExploreResult", "Fault", "FaultsResult", "FuzzResult", "Run", "SimulateResult"),
        "TrainResult",
    ),
    "simulate": ("simulate",),
    "tasks": ("load_task",),
    "tasks.description": ("Description",),
    "tasks.expressions": (
        *("Expr", "ceil", "floor", "implies", "ite"),
        *("log", "maximum", "minimum", "sign", "truncate"),
    ),
    "tasks.python_task": ("Definition", "PythonTask"),
    "tasks.state": ("State",),
    "tasks.task": ("Task",),
    "train": ("train",),
    "train.distilling": ("distill",),
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])


class _Package(ModuleType):
    """Keeps ``surefoot.explore`` the function: importing the module would put it in its place."""

    def __setattr__(self, name: str, value: Any) -> None:
        is_hidden = isinstance(value, ModuleType) and name in _MODULE_OF
        super().__setattr__(name, getattr(value, name) if is_hidden else value)


sys.modules[__name__].__class__ = _Package
