"""``surefoot simulate``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("simulate", LINE, "--policy", "random", "--runs", "5", "--seed", "3", "--json")
    document = done.document
    assert (done.code, done.err) == (0, "")
    assert document["policy"] == {"name": "random", "sha256": None}
    assert document["seed"] == 3
    assert document["summary"]["runs"] == 5
    for number, run in enumerate(document["runs"]):
        assert set(run) == {"run", "start", "result", "steps", "states", "actions"}
        assert run["run"] == number
        assert len(run["states"]) == len(run["actions"]) + 1 == run["steps"] + 1
        assert run["states"][0] == run["start"]


def test_same_seed_same_runs(surefoot: Surefoot) -> None:
    first, again, other = (
        surefoot("simulate", LINE, "--runs", "5", "--seed", seed, "--json").document["runs"]
        for seed in ("1", "1", "2")
    )
    assert first == again != other


def test_text_shows_the_start_and_then_what_changes(surefoot: Surefoot) -> None:
    done = surefoot("simulate", LINE, "--policy", "first", "--runs", "1")
    head, start, *steps, empty, summary = done.out.splitlines()
    assert head.startswith("run 0: ")
    assert start.startswith("  start  location_load_0=")
    assert start.count("=") == 8
    assert all(1 <= step.count("=") < 8 for step in steps)
    assert (empty, summary[:6]) == ("", "1 run:")


@pytest.mark.parametrize("state", ["x=1", " x = 1 ", '{"x": 1}'])
def test_state(surefoot: Surefoot, state: str) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--state", state, "--json")
    assert done.document["runs"][0]["start"] == {"x": 1}


def test_states_are_taken_in_turn(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 2}\n{"x": 3}\n')
    arguments = (
        "--state",
        "x=0",
        "--state",
        "x=1",
        "--states",
        "states.jsonl",
        "--runs",
        "5",
        "--json",
    )
    runs = surefoot("simulate", "tasks.py:lamp", *arguments).document["runs"]
    assert [run["start"]["x"] for run in runs] == [0, 1, 2, 3, 0]
    assert [run["result"] for run in runs[2:4]] == ["goal", "fail"]


def test_one_run_for_each_given_state(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "states.jsonl").write_text('{"x": 2}\n{"x": 3}\n')
    arguments = ("--state", "x=1", "--states", "states.jsonl", "--json")
    document = surefoot("simulate", "tasks.py:lamp", *arguments).document
    assert [run["start"]["x"] for run in document["runs"]] == [1, 2, 3]
    assert document["options"]["runs"] == 3
    assert len(surefoot("simulate", "tasks.py:lamp", "--json").document["runs"]) == 1


@pytest.mark.parametrize(
    "state, text",
    [
        ("x", "not NAME=VALUE"),
        ("x=4", "ranges from 0 to 3"),
        ("xx=1", 'no variable "xx"'),
        ("", 'no value to "x"'),
        ("x=1,x=2", '"x" is given twice'),
        ("{", "error: --state: "),
        ("x=9", "error: --state: "),
        ("x=1,y", "error: --state: "),
    ],
)
def test_bad_state(surefoot: Surefoot, state: str, text: str) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--state", state)
    assert done.code == 2
    assert text in done.err


def test_max_steps(surefoot: Surefoot) -> None:
    runs = surefoot("simulate", "tasks.py:Slow", "--max-steps", "4", "--json").document["runs"]
    assert (runs[0]["steps"], runs[0]["result"]) == (4, "cut")


def test_no_runs(surefoot: Surefoot) -> None:
    done = surefoot("simulate", "tasks.py:lamp", "--runs", "0")
    assert (done.code, done.out) == (0, "0 runs\n")
