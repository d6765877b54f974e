"""A campaign out of time keeps what it repaired, and goes on when it gets more time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.walk import TRACKS, always_go, walk

import surefoot.loop.stages as stages
from surefoot import evaluate
from surefoot.campaign import debug, read_campaign, resume
from surefoot.campaign.store import DirectoryStore
from surefoot.loop import MemoryStore
from surefoot.records import DebugResult, Iteration
from surefoot.records.lines import RepairLine

QUICK: dict[str, Any] = {"keep": 50, "seed": 1}
LATE = 10_000.0


def out_of_time_after(monkeypatch: pytest.MonkeyPatch, store: type, kind: type) -> None:
    """Let all time be used up as soon as there is a line of this kind."""
    real = store.seconds.fget  # type: ignore[attr-defined]  # it is a property

    def seconds(self: Any) -> float:
        is_late = any(isinstance(line, kind) for line in self.lines)
        return LATE if is_late else float(real(self))

    monkeypatch.setattr(store, "seconds", property(seconds))


def cut_short(folder: Path, **changes: Any) -> DebugResult:
    """Return how a campaign ended that had time for one repair only."""
    task = walk()
    with pytest.MonkeyPatch.context() as patch:
        out_of_time_after(patch, DirectoryStore, RepairLine)
        return debug(task, always_go(task), directory=folder, **QUICK, **changes)


def kinds(folder: Path) -> list[str]:
    lines = (folder / "journal.jsonl").read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def test_out_of_time_the_last_repair_is_evaluated_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_time_after(monkeypatch, MemoryStore, RepairLine)
    task = walk()
    result = debug(task, always_go(task), **QUICK)
    assert (result.outcome, result.reason) == ("improved", "ran out of seconds")
    assert (result.before.unsafe_fraction, result.after.unsafe_fraction) == (0.5, 0.0)
    assert evaluate(task, result.policy).unsafe == 0


def test_a_repair_that_is_no_better_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_time_after(monkeypatch, MemoryStore, RepairLine)
    monkeypatch.setattr("surefoot.loop.deciding.is_better", lambda after, before: False)
    task = walk()
    policy = always_go(task)
    result = debug(task, policy, **QUICK)
    assert (result.outcome, result.reason) == ("unknown", "ran out of seconds")
    assert result.policy.sha256 == policy.sha256
    assert result.after.unsafe == result.before.unsafe


def test_more_time_goes_on_where_it_ended(tmp_path: Path) -> None:
    cut_short(tmp_path / "campaign")
    assert read_campaign(tmp_path / "campaign").lacks_time
    result = resume(tmp_path / "campaign", walk(), max_seconds=60)
    task = walk()
    whole = debug(task, always_go(task), directory=tmp_path / "whole", **QUICK)
    assert result.outcome == whole.outcome == "safe"
    assert result.policy.sha256 == whole.policy.sha256
    assert [one.new_faults for one in result.iterations] == [
        one.new_faults for one in whole.iterations
    ]
    assert kinds(tmp_path / "campaign").count("extend") == 1
    campaign = read_campaign(tmp_path / "campaign")
    assert (campaign.state, campaign.outcome) == ("finished", "safe")
    assert campaign.max_seconds == pytest.approx(LATE + 60, abs=5)


def test_without_more_time_it_is_shown_again(tmp_path: Path) -> None:
    before = cut_short(tmp_path)
    assert resume(tmp_path, walk()).outcome == before.outcome == "improved"
    assert "extend" not in kinds(tmp_path)


def test_more_time_is_of_no_use_to_a_campaign_that_has_ended_otherwise(tmp_path: Path) -> None:
    task = walk()
    debug(task, always_go(task), directory=tmp_path, **QUICK)
    assert resume(tmp_path, walk(), max_seconds=60).outcome == "safe"
    assert "extend" not in kinds(tmp_path)


def test_an_extended_campaign_may_be_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_short(tmp_path)
    real = stages.looked

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(stages, "looked", interrupted)
    with pytest.raises(KeyboardInterrupt):
        resume(tmp_path, walk(), max_seconds=60)
    campaign = read_campaign(tmp_path)
    assert (campaign.state, campaign.outcome) == ("interrupted", None)
    assert campaign.to_dict()["after"] is None
    monkeypatch.setattr(stages, "looked", real)
    assert resume(tmp_path, walk()).outcome == "safe"


def test_a_stage_that_time_cut_short_is_done_again(tmp_path: Path) -> None:
    """Here no failing run was looked at: with more time they all are."""
    task = walk()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "ANALYSIS_SHARE", 0.0)
        patch.setattr(stages, "find_suspects", lambda *_, **__: [])
        first = debug(task, always_go(task), directory=tmp_path, **QUICK)
    assert "ran out of seconds" in first.reason
    result = resume(tmp_path, walk(), max_seconds=60)
    assert result.outcome == "safe"
    assert len(result.faults) == TRACKS // 2


# -- rounds are told once ----------------------------------------------------------------------


def test_a_round_is_told_once_where_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    out_of_time_after(monkeypatch, MemoryStore, RepairLine)
    rounds: list[Iteration] = []
    task = walk()
    result = debug(task, always_go(task), progress=rounds.append, **QUICK)
    assert [one.iteration for one in rounds] == [1]
    assert list(result.iterations) == rounds


def test_a_round_that_was_interrupted_is_told_once_by_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    task = walk()
    first: list[Iteration] = []
    with monkeypatch.context() as patch:
        patch.setattr(stages, "repaired", interrupted)
        with pytest.raises(KeyboardInterrupt):
            debug(task, always_go(task), directory=tmp_path, progress=first.append, **QUICK)
    rounds: list[Iteration] = []
    result = resume(tmp_path, walk(), progress=rounds.append)
    assert first == []
    assert list(result.iterations) == rounds
