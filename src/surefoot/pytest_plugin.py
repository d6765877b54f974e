"""The pytest plug-in: a test of a policy is one line.

    def test_policy(policy_check):
        policy_check("truck.jani", "truck.onnx", runs=1000)

The test fails with the smallest fault that was found: the state, the policy's action, what it may
lead to, the safe alternatives, and the run. Nothing of Surefoot is loaded before the fixture is
called.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.records import Fault, FaultsResult, Run, VerifyResult

MAX_SECONDS = 60.0
NO_CORPUS = "none"
CORPUS_HELP = (
    "the folder of findings that policy_check replays first; "
    "if not given, the nearest .surefoot upwards; none for none at all"
)
SHOWN_STEPS = 12
SHOWN_STATE = 600


@dataclass(frozen=True)
class PolicyCheck:
    """What ``policy_check`` returns where it finds nothing wrong.

    ``runs`` were tried, of which ``distinct_runs`` differ; ``unavoidable`` and ``undecided`` count
    failing runs that were allowed. ``replayed`` findings of the corpus were tried before, and do
    not fail any more.
    ``verdict`` is that of the verification, None where it was not asked for.
    """

    task: str
    policy: str
    runs: int
    unavoidable: int
    undecided: int
    verdict: str | None
    seconds: float
    distinct_runs: int
    replayed: int = 0

    def __str__(self) -> str:
        from surefoot.records.runs import coinciding_text

        proved = "" if self.verdict is None else f", verdict {self.verdict}"
        allowed = self.unavoidable + self.undecided
        more = f", {allowed:,} failing ones allowed" if allowed else ""
        coinciding = coinciding_text(self.runs, self.distinct_runs)
        runs = f"{self.runs:,} runs" + (f", {coinciding}" if coinciding else "")
        corpus = f" and {self.replayed:,} of the corpus" if self.replayed else ""
        return f"no fault in {runs}{corpus}{more}{proved}; {self.seconds:,.1f} s"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let users say which corpus is replayed, on the command line or in a file."""
    group = parser.getgroup("surefoot")
    group.addoption("--surefoot-corpus", metavar="DIR", default=None, help=CORPUS_HELP)
    parser.addini("surefoot_corpus", CORPUS_HELP, default=None)


def _corpus_of(config: pytest.Config) -> str | None:
    """Return the corpus as it was given; None for the one that is found. A path in a file is below
    the folder of that file.
    """
    given: str | None = config.getoption("--surefoot-corpus") or None
    in_file: str | None = config.getini("surefoot_corpus") or None
    if given is None and in_file is not None and in_file != NO_CORPUS:
        return str(config.rootpath / in_file)
    return given or in_file


