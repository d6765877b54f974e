"""Options of stages that make or change a policy."""

from dataclasses import dataclass
from typing import Annotated

from surefoot.options.bounds import Above, Between, Least, Most, OneOf
from surefoot.options.budget import BudgetOptions

MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class RepairOptions(BudgetOptions):
    """How to change a policy so that faults are gone."""

    method: Annotated[str, OneOf("minimal", "penalty")] = "minimal"
    """minimal (change existing parameters as little as possible) or penalty (a tree per fault)"""
    any_other: bool = False
    """any other action will do in the state of a fault, not only those known to be safe"""
    keep: int = 5_000
    """how many states of runs that reach the goal should keep their decision, where possible"""
    margin: Annotated[float, Between(1e-9, 1e6)] = 0.001
    """how much better the new action must score; grows where rounding eats it up"""
    flips: int = 100
    """how often to try another new action for a fault to come nearer to the policy as it was"""
    solver: Annotated[str, OneOf("highs", "gurobi")] = "highs"
    """who solves the programs: highs, or gurobi if it is installed"""
    solver_seconds: float = 0.0
    """how long to look for a policy still nearer by an integer program; 0: not at all"""
    diff_states: int = 10_000
    """on how many visited states to compare the decisions before and after"""
    seed: int = 0
    """same seed, task, policy, faults and options: same repaired policy, if no time runs out"""


@dataclass(frozen=True, kw_only=True)
class TrainOptions(BudgetOptions):
    """How to learn a policy."""

    hidden: str = "64,64"
    """how many neurons each hidden layer has"""
    steps: Annotated[int, Least(1)] = 200_000
    """how many steps to take in the task, in all runs together"""
    environments: Annotated[int, Least(1), Most(MILLION)] = 64
    """how many runs to step at once"""
    max_steps: Annotated[int, Least(1)] = 200
    """cut a run after this many steps"""
    updates: Annotated[int, Least(1), Most(MILLION)] = 8
    """how many updates of the network for each step of all runs"""
    batch: Annotated[int, Least(1), Most(MILLION)] = 128
    """how many steps an update learns from"""
    replay: Annotated[int, Least(1), Most(1_000 * MILLION)] = 200_000
    """how many steps to remember"""
    learning_rate: Annotated[float, Above(0), Most(1_000)] = 0.0005
    """how far an update goes; falls to a tenth of it towards the end"""
    discount: Annotated[float, Between(0, 1)] = 0.99
    """what a step later is worth, from 0 to 1"""
    explore: Annotated[float, Between(0, 1)] = 0.05
    """in which fraction of decisions to take a random action, after the first third; falls from 1
    before that"""
    goal_reward: Annotated[float, Most(MILLION)] = 1.0
    """reward for reaching the goal"""
    fail_cost: Annotated[float, Most(MILLION)] = 1.0
    """cost of fail"""
    step_cost: Annotated[float, Most(MILLION)] = 0.001
    """cost of each step"""
    potential: Annotated[str, OneOf("none", "goal")] = "none"
    """reward steps towards the goal: none, or goal (by the distance to the goal condition)"""
    checkpoints: Annotated[int, Least(1)] = 20
    """how often to look how good the policy is; the best one is kept"""
    runs: Annotated[int, Least(1), Most(MILLION)] = 1_000
    """how many runs to look at each time"""
    seed: int = 0
    """same seed, task and options: same policy, on the same machine"""


@dataclass(frozen=True, kw_only=True)
class DistillOptions(BudgetOptions):
    """How to imitate a policy with trees."""

    kind: Annotated[str, OneOf("xgboost", "forest", "tree")] = "xgboost"
    """which trees: xgboost (boosted), forest (a random forest) or tree (a single one)"""
    trees: Annotated[int, Least(1), Most(100_000)] = 20
    """how many rounds of boosting, of one tree per action each; or how many trees in the forest"""
    depth: Annotated[int, Least(1), Most(30)] = 5
    """how many decisions deep a tree may be"""
    rate: Annotated[float, Between(1e-6, 1)] = 0.4
    """how much of what is still wrong a round of boosting mends, up to 1"""
    runs: Annotated[int, Least(1), Most(MILLION)] = 1_000
    """how many runs of the policy to learn from, and how many to compare on"""
    max_steps: Annotated[int, Least(1)] = 1_000
    """cut a run after this many steps"""
    seed: int = 0
    """same seed, task, policy and options: same trees"""
