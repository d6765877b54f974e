"""Running a campaign: begin one, or go on with one, and write down how it ended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from surefoot.campaign.folder import RESULT, check_new, make_folders, write_text
from surefoot.campaign.given import check_same, read_given, task_of, write_given
from surefoot.campaign.journal import NAME, damaged
from surefoot.campaign.lock import locked
from surefoot.campaign.reading import Campaign, verification_of
from surefoot.campaign.store import DirectoryStore, used_seconds
from surefoot.errors import InputError, printable, quoted
from surefoot.evidence.findings import smallest_first
from surefoot.faults import check_fault_options
from surefoot.files import file_bytes, write_files
from surefoot.fuzz.bias import BIASES, check_bias
from surefoot.loop import Ended, Loop, MemoryStore, Watch, lacks_time
from surefoot.options import DebugOptions, check_word
from surefoot.options.checking import Spelled
from surefoot.oracles import ORACLES
from surefoot.policies import Policy
from surefoot.policies.binding import bound_to
from surefoot.policies.writing import interface_file
from surefoot.records import DebugResult
from surefoot.records.lines import Line, ResultLine
from surefoot.registry import runs_code
from surefoot.tasks.task import Task
from surefoot.verify import METHODS, check_predicates


def check_options(options: DebugOptions, *, spelled: Spelled = str) -> None:
    """Raise InputError for options that no campaign can have. Components from outside are loaded
    for this, which runs them. ``spelled`` turns the name of an option into what the user wrote.
    """
    check_bias(spelled("bias"), options.fuzz.bias)
    _check_method(spelled("verify"), options.verify.method)
    check_fault_options(options.faults)
    check_predicates(options.verify)


def _check_method(option: str, name: str) -> None:
    if runs_code(name):
        METHODS.check(name)
    elif name not in (*METHODS.built_in, "none"):
        check_word(option, name, (*METHODS.names, "none"))


def check_trusted(options: DebugOptions, components: Sequence[str], directory: Path) -> None:
    """Raise InputError if the options name a component from outside that the user does not, or the
    user one that they do not: nothing that a campaign names is run because it does.
    """
    named = {
        options.fuzz.bias: BIASES.built_in,
        options.faults.oracle: ORACLES.built_in,
        options.verify.method: (*METHODS.built_in, "none"),
    }
    outside = [name for name, built_in in named.items() if name not in built_in]
    for name in components:
        if name not in outside:
            raise InputError("bad-option", f"the campaign has no component {quoted(name)}")
    if set(outside) - set(components):
        words = [word for name in outside for word in ("--component", printable(name))]
        command = shlex.join(["surefoot", "resume", printable(str(directory)), *words])
        raise InputError(
            "campaign-runs-code",
            f"the campaign was begun with {', '.join(map(quoted, outside))}, "
            "and going on with it would run that",
            file=str(directory),
            hint=f"if you trust it: {command}",
        )


def begin(
    policy: Policy,
    directory: Path,
    options: DebugOptions,
    watch: Watch | None = None,
    *,
    left: Callable[[], float] | None = None,
) -> DebugResult:
    """Return the result of a new campaign in this directory. ``left`` tells how many seconds there
    are, if these are fewer than the options say. Raises InputError before any work if the policy
    cannot be repaired, or something is in the directory.
    """
    from surefoot.repair import check_repairable

    check_options(options)
    check_repairable(policy)
    check_new(directory)
    make_folders(directory)
    with locked(directory):
        check_new(directory)  # now nobody else can begin one
        given, original = write_given(directory, policy, options)
        store = DirectoryStore(given, policy.task, original)
        store.max_seconds = options.max_seconds if left is None else left()
        ended = _loop(store, watch).run()
        return _finished(store, ended)


def begin_in_memory(
    policy: Policy, options: DebugOptions, watch: Watch | None = None
) -> DebugResult:
    """Return the result of a campaign that is kept nowhere. Raises InputError as ``begin`` does."""
    from surefoot.repair import check_repairable

    check_options(options)
    check_repairable(policy)
    store = MemoryStore()
    ended = Loop(policy, options, store, watch or Watch()).run()
    sha256 = None if ended.number else policy.sha256
    final = ended.policy.renamed("repaired", file=None, sha256=sha256)
    return _result(ended, final, store.lines)


def go_on(
    directory: Path,
    task: Task | None = None,
    watch: Watch | None = None,
    components: Sequence[str] = (),
    *,
    left: Callable[[], float] | None = None,
) -> DebugResult:
    """Return the result of a campaign that was interrupted, or is finished. ``components`` are
    those from outside that it was begun with. With ``left`` it gets as many seconds from now on as
    this tells, also if it has ended for lack of time.

    Raises InputError if it is not one, another process is at work on it, or task, policy or version
    are not those that it began with.
    """
    given = read_given(directory)
    with locked(directory):
        check_same(given)
        check_trusted(given.options, components, directory)
        check_options(given.options)
        store = DirectoryStore(given, task_of(given, task))
        if left is not None and can_be_extended(store.lines):
            store.extend(left())
        with _said_by_the_journal(directory):
            ended = _loop(store, watch).run()
            return _finished(store, ended)


def can_be_extended(lines: Sequence[Line]) -> bool:
    """Return whether more time is of use: the campaign has not ended, or for lack of time."""
    is_finished = bool(lines) and isinstance(lines[-1], ResultLine)
    return not is_finished or lacks_time(lines)


@contextmanager
def _said_by_the_journal(directory: Path) -> Iterator[None]:
    """Have the error for a line that is not what comes next name the journal."""
    try:
        yield
    except InputError as error:
        if error.code != "campaign-damaged" or error.file is not None:
            raise
        raise damaged(directory / NAME, error.message, place=error.place) from None


def _loop(store: DirectoryStore, watch: Watch | None) -> Loop:
    original = store.policy(store.given.policy_file)
    options = store.given.options
    return Loop(original, options, store, watch or Watch(), max_seconds=store.max_seconds)


def _finished(store: DirectoryStore, ended: Ended) -> DebugResult:
    """Return the result, after writing it down unless that was done before."""
    if store.next() is None:
        _finish(store, ended)
    file = store.path(_final_policy(store))
    final = ended.policy.renamed(str(file), file=file, sha256=ended.policy.sha256)
    return _result(ended, final, store.lines)


def _result(ended: Ended, final: Policy, lines: Sequence[Line]) -> DebugResult:
    return DebugResult(
        outcome=ended.outcome,
        reason=ended.reason,
        iterations=ended.iterations,
        before=ended.before,
        after=ended.after,
        faults=tuple(smallest_first(ended.faults)),
        policy=final,
        seconds=used_seconds(lines),
        starts=len(ended.starts.debugging),
        disjoint=ended.starts.disjoint,
        verification=verification_of(lines),
    )


# -- the end -----------------------------------------------------------------------------------


def _finish(store: DirectoryStore, ended: Ended) -> None:
    """Write the final policy and the result, and then the last line of the journal."""
    file = ended.file or store.given.policy_file
    policy = ended.policy
    files = _final_files(store, file, policy)
    final = f"policies/{files[0].name}"
    line = ResultLine(
        outcome=ended.outcome,
        reason=ended.reason,
        final_policy=final,
        final_sha256=policy.sha256,
        seconds={},
        total_seconds=store.seconds,
    )
    lines = [*store.lines, line]
    result = Campaign(store.given, lines, "finished", store.max_seconds).to_dict()
    write_text(store.given.directory / RESULT, json.dumps(result, indent=1, default=repr) + "\n")
    store.append(line, [*(f"policies/{path.name}" for path in files), RESULT])


def _final_policy(store: DirectoryStore) -> str:
    """Return the name of the final policy's file, which the last line says."""
    last = store.lines[-1]
    if not isinstance(last, ResultLine) or last.final_policy is None:
        raise InputError("campaign-damaged", "the last line does not name the final policy")
    return last.final_policy


def _final_files(store: DirectoryStore, file: str, policy: Policy) -> list[Path]:
    """Copy the best policy; beside it goes its interface, unless it brings the right one."""
    name = Path(file).name
    new = store.path(f"policies/final{name[len(Path(name).stem) :]}")
    write_files({new: file_bytes(store.path(file))})
    if _is_complete(policy):
        return [new]
    return [new, *write_files(interface_file(policy, new))]


def _is_complete(policy: Policy) -> bool:
    """Return whether the file of a policy alone, under another name, is read as this policy."""
    if policy.alone is None:
        return False
    with suppress(InputError):
        again = bound_to(policy.alone, policy.task)
        is_same = again.interface == policy.interface
        return is_same and bool(again.unfiltered) == policy.unfiltered
    return False
