"""What the stages return: frozen, printable, convertible to plain data."""

from typing import TYPE_CHECKING

from surefoot.lazy import getter, module_of

if TYPE_CHECKING:
    from surefoot.records.answers import Answer, DecideResult, Deviations
    from surefoot.records.common import VERDICTS, Result, Verdict
    from surefoot.records.comparing import CompareResult
    from surefoot.records.debugging import OUTCOMES, DebugResult, Iteration
    from surefoot.records.exploring import ExploreResult
    from surefoot.records.faults import Bug, Fault, FaultsResult, Unknown
    from surefoot.records.repairing import (
        DecisionChange,
        EngineReport,
        RepairDiff,
        RepairResult,
        VerifyResult,
    )
    from surefoot.records.runs import (
        NOTHING_FAILS,
        Change,
        EvaluateResult,
        FuzzResult,
        Made,
        Run,
        RunEnd,
        SimulateResult,
        Strategy,
    )
    from surefoot.records.training import Checkpoint, DistillResult, TrainResult

__all__ = [
    "NOTHING_FAILS",
    "OUTCOMES",
    "VERDICTS",
    "Answer",
    "Bug",
    "Change",
    "Checkpoint",
    "CompareResult",
    "DebugResult",
    "DecideResult",
    "DecisionChange",
    "Deviations",
    "DistillResult",
    "EngineReport",
    "EvaluateResult",
    "ExploreResult",
    "Fault",
    "FaultsResult",
    "FuzzResult",
    "Iteration",
    "Made",
    "RepairDiff",
    "RepairResult",
    "Result",
    "Run",
    "RunEnd",
    "SimulateResult",
    "Strategy",
    "TrainResult",
    "Unknown",
    "Verdict",
    "VerifyResult",
]

__getattr__ = getter(
    __name__,
    module_of(
        {
            "answers": (
                "Answer",
                "DecideResult",
                "Deviations",
            ),
            "common": (
                "VERDICTS",
                "Result",
                "Verdict",
            ),
            "comparing": ("CompareResult",),
            "debugging": (
                "OUTCOMES",
                "DebugResult",
                "Iteration",
            ),
            "exploring": ("ExploreResult",),
            "faults": (
                "Bug",
                "Fault",
                "FaultsResult",
                "Unknown",
            ),
            "repairing": (
                "DecisionChange",
                "EngineReport",
                "RepairDiff",
                "RepairResult",
                "VerifyResult",
            ),
            "runs": (
                "NOTHING_FAILS",
                "Change",
                "EvaluateResult",
                "FuzzResult",
                "Made",
                "Run",
                "RunEnd",
                "SimulateResult",
                "Strategy",
            ),
            "training": (
                "Checkpoint",
                "DistillResult",
                "TrainResult",
            ),
        }
    ),
)
