"""Tasks as the checker sees them: read by itself from the same files where there are any."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

from surefoot import checker
from surefoot.errors import Unsupported, printable
from surefoot.tasks.compiled_task import CompiledTask, has_description
from surefoot.tasks.front_ends import task_text
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task

_MODELS: weakref.WeakKeyDictionary[Task, checker.Model] = weakref.WeakKeyDictionary()


def model_of(task: Task, actions: object) -> checker.Model | PythonSteps:
    """Return the task as the checker sees it, from the same files where there are any."""
    if isinstance(task, PythonTask):
        return PythonSteps(task, actions)
    model = _MODELS.get(task)
    if model is None:
        try:
            assert has_description(task)
            model = _MODELS[task] = _load(task)
        except (checker.ReadError, checker.NotSupported, checker.ModelError) as error:
            raise Unsupported(
                "checker-cannot-read",
                f"the checker cannot read the task: {printable(str(error), 2000)}",
                hint="--no-check prints answers without checking them",
            ) from None
    return model


def _load(task: CompiledTask) -> checker.Model:
    source = task.source
    files = None if source is None else source.front_end.checker_files
    if source is not None and files is not None:
        path, options = files(source)
        return checker.load(path, **options)
    # Without costs, which no claim is about.
    return checker.load_text("".join(task_text(task.description)), task.name)


class PythonSteps:
    """A Python-defined task as the checker takes it: the definition's own methods.

    Which actions there are is known only where they are applicable, so those that the certificate
    names are taken to exist.
    """

    silent: frozenset[str] = frozenset()

    def __init__(self, task: PythonTask, actions: object) -> None:
        self._task = task
        self._definition = task.definition
        self.variables = tuple(_AnyValue(name, "any", 0, 0) for name in task.names)
        named = actions if isinstance(actions, list) else []
        self.actions = tuple(name for name in named if isinstance(name, str))

    def applicable(self, state: Mapping[str, object]) -> tuple[str, ...]:
        """Return the names of the applicable actions."""
        return tuple(dict.fromkeys(self._definition.actions(self._task.own_state(state))))

    def outcomes(self, state: Mapping[str, object], action: str) -> list[dict[str, object]]:
        """Return the outcomes of an action by the names of the variables."""
        outcomes = self._definition.outcomes(self._task.own_state(state), action)
        states = [self._task.state(outcome) for outcome in outcomes]
        return [{name: _frozen(value) for name, value in state.items()} for state in states]

    def starts(self, limit: int) -> list[dict[str, object]]:
        """Return all start states by the names of the variables."""
        starts = self._starts()
        return [{name: _frozen(value) for name, value in state.items()} for state in starts]

    def is_start(self, state: Mapping[str, object]) -> bool:
        """Return whether runs may start here."""
        here = self._task.own_state(state)
        return any(here == self._task.own_state(each) for each in self._starts())

    def _starts(self) -> list[Mapping[str, object]]:
        return [self._task.state(each) for each in self._definition.start()]

    def is_fail(self, state: Mapping[str, object]) -> bool:
        """Return whether the state fails."""
        return bool(self._definition.is_fail(self._task.own_state(state)))

    def is_goal(self, state: Mapping[str, object]) -> bool:
        """Return whether the state is a goal."""
        return bool(self._definition.is_goal(self._task.own_state(state)))


class _AnyValue(checker.Variable):
    """A variable of a Python-defined task, which may have any value."""

    def accept(self, value: object) -> Any:
        """Return the value; lists, as JSON has them, become the tuples they were."""
        return _frozen(value)

    def has(self, value: Any) -> bool:
        """Return True: what is a state, the definition says."""
        return True


def _frozen(value: object) -> object:
    if isinstance(value, list):
        return tuple(_frozen(each) for each in value)
    try:
        hash(value)
    except TypeError:
        raise ValueError("not a value of a state") from None
    return value
