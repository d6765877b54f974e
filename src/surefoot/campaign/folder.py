"""The directory of a campaign: what is where, how it is made, and how files get there.

* ``campaign.json``: task, policy, options. ``journal.jsonl``: what was done. ``lock``
* ``policy/``: a copy of the policy. ``policies/``: those of every round, and ``final.*``
* ``faults/``: all new faults of a round. ``findings/``: the smallest with their certificates
* ``suspects/``: decisions of a round that may be faults, with safe alternatives
* ``certificates/policy-safe.jsonl``: why the repaired policy is safe. ``result.json``: the result

A campaign may come from a stranger: its folders are none that lead elsewhere, and names of files
are only such as stand here.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Mapping
from pathlib import Path

from surefoot.errors import InputError, quoted, shown
from surefoot.files import not_written, sha256_of, write_files

CAMPAIGN, RESULT = "campaign.json", "result.json"
FOLDERS = ("policy", "policies", "findings", "faults", "suspects", "certificates")
_OURS = re.compile(
    r"policies/(iteration-[0-9]{3,9}|final)(\.[a-z0-9]{1,20}){1,4}"
    r"|findings/fault-[0-9a-f]{16}\.json"
    r"|(faults|suspects)/iteration-[0-9]{3,9}\.jsonl"
    r"|certificates/policy-safe\.jsonl"
    r"|policy/policy(\.[a-z0-9]{1,20}){1,4}"
    r"|result\.json",
    re.ASCII,
)
_UNFINISHED = re.compile(r"\.surefoot-[0-9a-f]{8}(\.\w+)*|\..+\.[0-9]+", re.ASCII)


def check_new(directory: Path) -> None:
    """Raise InputError if no campaign can begin here: something else is there, or a campaign."""
    if "\0" in str(directory):
        raise InputError(
            "file-not-written", "a path cannot contain a NUL character", file=str(directory)
        )
    if not os.path.lexists(directory):
        return
    if not directory.is_dir():
        raise InputError("file-not-written", "this is not a directory", file=str(directory))
    try:
        there = set(os.listdir(directory))
    except OSError as error:
        raise not_written(directory, error) from None
    if CAMPAIGN in there:
        raise InputError(
            "campaign-exists",
            "there is already a campaign here",
            file=str(directory),
            hint="surefoot resume continues it; or give another directory",
        )
    if there - {"lock", *FOLDERS} and not all(map(_UNFINISHED.fullmatch, there - {*FOLDERS})):
        raise InputError(
            "directory-not-empty",
            "the directory is neither empty nor a Surefoot campaign",
            file=str(directory),
            hint="give a new one",
        )


def make_folders(directory: Path) -> None:
    """Make the directory and its folders, where they are not there. Raises InputError."""
    for folder in (directory, *(directory / name for name in FOLDERS)):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK | os.X_OK):
                raise PermissionError(13, "Permission denied")
        except OSError as error:
            raise not_written(folder, error) from None
    check_folders(directory)


def check_folders(directory: Path) -> None:
    """Raise InputError if the folders of a campaign are none, or lead somewhere else."""
    for name in FOLDERS:
        try:
            mode = os.lstat(directory / name).st_mode
        except OSError:
            raise damaged(directory / name, "this folder of the campaign is missing") from None
        if not stat.S_ISDIR(mode):
            raise damaged(directory / name, "this is not a folder")


def check_campaign(directory: Path) -> None:
    """Raise InputError (``not-a-campaign``) if there is no campaign."""
    try:
        is_there = (directory / CAMPAIGN).is_file()
    except (OSError, ValueError):
        is_there = False
    if not is_there:
        raise InputError(
            "not-a-campaign",
            f"{quoted(str(directory))} is not a Surefoot campaign",
            hint="surefoot debug TASK --policy POLICY -o DIR begins one",
        )


def damaged(path: Path, message: str) -> InputError:
    """Return the error for a file of a campaign that is not as it was written."""
    return InputError(
        "campaign-damaged",
        message,
        file=str(path),
        hint="put it back as it was; or begin a new campaign in another directory",
    )


def check_name(name: object) -> str:
    """Return the name of a file of a campaign. Raises InputError if it is none of ours."""
    if not isinstance(name, str) or not _OURS.fullmatch(name):
        raise InputError("campaign-damaged", f"{shown(name)} is not a file of a campaign")
    return name


# -- files -------------------------------------------------------------------------------------


def write_text(path: Path, text: str) -> None:
    """Write a file, which is on disk completely when this returns, or is not there."""
    write_files({path: text.encode("utf-8", "surrogatepass")}, is_durable=True)


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a campaign's file. Raises InputError unless it is a regular file."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise damaged(path, "this is not a regular file")
        return sha256_of(path)
    except OSError as error:
        raise damaged(path, f"the file cannot be read: {error.strerror}") from None


def check_files(directory: Path, files: Mapping[str, object]) -> None:
    """Raise InputError if files of a campaign are not as they were written."""
    for name, digest in files.items():
        path = directory / check_name(name)
        if hash_of(path) != digest:
            raise damaged(path, "the file was changed since it was written")


def remove_others(directory: Path, known: Collection[str]) -> None:
    """Remove files of ours that no line names: they are of a stage that did not come to its end."""
    for folder in FOLDERS:
        for name in _listed(directory / folder):
            relative = f"{folder}/{name}"
            is_ours = _OURS.fullmatch(relative) or _UNFINISHED.fullmatch(name)
            if is_ours and relative not in known:
                try:
                    (directory / relative).unlink()
                except OSError as error:
                    raise not_written(directory / relative, error) from None


def _listed(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise not_written(folder, error) from None
