"""Methods side by side in processes: what is handed over, who wins, and that nobody is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from surefoot import Description, InputError, load_task
from surefoot.jobs import Job
from surefoot.options import VerifyOptions
from surefoot.policies import as_policy, load_policy
from surefoot.policies.models import Trees
from surefoot.policies.writing import write_policy
from surefoot.verify import children, verify
from surefoot.verify.children import can_be_written, verify_side_by_side
from surefoot.verify.question import Question

STAGES = "tests.support.job_stages"


def a_question(**options):
    """Return the question of a small line, on which the shipped policy fails."""
    task = load_task("domain:two-way-line?packages=2&locations=6&variant=icy")
    policy = load_policy("builtin:two-way-line-icy-trees", task)
    return Question(task, policy, VerifyOptions(**options), None, False)


@pytest.fixture
def instead(monkeypatch, tmp_path):
    """Let other stages run in place of methods: ``instead(method=(stage, options))``."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(children, "GRACE_SECONDS", 0.2)
    real = children.job_of

    def use(**stages):
        def job_of(question, method, **more):
            if method not in stages:
                return real(question, method, **more)
            name, options = stages[method]
            return Job(f"{STAGES}:{name}", options=options)

        monkeypatch.setattr(children, "job_of", job_of)

    yield use
    assert not list(tmp_path.glob("surefoot-*"))


def sleeping(folder):
    """Return a stage that writes its process number there, and sleeps."""
    return "sleeps", {"pids": str(folder / "pid")}


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def pid_of(folder):
    """Return the number of the process that sleeps."""
    file = folder / "pid"
    for _ in range(1000):
        if file.exists() and file.read_text():
            return int(file.read_text().split()[0])
        time.sleep(0.02)
    raise AssertionError("the process did not begin")


def test_the_same_comes_out_as_in_this_process():
    question = a_question()
    here = verify(question.task, question.policy, method="explicit", runs=3)
    options = VerifyOptions(runs=3)
    found, reports, unknown = verify_side_by_side(
        Question(question.task, question.policy, options, None, False), ["explicit"]
    )
    assert (found.verdict, found.method, found.states) == ("unsafe", "explicit", here.states)
    assert (found.run, found.others) == (here.run, here.others)
    assert [(one.method, one.verdict) for one in reports] == [("explicit", "unsafe")]
    assert unknown == []


@pytest.mark.parametrize(
    ("task", "policy"),
    [
        ("domain:beluga?size=4-2", "builtin:beluga-network"),
        ("domain:racetrack", "builtin:racetrack-trees"),
        ("domain:bouncing-ball", "builtin:bouncing-ball-trees"),
    ],
)
def test_tasks_and_policies_are_read_as_what_they_were(task, policy):
    loaded = load_task(task)
    who = load_policy(policy, loaded)
    how = VerifyOptions(starts=20, max_states=5_000)
    here = verify(loaded, who, options=how, method="explicit")
    found, _, unknown = verify_side_by_side(Question(loaded, who, how, None, False), ["explicit"])
    there = found if found is not None else unknown[0]
    assert (there.verdict, there.states, there.run) == (here.verdict, here.states, here.run)


@pytest.mark.skipif(find_spec("pysat") is None, reason="python-sat is not installed")
@pytest.mark.parametrize("place", ["file", True])
def test_certificates_are_about_the_task_and_the_policy_as_they_were_given(tmp_path, place):
    task = lamp()
    write_policy(careful(task), tmp_path / "careful.json")
    policy = load_policy(str(tmp_path / "careful.json"), task)
    file = tmp_path / "c.jsonl" if place == "file" else True
    question = Question(task, policy, VerifyOptions(max_seconds=50), None, file)
    found, _, _ = verify_side_by_side(question, ["ic3"])
    assert (found.verdict, found.method) == ("safe", "ic3")
    assert found.certificate.task is task and found.certificate.policy is policy
    assert place is True or found.certificate.path == file
    head = json.loads(found.certificate.path.read_text().splitlines()[0])
    assert head["task"]["name"] == "lamp"
    assert head["policy"]["name"] == str(tmp_path / "careful.json")
    assert head["policy"]["sha256"] == policy.sha256
    found.certificate.check()


def lamp():
    d = Description("lamp")
    x = d.int("x", 0, 9)
    d.edge("up", guard=x < 9, outcomes=[{x: x + 1}])
    d.edge("down", guard=x > 0, outcomes=[{x: x - 1}])
    d.start(x <= 1)
    d.fail(x >= 8)
    return d.compile()


def careful(task):
    """Return a tree that goes up below 5, and down from there on."""
    model = Trees(
        num_inputs=1,
        num_outputs=2,
        roots=np.array([0, 3], dtype=np.int32),
        features=np.array([0, -1, -1, -1], dtype=np.int32),
        thresholds=np.array([5.0, 0, 0, 0]),
        left=np.array([1, 0, 0, 1], dtype=np.int32),
        right=np.array([2, 0, 0, 1], dtype=np.int32),
        values=np.array([0.0, 1.0, -1.0, 0.0]),
        base=np.zeros(2),
        input_precision="float32",
        sum_precision="float32",
    )
    return as_policy(model, task)


