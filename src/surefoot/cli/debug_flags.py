"""The options of ``surefoot debug``: its own, and those of its stages with their short names."""

import re
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from surefoot.cli.arguments import spelled
from surefoot.cli.decide import Radius
from surefoot.errors import InputError
from surefoot.options import (
    ALIASES,
    DebugOptions,
    EvaluateOptions,
    FaultOptions,
    FuzzOptions,
    RepairOptions,
    VerifyOptions,
)
from surefoot.options.debugging import STAGES

# What debug has itself, or has no use for, is not shown again for each stage.
HiddenInt = Annotated[int, Parameter(show=False)]
HiddenWorkers = Annotated[int | None, Parameter(show=False)]
HiddenSeconds = Annotated[float, Parameter(show=False)]
HiddenFlag = Annotated[bool, Parameter(show=False)]
FUZZ, FAULTS, REPAIR, VERIFY, EVALUATE = (
    Parameter(group=Group.create_ordered(title))
    for title in ("Fuzzing", "Faults", "Repair", "Verification", "Evaluation")
)


_TYPED: ContextVar[frozenset[str]] = ContextVar("typed", default=frozenset())


def with_long_names(tokens: list[str]) -> list[str]:
    """Return the arguments with ``--verify box`` written as ``--verify.method box``: otherwise
    --verify would be all options of that stage at once. Raises InputError if one of the other
    stages is given like that.
    """
    typed = frozenset(token.partition("=")[0] for token in tokens)
    _TYPED.set(typed)
    for stage in STAGES:
        if stage not in ALIASES and f"--{stage}" in typed:
            hint = f"give each with its name, as in --{stage}.max-seconds 60"
            raise InputError("bad-option", f"--{stage} is all options of a stage", hint=hint)
    return [re.sub(r"^--verify(?=$|=)", "--verify.method", token) for token in tokens]


def as_typed(name: str) -> str:
    """Return an option of debug as the user wrote it: by its short or by its long name."""
    long = spelled(ALIASES.get(name, name))
    return long if long in _TYPED.get() else spelled(name)


@dataclass(frozen=True, kw_only=True)
class FuzzFlags(FuzzOptions):
    """How debug fuzzes."""

    max_seconds: HiddenSeconds = FuzzOptions.max_seconds
    memory_mb: HiddenInt = FuzzOptions.memory_mb
    runs: HiddenInt = FuzzOptions.runs
    bias: Annotated[str, Parameter(alias="--bias")] = DebugOptions.fuzz.bias
    """how fuzzing picks an outcome: uniform, greedy, weighted or mixed"""
    lookahead: Annotated[int | None, Parameter(alias="--lookahead")] = FuzzOptions.lookahead
    """steps to look ahead; if not given, 10 on real numbers, else until 3,000 states are seen"""
    max_steps: HiddenInt = FuzzOptions.max_steps
    perturb: str = FuzzOptions.perturb
    """look also at runs that begin near those from start states: values, actions or both changed"""
    changes: int = FuzzOptions.changes
    """how many values or actions to change for each of these"""
    workers: HiddenWorkers = None
    seed: HiddenInt = FuzzOptions.seed


@dataclass(frozen=True, kw_only=True)
class FaultFlags(FaultOptions):
    """How debug finds faults."""

    max_seconds: HiddenSeconds = FaultOptions.max_seconds
    memory_mb: HiddenInt = FaultOptions.memory_mb
    radius: Radius = None  # type: ignore[assignment]  # FaultOptions makes a number of it
    """R or inf: how often a safe run may differ from the policy; inf is for any policy"""
    bugs_only: HiddenFlag = False
    deviations: HiddenFlag = False
    state_seconds: Annotated[float, Parameter(alias="--state-seconds")] = (
        DebugOptions.faults.state_seconds
    )
    """give up a question about the safety of a state after this many seconds"""
    seed: HiddenInt = FaultOptions.seed


@dataclass(frozen=True, kw_only=True)
class RepairFlags(RepairOptions):
    """How debug repairs."""

    max_seconds: HiddenSeconds = RepairOptions.max_seconds
    memory_mb: HiddenInt = RepairOptions.memory_mb
    method: Annotated[str, Parameter(alias="--method")] = RepairOptions.method
    """how to repair: minimal or penalty"""
    any_other: Annotated[bool, Parameter(alias="--any-other", show_default=False)] = False
    """any other action will do in the state of a fault, not only those known to be safe"""
    keep: Annotated[int, Parameter(alias="--keep")] = RepairOptions.keep
    """how many states of runs that reach the goal should keep their decision, where possible"""
    margin: Annotated[float, Parameter(alias="--margin")] = RepairOptions.margin
    """how much better the new action must score"""
    solver_seconds: Annotated[float, Parameter(alias="--solver-seconds")] = (
        RepairOptions.solver_seconds
    )
    """how long each repair may look for a nearer policy by an integer program; 0: not at all"""
    seed: HiddenInt = RepairOptions.seed


@dataclass(frozen=True, kw_only=True)
class VerifyFlags(VerifyOptions):
    """How debug verifies."""

    max_seconds: HiddenSeconds = VerifyOptions.max_seconds
    memory_mb: HiddenInt = VerifyOptions.memory_mb
    method: Annotated[str, Parameter(alias="--verify")] = VerifyOptions.method
    """how to verify the repaired policy: auto, box, predicates, ic3, explicit, or none"""
    starts: HiddenInt = VerifyOptions.starts
    runs: int = DebugOptions.verify.runs
    """how many failing runs to look for"""
    workers: HiddenWorkers = None
    seed: HiddenInt = VerifyOptions.seed


@dataclass(frozen=True, kw_only=True)
class EvaluateFlags(EvaluateOptions):
    """How debug evaluates."""

    memory_mb: HiddenInt = EvaluateOptions.memory_mb
    starts: Annotated[int, Parameter(alias="--evaluate-starts")] = DebugOptions.evaluate.starts
    """how many other start states to evaluate on before and after"""
    max_steps: HiddenInt = EvaluateOptions.max_steps
    workers: HiddenWorkers = None
    seed: HiddenInt = EvaluateOptions.seed


@dataclass(frozen=True, kw_only=True, init=False)
class DebugFlags(DebugOptions):
    """The options as the command line takes them."""

    fuzz: Annotated[FuzzFlags, FUZZ] = FuzzFlags()
    faults: Annotated[FaultFlags, FAULTS] = FaultFlags()
    repair: Annotated[RepairFlags, REPAIR] = RepairFlags()
    verify: Annotated[VerifyFlags, VERIFY] = VerifyFlags()
    evaluate: Annotated[EvaluateFlags, EVALUATE] = EvaluateFlags()
