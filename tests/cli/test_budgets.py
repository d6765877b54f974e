"""``--max-seconds`` bounds the whole of a command, whatever is hard about its task.

Each command is asked to do more than it has time for, and may take a tenth or two seconds longer
than it was given, whichever is more. A machine that does other things, too, gets a second try.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from surefoot.cli.app import app
from surefoot.cli.deadline import Deadline
from surefoot.errors import OutOfBudget
from tests.cli.conftest import Surefoot
from tests.support.program import environment, run_here

LINE = "domain:one-way-line?size=15-10"
TREES = (LINE, "--policy", "builtin:one-way-line-trees")
LONG = ("domain:one-way-line?size=20-10", "--policy", "random")
MANY = "1000000"
SECONDS = 2.0
WITHOUT_WORK = {"corpus", "schema", "status", "show"}
HARD: dict[str, tuple[str, ...]] = {
    "check": ("found/*.json",),
    "compare": (LINE, "builtin:one-way-line-trees", "random", "--runs", MANY),
    "convert": ("found/policy.json", "-o", "new.json"),
    "debug": (*TREES, "-o", "new"),
    "decide": (LINE, "--sample", "200"),
    "distill": (*TREES, "--runs", MANY, "-o", "new.json"),
    "doctor": (*TREES, "--samples", MANY),
    "domains": ("blocksworld?blocks=12",),
    "evaluate": (*LONG, "--starts", MANY),
    "explore": (LINE,),
    "export": ("found/*.json", "--shield", "shield.json"),
    "faults": (*TREES, "--runs", MANY),
    "fuzz": (*TREES, "--runs", MANY),
    "minimise": ("found/*0*.json", "-o", "new.json"),
    "repair": (*TREES, "--faults", "found", "--keep", MANY, "-o", "new.json"),
    "replay": ("found/*0*.json",),
    "report": ("campaign",),
    "resume": ("campaign",),
    "simulate": (*TREES, "--runs", MANY),
    "train": (LINE, "-o", "new.safetensors"),
    "verify": TREES,
}
NEEDS = {"train": "torch", "distill": "xgboost"}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with findings of the hard task and a campaign that has not got far."""
    folder = tmp_path_factory.mktemp("prepared")
    run = (*TREES, "--runs", "300", "--no-check", "--max-seconds", "20", "-o", "found")
    found = run_here(("faults", *run), folder=folder, env=environment())
    assert found.code == 1, found.err
    debug = (*TREES, "--max-seconds", "2", "-o", "campaign")
    run_here(("debug", *debug), folder=folder, env=environment())
    return folder


def expanded(folder: Path, words: tuple[str, ...]) -> Iterator[str]:
    for word in words:
        names = sorted(str(path.relative_to(folder)) for path in folder.glob(word))
        is_one = "0" in word
        yield from ((names[:1] if is_one else names) if "*" in word else [word])


def test_every_command_is_asked() -> None:
    commands = {name for name in app if not name.startswith("-")}
    assert commands == {*HARD, *WITHOUT_WORK}


@pytest.mark.slow
@pytest.mark.parametrize("command", HARD)
def test_no_command_takes_longer_than_it_may(command: str, prepared: Path, tmp_path: Path) -> None:
    pytest.importorskip(NEEDS.get(command, "surefoot"))
    most = max(0.1 * SECONDS, 2.0)
    over = _over(command, prepared, tmp_path / "first")
    if over > most:
        over = _over(command, prepared, tmp_path / "second")
    assert over <= most, f"{command} took {over:.1f} s longer than it may"


def _over(command: str, prepared: Path, folder: Path) -> float:
    """Return by how many seconds a command takes longer than it may."""
    shutil.copytree(prepared, folder)
    if command == "convert":
        from surefoot.policies import load_policy
        from surefoot.policies.writing import write_policy
        from surefoot.tasks import load_task

        write_policy(
            load_policy("builtin:one-way-line-trees", load_task(LINE)), folder / "found/policy.json"
        )
    words = tuple(expanded(folder, HARD[command]))
    begin = time.monotonic()
    done = run_here(
        (command, *words, "--max-seconds", str(SECONDS)), folder=folder, env=environment()
    )
    over = time.monotonic() - begin - SECONDS
    assert done.code in (0, 1, 4), done.err
    assert "internal error" not in done.err
    return over


# -- deadlines ---------------------------------------------------------------------------------


def test_work_that_does_not_look_at_the_clock_is_interrupted() -> None:
    begin = time.monotonic()
    told = pytest.raises(OutOfBudget, match=r"ran out of seconds \(0.1\) sleeping")
    with told as error, Deadline(0.1).enforced("sleeping"):
        time.sleep(30)
    assert error.value.exit_code == 4
    assert time.monotonic() - begin < 5


def test_work_that_swallows_the_interruption_is_interrupted_again() -> None:
    with pytest.raises(OutOfBudget), Deadline(0.0).enforced("sleeping"):
        _sleep_twice()


def _sleep_twice() -> None:
    with suppress(OutOfBudget):
        time.sleep(30)
    time.sleep(30)


def test_work_within_work_does_not_end_the_deadline_of_the_whole() -> None:
    begin = time.monotonic()
    with pytest.raises(OutOfBudget, match="outside"), Deadline(0.2).enforced("outside"):
        _sleep_inside()
    assert time.monotonic() - begin < 5


def _sleep_inside() -> None:
    with Deadline(100.0).enforced("inside"):
        time.sleep(0.1)
    time.sleep(30)


def test_checking_that_does_not_fit_is_left_out_and_said(surefoot: Surefoot) -> None:
    done = surefoot("faults", *TREES, "--runs", "300", "--max-seconds", "2", "--json")
    assert done.code == 1, done.err
    faults = done.document["faults"]
    assert all(isinstance(fault["checked"], bool) for fault in faults)


def test_decide_gives_each_state_its_own_time(surefoot: Surefoot) -> None:
    done = surefoot("decide", LINE, "--sample", "2", "--state-seconds", "0")
    assert done.code == 4, done.out
    assert "not enough for 2 states; raise --state-seconds" in done.err
    done = surefoot("decide", LINE, "--state-seconds", "-1")
    assert done.code == 2
    assert "--state-seconds must be a finite number of at least 0" in done.err
