"""``surefoot faults``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from surefoot import Description
from tests.cli.conftest import Finished, Surefoot, environment
from tests.support.networks import nnet_text, random_network

LINE = "domain:one-way-line?packages=2&locations=6&variant=icy-park"
UNSAFE = "domain:one-way-line?packages=3&locations=4&variant=icy-park"
OPTIONS = """
    --policy --interface --unfiltered --run --runs --bias --lookahead --max-steps --perturb
    --changes --workers --oracle --radius --bugs-only --deviations --state-seconds --max-states
    --check-seconds --no-check --out --json --seed --max-seconds --memory-mb --property --const
"""


def faults(surefoot: Surefoot, *arguments: str, policy: str = "first") -> Finished:
    runs = () if "--run" in arguments else ("--runs", "10")
    return surefoot("faults", LINE, "--policy", policy, *runs, *arguments)


def files_in(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.exists() else []


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("faults", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot faults " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())
    assert "--no-" not in done.out.replace("--no-check", "")


def test_document(surefoot: Surefoot) -> None:
    done = faults(surefoot, "--seed", "3", "--deviations", "--json", policy="random")
    document = done.document
    assert (done.code, done.err) == (1, "")
    assert document["command"] == "faults"
    assert document["policy"] == {"name": "random?seed=3", "sha256": None}
    assert document["options"]["radius"] is None
    assert document["options"]["runs"] == 10
    assert {"faults", "bugs", "unknown", "unavoidable", "summary", "fuzz"} <= set(document)
    summary = document["summary"]
    assert summary["faults"] == len(document["faults"]) > 0
    assert summary["bugs"] == len(document["bugs"]) > 0
    assert document["fuzz"]["runs"] == 10
    runs = {run["run"]: run for run in document["runs"]}
    for fault in document["faults"]:
        run = runs[fault["run"]]
        assert fault["checked"] is True
        assert "finding" not in fault
        assert run["states"][fault["step"]] == fault["state"]
        assert run["actions"][fault["step"]] == fault["action"]
        assert fault["alternatives"] and fault["action"] not in fault["alternatives"]
        assert fault["deviations"] == "inf" or fault["deviations"] >= 1
        assert fault["run"] in fault["runs"]
    steps = [runs[fault["run"]]["steps"] for fault in document["faults"]]
    assert steps == sorted(steps)


def test_text(surefoot: Surefoot, tmp_path: Path) -> None:
    done = faults(surefoot, "-o", "found", "--deviations")
    document = faults(surefoot, "--deviations", "--json").document
    assert (done.code, done.err) == (1, "")
    lines = done.out.splitlines()
    assert lines[0] == "one-way-line-2-6-icy-park, policy first"
    assert lines[1].startswith("10 runs: 10 fail")
    count = len(document["faults"])
    heads = [line for line in lines if line.startswith("fault ")]
    assert len(heads) == count
    for head, fault in zip(heads, document["faults"], strict=True):
        state = ",".join(f"{name}={value}" for name, value in fault["state"].items())
        assert head.endswith(f": {fault['action']} in {state}")
        below = lines[lines.index(head) + 1 : lines.index(head) + 5]
        changed = [k for k, v in fault["outcome"].items() if fault["state"][k] != v]
        text = ",".join(f"{name}={fault['outcome'][name]}" for name in changed)
        assert below[0] == f"  may lead to {text}, which is unsafe"
        assert below[1] == f"  safe alternative: {', '.join(fault['alternatives'])}"
        assert below[2] == f"  deviations: {fault['deviations']}"
        number = len(fault["runs"])
        assert f"; on {number} run{'s' * (number > 1)}; checked: found/fault-" in below[3]
    assert any(line.startswith(f"10 failing runs: {count} faults, ") for line in lines)
    assert lines[-1] == "findings are in found"
    assert len(files_in(tmp_path / "found")) == count
    assert not (tmp_path / "surefoot-findings").exists()


def test_findings_are_kept_and_can_be_checked(surefoot: Surefoot, tmp_path: Path) -> None:
    done = faults(surefoot, "-o", "found", "--json")
    names = [fault["finding"] for fault in done.document["faults"]]
    assert sorted(os.path.basename(name) for name in names) == files_in(tmp_path / "found")
    assert surefoot("check", *names).code == 0
    before = {name: (tmp_path / name).read_bytes() for name in names}
    faults(surefoot, "-o", "found")
    assert {name: (tmp_path / name).read_bytes() for name in names} == before


def test_a_file_in_the_way_is_not_replaced(surefoot: Surefoot, tmp_path: Path) -> None:
    name = faults(surefoot, "-o", "found", "--json").document["faults"][0]["finding"]
    (tmp_path / name).write_text("{}")
    done = faults(surefoot, "-o", "found")
    assert (done.code, (tmp_path / name).read_text()) == (2, "{}")
    assert "[file-exists]" in done.err


def test_unchecked_ones_say_so_and_are_kept(surefoot: Surefoot, tmp_path: Path) -> None:
    for how in (["--no-check"], ["--check-seconds", "0"]):
        done = faults(surefoot, *how, "--json")
        assert done.code == 1
        assert {fault["checked"] for fault in done.document["faults"]} == {False}
        names = [fault["finding"] for fault in done.document["faults"]]
        assert all(name.startswith("surefoot-findings/fault-") for name in names)
    done = faults(surefoot, "--no-check")
    assert "; unchecked: surefoot-findings/fault-" in done.out
    assert f"{len(names)} not checked:\n  surefoot check surefoot-findings/fault-" in done.out
    assert surefoot("check", *names).code == 0


def test_bugs_only(surefoot: Surefoot, tmp_path: Path) -> None:
    done = faults(surefoot, "--bugs-only", "-o", "found", "--json")
    document = done.document
    assert (done.code, document["faults"]) == (1, [])
    assert {bug["checked"] for bug in document["bugs"]} == {True}
    assert len(files_in(tmp_path / "found")) == len(document["bugs"]) > 0
    assert surefoot("check", *(f"found/{name}" for name in files_in(tmp_path / "found"))).code == 0
    text = faults(surefoot, "--bugs-only").out
    assert "bug 1: " in text
    assert "is safe, but the policy may fail from there: step 1 of run" in text


def test_runs_that_nobody_could_avoid(surefoot: Surefoot) -> None:
    arguments = ("faults", UNSAFE, "--policy", "first", "--runs", "20")
    done = surefoot(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "the start state is unsafe: no policy could have avoided this" in done.out
    assert "0 faults" in done.out
    document = surefoot(*arguments, "--json").document
    assert document["faults"] == document["bugs"] == []
    assert {each["checked"] for each in document["unavoidable"]} == {True}
    assert document["summary"]["unavoidable"] == 20


def test_nothing_fails(surefoot: Surefoot) -> None:
    done = surefoot("faults", "domain:staircase?steps=6", "--policy", "random", "--runs", "5")
    assert done.code == 0
    assert "0 failing runs: 0 faults" in done.out


def test_radius(surefoot: Surefoot) -> None:
    done = faults(surefoot, "--radius", "4", "--json")
    assert done.document["options"]["radius"] == 4
    assert done.code in (0, 1)
    done = faults(surefoot, "--radius", "2", policy="random")
    assert "safe means: with at most 2 differences from the policy" in done.out
    done = faults(surefoot, "--radius", "-1")
    assert (done.code, "--radius must be inf or a whole number" in done.err) == (2, True)


def test_unknown(surefoot: Surefoot) -> None:
    done = faults(surefoot, "--state-seconds", "0", "--max-states", "1", "--json")
    document = done.document
    assert done.code == (1 if document["faults"] else 4)
    assert document["unknown"]
    text = faults(surefoot, "--state-seconds", "0", "--max-states", "1").out
    assert "unknown (" in text
    done = faults(surefoot, "--max-seconds", "0")
    assert done.code == 4


def test_a_learned_policy(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "line.nnet").write_text(nnet_text(random_network(1, 11, 8, 6)))
    done = faults(surefoot, "-o", "found", "--json", policy="line.nnet")
    assert done.code == 1
    assert document_is_checked(done.document)
    names = [f"found/{name}" for name in files_in(tmp_path / "found")]
    done = surefoot("check", *names, "--json")
    assert done.code == 0
    assert all(each["recomputed"] for each in done.document["certificates"])


def document_is_checked(document: dict[str, Any]) -> bool:
    return bool(document["faults"]) and all(fault["checked"] for fault in document["faults"])


def test_python_tasks_and_policies(surefoot: Surefoot, tmp_path: Path) -> None:
    (tmp_path / "walk.py").write_text(
        "class Walk:\n"
        "    def start(self): return [(0,)]\n"
        "    def actions(self, s): return ['up', 'down'] if s[0] else ['up']\n"
        "    def outcomes(self, s, a): return [(s[0] + 1,), s] if a == 'up' else [(s[0] - 1,)]\n"
        "    def is_goal(self, s): return False\n"
        "    def is_fail(self, s): return s[0] == 3\n"
        "def climb(state): return 'up'\n"
    )
    given = ("walk.py:Walk", "--policy", "walk.py:climb")
    done = surefoot("faults", *given, "--runs", "5", "-o", "found", "--json")
    assert (done.code, document_is_checked(done.document)) == (1, True)
    (name,) = files_in(tmp_path / "found")
    file = f"found/{name}"
    assert surefoot("check", file).code == 2  # would run code
    done = surefoot("check", file, "walk.py:Walk")
    assert done.code == 0
    assert "decisions not recomputed: that would run Python code" in done.out
    assert surefoot("check", file, *given, "--json").document["recomputed"] is True
    assert surefoot("replay", file, *given).code == 1
    assert surefoot("minimise", file, *given, "-o", "small.json").code == 0
    assert surefoot("check", "small.json", *given).code == 0


# -- runs from files ---------------------------------------------------------------------------


def test_runs_of_a_file_are_those_of_fuzzing(surefoot: Surefoot) -> None:
    surefoot("fuzz", LINE, "--policy", "random", "--runs", "10", "-o", "runs.json")
    by_file = faults(surefoot, "--run", "runs.json", "--json", policy="random").document
    directly = faults(surefoot, "--json", policy="random").document
    for name in ("faults", "bugs", "unknown", "runs"):
        assert by_file[name] == directly[name]
    assert "fuzz" not in by_file


def test_runs_of_findings_and_single_runs(surefoot: Surefoot, tmp_path: Path) -> None:
    document = faults(surefoot, "-o", "found", "--json").document
    fault = document["faults"][0]
    run = next(run for run in document["runs"] if run["run"] == fault["run"])
    plain = {"states": run["states"], "actions": run["actions"]}
    (tmp_path / "one.json").write_text(json.dumps(plain))
    for file in (fault["finding"], "one.json"):
        found = faults(surefoot, "--run", file, "--json").document
        assert [each["state"] for each in found["faults"]] == [fault["state"]]
    both = faults(surefoot, "--run", fault["finding"], "--run", "one.json", "--json").document
    assert [each["runs"] for each in both["faults"]] == [[0, 1]]


BAD_RUNS = {
    "another decision": (
        lambda run: run["actions"].__setitem__(0, "park_truck_0"),
        "not a failing",
    ),
    "no outcome": (lambda run: run["states"][1].update(truck_0=3), "not a failing run"),
    "no start state": (lambda run: run["states"].pop(0) and run["actions"].pop(0), "known_reach"),
    "does not fail": (
        lambda run: run["states"].pop() and run["actions"].pop(),
        "not a failing run",
    ),
    "no action": (lambda run: run["actions"].__setitem__(0, "hop"), "unknown-action"),
    "no state": (lambda run: run["states"][0].pop("truck_0"), "missing-variable"),
    "no states": (lambda run: run.pop("states"), "bad-run"),
}


@pytest.mark.parametrize("change, why", BAD_RUNS.values(), ids=BAD_RUNS)
def test_runs_are_verified(surefoot: Surefoot, tmp_path: Path, change: Any, why: str) -> None:
    document = faults(surefoot, "--json").document
    run = document["runs"][0]
    change(run)
    (tmp_path / "one.json").write_text(json.dumps(run))
    done = faults(surefoot, "--run", "one.json")
    assert done.code == 2
    assert why in done.err
    assert "one.json" in done.err


def test_a_run_that_is_not_known_to_be_reachable(surefoot: Surefoot, tmp_path: Path) -> None:
    run = faults(surefoot, "--json").document["runs"][0]
    later = {"states": run["states"][1:], "actions": run["actions"][1:], "known_reachable": False}
    (tmp_path / "one.json").write_text(json.dumps(later))
    done = faults(surefoot, "--run", "one.json", "-o", "found")
    assert done.code == 1
    assert "; not known to be reachable; checked" in done.out
    (name,) = files_in(tmp_path / "found")
    assert (
        "from a state that is not known to be reachable" in surefoot("check", f"found/{name}").out
    )


def test_a_finding_of_another_task(surefoot: Surefoot, tmp_path: Path) -> None:
    faults(surefoot, "-o", "found")
    file = f"found/{files_in(tmp_path / 'found')[0]}"
    done = surefoot("faults", UNSAFE, "--policy", "first", "--run", file)
    assert done.code == 2
    assert "[finding-other-task]" in done.err


# -- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        ["--oracle", "delphi"],
        ["--oracle", "propagate_unsafe_bdd"],
        ["--oracle", "ipi", "--radius", "1"],
        ["--check-seconds", "-1"],
        ["--check-seconds", "nan"],
        ["--bias", "odd"],
        ["--lookahead", "0"],
        ["-o", "tasks.py"],
        ["--run", "nothing.json"],
    ],
)
def test_bad_options(surefoot: Surefoot, more: list[str]) -> None:
    done = faults(surefoot, *more)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


def test_policy_is_needed(surefoot: Surefoot) -> None:
    done = surefoot("faults", LINE)
    assert (done.code, "--policy is missing" in done.err) == (2, True)


def test_names_of_strangers(surefoot: Surefoot, tmp_path: Path) -> None:
    """Control characters in names do not reach the terminal, nor markup the console."""
    d = Description("evil\x1b[2J[bold]")
    x = d.int("x\x1b[31m", 0, 3, initial=0)
    d.edge("up\x1b[0m[red]", guard=x < 3, outcomes=[{x: x + 1}])
    d.edge("stay\x07", outcomes=[{}])
    d.fail(x == 3)
    d.compile().write_jani(tmp_path / "evil.jani")
    done = surefoot("faults", "evil.jani", "--policy", "first", "--runs", "3", "-o", "found")
    assert done.code == 1
    assert "\x1b" not in done.out + done.err and "\x07" not in done.out
    assert "up\\x1b[0m[red] in x\\x1b[31m=2" in done.out
    (name,) = files_in(tmp_path / "found")
    for command in (("check",), ("replay",), ("minimise", "-o", "small.json")):
        done = surefoot(*command, f"found/{name}")
        assert done.code == (command == ("replay",))
        assert "\x1b" not in done.out + done.err


def test_findings_are_on_disk_when_the_program_is_killed(tmp_path: Path) -> None:
    """Whatever is in the directory is complete; what was found earlier is there."""
    task = "domain:one-way-line?packages=6&locations=16&variant=icy-park"
    command = [sys.executable, "-m", "surefoot", "faults", task, "--policy", "random"]
    process = subprocess.Popen(
        [*command, "--runs", "3000", "-o", "found"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    end = time.monotonic() + 40
    while len(files_in(tmp_path / "found")) < 4 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    names = [name for name in files_in(tmp_path / "found") if not name.startswith(".")]
    assert len(names) >= 4
    for name in names:
        assert json.loads((tmp_path / "found" / name).read_text())["finding"] == 1


def test_interrupted(tmp_path: Path) -> None:
    task = "domain:one-way-line?packages=6&locations=16&variant=icy-park"
    command = [sys.executable, "-m", "surefoot", "faults", task, "--policy", "random"]
    process = subprocess.Popen(
        [*command, "--runs", "3000", "-o", "found"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 40
    while len(files_in(tmp_path / "found")) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "fault 1: " in out
    assert "interrupted" in err


def test_options_of_fuzzing_play_no_part_where_runs_are_given(surefoot: Surefoot) -> None:
    surefoot("fuzz", LINE, "--policy", "first", "--runs", "5", "-o", "runs.json")
    done = faults(surefoot, "--run", "runs.json", "--bias", "uniform")
    assert done.code == 2
    assert "--bias is for fuzzing: it has no effect with --run" in done.err


def test_fuzzing_that_lacks_memory_is_not_called_fine(surefoot: Surefoot) -> None:
    done = faults(surefoot, "--memory-mb", "0")
    assert done.code == 4
    assert "10 cut" in done.out


def test_runs_of_0_1_0(surefoot: Surefoot) -> None:
    """A file of fuzz -o of that version, in which five runs ended as ``safe``, is still read."""
    file = Path(__file__).parent / "runs_of_0_1_0.json"
    task = "domain:two-way-line?packages=1&locations=4&variant=icy"
    done = surefoot("faults", task, "--policy", "first", "--run", str(file), "--json")
    assert done.code in (0, 1), done.err
    assert done.document["summary"]["runs"] == 1
