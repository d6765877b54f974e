"""The fixture ``policy_check``, as other people's tests see it: pytest in its own process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = """
from surefoot import Description

def walk(first, last, top=4):
    task = Description("walk")
    x = task.int("x", 0, top, initial=1)
    task.edge("up", guard=x < top, outcomes=[{x: x + 1}])
    task.edge("down", guard=(x > 0) & (x < 3), outcomes=[{x: x - 1}])
    task.start((x >= first) & (x <= last))
    task.fail(x == top)
    return task.compile()

TASK = walk(0, 2)
LOST = walk(3, 3)
MIXED = walk(2, 3)
down = lambda state: "down" if state["x"] == 2 else "up"
"""


def run_pytest(folder, test, *more, tasks=TASKS):
    (folder / "tasks.py").write_text(tasks)
    (folder / "test_it.py").write_text(f"from tasks import *\n\n{test}")
    where = ["--rootdir", str(folder), "--basetemp", str(folder / "temporary")]
    plugins = ["-p", "no:cacheprovider", "-p", "surefoot.pytest_plugin"]
    # With CI set, pytest's summary repeats whole messages.
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    ours = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", *plugins, *where, *more, "test_it.py"],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
        check=False,
        env={**ours, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": path}
        | {"PYTEST_ADDOPTS": "", "COLUMNS": "200"},
    )


def failed(folder, call):
    """Return what pytest prints for a check that fails."""
    done = run_pytest(folder, f"def test_policy(policy_check):\n    {call}\n")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout
    return done.stdout


def with_corpus(folder, name=".surefoot"):
    """Put the fault of ``first`` on the walk into a corpus."""
    code = (
        "from tasks import TASK\n"
        "from surefoot import corpus, find_faults, finding_of, fuzz\n"
        "from surefoot.policies import as_policy\n"
        "policy = as_policy('first', TASK)\n"
        "(fault,) = find_faults(TASK, policy, fuzz(TASK, policy, runs=50).failing).faults\n"
        f"corpus.add(finding_of(TASK, policy, fault), policy, folder={name!r})\n"
    )
    (folder / "tasks.py").write_text(TASKS)
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, timeout=120)


def test_replays_the_corpus_first(tmp_path):
    with_corpus(tmp_path)
    test = "def test_policy(policy_check):\n    print(policy_check(TASK, {}))\n"
    done = run_pytest(tmp_path, test.format("'first', runs=1, starts=[{'x': 2}]"))
    assert "1 of 1 finding of the corpus fails; 1 fault, this is the smallest" in done.stdout
    assert "fault: up in x=2\n" in done.stdout
    assert "surefoot faults" not in done.stdout  # fuzzing did not find it
    done = run_pytest(tmp_path, test.format("'first', runs=1, starts=[{'x': 0}]"))
    assert "of the corpus" not in done.stdout
    done = run_pytest(tmp_path, test.format("down, runs=9"))
    assert "no fault in 9 runs, 3 distinct and 1 of the corpus; " in done.stdout, done.stdout
    done = run_pytest(tmp_path, test.format("down, runs=9"), "--surefoot-corpus", "none")
    assert "no fault in 9 runs, 3 distinct; " in done.stdout


def test_the_corpus_that_is_named(tmp_path):
    with_corpus(tmp_path, "kept")
    test = "def test_policy(policy_check):\n    print(policy_check(TASK, down, runs=9))\n"
    assert "no fault in 9 runs, 3 distinct; " in run_pytest(tmp_path, test).stdout
    named = run_pytest(tmp_path, test, "--surefoot-corpus", "kept")
    assert "no fault in 9 runs, 3 distinct and 1 of the corpus; " in named.stdout
    (tmp_path / "pytest.ini").write_text("[pytest]\nsurefoot_corpus = kept\n")
    assert (
        "no fault in 9 runs, 3 distinct and 1 of the corpus; " in run_pytest(tmp_path, test).stdout
    )
    off = run_pytest(tmp_path, test, "--surefoot-corpus", "none")
    assert "no fault in 9 runs, 3 distinct; " in off.stdout


def finding_in(text):
    (line,) = [line for line in text.splitlines() if line.strip().startswith("finding, ")]
    return Path(line.split(": ", 1)[1])


def test_fails_with_the_smallest_fault(tmp_path):
    text = failed(tmp_path, "policy_check(TASK, 'first', runs=50)")
    assert "policy first has a fault, on walk" in text
    assert "fault: up in x=2\n    may lead to x=3, which is unsafe\n" in text
    assert "safe alternative: down\n" in text
    assert "run of 2 steps:\n    0  x=2  up\n    1  x=3  up\n    2  x=4  fails\n" in text
    assert "seed 0; 1 fault, this is the smallest" in text
    assert "Traceback" not in text and "pytest_plugin.py" not in text
    assert "finding, checked: " in text
    file = finding_in(text)
    assert file.is_relative_to(tmp_path / "temporary")
    content = json.loads(file.read_text())
    assert (content["kind"], content["fault"]["action"]) == ("fault", "up")
    assert "to see it again" not in text  # this task is in no file


def test_tells_how_to_see_it_again(tmp_path):
    line = "domain:one-way-line?packages=1&locations=6"
    text = failed(tmp_path, f"policy_check({line!r}, 'random', runs=30, seed=5, bias='uniform')")
    replay, faults = [one.strip() for one in text.splitlines() if "  surefoot " in one]
    assert faults.startswith(f"surefoot faults '{line}' --policy 'random?seed=5' --runs 30")
    assert faults.endswith("--seed 5 --bias uniform")
    assert replay.startswith(f"surefoot replay {finding_in(text)} ")
    for command, code in ((faults, 1), (replay, 1)):
        done = subprocess.run(
            command.replace("surefoot", f"{sys.executable} -m surefoot", 1),
            shell=True,
            capture_output=True,
            cwd=tmp_path,
            check=False,
        )
        assert done.returncode == code, (command, done.stderr)


def test_passes_with_a_summary(tmp_path):
    test = """def test_policy(policy_check):
    found = policy_check(TASK, down, runs=20)
    assert (found.task, found.runs, found.verdict, found.unavoidable) == ("walk", 20, None, 0)
    assert str(found).startswith("no fault in 20 runs, 3 distinct; ")
    print("SUMMARY", found)
