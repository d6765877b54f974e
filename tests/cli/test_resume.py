"""``surefoot resume``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot
from tests.support.walk import kept, written

DEBUG = ("debug", "walk.jani", "--policy", "go.json", "--keep", "50", "-o", "out")


def cut(tmp_path: Path, lines: int) -> None:
    journal = tmp_path / "out/journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]))


def test_help_shows_an_example(surefoot: Surefoot) -> None:
    done = surefoot("resume", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot resume " in done.out


def test_it_goes_on_and_shows_everything(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    whole = surefoot(*DEBUG)
    before = kept(tmp_path / "out")
    cut(tmp_path, 4)
    done = surefoot("resume", "out")
    assert done.code == whole.code == 0, done.err
    assert kept(tmp_path / "out") == before
    assert done.out.splitlines()[-1] == whole.out.splitlines()[-1]
    assert [line[:40] for line in done.out.splitlines()] == [
        line[:40] for line in whole.out.splitlines()
    ]


def test_document(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    surefoot(*DEBUG)
    cut(tmp_path, 2)
    document = surefoot("resume", "out", "--json").document
    assert (document["command"], document["outcome"]) == ("resume", "safe")


def test_a_changed_task_is_refused(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    surefoot(*DEBUG)
    cut(tmp_path, 2)
    file = tmp_path / "walk.jani"
    before = file.read_text()
    file.write_text(before.replace('"walk"', '"stroll"').replace("11", "12"))
    done = surefoot("resume", "out")
    assert done.code == 2
    assert "[campaign-other-task]" in done.err
    file.unlink()
    assert surefoot("resume", "out").code == 2
    file.write_text(before)
    assert surefoot("resume", "out").code == 0


def test_a_task_of_python_code_must_be_given(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "code.py").write_text(
        "import surefoot\ntask = surefoot.load_task('walk.jani').description\n"
    )
    done = surefoot("debug", "code.py:task", "--policy", "go.json", "--keep", "50", "-o", "out")
    assert done.code == 0, done.err
    cut(tmp_path, 3)
    refused = surefoot("resume", "out")
    assert refused.code == 2
    assert "surefoot resume DIR TASK" in refused.err
    assert surefoot("resume", "out", "code.py:task").code == 0


@pytest.mark.parametrize("command", ["resume", "status", "show"])
def test_what_is_no_campaign(surefoot: Surefoot, tmp_path: Path, command: str) -> None:
    (tmp_path / "empty").mkdir()
    done = surefoot(command, "empty")
    assert done.code == 2
    assert "[not-a-campaign]" in done.err
    assert "surefoot debug TASK --policy POLICY -o DIR begins one" in done.err
    assert surefoot(command, "nowhere").code == 2


def test_a_damaged_journal_is_told_with_its_place(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    surefoot(*DEBUG)
    journal = tmp_path / "out/journal.jsonl"
    content = bytearray(journal.read_bytes())
    content[100] ^= 1
    journal.write_bytes(bytes(content))
    for command in ("resume", "status", "show"):
        done = surefoot(command, "out")
        assert done.code == 2
        assert "out/journal.jsonl:1: the check of this line is wrong" in done.err
        assert "hint: " in done.err
    journal.write_bytes(b"")  # what the hint says
    assert surefoot("resume", "out").code == 0


def test_more_time_extends_a_campaign_that_ended_for_lack_of_it(
    surefoot: Surefoot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("surefoot.cli.debug.LOOP_SHARE", 0.0)
        done = surefoot(*DEBUG, "--max-seconds", "9")
    assert "unknown: ran out of seconds" in done.out
    assert done.out.splitlines()[-1] == "go on: surefoot resume out --max-seconds 9"
    shown = surefoot("resume", "out")
    assert "unknown: ran out of seconds" in shown.out
    assert "at most 9 s and 50 repairs" in surefoot("status", "out").out
    again = surefoot("resume", "out", "--max-seconds", "60")
    assert again.code == 0, again.err
    assert "safe: no run fails from any of the 12 start states" in again.out
    assert "go on" not in again.out
    assert surefoot("status", "out").out.splitlines()[1].startswith("finished")


def test_the_time_to_go_on_is_checked(surefoot: Surefoot, tmp_path: Path) -> None:
    written(tmp_path)
    surefoot(*DEBUG)
    done = surefoot("resume", "out", "--max-seconds", "-1")
    assert done.code == 2
    assert "--max-seconds must be a finite number of at least 0" in done.err
