"""``surefoot corpus list``, ``add`` and ``prune``."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from surefoot.cli.arguments import Json, TaskArguments, checked_options
from surefoot.cli.policy_arguments import PolicyArguments
from surefoot.cli.replay import Given
from surefoot.options import BudgetOptions
from surefoot.text import counted

if TYPE_CHECKING:
    from surefoot.corpus import Added
    from surefoot.corpus.adding import Prepared
    from surefoot.findings import Finding
    from surefoot.findings.many import Read, Sources
    from surefoot.policies import Policy
    from surefoot.records.corpus import CorpusEntry

HELP = """Keep findings that are replayed first: by the pytest plug-in, and by you.

The corpus is a folder, .surefoot: the nearest upwards, else one in the working
directory. Findings come there by corpus add and --save, and by nothing else.

For example:
  surefoot faults truck.jani --policy truck.onnx --save
  surefoot corpus list
  surefoot replay .surefoot truck.jani --policy new.onnx
"""
corpus = App(name="corpus", help=HELP)
Folder = Annotated[
    Path | None,
    Parameter(
        name="--corpus",
        help="the folder of the corpus; if not given, the nearest .surefoot upwards",
        show_default=False,
    ),
]
OtherTask = Annotated[
    str | None,
    Parameter(
        name="TASK",
        help="try the entries about this task with it; needed for those that name FILE.py:NAME",
    ),
]
DryRun = Annotated[
    bool, Parameter(name="--dry-run", help="say what would be removed", show_default=False)
]


@dataclass(frozen=True, kw_only=True)
class ListArguments(BudgetOptions):
    """What every command takes."""

    max_seconds: float = BudgetOptions.max_seconds
    """not needed here: the corpus has an end"""
    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: the files bound what is kept"""
    seed: int = 0
    """of the policy random, if --policy gives that"""


@dataclass(frozen=True, kw_only=True)
class AddArguments(BudgetOptions):
    """How long to shrink."""

    max_seconds: float = 60.0
    """stop shrinking after this many seconds; what is left is added as it is"""
    memory_mb: int = BudgetOptions.memory_mb
    """not needed here: the files bound what is kept"""
    seed: int = 0
    """of the policy random, if --policy gives that"""


@corpus.command(name="list")
def list_entries(
    *,
    folder: Folder = None,
    options: Annotated[ListArguments, Parameter(name="*")] = ListArguments(),
    json: Json = False,
) -> int:
    """List the findings in the corpus: what each is about, and its file.

    Nothing that an entry names is loaded. Exit code 0.

    For example:
      surefoot corpus list
      surefoot corpus list --corpus tests/corpus --json
    """
    from surefoot.corpus import corpus_folder, entry_of, stored

    options = checked_options(options)
    begin = time.perf_counter()
    where = corpus_folder(folder)
    entries = [entry_of(each) for each in stored(where)]
    if json:
        _print_document("list", where, entries, asdict(options), begin=begin)
    else:
        for entry in entries:
            print(f"{entry}; {_about(entry)}")
        print(f"{counted(len(entries), 'finding')} in {where}")
    return 0


