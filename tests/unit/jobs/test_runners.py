"""Runners of jobs: events, results, errors, limits, and that nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.job_stages import HOME

from surefoot.errors import InputError, OutOfBudget, Unsupported
from surefoot.jobs import (
    Done,
    Failed,
    Found,
    Here,
    Job,
    JobBroken,
    JobCancelled,
    Limits,
    Note,
    Processes,
    Progress,
    wait,
)
from surefoot.jobs.events import event_of, line_of
from surefoot.jobs.processes import PROGRAM, _Process

RUNNERS = {"here": Here, "processes": Processes, "isolated": lambda: Processes(is_isolated=True)}


def job(name, *, files=None, **options):
    return Job(f"{HOME}:{name}", options=options, files=files or {})


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """Scratch folders are made in a folder of the test, and all are gone at its end."""
    root = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, *sys.path]))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield tmp_path
    assert not list(tmp_path.glob("*surefoot-*"))


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pids_in(file):
    for _ in range(1000):
        if file.exists() and file.read_text().endswith("\n"):
            return [int(word) for word in file.read_text().split()]
        time.sleep(0.02)
    raise AssertionError("the job did not begin")


def gone(pids):
    for _ in range(250):
        if not any(is_alive(pid) for pid in pids if pid):
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("runner", RUNNERS)
def test_events_come_in_order_and_rubbish_is_not_among_them(runner):
    with RUNNERS[runner]() as jobs:
        heard = []
        result = wait(jobs.submit(job("echo", files={"more": b"\0\1"}, runs=3)), heard.append)
    assert heard[0] == Note("begins")
    assert heard[1] == Progress("echo", {"states": 3, "share": 0.1}, 0.25)
    assert [event.content["number"] for event in heard[2:7]] == list(range(5))
    assert heard[7] == Done(result.content, result.files) and len(heard) == 8
    assert result.files == {"bytes": bytes(range(256)) + b"\0\1"}
    assert result.content["options"] == {"runs": 3}


def test_the_same_bytes_here_and_in_a_process():
    lines = []
    for make in (Here, lambda: Here(in_threads=False), Processes):
        with make() as jobs:
            running = jobs.submit(job("echo", a=[1, None, "ä"], b=1e-300))
            running.result()
            lines.append([line_of(event) for event in running.events()])
    assert lines[0] == lines[1] == lines[2] and len(lines[0]) == 8


def test_every_event_has_one_form():
    events = [
        Progress("fuzz", {"runs": 3}, 0.5, "m"),
        Found("run", {"steps": 3}),
        Note("n"),
        Done({"a": [1]}, {"f": b"\0"}),
        Failed("input", "c", "m"),
    ]
    for event in events:
        line = line_of(event)
        assert line.count(b"\n") == 1 and event_of(line) == event
        assert json.loads(line)["type"] == type(event).__name__.lower()
    for bad in (b"{}", b"[1]", b'{"type": "note"}', b'{"type": "note", "text": "", "more": 1}'):
        with pytest.raises(ValueError):
            event_of(bad)
    with pytest.raises(ValueError):
        event_of(b'{"type": "failed", "kind": "odd", "code": "c", "message": "m"}')


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize(
    ("kind", "error"),
    [("input", InputError), ("unsupported", Unsupported), ("budget", OutOfBudget)],
)
def test_errors_come_back_as_what_they_were(runner, kind, error):
    with RUNNERS[runner]() as jobs, pytest.raises(error) as caught:
        jobs.submit(job("fails", kind=kind)).result()
    assert type(caught.value) is error
    told = {"code": "some-code", "message": "a message", "file": "f", "place": "/p", "hint": "h"}
    assert caught.value.to_dict() == told


@pytest.mark.parametrize("runner", RUNNERS)
def test_no_memory_is_a_budget(runner):
    with RUNNERS[runner]() as jobs, pytest.raises(OutOfBudget) as caught:
        jobs.submit(job("fails", kind="memory")).result()
    assert caught.value.code == "out-of-memory"


@pytest.mark.parametrize("runner", RUNNERS)
@pytest.mark.parametrize("kind", ["bug", "exit"])
def test_bugs_are_reported(runner, kind):
    with RUNNERS[runner]() as jobs, pytest.raises(JobBroken, match=r"ValueError: (odd|it exits)"):
        jobs.submit(job("fails", kind=kind)).result()


def test_unknown_stages_are_named():
    with Here() as jobs, pytest.raises(InputError) as caught:
        jobs.submit(Job("fuzzz")).result()
    assert caught.value.code == "unknown-stage" and "stages are" in caught.value.hint


def test_two_jobs_side_by_side(tmp_path):
    with Processes() as jobs:
        slow = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")))
        quick = jobs.submit(job("echo"))
        assert quick.result().content["x"] == 0.1 + 0.2
        (pid, _) = pids_in(tmp_path / "pids")
        assert not slow.is_done()
        slow.cancel()
        assert slow.is_done() and not is_alive(pid)
        with pytest.raises(JobCancelled):
            slow.result()


def test_cancel_here(tmp_path):
    with Here() as jobs:
        running = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")))
        pids_in(tmp_path / "pids")
        running.cancel()
        with pytest.raises(JobCancelled):
            running.result()


def test_what_a_job_started_ends_with_it(tmp_path):
    with Processes() as jobs:
        running = jobs.submit(job("sleeps", pids=str(tmp_path / "pids"), fork=True))
        pids = pids_in(tmp_path / "pids")
        assert all(map(is_alive, pids))
        running.cancel()
        assert gone(pids)


def test_a_listener_that_is_interrupted_ends_the_job(tmp_path):
    def stop(event):
        raise KeyboardInterrupt

    with Processes() as jobs:
        running = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")))
        with pytest.raises(KeyboardInterrupt):
            wait(running, stop)
        assert gone(pids_in(tmp_path / "pids"))


@pytest.mark.parametrize("runner", ["processes", "isolated"])
def test_limit_of_seconds(runner, tmp_path):
    with RUNNERS[runner]() as jobs:
        running = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")), Limits(max_seconds=1.5))
        with pytest.raises(OutOfBudget) as caught:
            running.result()
        assert caught.value.code == "out-of-seconds"
        assert gone(pids_in(tmp_path / "pids"))


@pytest.mark.parametrize("runner", ["processes", "isolated"])
def test_limit_of_memory(runner):
    if not Path("/proc/self/statm").exists():
        pytest.skip("nobody tells how large a process is")
    with RUNNERS[runner]() as jobs, pytest.raises(OutOfBudget) as caught:
        jobs.submit(job("eats", bytes=900_000_000), Limits(memory_mb=500)).result()
    assert caught.value.code == "out-of-memory"


def test_an_answer_that_is_too_large_is_broken():
    with Processes() as jobs, pytest.raises(JobBroken):
        jobs.submit(job("echo"), Limits(max_answer_bytes=300)).result()


def test_a_killed_worker_is_reported_and_the_others_go_on(tmp_path):
    with Processes() as jobs:
        killed = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")))
        other = jobs.submit(job("echo"))
        os.kill(pids_in(tmp_path / "pids")[0], signal.SIGKILL)
        with pytest.raises(JobBroken, match="exit code -9"):
            killed.result()
        assert other.result().files
        with pytest.raises(JobBroken, match="exit code 3"):
            jobs.submit(job("dies")).result()


def test_threads_that_ask_for_one_result_all_get_it(monkeypatch):
    real = _Process._read

    def late(self):
        while self._process.poll() is None:
            time.sleep(0.02)
        time.sleep(0.5)
        real(self)

    monkeypatch.setattr(_Process, "_read", late)
    with Processes() as jobs, ThreadPoolExecutor(4) as threads:
        running = jobs.submit(job("echo"))
        results = [threads.submit(running.result) for _ in range(4)]
        assert all(each.result().files for each in results)


def test_events_that_are_asked_for_are_never_too_many(monkeypatch):
    monkeypatch.setattr("surefoot.jobs.processes.MAX_EVENTS", 3)
    with Processes() as jobs:
        assert wait(jobs.submit(job("ticks"))).content == {}
        with pytest.raises(JobBroken, match="too many events"):
            jobs.submit(job("echo")).result()


def test_rubbish_in_place_of_answers_is_reported():
    with Processes() as jobs, pytest.raises(JobBroken, match="not an event"):
        jobs.submit(job("forges")).result()


PARENT = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from surefoot.jobs import Processes
from tests.unit.jobs.test_runners import job
with Processes() as jobs:
    jobs.submit(job("sleeps", pids=sys.argv[2], fork=True)).result()
"""


def test_processes_and_folders_go_when_the_parent_is_killed(tmp_path):
    root = str(Path(__file__).parents[3])
    file = tmp_path / "pids"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, json.dumps([root, *sys.path]), str(file)],
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        pids = pids_in(file)
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    assert gone(pids)


@pytest.mark.parametrize("order", [b"", b'{"job": {"stage": "verify"'], ids=["none", "half"])
def test_a_worker_whose_parent_was_killed_before_the_order_takes_its_folder_along(tmp_path, order):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-c", PROGRAM, str(scratch)]
    done = subprocess.run(command, input=order, capture_output=True, start_new_session=True)
    assert (done.returncode != 0, done.stderr) == (True, b"")
    assert not scratch.exists()


def test_signals_of_the_terminal_do_not_reach_workers(tmp_path):
    with Processes() as jobs:
        running = jobs.submit(job("sleeps", pids=str(tmp_path / "pids")))
        (pid, _) = pids_in(tmp_path / "pids")
        assert os.getpgid(pid) == pid != os.getpgid(0)
        running.cancel()
