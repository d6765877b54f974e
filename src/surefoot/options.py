"""Options of every stage, declared once: the command line and keywords are made from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from surefoot.errors import InputError, nearest_hint, quoted, shown

MAX_INT = 2**64 - 1


@dataclass(frozen=True, kw_only=True)
class BudgetOptions:
    """What a stage may use before it must stop."""

    max_seconds: float = 600.0
    """stop after this many seconds"""
    memory_mb: int = 4096
    """stop when the stored states need more than this many megabytes"""

    @property
    def max_bytes(self) -> int:
        """The memory in bytes, as the core takes it."""
        return min(self.memory_mb * 1_000_000, MAX_INT)


@dataclass(frozen=True, kw_only=True)
class ExploreOptions(BudgetOptions):
    """How far to explore."""

    max_states: int = 100_000_000
    """stop when this many states are stored"""


@dataclass(frozen=True, kw_only=True)
class SimulateOptions(BudgetOptions):
    """Which runs to simulate."""

    runs: int | None = None
    """how many runs; if not given, one for each given state, else one"""
    max_steps: int = 100
    """cut a run after this many steps"""
    seed: int = 0
    """same seed, task and policy: same runs, on any machine"""


@dataclass(frozen=True, kw_only=True)
class FuzzOptions(BudgetOptions):
    """How to look for runs of the policy that fail."""

    runs: int = 1_000
    """how many runs to try"""
    bias: str = "greedy"
    """how to pick an outcome: uniform, greedy (nearest to fail) or weighted (near ones likelier)"""
    lookahead: int | None = None
    """how many steps to look ahead when picking an outcome; if not given, as far as needed"""
    max_steps: int = 1_000
    """cut a run after this many steps"""
    perturb: str = "none"
    """start near runs of the policy, not in start states: none, values, actions or both changed"""
    changes: int = 1
    """how many values or actions to change for each run, with --perturb"""
    workers: int | None = None
    """how many threads; if not given, one for each processor. The runs are the same"""
    seed: int = 0
    """same seed, task, policy and options: same runs, on any machine, with any number of workers"""


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
        if _is_infinite(self.radius):
            object.__setattr__(self, "radius", None)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(BudgetOptions):
    """How thoroughly to evaluate a policy."""

    starts: int = 10_000
    """how many start states: all of them if there are no more, else this many drawn uniformly"""
    max_states: int = 20_000_000
    """decide start states by enumeration until this many states are stored, the others by runs"""
    sample_runs: int = 100
    """how many runs for each start state that enumeration does not decide"""
    max_steps: int = 1_000
    """cut a run after this many steps"""
    workers: int | None = None
    """how many threads for runs; if not given, one for each processor. The runs are the same"""
    seed: int = 0
    """same seed, task, policy and options: same start states and runs"""


@dataclass(frozen=True, kw_only=True)
class TrainOptions(BudgetOptions):
    """How to learn a policy."""

    hidden: str = "64,64"
    """how many neurons each hidden layer has"""
    steps: int = 200_000
    """how many steps to take in the task, in all runs together"""
    environments: int = 64
    """how many runs to step at once"""
    max_steps: int = 200
    """cut a run after this many steps"""
    updates: int = 8
    """how many updates of the network for each step of all runs"""
    batch: int = 128
    """how many steps an update learns from"""
    replay: int = 200_000
    """how many steps to remember"""
    learning_rate: float = 0.0005
    """how far an update goes; falls to a tenth of it towards the end"""
    discount: float = 0.99
    """what a step later is worth, from 0 to 1"""
    explore: float = 0.05
    """in which fraction of decisions to take a random action, after the first third; falls from 1
    before that"""
    goal_reward: float = 1.0
    """reward for reaching the goal"""
    fail_cost: float = 1.0
    """cost of fail"""
    step_cost: float = 0.001
    """cost of each step"""
    potential: str = "none"
    """reward steps towards the goal: none, or goal (by the distance to the goal condition)"""
    checkpoints: int = 20
    """how often to look how good the policy is; the best one is kept"""
    runs: int = 1_000
    """how many runs to look at each time"""
    seed: int = 0
    """same seed, task and options: same policy, on the same machine"""


@dataclass(frozen=True, kw_only=True)
class DistillOptions(BudgetOptions):
    """How to imitate a policy with trees."""

    kind: str = "xgboost"
    """which trees: xgboost (boosted), forest (a random forest) or tree (a single one)"""
    trees: int = 20
    """how many rounds of boosting, of one tree per action each; or how many trees in the forest"""
    depth: int = 5
    """how many decisions deep a tree may be"""
    rate: float = 0.4
    """how much of what is still wrong a round of boosting mends, up to 1"""
    runs: int = 1_000
    """how many runs of the policy to learn from, and how many to compare on"""
    max_steps: int = 1_000
    """cut a run after this many steps"""
    seed: int = 0
    """same seed, task, policy and options: same trees"""


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
        if _is_infinite(self.radius):
            object.__setattr__(self, "radius", None)


@dataclass(frozen=True, kw_only=True)
class RepairOptions(BudgetOptions):
    """How to change a policy so that faults are gone."""

    method: str = "minimal"
    """minimal (change existing parameters as little as possible) or penalty (a tree per fault)"""
    any_other: bool = False
    """any other action will do in the state of a fault, not only those known to be safe"""
    keep: int = 5_000
    """how many states of runs that reach the goal should keep their decision, where possible"""
    margin: float = 0.001
    """how much better the new action must score; grows where rounding eats it up"""
    flips: int = 100
    """how often to try another new action for a fault to come nearer to the policy as it was"""
    solver: str = "highs"
    """who solves the programs: highs, or gurobi if it is installed"""
    solver_seconds: float = 0.0
    """how long to look for a policy still nearer by an integer program; 0: not at all"""
    diff_states: int = 10_000
    """on how many visited states to compare the decisions before and after"""
    seed: int = 0
    """same seed, task, policy, faults and options: same repaired policy, if no time runs out"""


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(BudgetOptions):
    """How to prove that no run of a policy fails."""

    method: str = "auto"
    """auto (all of them, the first verdict counts), box, predicates, ic3, or explicit"""
    predicates: str | None = None
    """a file of predicates to begin with, for box and predicates"""
    max_steps: int | None = None
    """look at runs of at most so many steps on real numbers; the verdict is then never safe"""
    starts: int = 10_000
    """how many start states to sample where all of them are too many, or infinitely many"""
    runs: int = 1
    """how many failing runs to look for; more than one may take as long as a proof"""
    max_states: int = 1_000_000_000
    """give up when this many states are stored"""
    workers: int | None = None
    """how many threads; if not given, one for each processor. The answer is the same"""
    seed: int = 0
    """which start states to sample where not all are looked at"""


@dataclass(frozen=True, kw_only=True)
class DebugOptions(BudgetOptions):
    """How to debug a policy: fuzz, find faults, repair, again, and verify."""

    starts: int = 10_000
    """how many start states to debug on: all of them if there are no more"""
    evaluate_starts: int = 10_000
    """how many other start states to evaluate on before and after"""
    iterations: int = 50
    """stop after this many repairs"""
    bias: str = "greedy"
    """how fuzzing picks an outcome: uniform, greedy or weighted"""
    lookahead: int | None = None
    """steps to look ahead; if not given, 10 on real numbers, else until 3,000 states are seen"""
    max_steps: int = 1_000
    """cut a run after this many steps"""
    method: str = "minimal"
    """how to repair: minimal or penalty"""
    any_other: bool = False
    """any other action will do in the state of a fault, not only those known to be safe"""
    keep: int = 5_000
    """how many states of runs that reach the goal should keep their decision, where possible"""
    margin: float = 0.001
    """how much better the new action must score"""
    solver_seconds: float = 0.0
    """how long each repair may look for a nearer policy by an integer program; 0: not at all"""
    state_seconds: float = 2.0
    """give up a question about the safety of a state after this many seconds"""
    verify: str = "auto"
    """how to verify the repaired policy: auto, box, predicates, ic3, explicit, or none"""
    precautions: int = 20
    """how many repairs may be of decisions that no run came to, so that the rest can be proved"""
    findings: int = 10
    """how many faults of each iteration to keep with their certificates, the smallest first"""
    check_seconds: float = 30.0
    """how long to check the certificates of each iteration, and that of the verdict"""
    workers: int | None = None
    """how many threads; if not given, one for each processor. The result is the same"""
    seed: int = 0
    """same seed, task, policy and options: same result, interrupted or not"""
    max_seconds: float = 3600.0
    """stop after this many seconds, those before a resume included"""


@dataclass(frozen=True, kw_only=True)
class CheckOptions(BudgetOptions):
    """How long to check a certificate."""

    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: the file bounds what is kept"""


