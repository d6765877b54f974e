"""How the loop ends, and on which start states it works."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.support.walk import TRACKS, always_go, walk

import surefoot.loop.stages as stages
from surefoot import Description, evaluate, fuzz
from surefoot.campaign import debug
from surefoot.errors import InputError
from surefoot.faults import FaultFinder
from surefoot.loop.starts import evaluation_seed, make_starts, more_starts
from surefoot.options import DebugOptions
from surefoot.records import DebugResult, FaultsResult, Iteration, Unknown, VerifyResult

QUICK: dict[str, Any] = {"keep": 50, "seed": 1}


def debugged(*, doomed: bool = False, **changes: Any) -> DebugResult:
    task = walk(doomed=doomed)
    return debug(task, always_go(task), **{**QUICK, **changes})


# -- outcomes ----------------------------------------------------------------------------------


def test_safe_means_that_no_run_fails() -> None:
    rounds: list[Iteration] = []
    result = debugged(progress=rounds.append)
    assert result.outcome == "safe"
    assert (result.before.unsafe_fraction, result.after.unsafe_fraction) == (0.5, 0.0)
    task = result.policy.task
    assert evaluate(task, result.policy).unsafe == 0
    assert fuzz(task, result.policy, runs=200).counts.get("fail", 0) == 0
    assert list(result.iterations) == rounds
    assert rounds[-1].verdict == "safe"
    assert rounds[-1].faults == len(result.faults) == TRACKS // 2
    assert all(fault.alternatives == ("turn",) for fault in result.faults)


def test_a_failing_run_of_verification_is_repaired() -> None:
    result = debugged(starts=3)
    assert result.outcome == "safe"
    by_verification = [one for one in result.iterations if one.verdict == "unsafe"]
    assert by_verification
    assert all(one.new_faults > 0 and one.policy is not None for one in by_verification)
    assert all(one.unsafe_runs == 0 for one in by_verification)


def test_stopped_where_a_start_state_is_unsafe() -> None:
    result = debugged(doomed=True)
    assert result.outcome == "stopped"
    assert result.iterations[-1].unavoidable == 1
    assert result.after.unsafe == 1  # the others were repaired all the same
    assert len(result.faults) == TRACKS // 2 - 1
    assert result.verification is None


def test_stopped_where_verification_finds_the_unsafe_start_state() -> None:
    task = walk(doomed=True)
    seed = next(s for s in range(100) if 0 not in _tracks(task, seed=s, starts=3))
    result = debugged(doomed=True, starts=3, seed=seed)
    assert result.outcome == "stopped"
    assert result.iterations[-1].verdict == "unsafe"
    assert result.iterations[-1].unavoidable == 1


def _tracks(task: Any, **options: Any) -> set[int]:
    made = make_starts(task, DebugOptions(**options), max_seconds=10)
    return {task.unpack(packed)["track"] for packed in made.debugging}


def test_improved_without_verification() -> None:
    result = debugged(verify="none")
    assert (result.outcome, result.verification) == ("improved", None)
    assert result.after.unsafe == 0
    assert "not verified" in result.reason


def test_nothing_to_repair_is_verified_at_once() -> None:
    task = walk()
    good = debug(task, always_go(task), **QUICK).policy
    result = debug(task, good, **QUICK)
    assert (result.outcome, len(result.iterations), len(result.faults)) == ("safe", 1, 0)
    assert result.iterations[0].policy is None
    assert result.before.unsafe == result.after.unsafe == 0


def test_a_policy_without_failing_run_is_not_called_improved() -> None:
    task = walk()
    good = debug(task, always_go(task), **QUICK).policy
    assert debug(task, good, verify="none", **QUICK).outcome == "unknown"


def _unknown(task: Any, policy: Any, **_: Any) -> VerifyResult:
    return VerifyResult("unknown", "explicit", 3, False, 9, 1, 0.0, reason="states ran out")


def test_unknown_of_verification_is_never_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_module("surefoot.verify"), "verify", _unknown)
    result = debugged()
    assert result.outcome == "improved"
    assert "states ran out" in result.reason
    assert result.iterations[-1].verdict == "unknown"


@pytest.mark.parametrize("iterations", [0, 1])
def test_the_number_of_repairs_is_bounded(iterations: int) -> None:
    result = debugged(starts=3, iterations=iterations)
    repairs = [one for one in result.iterations if one.policy is not None]
    assert len(repairs) == iterations
    assert result.outcome in ("improved", "unknown")
    assert f"stopped after {iterations} repair" in result.reason


def test_no_time_at_all() -> None:
    result = debugged(max_seconds=0)
    assert (result.outcome, result.reason) == ("unknown", "ran out of seconds")
    assert result.iterations == ()
    assert result.before.unsafe == result.after.unsafe > 0


def test_contradictory_faults_end_it_with_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    real = stages.repaired

    def contradictory(original: Any, faults: Any, keep: Any, iteration: int, stage: Any) -> Any:
        if iteration > 1:
            raise InputError("contradictory-faults", "two faults have the same inputs")
        return real(original, faults, keep, iteration, stage)

    monkeypatch.setattr(stages, "repaired", contradictory)
    result = debugged(starts=3)
    assert result.outcome == "improved"
    assert result.reason == "repair: two faults have the same inputs"
    assert len([one for one in result.iterations if one.policy is not None]) == 1


def test_other_errors_of_repair_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise InputError("other", "something else")

    monkeypatch.setattr(stages, "repaired", broken)
    with pytest.raises(InputError, match="something else"):
        debugged()


def test_the_policy_with_fewest_failing_runs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A repair that makes everything worse must not be the result."""
    real, number = stages.fuzzed, 0

    def worse(policy: Any, starts: Any, stage: Any) -> Any:
        nonlocal number
        number += 1
        result = real(policy, starts, stage)
        if number > 1:
            object.__setattr__(result, "counts", {**result.counts, "fail": 1000})
        return result

    monkeypatch.setattr(stages, "fuzzed", worse)
    result = debugged(starts=3)
    assert result.outcome == "unknown"
    assert result.after.unsafe == result.before.unsafe


