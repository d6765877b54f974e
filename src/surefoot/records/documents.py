"""The JSON documents that commands print, by command.

They are told here for those who read them: a program must pass over members that it does not know,
since later versions may add some. A member that is not always there is ``UNSET`` where it is not.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from surefoot.records.common import Verdict
from surefoot.records.faults import Fault
from surefoot.records.files import record_from
from surefoot.records.lines import DiffPart, EnginePart, Number, StartsPart
from surefoot.records.parts import FaultPart, Part, PlainState
from surefoot.records.runs import EvaluateResult, RunEnd
from surefoot.records.training import Checkpoint
from surefoot.tasks.state import loose_state

Text = str | UnsetType
Count = int | UnsetType
Flag = bool | UnsetType


class Open(Struct, frozen=True, kw_only=True):
    """An object of a document; later versions may add members."""


class TaskName(Open, frozen=True, kw_only=True):
    """The task of a command; of one that Python code defines there is no SHA-256. ``outcomes`` is
    ``sampled`` where nothing is known about outcomes that were not seen.
    """

    name: str
    file: str | None
    sha256: str | None
    outcomes: Text = UNSET


class PolicyName(Open, frozen=True, kw_only=True):
    """The policy of a command; of one that is not a file there is no SHA-256."""

    name: str
    sha256: str | None


class Error(Open, frozen=True, kw_only=True):
    """What went wrong: ``code`` is for programs, ``message`` for people."""

    code: str
    message: str
    file: str | None
    place: str | None
    hint: str | None


class ErrorDocument(Open, frozen=True, kw_only=True):
    """What any command prints with ``--json`` if it fails."""

    surefoot: str
    command: str | None
    error: Error


class Spent(Open, frozen=True, kw_only=True):
    """What all documents of a command that computes have."""

    surefoot: str
    command: str
    options: dict[str, object]
    seed: int
    seconds: float
    peak_memory_mb: float | None


class Document(Spent, frozen=True, kw_only=True):
    """What all documents about a task have."""

    task: TaskName
    policy: PolicyName | None


class ChangePart(Part, frozen=True, kw_only=True):
    """A change on the way to a perturbed start: a value that was set, or an action taken."""

    variable: Text = UNSET
    value: object = UNSET
    action: Text = UNSET
    state: PlainState


class MadePart(Part, frozen=True, kw_only=True):
    """How a perturbed start was made."""

    reached: PlainState
    changes: list[ChangePart]


class StrategyPart(Part, frozen=True, kw_only=True):
    """The bias and the lookahead that made a run; null for the default lookahead."""

    bias: str
    lookahead: int | None


class RunPart(Open, frozen=True, kw_only=True):
    """A run; one that does not fail may have its start alone."""

    run: int
    start: PlainState
    result: RunEnd
    steps: int
    reason: Text = UNSET
    made: MadePart | UnsetType = UNSET
    known_reachable: Flag = UNSET
    same: tuple[int, ...] | UnsetType = UNSET
    same_as: Count = UNSET
    strategy: StrategyPart | UnsetType = UNSET
    states: tuple[PlainState, ...] | UnsetType = UNSET
    actions: tuple[str, ...] | UnsetType = UNSET


class ShownRun(RunPart, frozen=True, kw_only=True):
    """A run with what could have been done in each state."""

    applicable: tuple[tuple[str, ...], ...]
    scores: tuple[dict[str, Number | None], ...] | None
    outcomes: tuple[int, ...]
    pictures: tuple[str, ...] | UnsetType = UNSET


class Ends(Open, frozen=True, kw_only=True):
    """How many runs ended how."""

    runs: int
    fail: int
    goal: int
    dead_end: int
    cycle: int
    inapplicable: int
    cut: int


class FuzzSummary(Ends, frozen=True, kw_only=True):
    """How many fuzzed runs ended how, and what they cost."""

    nothing_reachable_fails: int
    distinct: int
    distinct_runs: Count = UNSET
    steps: int
    policy_calls: int
    states: int
    seconds: float
    stopped: str | UnsetType | None = UNSET


class ExploreDocument(Document, frozen=True, kw_only=True):
    """``surefoot explore --json``."""

    states: int
    starts: int
    expanded: int
    pairs: int
    outcomes: int
    fail: int
    goal: int
    dead_ends: int
    depth: int
    complete: bool
    stopped: str | None
    starts_complete: bool
    states_per_second: float
    bytes_per_state: float


class SimulateDocument(Document, frozen=True, kw_only=True):
    """``surefoot simulate --json``."""

    runs: tuple[ShownRun, ...]
    summary: Ends


class CorpusPart(Open, frozen=True, kw_only=True):
    """An entry of the corpus, and what became of it."""

    file: str
    kind: str
    task: str
    policy: str
    steps: int
    status: str
    state: PlainState | UnsetType = UNSET
    action: Text = UNSET
    error: Error | UnsetType = UNSET


Saved = tuple[CorpusPart, ...] | UnsetType
"""what became of findings with ``--save``"""


class FuzzDocument(Document, frozen=True, kw_only=True):
    """``surefoot fuzz --json``."""

    runs: tuple[RunPart, ...]
    summary: FuzzSummary
    stopped: str | None
    saved: Saved = UNSET


Span = tuple[Number | str, Number | str] | UnsetType
"""of an interval; infinite ones and fractions are texts"""


class EvaluateDocument(Document, frozen=True, kw_only=True):
    """``surefoot evaluate --json``."""

    unsafe_fraction: float
    goal_fraction: float
    starts: int
    exhaustive: int
    unsafe: int
    all_starts: bool
    runs: int
    goal: int
    fail: int
    states: int
    stopped: str | None
    ends: dict[str, int]
    sampled: bool
    exact: bool
    objective: Text = UNSET
    mean_value: Span = UNSET
    worst_value: Span = UNSET
    worst_runs: Count = UNSET
    valued_runs: Count = UNSET


class AnswerPart(Open, frozen=True, kw_only=True):
    """The verdict about a state, and what it cost."""

    state: PlainState
    verdict: str
    expanded: int
    pairs: int
    outcomes: int
    seconds: float
    checked: bool | None
    bounds: Span = UNSET
    plan: tuple[str, ...] | UnsetType = UNSET
    reason: Text = UNSET
    sampled: Flag = UNSET
    oracle: Text = UNSET
    certificate: Text = UNSET
    certificate_missing: Text = UNSET
    deviations: int | float | str | UnsetType | None = UNSET
    deviations_certificates: tuple[str, ...] | UnsetType = UNSET


class DecideDocument(Document, frozen=True, kw_only=True):
    """``surefoot decide --json``; ``summary`` counts each verdict and the costs."""

    states: tuple[AnswerPart, ...]
    summary: dict[str, Number | None]
    starts: dict[str, int | None] | UnsetType = UNSET
    notes: tuple[str, ...] | UnsetType = UNSET
    compare: tuple[dict[str, object], ...] | UnsetType = UNSET
    left_out: dict[str, str] | UnsetType = UNSET
    agreement: bool | UnsetType | None = UNSET


class ShownFault(FaultPart[PlainState], frozen=True, kw_only=True):
    """A fault, as ``faults`` prints it or, with ``iteration``, as campaigns keep it."""

    outcome: PlainState | None
    step: int
    checked: bool | None
    finding: str | UnsetType | None = UNSET
    run: int | UnsetType | None = UNSET
    runs: tuple[int, ...] | UnsetType = UNSET
    deviations: int | float | str | UnsetType | None = UNSET
    deviations_reason: Text = UNSET
    known_reachable: Flag = UNSET
    has_unknown_alternatives: Flag = UNSET
    more_unknown: Flag = UNSET
    steps: int | UnsetType | None = UNSET
    iteration: Count = UNSET


class BugPart(Open, frozen=True, kw_only=True):
    """A safe state from which the policy may still fail."""

    state: PlainState
    run: int
    step: int
    checked: bool | None
    finding: str | UnsetType | None = UNSET


class UnknownPart(Open, frozen=True, kw_only=True):
    """A question that stayed open."""

    state: PlainState
    what: str
    reason: str
    run: int
    step: int


class FaultsSummary(Open, frozen=True, kw_only=True):
    """How many there are of each."""

    runs: int
    faults: int
    bugs: int
    unknown: int
    unavoidable: int
    undecided: int
    seconds: float
    check_seconds: float | None


class FaultsDocument(Document, frozen=True, kw_only=True):
    """``surefoot faults --json``."""

    faults: tuple[ShownFault, ...]
    bugs: tuple[BugPart, ...]
    unknown: tuple[UnknownPart, ...]
    unavoidable: tuple[dict[str, object], ...]
    undecided: tuple[int, ...]
    summary: FaultsSummary
    runs: tuple[RunPart, ...]
    stopped: str | None
    sampled: bool
    fuzz: FuzzSummary | UnsetType = UNSET
    saved: Saved = UNSET


class SmallerPart(Open, frozen=True, kw_only=True):
    """A run before or after minimising."""

    steps: int
    start: PlainState


class MinimiseDocument(Document, frozen=True, kw_only=True):
    """``surefoot minimise --json``."""

    before: SmallerPart
    after: SmallerPart
    smaller: bool
    tried: int
    stopped: str | None
    checked: bool | None
    saved: Saved = UNSET


class ReplayPart(Open, frozen=True, kw_only=True):
    """What became of the run of a finding; all of it is missing where it was not replayed."""

    still_fails: Flag = UNSET
    steps: Count = UNSET
    step: Count = UNSET
    state: PlainState | UnsetType = UNSET
    was: Text = UNSET
    now: Text = UNSET
    reason: Text = UNSET


class ReplayedFile(ReplayPart, frozen=True, kw_only=True):
    """One of several findings, or why it was not replayed."""

    file: str
    error: Error | UnsetType = UNSET


class ReplayDocument(ReplayPart, frozen=True, kw_only=True):
    """``surefoot replay --json`` of one finding; of several, ``findings`` lists them, and
    ``summary`` counts: ``findings``, ``fail``, ``mended`` and ``refused``.
    """

    surefoot: str
    command: str
    options: dict[str, object]
    seed: int
    seconds: float
    peak_memory_mb: float | None
    task: TaskName | UnsetType = UNSET
    policy: PolicyName | UnsetType = UNSET
    findings: tuple[ReplayedFile, ...] | UnsetType = UNSET
    summary: dict[str, int] | UnsetType = UNSET


class ComparedPolicyPart(Open, frozen=True, kw_only=True):
    """A policy and what is known of it alone."""

    name: str
    sha256: str | None
    failing: int
    faults: int
    unknown: int
    stopped: str | None


class FractionsPart(Open, frozen=True, kw_only=True):
    """What a policy does from the start states, and the intervals."""

    unsafe: float
    unsafe_interval: tuple[float, float]
    goal: float
    goal_interval: tuple[float, float]
    starts: int
    exact: bool


class ComparedDecision(Open, frozen=True, kw_only=True):
    """A state and the action that is faulty there."""

    state: PlainState
    action: str


class ComparedFaultPart(FaultPart[PlainState], frozen=True, kw_only=True):
    """A fault of one policy, and what the other does ``instead``; null if it decides nothing."""

    steps: int
    instead: str | None


class DifferencePart(Open, frozen=True, kw_only=True):
    """A state in which two policies decide differently, with the margins of their scores."""

    state: PlainState
    before: str
    after: str
    margin_before: float | None
    margin_after: float | None


class DifferingPart(Open, frozen=True, kw_only=True):
    """In how many states decisions were compared, how many differ, and some of those."""

    states: int
    changed: int
    examples: tuple[DifferencePart, ...]


class PolicyChangePart(Open, frozen=True, kw_only=True):
    """What changed from the first policy to the one with this number."""

    policy: int
    new: tuple[ComparedFaultPart, ...]
    mended: tuple[ComparedFaultPart, ...]
    common: tuple[ComparedDecision, ...]
    differing: DifferingPart


class CompareDocument(Spent, frozen=True, kw_only=True):
    """``surefoot compare --json``; ``policies`` and ``fractions`` go together."""

    task: TaskName
    policies: tuple[ComparedPolicyPart, ...]
    fractions: tuple[FractionsPart, ...]
    confidence: float
    changes: tuple[PolicyChangePart, ...]
    stopped: str | None


class CorpusDocument(Spent, frozen=True, kw_only=True):
    """``surefoot corpus list --json``, and of ``add`` and ``prune``: ``action`` says which."""

    action: Literal["list", "add", "prune"]
    folder: str
    entries: tuple[CorpusPart, ...]


class RepairDocument(Document, frozen=True, kw_only=True):
    """``surefoot repair --json``."""

    method: str
    faults: int
    distance: float
    changed_parameters: int
    added_parameters: int
    trees_added: int
    margin: float
    keep_states: int
    keep_lost: int
    diff: DiffPart
    rounds: int
    bound: float | None
    gap: float | None
    stopped: str | None
    repaired: dict[str, str | None]
    files: tuple[str, ...]


class VerifyDocument(Document, frozen=True, kw_only=True):
    """``surefoot verify --json``."""

    verdict: Verdict
    method: str
    starts: int
    all_starts: bool
    states: int
    depth: int
    reason: str | None
    code: str | None
    boxes: int
    refinements: int
    failing_starts: tuple[tuple[Number, Number], ...] | None
    bounds: tuple[tuple[str, int], ...]
    rounding: int
    engines: tuple[EnginePart, ...]
    sampled: bool
    run: RunPart | None
    checked: bool | None
    others: tuple[RunPart, ...] | UnsetType = UNSET
    certificate: Text = UNSET
    finding: Text = UNSET
    saved: Saved = UNSET


class IterationPart(Open, frozen=True, kw_only=True):
    """A round of debugging."""

    iteration: int
    runs: int
    unsafe_runs: int
    new_faults: int
    faults: int
    seconds: dict[str, float]
    unavoidable: int
    undecided: int
    suspects: int
    trees_added: int
    changed_parameters: int
    distance: float
    keep_states: int
    keep_lost: int
    diff: DiffPart | None
    policy: str | None
    policy_sha256: str | None
    verdict: str | None
    reason: str | None


class VerificationPart(Open, frozen=True, kw_only=True):
    """What verification said about the final policy."""

    verdict: Verdict
    method: str
    states: int
    starts: int
    all_starts: bool
    reason: str | None
    boxes: int
    certificate: str | None
    checked: bool | None
    why_unchecked: str | None
    seconds: float


Outcome = Literal["safe", "improved", "stopped", "unknown"]


class DebugDocument(Document, frozen=True, kw_only=True):
    """``surefoot debug --json`` and ``surefoot resume --json``."""

    outcome: Outcome
    reason: str
    iterations: tuple[IterationPart, ...]
    before: EvaluateResult
    after: EvaluateResult
    faults: tuple[ShownFault, ...]
    starts: int
    disjoint: bool
    verification: VerificationPart | None
    directory: str
    final_policy: str | None
    final_sha256: str | None
    reproduce: tuple[str, ...]


class StatusDocument(Open, frozen=True, kw_only=True):
    """``surefoot status --json``; task and policy are as in ``campaign.json``."""

    surefoot: str
    command: str
    campaign: Literal[1]
    directory: str
    state: str
    outcome: Outcome | None
    reason: str | None
    task: dict[str, object]
    policy: dict[str, object]
    options: dict[str, object]
    seed: int
    seconds: float
    starts: StartsPart | None
    before: EvaluateResult | None
    after: EvaluateResult | None
    iterations: tuple[IterationPart, ...]
    faults: tuple[ShownFault, ...]
    verification: VerificationPart | None
    final_policy: str | None
    final_sha256: str | None
    reproduce: tuple[str, ...]


class ReportDocument(StatusDocument, frozen=True, kw_only=True):
    """``surefoot report --json``."""

    files: dict[str, str]
    peak_memory_mb: float | None


class ExportDocument(Document, frozen=True, kw_only=True):
    """``surefoot export --json``."""

    faults: int
    decisions: int
    shield: Text = UNSET
    python: Text = UNSET


class ConvertDocument(Spent, frozen=True, kw_only=True):
    """``surefoot convert --json``."""

    source: str
    file: str
    sha256: str
    kind: str
    model: str
    num_inputs: int
    num_outputs: int
    inputs: tuple[str, ...] | None
    outputs: tuple[str, ...] | None
    unfiltered: bool | None
    notes: tuple[str, ...]


class TrainDocument(Document, frozen=True, kw_only=True):
    """``surefoot train --json``."""

    model: str
    best: Checkpoint
    checkpoints: tuple[Checkpoint, ...]
    steps: int
    steps_per_second: float
    stopped: str | None


class DistillDocument(Document, frozen=True, kw_only=True):
    """``surefoot distill --json``."""

    file: str
    files: tuple[str, ...]
    sha256: str
    kind: str
    model: str
    runs: int
    examples: int
    agreement: float
    fresh_examples: int
    fresh_agreement: float | None
    taken: dict[str, int]
    teacher: dict[str, object]
    trees: dict[str, object]


class ProvedStep(Open, frozen=True, kw_only=True):
    """The state that something is proved about; of a fault also what is done there."""

    state: PlainState | UnsetType = UNSET
    action: Text = UNSET
    outcome: PlainState | UnsetType = UNSET
    step: Count = UNSET
    steps: Count = UNSET
    known_reachable: Flag = UNSET


class Proved(ProvedStep, frozen=True, kw_only=True):
    """What a certificate, a finding or a record of a repair proves."""

    accepted: Flag = UNSET
    claim: Text = UNSET
    kind: Text = UNSET
    radius: int | str | UnsetType | None = UNSET
    recomputed: bool | UnsetType | None = UNSET
    not_recomputed: Text = UNSET
    states: Count = UNSET
    boxes: Count = UNSET
    blocked: Count = UNSET
    entries: Count = UNSET
    interface: str | dict[str, object] | UnsetType = UNSET
    unfiltered: Flag = UNSET
    alternatives: tuple[str, ...] | UnsetType = UNSET
    uncertified: tuple[str, ...] | UnsetType = UNSET
    more_unknown: Flag = UNSET
    deviations: int | str | UnsetType | None = UNSET
    repair: Count = UNSET
    before: Text = UNSET
    before_interface: str | dict[str, object] | UnsetType = UNSET
    before_unfiltered: Flag = UNSET
    after: Text = UNSET
    faults: Count = UNSET
    any_other: Flag = UNSET
    distance: float | UnsetType = UNSET
    distance_recomputed: Flag = UNSET


class ProvedFile(Proved, frozen=True, kw_only=True):
    """One of several files: what it proves, or why it was not accepted."""

    file: str
    task: Text = UNSET
    certificates: Count = UNSET
    error: Error | UnsetType = UNSET


class CheckDocument(Proved, frozen=True, kw_only=True):
    """``surefoot check --json`` of one file; of several, ``certificates`` lists what each is."""

    surefoot: str
    command: str
    options: dict[str, object]
    seed: int
    seconds: float
    peak_memory_mb: float | None
    task: TaskName | UnsetType = UNSET
    policy: PolicyName | UnsetType | None = UNSET
    certificates: int | tuple[ProvedFile, ...] | UnsetType = UNSET


class NotePart(Open, frozen=True, kw_only=True):
    """What is odd about a task or a policy."""

    code: str
    message: str
    place: str | None


class VariablePart(Open, frozen=True, kw_only=True):
    """A variable with its range, and with its initial value and names of values, if asked for."""

    name: str
    type: str
    lower: Number | None
    upper: Number | None
    initial: object = UNSET
    labels: tuple[str, ...] | UnsetType | None = UNSET


class ActionPart(Open, frozen=True, kw_only=True):
    """An action, and how many edges it has."""

    name: str
    silent: bool
    edges: int | None


class DoctorDocument(Spent, frozen=True, kw_only=True):
    """``surefoot doctor --json``; ``policy`` says how it is made, and how faithfully it is run."""

    task: TaskName
    policy: dict[str, object] | None
    name: str
    file: str | None
    sha256: str | None
    variables: tuple[VariablePart, ...]
    constants: dict[str, object]
    actions: tuple[ActionPart, ...]
    edges: int | None
    outcomes: int | None
    bits: int | None
    words: int | None
    residuals: int | None
    start: str
    goal: str | None
    fail: str | None
    sampled: int
    warnings: tuple[NotePart, ...]
    findings: tuple[NotePart, ...]


class DomainsDocument(Spent, frozen=True, kw_only=True):
    """``surefoot domains --json``: all families, one, or a task of one."""

    domains: tuple[dict[str, object], ...] | UnsetType = UNSET
    domain: dict[str, object] | UnsetType = UNSET
    task: dict[str, object] | UnsetType = UNSET
    parameters: dict[str, object] | UnsetType = UNSET
    variables: tuple[VariablePart, ...] | UnsetType = UNSET
    actions: tuple[str, ...] | UnsetType = UNSET
    edges: Count = UNSET
    start: PlainState | UnsetType | None = UNSET
    picture: dict[str, str] | UnsetType | None = UNSET


class ShowDocument(Open, frozen=True, kw_only=True):
    """``surefoot show --json`` of a finding, or of the faults of a campaign."""

    surefoot: str
    command: str
    task: dict[str, object]
    policy: dict[str, object]
    finding: Count = UNSET
    kind: Text = UNSET
    run: ShownRun | UnsetType = UNSET
    fault: dict[str, object] | UnsetType = UNSET
    bug: dict[str, object] | UnsetType = UNSET
    directory: Text = UNSET
    state: Text = UNSET
    outcome: Outcome | UnsetType | None = UNSET
    faults: tuple[ShownFault, ...] | UnsetType = UNSET


def fault_from(content: object) -> Fault:
    """Return a fault of a document, in states that no task knows. Raises InputError."""
    part = record_from(content, ShownFault, code="not-a-campaign", what="a fault")
    return Fault(
        state=loose_state(part.state),
        action=part.action,
        alternatives=tuple(part.alternatives),
        outcome=None if part.outcome is None else loose_state(part.outcome),
        step=part.step,
        has_unknown_alternatives=part.more_unknown is True,
        num_steps=None if part.steps is UNSET else part.steps,
        iteration=part.iteration or 0,
        finding=part.finding or None,
        checked=part.checked,
    )


DOCUMENTS: dict[str, type[Struct]] = {
    "check": CheckDocument,
    "compare": CompareDocument,
    "convert": ConvertDocument,
    "corpus": CorpusDocument,
    "debug": DebugDocument,
    "decide": DecideDocument,
    "distill": DistillDocument,
    "doctor": DoctorDocument,
    "domains": DomainsDocument,
    "error": ErrorDocument,
    "evaluate": EvaluateDocument,
    "explore": ExploreDocument,
    "export": ExportDocument,
    "faults": FaultsDocument,
    "fuzz": FuzzDocument,
    "minimise": MinimiseDocument,
    "repair": RepairDocument,
    "replay": ReplayDocument,
    "report": ReportDocument,
    "resume": DebugDocument,
    "show": ShowDocument,
    "simulate": SimulateDocument,
    "status": StatusDocument,
    "train": TrainDocument,
    "verify": VerifyDocument,
}
"""by command; ``error`` is what each prints if it fails"""


def check_document(content: dict[str, object]) -> None:
    """Return if a document is as it is told here. Raises InputError (``not-a-document``)."""
    kind = "error" if "error" in content else str(content.get("command"))
    record_from(
        content, DOCUMENTS[kind], code="not-a-document", what=f"a document of {kind} --json"
    )