Options = TypeVar("Options", bound=BudgetOptions)


def chosen(cls: type[Options], options: Options | None, changes: Mapping[str, Any]) -> Options:
    """Return ``options`` (default: those of ``cls``) with the changes, all of them checked.

    Raises InputError: ``unknown-option`` for a name that ``cls`` does not have, ``bad-option``
    for a value that the option cannot take.
    """
    if options is not None and not isinstance(options, cls):
        kind = type(options).__name__
        raise InputError("bad-option", f"options must be {cls.__name__}, not {kind}")
    known = [field.name for field in fields(cls)]
    for name in changes:
        if name not in known:
            hint = nearest_hint(name, known) or f"options are: {', '.join(known)}"
            raise InputError("unknown-option", f"there is no option {quoted(name)}", hint=hint)
    return checked(replace(cls() if options is None else options, **changes))


def checked(options: Options, *, spelled: Callable[[str], str] = str) -> Options:
    """Return the options with plain Python numbers.

    Raises InputError (``bad-option``) for a bad value; ``spelled`` turns the name of the option
    into what the user wrote.
    """
    values = {}
    for field in fields(options):
        value = getattr(options, field.name)
        if value is None and field.default is None:
            continue
        accept, wanted = _KINDS[str(field.type).removesuffix(" | None")]
        values[field.name] = accept(value)
        if values[field.name] is None:
            text = f"{spelled(field.name)} must be {wanted}, not {shown(value)}"
            raise InputError("bad-option", text)
    return replace(options, **values)


def check_word(option: str, given: str, known: tuple[str, ...]) -> None:
    """Raise InputError (``bad-option``) if what was given for an option is none of the words."""
    if given not in known:
        raise InputError(
            "bad-option",
            f"{option} must be one of {', '.join(known)}, not {quoted(given)}",
            hint=nearest_hint(given, known),
        )


def whole(value: Any) -> int | None:
    """Return a whole number from 0 to 2^64 - 1 as int, whatever its type; None for others."""
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        return None
    number = operator.index(value)
    return number if 0 <= number <= MAX_INT else None


def _is_infinite(value: Any) -> bool:
    return (
        value == math.inf if isinstance(value, float) else isinstance(value, str) and value == "inf"
    )


def _real(value: Any) -> float | None:
    if isinstance(value, bool | str | bytes):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


_KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "bool": (_flag, "true or false"),
    "int": (whole, "a whole number from 0 to 2^64 - 1"),
    "float": (_real, "a finite number of at least 0"),
    "str": (_text, "text"),
}
