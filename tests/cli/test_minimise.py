"""``surefoot minimise``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"
OPTIONS = """
    --out --policy --json --seed --max-seconds --memory-mb --oracle --state-seconds --max-states
    --check-seconds --property --const
"""


@pytest.fixture
def finding(surefoot: Surefoot) -> str:
    """The fault of ``random`` on the longest run."""
    arguments = (LINE, "--policy", "random", "--bias", "uniform", "--runs", "20", "-o", "found")
    document = surefoot("faults", *arguments, "--json").document
    return str(document["faults"][-1]["finding"])


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("minimise", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot minimise " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


def test_smaller(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    done = surefoot("minimise", finding, "-o", "small.json", "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert document["command"] == "minimise"
    assert document["smaller"] and document["checked"]
    assert document["after"]["steps"] < document["before"]["steps"]
    assert surefoot("check", "small.json").code == 0
    assert surefoot("replay", "small.json").code == 1
    assert json.loads((tmp_path / finding).read_text())["finding"] == 1  # is still there
    text = surefoot("minimise", finding, "-o", "again.json").out.splitlines()
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "small.json").read_bytes()
    assert text[1].startswith(f"before  {document['before']['steps']} steps from location_load_0=")
    assert text[2].startswith(f"after   {document['after']['steps']} steps from location_load_0=")
    assert text[-1] == "checked: again.json"


def test_a_second_time_changes_nothing(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    surefoot("minimise", finding, "-o", "small.json")
    done = surefoot("minimise", "small.json", "-o", "second.json")
    assert done.code == 0
    assert "nothing smaller was found" in done.out
    assert (tmp_path / "second.json").read_text() == (tmp_path / "small.json").read_text()


def test_no_time(surefoot: Surefoot, finding: str) -> None:
    done = surefoot("minimise", finding, "-o", "small.json", "--max-seconds", "0")
    assert done.code == 0
    assert "ran out of seconds" in done.out
    assert surefoot("check", "small.json").code == 0


def test_what_must_not_be_written(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text("{}")
    done = surefoot("minimise", finding, "-o", "mine.json")
    assert (done.code, "[file-exists]" in done.err) == (2, True)
    assert (tmp_path / "mine.json").read_text() == "{}"
    for name in ("small.txt", "nowhere/small.json", "found"):
        assert surefoot("minimise", finding, "-o", name).code == 2
    assert surefoot("minimise", finding).code == 2


def test_another_policy_or_task(surefoot: Surefoot, finding: str) -> None:
    done = surefoot("minimise", finding, "-o", "small.json", "--policy", "first")
    assert (done.code, "[finding-other-policy]" in done.err) == (2, True)
    other = LINE.replace("locations=6", "locations=5")
    done = surefoot("minimise", finding, other, "-o", "small.json")
    assert (done.code, "[finding-other-task]" in done.err) == (2, True)


def test_a_finding_that_was_changed(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    content = json.loads((tmp_path / finding).read_text())
    content["run"]["actions"][0] = "park_truck_0"
    (tmp_path / "changed.json").write_text(json.dumps(content))
    done = surefoot("minimise", "changed.json", "-o", "small.json")
    assert (done.code, "[not-a-failing-run]" in done.err) == (2, True)
    assert not (tmp_path / "small.json").exists()
