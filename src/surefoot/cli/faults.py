"""``surefoot faults``."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import (
    Json,
    ObjectiveName,
    TaskArguments,
    TaskSource,
    check_objective,
    checked_options,
)
from surefoot.cli.deadline import Deadline
from surefoot.cli.decide import Radius
from surefoot.cli.fuzz import (  # noqa: F401  # read_lookahead is in its annotations
    FuzzArguments,
    plain_options,
    read_lookahead,
)
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.saving import SaveArguments, print_saved, saved_member
from surefoot.errors import InputError
from surefoot.options import FaultOptions, FuzzOptions

if TYPE_CHECKING:
    from surefoot.cli.checking import Checking
    from surefoot.cli.finding_faults import FaultsAnswer
    from surefoot.policies import Policy
    from surefoot.records import FuzzResult, Run

Files = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--run",
        help="look at the failing runs in this file instead of fuzzing: what fuzz -o wrote, a "
        "finding, or one run; may be repeated",
        show_default=False,
    ),
]

FUZZ_SHARE = 0.5  # of the time that is left: the rest is for the faults on what it finds


@dataclass(frozen=True, kw_only=True)
class FaultsArguments(FuzzArguments, FaultOptions):
    """The options of fuzzing and of looking for faults, as the command line takes them."""

    radius: Radius = None  # type: ignore[assignment]  # FaultOptions makes a number of it
    """R or inf: how often a safe run may differ from the policy; inf is for any policy"""
    bugs_only: Annotated[bool, Parameter(show_default=False)] = False
    """only tell which states are bugs: do not look at the outcomes of decisions"""
    deviations: Annotated[bool, Parameter(show_default=False)] = False
    """also tell how few differences from the policy keep the state of each fault safe"""
    seed: int = 0
    """same seed, task, policy and options: same runs and faults"""

    def check_runs_given(self) -> None:
        """Raise InputError if an option of fuzzing is given, where runs are given already."""
        for field in fields(FuzzOptions):
            is_shared = field.name in {each.name for each in fields(FaultOptions)}
            if not is_shared and getattr(self, field.name) != field.default:
                option = "--" + field.name.replace("_", "-")
                raise InputError(
                    "bad-option", f"{option} is for fuzzing: it has no effect with --run"
                )

    def for_faults(self) -> FaultOptions:
        """Return the options of fault analysis. Raises InputError for a bad value."""
        values = {field.name: getattr(self, field.name) for field in fields(FaultOptions)}
        return checked_options(FaultOptions(**values))


@dataclass(frozen=True, kw_only=True)
class FindingArguments:
    """What to do with findings."""

    check_seconds: float = 10.0
    """print a fault as unchecked if checking it takes longer"""
    no_check: Annotated[bool, Parameter(name="--no-check", show_default=False)] = False
    """print all faults as unchecked"""
    out: Annotated[Path | None, Parameter(name=("--out", "-o"))] = None
    """keep a finding of each fault in this directory; unchecked ones are kept in any case"""

    def checking(self) -> Checking:
        """Return the treatment. Raises InputError for an impossible number of seconds."""
        from surefoot.cli.checking import Checking, seconds_to_check

        seconds = seconds_to_check(self.check_seconds, no_check=self.no_check)
        return Checking(seconds, self.out, unchecked=Path("surefoot-findings"))

    def given(self) -> dict[str, object]:
        """Return the choice as plain data."""
        return {**asdict(self), "out": None if self.out is None else str(self.out)}


def faults(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    run: Files = (),
    options: Annotated[FaultsArguments, Parameter(name="*")] = FaultsArguments(),
    objective: ObjectiveName = "safety",
    findings: Annotated[FindingArguments, Parameter(name="*")] = FindingArguments(),
    saving: Annotated[SaveArguments, Parameter(name="*")] = SaveArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Find the guilty decisions on failing runs, with the safe alternatives.

    Fuzzes first, with the options of fuzz, or takes the failing runs of --run. A
    fault is a decision in a safe state that may lead to an unsafe one. Every fault
    is checked by independent code before it is printed; -o keeps each with its
    evidence in a file, for surefoot check, replay and minimise. --save puts all of
    them into the corpus.
    Exit code 1 if there are faults (with --bugs-only: bugs); else 4 if something
    stayed unknown, else 0.

    For example:
      surefoot faults truck.jani --property safety.jani --policy truck.onnx -o found
      surefoot faults "domain:one-way-line?packages=2&locations=6" --policy first
      surefoot faults truck.jani --policy truck.ubj --run runs.json --radius 1
    """
    from surefoot.cli.faults_text import print_faults
    from surefoot.cli.output import document, json_text

    policy.check_given()
    saving.check()
    begin, deadline = time.perf_counter(), Deadline(options.max_seconds, options.memory_mb)
    with deadline.working("reading the task"):
        from surefoot.faults import can_handle

        settings, fuzzing = options.for_faults(), options.plain()
        if run:
            options.check_runs_given()
        checking = findings.checking().before(deadline)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=settings.seed)
        check_objective(objective, loaded_policy, can_handle)
        checking.prepare()
    fuzzed, runs = _runs(loaded_policy, run, fuzzing, deadline)
    settings = deadline.within(settings)
    result = _result(loaded_policy, runs, fuzzed, settings, checking, deadline, is_text=not json)
    decisions = [row.decision for row in result.rows]
    seed, left = settings.seed, deadline.left
    saved = saving.saved(loaded_policy, decisions, seed=seed, seconds=left)
    if json:
        given = {**asdict(settings), **plain_options(fuzzing), **policy.given(), **findings.given()}
        given |= saving.given()
        given |= {"max_seconds": options.max_seconds, "run": list(map(str, run))}
        content = document(
            "faults",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**given, **task_arguments.given()},
            seed=settings.seed,
            seconds=time.perf_counter() - begin,
            result={**result.to_dict(), **saved_member(saved)},
        )
        print(json_text(content))
    else:
        print_faults(result)
        print_saved(saved)
    return result.exit_code


def _runs(
    policy: Policy, files: tuple[Path, ...], options: FuzzOptions, deadline: Deadline
) -> tuple[FuzzResult | None, list[Run]]:
    """Return the failing runs, the shortest first, and what fuzzing said if it was asked."""
    from surefoot.records.runs import shortest_first

    fuzzed: FuzzResult | None = None
    if files:
        with deadline.working("reading runs"):
            from surefoot.cli.finding_runs import read_runs

            runs = read_runs(files, policy)
    else:
        with deadline.working("fuzzing") as progress:
            from surefoot.cli.fuzz import fuzzing_teller
            from surefoot.fuzz import fuzz

            tell = fuzzing_teller(progress, options.runs)
            within = deadline.within(options, share=FUZZ_SHARE)
            fuzzed = fuzz(policy.task, policy, options=within, progress=tell)
            runs = list(fuzzed.failing)
    return fuzzed, shortest_first(runs)


def _result(
    policy: Policy,
    runs: list[Run],
    fuzzed: FuzzResult | None,
    options: FaultOptions,
    checking: Checking,
    deadline: Deadline,
    *,
    is_text: bool,
) -> FaultsAnswer:
    """Return the faults, checked. What was found is printed also if something goes wrong."""
    from surefoot.cli.faults_text import print_faults
    from surefoot.cli.finding_faults import CheckedSearch

    with redirect_stdout(sys.stderr):
        job = CheckedSearch(policy, options, checking, fuzzed)
    try:
        with deadline.working("looking for faults") as progress:
            job.look_at(runs, progress)
    except (KeyboardInterrupt, Exception):
        if is_text and job.rows:
            print_faults(job.result())
        raise
    return job.result()
