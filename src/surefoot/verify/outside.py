"""What methods from outside return: none of it is taken on their word."""

from __future__ import annotations

from dataclasses import replace

from surefoot.errors import CertificateRejected, InputError, OutOfBudget, quoted, shown
from surefoot.findings import Finding, finding_of
from surefoot.records import Run, VerifyResult
from surefoot.records.common import VERDICTS
from surefoot.verify.certificate import PolicyCertificate
from surefoot.verify.question import Question

UNCHECKED = "unchecked"
"""reason of a safe verdict by a method from outside that the checker has not accepted"""
NO_REASON = "the method gives no reason"


def taken(result: object, question: Question) -> VerifyResult:
    """Return the result of a method from outside: its ``safe`` is ``unchecked`` unless the checker
    accepts its certificate. Raises InputError (``plugin-error``) for what is no result, and
    CertificateRejected if the certificate or the failing run is wrong.
    """
    name = question.options.method
    if not isinstance(result, VerifyResult) or not _is_result(result):
        raise InputError(
            "plugin-error",
            f"the method {quoted(name)} returned {shown(result)}",
            hint="it must return a VerifyResult: safe, unknown, or unsafe with a run; what is "
            "given as certificate is what write_box_certificate returns",
        )
    result = replace(result, method=name)
    if result.verdict == "unknown":
        return replace(result, reason=result.reason or NO_REASON)
    evidence: PolicyCertificate | Finding | None = result.certificate
    if result.run is not None and result.verdict == "unsafe":
        evidence = finding_of(question.task, question.policy, result.run)
    is_accepted = _is_accepted(evidence, question)
    return result if is_accepted or result.run else replace(result, reason=UNCHECKED)


def _is_result(result: VerifyResult) -> bool:
    """Return whether the parts of a result are what they should be."""
    run, certificate = result.run, result.certificate
    if not (certificate is None or isinstance(certificate, PolicyCertificate)):
        return False
    if result.verdict == "unsafe":
        return isinstance(run, Run) and run.is_complete
    return result.verdict in VERDICTS and run is None


def _is_accepted(evidence: PolicyCertificate | Finding | None, question: Question) -> bool:
    if evidence is None or (isinstance(evidence, PolicyCertificate) and evidence.path is None):
        return False
    try:
        evidence.check(max_seconds=question.options.max_seconds)
    except OutOfBudget:
        return False
    except CertificateRejected as error:
        what = "its run" if isinstance(evidence, Finding) else "its certificate"
        hint = f"the method {quoted(question.options.method)} is wrong, or {what} is"
        raise CertificateRejected(error.code, error.message, hint=hint) from None
    return True
