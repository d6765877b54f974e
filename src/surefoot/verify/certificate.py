"""Certificates that a policy is safe: all states that it reaches, one in each line of a file.

The file begins with a line that says what is claimed about which policy of which task. The format
is described in docs/verification.md; :mod:`surefoot.certificates` hands it to the checker.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.certificates import (
    POLICY_CLAIM,
    POLICY_VERSION,
    States,
    check_policy_certificate,
    json_piece,
    task_member,
    write_pieces,
)
from surefoot.errors import InputError, Unsupported, quoted
from surefoot.findings.making import policy_member
from surefoot.policies import Policy
from surefoot.results import counted
from surefoot.tasks.python_task import PythonTask
from surefoot.tasks.task import Task
from surefoot.verify.job import Job

STATES_PER_PIECE = 65_536


class PolicyCertificate:
    """Evidence that no run of a policy fails: the ``size`` states that it can reach, in a file.

    ``path`` is None if the file could not be written; then ``missing`` says why.
    """

    def __init__(
        self,
        task: Task | PythonTask,
        policy: Policy,
        *,
        path: Path | None,
        size: int,
        missing: str | None = None,
    ) -> None:
        self.task = task
        self.policy = policy
        self.path = path
        self.size = size
        self.missing = missing

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
        check_policy_certificate(
            self.task, self.path, policy=self.policy, max_seconds=max_seconds, size=self.size
        )

    def __repr__(self) -> str:
        return f"<PolicyCertificate {self.claim}, {counted(self.size, 'state')}>"


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


def write_certificate(job: Job, reached: Any) -> PolicyCertificate:
    """Return the certificate of the states that were reached, written to its file.

    A file that is too large to be read again is not written. Raises InputError if nothing can be
    written there.
    """
    path, is_temporary = _path(job.certificate)
    missing = None
    try:
        write_pieces(path, _pieces(job, reached), what="certificate")
    except Unsupported as error:
        missing = error.message
    made = PolicyCertificate(
        job.task,
        job.policy,
        path=path if missing is None else None,
        size=len(reached),
        missing=missing,
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


def _pieces(job: Job, reached: Any) -> Iterator[str]:
    """Yield the text of the file, some thousand states at a time."""
    yield json_piece(_head(job, len(reached))) + "\n"
    for first in range(0, len(reached), STATES_PER_PIECE):
        packed = reached.copy(first, STATES_PER_PIECE)
        yield "".join(f"{json_piece(row)}\n" for row in States(job.task, packed))


def _head(job: Job, states: int) -> dict[str, Any]:
    return {
        "surefoot": __version__,
        "policy_certificate": POLICY_VERSION,
        "claim": POLICY_CLAIM,
        "task": task_member(job.task),
        "policy": policy_member(job.policy),
        "variables": list(job.task.names),
        "states": states,
    }
