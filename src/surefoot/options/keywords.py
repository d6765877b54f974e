"""The options as typed keywords, which editors complete and type checkers know.

A test holds each of these against the fields of the options that it is named after.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from surefoot.options.changing import RepairOptions
    from surefoot.options.judging import FaultOptions, VerifyOptions
    from surefoot.options.running import EvaluateOptions, FuzzOptions


class TaskChanges(TypedDict, total=False):
    """Keywords of ``load_task``: the options of built-in front ends."""

    properties: str | Path | None
    property_name: str | None
    start: str | Path | None
    goal: str | Path | None
    fail: str | Path | None
    constants: Mapping[str, object]
    int_range: tuple[int, int] | None


class BudgetChanges(TypedDict, total=False):
    """Keywords of BudgetOptions."""

    max_seconds: float
    memory_mb: int


class ExploreChanges(BudgetChanges, total=False):
    """Keywords of ExploreOptions."""

    max_states: int


class SimulateChanges(BudgetChanges, total=False):
    """Keywords of SimulateOptions."""

    runs: int | None
    max_steps: int
    seed: int


class FuzzChanges(BudgetChanges, total=False):
    """Keywords of FuzzOptions."""

    runs: int
    bias: str
    lookahead: int | None
    max_steps: int
    perturb: str
    changes: int
    workers: int | None
    seed: int


class EvaluateChanges(BudgetChanges, total=False):
    """Keywords of EvaluateOptions."""

    starts: int
    max_states: int
    sample_runs: int
    max_steps: int
    workers: int | None
    seed: int


class CompareChanges(BudgetChanges, total=False):
    """Keywords of CompareOptions."""

    runs: int
    bias: str
    visits: int
    starts: int
    max_states: int
    max_steps: int
    state_seconds: float
    workers: int | None
    seed: int


class DoctorChanges(BudgetChanges, total=False):
    """Keywords of DoctorOptions."""

    samples: int
    seed: int


class DecideChanges(BudgetChanges, total=False):
    """Keywords of DecideOptions."""

    oracle: str
    radius: int | None
    order: str
    max_states: int
    seed: int


class FaultChanges(BudgetChanges, total=False):
    """Keywords of FaultOptions."""

    oracle: str
    radius: int | None
    bugs_only: bool
    deviations: bool
    state_seconds: float
    max_states: int
    seed: int


class VerifyChanges(BudgetChanges, total=False):
    """Keywords of VerifyOptions."""

    method: str
    predicates: str | None
    max_steps: int | None
    starts: int
    runs: int
    max_states: int
    workers: int | None
    seed: int


class RepairChanges(BudgetChanges, total=False):
    """Keywords of RepairOptions."""

    method: str
    any_other: bool
    keep: int
    margin: float
    flips: int
    solver: str
    solver_seconds: float
    diff_states: int
    seed: int


class TrainChanges(BudgetChanges, total=False):
    """Keywords of TrainOptions."""

    hidden: str
    steps: int
    environments: int
    max_steps: int
    updates: int
    batch: int
    replay: int
    learning_rate: float
    discount: float
    explore: float
    goal_reward: float
    fail_cost: float
    step_cost: float
    potential: str
    checkpoints: int
    runs: int
    seed: int


class DistillChanges(BudgetChanges, total=False):
    """Keywords of DistillOptions."""

    kind: str
    trees: int
    depth: int
    rate: float
    runs: int
    max_steps: int
    seed: int


class DebugChanges(BudgetChanges, total=False):
    """Keywords of DebugOptions, and its short names for options of stages."""

    starts: int
    iterations: int
    max_steps: int
    precautions: int
    findings: int
    check_seconds: float
    workers: int | None
    seed: int
    fuzz: "FuzzOptions"
    faults: "FaultOptions"
    repair: "RepairOptions"
    verify: "VerifyOptions | str"
    evaluate: "EvaluateOptions"
    bias: str
    lookahead: int | None
    state_seconds: float
    method: str
    any_other: bool
    keep: int
    margin: float
    solver_seconds: float
    evaluate_starts: int