def test_undecided_runs_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FaultFinder.result

    def undecided(self: FaultFinder) -> FaultsResult:
        result = real(self)
        open_question = Unknown(result.bugs[0].state, "state", "seconds", 0, 0)
        return replace(result, faults=(), unknown=(open_question,), undecided=(0, 3))

    monkeypatch.setattr(FaultFinder, "result", undecided)
    monkeypatch.setattr(stages, "find_suspects", lambda *_, **__: [])
    result = debugged()
    assert result.outcome == "unknown"
    assert result.reason == "could not determine the faulty decision in 2 failing runs (seconds)"
    assert result.iterations[-1].undecided == 2


def test_an_analysis_that_was_cut_is_not_taken_for_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def cut(self: FaultFinder) -> FaultsResult:
        return FaultsResult((), (), (), 0, (), (), 0.0, stopped="memory")

    monkeypatch.setattr(FaultFinder, "result", cut)
    monkeypatch.setattr(stages, "find_suspects", lambda *_, **__: [])
    result = debugged()
    assert (result.outcome, result.verification) == ("unknown", None)
    assert "before all runs were examined" in result.reason


def test_suspects_are_repaired_where_no_fault_can_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = FaultFinder.result

    def undecided(self: FaultFinder) -> FaultsResult:
        result = real(self)
        if not result.runs:
            return result
        open_question = Unknown(result.bugs[0].state, "state", "seconds", 0, 0)
        numbers = tuple(range(result.runs))
        return replace(result, faults=(), unknown=(open_question,), undecided=numbers)

    monkeypatch.setattr(FaultFinder, "result", undecided)
    result = debugged()
    assert result.outcome == "safe"
    assert result.faults == ()
    assert sum(one.suspects for one in result.iterations) == TRACKS // 2
    assert result.after.unsafe == 0


# -- start states ------------------------------------------------------------------------------


def test_all_start_states_if_they_are_few() -> None:
    starts = make_starts(walk(), DebugOptions(starts=TRACKS), max_seconds=10)
    assert (len(starts.debugging), starts.are_all, starts.disjoint) == (TRACKS, True, False)
    assert starts.evaluation == starts.debugging


