"""Precautions: decisions that no run comes to are repaired where boxes get stuck with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.hand_trees import hand_trees

import surefoot.loop.precautions as precautions
import surefoot.loop.stages as stages
from surefoot import Description, verify
from surefoot.campaign import debug, resume
from surefoot.errors import InputError
from surefoot.loop.starts import make_starts
from surefoot.options import DebugOptions
from surefoot.records import DebugResult
from surefoot.tasks.compiled_task import Task
from surefoot.verify.box import find_bad_states

LAST = 128
ODD = LAST - 3
FEW_BOXES = 500  # it takes more to prove that always to go is safe
QUICK: dict[str, Any] = {"starts": 20, "evaluate_starts": 20, "keep": 50, "verify": "box"}


def steps(*, odd_start: bool = False) -> Task:
    """Return a task with even places only, as boxes do not see; going is fatal on odd ones. With
    ``odd_start`` there is one more start state, from which runs come to the last odd places.
    """
    d = Description("steps")
    x, down = d.int("x", 0, LAST + 1), d.int("down", 0, 1)
    is_open = (x < LAST) & (down == 0)
    d.edge("go", guard=is_open & (x % 2 == 0), outcomes=[{x: x + 2}])
    d.edge("go", guard=is_open & (x % 2 == 1), outcomes=[{down: 1}])
    d.edge("turn", guard=is_open, outcomes=[{x: x + 2}])
    places = [*range(0, LAST, 2), *([ODD] if odd_start else [])]
    d.start(*({"x": place, "down": 0} for place in places))
    d.goal(x >= LAST)
    d.fail(down == 1)
    return d.compile()


def always_go(task: Task) -> Any:
    return hand_trees(task, [("go", 1.0), ("turn", 0.0)])


def debugged(task: Task, **changes: Any) -> DebugResult:
    return debug(task, always_go(task), **{**QUICK, **changes})


def cut_after(directory: Path, what: str) -> None:
    """Leave nothing of a campaign but what it had after the first such line."""
    journal = directory / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    known = [json.loads(line) for line in lines]
    is_it = [what in (line["kind"], line.get("from")) for line in known]
    journal.write_bytes(b"".join(lines[: is_it.index(True) + 1]))
    (directory / "result.json").unlink()


@pytest.fixture
def few_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precautions, "MAX_BOXES", FEW_BOXES)


def test_bad_states_are_those_that_boxes_cannot_rule_out() -> None:
    task = steps()
    policy = always_go(task)
    assert verify(task, policy, method="explicit").verdict == "safe"
    found = find_bad_states(task, policy, max_boxes=FEW_BOXES, max_states=10, max_seconds=60)
    places = [state["x"] for state in task.unpack_all(found[0])]
    assert (len(places), found[1]) == (10, False)
    assert all(place % 2 == 1 for place in places)
    again = find_bad_states(task, policy, max_boxes=FEW_BOXES, max_states=10, max_seconds=30)
    assert again == found


def test_no_bad_states_where_boxes_decide() -> None:
    task = steps()
    policy = always_go(task)
    how = {"max_boxes": 10**6, "max_states": 10, "max_seconds": 60}
    assert find_bad_states(task, policy, **how) == (b"", False)


@pytest.mark.usefixtures("few_boxes")
def test_decisions_that_no_run_comes_to_are_repaired() -> None:
    task = steps()
    result = debugged(task)
    assert result.outcome == "safe"
    first = result.iterations[0]
    assert (first.unsafe_runs, first.verdict, first.policy is None) == (0, None, False)
    assert first.suspects > 0
    assert (result.faults, result.iterations[-1].faults) == ((), 0)
    unseen = [{"x": place, "down": 0} for place in range(1, LAST, 2)]
    assert set(always_go(task).decide_all(unseen)) == {"go"}
    assert result.policy.decide_all(unseen).count("turn") >= first.suspects


@pytest.mark.usefixtures("few_boxes")
def test_they_can_be_left_out() -> None:
    result = debugged(steps(), precautions=0)
    assert (result.outcome, len(result.iterations)) == ("safe", 1)
    assert result.iterations[0].suspects == 0


@pytest.mark.usefixtures("few_boxes")
def test_they_are_so_many_at_most() -> None:
    result = debugged(steps(), precautions=1)
    assert result.outcome == "safe"
    assert [one.suspects > 0 for one in result.iterations] == [True, False]


def contradictory(*_: Any) -> Any:
    raise InputError("contradictory-faults", "two faults have the same inputs")


@pytest.mark.usefixtures("few_boxes")
def test_it_goes_on_without_them_where_they_cannot_be_repaired(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    task, directory = steps(), tmp_path / "campaign"
    with monkeypatch.context() as patch:
        patch.setattr(stages, "repaired", contradictory)
        result = debugged(task, directory=directory)
    assert (result.outcome, len(result.iterations)) == ("safe", 1)
    assert result.iterations[0].policy is None
    cut_after(directory, "verify")
    again = resume(directory, task)
    assert (again.outcome, len(again.iterations)) == ("safe", 1)


@pytest.mark.usefixtures("few_boxes")
def test_what_a_failing_run_shows_is_repaired_with_them() -> None:
    """One start state is odd: boxes find the run from there, and others that are like it."""
    result = debugged(steps(odd_start=True))
    assert result.outcome == "safe"
    first = next(one for one in result.iterations if one.verdict == "unsafe")
    assert first.new_faults > 0
    assert first.suspects > 0


@pytest.mark.usefixtures("few_boxes")
def test_what_a_failing_run_shows_is_repaired_without_them_if_need_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = stages.repaired

    def only_faults(policy: Any, faults: Any, *more: Any) -> Any:
        places = {fault.state["x"] for fault in faults}
        return contradictory() if places - {ODD, ODD + 2} else real(policy, faults, *more)

    monkeypatch.setattr(stages, "repaired", only_faults)
    task, directory = steps(odd_start=True), tmp_path / "campaign"
    result = debugged(task, directory=directory)
    assert result.outcome == "safe"
    assert [one.suspects > 0 for one in result.iterations] == [True, False]
    assert result.iterations[0].new_faults > 0
    cut_after(directory, "repair")
    again = resume(directory, task)
    assert again.policy.sha256 == result.policy.sha256
    assert [one.suspects > 0 for one in again.iterations] == [True, False]


@pytest.mark.usefixtures("few_boxes")
def test_there_are_none_where_all_states_can_be_listed() -> None:
    result = debugged(steps(), verify="auto")
    assert (result.outcome, result.iterations[0].suspects) == ("safe", 0)


@pytest.mark.parametrize("verify_by", ["explicit", "ic3", "none"])
def test_they_are_for_boxes(verify_by: str) -> None:
    task = steps()
    how = DebugOptions(starts=20, evaluate_starts=20, verify=verify_by)
    starts = make_starts(task, how, max_seconds=10)
    assert not precautions.are_possible(always_go(task), starts, how)
    for_boxes = DebugOptions(starts=20, evaluate_starts=20)
    assert precautions.are_possible(always_go(task), starts, for_boxes)
    everything = make_starts(task, DebugOptions(), max_seconds=10)
    assert not precautions.are_possible(always_go(task), everything, DebugOptions())


@pytest.mark.usefixtures("few_boxes")
def test_a_campaign_that_was_interrupted_ends_in_the_same_way(tmp_path: Path) -> None:
    task, directory = steps(), tmp_path / "campaign"
    whole = debugged(task, directory=directory)
    cut_after(directory, "boxes")
    again = resume(directory, task)
    assert [one.suspects for one in again.iterations] == [one.suspects for one in whole.iterations]
    assert again.policy.sha256 == whole.policy.sha256
    assert again.outcome == "safe"