"""
    done = run_pytest(tmp_path, test)
    assert done.returncode == 0, done.stdout
    assert "SUMMARY no fault in 20 runs, 3 distinct; " in done.stdout
    assert "1 passed" in done.stdout


def test_unsafe_starts_have_other_words_and_can_be_allowed(tmp_path):
    text = failed(tmp_path, "policy_check(LOST, 'first', runs=3)")
    assert "no policy could surely avoid it" in text
    assert "unsafe start state: x=3\n" in text
    assert "allow_unavoidable=True" in text
    assert "fault:" not in text
    assert finding_in(text).name == "run.json"
    test = """def test_policy(policy_check):
    found = policy_check(LOST, 'first', runs=3, allow_unavoidable=True)
    assert found.unavoidable == 3
    assert "3 failing ones allowed" in str(found)
"""
    assert run_pytest(tmp_path, test).returncode == 0


def test_a_fault_counts_even_if_unsafe_starts_are_allowed(tmp_path):
    text = failed(tmp_path, "policy_check(MIXED, 'first', runs=50, allow_unavoidable=True)")
    assert "fault: up in x=2\n" in text


def test_starts_can_be_given(tmp_path):
    text = failed(tmp_path, "policy_check(TASK, 'first', starts=[{'x': 1}], runs=1)")
    assert "fault: up in x=2\n" in text
    assert "surefoot faults" not in text  # which has no starts
    test = "def test_policy(policy_check):\n    policy_check(TASK, down, starts=[{'x': 0}])\n"
    assert run_pytest(tmp_path, test).returncode == 0


def test_what_stays_unknown_fails_unless_allowed(tmp_path):
    for starts in ("", "starts=[{'x': 0}], "):
        text = failed(tmp_path, f"policy_check(TASK, down, {starts}runs=1000, max_seconds=0)")
        assert "is not known to be safe, on walk\n  fuzzing" in text
        assert "allow_unknown=True" in text
    call = "policy_check(TASK, down, runs=1000, max_seconds=0, allow_unknown=True)"
    done = run_pytest(tmp_path, f"def test_policy(policy_check):\n    {call}\n")
    assert done.returncode == 0, done.stdout


def test_verify_proves_more_than_runs_show(tmp_path):
    pytest.importorskip("surefoot.verify.certificate")
    call = "policy_check(TASK, 'first', starts=[{'x': 0}], runs=1, max_steps=1, verify=True)"
    text = failed(tmp_path, call)
    assert "found by verification" in text
    assert "fault: up in x=2\n" in text
    test = """def test_policy(policy_check):
    assert policy_check(TASK, down, runs=1, verify=True).verdict == "safe"
"""
    done = run_pytest(tmp_path, test)
    assert done.returncode == 0, done.stdout


def test_bad_input_is_an_error_and_not_a_fault(tmp_path):
    for call in ("policy_check(TASK, 'first', rnus=3)", "policy_check('no.jani', 'first')"):
        done = run_pytest(tmp_path, f"def test_policy(policy_check):\n    {call}\n")
        assert done.returncode == 1
        assert "InputError" in done.stdout
        assert "has a fault" not in done.stdout


def test_costs_nothing_where_it_is_not_used(tmp_path):
    test = "import sys\ndef test_other():\n    print('LOADED', sorted(sys.modules))\n"
    done = run_pytest(tmp_path, test, tasks="")
    assert done.returncode == 0
    (loaded,) = [line for line in done.stdout.splitlines() if line.startswith("LOADED")]
    ours = [name for name in eval(loaded.removeprefix("LOADED ")) if "surefoot" in name]
    assert ours == ["surefoot", "surefoot.lazy", "surefoot.pytest_plugin"]
    assert "'numpy'" not in loaded


def test_it_is_installed_as_a_plug_in():
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["entry-points"]["pytest11"] == {"surefoot": "surefoot.pytest_plugin"}


EIGHTEEN = """
from surefoot import Description

d = Description("eighteen")
x = d.int("x", 0, 9, initial=0)
d.edge("go", guard=x < 8, outcomes=[{x: x + 1}, {x: x + 2}])
d.edge("stop", guard=x == 7, outcomes=[{x: 8}])
d.goal(x == 8)
d.fail(x == 9)
TASK = d.compile()
"""


def test_the_default_finds_what_greedy_runs_never_see(tmp_path):
    call = """
def test_default(policy_check):
    policy_check(TASK, "first")

def test_greedy(policy_check):
    print(policy_check(TASK, "first", bias="greedy"))
"""
    done = run_pytest(tmp_path, call, tasks=EIGHTEEN)
    assert "1 failed, 1 passed" in done.stdout, done.stdout
    assert "fault: go in x=7" in done.stdout
    assert "no fault in 1,000 runs, 1 distinct: fuzzing saw one behaviour; " in done.stdout
