"""What a campaign is about: task, policy and options, as ``campaign.json`` keeps them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from surefoot import __version__
from surefoot.campaign.folder import (
    CAMPAIGN,
    check_campaign,
    check_files,
    check_name,
    sha256_of,
    to_disk,
    write_text,
)
from surefoot.certificates import TASK_MEMBERS, task_member
from surefoot.errors import InputError, quoted, shown
from surefoot.files import file_bytes, read_json
from surefoot.findings import Finding
from surefoot.findings.sources import task_again
from surefoot.options import DebugOptions, checked
from surefoot.policies import Policy, load_policy
from surefoot.policies.formats import kind_of
from surefoot.policies.writing import write_files, write_policy
from surefoot.tasks.task import Task

VERSION = 1
COPIED = ("onnx", "safetensors", "xgboost", "lightgbm", "trees")
"""policy files that hold the whole model: these are copied as they are"""
POLICY_MEMBERS: dict[str, Any] = {
    "name": str,
    "sha256": (str, type(None)),
    "interface": dict,
    "unfiltered": bool,
    "model": str,
    "file": str,
    "files": dict,
}


@dataclass(frozen=True)
class Given:
    """What was given to a campaign. ``content`` is that of ``campaign.json``, ``check`` its hash,
    with which the journal begins.
    """

    directory: Path
    content: Mapping[str, Any]
    options: DebugOptions
    check: str

    @property
    def policy_file(self) -> str:
        """Where the copy of the policy is."""
        return str(self.content["policy"]["file"])

    def load_policy(self, relative: str, task: Task) -> Policy:
        """Return a policy of the campaign, with the interface of the one that was given.

        Its name is as findings and certificates need it, which stand in folders beside its own.
        """
        said = self.content["policy"]
        path = self.directory / check_name(relative)
        policy = load_policy(
            str(path), task, interface=said["interface"], unfiltered=said["unfiltered"]
        )
        policy.name = f"../{relative}"
        return policy


# -- writing -----------------------------------------------------------------------------------


def write_given(directory: Path, policy: Policy, options: DebugOptions) -> Given:
    """Copy the policy, and write down what the campaign is about. Raises InputError."""
    file, files = _copied(directory, policy)
    assert policy.interface is not None  # it has a model
    content: dict[str, Any] = {
        "surefoot": __version__,
        "campaign": VERSION,
        "task": dict(task_member(policy.task)),
        "from": os.path.relpath(Path.cwd(), directory),
        "policy": {
            "name": policy.name,
            "sha256": policy.sha256,
            "interface": policy.interface.to_dict(),
            "unfiltered": policy.unfiltered,
            "model": str(policy.model),
            "file": file,
            "files": files,
        },
        "options": asdict(options),
    }
    write_text(directory / CAMPAIGN, json.dumps(content, indent=1) + "\n")
    return read_given(directory)


def _copied(directory: Path, policy: Policy) -> tuple[str, dict[str, str]]:
    """Return the name of the copy, and the hashes of its files."""
    made = _copied_as_it_is(directory, policy)
    if made is not None:
        files = [made]
    else:
        kind = getattr(policy.model, "kind", "")
        made = directory / "policy" / ("policy.json" if kind == "trees" else "policy.safetensors")
        files = write_policy(policy, made)
    for path in files:
        to_disk(path)
    return f"policy/{made.name}", {f"policy/{path.name}": sha256_of(path) for path in files}


def _copied_as_it_is(directory: Path, policy: Policy) -> Path | None:
    """Return a copy of the policy's file; None if it is no file, or needs others."""
    if policy.file is None or policy.interface is None or ".py:" in policy.name:
        return None
    if kind_of(policy.file) not in COPIED:
        return None
    made = directory / "policy" / f"policy{policy.file.suffix.lower()}"
    write_files({made: file_bytes(policy.file)})
    try:
        again = load_policy(str(made), policy.task, interface=policy.interface.to_dict())
    except InputError:
        again = None  # the interface says what the file leaves open
    if again is not None and str(again.model) == str(policy.model):
        return made
    made.unlink()
    return None


# -- reading -----------------------------------------------------------------------------------


