"""``--save``: what a command found goes into the corpus."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from surefoot.errors import InputError

if TYPE_CHECKING:
    from surefoot.corpus import Added
    from surefoot.findings import Finding
    from surefoot.policies import Policy
    from surefoot.records import Bug, Fault, Run
    from surefoot.records.corpus import CorpusEntry


@dataclass(frozen=True, kw_only=True)
class SaveArguments:
    """Whether findings go into the corpus, and into which."""

    save: Annotated[bool, Parameter(name="--save", show_default=False)] = False
    """put what is found into the corpus, shrunk: it is replayed first from then on"""
    corpus: Annotated[Path | None, Parameter(name="--corpus", show_default=False)] = None
    """the folder of the corpus, for --save; if not given, the nearest .surefoot upwards"""

    def check(self) -> None:
        """Raise InputError for --corpus where nothing is saved."""
        if self.corpus is not None and not self.save:
            raise InputError("bad-option", "--corpus has no effect without --save")

    def given(self) -> dict[str, object]:
        """Return the choice as plain data, where it was made."""
        folder = None if self.corpus is None else str(self.corpus)
        return {"save": True, "corpus": folder} if self.save else {}

    def saved(
        self,
        policy: Policy,
        subjects: Iterable[Fault | Bug | Run | Finding],
        *,
        seed: int,
        seconds: float,
    ) -> Added | None:
        """Put what was found into the corpus, within so many seconds for shrinking; return what
        became of it, None without --save.
        """
        if not self.save:
            return None
        from surefoot.cli.progress import Progress
        from surefoot.corpus import corpus_folder
        from surefoot.corpus.adding import add_all

        prepared = [(_about(each, policy), partial(_made, each, policy, seed)) for each in subjects]
        with redirect_stdout(sys.stderr), Progress("saving"):
            return add_all(prepared, corpus_folder(self.corpus), seconds=seconds)


def saved_member(added: Added | None) -> dict[str, object]:
    """Return the member of a document about what was saved, where --save was given."""
    return {} if added is None else {"saved": [entry.to_dict() for entry in added.entries]}


def print_saved(added: Added | None) -> None:
    """Print where what was subject is now, with --save."""
    if added is None:
        return
    for entry in added.entries:
        if entry.error is not None:
            print(f"not saved: {entry.error}", file=sys.stderr)
    print(f"saved to the corpus {added}")


def _about(subject: Fault | Bug | Run | Finding, policy: Policy) -> CorpusEntry:
    """Return what is known of something before there is a finding of it."""
    from surefoot.records import Bug, Fault
    from surefoot.records.corpus import CorpusEntry

    kind = "fault" if isinstance(subject, Fault) else "bug" if isinstance(subject, Bug) else "run"
    steps = getattr(subject, "steps", 0)
    return CorpusEntry("", kind=kind, task=policy.task.name, policy=policy.name, steps=steps)


def _made(
    subject: Fault | Bug | Run | Finding, policy: Policy, seed: int
) -> tuple[Finding, Policy]:
    from surefoot.findings import Finding, finding_of

    if isinstance(subject, Finding):
        return subject, policy
    finding = finding_of(policy.task, policy, subject, seed=seed)
    return finding, policy
