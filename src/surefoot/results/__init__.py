"""What the stages return: frozen, printable, convertible to plain data."""

from surefoot.results.answers import Answer, DecideResult, Deviations
from surefoot.results.common import VERDICTS, Result, Verdict, counted
from surefoot.results.exploring import ExploreResult
from surefoot.results.faults import Bug, Fault, FaultsResult, Unknown
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
    "RESULTS",
    "RESULT_WORDS",
    "VERDICTS",
    "Answer",
    "Bug",
    "Change",
    "Checkpoint",
    "DecideResult",
    "Deviations",
    "DistillResult",
    "EvaluateResult",
    "ExploreResult",
    "Fault",
    "FaultsResult",
    "FuzzResult",
    "Made",
    "Result",
    "Run",
    "RunResult",
    "SimulateResult",
    "TrainResult",
    "Unknown",
    "Verdict",
    "counted",
]
