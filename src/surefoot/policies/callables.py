"""Policies that Python computes: one state at a time, or many at once.

The core asks with packed states and the numbers of the applicable actions; callables here answer
with numbers of actions, every decision checked.
"""

from __future__ import annotations

import hashlib
import math
import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from surefoot import _core
from surefoot.errors import InputError, Unsupported, quoted, shown
from surefoot.policies.consistency import Ask, held, held_all
from surefoot.policies.decisions import Decide, checked_number, policy_error
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.state import State
from surefoot.tasks.task import Feature, Task

if TYPE_CHECKING:
    from surefoot.policies.interface import Interface
    from surefoot.policies.models import Reals

ScoresOf = Callable[["Reals"], "Reals"]
NEAR = 1e-5
"""relative to the largest score: the sums of float32 networks differ by less in other company"""

SCORES_HINT = "return one row of scores for each state, or a list of names of actions"


class Batched:
    """A function that decides in many states at once; see :func:`batched`."""

    def __init__(
        self, function: Callable[[object], object], *, actions: Sequence[str] | None = None
    ) -> None:
        self.function = function
        self.actions = None if actions is None else tuple(actions)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, states: object) -> object:
        """Return what the function returns."""
        return self.function(states)


def batched(
    function: Callable[[object], object], *, actions: Sequence[str] | None = None
) -> Batched:
    """Return a policy from a function of many states.

    The function takes a float64 array with a row for each state, the variables in the order of the
    task, and returns an array of scores with a column for each action that is not silent, in the
    order of the task (or of ``actions``), or a list with the name of an action for each state. It
    must be a function: a state has the same decision in whatever company it is asked about.
    """
    if not callable(function):
        raise InputError("not-a-policy", f"{shown(function)} cannot be called")
    return Batched(function, actions=actions)


def single(task: Task, decide: Decide) -> object:
    """Return the policy of a callable from State to the name of an action. Raises InputError when
    it is asked if it is no function.
    """
    return _core.CallablePolicy(held(task, _question(task, decide)))


def _question(task: Task, decide: Decide) -> Ask:
    def ask(packed: bytes, applicable: list[int]) -> int:
        state = task.unpack(packed)
        return checked_number(task, decide(state), state, applicable)

    return ask


def first_of(task: PythonTask) -> object:
    """Return the policy that takes the action which the definition lists first; if it gives a set,
    the first by name.
    """

    def decide(state: State) -> str:
        names = task.definition.actions(task.own_state(state))
        return names[0] if isinstance(names, list | tuple) else min(names)

    return _core.CallablePolicy(_question(task, decide))


def random_of(task: Task, seed: int) -> object:
    """Return the policy that takes an action which depends on seed and state only, not on which
    states were met before.
    """

    def decide(state: State) -> str:
        names = sorted(task.applicable(state))
        question = repr((seed, sorted(state.items(), key=lambda item: item[0])))
        digest = hashlib.blake2b(question.encode("utf-8", "surrogatepass"), digest_size=8)
        return names[int.from_bytes(digest.digest(), "big") % len(names)]

    return _core.CallablePolicy(_question(task, decide))


def predicting(task: Task, model: Any) -> object:
    """Return the policy of a model that is shown what the environment of the task shows, and
    answers with the number of an action: ``model.predict(observation, deterministic=True)``.
    """
    show = task.observation
    assert show is not None
    normal = getattr(model, "get_vec_normalize_env", lambda: None)()

    def decide(state: State) -> str:
        shown_state = show(state)
        if normal is not None:
            shown_state = normal.normalize_obs(shown_state)
        answer, memory = model.predict(shown_state, deterministic=True)
        if memory is not None:
            raise InputError(
                "policy-recurrent", "the policy has a memory: it is no function of the state"
            )
        return task.actions[int(answer)]

    return single(task, decide)


def predicts(model: object) -> bool:
    """Return whether this answers observations, as models of Stable-Baselines3 do."""
    return all(hasattr(model, name) for name in ("predict", "observation_space", "action_space"))


