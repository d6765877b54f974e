"""``surefoot repair``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
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
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.errors import InputError, SurefootError, printable, quoted
from surefoot.options import RepairOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.policies import Policy
    from surefoot.records import Fault, RepairResult

FaultFiles = Annotated[
    tuple[Path, ...],
    Parameter(
        name="--faults",
        help="where the faults are: a finding, a folder of findings, what faults --json printed, "
        "or the directory of a campaign; may be repeated",
        show_default=False,
    ),
]
New = Annotated[Path, Parameter(name=("--out", "-o"), help="the repaired policy, a new file")]
Record = Annotated[
    Path | None,
    Parameter(help="also write what was repaired to this JSON file, for surefoot check"),
]


def repair(
    task: TaskSource,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    faults: FaultFiles = (),
    out: New,
    record: Record = None,
    options: Annotated[RepairOptions, Parameter(name="*")] = RepairOptions(),
    objective: ObjectiveName = "safety",
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Change a policy so that faults are gone.

    Networks and tree ensembles can be repaired. The new policy takes a safe action
    in the state of every fault, is as near to the old one as possible, and keeps
    its decisions on runs that reach the goal where it can. It is written in the
    format of the old one if the new file has the same suffix, and every fault is
    tried on the file that was written.
    Exit code 0 if the policy is repaired, 2 if the faults contradict each other,
    3 if the policy is of a kind that cannot be repaired, 4 if time runs out.

    For example:
      surefoot faults truck.jani --policy truck.ubj -o found
      surefoot repair truck.jani --policy truck.ubj --faults found -o repaired.ubj
    """
    from surefoot.cli.output import document, json_text

    policy.check_given()
    options = checked_options(options)
    deadline = Deadline(options.max_seconds, options.memory_mb)
    begin = time.perf_counter()
    with deadline.working("reading the task"):
        from surefoot.repair import can_handle

        _check_files(faults, out, record)
        loaded = task_arguments.load(task)
        loaded_policy = policy.load(loaded, seed=options.seed)
        check_objective(objective, loaded_policy, can_handle)
        _check_out(loaded_policy, out)
        from surefoot.findings.faults import read_faults

        demanded = read_faults(faults, loaded)
        if record is not None and not options.any_other:
            _check_recordable(demanded)
    with deadline.working("repairing") as progress:
        result, files, again = repaired(
            loaded_policy, demanded, out, deadline.within(options), progress=progress.note
        )
        if record is not None:
            _write_record(
                record, loaded_policy, again, demanded, result, any_other=options.any_other
            )
    if json:
        arguments = {**asdict(options), "faults": list(map(str, faults)), "out": str(out)}
        arguments["record"] = None if record is None else str(record)
        content = document(
            "repair",
            loaded,
            policy=loaded_policy.name,
            policy_sha256=loaded_policy.sha256,
            options={**arguments, **policy.given(), **task_arguments.given()},
            seed=options.seed,
            seconds=time.perf_counter() - begin,
            result=_result(result, files, again),
        )
        print(json_text(content))
    else:
        _print(loaded_policy, result, files, record)
    return 0


def _result(result: RepairResult, files: Sequence[Path], again: Policy) -> dict[str, object]:
    """Return the result as plain data; ``repaired`` is the policy that was written."""
    content = result.to_dict()
    del content["policy"], content["seconds"]  # the document says both itself
    about = {"name": str(files[0]), "sha256": again.sha256, "model": str(again.model)}
    return {**content, "repaired": about, "files": list(map(str, files))}


def _check_files(faults: Sequence[Path], out: Path, record: Path | None) -> None:
    """Raise InputError if something is missing, or cannot be written: before the work is done."""
    from surefoot.policies.writing import check_place

    if not faults:
        hint = "surefoot faults ... -o DIR finds some, and --faults DIR reads them"
        raise InputError("bad-option", "--faults is missing", hint=hint)
    check_place(out, (out.suffix.lower(),))
    if record is not None:
        check_place(record, (".json",))
        if record.absolute() == out.absolute():
            raise InputError("bad-option", "--record and --out are the same file")


def _check_recordable(faults: Sequence[Fault]) -> None:
    """Raise InputError if a fault has no alternative known to be safe: nobody could check then that
    the new decision is.
    """
    for fault in faults:
        if not fault.alternatives:
            raise InputError(
                "no-alternatives",
                f"no action is known to be safe in {fault.state}: a record could not be checked",
                hint="leave --record out, or give --any-other",
            )


