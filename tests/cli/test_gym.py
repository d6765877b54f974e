"""``gym:ENV-ID`` as the task of commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

CLIFF = "gym:CliffWalking-v1"
LAVA = "gym:minigrid:MiniGrid-LavaGapS5-v0"
POLICY = """
def reckless(state):
    if "state" in state:
        return "right"
    return "right" if state["x"] >= 2 and state["direction"] == 0 else "forward"
"""


@pytest.fixture
def reckless(tmp_path: Path) -> str:
    (tmp_path / "policies.py").write_text(POLICY)
    return "policies.py:reckless"


def test_options_of_the_front_end(surefoot: Surefoot) -> None:
    document = surefoot("explore", CLIFF, "--task.fail", "never", "--json").document
    assert document["fail"] == 0
    assert document["options"]["task.fail"] == "never"
    done = surefoot("explore", CLIFF, "--task.fail", "rewards < 1")
    assert (done.code, "[bad-option]" in done.err) == (2, True)
    assert "terminated & reward <= 0" in done.err


def test_finding_that_names_an_environment_is_refused_until_the_task_is_given(
    surefoot: Surefoot, reckless: str, tmp_path: Path
) -> None:
    document = surefoot("faults", CLIFF, "--policy", reckless, "-o", "found", "--json").document
    finding = document["faults"][0]["finding"]
    assert json.loads((tmp_path / finding).read_text())["task"]["source"] == CLIFF
    done = surefoot("replay", finding)
    assert (done.code, "[finding-runs-code]" in done.err) == (2, True)
    done = surefoot("replay", finding, CLIFF, "--policy", reckless)
    assert (done.code, "still fails" in done.out) == (1, True)


def test_certificate_that_names_an_environment_is_refused_until_the_task_is_given(
    surefoot: Surefoot, tmp_path: Path
) -> None:
    assert surefoot("decide", CLIFF, "--certificates", "kept").code == 0
    (certificate,) = map(str, (tmp_path / "kept").iterdir())
    done = surefoot("check", certificate)
    assert (done.code, "[certificate-runs-code]" in done.err) == (2, True)
    done = surefoot("check", certificate, CLIFF)
    assert (done.code, done.err) == (0, "")


def test_commands_say_that_outcomes_were_sampled(surefoot: Surefoot, reckless: str) -> None:
    pytest.importorskip("minigrid")
    words = "as far as outcomes were sampled"
    for command in ("decide", "verify", "evaluate", "faults"):
        policy = () if command == "decide" else ("--policy", reckless)
        done = surefoot(command, LAVA, *policy)
        assert "(outcomes sampled)" in done.out
        assert words in done.out or command == "verify"  # a run that fails is real
        document = surefoot(command, LAVA, *policy, "--json").document
        assert document["task"]["outcomes"] == "sampled"
    assert surefoot("verify", LAVA, "--policy", "first").out.count(words) == 1
