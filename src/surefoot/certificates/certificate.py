"""Evidence that a state is safe or unsafe, and how it is made from what the core found."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from surefoot import __version__, _core, checker
from surefoot.certificates import checking
from surefoot.certificates.about import check_task, task_member
from surefoot.certificates.checking import checkers_policy, run_checker, too_large
from surefoot.certificates.models import model_of
from surefoot.certificates.rows import Rows, States
from surefoot.certificates.text import pieces_of
from surefoot.errors import CertificateRejected
from surefoot.files import write_pieces
from surefoot.policies import Policy
from surefoot.tasks.state import State
from surefoot.tasks.task import Task

FORMAT = 1  # the version, as in records.evidence


@dataclass(frozen=True)
class Claim:
    """What a certificate should prove; ``radius`` as in its file."""

    verdict: str
    radius: int | str | None
    state: State

    def check(self, content: Mapping[str, Any]) -> None:
        """Raise CertificateRejected if the certificate is about something else."""
        values = content["states"][content["state"]]
        wanted = [self.state[name] for name in content["variables"]]
        is_same = (content["claim"], content["radius"]) == (self.verdict, self.radius)
        if not is_same or values != wanted:
            raise CertificateRejected(
                "certificate-rejected", f"the certificate does not claim {self.verdict}: {self}"
            )

    def __str__(self) -> str:
        return str(self.state)


class Certificate:
    """Evidence that a state is safe or unsafe.

    ``claim`` is ``safe`` or ``unsafe``; ``radius`` is None, a whole number, or ``finite``: unsafe
    however often, but finitely often, a run may differ from the policy. ``size`` counts the
    choices or ranks in it.
    """

    def __init__(
        self,
        task: Task,
        content: Mapping[str, Any],
        *,
        policy: Policy | None = None,
        expected: Claim | None = None,
    ) -> None:
        self.task = task
        self.policy = policy
        self._content = content
        self._expected = expected

    @property
    def claim(self) -> str:
        """What is claimed: safe or unsafe."""
        return str(self._content.get("claim"))

    @property
    def radius(self) -> int | str | None:
        """How often runs may differ from the policy: None for any policy."""
        return self._content.get("radius")

    @property
    def size(self) -> int:
        """How many choices or ranks there are."""
        entries = self._content.get("choices" if self.claim == "safe" else "ranks")
        return len(entries) if isinstance(entries, list | Rows) else 0

    @property
    def num_values(self) -> int:
        """How many values of states there are, which tells how large its file will be."""
        return len(self._content["states"]) * max(len(self._content["variables"]), 1)

    def choice_in_state(self) -> str:
        """Return the action that a certificate of a safe state takes in this state."""
        number = self._content["state"]
        (action,) = {row[-1] for row in self._content["choices"] if row[0] == number}
        return str(self._content["actions"][action])

    def to_dict(self) -> dict[str, object]:
        """Return the content of the certificate's file."""
        items = self._content.items()
        return {name: list(value) if isinstance(value, Rows) else value for name, value in items}

    def question(self) -> dict[str, object]:
        """Return what the certificate is about, without the evidence."""
        names = ("claim", "radius", "task", "policy", "variables")
        number = self._content["state"]
        state = next(itertools.islice(iter(self._content["states"]), number, None))
        return {**{name: self._content[name] for name in names}, "state": state}

    def write(self, path: str | Path) -> None:
        """Write the certificate as a JSON file, which is there completely or not at all."""
        write_pieces(path, self.pieces(), what="certificate")

    def pieces(self) -> Iterator[str]:
        """Yield the JSON text of the certificate, piece by piece."""
        return pieces_of(self._content)

    def check(self, *, max_seconds: float | None = None) -> None:
        """Return if the checker accepts the certificate.

        Raises CertificateRejected if it does not, OutOfBudget if it does not get through in time,
        and InputError if it is about another task. The time to read the task's files is not
        counted: they are read once per task.
        """
        check_task(self.task, self._content.get("task"))
        if max_seconds is not None and self.size > checking.FASTEST_CHECK * max_seconds:
            raise too_large(max_seconds)
        model = model_of(self.task, self._content.get("actions"))
        begin = time.monotonic()
        content = self.to_dict()
        spent = time.monotonic() - begin
        policy = checkers_policy(self.task, self.policy)
        run_checker(
            checker.check_certificate, model, content, policy, max_seconds, spent_seconds=spent
        )
        if self._expected is not None:
            self._expected.check(content)

    def __repr__(self) -> str:
        return f"<Certificate {self.claim}, {self.size:,} entries>"


@dataclass(frozen=True)
class Entries:
    """The evidence of an algorithm that is written in Python; see ``_core.Certificate``.

    ``states`` are packed and distinct, the first is the one that the claim is about; the entries
    have a state's number, and an action's number (-1 for a forced step) or a rank.
    """

    claim: str
    states: bytes = b""
    entry_states: Sequence[int] = ()
    entry_values: Sequence[int] = ()
    entries_left: Sequence[int] = ()
    decisions: Sequence[int] = ()
    stopped: str = ""


def certificate_of(
    task: Task,
    made: _core.Certificate | Entries,
    *,
    radius: int | str | None,
    policy: Policy | None,
    expected: Claim,
) -> Certificate:
    """Return the certificate that the core made for an answer."""
    has_policy = radius is not None
    is_safe, values, decisions = made.claim == "safe", made.entry_values, made.decisions
    used = _Actions(task, [*(values if is_safe else ()), *decisions])
    columns: list[Sequence[int | None]] = [made.entry_states]
    if isinstance(radius, int):
        columns.append(made.entries_left)
    columns.append(used.numbers(values) if is_safe else values)
    content = {
        "surefoot": __version__,
        "certificate": FORMAT,
        "claim": made.claim,
        "radius": radius,
        "task": task_member(task),
        "policy": policy.name if policy is not None and has_policy else None,
        "variables": list(task.names),
        "actions": used.names,
        "state": 0,
        "states": States(task, made.states),
    }
    if has_policy:
        content["decisions"] = used.numbers(decisions)
    content["choices" if is_safe else "ranks"] = Rows(columns)
    return Certificate(task, content, policy=policy if has_policy else None, expected=expected)


class _Actions:
    """The actions that a certificate mentions, with numbers of their own."""

    def __init__(self, task: Task, numbers: Iterable[int]) -> None:
        used = sorted(set(numbers) - {-1})
        all_names = task.actions
        self.names = [all_names[number] for number in used]
        self._new = {-1: None, **{old: new for new, old in enumerate(used)}}

    def numbers(self, old: Iterable[int]) -> list[int | None]:
        """Return the certificate's numbers of core's ones; -1, for none, becomes None."""
        return [self._new[number] for number in old]
