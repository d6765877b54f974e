"""What the stages return: frozen, printable, convertible to plain data."""

from surefoot.results.answers import Answer, DecideResult, Deviations
from surefoot.results.common import VERDICTS, Result, Verdict, counted
from surefoot.results.debugging import OUTCOMES, DebugResult, Iteration
from surefoot.results.exploring import ExploreResult
from surefoot.results.faults import Bug, Fault, FaultsResult, Unknown
from surefoot.results.repairing import (
    DecisionChange,
    EngineReport,
    RepairDiff,
    RepairResult,
    VerifyResult,
)
from surefoot.results.runs import (
    RESULT_WORDS,
    RESULTS,
    Change,
    EvaluateResult,
    FuzzResult,
    Made,
    Run,
    RunResult,
    SimulateResult,
)
from surefoot.results.training import Checkpoint, DistillResult, TrainResult

__all__ = [
    "OUTCOMES",
    "RESULTS",
    "RESULT_WORDS",
    "VERDICTS",
    "Answer",
    "Bug",
    "Change",
    "Checkpoint",
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
    "RunResult",
    "SimulateResult",
    "TrainResult",
    "Unknown",
    "Verdict",
    "VerifyResult",
    "counted",
]
