"""``surefoot report``, on campaigns that were really run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

import surefoot as package
from surefoot.campaign import debug
from tests.cli.conftest import Surefoot

MORE = {"starts": 100, "evaluate_starts": 50, "verify": "none"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory of a campaign that found a fault and repaired it."""
    directory = tmp_path_factory.mktemp("campaign") / "out"
    task = package.domain("blocksworld")
    policy = package.load_policy("builtin:blocksworld-trees", task)
    result = debug(task, policy, directory=directory, **MORE)
    assert result.outcome == "improved"
    assert result.faults
    return directory


@pytest.fixture
def campaign(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "out"))


@pytest.fixture
def interrupted(campaign: Path) -> Path:
    """Return a campaign that was killed in its first round."""
    lines = (campaign / "journal.jsonl").read_text().splitlines(keepends=True)
    kinds = [json.loads(line)["kind"] for line in lines]
    kept = lines[: kinds.index("faults") + 1]
    (campaign / "journal.jsonl").write_text("".join(kept))
    return campaign


def test_page(surefoot: Surefoot, campaign: Path) -> None:
    done = surefoot("report", "out")
    assert (done.code, done.out) == (0, f"written: {Path('out') / 'report.html'}\n")
    page = (campaign / "report.html").read_text()
    assert "<h1>blocksworld-5-3-ci</h1>" in page
    assert "↗ improved" in page
    assert "taken now" in page
    assert '<img class="picture" alt="the state: ' in page
    assert "could not be loaded again" not in page
    assert '<span class="chip good">repaired</span>' in page


def test_files_for_other_tools(surefoot: Surefoot, campaign: Path, tmp_path: Path) -> None:
    files = ("--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md", "-o", "p.html")
    done = surefoot("report", "out", *files)
    assert done.code == 0
    assert sorted(done.out.split()[1::2]) == ["j.xml", "m.md", "p.html", "s.json"]
    suite = ElementTree.parse(tmp_path / "j.xml").getroot().find("testsuite")
    assert suite is not None
    assert [one.attrib["message"] for one in suite.iter("failure")] == [
        "not verified: no failing run was found; not verified, as asked for"
    ]
    run = json.loads((tmp_path / "s.json").read_text())["runs"][0]
    assert [one["level"] for one in run["results"]] == ["note", "warning"]
    place = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert (campaign / place).is_file()
    assert "Surefoot: improved" in (tmp_path / "m.md").read_text()
    assert (tmp_path / "p.html").read_text().startswith("<!DOCTYPE html>")
    assert not (campaign / "report.html").exists()


def test_standard_output(surefoot: Surefoot, campaign: Path) -> None:
    done = surefoot("report", "out", "--sarif", "-", "--markdown", "m.md")
    assert done.code == 0
    assert json.loads(done.out)["version"] == "2.1.0"
    assert "written: m.md\n" in done.err


def test_document(surefoot: Surefoot, campaign: Path) -> None:
    document = surefoot("report", "out", "--json", "--junit", "j.xml").document
    assert document["command"] == "report"
    assert document["files"] == {"junit": "j.xml"}
    for name in ("surefoot", "task", "policy", "options", "seed", "seconds", "peak_memory_mb"):
        assert name in document
    assert document["outcome"] == "improved"
    assert len(document["faults"]) == 1
    assert not (campaign / "report.html").exists()


def test_interrupted_campaign(surefoot: Surefoot, interrupted: Path) -> None:
    done = surefoot("report", "out", "-o", "-", "--junit", "j.xml")
    assert done.code == 0
    assert "the campaign was interrupted: surefoot resume continues it" in done.out
    assert '<span class="chip bad">not repaired</span>' in done.out
    assert 'errors="3"' in (interrupted.parent / "j.xml").read_text()


BAD = {
    "no directory": (("nothing",), "not-a-campaign"),
    "no campaign": (("empty",), "not-a-campaign"),
    "unwritable": (("out", "-o", "nothing/page.html"), "file-not-written"),
    "folder": (("out", "--junit", "empty"), "file-not-written"),
    "no room on standard output": (("out", "--json", "--junit", "-"), "bad-option"),
    "twice the same": (("out", "--sarif", "a", "--junit", "a"), "bad-option"),
    "option instead of a file": (("out", "--sarif", "--junit"), "bad-option"),
}


@pytest.mark.parametrize("arguments, code", BAD.values(), ids=BAD)
def test_bad_input(
    surefoot: Surefoot, campaign: Path, arguments: tuple[str, ...], code: str
) -> None:
    (campaign.parent / "empty").mkdir()
    done = surefoot("report", *arguments)
    assert done.code == 2
    assert f"[{code}]" in done.err
    assert "Traceback" not in done.err


def test_help(surefoot: Surefoot) -> None:
    done = surefoot("report", "--help")
    assert "For example:\n  surefoot report " in done.out
    assert "Exit code 0 if the report was written" in done.out
