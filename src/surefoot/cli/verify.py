"""``surefoot verify``."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    TaskArguments,
    TaskSource,
    checked_options,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.saving import SaveArguments, print_saved, saved_member
from surefoot.errors import CertificateRejected
from surefoot.options import VerifyOptions

if TYPE_CHECKING:
    from surefoot.cli.checking import Checking
    from surefoot.evidence.findings import Evidence
    from surefoot.policies import Policy
    from surefoot.records import VerifyResult

EXIT_CODES = {"safe": 0, "unsafe": 1, "unknown": 4}


@dataclass(frozen=True, kw_only=True)
class EvidenceArguments:
    """What to do with the evidence for the verdict."""

    certificate: Annotated[Path | None, Parameter(name="--certificate")] = None
    """keep the certificate of a safe policy in this file, for surefoot check"""
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None
    """keep a finding of the failing run in this directory"""
    check_seconds: float = 10.0
    """print the verdict as unchecked if checking its evidence takes longer"""
    no_check: Annotated[bool, Parameter(name="--no-check", show_default=False)] = False
    """print the verdict as unchecked"""
    trust_unchecked: Annotated[bool, Parameter(show_default=False)] = False
    """exit with 0 for safe (unchecked), the word of a method from outside alone, not with 4"""

    def seconds(self) -> float | None:
        """Return how long to check, None for not at all. Raises InputError for a bad value."""
        from surefoot.cli.checking import seconds_to_check

        return seconds_to_check(self.check_seconds, no_check=self.no_check)

    def checking(self) -> Checking:
        """Return how the finding of a failing run is treated."""
        from surefoot.cli.checking import Checking

        return Checking(self.seconds(), self.out, unchecked=Path("surefoot-findings"))

    def given(self) -> dict[str, object]:
        """Return the choice as plain data."""
        paths = {"certificate": self.certificate, "out": self.out}
        return {**asdict(self), **{name: p and str(p) for name, p in paths.items()}}


@dataclass(frozen=True)
class Verified:
    """A verdict, and what became of its evidence. ``checked`` is None where there is none."""

    result: VerifyResult
    checked: bool | None = None
    file: Path | None = None
    missing: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Return it as plain data."""
        content = {**self.result.to_dict(), "checked": self.checked}
        name = "certificate" if self.result.verdict == "safe" else "finding"
        if self.file is not None:
            content[name] = str(self.file)
        if self.missing is not None:
            content[f"{name}_missing"] = self.missing
        return content


def verify(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    options: Annotated[VerifyOptions, Parameter(name="*")] = VerifyOptions(),
    evidence: Annotated[EvidenceArguments, Parameter(name="*")] = EvidenceArguments(),
    objective: ObjectiveName = "safety",
    saving: Annotated[SaveArguments, Parameter(name="*")] = SaveArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Prove that no run of a policy fails, or show one that does.

    Runs begin in any start state, and any outcome may happen. Several methods are
    tried with one budget of seconds and memory, and the first verdict counts.
    --method takes one of them alone: box, predicates and ic3 look at sets of states,
    for policies that are trees or networks; explicit looks at single states, for
    every policy. A failing run, and the certificate of a safe policy, are checked
    by independent code before they are printed; --certificate and -o keep them, and
    --save puts the run into the corpus.
    Exit code 0 if the policy is safe, 1 if a run fails, 4 if neither is known.

    For example:
      surefoot verify truck.jani --property safety.jani --policy truck.onnx
      surefoot verify "domain:one-way-line?packages=3&locations=4" --policy first
      surefoot verify truck.jani --policy truck.ubj --certificate safe.jsonl
      surefoot verify truck.jani --policy truck.ubj --method box --max-seconds 60
      surefoot verify truck.jani --policy truck.ubj --method predicates \\
          --predicates predicates.json
    """
    from surefoot.cli.output import document, json_text
    from surefoot.cli.verify_text import print_verified

    policy.check_given()
    saving.check()
    deadline = Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        options = _checked_options(options, evidence)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=options.seed)
        evidence.checking().prepare()
    begin = time.perf_counter()
    verified = _verified(loaded_policy, options, evidence, objective, deadline)
    failing = [] if verified.result.run is None else [verified.result.run]
    seed, left = options.seed, deadline.left
    saved = saving.saved(loaded_policy, failing, seed=seed, seconds=left)
    if json:
        content = document(
            "verify",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={
                **asdict(options),
                **policy.given(),
                **evidence.given(),
                **saving.given(),
                **task_arguments.given(),
            },
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result={
                **{key: value for key, value in verified.to_dict().items() if key != "seconds"},
                **saved_member(saved),
            },
        )
        print(json_text(content))
    else:
        print_verified(loaded_policy, verified)
        print_saved(saved)
    return _exit_code(verified.result, evidence)


def _exit_code(result: VerifyResult, evidence: EvidenceArguments) -> int:
    """Return 4 for what only a method from outside says to be safe, unless that is trusted."""
    from surefoot.verify import UNCHECKED

    is_unchecked = result.verdict == "safe" and result.reason == UNCHECKED
    if is_unchecked and not evidence.trust_unchecked:
        return EXIT_CODES["unknown"]
    return EXIT_CODES[result.verdict]


def _checked_options(options: VerifyOptions, evidence: EvidenceArguments) -> VerifyOptions:
    """Return the options. Raises InputError for a bad one, before anything is read."""
    from surefoot.verify import METHODS
    from surefoot.verify.certificate import check_place

    options = checked_options(options)
    METHODS.check(options.method)
    if evidence.certificate is not None:
        check_place(evidence.certificate)
    evidence.seconds()
    return options


# -- the evidence ------------------------------------------------------------------------------


def _verified(
    policy: Policy,
    options: VerifyOptions,
    evidence: EvidenceArguments,
    objective: str,
    deadline: Deadline,
) -> Verified:
    """Return the verdict, with its evidence checked and kept as it was asked for."""
    from surefoot.verify import verify as run

    wanted: bool | Path = evidence.certificate or evidence.seconds() is not None
    with deadline.working("verifying") as progress:
        result = run(
            policy.task,
            policy,
            objective=objective,
            options=deadline.within(options),
            progress=progress.verified,
            watch=progress.method,
            certificate=wanted,
        )
    with deadline.working("checking the evidence"):
        if result.verdict == "unsafe":
            kept = _finding(policy, result, evidence.checking().before(deadline))
            return Verified(result, kept.checked, kept.file, kept.missing)
        if result.verdict == "safe":
            return _certified(result, policy, evidence, deadline)
    return Verified(result)


def _finding(policy: Policy, result: VerifyResult, checking: Checking) -> Evidence:
    from surefoot.findings import finding_of

    assert result.run is not None
    return checking.evidence(finding_of(policy.task, policy, result.run))


def _certified(
    result: VerifyResult, policy: Policy, evidence: EvidenceArguments, deadline: Deadline
) -> Verified:
    """Return the verdict ``safe`` with whether the checker accepts it. Raises
    CertificateRejected if it does not.
    """
    from surefoot.evidence.findings import is_accepted, why_rejected

    certificate, seconds = result.certificate, evidence.seconds()
    if certificate is None or certificate.path is None:
        missing = None if certificate is None else certificate.missing
        return Verified(result, checked=False, missing=missing)
    try:
        checked = seconds is not None and is_accepted(
            certificate, seconds=min(seconds, deadline.left)
        )
    except CertificateRejected as error:
        raise CertificateRejected(error.code, error.message, hint=why_rejected(policy)) from None
    return Verified(result, checked, evidence.certificate)
