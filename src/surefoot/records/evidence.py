"""The files that hold evidence: certificates, findings, and records of repairs.

Here are their members and types: a file that has others is not ours. Evidence is not read here
but by the checker, which has a reader of its own, and rejects what is not as it is told here.
Values of states are numbers, or anything that JSON has for Python tasks.
"""

from __future__ import annotations

from typing import Annotated, Generic, Literal, TypeVar

from msgspec import UNSET, Meta, UnsetType

from surefoot.errors import InputError, shown
from surefoot.records.documents import MadePart, Open
from surefoot.records.files import check_version, record_from
from surefoot.records.parts import FaultPart, Part, PolicyPart, Row, TaskPart

VERSION: Literal[1] = 1
"""of the format of each kind of these files"""
POLICY_CLAIM: Literal["policy-safe"] = "policy-safe"
Whole = Annotated[int, Meta(ge=0)]
Deviations = Whole | Literal["inf"] | None
Entries = list[list[Whole | None]]
Proof = TypeVar("Proof")


# -- certificates ------------------------------------------------------------------------------


class CertificateHead(Open, frozen=True, kw_only=True):
    """What a certificate of a state is about; all the rest is for the checker to reject."""

    certificate: Literal[1]
    task: TaskPart


class CertificateBase(Part, tag_field="claim", frozen=True, kw_only=True):
    """What all certificates of states have; ``decisions`` are there with a radius, and only then,
    as is the name of the policy.
    """

    surefoot: str
    certificate: Literal[1]
    radius: Whole | Literal["finite"] | None
    task: TaskPart
    policy: str | None
    variables: list[str]
    actions: list[str]
    state: Whole
    states: list[Row]
    decisions: list[Whole | None] | UnsetType = UNSET

    def __post_init__(self) -> None:
        """Raise ValueError unless what goes with a radius is there if and only if there is one."""
        has_radius = self.radius is not None
        if (self.decisions is not UNSET) is not has_radius:
            raise ValueError("decisions are there with a radius, and only then")
        if (self.policy is not None) is not has_radius:
            raise ValueError("a policy is named with a radius, and only then")


class SafeCertificate(CertificateBase, tag="safe", frozen=True, kw_only=True):
    """Evidence that a state is safe: number of a state, remaining differences if there is a radius,
    number of an action.
    """

    radius: Whole | None
    choices: Entries


class UnsafeCertificate(CertificateBase, tag="unsafe", frozen=True, kw_only=True):
    """Evidence that a state is unsafe: number of a state, remaining differences if the radius is a
    number, rank.
    """

    ranks: Entries


CertificateFile = SafeCertificate | UnsafeCertificate


class PolicyHead(Part, frozen=True, kw_only=True):
    """The first line of evidence that no run of a policy fails; what the lines after it are is told
    by the member that counts them.
    """

    surefoot: str
    policy_certificate: Literal[1]
    claim: Literal["policy-safe"]
    task: TaskPart
    policy: PolicyPart
    variables: list[str]


class StatesHead(PolicyHead, frozen=True, kw_only=True):
    """All that the policy can reach, state by state."""

    states: Whole


class SumPart(Part, frozen=True, kw_only=True):
    """A linear sum of variables that limits a set of states."""

    factors: dict[str, int]
    lower: int
    upper: int


class BoxesHead(PolicyHead, frozen=True, kw_only=True):
    """Boxes that have all that the policy can reach in them."""

    boxes: Whole
    constraints: list[SumPart]


class BlockedHead(PolicyHead, frozen=True, kw_only=True):
    """Boxes that have nothing in them that the policy can reach."""

    blocked: Whole
    constraints: list[SumPart]


HEADS: dict[str, type[PolicyHead]] = {
    "states": StatesHead,
    "boxes": BoxesHead,
    "blocked": BlockedHead,
}
"""by the member that says what the other lines are"""


# -- findings ----------------------------------------------------------------------------------


class FindingRun(Part, frozen=True, kw_only=True):
    """The run of a finding; states are the values of the variables in their order."""

    run: int
    seed: int
    known_reachable: bool
    made: MadePart | UnsetType = UNSET
    variables: list[str]
    actions: list[str]
    states: list[Row]

    def __post_init__(self) -> None:
        """Raise ValueError for a start that was made, and is said to be reachable."""
        if self.made is not UNSET and self.known_reachable:
            raise ValueError("a start that was made is not known to be reachable")


