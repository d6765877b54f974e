"""Running a campaign: begin one, or go on with one, and write down how it ended."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from surefoot.campaign.folder import RESULT, check_new, make_folders, write_text
from surefoot.campaign.given import Given, check_same, read_given, task_of, write_given
from surefoot.campaign.lock import locked
from surefoot.campaign.reading import Campaign
from surefoot.campaign.store import DirectoryStore, used_seconds
from surefoot.errors import InputError
from surefoot.files import file_bytes
from surefoot.fuzz import BIASES, check_workers
from surefoot.loop import Ended, Loop, Watch
from surefoot.options import DebugOptions, check_word
from surefoot.policies import Policy, load_policy
from surefoot.policies.writing import interface_file, write_files
from surefoot.results import DebugResult
from surefoot.tasks.task import Task
from surefoot.verify import METHODS as VERIFY_METHODS

METHODS = ("minimal", "penalty")
VERIFIERS = (*VERIFY_METHODS, "none")


def check_options(options: DebugOptions) -> None:
    """Raise InputError for options that no campaign can have."""
    check_word("bias", options.bias, BIASES)
    check_word("method", options.method, METHODS)
    check_word("verify", options.verify, VERIFIERS)
    for name in ("starts", "evaluate_starts", "max_steps", "lookahead", "workers"):
        if getattr(options, name) == 0:
            raise InputError("bad-option", f"{name} must be at least 1")
    check_workers(options.workers)


def begin(
    policy: Policy, directory: Path, options: DebugOptions, watch: Watch | None = None
) -> DebugResult:
    """Return the result of a new campaign in this directory. Raises InputError before any work if
    the policy cannot be repaired, or something is in the directory.
    """
    from surefoot.repair import check_repairable

    check_options(options)
    check_repairable(policy)
    check_new(directory)
    make_folders(directory)
    with locked(directory):
        check_new(directory)  # now nobody else can begin one
        given = write_given(directory, policy, options)
        return _run(given, policy.task, watch)


def go_on(directory: Path, task: Task | None = None, watch: Watch | None = None) -> DebugResult:
    """Return the result of a campaign that was interrupted, or is finished.

    Raises InputError if it is none, another process is at work on it, or task, policy or version
    are not those that it began with.
    """
    given = read_given(directory)
    with locked(directory):
        check_same(given)
        check_options(given.options)
        return _run(given, task_of(given, task), watch)


def _run(given: Given, task: Task, watch: Watch | None) -> DebugResult:
    store = DirectoryStore(given, task)
    original = store.policy(given.policy_file)
    ended = Loop(original, given.options, store, watch or Watch()).run()
    if store.next() is None:
        _finish(store, ended, original)
    campaign = Campaign(given, store.lines, "finished")
    final = load_policy(str(store.path(store.lines[-1]["final_policy"])), task)
    return DebugResult(
        outcome=ended.outcome,
        reason=ended.reason,
        iterations=ended.iterations,
        before=ended.before,
        after=ended.after,
        faults=tuple(campaign.faults),
        policy=final,
        seconds=used_seconds(store.lines),
        starts=len(ended.starts.debugging),
        disjoint=ended.starts.disjoint,
        verification=campaign.verification,
    )


# -- the end -----------------------------------------------------------------------------------


def _finish(store: DirectoryStore, ended: Ended, original: Policy) -> None:
    """Write the final policy and the result, and then the last line of the journal."""
    file = ended.file or store.given.policy_file
    policy = original if ended.file is None else store.policy(ended.file)
    files = _final_files(store, file, policy)
    final = f"policies/{files[0].name}"
    content: dict[str, Any] = {
        "outcome": ended.outcome,
        "reason": ended.reason,
        "final_policy": final,
        "final_sha256": policy.sha256,
        "seconds": {},
    }
    lines = [*store.lines, {"kind": "result", **content, "total_seconds": store.seconds}]
    result = Campaign(store.given, lines, "finished").to_dict()
    write_text(store.given.directory / RESULT, json.dumps(result, indent=1, default=repr) + "\n")
    store.record("result", content, [*(f"policies/{path.name}" for path in files), RESULT])


def _final_files(store: DirectoryStore, file: str, policy: Policy) -> list[Path]:
    """Copy the best policy; beside it goes its interface, unless it brings the right one."""
    name = Path(file).name
    new = store.path(f"policies/final{name[len(Path(name).stem) :]}")
    write_files({new: file_bytes(store.path(file))})
    if _is_complete(new, policy):
        return [new]
    return [new, *write_files(interface_file(policy, new))]


def _is_complete(file: Path, policy: Policy) -> bool:
    """Return whether a policy file alone is read as this policy."""
    with suppress(InputError):
        again = load_policy(str(file), policy.task)
        is_same = again.interface == policy.interface and again.unfiltered == policy.unfiltered
        return is_same
    return False
