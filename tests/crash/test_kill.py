"""``kill -9`` at random moments of a campaign, full disks, and directories that cannot be written.

Fifty kills instead of a dozen: SUREFOOT_KILLS=50 pytest tests/crash.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surefoot.campaign import read_campaign
from tests.support.program import Finished, environment
from tests.support.walk import kept, written

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("SUREFOOT_KILLS", "12"))
DEBUG = ("debug", "walk.jani", "--policy", "go.json", "--starts", "3", "--keep", "50")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "surefoot", *arguments]


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(
    folder: Path,
    *arguments: str,
    prepare: Callable[[], Any] | None = None,
    before: tuple[str, ...] = (),
) -> Finished:
    done = subprocess.run(
        [*before, *command(*arguments)],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=prepare,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with task and policy, and the campaign ``whole`` that nobody interrupted."""
    folder = tmp_path_factory.mktemp("crash")
    written(folder)
    done = run(folder, *DEBUG, "-o", "whole")
    assert (done.code, "safe" in done.out) == (0, True), done.err
    return folder


def seconds_until(folder: Path, name: str) -> tuple[float, float]:
    """Return after how many seconds a campaign has begun, and after how many it is finished."""
    begin = time.monotonic()
    with started(folder, *DEBUG, "-o", name) as process:
        while not (folder / name / "campaign.json").exists() and process.poll() is None:
            time.sleep(0.005)
        begun = time.monotonic() - begin
        process.communicate()
    return begun, time.monotonic() - begin


def test_killed_at_random_moments(folder: Path) -> None:
    begun, ended = seconds_until(folder, "timed")
    rng = random.Random(KILLS)
    expected, kills, campaigns = kept(folder / "whole"), 0, 0
    while kills < KILLS:
        name = f"killed-{campaigns}"
        has_begun = (folder / name / "campaign.json").exists()
        arguments = ("resume", name) if has_begun else (*DEBUG, "-o", name)
        with started(folder, *arguments) as process:
            time.sleep(rng.uniform(begun * 0.8, ended))
            process.send_signal(signal.SIGKILL)
            _, errors = process.communicate()
        if process.returncode == -signal.SIGKILL:
            kills += 1
            if (folder / name / "campaign.json").exists():
                assert read_campaign(folder / name).state in ("interrupted", "finished")
            continue
        assert process.returncode == 0, errors
        assert kept(folder / name) == expected
        campaigns += 1
    name = f"killed-{campaigns}"
    has_begun = (folder / name / "campaign.json").exists()
    done = run(folder, *(("resume", name) if has_begun else (*DEBUG, "-o", name)))
    assert done.code == 0, done.err
    assert kept(folder / name) == expected


def test_a_second_process_is_refused(folder: Path) -> None:
    name = "busy"
    cut(folder, name, lines=2)
    with started(folder, "resume", name) as first:
        lock = folder / name / "lock"
        while lock.read_text() != f"{first.pid}\n" and first.poll() is None:
            time.sleep(0.005)
        first.send_signal(signal.SIGSTOP)
        try:
            done = run(folder, "resume", name)
            status = run(folder, "status", name)
        finally:
            first.send_signal(signal.SIGCONT)
        assert done.code == 2
        assert f"process {first.pid} is already working on the campaign" in done.err
        assert "[campaign-busy]" in done.err
        assert (status.code, "running" in status.out) == (0, True)
        first.communicate()
        assert first.returncode == 0
    assert kept(folder / name) == kept(folder / "whole")


def cut(folder: Path, name: str, *, lines: int) -> Path:
    """Make a campaign that was interrupted behind this many lines."""
    shutil.copytree(folder / "whole", folder / name)
    journal = folder / name / "journal.jsonl"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:lines]))
    (folder / name / "lock").write_text("")
    return folder / name


@pytest.mark.parametrize("size", [0, 300, 1_000, 2_500, 6_000])
def test_a_full_disk_loses_nothing(folder: Path, size: int) -> None:
    name = f"full-{size}"
    before = len((cut(folder, name, lines=2) / "journal.jsonl").read_bytes())

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (before + size, before + size))

    done = run(folder, "resume", name, prepare=limit)
    assert done.code == 2, done.err
    assert "cannot be written: File too large" in done.err
    assert "[file-not-written]" in done.err
    assert read_campaign(folder / name).state == "interrupted"
    again = run(folder, "resume", name)
    assert again.code == 0, again.err
    assert kept(folder / name) == kept(folder / "whole")


def test_a_full_disk_at_the_beginning(folder: Path) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))

    done = run(folder, *DEBUG, "-o", "never", prepare=limit)
    assert done.code == 2, done.err
    assert "[file-not-written]" in done.err
    assert run(folder, *DEBUG, "-o", "never").code == 0


POWERLESS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
"""root may write anywhere, unless it gives that up"""


@pytest.mark.skipif(
    os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root may write anywhere"
)
def test_a_directory_that_cannot_be_written(folder: Path) -> None:
    directory = cut(folder, "read-only", lines=3)
    folders = [directory, *(path for path in directory.iterdir() if path.is_dir())]
    before = POWERLESS if os.geteuid() == 0 else ()
    for path in folders:
        path.chmod(0o555)
    try:
        done = run(folder, "resume", "read-only", before=before)
        new = run(folder, *DEBUG, "-o", "read-only/new", before=before)
        status = run(folder, "status", "read-only", before=before)
    finally:
        for path in folders:
            path.chmod(0o755)
    for refused in (done, new):
        assert refused.code == 2, refused.err
        assert "[file-not-written]" in refused.err
    assert (status.code, "interrupted" in status.out) == (0, True)
    assert run(folder, "resume", "read-only").code == 0
    assert kept(directory) == kept(folder / "whole")


def test_a_place_where_nothing_can_be_written(folder: Path) -> None:
    done = run(folder, *DEBUG, "-o", "/proc/surefoot-campaign")
    assert done.code == 2
    assert "[file-not-written]" in done.err


def test_ctrl_c_says_how_to_go_on(folder: Path) -> None:
    name = "interrupted"
    with started(folder, *DEBUG, "-o", name) as process:
        while not (folder / name / "journal.jsonl").exists() and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate()
    if process.returncode == 0:
        pytest.skip("the campaign was faster than the signal")
    assert process.returncode == 130, errors
    assert f"the campaign is saved: surefoot resume {name} continues it" in errors
    assert read_campaign(folder / name).state in ("interrupted", "finished")
    assert run(folder, "resume", name).code == 0
    assert kept(folder / name) == kept(folder / "whole")