class FindingFault(FaultPart[Row], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The decision that a finding is about."""

    step: Whole
    outcome: Row
    uncertified: list[str]
    more_unknown: bool
    radius: Whole | None
    deviations: Deviations


class FindingBug(Part, frozen=True, kw_only=True):
    """The state that a finding is about."""

    step: Whole
    state: Row
    radius: Whole | None
    deviations: Deviations


class FaultCertificates(Part, frozen=True, kw_only=True):
    """The outcome is unsafe, each alternative is safe, and how many deviations it takes."""

    outcome: CertificateFile
    alternatives: dict[str, CertificateFile]
    deviations: list[CertificateFile]


class BugCertificates(Part, frozen=True, kw_only=True):
    """The state is safe."""

    state: CertificateFile
    deviations: list[CertificateFile]


class FindingHead(Part, frozen=True, kw_only=True):
    """What all findings have."""

    surefoot: str
    finding: Literal[1]
    kind: Literal["fault", "bug", "run"]
    task: TaskPart
    policy: PolicyPart
    run: FindingRun


class FaultFinding(FindingHead, Generic[Proof], frozen=True, kw_only=True):
    """A fault on a failing run."""

    kind: Literal["fault"]
    fault: FindingFault
    certificates: Proof


class BugFinding(FindingHead, Generic[Proof], frozen=True, kw_only=True):
    """A bug on a failing run."""

    kind: Literal["bug"]
    bug: FindingBug
    certificates: Proof


class RunFinding(FindingHead, frozen=True, kw_only=True):
    """A failing run alone."""

    kind: Literal["run"]


FINDINGS: dict[str, type[FindingHead]] = {
    "fault": FaultFinding[FaultCertificates],
    "bug": BugFinding[BugCertificates],
    "run": RunFinding,
}
"""the findings that there are, by kind"""
AnyProof = dict[str, object]
UNPROVED: dict[str, type[FindingHead]] = {
    "fault": FaultFinding[AnyProof],
    "bug": BugFinding[AnyProof],
    "run": RunFinding,
}
"""findings as they are read: what stands in their certificates is for the checker to reject"""


# -- repairs -----------------------------------------------------------------------------------


class RepairedFault(FaultPart[Row], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was decided before, and is decided after, in the state of a fault."""

    before: str | None
    after: str


class RepairFile(Part, frozen=True, kw_only=True):
    """The faults that are gone, and by which policies."""

    surefoot: str
    repair: Literal[1]
    task: TaskPart
    before: PolicyPart
    after: PolicyPart
    variables: list[str]
    faults: Annotated[list[RepairedFault], Meta(min_length=1)]
    any_other: bool
    distance: Annotated[float, Meta(ge=0)]


# -- reading -----------------------------------------------------------------------------------


def certificate_head(content: object) -> CertificateHead:
    """Return what is read of a certificate of a state before it is checked: its task. Raises
    InputError (``not-a-certificate``, ``certificate-version``).
    """
    code = "not-a-certificate"
    check_version(content, "certificate", VERSION, code=code)
    return record_from(content, CertificateHead, code=code, what="a certificate")


def policy_head_record(content: object) -> PolicyHead:
    """Return the first line of a policy's certificate. Raises InputError as above."""
    code = "not-a-certificate"
    version_code = "certificate-version"
    check_version(
        content, "policy_certificate", VERSION, code=code, what="certificate", other=version_code
    )
    assert isinstance(content, dict)  # it has a version
    kinds = [kind for name, kind in HEADS.items() if name in content] or [StatesHead]
    return record_from(content, kinds[0], code=code, what="a certificate")


def finding_record(content: object) -> FindingHead:
    """Return a finding of any kind. Raises InputError (``not-a-finding``, ``finding-version``)."""
    code = "not-a-finding"
    check_version(content, "finding", VERSION, code=code)
    assert isinstance(content, dict)  # it has a version
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in UNPROVED:
        raise InputError(code, f"there are no findings of kind {shown(kind)}", place="/kind")
    return record_from(content, UNPROVED[kind], code=code, what="a finding")


def repair_file(content: object) -> RepairFile:
    """Return the record of a repair. Raises InputError (``not-a-repair``, ``repair-version``)."""
    check_version(content, "repair", VERSION, code="not-a-repair")
    return record_from(content, RepairFile, code="not-a-repair", what="a repair")
