"""What can be read on a terminal that is not wide, and where there is none."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from surefoot.cli import progress as progress_module
from surefoot.cli.debug_text import COLUMNS, head_lines, row_lines, shown_columns
from surefoot.cli.progress import Progress, Signs, signs_of_life
from tests.cli.conftest import Surefoot
from tests.support.campaigns import iteration
from tests.support.terminal import Screen, run_in_terminal
from tests.support.walk import written

DEBUG = ("debug", "slow.py:walk", "--policy", "go.json", "--keep", "50", "-o", "out")
SLOW = """
import time
import surefoot.campaign.running as running
from surefoot.loop import stages
from surefoot import load_task

time.sleep(2.5)
looked = stages.looked

def slowly(analysis, starts):
    analysis.stage.watch.note("a note that is longer than any terminal is wide, " * 5)
    time.sleep(1.0)
    return looked(analysis, starts)

stages.looked = slowly
walk = load_task("walk.jani").description
"""
HEADS = {
    80: "iteration  failing    new  faults  trees  changed",
    110: "iteration  failing    new  faults  trees  changed    fuzz  faults  repair  verify",
}


@pytest.mark.slow
@pytest.mark.parametrize("columns", HEADS)
def test_rows_are_whole_although_a_line_moves(tmp_path: Path, columns: int) -> None:
    written(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    screen = run_in_terminal(DEBUG, folder=tmp_path, columns=columns)
    lines = screen.lines
    head = lines.index(HEADS[columns])
    first, last = lines[head + 1], lines[head + 2]
    assert first.split()[:4] == ["1", "6", "6", "6"]
    assert last.split()[:4] == ["2", "0", "0", "6"]
    assert last.endswith("  verified: safe")
    assert max(len(first), len(last)) <= columns
    assert any(line.endswith(".json") and "checked: out/findings/fault-" in line for line in lines)
    end = "safe: no run fails from any of the 12 start states; the policy reaches 48 states"
    assert end in lines
    assert "a note that is longer" in screen.ever
    assert not any("a note" in line for line in lines)


@pytest.mark.slow
def test_quiet_shows_no_moving_line(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    screen = run_in_terminal((*DEBUG, "--quiet"), folder=tmp_path, columns=80)
    assert "a note" not in screen.ever
    assert any(line.endswith("  verified: safe") for line in screen.lines)


# -- columns -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [30, 60, 69, 80, 100, 110, 125, 200])
def test_columns_go_by_rank(width: int) -> None:
    shown = shown_columns(width)
    left_out = [column for column in COLUMNS if column not in shown]
    assert all(column.rank is not None for column in left_out)
    ranks = [column.rank for column in shown if column.rank is not None]
    assert all(rank > (gone.rank or 0) for rank in ranks for gone in left_out)
    rows = [*head_lines(width), *row_lines(iteration(1, 3, 7, suspects=0), width)]
    assert max(map(len, rows)) <= max(width, 33 + len("  verified: unknown"))


def test_what_does_not_fit_beside_the_verdict_goes_below() -> None:
    told = iteration(1, 3, 7, verdict="unknown", suspects=1_000_000)
    row, more = row_lines(told, 80)
    assert row.endswith("  verified: unknown")
    assert more.strip() == "1,000,000 suspects"
    (row,) = row_lines(told)
    assert row.endswith("  verified: unknown  1,000,000 suspects")


def test_all_columns_where_there_is_no_terminal() -> None:
    assert shown_columns(None) == COLUMNS


# -- signs of life -----------------------------------------------------------------------------


def test_a_plain_line_a_minute_at_most(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a command has several parts, each of which would show itself."""
    monkeypatch.setattr(progress_module, "FIRST_SECONDS", 0.02)
    with signs_of_life(Signs()):
        for part in ("reading", "looking"):
            with Progress(part):
                time.sleep(0.2)
    assert capsys.readouterr().err == "reading, 0 s\n"
    monkeypatch.setattr(progress_module, "PLAIN_SECONDS", 0.05)
    with signs_of_life(Signs()), Progress("reading"):
        time.sleep(0.3)
    assert capsys.readouterr().err.count("reading, 0 s\n") > 1


def test_quiet_is_for_every_command(surefoot: Surefoot) -> None:
    done = surefoot("explore", "tasks.py:Slow", "--max-seconds", "2.5", "--quiet")
    assert done.code == 4
    assert done.err.startswith("cut: ")
    assert "--quiet" in surefoot("--help").out


def test_lines_written_over_lines_are_gone() -> None:
    """The screen of these tests is one."""
    screen = Screen(10)
    screen.write("one\r\n0123456789ab\r\nnow\r\x1b[2Kthen\r\n\x1b[1mbold\x1b[0m")
    assert screen.lines == ["one", "0123456789ab", "then", "bold"]
    assert screen.wrapped == 1
    screen.write("\r\x1b[2K\x1b[1A\x1b[2K")
    assert screen.lines[-2:] == ["", ""]