@corpus.command
def add(
    *given: Given,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    folder: Folder = None,
    options: Annotated[AddArguments, Parameter(name="*")] = AddArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Put findings into the corpus: shrunk, and each once.

    FINDING is a finding, a folder of them, or the directory of a campaign. Task and
    policy are those that a finding names, and must not have changed since; if they
    are Python code, give them yourself.
    Exit code 0 if all are in the corpus, also if they were already; else 2.

    For example:
      surefoot corpus add findings/fault-2c26b46b68ffc68f.json
      surefoot corpus add findings truck.py:truck --policy truck.py:careful
    """
    from surefoot.cli.replay import findings_and_task
    from surefoot.cli.replaying import sources_of
    from surefoot.corpus import corpus_folder
    from surefoot.corpus.adding import add_all

    options = checked_options(options)
    begin = time.perf_counter()
    paths, task = findings_and_task(given)
    where = corpus_folder(folder)
    with redirect_stdout(sys.stderr):
        sources = sources_of(task, policy, task_arguments, seed=options.seed, must_be_same=True)
        added = add_all(_prepared(paths, sources), where, seconds=options.max_seconds)
    if json:
        given_options: dict[str, object] = {"findings": list(map(str, paths)), "task": task}
        given_options |= {**asdict(options), **policy.given(), **task_arguments.given()}
        _print_document("add", where, added.entries, given_options, begin=begin)
    else:
        print_added(added)
    return _exit_code(added.entries)


@corpus.command
def prune(
    task: OtherTask = None,
    /,
    *,
    policy: Annotated[PolicyArguments, Parameter(name="*")] = PolicyArguments(),
    folder: Folder = None,
    dry_run: DryRun = False,
    options: Annotated[ListArguments, Parameter(name="*")] = ListArguments(),
    json: Json = False,
    task_arguments: Annotated[TaskArguments, Parameter(name="*")] = TaskArguments(),
) -> int:
    """Remove the findings from the corpus that no longer fail.

    Each is tried with the task and the policy that it names, if they have not
    changed; or with those given, then only entries about that TASK. One that cannot
    be tried stays. A policy that unlearns what it has learned is caught by the
    entries that do not fail any more: think before you remove them.
    Exit code 0, or 2 if one could not be tried.

    For example:
      surefoot corpus prune truck.jani --policy new.onnx --dry-run
    """
    from surefoot.cli.replaying import sources_of
    from surefoot.corpus import corpus_folder
    from surefoot.corpus import prune as run

    options = checked_options(options)
    begin = time.perf_counter()
    where = corpus_folder(folder)
    with redirect_stdout(sys.stderr):
        sources = sources_of(task, policy, task_arguments, seed=options.seed)
        is_wanted = partial(_is_about, sources)
        entries = run(sources.policy_of, folder=where, is_wanted=is_wanted, dry_run=dry_run)
    if json:
        given_options: dict[str, object] = {"task": task, "dry_run": dry_run}
        given_options |= {**asdict(options), **policy.given(), **task_arguments.given()}
        _print_document("prune", where, entries, given_options, begin=begin)
    else:
        _print_pruned(entries, where)
    return _exit_code(entries)


def _is_about(sources: Sources, finding: Finding) -> bool:
    from surefoot.corpus.replaying import is_about

    return sources.task is None or is_about(finding, sources.task)


def _prepared(paths: Sequence[Path], sources: Sources) -> Iterator[tuple[CorpusEntry, Prepared]]:
    """Yield each finding as it is to be added, and what it is about."""
    from surefoot.corpus import entry_of
    from surefoot.errors import SurefootError
    from surefoot.findings.many import read_findings
    from surefoot.records.corpus import CorpusEntry

    for read in read_findings(paths):
        file, finding = read
        if isinstance(finding, SurefootError):
            about = CorpusEntry(str(file), kind="", task="", policy="", steps=0)
        else:
            about = entry_of(finding)
        yield about, partial(_with_policy, read, sources)


def _with_policy(read: Read, sources: Sources) -> tuple[Finding, Policy]:
    from surefoot.errors import SurefootError

    _, finding = read
    if isinstance(finding, SurefootError):
        raise finding
    return finding, sources.policy_of(finding)


def _exit_code(entries: Sequence[CorpusEntry]) -> int:
    errors = [entry.error for entry in entries if entry.error is not None]
    return max((error.exit_code for error in errors), default=0)


# -- text and document -------------------------------------------------------------------------


def print_added(added: Added) -> None:
    """Print a line for each finding, and how many there are of each."""
    for entry in added.entries:
        print(f"{entry.status:8}  {entry}")
    print(f"corpus {added}")
    _print_hints(added.entries)


def _print_pruned(entries: Sequence[CorpusEntry], folder: Path) -> None:
    for entry in entries:
        print(f"{entry.status:8}  {entry}")
    gone = sum(entry.status in ("removed", "mended") for entry in entries)
    word = "would be removed" if any(e.status == "mended" for e in entries) else "removed"
    print(f"corpus {folder}: {counted(len(entries), 'finding')}, {gone:,} {word}")
    _print_hints(entries)


def _print_hints(entries: Sequence[CorpusEntry]) -> None:
    hints = [entry.error.hint for entry in entries if entry.error is not None]
    for hint in dict.fromkeys(each for each in hints if each):
        print(f"hint: {hint}", file=sys.stderr)


def _about(entry: CorpusEntry) -> str:
    from surefoot.errors import printable

    return f"policy {printable(entry.policy)}, task {printable(entry.task)}"


def _print_document(
    action: Literal["list", "add", "prune"],
    folder: Path,
    entries: Sequence[CorpusEntry],
    options: dict[str, object],
    *,
    begin: float,
) -> None:
    from surefoot import __version__
    from surefoot.cli.output import json_text, peak_memory_mb

    content = {
        "surefoot": __version__,
        "command": "corpus",
        "action": action,
        "folder": str(folder),
        "options": options,
        "seed": options["seed"],
        "seconds": time.perf_counter() - begin,
        "peak_memory_mb": peak_memory_mb(),
        "entries": [entry.to_dict() for entry in entries],
    }
    print(json_text(content))
