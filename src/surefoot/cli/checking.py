"""What ``decide`` does with certificates before it prints an answer: check them, or keep them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from surefoot.errors import CertificateRejected, OutOfBudget, Unsupported

if TYPE_CHECKING:
    from surefoot.certificates import Certificate
    from surefoot.results import Answer

DIRECTORY = Path("surefoot-certificates")
OUR_BUG = "this is a bug of Surefoot, please report it"


@dataclass(frozen=True)
class Evidence:
    """What became of a certificate: whether it was accepted, and where it is."""

    checked: bool
    file: Path | None


@dataclass(frozen=True)
class Row:
    """An answer, and what became of its certificates; ``deviations`` are those of the number."""

    answer: Answer
    evidence: Evidence | None
    deviations: tuple[Evidence, ...] = ()

    @property
    def all_evidence(self) -> tuple[Evidence, ...]:
        """The evidence of the verdict and of the deviations."""
        return (*([self.evidence] if self.evidence else []), *self.deviations)

    @property
    def checked(self) -> bool | None:
        """Whether everything was accepted; None where there is nothing to check."""
        found = self.all_evidence
        return all(each.checked for each in found) if found else None

    @property
    def unchecked_files(self) -> list[Path | None]:
        """The files of what was not checked; None for one that could not be written."""
        return [each.file for each in self.all_evidence if not each.checked]

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain data."""
        content = self.answer.to_dict()
        if self.evidence is not None and self.evidence.file is not None:
            content["certificate"] = str(self.evidence.file)
        files = [str(each.file) for each in self.deviations if each.file is not None]
        if files:
            content["deviations_certificates"] = files
        return {**content, "checked": self.checked}


@dataclass(frozen=True)
class Checking:
    """How certificates are treated: ``seconds`` is None if none is checked; ``directory`` is where
    all of them are kept, or None to keep only those that were not checked.
    """

    seconds: float | None
    directory: Path | None

    def row(self, answer: Answer) -> Row:
        """Return the answer with what became of its certificates."""
        deviations = answer.deviations.certificates if answer.deviations is not None else ()
        return Row(
            answer,
            self._evidence_of(answer) if answer.is_known else None,
            tuple(self.evidence(each) for each in deviations),
        )

    def _evidence_of(self, answer: Answer) -> Evidence:
        try:
            certificate = answer.certificate
        except OutOfBudget:
            return Evidence(checked=False, file=None)
        assert certificate is not None
        return self.evidence(certificate)

    def evidence(self, certificate: Certificate) -> Evidence:
        """Return what became of a certificate. Raises CertificateRejected, and keeps the file."""
        try:
            checked = self._is_accepted(certificate)
        except CertificateRejected as error:
            file = self._written(certificate)
            hint = OUR_BUG if file is None else f"{OUR_BUG}; the certificate is in {file}"
            raise CertificateRejected(error.code, error.message, hint=hint) from None
        is_kept = self.directory is not None or not checked
        return Evidence(checked, self._written(certificate) if is_kept else None)

    def _is_accepted(self, certificate: Certificate) -> bool:
        if self.seconds is None:
            return False
        try:
            certificate.check(max_seconds=self.seconds)
        except OutOfBudget:
            return False
        return True

    def _written(self, certificate: Certificate) -> Path | None:
        """Return the file the certificate was written to; None if it cannot be written."""
        directory = self.directory or DIRECTORY
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / _file_name(certificate)
        try:
            certificate.write(file)
        except Unsupported:
            return None
        return file


def _file_name(certificate: Certificate) -> str:
    """Return a name of our own making, the same for the same question."""
    question = json.dumps(certificate.question(), default=repr, sort_keys=True)
    digest = hashlib.sha256(question.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{certificate.claim}-{digest[:16]}.json"