def test_evaluation_is_on_other_start_states() -> None:
    d = Description("many")
    x = d.int("x", 0, 10_000)
    d.edge("stay", outcomes=[{x: x}])
    d.start(x >= 0)
    d.fail(x == 5)
    task = d.compile()
    options = DebugOptions(starts=2_000, evaluate_starts=1_000, seed=3)
    starts = make_starts(task, options, max_seconds=10)
    assert 1_500 < len(starts.debugging) == len(set(starts.debugging)) <= 2_000
    assert 700 < len(starts.evaluation) < 1_000
    assert not set(starts.debugging) & set(starts.evaluation)
    assert (starts.are_all, starts.disjoint) == (False, True)
    assert make_starts(task, options, max_seconds=10) == starts
    assert make_starts(task, options, max_seconds=10, are_all=False) == starts


def test_seeds_of_the_two_sets_differ() -> None:
    seeds = {evaluation_seed(seed) for seed in range(100)}
    assert len(seeds) == 100
    assert not seeds & set(range(100))


def test_further_start_states_are_not_those_of_the_evaluation() -> None:
    task, options = walk(), DebugOptions(starts=5, evaluate_starts=5, seed=2)
    starts = make_starts(task, options, max_seconds=10)
    assert starts.disjoint
    more = more_starts(task, options, starts, seed=7)
    assert more == more_starts(task, options, starts, seed=7) != ()
    assert not set(more) & set(starts.evaluation)
    assert more != more_starts(task, options, starts, seed=8)
    everything = make_starts(task, DebugOptions(), max_seconds=10)
    assert more_starts(task, DebugOptions(), everything, seed=7) == ()


def test_steps_of_the_lookahead_are_bounded_on_real_numbers_only() -> None:
    assert stages.lookahead_of(walk(), DebugOptions()) is None
    assert stages.lookahead_of(walk(), DebugOptions(lookahead=3)) == 3
    d = Description("real")
    d.real("x", 0.0, 1.0)
    assert stages.lookahead_of(d.compile(), DebugOptions()) == 10


def test_states_of_the_lookahead_are_bounded_unless_its_steps_are_given() -> None:
    assert stages.lookahead_states_of(DebugOptions()) == stages.LOOKAHEAD_STATES
    assert stages.lookahead_states_of(DebugOptions(lookahead=50)) is None


def test_boxes_are_told_where_no_states_were_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    module = import_module("surefoot.verify")
    real = module.verify

    def boxes(task: Any, policy: Any, **how: Any) -> VerifyResult:
        found = real(task, policy, **how)
        return replace(found, method="box", starts=0, states=0, boxes=26)

    monkeypatch.setattr(module, "verify", boxes)
    result = debugged()
    assert result.reason == "no run fails from any start state, as 26 boxes of box show"
    assert result.verification is not None
    assert (result.verification["boxes"], result.verification["checked"]) == (26, True)


def test_without_a_directory_no_campaign_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker reads the last certificate from a file that goes then; there are no others."""

    def refused(*_: Any, **__: Any) -> Any:
        raise AssertionError("a file is written")

    monkeypatch.setattr("surefoot.campaign.folder.make_folders", refused)
    monkeypatch.setattr("tempfile.mkdtemp", refused)
    monkeypatch.setattr("surefoot.policies.writing.write_files", refused)
    monkeypatch.setattr("surefoot.findings.Finding.write", refused)
    result = debugged()
    assert (result.outcome, result.policy.name, result.policy.file) == ("safe", "repaired", None)
    assert all(fault.checked for fault in result.faults)


def test_the_same_in_memory_and_in_a_directory(tmp_path: Path) -> None:
    in_memory, in_directory = debugged(), debugged(directory=tmp_path / "campaign")
    faults = [replace(fault, finding=None) for fault in in_directory.faults]
    assert [replace(fault, finding=None) for fault in in_memory.faults] == faults
    assert [one.policy for one in in_memory.iterations] == [
        one.policy for one in in_directory.iterations
    ]
    states = [fault.state for fault in in_memory.faults]
    assert in_memory.policy.decide_all(states) == in_directory.policy.decide_all(states)
    assert in_memory.after == replace(in_directory.after, seconds=in_memory.after.seconds)
