"""``surefoot compare``."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.cli.arguments import Json, TaskArguments, TaskSource, checked_options
from surefoot.cli.policy_arguments import POLICY_GROUP, PolicyArguments
from surefoot.cli.report import STANDARD_OUTPUT
from surefoot.errors import InputError, printable, quoted
from surefoot.options import CompareOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from rich.console import Console

    from surefoot.records import CompareResult
    from surefoot.records.comparing import ComparedFault, ComparedPolicy, Fractions, PolicyChange
    from surefoot.tasks.task import Task

NOTHING, WORSE, CUT = 0, 1, 4
SHOWN_FAULTS_OF_EACH = 3
Policies = Annotated[
    str,
    Parameter(name="POLICY", help="OLD, NEW, and more: each is held against the first"),
]


@dataclass(frozen=True, kw_only=True)
class SameArguments:
    """What the files of the policies do not say, for all of them."""

    interface: Annotated[Path | None, Parameter(name="--interface", group=POLICY_GROUP)] = None
    """file that says which variable feeds which input and which output is which action"""
    unfiltered: Annotated[
        bool, Parameter(name="--unfiltered", group=POLICY_GROUP, show_default=False)
    ] = False
    """the policies decide for the best of all actions, applicable or not"""

    def of(self, text: str) -> PolicyArguments:
        """Return the arguments of one of the policies."""
        return PolicyArguments(policy=text, interface=self.interface, unfiltered=self.unfiltered)


@dataclass(frozen=True, kw_only=True)
class ComparisonFiles:
    """What to write besides."""

    markdown: Annotated[Path | None, Parameter(allow_leading_hyphen=True)] = None
    """write a summary in Markdown, for a pull request, to this file; - is standard output"""

    def check(self, *, json: bool) -> None:
        """Raise InputError if nothing can be written there."""
        path = self.markdown
        if path is None:
            return
        if json and path == STANDARD_OUTPUT:
            raise InputError("bad-option", "--json takes standard output: name a file")
        if path != STANDARD_OUTPUT and (str(path).startswith("-") or path.is_dir()):
            raise InputError("bad-option", f"{quoted(str(path))} is not a file to write to")


def compare(
    task: TaskSource,
    /,
    *policies: Policies,
    same: Annotated[SameArguments, Parameter(name="*")] = SameArguments(),
    options: Annotated[CompareOptions, Parameter(name="*")] = CompareOptions(),
    files: Annotated[ComparisonFiles, Parameter(name="*")] = ComparisonFiles(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Tell what changed from a policy to others: faults, decisions, fractions.

    Each policy is evaluated and fuzzed with the same seed. A fault, a state and the
    action there, is new if the first policy decides otherwise in that state, mended
    if the other one does, else common. Decisions are compared in states that either
    policy visits. Fractions come with intervals: exact, or of 95 % confidence.
    Exit code 1 if there is a new fault; else 4 if something stayed unknown or time
    ran out, else 0.

    For example:
      surefoot compare truck.jani truck.onnx retrained.onnx
      surefoot compare truck.jani old.ubj new.ubj --markdown summary.md --json
    """
    from surefoot.cli.output import json_text
    from surefoot.cli.progress import Progress

    options = checked_options(options)
    files.check(json=json)
    if len(policies) < 2:
        raise InputError("bad-option", "give two policies or more: OLD NEW")
    with redirect_stdout(sys.stderr), Progress("reading the task"):
        from surefoot.compare import compare as run

        loaded = task_arguments.load(task)
        bound = [same.of(text).load(loaded, seed=options.seed) for text in policies]
    with redirect_stdout(sys.stderr), Progress("comparing"):
        result = run(loaded, *bound, options=options)
    printed = _write_markdown(result, loaded, files.markdown)
    if json:
        given = {**asdict(options), **_given(same), "policies": list(policies)}
        given |= task_arguments.given()
        print(json_text(_document(loaded, result, given, seed=options.seed)))
    elif printed:
        print(printed, end="")
    else:
        _print(loaded, result)
    return _exit_code(result)


def _exit_code(result: CompareResult) -> int:
    if result.is_worse:
        return WORSE
    return NOTHING if result.is_complete else CUT


