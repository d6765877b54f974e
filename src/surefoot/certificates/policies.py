"""Checking the certificate of a policy: no run of it fails."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path

from surefoot import _core, checker
from surefoot.certificates import checking
from surefoot.certificates.about import check_task
from surefoot.certificates.checking import run_checker, too_large
from surefoot.certificates.models import model_of
from surefoot.certificates.reading import MAX_HEAD, no_certificate, read_policy_head
from surefoot.errors import NOT_DETERMINISTIC, CertificateRejected, InputError, quoted
from surefoot.policies import Policy
from surefoot.policies.identity import disagreement, is_other
from surefoot.tasks.task import Task

MAX_ROW = 2**20  # and of each of the others


def check_policy_certificate(
    task: Task,
    path: str | Path,
    *,
    policy: Policy,
    max_seconds: float | None = None,
    size: int = 0,
) -> None:
    """Return if the checker accepts the file as evidence that no run of the policy fails.

    Raises CertificateRejected, OutOfBudget after ``max_seconds``, and InputError if the certificate
    is about another task or policy. ``size`` is the number of states, where that is known.
    """
    head = read_policy_head(path)
    if head is None:
        raise no_certificate(path, "the file is not a certificate of a policy")
    check_task(task, head["task"])
    _check_same_policy(policy, head["policy"])
    if max_seconds is not None and size > checking.FASTEST_CHECK * max_seconds:
        raise too_large(max_seconds)
    model = model_of(task, [])
    check = functools.partial(checker.check_policy_safety, is_unfiltered=policy.unfiltered)
    if "states" not in head:
        check = functools.partial(check, scores=scores_of(policy))
    run_checker(check, model, _lines(path), decisions_of(policy), max_seconds)


def _check_same_policy(policy: Policy, claimed: Mapping[str, object]) -> None:
    """Raise InputError for another policy by its SHA-256, or by its name where there is none, and
    CertificateRejected if the certificate says anything else about it that is not so.
    """
    hint = "it has changed since, or was loaded with other options"
    message = f"the certificate is about another policy than {quoted(policy.name)}"
    if is_other(policy, claimed):
        raise InputError("certificate-other-policy", message, hint=hint)
    if (reason := disagreement(policy, claimed)) is not None:
        raise CertificateRejected("certificate-other-policy", f"{message}: {reason}", hint=hint)


def scores_of(policy: Policy) -> dict[str, object] | None:
    """Return how a policy decides, as the checker takes it: lists, numbers and strings. None for
    one that has to be asked.
    """
    model, interface = policy.model, policy.interface
    if isinstance(policy.core, _core.FirstPolicy | _core.RandomPolicy):
        return {"rule": "first" if isinstance(policy.core, _core.FirstPolicy) else "any"}
    if model is None or interface is None or model.kind == "graph":
        return None
    if any(each.one_hot for each in interface.inputs):
        return None
    inputs = [
        {name: getattr(entry, name) for name in ("variable", "constant", "mean", "scale")}
        for entry in interface.inputs
    ]
    return {"inputs": inputs, "outputs": list(interface.outputs), "model": _plain(model)}


def _plain(value: object) -> object:
    """Return a model, or a part of one, as plain data."""
    if is_dataclass(value):
        members = {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
        kind = getattr(value, "kind", None)
        return members if kind is None else {"kind": kind, **members}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def _lines(path: str | Path) -> Iterator[str]:
    """Yield the lines of a file; one that is too long, or no text, is rejected."""
    limit = MAX_HEAD
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            while line := file.readline(limit):
                if len(line) == limit:
                    raise checker.Rejected("a line is too long")
                yield line
                limit = MAX_ROW
    except UnicodeDecodeError:
        raise checker.Rejected("the file is not text") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            "file-not-readable", f"the file cannot be read: {reason}", file=str(path)
        ) from None


def decisions_of(policy: Policy) -> Callable[[Sequence[Mapping[str, object]]], list[str | None]]:
    """Return the policy as the checker asks it about many states; None where what it decides is
    not applicable.
    """

    def decide_all(states: Sequence[Mapping[str, object]]) -> list[str | None]:
        try:
            return list(policy.decide_all(states))
        except InputError as error:
            if not error.code.startswith("policy-") or error.code == NOT_DETERMINISTIC:
                raise
        return [decide(state) for state in states]

    def decide(state: Mapping[str, object]) -> str | None:
        try:
            return policy.decide(state)
        except InputError as error:
            if error.code == "policy-not-applicable":
                return None
            if not error.code.startswith("policy-") or error.code == NOT_DETERMINISTIC:
                raise
            raise checker.Rejected(f"the policy does not decide: {error.message}") from None

    return decide_all
