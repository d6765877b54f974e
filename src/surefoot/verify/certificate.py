"""Certificates that a policy is safe: all states that it reaches, one in each line of a file, or
boxes of states.

The file begins with a line that says what is claimed about which policy of which task. The format
is described in docs/verification.md; :mod:`surefoot.certificates` hands it to the checker.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.certificates import (
    States,
    check_policy_certificate,
    json_piece,
    task_member,
)
from surefoot.errors import InputError, Unsupported, quoted
from surefoot.files import write_pieces
from surefoot.findings.making import policy_part
from surefoot.policies import Policy
from surefoot.records.evidence import POLICY_CLAIM, VERSION, PolicyHead
from surefoot.records.files import members
from surefoot.records.parts import TaskPart
from surefoot.tasks.task import Task
from surefoot.text import counted
from surefoot.verify.question import Question

STATES_PER_PIECE = 65_536


class PolicyCertificate:
    """Evidence that no run of a policy fails: the ``size`` states that it can reach, in a file, or
    boxes that have these in them. ``unit`` is ``state`` or ``box``.

    ``path`` is None if the file could not be written; then ``missing`` says why.
    """

    def __init__(
        self,
        task: Task,
        policy: Policy,
        *,
        path: Path | None,
        size: int,
        missing: str | None = None,
        unit: str = "state",
    ) -> None:
        self.task = task
        self.policy = policy
        self.path = path
        self.size = size
        self.missing = missing
        self.unit = unit

    @property
    def claim(self) -> str:
        """What is claimed."""
        return POLICY_CLAIM

    def check(self, *, max_seconds: float | None = None) -> None:
        """Return if the checker accepts the certificate.

        Raises CertificateRejected if it does not, OutOfBudget if it does not get through in time,
        and Unsupported if there is no file.
        """
        if self.path is None:
            raise Unsupported("certificate-missing", f"there is no certificate: {self.missing}")
        size = self.size if self.unit == "state" else 0
        check_policy_certificate(
            self.task, self.path, policy=self.policy, max_seconds=max_seconds, size=size
        )

    def __repr__(self) -> str:
        return f"<PolicyCertificate {self.claim}, {counted(self.size, self.unit)}>"


def check_place(certificate: bool | str | Path) -> None:
    """Raise InputError if a certificate cannot be written where it is wanted: before the work."""
    if isinstance(certificate, bool):
        return
    file = Path(certificate)
    if "\0" in str(file) or file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(
            "file-not-written",
            f"no certificate can be written to {quoted(str(certificate))}",
            hint="give a file in a directory that is there, as in certificate.jsonl",
        )


def write_certificate(question: Question, reached: Any) -> PolicyCertificate:
    """Return the certificate of the states that were reached, written to its file.

    A file that is too large to be read again is not written. Raises InputError if nothing can be
    written there.
    """
    return _write(question, _pieces(question, reached), size=len(reached), unit="state")


Constraint = tuple[Mapping[str, int], int, int]


def write_box_certificate(
    question: Question,
    boxes: Iterable[Sequence[tuple[object, object]]],
    constraints: Sequence[Constraint],
    *,
    blocked: bool = False,
) -> PolicyCertificate:
    """Return the certificate of a set of states that the policy does not leave, written to its
    file: the states of the boxes that satisfy all constraints, or of no box if ``blocked``.

    A box has the least and the greatest value of each variable, in the order of the task, as
    Python values of its type; a constraint factors of variables, and bounds of the sum.
    """
    rows = [[_entry(low, high) for low, high in box] for box in boxes]
    head = _head(question) | {
        "blocked" if blocked else "boxes": len(rows),
        "constraints": [
            {"factors": dict(factors), "lower": lower, "upper": upper}
            for factors, lower, upper in constraints
        ],
    }
    pieces = (f"{json_piece(each)}\n" for each in (head, *rows))
    return _write(question, pieces, size=len(rows), unit="box")


def _entry(low: object, high: object) -> object:
    """Return the values of a variable in a box, as they stand in the file."""
    return low if low == high else [low, high]


def _write(question: Question, pieces: Iterable[str], *, size: int, unit: str) -> PolicyCertificate:
    path, is_temporary = _path(question.certificate)
    missing = None
    try:
        write_pieces(path, pieces, what="certificate")
    except Unsupported as error:
        missing = error.message
    made = PolicyCertificate(
        question.task,
        question.policy,
        path=path if missing is None else None,
        size=size,
        missing=missing,
        unit=unit,
    )
    if is_temporary:
        weakref.finalize(made, _remove, path)
    return made


def _path(certificate: bool | str | Path) -> tuple[Path, bool]:
    """Return where to write, and whether that goes with the certificate."""
    if not isinstance(certificate, bool):
        return Path(certificate), False
    handle, name = tempfile.mkstemp(prefix="surefoot-", suffix=".jsonl")
    os.close(handle)
    return Path(name), True


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _pieces(question: Question, reached: Any) -> Iterator[str]:
    """Yield the text of the file, some thousand states at a time."""
    yield json_piece(_head(question) | {"states": len(reached)}) + "\n"
    for first in range(0, len(reached), STATES_PER_PIECE):
        packed = reached.copy(first, STATES_PER_PIECE)
        yield "".join(f"{json_piece(row)}\n" for row in States(question.task, packed))


def _head(question: Question) -> dict[str, object]:
    """Return what the first line says about task and policy."""
    head = PolicyHead(
        surefoot=__version__,
        policy_certificate=VERSION,
        claim=POLICY_CLAIM,
        task=TaskPart(**task_member(question.task)),
        policy=policy_part(question.policy),
        variables=list(question.task.names),
    )
    return members(head)