def _check_out(policy: Policy, out: Path) -> None:
    """Raise InputError if the policy would be written over the one that is repaired, Unsupported
    if it cannot be repaired.
    """
    from surefoot.policies.like import check_suffix
    from surefoot.repair import check_repairable

    check_repairable(policy)
    check_suffix(policy, out)
    if policy.file is not None and out.exists() and out.samefile(policy.file):
        message = f"{quoted(str(out))} is the policy that is repaired: it is not overwritten"
        raise InputError("bad-option", message, hint="give the new file another name")


def repaired(
    policy: Policy,
    faults: Sequence[Fault],
    out: Path,
    options: RepairOptions,
    *,
    progress: Callable[[str], None],
) -> tuple[RepairResult, list[Path], Policy]:
    """Return the result of a repair, its files, and the policy that was read from them again.

    What counts is that one: every fault is tried on it.
    """
    from surefoot.policies import load_policy
    from surefoot.policies.like import write_like
    from surefoot.repair import repair as run

    result = run(policy.task, policy, faults, options=options, progress=progress)
    progress("writing the policy, and trying every fault on it")
    files = write_like(result.policy, policy, out)
    again = load_policy(files[0], policy.task, unfiltered=policy.unfiltered or None)
    still = faults_left(again, faults, any_other=options.any_other)
    if still:
        raise SurefootError(
            "fault-not-repaired",
            f"{counted(len(still), 'fault')} still there in the file that was written",
            file=str(files[0]),
            hint="this is a bug in Surefoot, please report it",
        )
    return result, files, again


def faults_left(policy: Policy, faults: Sequence[Fault], *, any_other: bool) -> list[Fault]:
    """Return the faults that the policy still has: it takes the guilty action, or, unless
    ``any_other`` will do, none of the alternatives.
    """
    decided = policy.decide_all([fault.state for fault in faults])
    return [
        fault
        for fault, now in zip(faults, decided, strict=True)
        if now == fault.action
        or (not any_other and fault.alternatives and now not in fault.alternatives)
    ]


def _write_record(
    file: Path,
    before: Policy,
    after: Policy,
    faults: Sequence[Fault],
    result: RepairResult,
    *,
    any_other: bool,
) -> None:
    from surefoot.findings.repairs import repair_record

    made = repair_record(before, after, faults, distance=result.distance, any_other=any_other)
    made.write(file)


# -- text --------------------------------------------------------------------------------------

SHOWN_DECISIONS = 5


def _print(
    policy: Policy, result: RepairResult, files: Sequence[Path], record: Path | None
) -> None:
    from rich.text import Text

    from surefoot.cli.output import console

    out = console()
    name = f"{printable(policy.task.name)}, policy {printable(policy.name)}"
    out.print(Text(name, style="bold"))
    head = (f"repaired {counted(result.faults, 'fault')}", "bold green")
    out.print(Text.assemble(head, f" in {result.seconds:,.1f} s; each was tried on the new file"))
    for line in _lines(result):
        out.print(Text(f"  {line}"))
    for change in result.diff.examples[:SHOWN_DECISIONS]:
        out.print(Text(f"    {change}"))
    if result.stopped is not None:
        out.print(Text(f"ran out of {printable(result.stopped)}: a nearer policy may exist"))
    out.print(Text(f"written: {', '.join(printable(str(file)) for file in files)}"))
    if record is not None:
        out.print(Text(f"for surefoot check: {printable(str(record))}"))


def _lines(result: RepairResult) -> list[str]:
    added = f", {result.added_parameters:,} of them new" if result.added_parameters else ""
    changed = counted(result.changed_parameters, "parameter")
    bound = "" if result.bound is None else f"; no repair of this kind is below {result.bound:.4g}"
    kept = result.keep_states - result.keep_lost
    lines = [
        f"distance {result.distance:.4g}: {changed} changed{added}{bound}",
        f"kept {kept:,} of {counted(result.keep_states, 'decision')} on runs that reach the goal",
        f"repair diff: {result.diff}",
    ]
    if result.trees_added:
        lines.insert(1, f"{counted(result.trees_added, 'tree')} added")
    return lines
