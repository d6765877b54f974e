"""``surefoot status``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot


def test_help_shows_an_example(surefoot: Surefoot) -> None:
    assert "For example:\n  surefoot status " in surefoot("status", "--help").out


def test_finished(surefoot: Surefoot, campaign: Path) -> None:
    done = surefoot("status", "out")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("walk, policy go.json\nfinished, ")
    assert "verified: safe" in done.out
    assert "6 faults: surefoot show out" in done.out
    assert "safe: no run fails" in done.out
    assert len(done.out.splitlines()) < 24


@pytest.mark.parametrize("lines", range(9))
def test_at_every_moment(surefoot: Surefoot, campaign: Path, lines: int) -> None:
    journal = campaign / "journal.jsonl"
    content = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(content[:lines]) + content[lines][:30])
    before = journal.read_bytes()
    done = surefoot("status", "out")
    assert (done.code, done.err) == (0, "")
    assert "interrupted" in done.out
    assert "go on: surefoot resume out" in done.out
    assert journal.read_bytes() == before
    shown = surefoot("show", "out")
    assert shown.code == 0


def test_document(surefoot: Surefoot, campaign: Path) -> None:
    document = surefoot("status", "out", "--json").document
    assert (document["command"], document["state"]) == ("status", "finished")
    assert document["outcome"] == json.loads((campaign / "result.json").read_text())["outcome"]
    assert len(document["faults"]) == 6
