"""Reading certificates: whether they have the members of one is checked here, no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from surefoot.errors import InputError
from surefoot.files import read_json

MAX_HEAD = 2**24  # characters of the first line of a policy's certificate


def read_certificate(path: str | Path) -> dict[str, object]:
    """Return the content of a certificate's file; whether it proves its claim is not asked.

    Raises InputError if the file is not one (``not-a-certificate``), or of another version
    (``certificate-version``).
    """
    return certificate_from(read_json(path), path)


def certificate_from(content: object, path: str | Path) -> dict[str, Any]:
    """Return the content of a certificate's file if that is what was read."""
    from surefoot.records.evidence import certificate_head

    try:
        certificate_head(content)
    except InputError as error:
        raise error.at(file=str(path)) from None
    assert isinstance(content, dict)  # it is a certificate
    return content


def read_policy_head(path: str | Path) -> dict[str, Any] | None:
    """Return the first line of a policy's certificate; None if the file is not one.

    Raises InputError for another version (``certificate-version``), and if the line has not the
    members of one (``not-a-certificate``).
    """
    try:
        if not Path(path).is_file():
            return None  # a pipe would wait for ever
        with Path(path).open("rb") as file:
            head = json.loads(file.readline(MAX_HEAD))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(head, dict) or "policy_certificate" not in head:
        return None
    from surefoot.records.evidence import policy_head_record

    try:
        policy_head_record(head)
    except InputError as error:
        raise error.at(file=str(path)) from None
    return head


def no_certificate(path: str | Path, message: str) -> InputError:
    return InputError("not-a-certificate", message, file=str(path))
