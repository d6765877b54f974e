"""``surefoot check``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot import Description, load_task
from tests.cli.conftest import Surefoot

LINE = "domain:one-way-line?packages=3&locations=4&variant=icy"
OPTIONS = """
    --property --property-name --start --goal --fail --const --int-range
    --json --seed --max-seconds --memory-mb --policy --interface --unfiltered
"""
POLICIES = """
def up(state): return "up" if state["x"] < 3 else "down"
def down(state): return "down" if state["x"] > 0 else "up"
"""


def description() -> Description:
    d = Description("lamp")
    x = d.int("x", 0, 3, initial=0)
    d.edge("up", guard=x < 3, outcomes=[{x: x + 1}, {}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.fail(x == 3)
    return d


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with lamp.jani and policies.py."""
    description().compile().write_jani(tmp_path / "lamp.jani")
    (tmp_path / "policies.py").write_text(POLICIES)
    return tmp_path


Decide = Callable[..., str]


@pytest.fixture
def decide(surefoot: Surefoot, files: Path) -> Decide:
    """Return the file of the only certificate that ``decide`` writes."""

    def run(*arguments: str) -> str:
        done = surefoot("decide", *arguments, "-o", "kept", "--json")
        (row,) = done.document["states"]
        return str(row["certificate"])

    return run


def changed(files: Path, name: str, change: Callable[[dict[str, Any]], Any]) -> str:
    """Return the name of a file with the certificate after a change."""
    content = json.loads((files / name).read_text())
    change(content)
    (files / "changed.json").write_text(json.dumps(content))
    return "changed.json"


def test_help_shows_an_example_and_every_option(surefoot: Surefoot) -> None:
    done = surefoot("check", "--help")
    assert done.code == 0
    assert "For example:\n  surefoot check " in done.out
    assert all(f"{option} " in done.out for option in OPTIONS.split())


@pytest.mark.parametrize(
    "state, verdict, entries", [("x=0", "safe", "1 choice"), ("x=3", "unsafe", "1 rank")]
)
def test_accepted(
    surefoot: Surefoot, decide: Decide, state: str, verdict: str, entries: str
) -> None:
    file = decide("lamp.jani", "--state", state)
    done = surefoot("check", file)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"accepted: {verdict}: {state} (")
    assert entries in done.out or "choices" in done.out
    document = surefoot("check", file, "--json").document
    assert document["command"] == "check"
    assert document["task"]["name"] == "lamp"
    assert (document["accepted"], document["claim"]) == (True, verdict)
    assert document["state"] == {"x": int(state[2:])}
    assert (document["radius"], document["recomputed"], document["policy"]) == (None, None, None)
    assert document["entries"] >= 1 <= document["states"]


def test_domain(surefoot: Surefoot, decide: Decide) -> None:
    assert surefoot("check", decide(LINE, "--max-starts", "1")).code == 0


# -- rejected ----------------------------------------------------------------------------------

MUTATIONS = {
    "claim": lambda c: c.update(claim="unsafe", ranks=[[0, 0]]) or c.pop("choices"),
    "choice": lambda c: c["choices"][0].__setitem__(1, None),
    "state": lambda c: c["states"][c["state"]].__setitem__(0, 3),
    "value": lambda c: c["states"][0].__setitem__(0, "high"),
    "member": lambda c: c.update(proof="trust me"),
    "missing": lambda c: c.pop("states"),
    "radius": lambda c: c.update(radius=1),
    "no list": lambda c: c.update(choices={}),
    "huge number": lambda c: c.update(state=10**30),
}


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS)
def test_rejected(
    surefoot: Surefoot, decide: Decide, files: Path, mutate: Callable[[Any], Any]
) -> None:
    file = changed(files, decide("lamp.jani", "--state", "x=0"), mutate)
    done = surefoot("check", file, "--json")
    assert done.code == 5
    assert done.err.startswith("error: changed.json: ")
    assert done.document["error"]["code"] == "certificate-rejected"


def test_out_of_time(surefoot: Surefoot, decide: Decide) -> None:
    file = decide("domain:one-way-line?packages=5&locations=8&variant=icy", "--max-starts", "1")
    done = surefoot("check", file, "--max-seconds", "0")
    assert (done.code, done.out) == (4, "")
    assert "[out-of-seconds]" in done.err


# -- several -----------------------------------------------------------------------------------


