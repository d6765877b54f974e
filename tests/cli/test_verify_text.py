"""What ``verify`` prints about methods that look at sets of states, and about several of them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from surefoot import load_task
from surefoot.cli.progress import Progress
from surefoot.cli.verify import Verified
from surefoot.cli.verify_text import print_verified
from surefoot.policies import Policy, load_policy
from surefoot.records import EngineReport, Run, RunEnd, VerifyResult
from surefoot.verify import progress_text

BOX = VerifyResult("safe", "box", 0, True, 0, 0, 0.25, boxes=26, refinements=1)


@pytest.fixture
def policy() -> Policy:
    task = load_task("domain:two-way-line?packages=2&locations=6&variant=icy")
    return load_policy("builtin:two-way-line-icy-trees", task)


@pytest.fixture
def shown(policy: Policy, capsys: pytest.CaptureFixture[str]) -> Any:
    """Return a function that prints a result, and returns the lines below the first."""

    def lines(result: VerifyResult, **more: Any) -> list[str]:
        print_verified(policy, Verified(result, **more))
        return capsys.readouterr().out.splitlines()[1:]

    return lines


def test_boxes(shown: Any) -> None:
    made = SimpleNamespace(size=26, unit="box", path="x")
    assert shown(replace(BOX, certificate=made), checked=True) == [
        "safe: no run of the policy fails",
        "boxes   26, 1 refinement, in 0.250 s",
        "method  box",
        "checked: the certificate of 26 boxes was accepted",
    ]


def test_blocked_boxes(shown: Any) -> None:
    found = replace(BOX, method="ic3", boxes=6, depth=4, refinements=0)
    assert "boxes   6, blocked, in 4 frames, in 0.250 s" in shown(found)


def test_certificate_that_is_not_there(shown: Any) -> None:
    lines = shown(BOX, checked=False, missing="too large")
    assert lines[-1] == "not checked: the certificate of 26 boxes (too large)"


def test_rounding_is_a_note(shown: Any) -> None:
    (note,) = [line for line in shown(replace(BOX, rounding=3)) if line.startswith("note")]
    assert note == (
        "note    in 3 regions exact sums may decide otherwise than the policy's own float32 sums"
    )


def test_failing_start_states(shown: Any, policy: Policy) -> None:
    (start,) = policy.task.sample_starts(1)
    run = Run(0, (start,), (), RunEnd.FAIL)
    bounds = [(value, value) for value in start.values()]
    bounds[0] = (0, 2)
    found = replace(BOX, verdict="unsafe", run=run, failing_starts=tuple(bounds))
    lines = shown(found)
    assert lines[0] == "run 0: fail after 0 steps"  # nobody says that it is a shortest one
    (line,) = [line for line in lines if line.startswith("fail ")]
    assert line.startswith("fail    the same way: location_load_0=0..2,location_load_1=")
    assert line.count("..") == 1


def test_others_are_named(shown: Any) -> None:
    engines = (EngineReport("fuzz", "unknown", 0.1, "no"), EngineReport("box", "safe", 0.2))
    assert "method  box, besides fuzz (0.1 s)" in shown(replace(BOX, engines=engines))


def test_nobody_decides(shown: Any) -> None:
    engines = (
        EngineReport("box", "unknown", 10.0, "ran out of seconds (10)"),
        EngineReport("explicit", "unknown", 1.0, "start states were sampled \x1b[1m"),
    )
    unknown = VerifyResult(
        "unknown", "auto", 5, False, 70, 3, 11.0, reason="...", boxes=9, engines=engines
    )
    assert shown(unknown) == [
        "unknown: no method has decided it",
        "starts  5, not all of them: nothing is proved for the others",
        "boxes   9, 0 refinements, in 11.000 s",
        "states  70, up to 3 steps from a start state, in 11.000 s",
        "  box: ran out of seconds (10) (10.0 s)",
        "  explicit: start states were sampled \\x1b[1m (1.0 s)",
    ]


def test_progress_in_words() -> None:
    table = {
        ("box", (1, 2, 3, 4_000_000, 0.5)): "box: 1 box, 2 refinements, up to 3 steps, 4 MB",
        ("box", (1200, 0, 0, 0, 0.5)): "box: 1,200 boxes",
        ("ic3", (6, 1000, 2, 0, 0.5)): "ic3: 6 blocked boxes, 1,000 questions, 2 frames",
        ("explicit", (5, 0, 0, 0, 0.5)): "listing start states: 5",
        ("explicit", (5, 4, 1, 0, 0.5)): "explicit: 5 states, 4 expanded, depth 1",
    }
    assert {key: progress_text(*key) for key in table} == table


def test_progress_notes_the_method() -> None:
    progress = Progress("verifying")
    progress.method("box")
    assert progress._now == "verifying: box"
    progress.verified(7, 0, 0, 0, 0.1)
    progress.method("box")  # the same one again does not take the numbers away
    assert progress._now == "verifying: box: 7 boxes"
