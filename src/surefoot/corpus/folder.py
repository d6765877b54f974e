"""Where the corpus is, what is in it, and what an entry is called."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from surefoot.errors import InputError, SurefootError
from surefoot.findings.many import read_findings
from surefoot.records.corpus import CorpusEntry, Status

if TYPE_CHECKING:
    from surefoot.findings import Finding

NAME = ".surefoot"


def corpus_folder(given: str | Path | None = None) -> Path:
    """Return the folder of the corpus: the one given; else the nearest ``.surefoot`` from the
    working directory upwards, else one in it. It need not be there.
    """
    if given is not None:
        return Path(given)
    here = Path.cwd()
    above = (folder / NAME for folder in here.parents if (folder / NAME).is_dir())
    return Path(NAME) if Path(NAME).is_dir() else next(above, Path(NAME))


def stored(folder: Path) -> list[Finding]:
    """Return the findings of a corpus in the order of their names; none if there is no folder.

    Raises InputError for a file that should be one and is damaged: what it guards is not known.
    """
    if not folder.is_dir():
        if folder.exists():
            raise InputError("bad-option", "the corpus is not a folder", file=str(folder))
        return []
    findings = []
    try:
        for _, finding in read_findings([folder]):
            if isinstance(finding, SurefootError):
                raise finding
            findings.append(finding)
    except InputError as error:
        if error.code != "no-findings":
            raise
    return findings


def entry_of(
    finding: Finding,
    file: Path | None = None,
    *,
    status: Status = "kept",
    error: SurefootError | None = None,
) -> CorpusEntry:
    """Return what a finding is about, as an entry of the corpus."""
    content, about = finding.content, finding.about
    names = content["run"]["variables"]
    has_state = isinstance(about.get("state"), list) and len(about["state"]) == len(names)
    return CorpusEntry(
        file=str(file or finding.file or ""),
        kind=finding.kind,
        task=content["task"]["name"],
        policy=content["policy"]["name"],
        steps=finding.steps,
        state=dict(zip(names, about["state"], strict=True)) if has_state else None,
        action=about.get("action"),
        status=status,
        error=error,
    )


def name_of(finding: Finding) -> str:
    """Return the name of the finding's file: the same for the same task and policy, by name, and
    the same state and action, whatever the run and however the files have changed since.
    """
    question = finding.question()
    for part in ("task", "policy"):
        question[part] = finding.content[part]["name"]
    text = json.dumps(question, default=repr, sort_keys=True)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{finding.kind}-{digest[:16]}.json"
