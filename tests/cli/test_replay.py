"""``surefoot replay``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from surefoot import Description
from tests.cli.conftest import Surefoot

OPTIONS = """
    --policy --interface --unfiltered --json --seed --max-seconds --memory-mb
    --property --property-name --start --goal --fail --const --int-range
"""


def lamp(top: int = 3) -> Description:
    d = Description("lamp")
    x = d.int("x", 0, 5, initial=0)
    d.edge("up", guard=x < 5, outcomes=[{x: x + 1}])
    d.edge("stay", outcomes=[{}])
    d.fail(x == top)
    return d


def table(*, last: str = "up") -> str:
    actions = ["up", "up", last, "up", "up"]
    rows = [{"state": {"x": x}, "action": action} for x, action in enumerate(actions)]
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def finding(surefoot: Surefoot, tmp_path: Path) -> str:
    """A finding of table.jsonl on lamp.jani: 0, 1, 2, 3."""
    lamp().compile().write_jani(tmp_path / "lamp.jani")
    (tmp_path / "table.jsonl").write_text(table())
    arguments = ("lamp.jani", "--policy", "table.jsonl", "--runs", "1", "-o", "found")
    document = surefoot("faults", *arguments, "--json").document
    (fault,) = document["faults"]
    return str(fault["finding"])


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("replay", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot replay " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


def test_still_fails(surefoot: Surefoot, finding: str) -> None:
    done = surefoot("replay", finding)
    assert (done.code, done.err) == (1, "")
    assert done.out == "lamp, policy table.jsonl\nstill fails after 3 steps, in x=3\n"
    done = surefoot("replay", finding, "--json")
    document = done.document
    assert (done.code, document["command"], document["still_fails"]) == (1, "replay", True)
    assert document["policy"]["name"] == "table.jsonl"
    assert document["steps"] == 3


def test_another_policy(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    (tmp_path / "mended.jsonl").write_text(table(last="stay"))
    done = surefoot("replay", finding, "--policy", "mended.jsonl")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "lamp, policy mended.jsonl\n"
        "does not fail any more: at step 3 of 3, in x=2\n"
        "  the policy now decides on stay; it was up\n"
    )
    document = surefoot("replay", finding, "--policy", "mended.jsonl", "--json").document
    assert (document["was"], document["now"], document["step"]) == ("up", "stay", 2)
    assert surefoot("replay", finding, "--policy", "first").code == 1


def test_a_changed_policy(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    (tmp_path / "table.jsonl").write_text(table(last="stay"))
    done = surefoot("replay", finding)
    assert (done.code, done.out) == (2, "")
    assert "[finding-other-policy]" in done.err
    assert surefoot("replay", finding, "--policy", "table.jsonl").code == 0


def test_a_changed_task(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    lamp(top=4).compile().write_jani(tmp_path / "lamp.jani")
    done = surefoot("replay", finding)
    assert (done.code, done.out) == (2, "")
    assert "[finding-other-task]" in done.err
    done = surefoot("replay", finding, "lamp.jani")
    assert done.code == 0
    assert "which is not fail" in done.out
    lamp(top=3).compile().write_jani(tmp_path / "other.jani")
    assert surefoot("replay", finding, "other.jani").code == 1


def test_python_code_is_not_run(surefoot: Surefoot, finding: str, tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("open('ran', 'w')\nclimb = lambda state: 'up'\n")
    content = json.loads((tmp_path / finding).read_text())
    content["policy"]["name"] = "evil.py:climb"
    (tmp_path / "evil.json").write_text(json.dumps(content))
    done = surefoot("replay", "evil.json")
    assert (done.code, "[finding-runs-code]" in done.err) == (2, True)
    assert not (tmp_path / "ran").exists()
    assert surefoot("replay", "evil.json", "--policy", "evil.py:climb").code == 1


@pytest.mark.parametrize("more", [["--const", "N=3"], ["--interface", "x.json"], ["--unfiltered"]])
def test_options_of_what_is_not_given(surefoot: Surefoot, finding: str, more: list[str]) -> None:
    done = surefoot("replay", finding, *more)
    assert (done.code, "belongs to a" in done.err) == (2, True)


def test_what_is_no_finding(surefoot: Surefoot, finding: str) -> None:
    assert "[file-not-found]" in surefoot("replay", "nothing.json").err
    assert "[not-a-finding]" in surefoot("replay", "lamp.jani").err


# -- many --------------------------------------------------------------------------------------


@pytest.fixture
def findings(finding: str, tmp_path: Path) -> Path:
    """A folder with a finding of table.jsonl, one of a table that was mended since, and a file that
    is no finding.
    """
    (tmp_path / "other.jsonl").write_text(table())
    content = json.loads((tmp_path / finding).read_text())
    content["policy"] |= {"name": "other.jsonl", "sha256": "0" * 64}
    (tmp_path / "found" / "z.json").write_text(json.dumps(content))
    (tmp_path / "found" / "notes.json").write_text('{"some": "thing"}')
    return tmp_path / "found"


def test_many_have_a_line_each_and_one_exit_code(surefoot: Surefoot, findings: Path) -> None:
    done = surefoot("replay", "found")
    assert done.code == 1
    first, second, summary = done.out.splitlines()
    assert first.startswith("still fails    found/fault-")
    assert first.endswith(".json: after 3 steps")
    assert second.startswith("not replayed   found/z.json: the finding is about the policy")
    assert second.endswith("[finding-other-policy]")
    assert summary == "2 findings: 1 still fail, 0 do not, 1 not replayed"
    assert done.err.startswith("hint: it has changed since")
    files = sorted(f"found/{path.name}" for path in findings.glob("[fz]*.json"))
    assert surefoot("replay", *files).out == done.out


def test_many_with_a_mended_policy(surefoot: Surefoot, findings: Path, tmp_path: Path) -> None:
    (tmp_path / "mended.jsonl").write_text(table(last="stay"))
    done = surefoot("replay", "found", "lamp.jani", "--policy", "mended.jsonl")
    assert (done.code, done.err) == (0, "")
    assert "at step 3 of 3 the policy now decides on stay, not on up" in done.out
    assert done.out.endswith("2 findings: 0 still fail, 2 do not\n")


def test_many_as_a_document(surefoot: Surefoot, findings: Path) -> None:
    done = surefoot("replay", "found", "--json")
    document = done.document
    assert (done.code, document["summary"]["fail"], document["summary"]["refused"]) == (1, 1, 1)
    fails, refused = document["findings"]
    assert (fails["still_fails"], fails["steps"]) == (True, 3)
    assert refused["error"]["code"] == "finding-other-policy"
    assert "still_fails" not in refused


def test_many_that_name_code(surefoot: Surefoot, findings: Path, tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("open('ran', 'w')\nclimb = lambda state: 'up'\n")
    for path in findings.glob("[fz]*.json"):
        content = json.loads(path.read_text())
        content["policy"]["name"] = "evil.py:climb"
        path.write_text(json.dumps(content))
    done = surefoot("replay", "found")
    assert (done.code, done.out.count("[finding-runs-code]")) == (2, 2)
    assert not (tmp_path / "ran").exists()
    assert surefoot("replay", "found", "--policy", "evil.py:climb").code == 1


def test_a_folder_without_findings(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = surefoot("replay", "empty")
    assert (done.code, "[no-findings]" in done.err) == (2, True)


def test_the_findings_of_a_campaign(surefoot: Surefoot, campaign: Path) -> None:
    done = surefoot("replay", "out")
    assert done.code == 1
    assert "out/findings/fault-" in done.out


def test_nothing_to_replay(surefoot: Surefoot) -> None:
    done = surefoot("replay")
    assert (done.code, "[bad-option]" in done.err) == (2, True)
