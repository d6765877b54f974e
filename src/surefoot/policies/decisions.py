"""Decisions of policies, checked; and the errors of those that cannot be taken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from surefoot import _core
from surefoot.errors import InputError, nearest_hint, printable, quoted, shown
from surefoot.tasks.state import State
from surefoot.tasks.task import MAX_STATE_TEXT, Task

if TYPE_CHECKING:
    from surefoot.policies import Policy

Decide = Callable[[State], str]

P = ParamSpec("P")
T = TypeVar("T")


def checked_number(
    task: Task, action: Any, state: State, applicable: list[int] | None = None
) -> int:
    """Return the number of the action a policy decided on.

    Raises InputError if it is not an action, or silent, or not among ``applicable``, where given.
    """
    number = task.action_number(action) if isinstance(action, str) else None
    if number is None:
        raise _unknown_action(task, action, state)
    if action in task.silent:
        raise InputError(
            "policy-silent-action",
            f"the policy decides on {quoted(action)}, which is silent, {_where(state)}",
            hint="silent actions are not for policies to choose",
        )
    if applicable is not None and number not in applicable:
        names = [task.actions[n] for n in applicable]
        raise _not_applicable(action, state, names)
    return number


def _unknown_action(task: Task, action: object, state: State) -> InputError:
    if isinstance(action, Mapping):
        return InputError(
            "policy-stochastic",
            f"the policy returns {shown(action)}, no action, {_where(state)}",
            hint="a policy decides: return the likeliest action, max(given, key=given.get); "
            "distributions are not followed",
        )
    if not isinstance(action, str):
        return InputError(
            "policy-bad-action",
            f"the policy decides on {shown(action)}, {_where(state)}",
            hint="a decision is the name of an action, as text",
        )
    return InputError(
        "policy-unknown-action",
        f"the policy decides on {quoted(action)}, which the task does not have, {_where(state)}",
        hint=nearest_hint(action, task.actions),
    )


def _not_applicable(action: str, state: State, applicable: list[str]) -> InputError:
    some = ", ".join(map(quoted, applicable[:5])) + ", ..." * (len(applicable) > 5)
    return InputError(
        "policy-not-applicable",
        f"the policy decides on {quoted(action)}, which is not applicable, {_where(state)}",
        hint=f"applicable is: {some}" if some else None,
    )


def policy_error(task: Task, error: Exception) -> InputError:
    """Return the user's view of a decision that the core could not take."""
    kind, number, packed = error.args
    state = task.unpack(packed)
    if kind == "nothing-to-decide":
        return InputError("nothing-to-decide", f"no action can be decided on, {_where(state)}")
    if kind == "no-number":
        return InputError(
            "policy-no-number",
            f"the score of {quoted(task.actions[number])} is not a number, {_where(state)}",
            hint="a weight or an input is too large for the policy's precision",
        )
    if kind == "no-decision":
        return InputError("policy-no-decision", f"the policy has no decision, {_where(state)}")
    applicable = [name for name in task.applicable(state) if name not in task.silent]
    return _not_applicable(task.actions[number], state, applicable)


def possible_decision(policy: Policy, state: State) -> str | None:
    """Return what a policy decides; None if it has no decision that can be taken."""
    try:
        return policy.decide(state)
    except InputError as error:
        if not error.code.startswith("policy-"):
            raise
        return None


def _where(state: State) -> str:
    return f"in state {printable(str(state), MAX_STATE_TEXT)}"


def ask_core(task: Task, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
    """Return what the core answers; errors of model and policy come out as InputError."""
    with core_errors(task):
        return call(*args, **options)


@contextmanager
def core_errors(task: Task) -> Iterator[None]:
    """Let errors of model and policy that the core raises come out as InputError."""
    try:
        yield
    except _core.ModelError as error:
        raise task.model_error(error) from None
    except _core.PolicyError as error:
        raise policy_error(task, error) from None
