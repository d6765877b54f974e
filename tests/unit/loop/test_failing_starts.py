"""Start states that verification knows to fail: drawn within bounds, and fuzzed."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from tests.support.walk import always_go, walk

import surefoot.loop.stages as stages
from surefoot import Description, PythonTask, load_task
from surefoot.campaign import debug
from surefoot.errors import InputError
from surefoot.loop.lines import failing_starts_of
from surefoot.loop.starts import Starts, starts_within
from surefoot.records import VerifyResult
from surefoot.records.lines import VerifyLine, line_from


def drawn(task: Any, bounds: Any, count: int = 200, seed: int = 0) -> list[Any]:
    found = [task.unpack(packed) for packed in starts_within(task, bounds, count, seed=seed)]
    assert all(map(task.is_start, found))
    for state in found:
        assert all(lo <= v <= hi for v, (lo, hi) in zip(state.values(), bounds, strict=True))
    return found


def whole_range(task: Any) -> dict[str, tuple[Any, Any]]:
    return {v.name: (v.lower, v.upper) for v in task.variables}


def test_lines_where_the_loads_sum_to_the_packages() -> None:
    task = load_task("domain:one-way-line?packages=30&locations=20&variant=icy")
    bounds = {**whole_range(task), "location_load_0": (7, 8), "location_load_1": (20, 20)}
    found = drawn(task, list(bounds.values()))
    assert len(found) > 5
    assert {state["location_load_0"] for state in found} == {7, 8}


def test_all_of_them_if_there_are_few() -> None:
    task = load_task("domain:one-way-line?packages=3&locations=4")
    everything = set(task.list_starts())
    assert set(drawn(task, list(whole_range(task).values()), 2_000)) == everything
    bounds = {**whole_range(task), "location_load_1": (3, 3)}
    wanted = {state for state in everything if state["location_load_1"] == 3}
    assert set(drawn(task, list(bounds.values()), 2_000)) == wanted != set()


def test_the_same_seed_draws_the_same() -> None:
    task = load_task("domain:one-way-line?packages=15&locations=10")
    bounds = list(whole_range(task).values())
    first, again, other = (drawn(task, bounds, 5, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_listed_start_states() -> None:
    task = walk()
    bounds = {**whole_range(task), "track": (2, 5)}
    found = drawn(task, list(bounds.values()))
    assert {state["track"] for state in found} == {2, 3, 4, 5}
    assert len(drawn(task, list(bounds.values()), 2)) == 2


def test_booleans_reals_and_cells() -> None:
    d = Description("mixed")
    on, x = d.bool("on"), d.real("x", 0.0, 8.0)
    cells = d.array("cells", "int", 2, 0, 5)
    d.start((x >= 1.0) & (cells[0] + cells[1] == 5) & (on | (x >= 2.0)))
    task = d.compile()
    bounds = {**whole_range(task), "on": (False, False), "x": (1.5, 2.5), "cells[1]": (4, 5)}
    found = drawn(task, list(bounds.values()), 20)
    assert len(found) == 20
    assert all(2.0 <= state["x"] <= 2.5 for state in found)
    free = {**bounds, "on": (False, True)}
    assert {state["on"] for state in drawn(task, list(free.values()), 50)} == {False, True}


def test_initial_values_are_start_states() -> None:
    d = Description("partly")
    d.int("x", 0, 9, initial=3)
    d.int("y", 0, 9)
    task = d.compile()
    found = drawn(task, [(0, 9), (2, 4)])
    assert {(state["x"], state["y"]) for state in found} == {(3, 2), (3, 3), (3, 4)}


def test_nothing_within_the_bounds() -> None:
    task = load_task("domain:one-way-line?packages=3&locations=4")
    bounds = {**whole_range(task), "location_load_0": (3, 3), "location_load_1": (3, 3)}
    assert drawn(task, list(bounds.values())) == []


def test_python_code_has_no_bounds() -> None:
    class Still:
        def start(self) -> list[tuple[int]]:
            return [(0,)]

        def actions(self, state: Any) -> list[str]:
            return []

        def outcomes(self, state: Any, action: str) -> list[Any]:
            return []

        def is_goal(self, state: Any) -> bool:
            return False

        def is_fail(self, state: Any) -> bool:
            return False

    assert starts_within(PythonTask(Still()), [(0, 0)], 5, seed=0) == ()


# -- in the loop -------------------------------------------------------------------------------


def test_they_are_fuzzed_when_verification_finds_a_failing_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With one run of verification alone there would be a round for each track."""
    module = import_module("surefoot.verify")
    real, fuzzed, calls = module.verify, stages.fuzzed, []

    def one_run(task: Any, policy: Any, **how: Any) -> VerifyResult:
        found = real(task, policy, **how)
        bounds = tuple((v.lower, v.upper) for v in task.variables)
        failing = bounds if found.verdict == "unsafe" else None
        return replace(found, others=(), failing_starts=failing)

    def counting(policy: Any, starts: Any, stage: Any) -> Any:
        calls.append(len(starts))
        return fuzzed(policy, starts, stage)

    monkeypatch.setattr(module, "verify", one_run)
    monkeypatch.setattr(stages, "fuzzed", counting)
    monkeypatch.setattr("surefoot.loop.performing.more_starts", lambda *_, **__: ())
    task = walk()
    result = debug(task, always_go(task), starts=3, evaluate_starts=2, keep=50, seed=1)
    assert result.outcome == "safe"
    assert max(calls) > 3
    verified = [one for one in result.iterations if one.verdict == "unsafe"]
    assert sum(one.new_faults for one in verified) > len(verified)


def test_evaluation_stays_on_other_start_states() -> None:
    starts = Starts((b"a",), (b"b", b"c"), are_all=False, disjoint=True, sha256="")
    assert starts.not_evaluated([b"a", b"b", b"d"]) == (b"a", b"d")
    assert replace(starts, disjoint=False).not_evaluated([b"b"]) == (b"b",)


def verdict_line(bounds: Any) -> VerifyLine:
    result = {
        "verdict": "unsafe",
        "method": "box",
        "starts": 0,
        "all_starts": True,
        "states": 0,
        "depth": 1,
        "reason": None,
        "failing_starts": bounds,
    }
    line = line_from(
        {
            "kind": "verify",
            "iteration": 1,
            "result": result,
            "certificate": None,
            "checked": None,
            "why_unchecked": None,
            "seconds": {},
        }
    )
    assert isinstance(line, VerifyLine)
    return line


@pytest.mark.parametrize("bad", [3, [[0, 1]], [[0, 1], [0]], [[0, 1], ["a", 2]], [1, 2]], ids=str)
def test_bounds_of_a_stranger(bad: Any) -> None:
    with pytest.raises(InputError, match="not a line of a campaign") as error:
        failing_starts_of(verdict_line(bad), ("x", "y"))
    assert str(error.value.place).startswith("/result/failing_starts")


def test_bounds_of_a_line() -> None:
    line = verdict_line([[0, 1], [False, True]])
    assert failing_starts_of(line, ("x", "y")) == [(0, 1), (False, True)]
    assert failing_starts_of(verdict_line(None), ("x", "y")) is None
