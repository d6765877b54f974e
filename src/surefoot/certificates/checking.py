"""Handing certificates over to the checker, and its answers in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from surefoot import checker
from surefoot.certificates.about import check_task
from surefoot.certificates.models import model_of
from surefoot.errors import CertificateRejected, InputError, OutOfBudget, printable
from surefoot.policies import Policy
from surefoot.tasks.task import Task

FASTEST_CHECK = 200_000  # entries per second; the checker never reaches that


def check_content(
    task: Task,
    content: Mapping[str, object],
    *,
    policy: Policy | None = None,
    max_seconds: float | None = None,
) -> None:
    """Return if the checker accepts what was read from a certificate's file.

    The policy's decisions are recomputed if it is given. Raises CertificateRejected, OutOfBudget
    after ``max_seconds``, and InputError if the certificate is about another task.
    """
    check_task(task, content.get("task"))
    model = model_of(task, content.get("actions"))
    asked = checkers_policy(task, policy)
    run_checker(checker.check_certificate, model, content, asked, max_seconds)


def run_checker(
    check: Callable[..., None],
    model: object,
    content: object,
    policy: object,
    max_seconds: float | None,
    *,
    spent_seconds: float = 0.0,
) -> None:
    """Return if one of the checker's functions accepts the content of a file.

    Raises CertificateRejected, OutOfBudget and InputError: the checker's errors in our words.
    """
    left = None if max_seconds is None else max_seconds - spent_seconds
    try:
        check(model, content, policy=policy, max_seconds=left)
    except checker.Rejected as error:
        raise CertificateRejected("certificate-rejected", printable(str(error), 2000)) from None
    except checker.OutOfTime:
        raise too_large(max_seconds) from None
    except checker.ModelError as error:
        detail = printable(error.detail, 2000)
        raise InputError(f"model-{error.kind}", f"the checker met {detail}") from None


def too_large(max_seconds: float | None) -> OutOfBudget:
    limit = f"{max_seconds or 0:,.3g} seconds"
    return OutOfBudget("out-of-seconds", f"the certificate cannot be checked within {limit}")


def checkers_policy(task: Task, policy: Policy | None) -> object:
    """Return the policy as the checker asks it; None if there is none to ask."""
    if policy is None:
        return None
    names = task.names
    return lambda state, _: policy.decide({name: state[name] for name in names})