def _given(same: SameArguments) -> dict[str, object]:
    given = same.of("").given()
    del given["policy"]
    return given


def _write_markdown(result: CompareResult, task: Task, path: Path | None) -> str:
    """Write the summary, if it is wanted; return it if it goes to standard output."""
    if path is None:
        return ""
    from surefoot.report import write_text
    from surefoot.report.comparing import comparison_markdown

    text = comparison_markdown(result, task.name)
    if path == STANDARD_OUTPUT:
        return text
    write_text(path, text)
    return ""


def _document(
    task: Task, result: CompareResult, options: dict[str, object], *, seed: int
) -> dict[str, object]:
    from surefoot.cli.output import document

    content = document(
        "compare",
        task,
        options=options,
        seed=seed,
        seconds=result.seconds,
        result=result.to_dict(),
    )
    del content["policy"]  # there are several
    return content


# -- text --------------------------------------------------------------------------------------


def _print(task: Task, result: CompareResult) -> None:
    from rich.text import Text

    from surefoot.cli.output import console
    from surefoot.report.comparing import verdict_text

    out = console()
    out.print(Text(printable(task.name), style="bold"))
    for number, policy in enumerate(result.policies):
        out.print(_policy_text(number, policy))
    for change in result.changes:
        _print_change(out, task, change)
    style = "bold red" if result.is_worse else "bold green" if result.is_complete else "bold"
    spent = f"; {result.seconds:,.3f} s"
    out.print(Text.assemble((verdict_text(result), style), spent))
    for line in _notes(result):
        print(line, file=sys.stderr)


def _policy_text(number: int, policy: ComparedPolicy) -> str:
    evaluation = policy.evaluation
    unsafe = _fraction(evaluation.unsafe_fraction, policy.unsafe)
    goal = _fraction(evaluation.goal_fraction, policy.goal)
    faults = counted(policy.faults, "fault")
    name = "old" if number == 0 else "new" if number == 1 else f"new {number}"
    return f"{name:5}  {printable(policy.name)}: unsafe {unsafe}, goal {goal}, {faults}"


def _fraction(value: float, interval: Fractions) -> str:
    low, high = interval
    return f"{value:.4f}" if low == high else f"{value:.4f} [{low:.4f}, {high:.4f}]"


def _print_change(out: Console, task: Task, change: PolicyChange) -> None:
    counts = (
        f"{len(change.new):,} new, {len(change.mended):,} mended, {len(change.common):,} common"
    )
    out.print(f"{printable(change.name)}: {counts}")
    _print_faults(out, task, "new", change.new, "before")
    _print_faults(out, task, "mended", change.mended, "now")
    states = counted(change.states, "visited state")
    out.print(f"  {change.differing:,} of {states} decided otherwise")
    for each in change.examples[:SHOWN_FAULTS_OF_EACH]:
        margin = "" if each.margin_after is None else f", by {each.margin_after:.4g}"
        action = f"{printable(each.before)} -> {printable(each.after)}"
        out.print(f"    {action} in {_state(task, each.state)}{margin}")


def _print_faults(
    out: Console, task: Task, word: str, faults: tuple[ComparedFault, ...], when: str
) -> None:
    for each in faults[:SHOWN_FAULTS_OF_EACH]:
        fault = each.fault
        out.print(f"  {word}: {printable(fault.action)} in {_state(task, fault.state)}")
        safe = ", ".join(map(printable, fault.alternatives))
        out.print(f"    {when} {each.instead_text}; safe alternative: {safe}")
    if len(faults) > SHOWN_FAULTS_OF_EACH:
        out.print(f"  ... and {len(faults) - SHOWN_FAULTS_OF_EACH:,} more {word}")


def _state(task: Task, state: object) -> str:
    from surefoot.cli.state_text import labels_of, text_of
    from surefoot.tasks.state import State

    assert isinstance(state, State)
    return text_of(state, labels_of(task))


def _notes(result: CompareResult) -> list[str]:
    notes = []
    if result.stopped is not None or any(policy.stopped for policy in result.policies):
        notes.append("cut: not everything that was planned was done; raise --max-seconds")
    if unknown := sum(policy.unknown for policy in result.policies):
        notes.append(f"{counted(unknown, 'question')} stayed open; raise --state-seconds")
    return notes
