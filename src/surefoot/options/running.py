"""Options of stages that run a policy."""

from dataclasses import dataclass
from typing import Annotated

from surefoot.options.bounds import Least, Most, OneOf
from surefoot.options.budget import MAX_INT, MAX_WORKERS, BudgetOptions, is_infinite

PERTURBATIONS = ("none", "values", "actions", "both")
MAX_SIMULATED = 1_000_000  # all runs are kept in memory
MAX_FUZZED = 10_000_000  # here, too
MORE = "use another seed for more"


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(BudgetOptions):
    """How far to explore."""

    max_states: int = 100_000_000
    """stop when this many states are stored"""


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(BudgetOptions):
    """Which runs to simulate."""

    runs: Annotated[int | None, Most(MAX_SIMULATED, hint=MORE)] = None
    """how many runs; if not given, one for each given state, else one"""
    max_steps: int = 100
    """cut a run after this many steps"""
    seed: int = 0
    """same seed, task and policy: same runs, on any machine"""


@dataclass(frozen=True, kw_only=True)
class FuzzOptions(BudgetOptions):
    """How to look for runs of the policy that fail."""

    runs: Annotated[int, Least(1), Most(MAX_FUZZED, hint=MORE)] = 1_000
    """how many runs to try"""
    bias: str = "mixed"
    """how to pick an outcome: uniform, greedy (nearest to fail), weighted (near ones likelier), or
    mixed: each run by one of these, most by those that find something new"""
    lookahead: Annotated[int | None, Least(1)] = None
    """how many steps to look ahead when picking an outcome, or infinitely many; if not given, one
    if uniform, else until 300 states are seen"""
    max_steps: int = 1_000
    """cut a run after this many steps"""
    perturb: Annotated[str, OneOf(*PERTURBATIONS)] = "none"
    """start near runs of the policy, not in start states: none, values, actions or both changed"""
    changes: Annotated[int, Least(1)] = 1
    """how many values or actions to change for each run, with --perturb"""
    workers: Annotated[int | None, Least(1), Most(MAX_WORKERS)] = None
    """how many threads; if not given, one for each processor. The runs are the same"""
    seed: int = 0
    """same seed, task, policy and options: same runs, on any machine, with any number of workers"""

    def __post_init__(self) -> None:
        if is_infinite(self.lookahead):
            object.__setattr__(self, "lookahead", MAX_INT)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(BudgetOptions):
    """How thoroughly to evaluate a policy."""

    starts: Annotated[int, Least(1)] = 10_000
    """how many start states: all of them if there are no more, else this many drawn uniformly"""
    max_states: int = 20_000_000
    """decide start states by enumeration until this many states are stored, the others by runs"""
    sample_runs: int = 100
    """how many runs for each start state that enumeration does not decide"""
    max_steps: Annotated[int, Least(1)] = 1_000
    """cut a run after this many steps"""
    workers: Annotated[int | None, Least(1), Most(MAX_WORKERS)] = None
    """how many threads for runs; if not given, one for each processor. The runs are the same"""
    seed: int = 0
    """same seed, task, policy and options: same start states and runs"""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(BudgetOptions):
    """How thoroughly to compare policies."""

    runs: Annotated[int, Least(1), Most(MAX_FUZZED, hint=MORE)] = 1_000
    """how many runs of each policy to fuzz for faults"""
    bias: str = FuzzOptions.bias
    """how to pick an outcome: as in fuzz"""
    visits: Annotated[int, Least(1)] = 1_000
    """compare decisions in so many states of runs of each policy, and in those of failing runs"""
    starts: Annotated[int, Least(1)] = EvaluateOptions.starts
    """evaluate on so many start states: on all of them if there are no more"""
    max_states: int = EvaluateOptions.max_states
    """decide start states by enumeration until this many states are stored, the others by runs"""
    max_steps: Annotated[int, Least(1)] = 1_000
    """cut a run after this many steps"""
    state_seconds: float = 10.0
    """give up a question about a state after this many seconds"""
    workers: Annotated[int | None, Least(1), Most(MAX_WORKERS)] = None
    """how many threads; if not given, one for each processor. The result is the same"""
    seed: int = 0
    """same seed, task, policies and options: same result, unless seconds run out"""


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(BudgetOptions):
    """How thoroughly to look."""

    samples: int = 2000
    """how many states to look at on random walks from the start"""
    seed: int = 0
    """same seed and task: same walks"""
    max_seconds: float = 20.0
    """stop walking after this many seconds"""
    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: --samples bounds what is kept"""