def test_the_first_verdict_wins_and_the_others_are_stopped(instead, tmp_path):
    instead(slow=sleeping(tmp_path))
    found, reports, _ = verify_side_by_side(a_question(), ["slow", "explicit"])
    assert found.verdict == "unsafe"
    assert [(one.method, one.verdict) for one in reports] == [
        ("explicit", "unsafe"),
        ("slow", "unknown"),
    ]
    assert (reports[1].reason, reports[1].code) == (
        "stopped: another method was faster",
        "other-method-faster",
    )
    if (tmp_path / "pid").exists():
        assert not is_alive(pid_of(tmp_path))
    assert not list(tmp_path.glob("surefoot-*"))


def test_time_limit(instead, tmp_path):
    instead(slow=sleeping(tmp_path))
    found, reports, _ = verify_side_by_side(a_question(max_seconds=1), ["slow"])
    assert found is None
    assert (reports[0].reason, reports[0].code) == ("ran out of seconds (1)", "out-of-seconds")
    if (tmp_path / "pid").exists():
        assert not is_alive(pid_of(tmp_path))


def test_memory_limit_is_shared(instead):
    instead(large=("eats", {"bytes": 400_000_000}), small=("dies", {}))
    if not Path("/proc/self/statm").exists():
        pytest.skip("nobody tells how large a process is")
    found, reports, _ = verify_side_by_side(a_question(memory_mb=200), ["large", "small"])
    assert found is None
    reasons = {one.method: (one.reason, one.code) for one in reports}
    assert reasons["large"] == ("ran out of memory (100 MB)", "out-of-memory")
    instead(large=("fails", {"kind": "memory"}))
    _, reports, _ = verify_side_by_side(a_question(memory_mb=200), ["large"])
    assert (reports[0].reason, reports[0].code) == ("ran out of memory (200 MB)", "out-of-memory")


def test_interruption_leaves_no_process(instead, tmp_path):
    instead(slow=sleeping(tmp_path))
    heard = []

    def stop(*numbers):
        heard.append(numbers)
        raise KeyboardInterrupt

    question = replace(a_question(), progress=stop, watch=heard.append)
    with pytest.raises(KeyboardInterrupt):
        verify_side_by_side(question, ["slow"])
    assert heard == ["slow", (7, 2, 3, 0, 0.5)]
    assert not is_alive(pid_of(tmp_path))


PARENT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from pathlib import Path
from surefoot.jobs import Job
from surefoot.verify import children
from tests.unit.verify.test_children import STAGES, a_question, sleeping
name, options = sleeping(Path(sys.argv[2]))
children.job_of = lambda question, method, **more: Job(f"{STAGES}:{name}", options=options)
children.verify_side_by_side(a_question(), ["slow"])
"""


def test_processes_end_when_their_parent_is_killed(tmp_path):
    root = str(Path(__file__).parents[3])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps([root, *sys.path]), str(tmp_path)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        pid = pid_of(tmp_path)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    for _ in range(500):
        if not is_alive(pid):
            break
        time.sleep(0.02)
    else:
        os.kill(pid, signal.SIGKILL)
        raise AssertionError("the process is still there")
    assert not list(tmp_path.glob("surefoot-*"))


def test_a_process_that_breaks_is_noted(instead):
    instead(broken=("fails", {"kind": "bug"}), silent=("dies", {}))
    found, reports, _ = verify_side_by_side(a_question(), ["broken"])
    assert found is None
    assert reports[0].reason == "it broke off (ValueError: odd \\x1b[1m number)"
    assert reports[0].code == "broken"
    _, reports, _ = verify_side_by_side(a_question(), ["silent"])
    assert reports[0].reason == "it broke off (exit code 3)"


@pytest.mark.parametrize("kind", ["unsupported", "budget"])
def test_what_a_method_lacks_is_noted(instead, kind):
    instead(odd=("fails", {"kind": kind}))
    found, reports, _ = verify_side_by_side(a_question(), ["odd"])
    assert found is None
    assert (reports[0].reason, reports[0].code) == ("a message", "some-code")


def test_errors_of_the_input_are_raised(instead):
    instead(odd=("fails", {"kind": "input"}))
    with pytest.raises(InputError) as error:
        verify_side_by_side(a_question(), ["odd"])
    assert (error.value.code, error.value.hint) == ("some-code", "h")


def test_what_can_be_handed_over():
    question = a_question()
    assert can_be_written(question)
    without = Question(
        question.task, load_policy("first", question.task), question.options, None, False
    )
    assert not can_be_written(without)
