"""``surefoot show``."""

from __future__ import annotations

import os
from pathlib import Path

from tests.cli.conftest import Surefoot

LINE = "domain:two-way-line?packages=2&locations=6&variant=icy"


def test_help_shows_an_example(surefoot: Surefoot) -> None:
    assert "For example:\n  surefoot show " in surefoot("show", "--help").out


def test_the_faults_of_a_campaign(surefoot: Surefoot, campaign: Path) -> None:
    done = surefoot("show", "out")
    assert (done.code, done.err) == (0, "")
    assert done.out.count("fault: go in ") == 6
    assert done.out.count("safe alternative: turn") == 6
    assert done.out.splitlines()[-1] == "6 faults; the campaign: safe"
    document = surefoot("show", "out", "--json").document
    assert len(document["faults"]) == 6
    assert document["faults"][0]["alternatives"] == ["turn"]


def test_a_finding_step_by_step(surefoot: Surefoot, campaign: Path) -> None:
    name = f"out/findings/{sorted(os.listdir(campaign / 'findings'))[0]}"
    done = surefoot("show", name)
    assert (done.code, done.err) == (0, "")
    assert "fault: go, at step 2 of 2 steps" in done.out
    assert "  safe alternative: turn" in done.out
    assert "run 0: fail after 2 steps" in done.out or "fail after 2 steps" in done.out
    assert "of go 1*, turn 0" in done.out
    document = surefoot("show", name, "--json").document
    assert (document["command"], document["kind"]) == ("show", "fault")
    assert document["run"]["scores"][0] == {"go": 1.0, "turn": 0.0}
    assert "certificates" not in document


def test_a_finding_with_pictures(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = "builtin:two-way-line-icy-trees"
    found = surefoot("faults", LINE, "--policy", policy, "--runs", "200", "-o", "found")
    assert found.code == 1, found.err
    done = surefoot("show", f"found/{os.listdir(tmp_path / 'found')[0]}")
    assert done.code == 0, done.err
    assert "location   0 1 2 3 4 5" in done.out


def test_a_policy_that_has_changed_is_refused(surefoot: Surefoot, campaign: Path) -> None:
    name = f"out/findings/{sorted(os.listdir(campaign / 'findings'))[0]}"
    done = surefoot("show", name, "--policy", "out/policies/final.json")
    assert done.code == 2
    assert "[finding-other-policy]" in done.err


def test_what_is_neither(surefoot: Surefoot) -> None:
    assert surefoot("show", "tasks.py").code == 2
    assert surefoot("show", "nothing.json").code == 2