def read_given(directory: Path) -> Given:
    """Return what a campaign is about. Raises InputError (``not-a-campaign``) if it is none, or
    one of another version.
    """
    check_campaign(directory)
    path = directory / CAMPAIGN
    content = read_json(path)
    try:
        options = _checked(content)
    except InputError as error:
        error.at(file=str(path))
        raise
    digest = hashlib.sha256(file_bytes(path)).hexdigest()
    return Given(directory, content, options, digest)


def _checked(content: Any) -> DebugOptions:
    """Return the options. Raises InputError if the content is not that of a campaign."""
    if not isinstance(content, dict) or "campaign" not in content:
        raise _no_campaign("this is no campaign")
    version = content["campaign"]
    if version != VERSION or isinstance(version, bool):
        raise InputError(
            "campaign-version",
            f"this is a campaign of version {shown(version)}",
            hint=f"Surefoot {__version__} reads version {VERSION}",
        )
    for name in ("surefoot", "from"):
        if not isinstance(content.get(name), str):
            raise _no_campaign(f"it does not say {name}")
    for name, members in (("task", TASK_MEMBERS), ("policy", POLICY_MEMBERS)):
        member = content.get(name)
        if not isinstance(member, dict) or set(member) != set(members):
            raise _no_campaign(f"it does not say which {name}")
        if not all(isinstance(member[key], kind) for key, kind in members.items()):
            raise _no_campaign(f"it does not say which {name}")
    check_name(content["policy"]["file"])
    return _options(content.get("options"))


def _options(said: Any) -> DebugOptions:
    names = {field.name for field in fields(DebugOptions)}
    if not isinstance(said, dict) or set(said) != names:
        raise _no_campaign("it does not say which options")
    return checked(DebugOptions(**said))


def _no_campaign(message: str) -> InputError:
    return InputError("not-a-campaign", f"this is not the file of a campaign: {message}")


# -- the task again ----------------------------------------------------------------------------


def task_of(given: Given, task: Task | None = None) -> Task:
    """Return the task of a campaign, or the one given, if it is the same.

    Raises InputError if it cannot be found, would run code, or has changed since.
    """
    said = given.content["task"]
    if task is None:
        task = _found(given)
    real = task_member(task)["sha256"]
    if real != said["sha256"]:
        raise InputError(
            "campaign-other-task",
            f"the task {quoted(task.name)} is not the one that the campaign began with",
            file=str(given.directory / CAMPAIGN),
            hint="put it back as it was, or begin a new campaign in another directory",
        )
    return task


def _found(given: Given) -> Task:
    """Return the task that the campaign names: from the current directory, or from the one where
    the campaign began.
    """
    begun_in = given.directory / given.content["from"]
    named = Finding(given.content, file=begun_in / CAMPAIGN)
    try:
        task = task_again(named)
    except InputError as error:
        if error.code in ("finding-runs-code", "finding-no-task"):
            error.file = str(given.directory / CAMPAIGN)
            error.hint = "if you trust it, give the task: surefoot resume DIR TASK"
        raise
    return _as_named(task, given, begun_in)


def _as_named(task: Task, given: Given, begun_in: Path) -> Task:
    """Return the task under the name that the campaign gave it: findings say the same again."""
    said, source = given.content["task"], task.source
    if source is None or source.text == said["source"]:
        return task
    options = said["options"]
    task.source = replace(
        source,
        text=said["source"],
        properties=options.get("property"),
        start=options.get("start"),
        goal=options.get("goal"),
        fail=options.get("fail"),
        directory=str(begun_in.resolve()),
    )
    return task


def check_same(given: Given) -> None:
    """Raise InputError if another version of Surefoot made the campaign, or its policy changed."""
    if given.content["surefoot"] != __version__:
        raise InputError(
            "campaign-version",
            f"Surefoot {shown(given.content['surefoot'])} began the campaign, this is "
            f"{__version__}: answers may differ",
            file=str(given.directory / CAMPAIGN),
            hint="go on with that version, or begin a new campaign in another directory",
        )
    check_files(given.directory, given.content["policy"]["files"])
