"""Campaigns of other versions: an older one is shown, checked and resumed, a newer one refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Surefoot
from tests.support.walk import written

OLDER = Path(__file__).parents[1] / "unit" / "campaign" / "of_0_1_0"
"""a campaign that version 0.1.0 wrote"""


@pytest.fixture
def older(tmp_path: Path) -> Path:
    shutil.copytree(OLDER, tmp_path / "out")
    (tmp_path / "out" / "suspects").mkdir()  # empty, so the repository does not hold it
    written(tmp_path)
    return tmp_path / "out"


def changed(directory: Path, **members: Any) -> None:
    file = directory / "campaign.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **members}))


@pytest.mark.parametrize("command", ["status", "report"])
def test_an_older_campaign_is_shown(surefoot: Surefoot, older: Path, command: str) -> None:
    done = surefoot(command, "out", *(("-o", "r.html") if command == "report" else ()))
    assert (done.code, done.err) == (0, "")


def test_an_older_campaign_goes_on_and_its_evidence_is_accepted(
    surefoot: Surefoot, older: Path
) -> None:
    journal = older / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:3]))
    done = surefoot("resume", "out", "walk.jani")
    assert done.code == 0, done.err
    files = [f"out/findings/{file.name}" for file in sorted((older / "findings").iterdir())]
    assert files
    done = surefoot("check", *files, "out/certificates/policy-safe.jsonl", "walk.jani")
    assert (done.code, done.err) == (0, "")


COMMANDS = (("status", "out"), ("resume", "out", "walk.jani"), ("report", "out", "-o", "r.html"))


@pytest.mark.parametrize("arguments", COMMANDS, ids=[each[0] for each in COMMANDS])
def test_a_campaign_of_a_newer_format_is_refused(
    surefoot: Surefoot, older: Path, arguments: tuple[str, ...]
) -> None:
    changed(older, surefoot="99.0.0", campaign=2)
    done = surefoot(*arguments)
    assert (done.code, "[campaign-version]" in done.err) == (2, True)
    assert "this is a campaign of version 2" in done.err
    assert "reads version 1" in done.err
    assert "Surefoot 99.0.0 wrote it" in done.err


def test_a_campaign_that_a_newer_version_began_is_not_resumed(
    surefoot: Surefoot, older: Path
) -> None:
    changed(older, surefoot="99.0.0")
    done = surefoot("resume", "out", "walk.jani")
    assert (done.code, "[campaign-version]" in done.err) == (2, True)
    assert "99.0.0" in done.err
    assert "hint: go on with that version, or begin a new campaign" in done.err
