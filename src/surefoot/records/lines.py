"""The lines of a journal, one for each stage of the loop that is complete.

* ``begin``: the start states. ``before``, ``after``: an evaluation
* ``faults``: what fuzzing and the fault analysis found in a round, or the analysis of the run that
  verification found, or of where boxes get stuck (``from`` is ``fuzz``, ``verify`` or ``boxes``)
* ``repair``: where the repaired policy is, and what was changed. ``verify``: a verdict
* ``end``: no more rounds, why, and which policy is the best. ``result``: the last line
* ``extend``: the campaign got more time; an end before it counts no more

Each has its number ``n``, ``seconds`` by stage, the ``files`` that it is about with their SHA-256,
and ``total_seconds`` of the campaign so far.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from surefoot.records.files import record_from
from surefoot.records.parts import FaultPart, Part, PlainState
from surefoot.records.runs import EvaluateResult

Number = bool | int | float


class LineBase(Part, tag_field="kind", frozen=True, kw_only=True):
    """What all lines have."""

    n: int = 0
    seconds: dict[str, float]
    total_seconds: float = 0.0
    files: dict[str, str] = field(default_factory=dict)
    check: str = ""
    """what ends a line in the file; the journal puts it there, and takes it off"""


class StartsPart(Part, rename={"are_all": "all"}, frozen=True, kw_only=True):
    """How many start states there are, and the hash by which they are known again."""

    debugging: int
    evaluation: int
    are_all: bool
    disjoint: bool
    sha256: str


class BeginLine(LineBase, tag="begin", frozen=True, kw_only=True):
    """The start states were drawn."""

    starts: StartsPart


class BeforeLine(LineBase, tag="before", frozen=True, kw_only=True):
    """The policy was evaluated as it came."""

    result: EvaluateResult


class AfterLine(LineBase, tag="after", frozen=True, kw_only=True):
    """The final policy was evaluated."""

    result: EvaluateResult


class FaultLine(FaultPart[PlainState], frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fault, or a suspect, in the file of a round; ``steps`` are those of its run."""

    outcome: PlainState
    steps: int
    step: int
    more_unknown: bool


class FindingPart(Part, frozen=True, kw_only=True):
    """The file of a finding, whether it was checked in time, and which fault it is about."""

    file: str
    checked: bool
    fault: int


class FaultsLine(LineBase, tag="faults", rename={"origin": "from"}, frozen=True, kw_only=True):
    """Runs of a policy were looked at."""

    iteration: int
    origin: Literal["fuzz", "verify", "boxes"]
    runs: int
    unsafe_runs: int
    is_cut: bool
    new_faults: int
    unavoidable: int
    undecided: int
    why_undecided: str | None
    faults: str | None
    findings: tuple[FindingPart, ...]
    new_suspects: int
    suspects: str | None
    verdict: Literal["unsafe"] | None = None
    """whether boxes found that a run from a start state fails"""

    @property
    def is_new(self) -> bool:
        """Whether there is something to repair that no earlier round has found."""
        return bool(self.new_faults or self.new_suspects)

    @property
    def is_precaution(self) -> bool:
        """Whether there is something to repair that only makes the policy easier to verify."""
        return self.origin == "boxes" and self.is_new and self.verdict is None


class ExamplePart(Part, frozen=True, kw_only=True):
    """A state that is decided otherwise after a repair."""

    state: PlainState
    before: str
    after: str


class DiffPart(Part, frozen=True, kw_only=True):
    """What a repair changed on visited states."""

    states: int
    changed: int
    examples: tuple[ExamplePart, ...]


class ChangesPart(Part, frozen=True, kw_only=True):
    """What a repair did to the policy."""

    trees_added: int
    changed_parameters: int
    distance: float
    keep_states: int
    keep_lost: int
    diff: DiffPart
    sha256: str | None


class RepairLine(LineBase, tag="repair", frozen=True, kw_only=True):
    """The policy was repaired; the new one stands in the file ``policy``."""

    iteration: int
    policy: str
    changes: ChangesPart
    without_precautions: bool = False


class EnginePart(Part, frozen=True, kw_only=True):
    """What a method of verification did."""

    method: str
    verdict: Literal["safe", "unsafe", "unknown"]
    seconds: float
    reason: str | None = None
    code: str | None = None


class VerdictPart(Part, frozen=True, kw_only=True):
    """What verification said; runs are plain data, and held against the task where it is known."""

    verdict: Literal["safe", "unsafe", "unknown"]
    method: str
    starts: int
    all_starts: bool
    states: int
    depth: int
    seconds: float = 0.0
    reason: str | None
    boxes: int = 0
    refinements: int = 0
    failing_starts: tuple[tuple[Number, Number], ...] | None = None
    bounds: tuple[tuple[str, int], ...] = ()
    rounding: int = 0
    engines: tuple[EnginePart, ...] = ()
    run: dict[str, object] | None = None
    others: tuple[dict[str, object], ...] = ()
    code: str | None = None
    sampled: bool = False


class VerifyLine(LineBase, tag="verify", frozen=True, kw_only=True):
    """The policy was verified."""

    iteration: int
    result: VerdictPart
    certificate: str | None
    checked: bool | None
    why_unchecked: str | None


class EndLine(LineBase, tag="end", frozen=True, kw_only=True):
    """There are no more rounds; ``best`` is the number of the best policy."""

    end: Literal["safe", "stopped", "open"]
    reason: str
    best: int
    lacks_time: bool = False
    """whether there may have been more with more time"""


class ResultLine(LineBase, tag="result", frozen=True, kw_only=True):
    """The campaign is finished."""

    outcome: Literal["safe", "improved", "stopped", "unknown"]
    reason: str
    final_policy: str | None
    final_sha256: str | None = None


class ExtendLine(LineBase, tag="extend", frozen=True, kw_only=True):
    """The campaign got more time: so many seconds, counted from its beginning."""

    max_seconds: float


Line = (
    BeginLine
    | BeforeLine
    | FaultsLine
    | RepairLine
    | VerifyLine
    | EndLine
    | AfterLine
    | ResultLine
    | ExtendLine
)
ROUND_LINES = (FaultsLine, RepairLine, VerifyLine)


def line_from(content: object) -> Line:
    """Return a line of a journal. Raises InputError (``campaign-damaged``) if it is not one."""
    line: Line = record_from(
        content,
        Line,  # type: ignore[arg-type]  # a union is a type to msgspec
        code="campaign-damaged",
        what="a line of a campaign",
    )
    return line


def kind_of(line: Line) -> str:
    """Return the kind of a line as it stands in the file."""
    return str(line.__struct_config__.tag)
