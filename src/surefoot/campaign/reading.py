"""Looking at a campaign, at any time: what it is about, what was done, and how it ended."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from surefoot.campaign.faults import read_known
from surefoot.campaign.folder import check_files, check_name
from surefoot.campaign.given import Given, read_given
from surefoot.campaign.lock import is_locked
from surefoot.campaign.store import read_lines, used_seconds
from surefoot.errors import printable
from surefoot.evidence.findings import smallest_first
from surefoot.loop import iterations_of, lacks_time, lines_in_force, max_seconds_of
from surefoot.options import DebugOptions, to_plain, words_of
from surefoot.records import Fault, Iteration
from surefoot.records.common import Result
from surefoot.records.files import plain
from surefoot.records.lines import (
    AfterLine,
    BeforeLine,
    BeginLine,
    FaultsLine,
    Line,
    ResultLine,
    VerifyLine,
)

OneLine = TypeVar("OneLine", bound=Line)
STATES = ("running", "interrupted", "finished")
NUMBER_OF_CHECKS = 3  # commands that check findings, among those that reproduce a result


@dataclass(frozen=True)
class Campaign(Result):
    """What is known about a campaign. ``state`` is running, interrupted or finished;
    ``max_seconds`` is how long it may take, with all that it got since it was begun.
    """

    given: Given
    lines: Sequence[Line]
    state: str
    max_seconds: float

    @property
    def directory(self) -> Path:
        """Where it is."""
        return self.given.directory

    @cached_property
    def iterations(self) -> list[Iteration]:
        """The rounds so far."""
        return iterations_of(self.lines)

    @cached_property
    def faults(self) -> list[Fault]:
        """All faults so far, the smallest first; their states are such as no task knows."""
        faults = [fault for line in self._of(FaultsLine) for fault in _faults_of(self.given, line)]
        return smallest_first(faults)

    @property
    def outcome(self) -> str | None:
        """How it ended: safe, improved, stopped or unknown; None if it did not."""
        line = self._last(ResultLine)
        return None if line is None else line.outcome

    @property
    def reason(self) -> str | None:
        """Why it ended so."""
        line = self._last(ResultLine)
        return None if line is None else line.reason

    @property
    def seconds(self) -> float:
        """How many seconds were used."""
        return used_seconds(self.lines)

    @property
    def lacks_time(self) -> bool:
        """Whether it has ended, and may come further with more time."""
        return lacks_time(self.lines)

    def _of(self, kind: type[OneLine]) -> list[OneLine]:
        return [line for line in self.lines if isinstance(line, kind)]

    def _last(self, kind: type[OneLine]) -> OneLine | None:
        lines = self._of(kind)
        return lines[-1] if lines else None

    def _result(self, kind: type[BeforeLine] | type[AfterLine]) -> dict[str, Any] | None:
        line = self._last(kind)
        return None if line is None else line.result.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        content, end = plain(self.given.content), self._last(ResultLine)
        begin = self._last(BeginLine)
        policy = plain(self.given.content.policy)
        names = ("name", "sha256", "interface", "unfiltered", "model")
        return {
            "surefoot": content["surefoot"],
            "campaign": content["campaign"],
            "directory": self.directory.name or str(self.directory),
            "state": self.state,
            "outcome": self.outcome,
            "reason": self.reason,
            "task": content["task"],
            "policy": {name: policy[name] for name in names},
            "options": to_plain(self.given.options),
            "seed": self.given.options.seed,
            "seconds": self.seconds,
            "starts": None if begin is None else plain(begin.starts),
            "before": self._result(BeforeLine),
            "after": self._result(AfterLine),
            "iterations": [iteration.to_dict() for iteration in self.iterations],
            "faults": [fault.to_dict() for fault in self.faults],
            "verification": self.verification,
            "final_policy": None if end is None else end.final_policy,
            "final_sha256": None if end is None else end.final_sha256,
            "reproduce": self.commands(),
        }

    @property
    def verification(self) -> dict[str, Any] | None:
        """What verification said in the end; None if it was not asked."""
        return verification_of(self.lines)

    def commands(self) -> list[str]:
        """Return the commands that do the same again, and check what was found."""
        place = as_argument(self.directory)
        task, policy = _task_words(self.given), self.given.content.policy
        given = [*task, "--policy", policy.name, *(["--unfiltered"] * policy.unfiltered)]
        commands = [["debug", *given, "-o", f"{place}-again", *_option_words(self.given.options)]]
        findings = [fault.finding for fault in self.faults if fault.finding]
        commands += [["check", f"{place}/{name}"] for name in findings[:NUMBER_OF_CHECKS]]
        verification, end = self.verification, self._last(ResultLine)
        if verification is not None and verification["certificate"]:
            commands.append(["check", f"{place}/{verification['certificate']}"])
        if end is not None and end.final_policy:
            commands.append(["verify", *task, "--policy", f"{place}/{end.final_policy}"])
        return [shlex.join(["surefoot", *words]) for words in commands]

    def __str__(self) -> str:
        text = f"campaign {printable(str(self.directory))}, {self.state}"
        if self.outcome is not None:
            text += f": {self.outcome}, {printable(self.reason or '', 2000)}"
        return text


def verification_of(lines: Sequence[Line]) -> dict[str, Any] | None:
    """Return what the last verification said, as plain data; None if there was none."""
    verified = [line for line in lines if isinstance(line, VerifyLine)]
    if not verified:
        return None
    line = verified[-1]
    names = ("verdict", "method", "states", "starts", "all_starts", "reason")
    return {
        **{name: getattr(line.result, name) for name in names},
        "boxes": line.result.boxes,
        "certificate": line.certificate,
        "checked": line.checked,
        "why_unchecked": line.why_unchecked,
        "seconds": line.seconds.get("verify", 0.0),
    }


def as_argument(path: Path) -> str:
    """Return a path so that no command takes it for an option."""
    text = str(path)
    return f"./{text}" if text.startswith("-") else text


def read_campaign(directory: str | Path) -> Campaign:
    """Return what is known about the campaign in a directory, also while a process is at work.

    Raises InputError if there is none, or if its files are not as they were written.
    """
    given = read_given(Path(directory))
    is_busy = is_locked(given.directory)
    written, _ = read_lines(given)
    lines = lines_in_force(written)
    for line in lines:
        check_files(given.directory, line.files)
    is_finished = bool(lines) and isinstance(lines[-1], ResultLine)
    state = "finished" if is_finished else "running" if is_busy else "interrupted"
    return Campaign(given, lines, state, max_seconds_of(written, given.options.max_seconds))


def _faults_of(given: Given, line: FaultsLine) -> list[Fault]:
    """Return the faults of a line. Raises InputError if it names files that are not ours."""
    if line.faults is None:
        return []
    for part in line.findings:
        check_name(part.file)
    path = given.directory / check_name(line.faults)
    return read_known(path, None, line.iteration, line.findings)


def _task_words(given: Given) -> list[str]:
    """Return the task as it is given on the command line."""
    task = given.content.task
    words = [task.source or "TASK"]
    for name, value in task.options.items():
        option = "--" + str(name).replace("_", "-")
        for each in value if isinstance(value, list) else [value]:
            words.append(f"{option}={each}")
    return words


def _option_words(options: DebugOptions) -> list[str]:
    """Return the options that are not the default, as on the command line."""
    words: list[str] = []
    for name, value in words_of(options):
        option = "--" + name.replace("_", "-")
        words += [option] if value is True else [option, str(value)]
    return words
