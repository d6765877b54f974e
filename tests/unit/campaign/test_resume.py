"""A campaign that was interrupted, wherever that was, ends as if it had not been."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.walk import always_go, kept, walk, written

import surefoot
from surefoot.campaign import debug, read_campaign, resume
from surefoot.campaign.given import read_given
from surefoot.campaign.journal import Journal, Read
from surefoot.certificates import check_policy_certificate
from surefoot.errors import InputError
from surefoot.findings import read_finding
from surefoot.policies import load_policy
from surefoot.records import DebugResult
from surefoot.records.lines import Line

HOW: dict[str, Any] = {"starts": 6, "seed": 1, "keep": 50}


class Interrupted(BaseException):
    """Stands for a process that ends."""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, DebugResult]:
    """A campaign of several rounds that nobody interrupted."""
    directory = tmp_path_factory.mktemp("campaign") / "whole"
    task = walk()
    return directory, debug(task, always_go(task), directory=directory, **HOW)


def without_seconds(result: DebugResult) -> dict[str, Any]:
    """Return the result as plain data, without what differs from run to run."""
    content = result.to_dict()
    del content["seconds"]
    for one in (content["before"], content["after"], content["verification"]):
        del one["seconds"]
    for one in content["iterations"]:
        del one["seconds"]
    return content


def test_the_campaign_has_rounds_of_every_kind(finished: tuple[Path, DebugResult]) -> None:
    directory, result = finished
    kinds = [json.loads(line)["kind"] for line in (directory / "journal.jsonl").open()]
    assert kinds[:3] == ["begin", "before", "faults"]
    assert kinds[-3:] == ["end", "after", "result"]
    assert {"repair", "verify"} <= set(kinds)
    assert result.outcome == "safe"
    verdicts = [one.verdict for one in result.iterations]
    assert verdicts[0] is None and "unsafe" in verdicts and verdicts[-1] == "safe"


def test_after_every_line(finished: tuple[Path, DebugResult], tmp_path: Path) -> None:
    whole, result = finished
    lines = (whole / "journal.jsonl").read_bytes().splitlines(keepends=True)
    for count in range(len(lines)):
        directory = tmp_path / str(count)
        shutil.copytree(whole, directory)
        (directory / "result.json").unlink()
        torn = lines[count][: len(lines[count]) // 2]
        (directory / "journal.jsonl").write_bytes(b"".join(lines[:count]) + torn)
        (directory / "policies" / "iteration-009.json").write_text("of a stage that did not end")
        (directory / "findings" / ".fault-0123456789abcdef.json.77").write_text("half")
        again = resume(directory, walk())
        assert kept(directory) == kept(whole)
        assert without_seconds(again) == without_seconds(result)
        assert (directory / "result.json").exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_interrupted_at_every_line(
    finished: tuple[Path, DebugResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    when: str,
) -> None:
    whole, result = finished
    real, directory = Journal.append, tmp_path / "campaign"
    task = walk()
    due: list[int] = []

    def append(self: Journal, *line: Any) -> Any:
        if when == "after":
            real(self, *line)
            raise Interrupted
        if not due:
            raise Interrupted
        due.pop()
        return real(self, *line)

    monkeypatch.setattr(Journal, "append", append)
    with pytest.raises(Interrupted):
        debug(task, always_go(task), directory=directory, **HOW)
    for _ in range(100):
        due[:] = [1]
        try:
            again = resume(directory, walk())
            break
        except Interrupted:
            assert read_campaign(directory).state in ("interrupted", "finished")
    assert kept(directory) == kept(whole)
    assert without_seconds(again) == without_seconds(result)


def test_interrupted_while_files_are_written(
    finished: tuple[Path, DebugResult], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, _ = finished
    real, directory = os.fsync, tmp_path / "campaign"
    left = 0

    def fsync(handle: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise Interrupted
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    for allowed in range(100):
        left, task = allowed, walk()
        try:
            if (directory / "campaign.json").exists():
                resume(directory, task)
            else:
                debug(task, always_go(task), directory=directory, **HOW)
            break
        except Interrupted:
            continue
    monkeypatch.undo()
    assert allowed > 5
    assert kept(directory) == kept(whole)


def test_seconds_of_before_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory, task, real = tmp_path / "campaign", walk(), Journal.append

    def append(self: Journal, line: Line) -> Line:
        real(self, msgspec.structs.replace(line, total_seconds=1e6))
        raise Interrupted

    monkeypatch.setattr(Journal, "append", append)
    with pytest.raises(Interrupted):
        debug(task, always_go(task), directory=directory, **HOW)
    monkeypatch.undo()
    result = resume(directory, walk())
    assert (result.outcome, result.reason) == ("unknown", "ran out of seconds")
    assert result.seconds > 1e6


def test_a_finished_campaign_is_told_again(finished: tuple[Path, DebugResult]) -> None:
    directory, result = finished
    before = (directory / "journal.jsonl").read_bytes()
    again = resume(directory, walk())
    assert without_seconds(again) == without_seconds(result)
    assert again.seconds == pytest.approx(result.seconds)
    assert (directory / "journal.jsonl").read_bytes() == before


def test_in_another_directory_than_it_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    monkeypatch.chdir(tmp_path)
    task = surefoot.load_task("walk.jani")
    debug(task, surefoot.load_policy("go.json", task), directory="whole", **HOW)
    shutil.copytree("whole", "part")
    lines = Path("part/journal.jsonl").read_bytes().splitlines(keepends=True)
    Path("part/journal.jsonl").write_bytes(b"".join(lines[:2]))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    resume("../part")
    assert kept(tmp_path / "part") == kept(tmp_path / "whole")


def cut(whole: Path, directory: Path) -> None:
    """Make a campaign that was interrupted behind its fourth line."""
    shutil.copytree(whole, directory)
    lines = (directory / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (directory / "journal.jsonl").write_bytes(b"".join(lines[:4]))


def test_another_task_is_refused(finished: tuple[Path, DebugResult], tmp_path: Path) -> None:
    cut(finished[0], tmp_path / "campaign")
    with pytest.raises(InputError) as error:
        resume(tmp_path / "campaign", walk(doomed=True))
    assert error.value.code == "campaign-other-task"
    with pytest.raises(InputError, match="give the task: surefoot resume DIR TASK"):
        resume(tmp_path / "campaign")


def test_another_version_is_refused(finished: tuple[Path, DebugResult], tmp_path: Path) -> None:
    cut(finished[0], tmp_path / "campaign")
    file = tmp_path / "campaign" / "campaign.json"
    file.write_text(file.read_text().replace(f'"{surefoot.__version__}"', '"99.0"'))
    with pytest.raises(InputError, match=r"99\.0") as error:
        resume(tmp_path / "campaign", walk())
    assert error.value.code == "campaign-version"


OLDER = Path(__file__).with_name("of_0_1_0")
"""the campaign of ``finished``, written by version 0.1.0"""


@pytest.mark.parametrize("lines", [0, 1, 3, 6, None])
def test_a_campaign_of_the_version_before_goes_on(
    finished: tuple[Path, DebugResult], tmp_path: Path, lines: int | None
) -> None:
    directory = tmp_path / "campaign"
    shutil.copytree(OLDER, directory)
    (directory / "suspects").mkdir()  # empty, so the repository does not hold it
    journal = directory / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]))
    result = resume(directory, walk())
    expected = finished[1]
    assert (result.outcome, result.policy.sha256) == (expected.outcome, expected.policy.sha256)
    assert _without_files(result) == _without_files(expected)
    assert all((directory / str(fault.finding)).exists() for fault in result.faults)
    assert read_campaign(directory).state == "finished"


@pytest.mark.parametrize("name", sorted(file.name for file in (OLDER / "findings").iterdir()))
def test_findings_of_the_version_before_are_accepted(name: str) -> None:
    finding = read_finding(OLDER / "findings" / name)
    assert ":" not in finding.content["task"]["sha256"]
    finding.check(walk(), recompute=False)
    finding.content["task"]["sha256"] = "0" * 64
    with pytest.raises(InputError) as error:
        finding.check(walk(), recompute=False)
    assert error.value.code == "finding-other-task"


def test_a_certificate_of_the_version_before_is_accepted() -> None:
    task = walk()
    policy = load_policy(OLDER / "policies" / "iteration-002.json", task)
    check_policy_certificate(task, OLDER / "certificates" / "policy-safe.jsonl", policy=policy)


def _without_files(result: DebugResult) -> list[dict[str, object]]:
    """Return the faults without the names of their files, which come from the hash of the task."""
    return [{**fault.to_dict(), "finding": None} for fault in result.faults]


CHANGED = ("policy/policy.json", "policies/iteration-001.json", "faults/iteration-001.jsonl")


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("how", ["changed", "gone", "a link"])
def test_files_that_changed_are_refused(
    finished: tuple[Path, DebugResult], tmp_path: Path, name: str, how: str
) -> None:
    cut(finished[0], tmp_path / "campaign")
    file = tmp_path / "campaign" / name
    if how == "changed":
        file.write_bytes(file.read_bytes() + b" ")
    else:
        file.rename(tmp_path / "moved")
    if how == "a link":
        file.symlink_to(tmp_path / "moved")
    with pytest.raises(InputError) as error:
        resume(tmp_path / "campaign", walk())
    assert error.value.code == "campaign-damaged"
    assert error.value.file == str(file)
    assert error.value.hint


def test_changed_options_are_seen(finished: tuple[Path, DebugResult], tmp_path: Path) -> None:
    cut(finished[0], tmp_path / "campaign")
    file = tmp_path / "campaign" / "campaign.json"
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(InputError, match=r"it or campaign\.json was changed"):
        resume(tmp_path / "campaign", walk())


FORGED = {
    "a line is gone": (lambda lines: lines.pop(1), "the journal has faults where before is due"),
    "the best of no round": (
        lambda lines: of(lines, "end").update(best=9),
        "is from none of the",
    ),
    "a file elsewhere": (lambda lines: of(lines, "repair").update(policy="../x"), "'../x' is not"),
}


def of(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line["kind"] == kind)


@pytest.mark.parametrize("case", FORGED)
def test_the_error_for_a_line_that_is_not_due_names_the_journal(
    finished: tuple[Path, DebugResult], tmp_path: Path, case: str
) -> None:
    change, message = FORGED[case]
    shutil.copytree(finished[0], tmp_path / "campaign")
    path = tmp_path / "campaign" / "journal.jsonl"
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    change(lines)
    journal = Journal(path, Read((), 0, read_given(tmp_path / "campaign").check))
    for line in lines:
        del line["check"]
        journal.append_plain(line)
    with pytest.raises(InputError, match=message) as error:
        resume(tmp_path / "campaign", walk())
    assert (error.value.code, error.value.file) == ("campaign-damaged", str(path))
    assert "surefoot resume does their work again" in (error.value.hint or "")


def test_folders_that_lead_elsewhere_are_refused(
    finished: tuple[Path, DebugResult], tmp_path: Path
) -> None:
    cut(finished[0], tmp_path / "campaign")
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "campaign" / "certificates"
    shutil.rmtree(folder)
    folder.symlink_to(outside)
    with pytest.raises(InputError, match="not a folder"):
        resume(tmp_path / "campaign", walk())
    assert list(outside.iterdir()) == []
