"""The journal: what was written is read again, and nothing else is."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from surefoot.campaign.journal import Journal, Read, read_journal
from surefoot.errors import InputError
from surefoot.records.lines import EndLine, Line, line_from

FIRST = "0" * 64
END: dict[str, Any] = {
    "kind": "end",
    "end": "open",
    "reason": "ran out",
    "best": 0,
    "seconds": {},
}
BEGIN: dict[str, Any] = {
    "kind": "begin",
    "starts": {"debugging": 3, "evaluation": 2, "all": False, "disjoint": True, "sha256": "ab"},
    "seconds": {},
}


def end(**changes: Any) -> Line:
    return line_from({**END, **changes})


def written(path: Path) -> list[Line]:
    """Write a journal of three lines, in two goes."""
    journal = Journal(path, Read((), 0, FIRST))
    lines = [journal.append(line_from(BEGIN))]
    lines.append(journal.append(end(files={"result.json": "12"})))
    again = Journal(path, read_journal(path, FIRST))
    return [*lines, again.append(end(reason="für \x1b"))]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_lines_are_read_as_they_were_written(path: Path) -> None:
    lines = written(path)
    read = read_journal(path, FIRST)
    assert list(read.lines) == lines
    assert [line.n for line in lines] == [1, 2, 3]
    assert isinstance(lines[2], EndLine)
    assert lines[2].reason == "für \x1b"
    assert read.length == path.stat().st_size


def test_a_line_that_does_not_end_is_cut_off(path: Path) -> None:
    written(path)
    content = path.read_bytes()
    third = content[:-1].rfind(b"\n") + 1
    for length in range(third, len(content)):
        path.write_bytes(content[:length])
        read = read_journal(path, FIRST)
        assert (len(read.lines), read.length) == (2, third)
    path.write_bytes(content[:third] + b"\0" * 100)  # as some file systems leave it
    assert len(read_journal(path, FIRST).lines) == 2


def test_the_rest_of_a_torn_line_is_gone_when_the_next_is_written(path: Path) -> None:
    lines = written(path)
    path.write_bytes(path.read_bytes()[:-20])
    Journal(path, read_journal(path, FIRST)).append(end())
    assert [line.n for line in read_journal(path, FIRST).lines] == [1, 2, 3]
    assert read_journal(path, FIRST).lines[1] == lines[1]


def test_every_changed_byte_is_seen(path: Path) -> None:
    lines = written(path)
    content = path.read_bytes()
    for at in range(len(content)):
        changed = bytearray(content)
        changed[at] ^= 1
        path.write_bytes(bytes(changed))
        if at == len(content) - 1:  # the last line does not end any more
            assert list(read_journal(path, FIRST).lines) == lines[:2]
            continue
        with pytest.raises(InputError) as error:
            read_journal(path, FIRST)
        assert error.value.code == "campaign-damaged"
        expected = content[:at].count(b"\n") + 1
        assert error.value.place == str(expected)
        assert "remove this line and all lines behind it" in str(error.value)


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2), (1, 2), (0, 0, 1, 2), (0, 2, 1)])
def test_lines_that_are_missing_or_moved_are_seen(path: Path, order: tuple[int, ...]) -> None:
    written(path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[number] for number in order))
    with pytest.raises(InputError, match="check of this line is wrong"):
        read_journal(path, FIRST)


def test_a_journal_belongs_to_its_campaign(path: Path) -> None:
    written(path)
    with pytest.raises(InputError) as error:
        read_journal(path, "1" * 64)
    assert error.value.place == "1"


NO_LINES: dict[str, Any] = {
    "kind": {"kind": "dance"},
    "kind is not text": {"kind": []},
    "no starts": {"kind": "begin", "seconds": {}},
    "no number of starts": {"kind": "begin", "starts": {}, "seconds": {}},
    "a flag for a number": {**END, "best": True},
    "an unknown member": {**END, "worst": 0},
    "seconds": {**END, "seconds": {"fuzz": "long"}},
    "no evaluation": {"kind": "before", "result": {"unsafe": 3}, "seconds": {}},
}


@pytest.mark.parametrize("line", NO_LINES.values(), ids=NO_LINES.keys())
def test_a_line_with_the_right_check_must_be_one_of_a_campaign(path: Path, line: Any) -> None:
    Journal(path, Read((), 0, FIRST)).append_plain({**line, "files": {}})
    with pytest.raises(InputError) as error:
        read_journal(path, FIRST)
    assert error.value.code == "campaign-damaged"


def test_what_cannot_be_written_leaves_the_journal_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(path)
    before = path.read_bytes()
    journal = Journal(path, read_journal(path, FIRST))
    real = os.pwrite

    def full(handle: int, text: bytes, position: int) -> int:
        real(handle, text[:10], position)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(InputError, match="No space left") as error:
        journal.append(end())
    assert error.value.code == "file-not-written"
    assert path.read_bytes() == before
    monkeypatch.undo()
    assert journal.append(end()).n == 4
    assert len(read_journal(path, FIRST).lines) == 4


def test_a_line_is_plain_json(path: Path) -> None:
    written(path)
    for text in path.read_text().splitlines():
        assert len(json.loads(text)["check"]) == 64
