"""One process at a time works on a campaign."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from surefoot.campaign.lock import is_locked, locked
from surefoot.errors import InputError

HOLD = """
import sys, time
from pathlib import Path
from surefoot.campaign.lock import locked
with locked(Path(sys.argv[1])):
    print("mine", flush=True)
    time.sleep(60)
"""


def test_a_second_one_is_refused_by_number(tmp_path: Path) -> None:
    with locked(tmp_path):
        assert is_locked(tmp_path)
        with pytest.raises(InputError, match=f"process {os.getpid()} is already working") as error:
            locked(tmp_path).__enter__()
        assert error.value.code == "campaign-busy"
    assert not is_locked(tmp_path)
    with locked(tmp_path):
        pass


def test_it_is_free_when_its_process_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "mine\n"
        with pytest.raises(InputError, match=f"process {other.pid} is already working"):
            locked(tmp_path).__enter__()
        other.kill()
        other.wait()
    with locked(tmp_path):
        assert is_locked(tmp_path)


def test_without_a_file_nobody_is_at_work(tmp_path: Path) -> None:
    assert not is_locked(tmp_path)
    assert not is_locked(tmp_path / "nowhere")


def test_a_lock_that_leads_elsewhere_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / "lock").symlink_to(victim)
    with pytest.raises(InputError):
        locked(folder).__enter__()
    assert victim.read_text() == "precious"
