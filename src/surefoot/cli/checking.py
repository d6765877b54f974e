"""What is done with certificates and findings before they are printed: check them, keep them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, OutOfBudget, quoted

if TYPE_CHECKING:
    from surefoot.certificates import Certificate
    from surefoot.cli.deadline import Deadline
    from surefoot.evidence.findings import Evidence
    from surefoot.findings import Finding
    from surefoot.records import Answer

CHECK_SHARE = 0.5  # of the time that is left, for a check: others may follow
DIRECTORY = Path("surefoot-certificates")


@dataclass(frozen=True)
class Row:
    """An answer, and what became of its certificates; ``deviations`` are those of the number.

    ``check_seconds`` is what making and checking them took.
    """

    answer: Answer
    evidence: Evidence | None
    deviations: tuple[Evidence, ...] = ()
    check_seconds: float = 0.0

    @property
    def all_evidence(self) -> tuple[Evidence, ...]:
        """The evidence of the verdict and of the deviations."""
        return (*([self.evidence] if self.evidence else []), *self.deviations)

    @property
    def checked(self) -> bool | None:
        """Whether everything was accepted; None where there is nothing to check."""
        evidence = self.all_evidence
        return all(each.checked for each in evidence) if evidence else None

    @property
    def unchecked(self) -> list[Evidence]:
        """What was not checked."""
        return [each for each in self.all_evidence if not each.checked]

    def to_dict(self) -> dict[str, object]:
        """Return the row as plain data."""
        content = self.answer.to_dict()
        if self.evidence is not None and self.evidence.file is not None:
            content["certificate"] = str(self.evidence.file)
        if self.evidence is not None and self.evidence.missing is not None:
            content["certificate_missing"] = self.evidence.missing
        files = [str(each.file) for each in self.deviations if each.file is not None]
        if files:
            content["deviations_certificates"] = files
        return {**content, "checked": self.checked}


@dataclass(frozen=True)
class Checking:
    """How certificates are treated: ``seconds`` is None if none is checked; ``directory`` is where
    all of them are kept, or None to keep only those that were not checked, in ``unchecked``.
    """

    seconds: float | None
    directory: Path | None
    unchecked: Path = DIRECTORY
    deadline: Deadline | None = None

    def before(self, deadline: Deadline) -> Checking:
        """Return the same for a command that has a deadline: what is too late is unchecked."""
        return replace(self, deadline=deadline)

    @property
    def is_over(self) -> bool:
        """Whether no time is left to make or check anything."""
        return self.deadline is not None and not self.deadline.left

    def row(self, answer: Answer) -> Row:
        """Return the answer with what became of its certificates."""
        begin = time.monotonic()
        deviations = answer.deviations.certificates if answer.deviations is not None else ()
        evidence = self._evidence_of(answer) if answer.is_known else None
        others = tuple(self.evidence(each) for each in deviations)
        return Row(answer, evidence, others, time.monotonic() - begin)

    def _evidence_of(self, answer: Answer) -> Evidence:
        from surefoot.evidence.findings import Evidence

        begin = time.monotonic()
        if self.is_over:
            return Evidence(checked=False, file=None, missing="no time was left to make it")
        try:
            certificate = answer.certificate
        except OutOfBudget as error:
            return Evidence(checked=False, file=None, missing=why_missing(error))
        if certificate is None:
            return Evidence(checked=False, file=None, missing="the oracle makes none")
        return self.evidence(certificate, spent_seconds=time.monotonic() - begin)

    def evidence(
        self, certificate: Certificate | Finding, *, spent_seconds: float = 0.0
    ) -> Evidence:
        """Return what became of a certificate or finding. Raises CertificateRejected, and keeps it.

        ``spent_seconds``, for making it, are taken from the time for checking it.
        """
        from surefoot.evidence.findings import evidence_of, why_rejected

        left = None
        if self.seconds is not None and not self.is_over:
            left = self.seconds - spent_seconds
            if self.deadline is not None:
                left = min(left, CHECK_SHARE * self.deadline.left)
        hint = why_rejected(certificate.policy)
        return evidence_of(certificate, self._kept, seconds=left, hint=hint)

    def prepare(self) -> None:
        """Make the directory where all certificates are kept. Raises InputError if it cannot be."""
        if self.directory is not None:
            _make(self.directory)

    def _kept(self, certificate: Certificate | Finding, checked: bool) -> Path | None:
        """Return the file that a certificate was written to; None if it need not be kept."""
        if checked and self.directory is None:
            return None
        from surefoot.certificates import file_name

        directory = self.directory or self.unchecked
        _make(directory)
        file = directory / file_name(certificate)
        certificate.write(file)
        return file


def seconds_to_check(seconds: float, *, no_check: bool) -> float | None:
    """Return how long a check may take, None for no check at all, as --check-seconds and --no-check
    say. Raises InputError for an impossible number of seconds.
    """
    if not 0 <= seconds < float("inf"):
        text = f"--check-seconds must be a finite number of at least 0, not {seconds}"
        raise InputError("bad-option", text)
    return None if no_check else seconds


def why_missing(error: OutOfBudget) -> str:
    """Return why a certificate could not be made."""
    if error.code == "certificate-too-large":
        return "it is too large to be written"
    return f"ran out of {error.code.removeprefix('out-of-')} while making it"


def _make(directory: Path) -> None:
    """Make the directory unless it is there. Raises InputError if nothing can be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError("bad-option", f"{quoted(str(directory))} is not a directory") from None
    except OSError as error:
        reason = error.strerror or str(error)
        text = f"the directory {quoted(str(directory))} cannot be made: {reason}"
        raise InputError("bad-option", text) from None
    if not os.access(directory, os.W_OK | os.X_OK):
        text = f"nothing can be written to the directory {quoted(str(directory))}"
        raise InputError("bad-option", text)