def many(task: Task, function: Batched) -> object:
    """Return the policy of a function of many states. Raises InputError when it is asked if it
    decides in two ways in one state, unless by scores that only rounding tells apart.
    """
    asked = _Batches(task, function)
    question = held_all(task, asked.decide, asked.is_near)
    width = 8 * task.core.words

    def ask_all(packed: bytes, applicable: list[list[int]]) -> list[int]:
        return question(_parted(packed, width), applicable)

    return _core.CallablePolicy(lambda state, actions: ask_all(state, [actions])[0], ask_all)


class _Batches:
    """Asks a function of many states, and keeps the scores of the last batch."""

    def __init__(self, task: Task, function: Batched) -> None:
        self._task = task
        self._function = function
        self._scores: tuple[Sequence[bytes], Reals] | None = None

    def decide(self, states: Sequence[bytes], applicable: Sequence[list[int]]) -> list[int]:
        """Return the number of an action for each state."""
        self._scores = None
        answers = self._function(state_rows(self._task, b"".join(states)))
        if _are_names(answers):
            return _named(self._task, answers, states, applicable)
        outputs = outputs_of(self._function, self._task)
        scores = _checked_scores(answers, len(states), len(outputs))
        self._scores = states, scores
        return best_all(self._task, scores, outputs, states, applicable)

    def is_near(self, state: bytes, first: int, second: int) -> bool:
        """Return whether only rounding tells the scores of two actions apart."""
        if self._scores is None:
            return False
        states, scores = self._scores
        row = dict(zip(outputs_of(self._function, self._task), scores[states.index(state)].tolist(),
                       strict=True))  # fmt: skip
        score, other = (row.get(self._task.actions[number]) for number in (first, second))
        if score is None or other is None:
            return False
        return bool(abs(score - other) <= NEAR * max(map(abs, row.values())))


def _parted(packed: bytes, width: int) -> list[bytes]:
    return [packed[at : at + width] for at in range(0, len(packed), width)]


def scored(task: Task, scores_of: ScoresOf, interface: Interface, *, unfiltered: bool) -> object:
    """Return the policy of a learned model that Python asks: because it defines the task, or
    computes the model.
    """
    if unfiltered:
        raise Unsupported(
            "unfiltered-python-task",
            "an unfiltered policy needs a task whose actions are known beforehand, and a model "
            "that the core computes",
            hint="describe the task with Description or in a JANI file",
        )
    width = 8 * task.core.words

    def ask_all(packed: bytes, applicable: list[list[int]]) -> list[int]:
        scores = scores_of(fed(interface, task, packed))
        return best_all(task, scores, interface.outputs, _parted(packed, width), applicable)

    return _core.CallablePolicy(lambda state, actions: ask_all(state, [actions])[0], ask_all)


# -- numbers of states -----------------------------------------------------------------------


def state_rows(task: Task, packed: bytes) -> Reals:
    """Return the values of packed states, a row each. Raises InputError if one is not a number."""
    return _stacked([_reals(column, name) for name, column in _columns(task, packed)], len(packed))


def fed(interface: Interface, task: Task, packed: bytes) -> Reals:
    """Return what packed states feed to the inputs, a row for each."""
    import numpy as np

    columns = dict(_columns(task, packed))
    count = len(packed) // (8 * task.core.words)
    rows = np.empty((count, len(interface.inputs)))
    for position, entry in enumerate(interface.inputs):
        if entry.one_hot:
            rows[:, position] = _hot(columns, entry.one_hot, count)
        elif entry.variable is None:
            rows[:, position] = entry.constant
        else:
            rows[:, position] = _reals(columns[entry.variable], entry.variable)
        rows[:, position] -= entry.mean
        rows[:, position] /= entry.scale
    return rows


