"""The work of ``replay`` for many findings: one line each, one exit code."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.cli.replay import check_task_given
from surefoot.errors import InputError, SurefootError, printable
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.cli.arguments import TaskArguments
    from surefoot.cli.policy_arguments import PolicyArguments
    from surefoot.findings.many import Read, Sources
    from surefoot.replay import ReplayResult

NOTHING, FAILS = 0, 1


@dataclass(frozen=True)
class Row:
    """What became of a finding: of its run, or why it was not replayed."""

    file: Path
    answer: ReplayResult | SurefootError

    @property
    def still_fails(self) -> bool:
        """Whether its run still fails."""
        return not isinstance(self.answer, SurefootError) and self.answer.still_fails

    def to_dict(self) -> dict[str, object]:
        """Return the row as plain data."""
        if isinstance(self.answer, SurefootError):
            return {"file": str(self.file), "error": self.answer.to_dict()}
        return {"file": str(self.file), **self.answer.to_dict()}

    def __str__(self) -> str:
        name = printable(str(self.file), 400)
        if isinstance(self.answer, SurefootError):
            return f"not replayed   {name}: {self.answer.message} [{self.answer.code}]"
        word = "still fails" if self.answer.still_fails else "does not fail"
        return f"{word:13}  {name}: {replayed_text(self.answer)}"


def replayed_text(result: ReplayResult) -> str:
    """Return what became of a run in a few words, without the state."""
    if result.still_fails:
        return f"after {counted(result.steps, 'step')}"
    where = f"at step {result.step + 1} of {result.steps:,}"
    if result.reason is not None:
        return f"{where}, {printable(result.reason, 400)}"
    now, was = printable(result.now or ""), printable(result.was or "")
    return f"{where} the policy now decides on {now}, not on {was}"


@dataclass(frozen=True)
class Replaying:
    """Many findings, and what they are to be tried with."""

    paths: Sequence[Path]
    task: str | None
    policy: PolicyArguments
    task_arguments: TaskArguments
    seed: int

    def given(self) -> dict[str, object]:
        """Return the arguments as plain data."""
        names: dict[str, object] = {"findings": list(map(str, self.paths)), "task": self.task}
        return {**names, **self.policy.given(), **self.task_arguments.given()}

    def run(self, options: dict[str, object] | None) -> int:
        """Replay all; print a line each, or one document with the ``options``. Return the exit
        code: 1 if one still fails, else that of the worst error.
        """
        begin = time.perf_counter()
        rows = []
        for row in self._rows():
            rows.append(row)
            if options is None:
                print(row, flush=True)
        if options is None:
            print(summary_text(rows))
            _print_hints(rows)
        else:
            _print_document(rows, options, seed=self.seed, seconds=time.perf_counter() - begin)
        return exit_code_of(rows)

    def _rows(self) -> Iterator[Row]:
        from surefoot.findings.many import read_findings

        with redirect_stdout(sys.stderr):
            sources = sources_of(self.task, self.policy, self.task_arguments, seed=self.seed)
        for each in read_findings(self.paths):
            with redirect_stdout(sys.stderr):
                row = _replayed(each, sources)
            yield row


def sources_of(
    task: str | None,
    policy: PolicyArguments,
    task_arguments: TaskArguments,
    *,
    seed: int,
    must_be_same: bool = False,
) -> Sources:
    """Return what findings are tried with, as the command line says. Raises InputError."""
    from surefoot.cli.progress import Progress
    from surefoot.findings.many import Sources

    check_task_given(task, task_arguments)
    with Progress("reading the task"):
        loaded = None if task is None else task_arguments.load(task)
    load = partial(policy.load_if_given, seed=seed)
    return Sources(loaded, load, must_be_same=must_be_same)


def _replayed(read: Read, sources: Sources) -> Row:
    from surefoot.replay import replayed

    file, finding = read
    if isinstance(finding, SurefootError):
        return Row(file, finding)
    try:
        policy = sources.policy_of(finding)
        return Row(file, replayed(policy, finding.run(policy.task)))
    except SurefootError as error:
        return Row(file, error.at(file=str(file)))


def exit_code_of(rows: Sequence[Row]) -> int:
    """Return 1 if a run still fails, else that of the worst error, else 0."""
    if any(row.still_fails for row in rows):
        return FAILS
    errors = [row.answer for row in rows if isinstance(row.answer, SurefootError)]
    return max((error.exit_code for error in errors), default=NOTHING)


def summary_of(rows: Sequence[Row]) -> dict[str, int]:
    """Return how many there are of each."""
    refused = sum(isinstance(row.answer, SurefootError) for row in rows)
    fail = sum(row.still_fails for row in rows)
    mended = len(rows) - fail - refused
    return {"findings": len(rows), "fail": fail, "mended": mended, "refused": refused}


def summary_text(rows: Sequence[Row]) -> str:
    """Return the same in words."""
    counts = summary_of(rows)
    text = f"{counted(counts['findings'], 'finding')}: {counts['fail']:,} still fail"
    text += f", {counts['mended']:,} do not"
    return text + (f", {counts['refused']:,} not replayed" if counts["refused"] else "")


def _print_hints(rows: Sequence[Row]) -> None:
    errors = [row.answer for row in rows if isinstance(row.answer, InputError)]
    for hint in dict.fromkeys(error.hint for error in errors if error.hint):
        print(f"hint: {hint}", file=sys.stderr)


def _print_document(
    rows: Sequence[Row], options: dict[str, object], *, seed: int, seconds: float
) -> None:
    from surefoot import __version__
    from surefoot.cli.output import json_text, peak_memory_mb

    content = {
        "surefoot": __version__,
        "command": "replay",
        "options": options,
        "seed": seed,
        "seconds": seconds,
        "peak_memory_mb": peak_memory_mb(),
        "findings": [row.to_dict() for row in rows],
        "summary": summary_of(rows),
    }
    print(json_text(content))
