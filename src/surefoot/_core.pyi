"""The engine of Surefoot. Private: use the surefoot package."""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Literal

import numpy
from numpy.typing import NDArray


class ModelError(Exception):
    pass

class PolicyError(Exception):
    pass

ERRORS: dict = ...

OPS: dict = ...

def constant_value(nodes: Sequence[tuple[int, int, int, int, int, int]]) -> bool | int | float:
    """
    Return the value of an expression without variables; its root is the last node.
    """

class StateKind(enum.IntEnum):
    """Fail is tested before goal."""

    open = 0

    fail = 1

    goal = 2

class WeightedChoice:
    """What an enabled edge may do."""

    @property
    def action(self) -> int: ...

    @property
    def cost(self) -> float: ...

    @property
    def weights(self) -> list[float]:
        """
        By outcome; an outcome's probability is its weight divided by their sum.
        """

    @property
    def outcomes(self) -> list[bytes]: ...

class Task:
    """A task as the searches see it. States are bytes."""

    @property
    def words(self) -> int:
        """Eight-byte words per packed state."""

    @property
    def bits(self) -> int:
        """Bits of a packed state that carry information."""

    def applicable(self, state: bytes) -> list[int]:
        """Return the applicable actions, ascending."""

    def outcomes(self, state: bytes, action: int) -> list[bytes]:
        """Return the outcomes of an action, without duplicates."""

    def expand_weighted(self, state: bytes) -> list[WeightedChoice]:
        """
        Return a choice for each enabled edge, by action; none in fail and goal states.
        """

    def enabled_edges(self, state: bytes) -> list[int]:
        """Return the numbers of the enabled edges, ascending."""

    def is_fail(self, state: bytes) -> bool:
        """Return whether the fail condition holds."""

    def kind(self, state: bytes) -> StateKind:
        """Return whether the state fails, is a goal, or is open."""

class Starts:
    """Start states, as far as it went."""

    @property
    def states(self) -> bytes:
        """Packed, one after the other."""

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

class CompiledTask(Task):
    """A declarative task, compiled."""

    def __init__(self, *, variables: Sequence[tuple[int, int, int, bool]], scratch_start: Sequence[int], nodes: Sequence[tuple[int, int, int, int, int, int]], num_actions: int, first_silent: int, edges: Sequence[tuple[int, int, Sequence[tuple[Sequence[int], Sequence[tuple[int, int, int, int, int, int, int]], float]], int]], fail: int, goal: int, start: int, distance: int) -> None: ...

    @property
    def residuals(self) -> int:
        """How many conditions are not settled by the guard index alone."""

    def pack(self, values: Sequence[int]) -> bytes:
        """Return the packed state; reals are given as bit patterns."""

    def unpack(self, state: bytes) -> tuple[bool | int | float, ...]:
        """Return the values of a packed state."""

    def columns(self, states: bytes) -> list[list[bool | int | float]]:
        """
        Return the values of packed states that stand one after the other, a list for each variable.
        """

    def is_start(self, state: bytes) -> bool:
        """Return whether the start condition holds."""

    def is_goal_condition(self, state: bytes) -> bool:
        """
        Return whether the goal condition holds, whatever the fail condition says.
        """

    def distance_to_fail(self, state: bytes) -> float:
        """Return how far the state is from fail."""

    def has_finite_starts(self) -> bool:
        """Return whether the start condition leaves no real variable a choice."""

    def list_starts(self, *, max_states: int, max_seconds: float) -> Starts:
        """Return the states of the start condition."""

class StartSampler:
    """Draws start states of a task; keeps what drawing needs."""

    def __init__(self, task: CompiledTask) -> None: ...

    def count(self, *, max_seconds: float) -> int | None:
        """
        Return how many states satisfy the start condition, counted without listing them; None if that is not possible.
        """

    def sample(self, *, count: int, seed: int, max_seconds: float, max_tries: int) -> Starts:
        """Return start states drawn uniformly."""

class Guidance:
    """How far states are from what somebody looks for."""

    def __init__(self, task: CompiledTask, nodes: Sequence[tuple[int, int, int, int, int, int]], root: int) -> None: ...

    def distance(self, task: CompiledTask, state: bytes) -> float:
        """Return the value of the expression in a packed state of the task."""

