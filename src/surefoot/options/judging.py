"""Options of stages that decide what is safe: states, decisions, and certificates."""

from dataclasses import dataclass
from typing import Annotated

from surefoot.options.bounds import Least, Most
from surefoot.options.budget import MAX_WORKERS, BudgetOptions, is_infinite


@dataclass(frozen=True, kw_only=True)
class DecideOptions(BudgetOptions):
    """How to decide whether states are safe."""

    oracle: str = "lazy_attractor"
    """which algorithm decides; --compare all shows them side by side"""
    radius: int | None = None
    """how often a run may differ from the policy; if not given, or infinite, any policy will do"""
    order: str = "app"
    """in which order ipi tries actions: app (as in the task), learn (the policy's first) or rand"""
    max_states: int = 100_000_000
    """stop a question when it has stored this many new states"""
    max_seconds: float = 60.0
    """give up a state after this many seconds"""
    seed: int = 0
    """same seed, task, policy and options: same answers"""

    def __post_init__(self) -> None:
        if is_infinite(self.radius):
            object.__setattr__(self, "radius", None)


@dataclass(frozen=True, kw_only=True)
class FaultOptions(BudgetOptions):
    """How to find the guilty decisions on failing runs."""

    oracle: str = "lazy_attractor"
    """which algorithm decides whether states are safe"""
    radius: int | None = None
    """how often a safe run may differ from the policy; if not given, or infinite, any policy will
    do"""
    bugs_only: bool = False
    """only tell which states are bugs: do not look at the outcomes of decisions"""
    deviations: bool = False
    """also tell how few differences from the policy keep the state of each fault safe"""
    state_seconds: float = 10.0
    """give up a question about a state after this many seconds"""
    max_states: int = 100_000_000
    """give up a question about a state when it has stored this many new states"""
    seed: int = 0
    """same seed, task, policy and options: same faults"""

    def __post_init__(self) -> None:
        if is_infinite(self.radius):
            object.__setattr__(self, "radius", None)


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(BudgetOptions):
    """How to prove that no run of a policy fails."""

    method: str = "auto"
    """auto (all of them, the first verdict counts), box, predicates, ic3, or explicit"""
    predicates: str | None = None
    """a file of predicates to begin with, for box and predicates"""
    max_steps: Annotated[int | None, Least(1)] = None
    """look at runs of at most so many steps on real numbers; the verdict is then never safe"""
    starts: Annotated[int, Least(1)] = 10_000
    """how many start states to sample where all of them are too many, or infinitely many"""
    runs: int = 1
    """how many failing runs to look for; more than one may take as long as a proof"""
    max_states: Annotated[int, Least(1)] = 1_000_000_000
    """give up when this many states are stored"""
    workers: Annotated[int | None, Least(1), Most(MAX_WORKERS)] = None
    """how many threads; if not given, one for each processor. The answer is the same"""
    seed: int = 0
    """which start states to sample where not all are looked at"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions(BudgetOptions):
    """How long to check a certificate."""

    memory_mb: int = BudgetOptions.memory_mb
    """stop when more than this many megabytes are needed"""
