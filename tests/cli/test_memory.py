"""``--memory-mb`` bounds what a command and its children hold."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from surefoot.cli.deadline import Deadline
from surefoot.cli.memory import GRACE_MB, Memory, used_mb
from surefoot.errors import OutOfBudget
from surefoot.options import ExploreOptions
from tests.support.program import environment

LINE = "domain:one-way-line?size=15-10"
COMMANDS = {
    "explore": ("explore", LINE),
    "verify": ("verify", LINE, "--policy", "first", "--method", "explicit"),
    "side by side": ("verify", LINE, "--policy", "builtin:one-way-line-trees"),
}
MEGABYTES = 250
HOLDS = "import time; kept = bytearray(200_000_000); print(flush=True); time.sleep(60)"


def is_told() -> bool:
    return used_mb() > 0


pytestmark = pytest.mark.skipif(not is_told(), reason="this system does not tell")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_holds_more_than_it_may(command: str) -> None:
    words = (*COMMANDS[command], "--memory-mb", str(MEGABYTES), "--max-seconds", "20")
    with subprocess.Popen(
        [sys.executable, "-m", "surefoot", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as child:
        before = used_mb()
        peak = 0.0
        while child.poll() is None:
            peak = max(peak, used_mb() - before)
            time.sleep(0.02)
    assert peak <= 1.25 * MEGABYTES


def test_children_count() -> None:
    before = used_mb()
    with subprocess.Popen([sys.executable, "-c", HOLDS], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        child.stdout.readline()
        assert 200 <= used_mb() - before <= 300
        child.kill()


def test_what_holds_too_much_is_interrupted() -> None:
    begin = time.monotonic()
    with pytest.raises(OutOfBudget, match=r"ran out of memory \(1 MB\) keeping") as error:
        _keep_all()
    assert error.value.code == "out-of-memory"
    assert time.monotonic() - begin < 20


def _keep_all() -> None:
    with Deadline(60.0, 1).enforced("keeping"):
        kept = bytearray(int(2 * GRACE_MB * 1e6))
        time.sleep(30)
        del kept


def test_a_little_that_python_holds_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """So the same seed stores as many states everywhere."""
    monkeypatch.setattr("surefoot.cli.memory.used_mb", lambda: 100.0)
    assert Memory(4096).for_states(4096) == 4096
    assert Memory(300).for_states(300) == 200
    assert Memory(150).for_states(150) == 75
    assert Memory(0).for_states(0) == 0
    assert Deadline(60.0, 300).within(ExploreOptions(memory_mb=300)).memory_mb == 200
    assert Deadline(60.0).within(ExploreOptions(memory_mb=300)).memory_mb == 300
