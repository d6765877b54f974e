"""What a campaign is about: task, policy and options, as ``campaign.json`` keeps them."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from surefoot import __version__
from surefoot.campaign.folder import (
    CAMPAIGN,
    check_campaign,
    check_files,
    check_name,
    hash_of,
    write_text,
)
from surefoot.certificates import task_member
from surefoot.errors import InputError, quoted, shown
from surefoot.files import file_bytes, read_json, to_disk, write_files
from surefoot.findings.sources import task_again
from surefoot.options import DebugOptions, checked, from_plain, to_plain
from surefoot.policies import Policy, load_policy
from surefoot.policies.formats import format_of, kind_of
from surefoot.policies.writing import write_policy
from surefoot.records.campaigns import VERSION, CampaignFile, KeptPolicy, campaign_from
from surefoot.records.files import plain
from surefoot.records.parts import TaskPart
from surefoot.tasks.task import Task

CONTINUED = {__version__, "0.1.0"}
"""versions of Surefoot whose campaigns go on here with the same answers"""


@dataclass(frozen=True)
class Given:
    """What was given to a campaign. ``content`` is that of ``campaign.json``, ``check`` its hash,
    with which the journal begins.
    """

    directory: Path
    content: CampaignFile
    options: DebugOptions
    check: str

    @property
    def policy_file(self) -> str:
        """Where the copy of the policy is."""
        return self.content.policy.file

    def load_policy(self, relative: str, task: Task) -> Policy:
        """Return a policy of the campaign, with the interface of the one that was given.

        Its name is as findings and certificates need it, which stand in folders beside its own.
        """
        kept = self.content.policy
        path = self.directory / check_name(relative)
        policy = load_policy(str(path), task, interface=kept.interface, unfiltered=kept.unfiltered)
        return policy.renamed(f"../{relative}", file=policy.file, sha256=policy.sha256)


# -- writing -----------------------------------------------------------------------------------


def write_given(
    directory: Path, policy: Policy, options: DebugOptions
) -> tuple[Given, Policy | None]:
    """Copy the policy, and write down what the campaign is about; return that, and the policy as
    its copy would be read, if that is known without reading it. Raises InputError.
    """
    kept = _copied_as_it_is(directory, policy)
    paths = _written(directory, policy) if kept is None or kept.file is None else [kept.file]
    file, files = _files(paths)
    assert policy.interface is not None  # it has a model
    content = CampaignFile(
        surefoot=__version__,
        campaign=VERSION,
        task=TaskPart(**task_member(policy.task)),
        begun_in=os.path.relpath(Path.cwd(), directory),
        policy=KeptPolicy(
            name=policy.name,
            sha256=policy.sha256,
            interface=policy.interface.to_dict(),
            unfiltered=policy.unfiltered,
            model=str(policy.model),
            file=file,
            files=files,
        ),
        options=to_plain(options),
    )
    write_text(directory / CAMPAIGN, json.dumps(plain(content), indent=1) + "\n")
    return read_given(directory), kept


def _files(files: Sequence[Path]) -> tuple[str, dict[str, str]]:
    """Return the name of the copy's first file, and the hashes of all, which are on the disk."""
    for path in files:
        to_disk(path)
    return f"policy/{files[0].name}", {f"policy/{path.name}": hash_of(path) for path in files}


def _written(directory: Path, policy: Policy) -> list[Path]:
    """Return the files of the policy, written in a format of our own."""
    name = "policy.json" if policy.model_kind == "trees" else "policy.safetensors"
    return write_policy(policy, directory / "policy" / name)


def _copied_as_it_is(directory: Path, policy: Policy) -> Policy | None:
    """Return the policy with a copy of its file; None if it is not a file, needs others, or was
    changed since it was read.
    """
    if policy.file is None or policy.alone is None:
        return None
    content = file_bytes(policy.file)
    is_same = hashlib.sha256(content).hexdigest() == policy.file_sha256
    if not is_same or not format_of(kind_of(policy.file)).is_whole:
        return None
    name = f"policy{policy.file.suffix.lower()}"
    file = directory / "policy" / name
    write_files({file: content})
    return policy.copied(f"../policy/{name}", file=file)


# -- reading -----------------------------------------------------------------------------------


def read_given(directory: Path) -> Given:
    """Return what a campaign is about. Raises InputError (``not-a-campaign``) if it is not one, or
    one of another version.
    """
    check_campaign(directory)
    path = directory / CAMPAIGN
    try:
        content = campaign_from(read_json(path))
        check_name(content.policy.file)
        options = _options(content.options)
    except InputError as error:
        error.at(file=str(path))
        raise
    digest = hashlib.sha256(file_bytes(path)).hexdigest()
    return Given(directory, content, options, digest)


def _options(content: dict[str, object]) -> DebugOptions:
    options = from_plain(content)
    if options is None:
        raise InputError(
            "not-a-campaign",
            "this is not the file of a campaign: these are not the options of debug",
            place="/options",
        )
    return checked(options)


# -- the task again ----------------------------------------------------------------------------


def task_of(given: Given, task: Task | None = None) -> Task:
    """Return the task of a campaign, or the one given, if it is the same.

    Raises InputError if it cannot be found, would run code, or has changed since.
    """
    if task is None:
        task = _found(given)
    if not task.has_sha256(given.content.task.sha256):
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
    begun_in = given.directory / given.content.begun_in
    task = task_again(
        given.content.task,
        file=given.directory / CAMPAIGN,
        base=begun_in,
        command="surefoot resume DIR TASK",
    )
    return _as_named(task, given, begun_in)


def _as_named(task: Task, given: Given, begun_in: Path) -> Task:
    """Return the task under the name that the campaign gave it: findings say the same again."""
    named, source = given.content.task, task.source
    if source is None or named.source is None or source.text == named.source:
        return task
    options = source.front_end.options.from_words(named.options)
    directory = str(begun_in.resolve())
    task.source = replace(source, text=named.source, options=options, directory=directory)
    return task


def check_same(given: Given) -> None:
    """Raise InputError if a version of Surefoot began the campaign that may have answered
    otherwise, or its policy changed.
    """
    if given.content.surefoot not in CONTINUED:
        raise InputError(
            "campaign-version",
            f"Surefoot {shown(given.content.surefoot)} began the campaign, this is "
            f"{__version__}: answers may differ",
            file=str(given.directory / CAMPAIGN),
            hint="go on with that version, or begin a new campaign in another directory",
        )
    check_files(given.directory, given.content.policy.files)
