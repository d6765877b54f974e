"""Looking at a campaign, at any time: what it is about, what was done, and how it ended."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

from surefoot.campaign.folder import check_files, check_name
from surefoot.campaign.given import VERSION, Given, read_given
from surefoot.campaign.lock import is_locked
from surefoot.campaign.store import read_lines, used_seconds
from surefoot.errors import printable
from surefoot.loop import Line, iterations_of, read_plain
from surefoot.options import DebugOptions
from surefoot.results import Iteration
from surefoot.results.common import Result

STATES = ("running", "interrupted", "finished")
NUMBER_OF_CHECKS = 3  # commands that check findings, among those that reproduce a result


@dataclass(frozen=True)
class Campaign(Result):
    """What is known about a campaign. ``state`` is running, interrupted or finished."""

    given: Given
    lines: Sequence[Line]
    state: str

    @property
    def directory(self) -> Path:
        """Where it is."""
        return self.given.directory

    @cached_property
    def iterations(self) -> list[Iteration]:
        """The rounds so far."""
        return iterations_of(self.lines)

    @cached_property
    def faults(self) -> list[dict[str, Any]]:
        """All faults so far as plain data, the smallest first."""
        found = [fault for line in self._of("faults") for fault in _faults_of(self.given, line)]
        return sorted(found, key=lambda fault: (fault["steps"], fault["step"]))

    @property
    def outcome(self) -> str | None:
        """How it ended: safe, improved, stopped or unknown; None if it did not."""
        line = self._last("result")
        return None if line is None else str(line["outcome"])

    @property
    def reason(self) -> str | None:
        """Why it ended so."""
        line = self._last("result")
        return None if line is None else str(line["reason"])

    def _of(self, kind: str) -> list[Line]:
        return [line for line in self.lines if line["kind"] == kind]

    def _last(self, kind: str) -> Line | None:
        found = self._of(kind)
        return found[-1] if found else None

    def _result(self, kind: str) -> dict[str, Any] | None:
        line = self._last(kind)
        return None if line is None else dict(line["result"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        said, end = self.given.content, self._last("result")
        begin = self._last("begin")
        names = ("name", "sha256", "interface", "unfiltered", "model")
        return {
            "surefoot": said["surefoot"],
            "campaign": VERSION,
            "directory": self.directory.name or str(self.directory),
            "state": self.state,
            "outcome": self.outcome,
            "reason": self.reason,
            "task": dict(said["task"]),
            "policy": {name: said["policy"][name] for name in names},
            "options": asdict(self.given.options),
            "seed": self.given.options.seed,
            "seconds": used_seconds(list(map(dict, self.lines))),
            "starts": None if begin is None else dict(begin["starts"]),
            "before": self._result("before"),
            "after": self._result("after"),
            "iterations": [one.to_dict() for one in self.iterations],
            "faults": self.faults,
            "verification": self.verification,
            "final_policy": None if end is None else end["final_policy"],
            "final_sha256": None if end is None else end.get("final_sha256"),
            "reproduce": self.commands(),
        }

    @property
    def verification(self) -> dict[str, Any] | None:
        """What verification said in the end; None if it was not asked."""
        line = self._last("verify")
        if line is None:
            return None
        names = ("verdict", "method", "states", "starts", "all_starts", "reason")
        return {
            **{name: line["result"][name] for name in names},
            "boxes": line["result"].get("boxes", 0),
            "certificate": line["certificate"],
            "checked": line["checked"],
            "why_unchecked": line["why_unchecked"],
            "seconds": line["seconds"].get("verify", 0.0),
        }

    def commands(self) -> list[str]:
        """Return the commands that do the same again, and check what was found."""
        place = as_argument(self.directory)
        task, policy = _task_words(self.given), self.given.content["policy"]
        given = [*task, "--policy", policy["name"], *(["--unfiltered"] * policy["unfiltered"])]
        commands = [["debug", *given, "-o", f"{place}-again", *_option_words(self.given.options)]]
        findings = [fault["finding"] for fault in self.faults if fault["finding"]]
        commands += [["check", f"{place}/{name}"] for name in findings[:NUMBER_OF_CHECKS]]
        verification, end = self.verification, self._last("result")
        if verification is not None and verification["certificate"]:
            commands.append(["check", f"{place}/{verification['certificate']}"])
        if end is not None and end["final_policy"]:
            commands.append(["verify", *task, "--policy", f"{place}/{end['final_policy']}"])
        return [shlex.join(["surefoot", *words]) for words in commands]

    def __str__(self) -> str:
        text = f"campaign {printable(str(self.directory))}, {self.state}"
        if self.outcome is not None:
            text += f": {self.outcome}, {printable(self.reason or '', 2000)}"
        return text


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
    lines, _ = read_lines(given)
    for line in lines:
        check_files(given.directory, line["files"])
    is_finished = bool(lines) and lines[-1]["kind"] == "result"
    state = "finished" if is_finished else "running" if is_busy else "interrupted"
    return Campaign(given, lines, state)


def _faults_of(given: Given, line: Line) -> list[dict[str, Any]]:
    """Return the faults of a line as plain data."""
    if line["faults"] is None:
        return []
    found = read_plain(given.directory / check_name(line["faults"]))
    more: dict[str, Any] = {"iteration": line["iteration"], "finding": None, "checked": None}
    faults = [{**fault, **more} for fault in found]
    for one in line["findings"]:
        if 0 <= one["fault"] < len(faults):
            faults[one["fault"]] |= {"finding": check_name(one["file"]), "checked": one["checked"]}
    return faults


def _task_words(given: Given) -> list[str]:
    """Return the task as it is given on the command line."""
    said = given.content["task"]
    words = [said["source"] or "TASK"]
    for name, value in said["options"].items():
        option = "--" + str(name).replace("_", "-")
        for each in value if isinstance(value, list) else [value]:
            words.append(f"{option}={each}")
    return words


def _option_words(options: DebugOptions) -> list[str]:
    """Return the options that are not the default, as on the command line."""
    words: list[str] = []
    for field in fields(DebugOptions):
        value, option = getattr(options, field.name), "--" + field.name.replace("_", "-")
        if value != field.default:
            words += [option] if value is True else [option, str(value)]
    return words
