"""``surefoot repair``, and ``surefoot check`` of what it recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from surefoot import Description, Network, load_policy, load_task, write_policy
from surefoot.policies.models import Layer
from tests.cli.conftest import Finished, Surefoot, environment

OPTIONS = """
    --policy --interface --unfiltered --faults --out --record --method --any-other --keep --margin
    --flips --solver --solver-seconds --diff-states --json --seed --max-seconds --memory-mb
    --property --const
"""
DROP = "domain:transport?size=small&variant=drop"
INTERFACE = {"surefoot_interface": 1, "inputs": ["x"], "outputs": ["up", "down", "wait"]}


def walk(top: int = 5) -> Description:
    task = Description("walk")
    x = task.int("x", 0, top, initial=1)
    task.edge("up", guard=x < top, outcomes=[{x: x + 1}])
    task.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    task.edge("wait", outcomes=[{}])
    task.start((x >= 1) & (x <= 3))
    task.fail(x == top)
    return task


@pytest.fixture
def files(tmp_path: Path, surefoot: Surefoot) -> Path:
    """A directory with walk.jani, a network that always goes up, and its faults."""
    walk().compile().write_jani(tmp_path / "walk.jani")
    task = load_task(tmp_path / "walk.jani")
    hidden = Layer(np.array([[1.0], [-1.0]]), np.array([-3.0, 2.0]), "relu")
    last = Layer(np.zeros((3, 2)), np.array([1.0, 0.0, 0.5]), "linear")
    network = Network((hidden, last), "float32")
    write_policy(load_policy(network, task, interface=INTERFACE), tmp_path / "up.safetensors")
    done = surefoot(
        *("faults", "walk.jani", "--policy", "up.safetensors", "--runs", "20", "-o", "found")
    )
    assert done.code == 1, done.err
    return tmp_path


def repair(surefoot: Surefoot, *more: str, policy: str = "up.safetensors") -> Finished:
    faults = () if "--faults" in more else ("--faults", "found")
    return surefoot("repair", "walk.jani", "--policy", policy, *faults, *more)


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("repair", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot faults " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


def test_repairs_writes_and_checks(surefoot: Surefoot, files: Path) -> None:
    done = repair(surefoot, "-o", "new.safetensors", "--record", "r.json")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == "walk, policy up.safetensors"
    assert lines[1].startswith("repaired 1 fault in ")
    assert any(line.startswith("  distance ") for line in lines)
    assert any(line.startswith("  repair diff: 1 of ") for line in lines)
    assert any(line.strip() in ("up -> down in x=4", "up -> wait in x=4") for line in lines)
    assert lines[-2:] == ["written: new.safetensors", "for surefoot check: r.json"]
    task = load_task(files / "walk.jani")
    new = load_policy(files / "new.safetensors", task)
    assert new.decide({"x": 4}) in ("down", "wait")
    check = surefoot("check", "r.json")
    assert check.code == 0, check.err
    assert check.out.startswith("accepted: repair: 1 fault is gone (distance ")
    assert "recomputed" not in check.out
    for policy, code in (("up.safetensors", 1), ("new.safetensors", 0)):
        assert surefoot("evaluate", "walk.jani", "--policy", policy).code == code


def test_document(surefoot: Surefoot, files: Path) -> None:
    done = repair(surefoot, "-o", "new.safetensors", "--keep", "7", "--json")
    document = done.document
    assert done.code == 0
    assert document["command"] == "repair"
    assert document["policy"]["name"] == "up.safetensors"
    assert document["options"]["keep"] == 7
    assert document["options"]["faults"] == ["found"]
    assert (document["faults"], document["method"]) == (1, "minimal")
    assert document["distance"] > 0
    assert document["diff"]["changed"] == 1
    assert document["files"] == ["new.safetensors"]
    assert document["repaired"]["name"] == "new.safetensors"
    assert document["repaired"]["sha256"] != document["policy"]["sha256"]


def test_faults_from_a_document_and_for_any_other_action(surefoot: Surefoot, files: Path) -> None:
    found = surefoot("faults", "walk.jani", "--policy", "up.safetensors", "--json")
    (files / "f.json").write_text(found.out)
    done = repair(
        *(surefoot, "--faults", "f.json", "--faults", "found", "--any-other"),
        *("-o", "new.safetensors", "--record", "r.json"),
    )
    assert done.code == 0, done.err
    assert "repaired 1 fault " in done.out
    assert json.loads((files / "r.json").read_text())["any_other"] is True
    assert surefoot("check", "r.json").code == 0


def test_trees_that_come_with_surefoot(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = "builtin:transport-drop-trees"
    surefoot("faults", DROP, "--policy", policy, "--runs", "1000", "-o", "found")
    how = ("--faults", "found", "--keep", "50", "--diff-states", "50", "-o", "new.json")
    done = surefoot("repair", DROP, "--policy", policy, *how, "--record", "r.json")
    assert done.code == 0, done.err
    assert surefoot("check", "r.json").code == 0
    before, after = (
        surefoot("evaluate", DROP, "--policy", one, "--json").document["unsafe_fraction"]
        for one in (policy, "new.json")
    )
    assert after < before


# -- what is wrong -----------------------------------------------------------------------------


def error_of(done: Finished, code: int) -> str:
    assert done.code == code, (done.code, done.err)
    assert done.out == ""
    return done.err


def test_policies_that_cannot_be_repaired(surefoot: Surefoot, files: Path) -> None:
    (files / "p.py").write_text("def go(state): return 'up'\n")
    for policy in ("first", "random", "p.py:go"):
        text = error_of(repair(surefoot, "-o", "new.json", policy=policy), 3)
        assert "[policy-not-repairable]" in text
        assert "networks and tree ensembles can" in text
    assert not (files / "new.json").exists()


def test_contradictory_faults(surefoot: Surefoot, files: Path) -> None:
    state = {"x": 4}
    lines = [
        {"state": state, "action": "up", "alternatives": ["down"]},
        {"state": state, "action": "down", "alternatives": ["up"]},
    ]
    (files / "f.jsonl").write_text("\n".join(map(json.dumps, lines)))
    text = error_of(repair(surefoot, "--faults", "f.jsonl", "-o", "new.safetensors"), 2)
    assert "[contradictory-faults]" in text
    assert not (files / "new.safetensors").exists()


def test_faults_of_another_task(surefoot: Surefoot, files: Path) -> None:
    walk(top=6).compile().write_jani(files / "walk.jani")
    text = error_of(repair(surefoot, "-o", "new.safetensors"), 2)
    assert "found/fault-" in text
    assert "[fault-other-task]" in text


def test_no_record_of_what_nobody_could_check(surefoot: Surefoot, files: Path) -> None:
    fault = {"state": {"x": 4}, "action": "up", "outcome": {"x": 5}, "alternatives": []}
    fault |= {"steps": 3, "step": 2, "more_unknown": True}
    (files / "faults.jsonl").write_text(json.dumps(fault) + "\n")
    more = ("--faults", "faults.jsonl", "-o", "new.safetensors", "--record", "record.json")
    done = repair(surefoot, *more)
    assert "[no-alternatives]" in error_of(done, 2)
    assert not (files / "new.safetensors").exists()
    assert repair(surefoot, *more, "--any-other").code == 0
    checked = surefoot("check", "record.json")
    assert checked.code == 0, checked.err


def test_a_suffix_that_is_not_for_it_is_refused_at_once(surefoot: Surefoot, files: Path) -> None:
    message = error_of(repair(surefoot, "-o", "new.ubj"), 2)
    assert "*.safetensors or *.onnx" in message and "[unknown-suffix]" in message


def test_no_time(surefoot: Surefoot, files: Path) -> None:
    done = repair(surefoot, "-o", "new.safetensors", "--max-seconds", "0")
    assert "[out-of-seconds]" in error_of(done, 4)
    assert not (files / "new.safetensors").exists()


BAD = (
    (("-o", "new.safetensors", "--faults", "gone"), "file-not-found"),
    (("-o", "gone/new.safetensors"), "file-not-written"),
    (("-o", "found"), "file-not-written"),
    (("-o", "up.safetensors"), "bad-option"),
    (("-o", "new.txt"), "unknown-suffix"),
    (("-o", "new.safetensors", "--record", "r.txt"), "unknown-suffix"),
    (("-o", "new.safetensors", "--method", "magic"), "bad-option"),
    (("-o", "new.safetensors", "--margin", "nan"), "bad-option"),
    (("-o", "new.safetensors", "--solver", "abacus"), "bad-option"),
)


def test_bad_options(surefoot: Surefoot, files: Path) -> None:
    before = (files / "up.safetensors").read_bytes()
    for arguments, code in BAD:
        assert f"[{code}]" in error_of(repair(surefoot, *arguments), 2), arguments
        assert (files / "up.safetensors").read_bytes() == before
        assert not (files / "new.safetensors").exists()


def test_faults_and_policy_must_be_given(surefoot: Surefoot, files: Path) -> None:
    new = ("-o", "new.safetensors")
    text = error_of(surefoot("repair", "walk.jani", "--policy", "up.safetensors", *new), 2)
    assert "--faults is missing" in text
    text = error_of(surefoot("repair", "walk.jani", "--faults", "found", *new), 2)
    assert "--policy is missing" in text


# -- check -------------------------------------------------------------------------------------


@pytest.fixture
def record(surefoot: Surefoot, files: Path) -> dict[str, Any]:
    assert repair(surefoot, "-o", "new.safetensors", "--record", "r.json").code == 0
    return dict(json.loads((files / "r.json").read_text()))


def test_check_rejects_what_does_not_hold(
    surefoot: Surefoot, files: Path, record: dict[str, Any]
) -> None:
    fault = record["faults"][0]
    for change in (
        {"distance": record["distance"] * 1.01},
        {"faults": [{**fault, "after": "up"}]},
        {"faults": [{**fault, "before": "down"}]},
        {"faults": [{**fault, "alternatives": []}]},
        {"after": record["before"]},
    ):
        (files / "r.json").write_text(json.dumps({**record, **change}))
        done = surefoot("check", "r.json")
        assert (done.code, done.out) == (5, ""), change
        assert "r.json" in done.err


def test_check_needs_the_same_files(
    surefoot: Surefoot, files: Path, record: dict[str, Any]
) -> None:
    content = (files / "new.safetensors").read_bytes()
    (files / "new.safetensors").write_bytes((files / "up.safetensors").read_bytes())
    assert "[finding-other-policy]" in error_of(surefoot("check", "r.json"), 2)
    (files / "new.safetensors").unlink()
    done = surefoot("check", "r.json")
    assert done.code == 0
    assert "decisions not recomputed: there is no policy file" in done.out
    (files / "elsewhere.safetensors").write_bytes(content)
    done = surefoot("check", "r.json", "--policy", "elsewhere.safetensors", "--json")
    assert done.code == 0
    assert done.document["recomputed"] is True
    assert done.document["distance_recomputed"] is True


def test_check_names_the_interface_of_both_policies(
    surefoot: Surefoot, files: Path, record: dict[str, Any]
) -> None:
    """With these inputs, too, the old policy goes up: the record holds, but of another policy."""
    fool = {**INTERFACE, "inputs": [{"constant": 5.0}]}
    before = {**record["before"], "interface": fool}
    (files / "r.json").write_text(json.dumps({**record, "before": before}))
    done = surefoot("check", "r.json", "--json")
    assert done.code == 0, done.err
    assert done.document["before_interface"] == fool
    assert "interface" not in done.document
    assert "; before with the interface {" in surefoot("check", "r.json").out


def test_check_names_a_damaged_record(
    surefoot: Surefoot, files: Path, record: dict[str, Any]
) -> None:
    for change in ({"repair": 2}, {"repair": None}, {"task": 3}, {"after": {}}):
        (files / "r.json").write_text(json.dumps({**record, **change}))
        assert "r.json:" in error_of(surefoot("check", "r.json"), 2), change


def test_interrupted(files: Path) -> None:
    """Ctrl-C ends it with 130 at any moment, and there is no half of a file."""
    program = [sys.executable, "-m", "surefoot", "repair", DROP]
    arguments = ["--policy", "builtin:transport-drop-trees", "--faults", "slow", "-o", "n.json"]
    os.mkfifo(files / "slow.jsonl")
    arguments[arguments.index("slow")] = "slow.jsonl"  # nobody writes to it: reading waits
    with subprocess.Popen(
        [*program, *arguments],
        cwd=files,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as child:
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=60)
    assert (child.returncode, out) == (130, b"")
    assert not (files / "n.json").exists()
