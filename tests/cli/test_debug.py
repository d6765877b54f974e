"""``surefoot debug``."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from surefoot.policies.writing import write_policy
from tests.cli.conftest import Finished, Surefoot
from tests.support.walk import always_go, walk, written

OPTIONS = """
    --policy --interface --unfiltered --out --starts --evaluate-starts --iterations --bias
    --lookahead --max-steps --method --any-other --keep --margin --solver-seconds --state-seconds
    --verify --findings --check-seconds --workers --json --seed --max-seconds --memory-mb
    --property --const
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "code.py").write_text("def pick(state): return 'go'")
    doomed = walk(doomed=True)
    doomed.write_jani(tmp_path / "doomed.jani")
    hostile = walk(names=("go\x1b[31m[bold]", "turn\n\x07"))
    hostile.write_jani(tmp_path / "hostile.jani")
    write_policy(always_go(hostile), tmp_path / "hostile.json")


def debug(surefoot: Surefoot, *arguments: str, task: str = "walk.jani") -> Finished:
    return surefoot("debug", task, "--policy", "go.json", "--keep", "50", *arguments, "-o", "out")


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("debug", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot debug " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "--no-" not in done.out


def test_safe(surefoot: Surefoot, tmp_path: Path) -> None:
    done = debug(surefoot)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "walk, policy go.json"
    assert lines[1].startswith("before: unsafe 0.5000, goal 0.")
    assert lines[2].startswith("fault: go in track=")
    assert lines[4] == "  safe alternative: turn"
    assert "checked: out/findings/fault-" in lines[5]
    head = next(number for number, line in enumerate(lines) if "iteration  failing" in line)
    first, last = lines[head + 1].split(), lines[head + 2].split()
    assert first[:4] == ["1", "6", "6", "6"]
    assert last[:8] == ["2", "0", "0", "6", "-", "-", "-", "-"]
    assert last[-2:] == ["verified:", "safe"]
    assert "safe: no run fails from any of the 12 start states" in done.out
    assert "unsafe  0.5000 -> 0.0000  on 12 start states, all there are" in done.out
    assert "policy: out/policies/final.json" in done.out
    assert "certificate: out/certificates/policy-safe.jsonl, checked" in done.out
    assert lines[-1] == "report: surefoot report out"
    assert (tmp_path / "out/policies/final.json").exists()


def test_what_was_printed_can_be_checked_and_replayed(surefoot: Surefoot) -> None:
    done = debug(surefoot)
    finding = next(line for line in done.out.splitlines() if "checked: " in line).split()[-1]
    assert surefoot("check", finding).code == 0
    assert surefoot("replay", finding).code == 1
    assert surefoot("replay", finding, "--policy", "out/policies/final.json").code == 0
    assert surefoot("check", "out/certificates/policy-safe.jsonl").code == 0


def test_document(surefoot: Surefoot) -> None:
    done = debug(surefoot, "--json", "--starts", "3", "--seed", "1")
    document = done.document
    assert (done.code, document["command"], document["outcome"]) == (0, "debug", "safe")
    assert document["policy"]["name"] == "go.json"
    assert document["options"]["starts"] == 3
    assert document["seed"] == 1
    assert document["directory"] == "out"
    assert document["final_policy"] == "policies/final.json"
    assert {"iterations", "before", "after", "verification", "faults"} <= set(document)
    assert {"fuzz", "faults", "repair", "verify"} == set(document["iterations"][0]["seconds"])


CODES = {
    "safe": (("walk.jani",), 0, "safe"),
    "unsafe start": (("doomed.jani",), 1, "stopped"),
    "not verified": (("walk.jani", "--verify", "none"), 4, "improved"),
    "no repair": (("walk.jani", "--iterations", "0"), 1, "unknown"),
    "no time": (("walk.jani", "--max-seconds", "0"), 1, "unknown"),
}


@pytest.mark.parametrize("case", CODES.values(), ids=CODES.keys())
def test_exit_codes(surefoot: Surefoot, case: tuple[tuple[str, ...], int, str]) -> None:
    (task, *more), code, outcome = case
    done = debug(surefoot, *more, task=task)
    assert done.code == code, done.err
    assert f"\n{outcome}: " in done.out


BAD = {
    "no policy": (("debug", "walk.jani", "-o", "out"), 2, "--policy is missing"),
    "no directory": (("debug", "walk.jani", "--policy", "go.json"), 2, "--out"),
    "bias": (("--bias", "up"), 2, "bias must be one of"),
    "method": (("--method", "magic"), 2, "method must be one of"),
    "verify": (("--verify", "hope"), 2, "verify must be one of"),
    "as typed": (("--fuzz.bias", "up"), 2, "--fuzz.bias must be one of"),
    "method as typed": (("--verify.method=hope",), 2, "--verify.method must be one of"),
    "bound as typed": (("--fuzz.lookahead", "0"), 2, "--fuzz.lookahead must be at least 1"),
    "short bound": (("--lookahead", "0"), 2, "error: --lookahead must be at least 1"),
    "radius": (("--faults.radius", "far"), 2, "--faults.radius must be inf or"),
    "a stage": (("--fuzz", "3"), 2, "--fuzz is all options of a stage"),
    "no start states": (("--starts", "0"), 2, "starts must be at least 1"),
    "endless": (("--max-seconds", "inf"), 2, "--max-seconds"),
    "no task": (("debug", "no.jani", "--policy", "go.json", "-o", "out"), 2, "no.jani"),
    "first": (("debug", "walk.jani", "--policy", "first", "-o", "out"), 3, "network"),
    "code": (("debug", "walk.jani", "--policy", "code.py:pick", "-o", "out"), 3, "network"),
}


def test_radius_may_be_endless(surefoot: Surefoot) -> None:
    assert debug(surefoot, "--faults.radius", "inf").code == 0


@pytest.mark.parametrize("case", BAD.values(), ids=BAD.keys())
def test_bad_input(
    surefoot: Surefoot, tmp_path: Path, case: tuple[tuple[str, ...], int, str]
) -> None:
    arguments, code, message = case
    done = surefoot(*arguments) if arguments[0] == "debug" else debug(surefoot, *arguments)
    assert done.code == code, done.err
    assert message in done.err
    assert not (tmp_path / "out").exists()


def test_a_campaign_that_is_there_is_not_touched(surefoot: Surefoot, tmp_path: Path) -> None:
    debug(surefoot)
    before = (tmp_path / "out/journal.jsonl").read_bytes()
    done = debug(surefoot)
    assert done.code == 2
    assert "[campaign-exists]" in done.err
    assert "surefoot resume" in done.err
    assert (tmp_path / "out/journal.jsonl").read_bytes() == before


def test_names_of_a_hostile_model_are_text(surefoot: Surefoot, tmp_path: Path) -> None:
    done = surefoot("debug", "hostile.jani", "--policy", "hostile.json", "-o", "out")
    assert done.code == 0, done.err
    assert "fault: go\\x1b[31m[bold] in " in done.out
    shown = surefoot("show", "out").out + surefoot("status", "out").out
    finding = os.listdir(tmp_path / "out/findings")[0]
    shown += surefoot("show", f"out/findings/{finding}").out
    for text in (done.out, done.err, shown):
        assert "\x1b" not in text and "\x07" not in text
    assert "turn\\n\\x07" in shown
    json.loads(surefoot("show", "out", "--json").out)
