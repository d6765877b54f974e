"""Surefoot tests, debugs, repairs and verifies learned action policies.

The public interface. Everything else may change without notice. Each name is imported when it is
first used: asking for the version loads nothing.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from surefoot.lazy import getter, module_of

if TYPE_CHECKING:
    from surefoot.campaign import Campaign, debug, read_campaign, resume
    from surefoot.certificates import Certificate, read_certificate
    from surefoot.compare import compare
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
        CompareOptions,
        DebugOptions,
        DecideOptions,
        DistillOptions,
        DoctorOptions,
        EvaluateOptions,
        ExploreOptions,
        FaultOptions,
        FuzzOptions,
        RepairOptions,
        SimulateOptions,
        TrainOptions,
        VerifyOptions,
    )
    from surefoot.oracles import Oracle, decide
    from surefoot.policies import Policy, load_policy
    from surefoot.policies.callables import batched
    from surefoot.policies.convert import convert
    from surefoot.policies.interface import Interface
    from surefoot.policies.like import fitted_like
    from surefoot.policies.models import Corrected, Network, Rules, Trees
    from surefoot.policies.shield import shield
    from surefoot.policies.writing import write_policy
    from surefoot.records import (
        Answer,
        Bug,
        Checkpoint,
        CompareResult,
        DebugResult,
        Deviations,
        DistillResult,
        EvaluateResult,
        ExploreResult,
        Fault,
        FaultsResult,
        FuzzResult,
        RepairResult,
        Run,
        SimulateResult,
        TrainResult,
        VerifyResult,
    )
    from surefoot.repair import repair
    from surefoot.replay import replay
    from surefoot.report import write_report
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
    from surefoot.tasks.gym.task import from_gym
    from surefoot.tasks.python_task import Definition, PythonTask
    from surefoot.tasks.state import State
    from surefoot.train import train
    from surefoot.train.distilling import distill
    from surefoot.verify import verify

__version__ = "0.2.0"

__all__ = [
    "Answer",
    "Bug",
    "Campaign",
    "Certificate",
    "CertificateRejected",
    "Checkpoint",
    "CompareOptions",
    "CompareResult",
    "Corrected",
    "DebugOptions",
    "DebugResult",
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
    "RepairOptions",
    "RepairResult",
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
    "VerifyOptions",
    "VerifyResult",
    "batched",
    "ceil",
    "compare",
    "convert",
    "debug",
    "decide",
    "distill",
    "domain",
    "evaluate",
    "examine",
    "explore",
    "find_faults",
    "finding_of",
    "fitted_like",
    "floor",
    "from_gym",
    "fuzz",
    "implies",
    "ite",
    "load_policy",
    "load_task",
    "log",
    "maximum",
    "minimise",
    "minimum",
    "read_campaign",
    "read_certificate",
    "read_finding",
    "repair",
    "replay",
    "resume",
    "shield",
    "sign",
    "simulate",
    "train",
    "truncate",
    "verify",
    "write_policy",
    "write_report",
]

_NAMES_OF = {
    "campaign": ("Campaign", "debug", "read_campaign", "resume"),
    "certificates": ("Certificate", "read_certificate"),
    "compare": ("compare",),
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
        *("CompareOptions", "DebugOptions", "DecideOptions", "DistillOptions", "DoctorOptions"),
        *("EvaluateOptions", "ExploreOptions", "FaultOptions", "FuzzOptions", "SimulateOptions"),
        *("RepairOptions", "TrainOptions", "VerifyOptions"),
    ),
    "oracles": ("Oracle", "decide"),
    "policies": ("Policy", "load_policy"),
    "policies.callables": ("batched",),
    "policies.convert": ("convert",),
    "policies.interface": ("Interface",),
    "policies.like": ("fitted_like",),
    "policies.models": ("Corrected", "Network", "Rules", "Trees"),
    "policies.shield": ("shield",),
    "policies.writing": ("write_policy",),
    "repair": ("repair",),
    "replay": ("replay",),
    "report": ("write_report",),
    "records": (
        *("Answer", "Bug", "Checkpoint", "DebugResult", "Deviations", "DistillResult"),
        *("CompareResult", "EvaluateResult", "RepairResult", "VerifyResult"),
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
    "tasks.gym.task": ("from_gym",),
    "tasks.python_task": ("Definition", "PythonTask"),
    "tasks.state": ("State",),
    "tasks.task": ("Task",),
    "train": ("train",),
    "train.distilling": ("distill",),
    "verify": ("verify",),
}
_MODULE_OF = module_of(_NAMES_OF)
__getattr__ = getter(__name__, _MODULE_OF)


def __dir__() -> list[str]:
    return sorted(["__version__", *__all__])


class _Package(ModuleType):
    """Keeps ``surefoot.explore`` the function: importing the module would put it in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        is_hidden = isinstance(value, ModuleType) and name in _MODULE_OF
        super().__setattr__(name, getattr(value, name) if is_hidden else value)


sys.modules[__name__].__class__ = _Package
