"""The task: what everything else runs on.

:class:`Task` is the one face of all tasks, whoever computes their steps: states, actions, outcomes
as a set, start states, and whether a state fails or is a goal. What only some tasks have is a
:class:`Feature`; who needs one asks ``task.features`` and refuses with ``task.lacks(...)``. It
answers questions about single states here; searches take ``task.core`` and never come back to
Python for a state.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from surefoot import _core
from surefoot.errors import InputError, OutOfBudget, Unsupported
from surefoot.tasks.source import Source
from surefoot.tasks.state import State

if TYPE_CHECKING:
    from surefoot.domains.pictures import Picture
    from surefoot.tasks.description import Variable
    from surefoot.tasks.expressions import Expr
    from surefoot.tasks.observed import Observed

MAX_STATE_TEXT = 2_000  # characters of a state in a message


class Feature(StrEnum):
    """What a task may offer besides its steps."""

    DESCRIPTION = "description"
    """its steps can be read, not only taken: variables with bounds, guards, updates, conditions"""
    IDENTITY = "identity"
    """a SHA-256 says whether two tasks are the same"""
    ACTIONS = "actions"
    """all actions are known from the beginning, not only those that were met"""
    THREADS = "threads"
    """several threads may take steps at once"""
    EVERY_OUTCOME = "every-outcome"
    """the outcomes are all that there are, not only those that were seen in samples"""


_LACKING = {
    Feature.DESCRIPTION: "Python code defines the task, so its steps cannot be read",
    Feature.IDENTITY: "Python code defines the task, so it has no SHA-256",
    Feature.ACTIONS: "Python code defines the task, so its actions are known only once met",
    Feature.THREADS: "Python code defines the task, so only one thread can take its steps",
    Feature.EVERY_OUTCOME: "outcomes are sampled, and nothing is known about those not seen",
}


@dataclass(frozen=True)
class WeightedChoice:
    """What the environment may do when ``action`` is taken: an edge, of which an action may have
    several.

    It costs ``cost``. The probability of an outcome is its weight, by the sum of the weights.
    """

    action: str
    cost: float
    outcomes: tuple[State, ...]
    weights: tuple[float, ...]


class Task(ABC):
    """A task ready to run. Make one with ``load_task``, ``domain``, ``Description.compile`` or
    ``PythonTask``.
    """

    features: frozenset[Feature] = frozenset()
    name: str
    file: str | None = None
    source: Source | None = None
    draw: Callable[[State], Picture] | None = None
    core: Any
    silent: frozenset[str] = frozenset()
    """actions that no policy chooses"""
    variables: tuple[Variable, ...] = ()
    """the variables with their bounds, where the task has a description"""
    observed: tuple[Observed, ...] = ()
    """what policies are fed that see a state in another form; empty for the variables"""
    observation: Callable[[Any], object] | None = None
    """returns what the environment that the task was made of shows of a state, if it was one"""

    @property
    def is_sampled(self) -> bool:
        """Whether outcomes are only those that were seen in samples: then nothing is proved."""
        return Feature.EVERY_OUTCOME not in self.features

    def lacks(
        self, feature: Feature, engine: str, *, code: str, hint: str | None = None
    ) -> Unsupported:
        """Return the refusal of ``who`` to work on this task, which does not have the feature."""
        return Unsupported(code, f"{engine}: {_LACKING[feature]}", file=self.file, hint=hint)

    @property
    def sha256(self) -> str | None:
        """Equal for equal tasks, whatever file they came from; None if nothing tells."""
        return None

    def has_sha256(self, digest: str) -> bool:
        """Return whether a file that names this hash is about this task. Files about tasks without
        one name the empty hash.
        """
        return digest == (self.sha256 or "")

    @property
    def fail_condition(self) -> Expr | None:
        """The fail condition, where it can be read and there is one."""
        return None

    @property
    def goal_condition(self) -> Expr | None:
        """The goal condition, where it can be read and there is one."""
        return None

    @property
    def has_reals(self) -> bool:
        """Whether some variable is declared as a real number."""
        return any(variable.type == "real" for variable in self.variables)

    # -- states and steps --------------------------------------------------------------------

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the variables."""

    @property
    @abstractmethod
    def actions(self) -> tuple[str, ...]:
        """The actions, by their number in the core."""

    @abstractmethod
    def state(self, values: Any = None, /, **more: object) -> State:
        """Return the state with these values; every variable must be given."""

    @abstractmethod
    def packed(self, state: Any) -> bytes:
        """Return the core's bytes of a state."""

    @abstractmethod
    def unpack(self, packed: bytes) -> State:
        """Return the state of the core's bytes."""

    def unpack_all(self, packed: bytes) -> list[State]:
        """Return the states that stand one after the other in ``packed``."""
        return [self.unpack(state) for state in split_states(packed, self.core.words)]

    @abstractmethod
    def columns(self, packed: bytes) -> list[list[object]]:
        """Return the values of packed states that stand one after the other, a list for each
        variable.
        """

    def picture(self, state: State | Mapping[str, object]) -> Picture | None:
        """Return a picture of the state. None if the task does not know how to draw its states."""
        return None if self.draw is None else self.draw(self.state(state))

    @abstractmethod
    def action_number(self, action: str) -> int | None:
        """Return the core's number of an action; None if there is no such action."""

    @abstractmethod
    def applicable(self, state: Any) -> tuple[str, ...]:
        """Return the applicable actions, silent ones included."""

    @abstractmethod
    def outcomes(self, state: Any, action: str) -> tuple[State, ...]:
        """Return the outcomes of an action, a set; empty if it is not applicable."""

    def choices(self, state: Any) -> tuple[WeightedChoice, ...]:
        """Return what the environment may do, by action; nothing in states that fail or are goals.
        Where the task does not say, costs are 1, and outcomes equally likely.
        """
        try:
            expansions = self.core.expand_weighted(self.packed(state))
        except _core.ModelError as error:
            raise self.model_error(error) from None
        return tuple(
            WeightedChoice(
                self.actions[each.action],
                each.cost,
                tuple(map(self.unpack, each.outcomes)),
                tuple(each.weights),
            )
            for each in expansions
        )

    @abstractmethod
    def is_fail(self, state: Any) -> bool:
        """Return whether the state satisfies the fail condition."""

    @abstractmethod
    def is_goal(self, state: Any) -> bool:
        """Return whether the state satisfies the goal condition and does not fail."""

    # -- start states ------------------------------------------------------------------------

    @property
    def has_start_condition(self) -> bool:
        """Whether the start states are described by a condition rather than listed."""
        return False

    @abstractmethod
    def start_source(self) -> bytes | None:
        """Return the packed start states one after the other; None for a condition."""

    def is_start(self, state: Any) -> bool:
        """Return whether the state is a start state."""
        return self.packed(state) in split_states(self.start_source() or b"", self.core.words)

    def list_starts(self, *, max_states: int = 1_000_000, max_seconds: float = 60.0) -> list[State]:
        """Return all start states, each once. Raises OutOfBudget if there are more than
        ``max_states``.
        """
        listed = dict.fromkeys(split_states(self.start_source() or b"", self.core.words))
        if len(listed) > max_states:
            message = f"the start states cannot be listed within {max_states:,} states"
            raise OutOfBudget("out-of-states", message, file=self.file)
        return [self.unpack(state) for state in listed]

    @abstractmethod
    def draw_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> bytes:
        """Return what ``sample_starts`` does as packed states, one after the other."""

    def sample_starts(self, count: int, *, seed: int = 0, max_seconds: float = 60.0) -> list[State]:
        """Return ``count`` start states drawn uniformly and independently."""
        return self.unpack_all(self.draw_starts(count, seed=seed, max_seconds=max_seconds))

    @abstractmethod
    def initial_state(self) -> State:
        """Return the state that the task begins in where it has only one, or else the first."""

    @abstractmethod
    def model_error(self, error: Exception) -> InputError:
        """Return the user's view of an error that the core met in the model."""


def split_states(packed: bytes, words: int) -> list[bytes]:
    """Return the packed states that stand one after the other."""
    width = words * 8
    return [packed[i : i + width] for i in range(0, len(packed), width)]