def test_several_files(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    safe, unsafe = (decide("lamp.jani", "--state", state) for state in ("x=0", "x=3"))
    bad = changed(files, safe, MUTATIONS["choice"])
    done = surefoot("check", safe, unsafe)
    assert (done.code, done.err) == (0, "")
    assert [line.split(": ")[:3] for line in done.out.splitlines()] == [
        [safe, "accepted", "safe"],
        [unsafe, "accepted", "unsafe"],
    ]
    for task in (("lamp.jani",), ("--task", "lamp.jani")):
        assert surefoot("check", safe, unsafe, *task).code == 0
    done = surefoot("check", "nothing.json", bad, unsafe)
    assert done.code == 5
    assert done.out.startswith(f"{unsafe}: accepted")
    assert "[file-not-found]" in done.err and "[certificate-rejected]" in done.err
    done = surefoot("check", "nothing.json", bad, unsafe, "--json")
    found = done.document["certificates"]
    assert (done.code, [each["accepted"] for each in found]) == (5, [False, False, True])
    assert found[1]["error"]["code"] == "certificate-rejected"
    assert surefoot("check", "nothing.json", unsafe).code == 2


def test_no_file(surefoot: Surefoot) -> None:
    done = surefoot("check")
    assert done.code == 2
    assert "give the file of a certificate" in done.err


# -- not for this task -------------------------------------------------------------------------


def test_another_task(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    file = decide("lamp.jani", "--state", "x=0")
    done = surefoot("check", file, LINE)
    assert done.code == 2
    assert "[certificate-other-task]" in done.err
    assert load_task(str(files / "lamp.jani")).sha256[:12] in done.err  # type: ignore[union-attr]
    d = description()
    d.goal(d.int("y", 0, 1, initial=0) == 1)
    d.compile().write_jani(files / "lamp.jani")
    assert "[certificate-other-task]" in surefoot("check", file).err


BAD_FILES = {
    "no JSON": ("nonsense", "json-syntax"),
    "no certificate": ('{"surefoot": "0.1.0", "command": "decide"}', "not-a-certificate"),
    "another version": ('{"certificate": 2}', "certificate-version"),
    "odd options": (
        '{"certificate": 1, "task": {"name": "m", "sha256": "", "source": "m.jani", '
        '"options": {"goal": 3}}}',
        "not-a-certificate",
    ),
    "no such model": (
        '{"certificate": 1, "task": {"name": "m", "sha256": "", "source": "m.jani", '
        '"options": {}}}',
        "file-not-found",
    ),
    "no source": (
        '{"certificate": 1, "task": {"name": "m", "sha256": "", "source": null, "options": {}}}',
        "certificate-no-task",
    ),
}


@pytest.mark.parametrize("text, code", BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(surefoot: Surefoot, tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "c.json").write_text(text)
    done = surefoot("check", "c.json", "--json")
    assert done.code == 2
    assert done.document["error"]["code"] == code


def test_missing_file(surefoot: Surefoot) -> None:
    done = surefoot("check", "nothing.json")
    assert done.code == 2
    assert "[file-not-found]" in done.err


# -- finding the task --------------------------------------------------------------------------


def test_paths_start_here_or_beside_the_certificate(
    surefoot: Surefoot, decide: Decide, files: Path
) -> None:
    file = decide("lamp.jani", "--state", "x=0")
    assert surefoot("check", file).code == 0
    (files / "lamp.jani").rename(files / "kept" / "lamp.jani")
    assert surefoot("check", file).code == 0
    (files / "kept" / "lamp.jani").unlink()
    done = surefoot("check", file)
    assert "lamp.jani: there is no such file" in done.err
    assert f"hint: give the task: surefoot check {file} TASK" in done.err


def test_options_of_the_task_come_along(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    goal = {"op": "=", "left": "x", "right": 2}
    (files / "goal.jani").write_text(json.dumps(goal))
    file = decide("lamp.jani", "--goal", "goal.jani", "--state", "x=2")
    content = json.loads((files / file).read_text())
    assert content["task"]["options"] == {"goal": "goal.jani"}
    assert surefoot("check", file).code == 0
    assert "[certificate-other-task]" in surefoot("check", file, "lamp.jani").err
    assert surefoot("check", file, "lamp.jani", "--goal", "goal.jani").code == 0
    (files / "goal.jani").rename(files / "aim.jani")
    assert surefoot("check", file, "--goal", "aim.jani").code == 0


def test_no_code_is_run_unless_the_user_names_it(
    surefoot: Surefoot, decide: Decide, files: Path
) -> None:
    file = decide("tasks.py:lamp", "--state", "x=0")
    (files / "tasks.py").write_text("raise SystemExit('this was run')")
    done = surefoot("check", file)
    assert done.code == 2
    assert "[certificate-runs-code]" in done.err
    assert "this was run" not in done.err
    assert f"surefoot check {file} tasks.py:lamp" in done.err
    assert "[python-error]" in surefoot("check", file, "tasks.py:lamp").err


def test_task_of_a_python_file(surefoot: Surefoot, decide: Decide) -> None:
    file = decide("tasks.py:lamp", "--state", "x=0")
    assert surefoot("check", file, "tasks.py:lamp").code == 0
    assert "[certificate-other-task]" in surefoot("check", file, "tasks.py:leaves").err
    file = decide("tasks.py:Counter")
    done = surefoot("check", file, "tasks.py:Counter")
    assert done.code == 0
    assert "Python code defines the task" in done.out
    assert "[certificate-other-task]" in surefoot("check", file, "tasks.py:lamp").err


def test_names_in_certificates_are_harmless(
    surefoot: Surefoot, decide: Decide, files: Path
) -> None:
    file = decide("lamp.jani", "--state", "x=0")
    evil = "x.py:\x1b[2J$(touch hurt)"
    name = changed(files, file, lambda c: c["task"].update(source=evil))
    done = surefoot("check", name)
    assert "\x1b" not in done.err + done.out
    assert "'x.py:\\x1b[2J$(touch hurt)'" in done.err
    name = changed(files, file, lambda c: c["task"].update(source="\x1b[2J.jani"))
    assert "\x1b" not in surefoot("check", name).err
    name = changed(files, file, lambda c: c["variables"].__setitem__(0, "\x1b[2J"))
    assert "\x1b" not in surefoot("check", name).err


# -- policies ----------------------------------------------------------------------------------


def test_decisions_are_recomputed(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    file = decide("lamp.jani", "--state", "x=0", "--radius", "1", "--policy", "first")
    done = surefoot("check", file)
    assert done.out.startswith("accepted: unsafe within 1 difference from first: x=0 (")
    document = surefoot("check", file, "--json").document
    assert (document["recomputed"], document["radius"]) == (True, 1)
    assert document["policy"]["name"] == "first"
    done = surefoot("check", file, "--policy", "policies.py:down")
    assert done.code == 5
    assert "the policy decides" in done.err


def test_seed_of_random_is_in_the_name(surefoot: Surefoot, decide: Decide) -> None:
    arguments = ("--radius", "1", "--policy", "random", "--seed", "5")
    file = decide("lamp.jani", "--state", "x=0", *arguments)
    done = surefoot("check", file)
    assert done.code == 0
    assert "from random?seed=5" in done.out


def test_policy_of_a_python_file(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    policy = ("--policy", "policies.py:down")
    file = decide("lamp.jani", "--state", "x=2", "--radius", "0", *policy)
    done = surefoot("check", file)
    assert done.code == 0
    assert "decisions are those of the certificate; --policy recomputes them" in done.out
    done = surefoot("check", file, *policy)
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert surefoot("check", file, "--policy", "policies.py:up").code == 5


def test_table(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    table = [{"state": {"x": x}, "action": "down" if x else "up"} for x in range(3)]
    text = "".join(json.dumps(each) + "\n" for each in table)
    (files / "table.jsonl").write_text(text)
    file = decide("lamp.jani", "--state", "x=0", "--radius", "0", "--policy", "table.jsonl")
    assert surefoot("check", file, "--json").document["recomputed"] is True
    (files / "table.jsonl").write_text(text.replace('1}, "action": "down"', '1}, "action": "up"'))
    assert surefoot("check", file).code == 5
    (files / "table.jsonl").unlink()
    assert surefoot("check", file, "--json").document["recomputed"] is False
    done = surefoot("check", file)
    assert done.code == 0
    assert "; decisions not recomputed: table.jsonl is not there)" in done.out.splitlines()[0]
    name = changed(files, file, lambda c: c.update(policy="frist"))
    assert 'not recomputed: there is no policy "frist")' in surefoot("check", name).out


def test_certificates_without_policy_take_none(surefoot: Surefoot, decide: Decide) -> None:
    done = surefoot("check", decide("lamp.jani", "--state", "x=0"), "--policy", "first")
    assert done.code == 2
    assert "about no policy" in done.err


def test_deviations_without_number(surefoot: Surefoot, decide: Decide, files: Path) -> None:
    arguments = ("lamp.jani", "--state", "x=1", "--policy", "first", "--deviations")
    done = surefoot("decide", *arguments, "-o", "kept", "--json")
    (row,) = done.document["states"]
    assert (row["verdict"], row["deviations"]) == ("safe", "inf")
    (file,) = row["deviations_certificates"]
    done = surefoot("check", file)
    assert done.code == 0
    assert "unsafe within every finite number of differences from first: x=1" in done.out


# -- findings ----------------------------------------------------------------------------------


@pytest.fixture
def finding(surefoot: Surefoot, files: Path) -> str:
    """A finding of ``first`` on the lamp: going up from 2 may fail."""
    arguments = ("lamp.jani", "--policy", "first", "--runs", "3", "-o", "found", "--json")
    return str(surefoot("faults", *arguments).document["faults"][0]["finding"])


def test_findings(surefoot: Surefoot, finding: str) -> None:
    done = surefoot("check", finding)
    assert (done.code, done.err) == (0, "")
    text = "accepted: fault: up in x=2; safe alternative: down (the policy fails after "
    assert done.out.startswith(text)
    assert "; 2 certificates checked in " in done.out
    document = surefoot("check", finding, "--json").document
    assert (document["accepted"], document["kind"]) == (True, "fault")
    assert document["policy"] == {"name": "first", "sha256": None}
    assert (document["state"], document["outcome"]) == ({"x": 2}, {"x": 3})
    assert (document["alternatives"], document["recomputed"]) == (["down"], True)
    assert document["certificates"] == 2


def test_findings_and_certificates_together(
    surefoot: Surefoot, decide: Decide, finding: str
) -> None:
    safe = decide("lamp.jani", "--state", "x=0")
    done = surefoot("check", safe, finding)
    assert (done.code, done.err) == (0, "")
    assert [line.split(": ")[1:3] for line in done.out.splitlines()] == [
        ["accepted", "safe"],
        ["accepted", "fault"],
    ]


FORGERIES = {
    "a state": lambda c: c["run"]["states"][0].__setitem__(0, 1),
    "an action": lambda c: c["run"]["actions"].__setitem__(0, "down"),
    "a step": lambda c: c["fault"].update(step=0),
    "the outcome": lambda c: c["fault"].update(outcome=[2]),
    "the alternatives": lambda c: c["fault"].update(alternatives=["up"]),
    "the certificate": lambda c: c["certificates"]["outcome"]["ranks"].pop(),
    "a choice": lambda c: c["certificates"]["alternatives"]["down"]["choices"].pop(),
    "the kind": lambda c: c.update(kind="run"),
    "reachable": lambda c: c["run"].update(known_reachable=None) or c["run"].pop("made", 0),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_forged_findings(
    surefoot: Surefoot, finding: str, files: Path, forge: Callable[[Any], Any]
) -> None:
    done = surefoot("check", changed(files, finding, forge), "--json")
    assert done.code in (2, 5)
    code = done.document["error"]["code"]
    assert code == ("certificate-rejected" if done.code == 5 else "not-a-finding")


def test_findings_of_other_tasks_and_policies(
    surefoot: Surefoot, finding: str, files: Path
) -> None:
    for other in ("down", "up"):  # no hash is none that matches, whatever it decides
        done = surefoot("check", finding, "--policy", f"policies.py:{other}")
        assert (done.code, "[finding-other-policy]" in done.err) == (5, True)
        assert "it names no SHA-256, but the policy has one" in done.err
    done = surefoot("check", finding, "--policy", "random")
    assert (done.code, "[finding-other-policy]" in done.err) == (2, True)
    assert 'about the policy "first", not about the policy "random"' in done.err
    other = description()
    other.goal(other.int("y", 0, 1, initial=0) == 1)
    other.compile().write_jani(files / "lamp.jani")
    done = surefoot("check", finding)
    assert (done.code, "[certificate-other-task]" in done.err) == (2, True)


def test_a_finding_of_python_code_is_known_by_its_hash(surefoot: Surefoot, files: Path) -> None:
    policy = ("--policy", "policies.py:up")
    arguments = ("faults", "lamp.jani", *policy, "--runs", "3", "-o", "found", "--json")
    file = str(surefoot(*arguments).document["faults"][0]["finding"])
    assert surefoot("check", file, *policy).code == 0
    forged = changed(files, file, lambda c: c["policy"].update(sha256=None))
    done = surefoot("check", forged, *policy)
    assert (done.code, "[finding-other-policy]" in done.err) == (5, True)
    (files / "policies.py").write_text(POLICIES + "# changed\n")
    assert surefoot("check", file, *policy).code == 2


def test_the_answer_names_the_policy_that_was_asked(
    surefoot: Surefoot, decide: Decide, files: Path
) -> None:
    file = decide("lamp.jani", "--state", "x=0", "--radius", "1", "--policy", "first")
    forged = changed(files, file, lambda c: c.update(policy="best.onnx"))
    done = surefoot("check", forged, "--policy", "first")
    assert done.out.startswith("accepted: unsafe within 1 difference from first: x=0 (")
    document = surefoot("check", forged, "--policy", "first", "--json").document
    assert document["policy"]["name"] == "first"


def test_findings_out_of_time(surefoot: Surefoot, finding: str) -> None:
    done = surefoot("check", finding, "--max-seconds", "0")
    assert (done.code, done.out) == (4, "")
    assert "[out-of-seconds]" in done.err
