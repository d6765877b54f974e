"""``surefoot train``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from surefoot import domain, load_policy
from tests.cli.conftest import Surefoot

pytest.importorskip("torch")

LINE = "domain:one-way-line?packages=3&locations=4"
QUICK = ("--potential", "goal", "--hidden", "32,32", "--runs", "200")


@pytest.mark.slow
def test_document(surefoot: Surefoot, tmp_path: Path) -> None:
    steps = ("--steps", "15000", "--checkpoints", "5")
    done = surefoot("train", LINE, "-o", "truck.safetensors", *QUICK, *steps, "--json")
    document = done.document
    assert done.code == 0
    assert document["command"] == "train"
    assert document["policy"]["name"] == "truck.safetensors"
    assert document["model"] == "network 8-32-32-5 relu, float32"
    assert len(document["checkpoints"]) == 5
    assert document["best"] in document["checkpoints"]
    assert document["steps"] >= 15_000
    assert document["options"]["hidden"] == "32,32"
    evaluated = surefoot("evaluate", LINE, "--policy", "truck.safetensors", "--json").document
    assert evaluated["policy"]["sha256"] == document["policy"]["sha256"]
    assert evaluated["goal_fraction"] > 0.5


@pytest.mark.slow
def test_table_and_same_bytes(surefoot: Surefoot, tmp_path: Path) -> None:
    more = (*QUICK, "--steps", "2000", "--checkpoints", "2", "--seed", "5")
    for name in ("one.safetensors", "two.safetensors"):
        done = surefoot("train", LINE, "-o", name, *more)
        assert done.code == 0
        assert "steps  return   goal   fail  steps a run" in done.out
        assert done.out.count("kept") == 1
        assert f"the policy is in {name}" in done.out
    assert (tmp_path / "one.safetensors").read_bytes() == (
        tmp_path / "two.safetensors"
    ).read_bytes()


def test_onnx(surefoot: Surefoot, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    done = surefoot("train", LINE, "-o", "truck.onnx", *QUICK, "--steps", "1000")
    assert done.code == 0
    assert surefoot("simulate", LINE, "--policy", "truck.onnx").code == 0


def test_time_runs_out(surefoot: Surefoot, tmp_path: Path) -> None:
    many = ("--steps", "1000000000", "--max-seconds", "2")
    done = surefoot("train", LINE, "-o", "truck.safetensors", *QUICK, *many)
    assert done.code == 4
    assert "cut: --max-seconds was not enough" in done.err
    assert (tmp_path / "truck.safetensors").is_file()


def started(folder: Path) -> subprocess.Popen[str]:
    """Start a long training; return when there is a first policy."""
    many = ("--steps", "1000000", "--checkpoints", "1000")
    process = subprocess.Popen(
        [sys.executable, "-m", "surefoot", "train", LINE, "-o", "truck.safetensors", *QUICK, *many],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    limit = time.monotonic() + 120
    while not (folder / "truck.safetensors").is_file():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit, "no policy within two minutes"
        time.sleep(0.05)
    return process


def test_killed_in_the_middle(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.kill()
    process.communicate()
    policy = load_policy(tmp_path / "truck.safetensors", domain("one-way-line"))
    assert policy.decide(policy.task.initial_state()) in policy.task.actions


def test_ctrl_c_keeps_the_best(tmp_path: Path) -> None:
    process = started(tmp_path)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "cut: interrupted; this is the best so far" in err
    assert "the policy is in truck.safetensors" in out
    policy = load_policy(tmp_path / "truck.safetensors", domain("one-way-line"))
    assert policy.decide(policy.task.initial_state()) in policy.task.actions


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((LINE, "-o", "nowhere/truck.safetensors"), "cannot be written"),
        ((LINE, "-o", "truck.pt"), "*.safetensors or *.onnx"),
        ((LINE, "-o", "t.safetensors", "--potential", "gaol"), "--potential must be"),
        ((LINE, "-o", "t.safetensors", "--hidden", "many"), "hidden"),
        ((LINE, "-o", "t.safetensors", "--steps", "0"), "--steps must be"),
        (("domain:one-way-lane", "-o", "t.safetensors"), "one-way-line"),
        (("domain:one-way-line?package=3", "-o", "t.safetensors"), "packages"),
        (("domain:one-way-line?packages=0", "-o", "t.safetensors"), "from 1 to"),
        (("tasks.py:evil", "-o", "t.safetensors"), "nothing to learn"),
        (("tasks.py:Counter", "-o", "t.safetensors"), "Python-defined"),
    ],
)
def test_wrong_input(surefoot: Surefoot, arguments: tuple[str, ...], text: str) -> None:
    done = surefoot("train", *arguments)
    assert done.code == 2
    assert text in done.err
    assert not done.out


def test_without_torch(surefoot: Surefoot, tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['torch'] = None\nfrom surefoot.cli import main; sys.exit(main())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "train", LINE, "-o", str(tmp_path / "t.safetensors")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done
    assert "surefoot[train]" in done.stderr


def test_help_shows_an_example(surefoot: Surefoot) -> None:
    done = surefoot("train", "--help")
    assert "surefoot train" in done.out
    assert "--hidden" in done.out


@pytest.mark.slow
def test_training_is_reported_while_it_runs(surefoot: Surefoot, tmp_path: Path) -> None:
    many = ("--steps", "1000000000", "--max-seconds", "8", "--checkpoints", "1000000")
    done = surefoot("train", LINE, "-o", "t.safetensors", *QUICK, *many, "--json")
    assert re.search(r"training: [0-9,]+ steps: return .*, goal [01]\.", done.err)
    assert json.loads(done.out)["stopped"] == "seconds"
