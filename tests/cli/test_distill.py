"""``surefoot distill``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surefoot import distill, load_policy, load_task
from surefoot.policies.tables import sha256_of
from tests.cli.conftest import Surefoot, environment

LINE = "domain:one-way-line?packages=2&locations=5&variant=icy"
GIVEN = ("distill", LINE, "--policy", "random?seed=3", "--runs", "80", "--seed", "4")
OPTIONS = """
    --out -o --policy --interface --unfiltered --kind --trees --depth --rate --runs --max-steps
    --seed --max-seconds --memory-mb --json --property --const
"""


@pytest.fixture(autouse=True)
def _libraries() -> None:
    pytest.importorskip("xgboost")
    pytest.importorskip("sklearn")


def test_help(surefoot: Surefoot) -> None:
    done = surefoot("distill", "--help")
    assert done.code == 0
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "For example:\n  surefoot distill truck.jani" in done.out
    assert max(len(line) for line in done.out.splitlines() if "  surefoot " in line) <= 83
    assert "distill" in surefoot("--help").out


def test_text_and_file(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot(*GIVEN, "-o", "trees.json", "--depth", "3")
    assert done.code == 0, done.err
    task = load_task(LINE)
    expected = distill(task, "random?seed=3", runs=80, seed=4, depth=3)
    ends = [
        [f"{ends.get(end, 0) / 80:.4f}" for end in ("goal", "fail")]
        for ends in (expected.teacher_ends, expected.trees_ends)
    ]
    lines = done.out.splitlines()
    assert lines[:4] == [
        f"{task.name}, policy random?seed=3",
        str(expected.policy.model),
        f"agreement  {expected.agreement:.4f} on the {expected.examples:,} decisions learned",
        f"           {expected.fresh_agreement:.4f} on {expected.fresh_examples:,} decisions of "
        "fresh runs",
    ]
    assert lines[4].split()[:4] == ["80", "runs", "goal", "fail"]
    assert [lines[5].split()[:3], lines[6].split()[:3]] == [
        ["policy", *ends[0]],
        ["trees", *ends[1]],
    ]
    assert lines[-1].startswith("the trees are in trees.json (")
    written = load_policy(str(tmp_path / "trees.json"), task)
    starts = task.list_starts()
    assert written.decide_all(starts) == expected.policy.decide_all(starts)


def test_json_and_the_same_bytes_again(surefoot: Surefoot, tmp_path: Path) -> None:
    document = surefoot(*GIVEN, "-o", "a.json", "--json").document
    assert surefoot(*GIVEN, "-o", "b.json", "--json").document["sha256"] == document["sha256"]
    assert sha256_of(tmp_path / "a.json") == sha256_of(tmp_path / "b.json") == document["sha256"]
    expected = distill(load_task(LINE), "random?seed=3", runs=80, seed=4).to_dict()
    assert {key: document[key] for key in expected if key != "seconds"} == {
        key: value for key, value in expected.items() if key != "seconds"
    }
    assert (document["command"], document["file"], document["files"]) == (
        "distill",
        "a.json",
        ["a.json"],
    )
    assert document["policy"]["name"] == "random?seed=3"
    assert (document["options"]["trees"], document["options"]["rate"]) == (20, 0.4)


def test_files_of_xgboost(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot(*GIVEN, "-o", "trees.ubj", "--trees", "3")
    assert done.code == 0, done.err
    assert "the trees are in trees.ubj, trees.ubj.interface.json (" in done.out
    said = json.loads((tmp_path / "trees.ubj.interface.json").read_text())
    assert said["outputs"] == list(load_task(LINE).actions)
    again = surefoot("evaluate", LINE, "--policy", "trees.ubj", "--json")
    assert again.code in (0, 1), again.err
    assert again.document["policy"]["name"] == "trees.ubj"


def test_actions_that_are_never_taken_are_told(surefoot: Surefoot) -> None:
    done = surefoot("distill", LINE, "--policy", "first", "-o", "t.json", "--kind", "tree")
    assert done.code == 0, done.err
    assert (
        "never taken where there was a choice: drop_truck_0, dec_truck_0, move_truck_0\n"
        in done.out
    )


OUT = ("-o", "t.json")
BAD = {
    "no policy": (("distill", LINE, *OUT), "--policy is missing"),
    "no output": (("distill", LINE, "--policy", "first"), "--out"),
    "unknown kind": ((*GIVEN, *OUT, "--kind", "forrest"), 'did you mean "forest"?'),
    "no trees": ((*GIVEN, *OUT, "--trees", "0"), "--trees must be at least 1"),
    "no depth": ((*GIVEN, *OUT, "--depth", "0"), "--depth must be at least 1"),
    "no steps": ((*GIVEN, *OUT, "--max-steps", "0"), "--max-steps must be at least 1"),
    "negative": ((*GIVEN, *OUT, "--depth", "-1"), "--depth"),
    "rate": ((*GIVEN, *OUT, "--rate", "0"), "--rate must be from"),
    "no part": ((*GIVEN, *OUT, "--kind", "forest", "--rate", "0.1"), "--rate has no effect"),
    "another format": ((*GIVEN, "-o", "t.onnx"), "is not a file *.json or *.ubj"),
    "XGBoost's own": ((*GIVEN, "-o", "t.ubj", "--kind", "tree"), "*.ubj is XGBoost's own format"),
    "no folder": ((*GIVEN, "-o", "no/t.json"), "[file-not-written]"),
    "no choice": (("distill", "tasks.py:Counter", "--policy", "first", *OUT), "[no-examples]"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_options(surefoot: Surefoot, tmp_path: Path, case: str) -> None:
    arguments, text = BAD[case]
    done = surefoot(*arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert os.listdir(tmp_path) == ["tasks.py"] or case == "no choice"
    assert not (tmp_path / "t.json").exists()


def test_the_output_is_checked_before_the_task_is_read(surefoot: Surefoot) -> None:
    done = surefoot("distill", "nothing.jani", "--policy", "first", "-o", "no/t.json")
    assert (done.code, "[file-not-written]" in done.err) == (2, True)


def test_a_library_that_is_not_installed(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "xgboost.py").write_text("raise ImportError('no')\n")
    done = surefoot(*GIVEN, *OUT, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert done.code == 3
    assert "fitting trees of kind xgboost needs xgboost [missing-library]" in done.err
    assert "pip install 'surefoot[trees]'" in done.err


def test_no_time(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot(*GIVEN, *OUT, "--max-seconds", "0")
    assert done.code == 4
    assert os.listdir(tmp_path) == ["tasks.py"]


def test_ctrl_c(tmp_path: Path) -> None:
    words = ("distill", LINE, "--policy", "first", "--runs", "1000000", "-o", "t.json")
    child = subprocess.Popen(
        [sys.executable, "-m", "surefoot", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=environment(),
        text=True,
    )
    assert child.stderr is not None
    while "distilling" not in child.stderr.readline():
        assert child.poll() is None
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert (child.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert os.listdir(tmp_path) == []
