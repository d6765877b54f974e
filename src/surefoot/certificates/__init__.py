"""Certificates: evidence for a verdict that others can check.

A :class:`Certificate` comes with an answer, or is read from a file. ``check`` hands it to the
checker, which knows nothing of how it was made: it reads the task's files itself. The format is
described in docs/oracles.md.
"""

from surefoot.certificates.about import check_task, identity_of, task_member
from surefoot.certificates.certificate import Certificate, Claim, Entries, certificate_of
from surefoot.certificates.checking import (
    FASTEST_CHECK,
    check_content,
    checkers_policy,
    run_checker,
)
from surefoot.certificates.models import PythonSteps, model_of
from surefoot.certificates.policies import check_policy_certificate, scores_of
from surefoot.certificates.reading import (
    certificate_from,
    read_certificate,
    read_policy_head,
)
from surefoot.certificates.rows import Rows, States
from surefoot.certificates.text import Asked, file_name, json_piece, object_pieces, pieces_of

__all__ = [
    "FASTEST_CHECK",
    "Asked",
    "Certificate",
    "Claim",
    "Entries",
    "PythonSteps",
    "Rows",
    "States",
    "certificate_from",
    "certificate_of",
    "check_content",
    "check_policy_certificate",
    "check_task",
    "checkers_policy",
    "file_name",
    "identity_of",
    "json_piece",
    "model_of",
    "object_pieces",
    "pieces_of",
    "read_certificate",
    "read_policy_head",
    "run_checker",
    "scores_of",
    "task_member",
]