@pytest.fixture
def policy_check(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[..., PolicyCheck]:
    """Check a policy: ``policy_check(task, policy, *, runs=1000, starts=None, verify=False,
    seed=0, max_seconds=60, allow_unavoidable=False, allow_unknown=False, **fuzz_options)``.

    Task and policy are what the command line or the Python interface takes. The findings of the
    corpus that are about the task are replayed first. Then the policy is fuzzed, from ``starts`` or
    from start states of the task; with ``verify`` it is also verified. The test
    fails with the smallest fault; also if a start state is unsafe, unless ``allow_unavoidable``,
    and if something stayed unknown, unless ``allow_unknown``. Returns a summary if all is well.
    """

    def check(
        task: Any,
        policy: object,
        *,
        starts: Iterable[Mapping[str, object]] | None = None,
        verify: bool = False,
        max_seconds: float = MAX_SECONDS,
        allow_unavoidable: bool = False,
        allow_unknown: bool = False,
        **options: Any,
    ) -> PolicyCheck:
        from surefoot.policies import as_policy
        from surefoot.tasks import load_task

        loaded = load_task(task) if isinstance(task, str | Path) else task
        bound_policy = as_policy(policy, loaded, seed=options.get("seed", 0))
        work = _Check(
            bound_policy,
            options,
            max_seconds,
            folder=lambda: tmp_path_factory.mktemp("surefoot"),
            allow_unavoidable=allow_unavoidable,
            allow_unknown=allow_unknown,
            has_starts=starts is not None,
            corpus=_corpus_of(pytestconfig),
        )
        return work.run(None if starts is None else list(starts), verify=verify)

    return check


@dataclass
class _Check:
    """One check from beginning to end. Fails the test where something is wrong."""

    policy: Policy
    options: Mapping[str, Any]
    max_seconds: float
    folder: Callable[[], Path]
    allow_unavoidable: bool
    allow_unknown: bool
    has_starts: bool
    corpus: str | None
    begin: float = field(default_factory=time.perf_counter)
    unavoidable: int = 0
    undecided: int = 0
    distinct_runs: int = 0
    is_replaying: bool = False

    @property
    def seed(self) -> int:
        """The seed of the runs."""
        return int(self.options.get("seed", 0))

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return max(self.max_seconds - (time.perf_counter() - self.begin), 0.0)

    def run(self, starts: list[Mapping[str, object]] | None, *, verify: bool) -> PolicyCheck:
        """Return the summary, if nothing is wrong."""
        replayed = self._replayed(starts)
        runs = self._fuzzed(starts)
        verdict = self._verified() if verify else None
        return PolicyCheck(
            task=self.policy.task.name,
            policy=self.policy.name,
            runs=runs,
            unavoidable=self.unavoidable,
            undecided=self.undecided,
            verdict=verdict,
            seconds=time.perf_counter() - self.begin,
            distinct_runs=self.distinct_runs,
            replayed=replayed,
        )

    def _replayed(self, starts: list[Mapping[str, object]] | None) -> int:
        """Return how many findings of the corpus were tried, if none of them fails any more. Those
        that begin elsewhere than in the ``starts``, where these are given, are left out.
        """
        if self.corpus == NO_CORPUS:
            return 0
        from surefoot.corpus import replayed
        from surefoot.text import counted

        task = self.policy.task
        wanted = None if starts is None else set(map(task.packed, starts))
        tried = [
            each
            for each in replayed(task, self.policy, folder=self.corpus)
            if each.run is not None and (wanted is None or each.run.start.packed in wanted)
        ]
        failing = [each.run for each in tried if each.run is not None and each.still_fails]
        numbered = [replace(run, run=number, same=()) for number, run in enumerate(failing)]
        self.is_replaying = True
        where = f"{len(failing):,} of {counted(len(tried), 'finding')} of the corpus"
        self._look_at(numbered, f"{where} {'fails' if len(failing) == 1 else 'fail'}")
        self.is_replaying = False
        return len(tried)

    def _fuzzed(self, starts: Any) -> int:
        """Return how many runs were tried, if nothing is wrong with them."""
        from surefoot.errors import OutOfBudget
        from surefoot.fuzz import fuzz
        from surefoot.text import counted

        task, policy = self.policy.task, self.policy
        try:
            result = fuzz(task, policy, starts, max_seconds=self.left, **self.options)
        except OutOfBudget as error:
            if not self.allow_unknown:
                self._fail_unknown(f"fuzzing: {error.message}")
            return 0
        runs, failing = len(result.runs), list(result.failing)
        self.distinct_runs = result.distinct_runs
        many = counted(len(failing), "distinct run")
        self._look_at(failing, f"{many} of {runs:,} fail, seed {self.seed}")
        if result.stopped is not None and not self.allow_unknown:
            self._fail_unknown(f"fuzzing ran out of {result.stopped} after {runs:,} runs")
        return runs

    def _verified(self) -> str:
        from surefoot.verify import verify

        result: VerifyResult = verify(
            self.policy.task, self.policy, max_seconds=self.left, seed=self.seed
        )
        if result.verdict == "unsafe" and result.run is not None:
            self._look_at([result.run], "found by verification")
        elif result.verdict == "unknown" and not self.allow_unknown:
            self._fail_unknown(f"verification: {result}")
        return str(result.verdict)

    # -- failing runs --------------------------------------------------------------------------

    def _look_at(self, runs: list[Run], where: str) -> None:
        """Fail the test for failing runs, with the smallest fault on them if they have one."""
        if not runs:
            return
        from surefoot.evidence.search import FaultSearch
        from surefoot.options import FaultOptions
        from surefoot.records.runs import shortest_first

        shortest = shortest_first(runs)
        options = FaultOptions(max_seconds=self.left, seed=self.seed)
        search = FaultSearch(self.policy, options)
        for _ in search.examined(shortest):
            pass
        result = search.result()
        if result.faults:
            self._fail_fault(result, where)
        self.unavoidable += len(result.unavoidable)
        self.undecided += len(result.undecided)
        numbers = {run.run: run for run in shortest}
        if result.unavoidable and not self.allow_unavoidable:
            self._fail_unavoidable(numbers[result.unavoidable[0]], where)
        if not self.allow_unknown and (result.undecided or result.stopped is not None):
            why = result.unknown[0].reason if result.unknown else result.stopped
            run = numbers.get(result.undecided[0]) if result.undecided else shortest[0]
            self._fail_undecided(run or shortest[0], where, str(why))

    def _fail_fault(self, result: FaultsResult, where: str) -> NoReturn:
        from surefoot.errors import printable
        from surefoot.evidence.findings import smallest_first
        from surefoot.text import counted

        first = smallest_first(result.faults)[0]
        finding, history = self._smallest(first)
        state, action, outcome, alternatives, run = self._about(first, finding)
        self._fail(
            "has a fault",
            f"fault: {printable(action)} in {_state(state)}",
            f"  may lead to {_state(outcome)}, which is unsafe",
            f"  safe alternative: {', '.join(map(printable, alternatives))}",
            *_steps(run),
            f"{where}; {counted(len(result.faults), 'fault')}, this is the smallest{history}",
            *([] if finding is None else self._kept(finding)),
        )

    def _about(
        self, fault: Fault, finding: Finding | None
    ) -> tuple[object, str, object, Sequence[str], Run]:
        """Return state, action, outcome, alternatives and run of what was found last."""
        if finding is None:
            assert fault.run is not None  # find_faults gives it
            return fault.state, fault.action, fault.outcome, fault.alternatives, fault.run
        about, run = finding.about, finding.run(self.policy.task)
        names = finding.content["run"]["variables"]
        outcome = self.policy.task.state(dict(zip(names, about["outcome"], strict=True)))
        return run.states[about["step"]], about["action"], outcome, about["alternatives"], run

    def _smallest(self, fault: Fault) -> tuple[Finding | None, str]:
        """Return a finding of the fault, or of one on a smaller run, and what it was before; None
        if there is no time for its certificates.
        """
        from surefoot.errors import OutOfBudget
        from surefoot.findings import finding_of
        from surefoot.minimise import minimise
        from surefoot.text import counted

        task, policy = self.policy.task, self.policy
        finding = None
        try:
            finding = finding_of(task, policy, fault, seed=self.seed)
            result = minimise(finding, policy, task=task, max_seconds=self.left)
        except OutOfBudget:
            return finding, ", not minimised: time ran out"
        if not result.is_smaller:
            return finding, ""
        if result.after.steps == result.before.steps:
            return result.after, ", from a simpler start state"
        return result.after, f", minimised from {counted(result.before.steps, 'step')}"

    def _fail_unavoidable(self, run: Run, where: str) -> NoReturn:
        self._fail(
            "fails, and no policy could surely avoid it",
            f"unsafe start state: {_state(run.start)}",
            *_steps(run),
            where,
            "the task has unsafe start states; allow_unavoidable=True lets them pass",
            *self._kept(self._finding_of(run)),
        )

    def _fail_undecided(self, run: Run, where: str, why: str) -> NoReturn:
        self._fail(
            "fails, and the faulty decision could not be determined",
            f"ran out of {why}",
            *_steps(run),
            where,
            "give more max_seconds, or allow_unknown=True",
            *self._kept(self._finding_of(run)),
        )

    def _fail_unknown(self, why: str) -> NoReturn:
        self._fail("is not known to be safe", why, "give more max_seconds, or allow_unknown=True")

    def _finding_of(self, run: Run) -> Finding:
        from surefoot.findings import finding_of

        return finding_of(self.policy.task, self.policy, run, seed=self.seed)

    # -- the message ---------------------------------------------------------------------------

    def _fail(self, what: str, *lines: str) -> NoReturn:
        from surefoot.errors import printable

        names = (
            f"policy {printable(self.policy.name)} {what}, on {printable(self.policy.task.name)}"
        )
        pytest.fail("\n".join([names, *(f"  {line}" for line in lines)]), pytrace=False)

    def _kept(self, finding: Finding) -> list[str]:
        """Write the finding; return where it is, whether it was checked, and what to do with it."""
        from surefoot.errors import Unsupported
        from surefoot.evidence.findings import evidence_of

        file = self.folder() / f"{finding.kind}.json"
        finding.write(file)
        try:
            evidence = evidence_of(finding, lambda *_: file, seconds=max(self.left, 1.0))
            checked = "checked" if evidence.checked else "unchecked (out-of-seconds)"
        except Unsupported as error:
            checked = f"unchecked ({error.code})"
        is_fuzzed = not self.has_starts and not self.is_replaying
        commands = _commands(self.policy, file, self.options if is_fuzzed else None)
        again = ["to see it again:", *commands] if commands else []
        return [f"finding, {checked}: {file}", *again]


def _state(state: object) -> str:
    from surefoot.errors import printable

    return printable(str(state), SHOWN_STATE)


def _steps(run: Run) -> list[str]:
    """Return the lines of a run, the middle left out if it is long."""
    from surefoot.errors import printable
    from surefoot.text import counted

    lines = [
        f"  {number}  {_state(state)}  {printable(action)}"
        for number, (state, action) in enumerate(zip(run.states, run.actions, strict=False))
    ]
    lines.append(f"  {len(lines)}  {_state(run.states[-1])}  fails")
    if len(lines) > SHOWN_STEPS:
        half = SHOWN_STEPS // 2
        left_out = counted(len(lines) - 2 * half, "step")
        lines = [*lines[:half], f"  ... {left_out} left out", *lines[-half:]]
    return [f"run of {counted(run.steps, 'step')}:", *lines]


def _commands(policy: Policy, file: Path, options: Mapping[str, object] | None) -> list[str]:
    """Return what shows the failure on the command line; nothing if task or policy have no name
    there. Without ``options`` fuzzing is left out: it has no way to say them.
    """
    from surefoot.errors import printable
    from surefoot.policies import BUILT_IN

    source = policy.task.source
    if source is None or not (BUILT_IN.fullmatch(policy.name) or policy.file is not None):
        return []
    task = [source.text, *_flags(source.words())]
    policy_words = ["--policy", policy.name, *(["--unfiltered"] if policy.unfiltered else [])]
    if policy.interface is not None and policy.interface.origin.file not in (None, policy.name):
        policy_words += ["--interface", str(policy.interface.origin.file)]
    commands = [["surefoot", "replay", str(file), *task, *policy_words]]
    if options is not None:
        commands.append(["surefoot", "faults", *task, *policy_words, *_flags(options)])
    return [f"  {printable(shlex.join(command), 2000)}" for command in commands]


def _flags(options: Mapping[str, object]) -> list[str]:
    flags = []
    for name, value in options.items():
        for item in value if isinstance(value, list) else [value]:
            if item is not None:
                flags += ["--" + name.replace("_", "-"), str(item)]
    return flags
