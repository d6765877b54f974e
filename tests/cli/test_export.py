"""``surefoot export``: shields from findings, documents and campaigns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot import load_policy, load_task
from tests.cli.conftest import Finished, Surefoot

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"
DROP = "domain:transport?size=small&variant=drop"
TREES = "builtin:transport-drop-trees"
PYTHON = """
from surefoot import Description

walk = Description("walk")
x = walk.int("x", 0, 3, initial=0)
walk.edge("up", guard=x < 3, outcomes=[{x: x + 1}])
walk.edge("stay", outcomes=[{}])
walk.fail(x == 3)

def up(state):
    return "up"
"""
OPTIONS = """
    --shield --python --task --policy --interface --unfiltered --json --seed --max-seconds
    --memory-mb --property --const
"""


@pytest.fixture
def found(surefoot: Surefoot, tmp_path: Path) -> Path:
    """A folder of findings of the policy first."""
    done = surefoot("faults", DROP, "--policy", TREES, "--runs", "1000", "-o", "found")
    assert done.code == 1
    return tmp_path / "found"


def error_of(done: Finished, code: int) -> str:
    assert (done.code, done.out) == (code, ""), done.err
    return done.err


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("export", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot export " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


def test_the_shield_is_a_policy_for_every_command(
    surefoot: Surefoot, found: Path, tmp_path: Path
) -> None:
    done = surefoot("export", "found", "--shield", "s.json", "--python", "s.py")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == f"transport-4-6-drop, policy {TREES}"
    count = len(list(found.iterdir()))
    assert lines[1].startswith(f"{count:,} faults: a safe action in {count:,} states")
    assert lines[2] == "written: s.json, s.py"
    before, after = (
        surefoot("evaluate", DROP, "--policy", one, "--json").document["unsafe_fraction"]
        for one in (TREES, "s.json")
    )
    assert after < before
    for command in ("fuzz", "simulate", "doctor"):
        assert surefoot(command, DROP, "--policy", "s.json").code == 0
    again = surefoot("faults", DROP, "--policy", "s.json", "--runs", "300", "--json")
    states = [json.loads(file.read_text())["fault"]["state"] for file in found.iterdir()]
    assert not [one for one in again.document["faults"] if list(one["state"].values()) in states]


def test_the_module_decides_alike(surefoot: Surefoot, found: Path, tmp_path: Path) -> None:
    surefoot("export", "found", "--shield", "s.json", "--python", "s.py")
    task = load_task(DROP)
    policy = load_policy(tmp_path / "s.json", task)
    states = list(policy.decisions)  # type: ignore[attr-defined]
    program = "import sys, json, s; [print(s.shield(state, 'x')) for state in json.load(sys.stdin)]"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps([dict(state) for state in states]),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    assert done.stdout.split() == policy.decide_all(states)


def test_findings_documents_and_json(surefoot: Surefoot, found: Path, tmp_path: Path) -> None:
    files = sorted(f"found/{file.name}" for file in found.iterdir())
    done = surefoot("export", *files, "--shield", "s.json", "--json")
    assert done.code == 0
    document = done.document
    assert (document["command"], document["shield"]) == ("export", "s.json")
    assert document["decisions"] == document["faults"] == len(files)
    assert document["policy"]["name"] == TREES
    by_finding = (tmp_path / "s.json").read_text()
    printed = surefoot("faults", DROP, "--policy", TREES, "--runs", "1000", "--json").out
    (tmp_path / "f.json").write_text(printed)
    error_of(surefoot("export", "f.json", "--shield", "t.json"), 2)  # does not say its task fully
    how = ("--task", DROP, "--policy", TREES)
    assert surefoot("export", "f.json", *how, "--shield", "t.json").code == 0
    one, other = json.loads(by_finding), json.loads((tmp_path / "t.json").read_text())
    assert sorted(map(str, one["decisions"])) == sorted(map(str, other["decisions"]))


def test_a_campaign(surefoot: Surefoot, tmp_path: Path) -> None:
    pytest.importorskip("surefoot.verify.certificate")
    how = ("--starts", "300", "--evaluate-starts", "50", "--keep", "50")
    done = surefoot("debug", DROP, "--policy", TREES, *how, "-o", "c")
    assert done.code in (0, 1, 4), done.err
    done = surefoot("export", "c", "--shield", "s.json")
    assert done.code == 0, done.err
    content = json.loads((tmp_path / "s.json").read_text())
    assert content["policy"]["name"].startswith("c/policy/policy.")
    before, after = (
        surefoot("evaluate", DROP, "--policy", one, "--json").document["unsafe_fraction"]
        for one in (TREES, "s.json")
    )
    assert after < before


def test_a_shield_grows(surefoot: Surefoot, tmp_path: Path) -> None:
    """The faults of a shielded policy make a larger shield of the same policy."""
    surefoot("faults", LINE, "--policy", "first", "--runs", "30", "-o", "one")
    assert surefoot("export", "one", "--shield", "s.json").code == 0
    surefoot("faults", LINE, "--policy", "s.json", "--runs", "30", "-o", "two")
    assert surefoot("export", "two", "--shield", "t.json").code == 0
    small, large = (json.loads((tmp_path / f"{name}.json").read_text()) for name in "st")
    assert large["policy"]["name"] == "first"
    assert len(large["decisions"]) > len(small["decisions"])
    assert all(one in large["decisions"] for one in small["decisions"])


def test_python_policies_become_modules_only(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PYTHON)
    done = surefoot("faults", "p.py:walk", "--policy", "p.py:up", "-o", "found")
    assert done.code == 1, done.err
    text = error_of(surefoot("export", "found", "--python", "s.py"), 2)
    assert "[finding-runs-code]" in text
    assert "--task p.py:walk" in text
    how = ("--task", "p.py:walk", "--policy", "p.py:up")
    assert "[shield-of-python]" in error_of(
        surefoot("export", "found", *how, "--shield", "s.json"), 3
    )
    assert surefoot("export", "found", *how, "--python", "s.py").code == 0
    assert "shield(state" in (tmp_path / "s.py").read_text()


BAD = (
    ((), "bad-option"),
    (("found",), "bad-option"),
    (("--shield", "s.json"), "bad-option"),
    (("found", "--shield", "s.txt"), "unknown-suffix"),
    (("found", "--shield", "gone/s.json"), "file-not-written"),
    (("found", "--python", "s.json"), "unknown-suffix"),
    (("gone", "--shield", "s.json"), "file-not-found"),
    (("gone.json", "--shield", "s.json"), "file-not-found"),
    (("found", "--shield", "s.json", "--const", "N=3"), "bad-option"),
    (("found", "--shield", "s.json", "--task", LINE), "finding-other-task"),
    (
        ("found", "--shield", "s.json", "--task", LINE, "--policy", "first"),
        "fault-other-task",
    ),
    (("found", "--shield", "s.json", "--policy", "gone.onnx"), "file-not-found"),
    (("empty", "--task", LINE, "--policy", "first", "--shield", "s.json"), "no-faults"),
)


def test_bad_options(surefoot: Surefoot, found: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, code in BAD:
        assert f"[{code}]" in error_of(surefoot("export", *arguments), 2), arguments
        assert not (tmp_path / "s.json").exists()


def test_other_files_are_not_overwritten(surefoot: Surefoot, found: Path, tmp_path: Path) -> None:
    for name, option in (("s.json", "--shield"), ("s.py", "--python")):
        (tmp_path / name).write_text("{}")
        assert "[file-exists]" in error_of(surefoot("export", "found", option, name), 2)
        assert (tmp_path / name).read_text() == "{}"