def _hot(columns: dict[str, list[object]], one_hot: Sequence[tuple[str, int]], count: int) -> Reals:
    """Return 1 for each state in which the variables have these values, and 0 for the others."""
    import numpy as np

    is_hot = np.ones(count, dtype=bool)
    for name, value in one_hot:
        is_hot &= _reals(columns[name], name) == value
    return is_hot.astype(np.float64)


def _columns(task: Task, packed: bytes) -> list[tuple[str, list[object]]]:
    return list(zip(task.names, task.columns(packed), strict=True))


def _stacked(columns: list[Any], length: int) -> Reals:
    import numpy as np

    return np.stack(columns, axis=1) if columns else np.empty((length, 0))


def _reals(column: list[Any], name: str) -> Reals:
    import numpy as np

    array = np.array(column)
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    for value in column:
        if not isinstance(value, numbers.Real):
            raise InputError(
                "not-a-number",
                f"the policy takes numbers, but {quoted(name)} is {shown(value)}",
                hint="give a policy that is a function of State",
            )
    return np.array([float(value) for value in column], dtype=np.float64)


# -- decisions -------------------------------------------------------------------------------


def outputs_of(function: Batched, task: Task) -> tuple[str, ...]:
    """Return the actions that the columns of scores are about."""
    if function.actions is not None:
        return function.actions
    if Feature.ACTIONS not in task.features:
        raise InputError(
            "policy-wrong-outputs",
            "the actions of a Python-defined task are known only as they are met",
            hint="give their names: surefoot.batched(function, actions=[...])",
        )
    return tuple(name for name in task.actions if name not in task.silent)


def best_all(
    task: Task,
    scores: Reals,
    outputs: Sequence[str],
    states: Sequence[bytes],
    applicable: Sequence[list[int]],
) -> list[int]:
    """Return the best-scored applicable action of each state; of equal ones the lowest output.

    Where one action alone is applicable it is taken. Raises InputError where several are, and none
    of them is scored.
    """
    positions = {task.action_number(name): at for at, name in enumerate(outputs)}
    choices = []
    for row, state, actions in zip(scores, states, applicable, strict=True):
        scored = [(-row[positions[a]], positions[a], a) for a in actions if a in positions]
        if len(actions) == 1:
            choices.append(actions[0])
            continue
        for score, _, action in scored:
            if math.isnan(score):
                raise policy_error(task, Exception("no-number", action, state))
        if scored:
            choices.append(min(scored)[2])
        else:
            raise policy_error(task, Exception("no-decision", -1, state))
    return choices


def _are_names(answers: Any) -> bool:
    is_list = isinstance(answers, list | tuple) or getattr(answers, "ndim", 0) == 1
    return is_list and len(answers) > 0 and isinstance(answers[0], str)


def _named(
    task: Task, answers: Any, states: Sequence[bytes], applicable: Sequence[list[int]]
) -> list[int]:
    if len(answers) != len(states):
        raise _bad_answers(f"{len(answers):,} decisions for {len(states):,} states")
    return [
        checked_number(task, str(answer) if isinstance(answer, str) else answer, state, actions)
        for answer, state, actions in zip(
            answers, map(task.unpack, states), applicable, strict=True
        )
    ]


def _checked_scores(answers: object, count: int, outputs: int) -> Reals:
    import numpy as np

    if getattr(answers, "requires_grad", False):
        hint = "return scores.detach(), or compute them under torch.no_grad()"
        raise _bad_answers("it returned a tensor that requires grad", hint=hint)
    try:
        scores = np.asarray(answers, dtype=np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise _bad_answers(f"it returned {shown(answers)}") from None
    if scores.shape != (count, outputs):
        shape = f"({count}, {outputs})"
        raise _bad_answers(f"its scores have the shape {scores.shape}, not {shape}")
    if np.isnan(scores).any():
        raise _bad_answers("a score is not a number")
    return scores


def _bad_answers(message: str, *, hint: str = SCORES_HINT) -> InputError:
    return InputError("policy-bad-scores", f"the batch function failed: {message}", hint=hint)
