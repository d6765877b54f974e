"""``surefoot evaluate``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4&variant=icy-park"
TABLE = '{{"state": {{"x": 0}}, "action": "up"}}\n{{"state": {{"x": 1}}, "action": "{}"}}\n'


def lamp_table(folder: Path, at_one: str) -> str:
    """Write a policy of the lamp: up at 0, and this at 1; return its name."""
    (folder / "table.jsonl").write_text(TABLE.format(at_one))
    return "table.jsonl"


def test_document(surefoot: Surefoot) -> None:
    done = surefoot("evaluate", LINE, "--policy", "first", "--seed", "3", "--json")
    document = done.document
    assert (done.code, done.err) == (1, "")
    assert document["command"] == "evaluate"
    assert document["policy"] == {"name": "first", "sha256": None}
    assert document["starts"] == document["exhaustive"] == 80
    assert document["unsafe_fraction"] == document["unsafe"] / 80 > 0
    assert 0 <= document["goal_fraction"] <= 1
    assert document["exact"] is True
    assert document["all_starts"] is True
    assert document["seconds"] > 0
    assert document["options"]["starts"] == 10_000


def test_safe_policy_is_code_0(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = lamp_table(tmp_path, "down")
    done = surefoot("evaluate", "tasks.py:lamp", "--policy", policy)
    assert (done.code, done.err) == (0, "")
    assert "unsafe  0.0000  the policy may fail from 0 of 2 start states" in done.out
    assert "starts  2, all there are; decided by enumeration, which is exact" in done.out


def test_goal_is_counted_on_runs(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = lamp_table(tmp_path, "up")
    document = surefoot("evaluate", "tasks.py:lamp", "--policy", policy, "--json").document
    assert (document["runs"], document["goal"], document["goal_fraction"]) == (2, 2, 1.0)
    assert document["unsafe"] == 0


def test_sample_of_the_start_states(surefoot: Surefoot) -> None:
    done = surefoot("evaluate", LINE, "--policy", "first", "--starts", "10")
    assert "starts  10, drawn uniformly; " in done.out
    assert done.code == 1


def test_bound_if_not_all_are_decided_by_enumeration(surefoot: Surefoot) -> None:
    line = "domain:one-way-line?packages=3&locations=4"
    arguments = ("--policy", "random", "--max-states", "30", "--sample-runs", "2")
    done = surefoot("evaluate", line, *arguments)
    document = surefoot("evaluate", line, *arguments, "--json").document
    assert 0 < document["unsafe"] < 80
    assert document["exhaustive"] < document["starts"] == 80
    assert document["exact"] is False
    assert f"unsafe  at least {document['unsafe_fraction']:.4f}  " in done.out
    rest = 80 - document["exhaustive"]
    assert f"{document['exhaustive']} decided by enumeration, {rest} tried with runs" in done.out
    assert done.err == "cut: --max-states 30 was not enough; raise it\n"


def test_no_bound_where_every_start_state_was_seen_to_fail(surefoot: Surefoot) -> None:
    arguments = ("--policy", "first", "--max-states", "30", "--sample-runs", "2")
    done = surefoot("evaluate", LINE, *arguments)
    assert "unsafe  1.0000  the policy may fail from 80 of 80 start states" in done.out


def test_nothing_found_but_not_everything_seen_is_code_4(surefoot: Surefoot) -> None:
    arguments = ("--policy", "first", "--max-states", "2", "--sample-runs", "2")
    done = surefoot("evaluate", "tasks.py:Counter", *arguments)
    assert done.code == 4
    assert "unsafe  at least 0.0000" in done.out


@pytest.mark.parametrize(
    "arguments, text",
    [
        ((), "--policy is missing"),
        (("--policy", "rando"), 'did you mean "random"?'),
        (("--policy", "first", "--starts", "0"), "--starts must be at least 1"),
        (("--policy", "first", "--max-steps", "0"), "--max-steps must be at least 1"),
        (("--policy", "first", "--start", "gone.json"), "--start) is for JANI files"),
        (("--policy", "gone.ubj"), "gone.ubj: there is no such file"),
    ],
)
def test_bad_input(surefoot: Surefoot, arguments: tuple[str, ...], text: str) -> None:
    done = surefoot("evaluate", "tasks.py:lamp", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err


def test_help_has_an_example(surefoot: Surefoot) -> None:
    text = surefoot("evaluate", "--help").out
    assert "surefoot evaluate truck.jani --property safety.jani --policy truck.onnx" in text
