"""``surefoot verify``, and ``surefoot check`` of its certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4"


def safe_policy(folder: Path) -> str:
    """Write a policy of the lamp that never fails; return its name."""
    rows = [{"state": {"x": x}, "action": "up"} for x in range(2)]
    (folder / "table.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return "table.jsonl"


def test_unsafe(surefoot: Surefoot) -> None:
    done = surefoot("verify", LINE, "--policy", "first")
    assert done.code == 1
    lines = done.out.splitlines()
    assert lines[0] == "one-way-line-3-4-det, policy first"
    assert lines[1] == "run 0: fail after 4 steps, none is shorter"
    assert lines[2].startswith("  start  location_load_0=")
    assert "unsafe: a run from a start state fails" in lines
    assert "starts  80, all there are" in lines
    assert lines[-1] == "checked: the run was accepted"


def test_document_of_an_unsafe_policy(surefoot: Surefoot) -> None:
    done = surefoot("verify", LINE, "--policy", "first", "--json")
    document = done.document
    assert done.code == 1
    assert (document["command"], document["verdict"], document["method"]) == (
        *("verify", "unsafe"),
        "explicit",
    )
    assert len(document["run"]["states"]) == len(document["run"]["actions"]) + 1 == 5
    assert (document["starts"], document["all_starts"], document["checked"]) == (80, True, True)
    assert document["reason"] is None
    assert document["seconds"] > 0
    assert "certificate" not in document
    assert document["options"]["check_seconds"] == 10.0


def test_finding_of_the_run(surefoot: Surefoot, tmp_path: Path) -> None:
    document = surefoot("verify", LINE, "--policy", "first", "-o", "found", "--json").document
    (file,) = (tmp_path / "found").iterdir()
    assert document["finding"] == f"found/{file.name}"
    checked = surefoot("check", document["finding"])
    assert (checked.code, checked.out.split(" (")[0]) == (0, "accepted: run")
    assert surefoot("replay", document["finding"]).code == 1


def test_safe_and_its_certificate(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = safe_policy(tmp_path)
    done = surefoot("verify", "tasks.py:lamp", "--policy", policy, "--certificate", "safe.jsonl")
    assert done.code == 0
    assert "safe: no run of the policy fails" in done.out
    assert "checked: the certificate of 3 states was accepted" in done.out
    assert "it is in safe.jsonl: surefoot check safe.jsonl checks it" in done.out
    checked = surefoot("check", "safe.jsonl", "tasks.py:lamp")
    assert checked.code == 0
    assert checked.out.startswith("accepted: safe: no run of policy table.jsonl fails (3 states")


def test_document_of_a_safe_policy(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = safe_policy(tmp_path)
    arguments = ("tasks.py:lamp", "--policy", policy, "--certificate", "safe.jsonl", "--json")
    document = surefoot("verify", *arguments).document
    assert (document["verdict"], document["checked"]) == ("safe", True)
    assert (document["certificate"], document["states"], document["run"]) == ("safe.jsonl", 3, None)
    checked = surefoot("check", "safe.jsonl", "--task", "tasks.py:lamp", "--json").document
    assert (checked["accepted"], checked["claim"], checked["states"]) == (True, "policy-safe", 3)
    assert checked["recomputed"] is True


@pytest.mark.parametrize("kind", ["boxes", "blocked"])
def test_check_of_boxes(surefoot: Surefoot, tmp_path: Path, kind: str) -> None:
    policy, file = safe_policy(tmp_path), tmp_path / "safe.jsonl"
    surefoot("verify", "tasks.py:lamp", "--policy", policy, "--certificate", "safe.jsonl")
    head = json.loads(file.read_text().splitlines()[0])
    del head["states"]
    row = {"boxes": "[[0, 2]]", "blocked": "[3]"}[kind]
    file.write_text(json.dumps({**head, kind: 1, "constraints": []}) + f"\n{row}\n")
    done = surefoot("check", "safe.jsonl", "tasks.py:lamp")
    unit = {"boxes": "1 box", "blocked": "1 blocked box"}[kind]
    wanted = f"accepted: safe: no run of policy table.jsonl fails ({unit} checked in "
    assert (done.code, done.out.startswith(wanted)) == (0, True), done.out
    document = surefoot("check", "safe.jsonl", "--task", "tasks.py:lamp", "--json").document
    assert (document["accepted"], document[kind], "states" in document) == (True, 1, False)
    row = {"boxes": "[[0, 3]]", "blocked": "[0]"}[kind]
    file.write_text(json.dumps({**head, kind: 1, "constraints": []}) + f"\n{row}\n")
    done = surefoot("check", "safe.jsonl", "tasks.py:lamp")
    assert (done.code, "[certificate-rejected]" in done.err) == (5, True)


def test_nothing_is_left_without_certificate(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = safe_policy(tmp_path)
    assert surefoot("verify", "tasks.py:lamp", "--policy", policy).code == 0
    assert {each.name for each in tmp_path.iterdir()} - {"__pycache__"} == {
        "tasks.py",
        "table.jsonl",
    }


@pytest.mark.parametrize("option", [("--check-seconds", "0"), ("--no-check",)])
def test_unchecked(surefoot: Surefoot, tmp_path: Path, option: tuple[str, ...]) -> None:
    policy = safe_policy(tmp_path)
    arguments = ("tasks.py:lamp", "--policy", policy, "--certificate", "safe.jsonl", *option)
    done = surefoot("verify", *arguments)
    assert done.code == 0
    assert "not checked: the certificate of 3 states" in done.out
    assert "it is in safe.jsonl" in done.out
    assert surefoot("verify", *arguments, "--json").document["checked"] is False


def test_sample_is_unknown(surefoot: Surefoot) -> None:
    done = surefoot("verify", "domain:cartpole", "--policy", "first", "--starts", "2", "--json")
    assert done.document["all_starts"] is False
    assert done.document["starts"] == 2
    assert done.document["verdict"] in ("unsafe", "unknown")


def test_budget_is_unknown(surefoot: Surefoot) -> None:
    done = surefoot("verify", LINE, "--policy", "first", "--max-states", "90")
    assert done.code == 4
    assert "unknown: ran out of states (90)" in done.out
    assert "checked" not in done.out


def test_callable_policy(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text('def up(state):\n    return "up"\n')
    done = surefoot(
        *("verify", "tasks.py:lamp", "--policy", "mine.py:up", "--certificate", "safe.jsonl")
    )
    assert done.code == 0
    refused = surefoot("check", "safe.jsonl", "tasks.py:lamp")
    assert refused.code == 2
    assert "would run that file [certificate-runs-code]" in refused.err
    assert surefoot("check", "safe.jsonl", "tasks.py:lamp", "--policy", "mine.py:up").code == 0


def test_python_task(surefoot: Surefoot) -> None:
    done = surefoot("verify", "tasks.py:Counter", "--policy", "first", "--certificate", "c.jsonl")
    assert (done.code, "certificate of 4 states was accepted" in done.out) == (0, True)
    assert surefoot("check", "c.jsonl", "tasks.py:Counter").code == 0


def test_tampered_certificate(surefoot: Surefoot, tmp_path: Path) -> None:
    policy = safe_policy(tmp_path)
    surefoot("verify", "tasks.py:lamp", "--policy", policy, "--certificate", "safe.jsonl")
    file = tmp_path / "safe.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    done = surefoot("check", "safe.jsonl", "tasks.py:lamp")
    assert done.code == 5
    assert "there are 2 states, not 3 [certificate-rejected]" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--method", "magic"),
        ("--starts", "0"),
        ("--workers", "0"),
        ("--max-steps", "0"),
        ("--check-seconds", "-1"),
        ("--certificate", "nowhere/safe.jsonl"),
        ("-o", "tasks.py"),
    ],
    ids=" ".join,
)
def test_bad_options(surefoot: Surefoot, arguments: tuple[str, ...]) -> None:
    done = surefoot("verify", "tasks.py:lamp", "--policy", "first", *arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_policy_is_needed(surefoot: Surefoot) -> None:
    assert surefoot("verify", LINE).code == 2


def test_hostile_names_are_shown_as_text(surefoot: Surefoot) -> None:
    done = surefoot("verify", "tasks.py:evil", "--policy", "first")
    assert "\x1b" not in done.out + done.err


# -- methods -----------------------------------------------------------------------------------


def test_document_says_what_every_method_did(surefoot: Surefoot) -> None:
    document = surefoot("verify", LINE, "--policy", "first", "--json").document
    assert document["options"]["method"] == "auto"
    assert [one["method"] for one in document["engines"]] == ["box", "explicit"]
    assert "trees, networks" in document["engines"][0]["reason"]
    assert document["engines"][1]["verdict"] == "unsafe"
    names = ("boxes", "refinements", "rounding", "failing_starts")
    assert [document[name] for name in names] == [0, 0, 0, None]
    explicit = surefoot("verify", LINE, "--policy", "first", "--method", "explicit", "--json")
    assert explicit.document["engines"] == []
    assert explicit.document["run"] == document["run"]


@pytest.mark.parametrize("method", ["box", "predicates", "ic3"])
@pytest.mark.parametrize("task", [LINE, "tasks.py:Counter"])
def test_what_a_method_cannot_read(surefoot: Surefoot, method: str, task: str) -> None:
    done = surefoot("verify", task, "--policy", "first", "--method", method)
    assert (done.code, done.out) == (3, "")
    feature = "Python code defines the task" if task != LINE else "trees, networks"
    assert f"method {method}: " in done.err and feature in done.err
    assert "hint: --method explicit can verify" in done.err


def test_bad_predicates(surefoot: Surefoot) -> None:
    arguments = ("verify", LINE, "--policy", "first", "--predicates", "p.json")
    for method in ("explicit", "ic3"):
        done = surefoot(*arguments, "--method", method)
        assert done.code == 2
        assert "predicates are for the methods" in done.err


@pytest.mark.parametrize("limit", [("--max-seconds", "0"), ("--max-states", "50")], ids=" ".join)
def test_limits_of_the_portfolio(surefoot: Surefoot, limit: tuple[str, ...]) -> None:
    task = "domain:two-way-line?packages=2&locations=6&variant=icy"
    policy = ("--policy", "builtin:two-way-line-icy-trees", "--method", "explicit")
    done = surefoot("verify", task, *policy, *limit)
    assert done.code == 4
    assert done.out.splitlines()[1].startswith("unknown: ran out of ")
    task = "domain:one-way-line?packages=15&locations=10"
    done = surefoot("verify", task, "--policy", "builtin:one-way-line-trees", "--max-seconds", "0")
    assert done.code == 4
    lines = done.out.splitlines()
    assert lines[1] == "unknown: no method has decided it"
    assert lines[-1].startswith("  fuzz: ")
