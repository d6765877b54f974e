"""The engine of Surefoot. Private: use the surefoot package."""

from collections.abc import Callable, Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class ModelError(Exception):
    pass

class PolicyError(Exception):
    pass

ERRORS: dict = ...

OPS: dict = ...

def constant_value(nodes: Sequence[tuple[int, int, int, int, int, int]]) -> object:
    """
    Return the value of an expression without variables; its root is the last node.
    """

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

    def outcomes(self, state: bytes, action: int) -> list:
        """Return the outcomes of an action, without duplicates."""

    def enabled_edges(self, state: bytes) -> list[int]:
        """Return the numbers of the enabled edges, ascending."""

    def is_fail(self, state: bytes) -> bool:
        """Return whether the fail condition holds."""

    def kind(self, state: bytes) -> int:
        """Return 0 for an open state, 1 for fail, 2 for goal."""

class CompiledTask(Task):
    """A declarative task, compiled."""

    def __init__(self, *, variables: Sequence[tuple[int, int, int, bool]], scratch_start: Sequence[int], nodes: Sequence[tuple[int, int, int, int, int, int]], num_actions: int, first_silent: int, edges: Sequence[tuple[int, int, Sequence[tuple[Sequence[int], Sequence[tuple[int, int, int, int, int, int, int]]]]]], fail: int, goal: int, start: int, distance: int) -> None: ...

    @property
    def residuals(self) -> int:
        """How many conditions are not settled by the guard index alone."""

    def pack(self, values: Sequence[int]) -> bytes:
        """Return the packed state; reals are given as bit patterns."""

    def unpack(self, state: bytes) -> tuple:
        """Return the values of a packed state."""

    def columns(self, states: bytes) -> list:
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

    def count_starts(self, *, max_seconds: float) -> object:
        """
        Return how many states satisfy the start condition, counted without listing them; None if that is not possible.
        """

    def list_starts(self, *, max_states: int, max_seconds: float) -> tuple:
        """
        Return the states of the start condition one after the other, and what ran out before these were all (: nothing).
        """

    def sample_starts(self, *, count: int, seed: int, max_seconds: float, max_tries: int) -> tuple:
        """
        Return start states drawn uniformly, and why drawing stopped early if it did.
        """

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

    def __init__(self, task: CompiledTask, scorer: Scorer, *, inputs: Sequence[tuple[int, float, float, float]], outputs: Sequence[int], unfiltered: bool) -> None: ...

    def scores(self, task: Task, state: bytes) -> list[float]:
        """Return the scores of all outputs."""