class PythonTask(Task):
    """A task defined by Python callables over state numbers."""

    def __init__(self, *, num_actions: int, kind: Callable, applicable: Callable, outcomes: Callable) -> None: ...

class Scorer:
    """Gives every output a score."""

    @property
    def num_inputs(self) -> int: ...

    @property
    def num_outputs(self) -> int: ...

    def scores(self, inputs: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return a row of scores for each row of inputs."""

def Network(layers: Sequence[tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], str, float]], precision: str) -> Scorer:
    """Return a network: (weights, biases, activation, slope) of each layer."""

class Trees(Scorer):
    """A tree ensemble."""

    def __init__(self, *, num_inputs: int, num_outputs: int, roots: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], base: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], input_precision: str, sum_precision: str, base_last: bool, divide_by: float) -> None: ...

class Rules(Scorer):
    """Rules with weights."""

    def __init__(self, num_inputs: int, num_outputs: int, *, atoms: Sequence[tuple[int, float]], rules: Sequence[tuple[bool, Sequence[tuple[int, bool]]]], weights: Sequence[tuple[int, int, float]], base: Sequence[float]) -> None: ...

class Corrected(Scorer):
    """A network with trees that correct it."""

    def __init__(self, network: Scorer, trees: Scorer) -> None: ...

class Policy:
    """Decides for an action in every state."""

    def decide(self, task: Task, state: bytes) -> int:
        """Return the number of the action that the policy decides for."""

    def decide_all(self, task: Task, states: bytes) -> list[int]:
        """Return the numbers of the actions decided for in packed states."""

class FirstPolicy(Policy):
    """Takes the lowest applicable action."""

    def __init__(self) -> None: ...

class RandomPolicy(Policy):
    """Takes an action that depends on seed and state only."""

    def __init__(self, seed: int) -> None: ...

    @property
    def seed(self) -> int: ...

class TablePolicy(Policy):
    """Takes the action that a table says."""

    def __init__(self, task: Task, states: bytes, actions: Sequence[int]) -> None: ...

class ShieldedPolicy(Policy):
    """Takes what a table says, else what the base decides."""

    def __init__(self, base: Policy, task: Task, states: bytes, actions: Sequence[int]) -> None: ...

class CallablePolicy(Policy):
    """Asks a callable of packed state and applicable actions."""

    def __init__(self, decide: Callable, decide_all: object | None = None) -> None: ...

class ScoredPolicy(Policy):
    """Takes the best-scored action."""

    def __init__(self, task: CompiledTask, scorer: Scorer, *, inputs: Sequence[tuple[int, float, float, float, Sequence[tuple[int, int]]]], outputs: Sequence[int], unfiltered: bool) -> None: ...

    def scores(self, task: Task, state: bytes) -> list[float]:
        """Return the scores of all outputs."""

class RunEnd(enum.Enum):
    """How a run ended; none: it goes on."""

    none = 0

    fail = 1

    goal = 2

    dead_end = 3

    cycle = 4

    inapplicable = 5

    cut = 6

class ExploreCounts:
    """What is reachable."""

    @property
    def states(self) -> int: ...

    @property
    def starts(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def pairs(self) -> int:
        """Of a state and an applicable action."""

    @property
    def outcomes(self) -> int: ...

    @property
    def fail(self) -> int: ...

    @property
    def goal(self) -> int: ...

    @property
    def dead_ends(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

    @property
    def starts_complete(self) -> bool: ...

class Run:
    """A simulated run."""

    @property
    def states(self) -> bytes:
        """Packed, one after the other."""

    @property
    def actions(self) -> list[int]: ...

    @property
    def end(self) -> RunEnd: ...

    @property
    def inapplicable(self) -> int | None:
        """The action that was decided for and is not applicable."""

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

class FailingRun:
    """A run that fails."""

    @property
    def states(self) -> bytes:
        """Packed, one after the other."""

    @property
    def actions(self) -> list[int]: ...

class CanFail(enum.Enum):
    """Whether a run may fail."""

    no = 0

    yes = 1

    unknown = 2

class CanFailResult:
    """From which states runs may fail."""

    @property
    def answers(self) -> bytes:
        """A value of CanFail for each state asked about."""

    @property
    def states(self) -> int:
        """How many were looked at."""

    @property
    def bytes(self) -> int: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

class NearestFail:
    """A shortest failing run, if there is one."""

    @property
    def run(self) -> FailingRun | None: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

def explore_states(task: Task, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> ExploreCounts:
    """
    Return the counts of everything reachable from the given packed states.
    """

def explore_starts(task: CompiledTask, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> ExploreCounts:
    """
    Return the counts of everything reachable from the states of the start condition.
    """

def simulate(task: Task, start: bytes, *, policy: Policy, max_steps: int, seed: int, run: int, max_seconds: float, max_bytes: int) -> Run:
    """Return one run of the policy, with outcomes drawn uniformly."""

def can_fail(task: Task, policy: Policy, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> CanFailResult:
    """Return for each packed state whether runs of the policy can fail."""

def nearest_fail(task: Task, policy: Policy, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> NearestFail:
    """Return a shortest failing run from one of the states."""

class Environments:
    """
    Many runs of a task at once. The arrays are refilled by each step: `observations`, `masks`, `distances` by the guidance, and `states` of where the runs are now, `next_...` of where the step led.
    """

    def __init__(self, task: CompiledTask, starts: bytes, *, count: int, max_steps: int, inputs: Sequence[tuple[int, float, float, float, Sequence[tuple[int, int]]]], outputs: Sequence[int], guidance: Guidance | None = None) -> None: ...

    def reset(self, seed: int) -> None:
        """Begin all runs anew."""

    def step(self, actions: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Take an action, given as position among the outputs, in each run."""

    @property
    def results(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """How the runs ended, as values of RunEnd."""

    @property
    def observations(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @property
    def masks(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None))]: ...

    @property
    def distances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def states(self) -> bytes: ...

    @property
    def next_observations(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]: ...

    @property
    def next_masks(self) -> Annotated[NDArray[numpy.bool_], dict(shape=(None, None))]: ...

    @property
    def next_distances(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

    @property
    def next_states(self) -> bytes: ...

class Answer:
    """A verdict on a state, and what it cost."""

    @property
    def verdict(self) -> Literal['unknown', 'safe', 'unsafe']:
        """What is known about the state."""

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

    @property
    def expanded(self) -> int:
        """How often a state was expanded."""

    @property
    def pairs(self) -> int:
        """How many of its actions were looked at."""

    @property
    def outcomes(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def states(self) -> int:
        """All that the oracle keeps."""

    @property
    def bytes(self) -> int: ...

class Certificate:
    """The evidence for a verdict."""

    @property
    def claim(self) -> str:
        """safe or unsafe."""

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

    @property
    def states(self) -> bytes:
        """Packed and distinct; the first is the one that the claim is about."""

    @property
    def entry_states(self) -> list[int]:
        """By entry: the number of its state."""

    @property
    def entries_left(self) -> list[int]:
        """By entry, within a radius: the differences left; else empty."""

    @property
    def entry_values(self) -> list[int]:
        """By entry: the action (-1: the forced step), or the rank."""

    @property
    def decisions(self) -> list[int]:
        """With a policy, by state: its action; -1: none."""

class Oracle:
    """Decides whether states are safe."""

    def __init__(self, task: Task, name: str, *, order: str, seed: int, policy: Policy | None, radius: int | None) -> None: ...

    def decide(self, state: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> Answer:
        """Return the verdict on a packed state."""

    def certificate(self, state: bytes, *, max_seconds: float, max_bytes: int, max_states: int, first: int | None = None) -> Certificate:
        """
        Return the evidence for a verdict given before; if it is safe, with `first` as the choice there.
        """

    def deviations(self, state: bytes) -> int | None:
        """Return the least number of differences, or None."""

class Change:
    """One change of a perturbed start."""

    @property
    def variable(self) -> int | None:
        """The variable whose value changed; None: an action was taken."""

    @property
    def value(self) -> int:
        """The new value, a real as its bits; or the action."""

    @property
    def state(self) -> bytes:
        """After it."""

class FuzzRun:
    """A fuzzed run."""

    @property
    def is_done(self) -> bool:
        """False: there was no time for it."""

    @property
    def end(self) -> RunEnd: ...

    @property
    def reason(self) -> str:
        """Why it was cut; empty if it was not."""

    @property
    def strategy(self) -> int:
        """Which of the strategies made it."""

    @property
    def steps(self) -> int: ...

    @property
    def states(self) -> bytes:
        """Packed: all if the run fails, else the first only."""

    @property
    def actions(self) -> list[int]:
        """If the run fails."""

    @property
    def reached(self) -> bytes | None:
        """Of a perturbed run: where the changes began."""

    @property
    def changes(self) -> list[Change]: ...

class EndCount:
    """How many runs ended so."""

    @property
    def end(self) -> RunEnd: ...

    @property
    def reason(self) -> str:
        """Why it was cut; empty if it was not."""

    @property
    def runs(self) -> int: ...

class FuzzResult:
    """What fuzzing found."""

    @property
    def runs(self) -> list[FuzzRun]:
        """By number."""

    def run(self, number: int) -> FuzzRun:
        """Return one of the runs."""

    def __len__(self) -> int: ...

    @property
    def ends(self) -> list[EndCount]:
        """
        How the runs that are done ended, in the order in which that first occurs.
        """

    @property
    def steps(self) -> int:
        """Of all runs together."""

    @property
    def distinct(self) -> int:
        """How many of the runs went through different states."""

    def equal_failing(self) -> list[list[int]]:
        """Return the numbers of failing runs, those of equal ones together."""

    @property
    def decisions(self) -> int: ...

    @property
    def states(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

def fuzz(task: Task, policy: Policy, starts: bytes, *, strategies: Sequence[tuple[str, int | None, int | None]], max_steps: int, seed: int, perturb: str, changes: int, workers: int, goes_on: bool, guidance: Guidance | None = None, max_seconds: float, max_bytes: int, progress: object | None) -> FuzzResult:
    """
    Return a run from each of the packed start states. A strategy is a bias, how many steps it looks ahead, and after how many states it goes no deeper.
    """

class FoundVerdict:
    """A verdict, and why it is unknown."""

    @property
    def verdict(self) -> Literal['unknown', 'safe', 'unsafe']: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

class Fault:
    """A decision of a run that may leave the safe region."""

    @property
    def step(self) -> int:
        """Which decision of the run."""

    @property
    def outcome(self) -> bytes:
        """An unsafe outcome, packed: where the run went, if that is one."""

    @property
    def alternatives(self) -> list[int]: ...

    @property
    def has_unknown_alternatives(self) -> bool: ...

class RunFaults:
    """What is known about a failing run."""

    @property
    def states(self) -> list[FoundVerdict]:
        """By state."""

    @property
    def decisions(self) -> list[FoundVerdict]:
        """By decision; unsafe: it is a fault."""

    @property
    def faults(self) -> list[Fault]:
        """By step."""

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

def broken_step(task: Task, states: bytes, actions: Sequence[int]) -> int | None:
    """Return the first step that no run of the task takes, or None."""

class FaultAnalysis:
    """Finds the guilty decisions on runs."""

    def __init__(self, oracle: Oracle, radius: int | None) -> None: ...

    def analyse(self, oracle: Oracle, states: bytes, actions: Sequence[int], *, bugs_only: bool, state_seconds: float, max_seconds: float, max_bytes: int, max_states: int, skip_errors: bool, progress: object | None) -> RunFaults:
        """
        Return the verdicts on the states and decisions of a run, and its faults.
        """

class ReachedStates:
    """What a policy reaches, in a fixed order."""

    def __len__(self) -> int: ...

    def copy(self, first: int, count: int) -> bytes:
        """Return packed states, one after the other, from the `first` one on."""

class ExplicitResult:
    """What explicit verification found."""

    @property
    def runs(self) -> list[FailingRun]:
        """Failing runs, a shortest one first."""

    @property
    def starts(self) -> int: ...

    @property
    def starts_complete(self) -> bool: ...

    @property
    def states(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

    @property
    def reached(self) -> ReachedStates: ...

def verify_explicit(task: Task, policy: Policy, states: object | None, *, workers: int, max_runs: int, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> ExplicitResult:
    """
    Return what the policy reaches from packed states, or from those of the start condition, and failing runs, if some fail, a shortest one first.
    """

class LinearBound:
    """A linear sum of variables within bounds."""

    @property
    def terms(self) -> list[tuple[int, int]]:
        """Variables and their factors."""

    @property
    def lower(self) -> int: ...

    @property
    def upper(self) -> int: ...

class PartImage:
    """Where an outcome leads from a part of a box."""

    @property
    def edge(self) -> int | None:
        """None for single states."""

    @property
    def outcome(self) -> int: ...

    @property
    def source(self) -> list[tuple[float, float]]: ...

    @property
    def image(self) -> list[tuple[float, float]]: ...

class BoxPart:
    """A part of a box."""

    @property
    def what(self) -> Literal['fail', 'goal', 'step', 'coarse', 'unsure']:
        """
        step: the same action everywhere; coarse: some of the images are real; unsure: not even that is known.
        """

    @property
    def box(self) -> list[tuple[float, float]]: ...

    @property
    def action(self) -> int | None:
        """Of a step; None: silent ones, or none."""

    @property
    def images(self) -> list[PartImage]: ...

class BoxResult:
    """What verification with boxes found."""

    @property
    def boxes(self) -> list[list[tuple[float, float]]]:
        """Bounds of each variable in each box."""

    @property
    def constraints(self) -> list[LinearBound]: ...

    @property
    def run(self) -> FailingRun | None:
        """That fails, if one was found."""

    @property
    def failing_starts(self) -> list[tuple[float, float]] | None: ...

    @property
    def bad_states(self) -> bytes: ...

    @property
    def reached(self) -> int:
        """Boxes, when the search ended."""

    @property
    def depth(self) -> int: ...

    @property
    def refinements(self) -> int: ...

    @property
    def visited(self) -> int: ...

    @property
    def rounding(self) -> int: ...

    @property
    def stopped(self) -> Literal['', 'seconds', 'memory', 'states', 'interrupted', 'model-error']:
        """What ran out, or why it ended early; empty if nothing did."""

    @property
    def is_stuck(self) -> bool: ...

    @property
    def is_cut(self) -> bool: ...

    @property
    def has_starts(self) -> bool: ...

    @property
    def may_raise_at_start(self) -> bool: ...

class Boxes:
    """What a policy does in boxes: bounds (low, high) for each variable."""

    def __init__(self, task: CompiledTask, policy: ScoredPolicy, states: object | None, constraints: Sequence[tuple[Sequence[tuple[int, int]], int, int]]) -> None: ...

    def starts(self) -> list[list[tuple[float, float]]]:
        """Return boxes that contain all start states."""

    def may_raise_at_start(self) -> bool:
        """Return whether the start condition may be an error in some state."""

    def constraints(self) -> list[LinearBound]:
        """Return linear sums that no step changes."""

    def narrowed(self, box: list) -> list[tuple[float, float]] | None:
        """Return the box, narrowed by the constraints; None if nothing is left."""

    def start_in(self, box: list) -> bytes | None:
        """Return a packed start state in the box, if one is found."""

    def parts(self, box: list, max_parts: int) -> list[BoxPart]:
        """Return the box in parts."""

def verify_box(task: CompiledTask, policy: ScoredPolicy, states: object | None, *, constraints: Sequence[tuple[Sequence[tuple[int, int]], int, int]], cuts: Sequence[tuple[int, float]], max_splits: int, max_growth: int, max_steps: int | None, max_visited: int | None, max_bad_states: int, max_seconds: float, max_bytes: int, progress: object | None) -> BoxResult | None:
    """
    Return boxes that no run of the policy leaves and none of which meets fail, or a failing run; None if the policy's scores cannot be bounded. If nothing is proved, also up to `max_bad_states` states from which runs fail, though perhaps no run comes there.
    """

class NetworkBounds:
    """Bounds of scores over a box of inputs."""

    def __init__(self, network: Scorer) -> None: ...

    @property
    def is_piecewise_linear(self) -> bool: ...

    def set_box(self, low: Sequence[float], high: Sequence[float]) -> None:
        """Take the box that questions are about."""

    def lower(self, output: int) -> float:
        """Return a lower bound of a score."""

    def upper(self, output: int) -> float:
        """Return an upper bound of a score."""

    def least_difference(self, one: int, other: int) -> float:
        """Return a lower bound of the difference of two scores."""

    def influence(self, one: int, other: int) -> list[float]:
        """
        Return how much each input matters to the bounds of the difference of two scores.
        """