def explore_states(task: Task, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> dict:
    """
    Return the counts of everything reachable from the given packed states.
    """

def explore_starts(task: CompiledTask, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> dict:
    """
    Return the counts of everything reachable from the states of the start condition.
    """

def simulate(task: Task, start: bytes, *, policy: Policy, max_steps: int, seed: int, run: int, max_seconds: float, max_bytes: int) -> tuple:
    """
    Return one run: packed states, actions, result, why it was stopped if it was, and the decision that was not applicable, or -1.
    """

def can_fail(task: Task, policy: Policy, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> dict:
    """
    Return for each packed state whether runs of the policy can fail: 0 no, 1 yes, 2 unknown.
    """

def nearest_fail(task: Task, policy: Policy, states: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> tuple:
    """
    Return the packed states and the actions of a shortest failing run from one of the states, or None, and why the search was stopped if it was.
    """

class Environments:
    """
    Many runs of a task at once. The arrays are refilled by each step: `observations`, `masks`, `distances` to the goal and `states` of where the runs are now, `next_...` of where the step led.
    """

    def __init__(self, task: CompiledTask, starts: bytes, *, count: int, max_steps: int, inputs: Sequence[tuple[int, float, float, float]], outputs: Sequence[int], goal_task: CompiledTask | None = None) -> None: ...

    def reset(self, seed: int) -> None:
        """Begin all runs anew."""

    def step(self, actions: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Take an action, given as position among the outputs, in each run."""

    @property
    def results(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """0 goes on, 1 fail, 2 goal, 3 dead end, 4 cut."""

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

class Oracle:
    """Decides whether states are safe."""

    def __init__(self, task: Task, name: str, *, order: str, seed: int, policy: Policy | None, radius: int | None) -> None: ...

    def decide(self, state: bytes, *, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> dict:
        """
        Return the verdict on a packed state, why it is unknown if it is, and what it cost.
        """

    def certificate(self, state: bytes, *, max_seconds: float, max_bytes: int, max_states: int, first: int | None = None) -> dict:
        """
        Return the evidence for a verdict given before; if it is safe, with `first` as the choice there.
        """

    def deviations(self, state: bytes) -> int | None:
        """Return the least number of differences, or None."""

def fuzz(task: Task, policy: Policy, starts: bytes, *, bias: str, lookahead: int | None, max_steps: int, seed: int, perturb: str, changes: int, workers: int, goes_on: bool, lookahead_states: int | None, max_seconds: float, max_bytes: int, progress: object | None) -> dict:
    """
    Return fuzzed runs: result, reason, steps, start, the run if it fails, how the start was made; None for runs there was no time for.
    """

def broken_step(task: Task, states: bytes, actions: Sequence[int]) -> int | None:
    """Return the first step that no run of the task takes, or None."""

class FaultAnalysis:
    """Finds the guilty decisions on runs."""

    def __init__(self, oracle: Oracle, radius: int | None) -> None: ...

    def analyse(self, oracle: Oracle, states: bytes, actions: Sequence[int], *, bugs_only: bool, state_seconds: float, max_seconds: float, max_bytes: int, max_states: int, skip_errors: bool, progress: object | None) -> dict:
        """
        Return the verdicts on the states and decisions of a run, and its faults: step, outcome, alternatives, whether more may be safe.
        """

class ReachedStates:
    """What a policy reaches, in a fixed order."""

    def __len__(self) -> int: ...

    def copy(self, first: int, count: int) -> bytes:
        """Return packed states, one after the other, from the `first` one on."""

def verify_explicit(task: Task, policy: Policy, states: object | None, *, workers: int, max_runs: int, max_seconds: float, max_bytes: int, max_states: int, progress: object | None) -> dict:
    """
    Return what the policy reaches from packed states, or from those of the start condition, and failing runs, if some fail, a shortest one first.
    """

class Boxes:
    """What a policy does in boxes: bounds (low, high) for each variable."""

    def __init__(self, task: CompiledTask, policy: ScoredPolicy, states: object | None, constraints: Sequence[tuple[Sequence[tuple[int, int]], int, int]]) -> None: ...

    def starts(self) -> list:
        """Return boxes that contain all start states."""

    def may_raise_at_start(self) -> bool:
        """Return whether the start condition may be an error in some state."""

    def constraints(self) -> list:
        """
        Return linear sums that no step changes: ((variable, factor), ...), lower, upper.
        """

    def narrowed(self, box: list) -> object:
        """Return the box, narrowed by the constraints; None if nothing is left."""

    def start_in(self, box: list) -> object:
        """Return a packed start state in the box, if one is found."""

    def parts(self, box: list, max_parts: int) -> list:
        """
        Return the box in parts: (what, box, action, images), where `what` is fail, goal, step (the same action everywhere; None: silent ones, or none), coarse (some of the images are real) or unsure (not even that is known), and an image is (edge, outcome, source, image), with edge None for single states.
        """

def verify_box(task: CompiledTask, policy: ScoredPolicy, states: object | None, *, constraints: Sequence[tuple[Sequence[tuple[int, int]], int, int]], cuts: Sequence[tuple[int, float]], max_splits: int, max_growth: int, max_steps: int | None, max_visited: int | None, max_bad_states: int, max_seconds: float, max_bytes: int, progress: object | None) -> object:
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
