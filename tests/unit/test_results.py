"""Results as people read them."""

import pytest

from surefoot import Description, simulate
from surefoot.records import EngineReport, VerifyResult
from surefoot.text import counted


def line(last):
    d = Description("line")
    x = d.int("x", 0, last, initial=0)
    d.edge("up", guard=x < last, outcomes=[{x: x + 1}])
    return d.compile()


@pytest.mark.parametrize("last, head", [(1, "1 step"), (2, "2 steps")])
def test_run(last, head):
    run = simulate(line(last)).runs[0]
    assert str(run).splitlines()[:2] == [f"run 0: dead end after {head}", "  x=0"]
    assert str(run).splitlines()[-1] == f"  --up--> x={last}"


@pytest.mark.parametrize(
    "runs, end", [(0, "0 runs"), (1, "1 run: 1 dead end"), (2, "2 runs: 2 dead end")]
)
def test_summary(runs, end):
    assert str(simulate(line(1), runs=runs)).splitlines()[-1] == end


def test_counted():
    assert [counted(n, "state") for n in (0, 1, 2000)] == ["0 states", "1 state", "2,000 states"]
    assert [counted(n, "box") for n in (1, 26)] == ["1 box", "26 boxes"]


def test_verdicts():
    box = VerifyResult("safe", "box", 0, True, 0, 0, 0.5, boxes=26, refinements=1)
    assert str(box) == "safe: 26 boxes and 1 refinement by box in 0.500 s"
    unknown = VerifyResult("unknown", "explicit", 3, False, 9, 1, 0.5, reason="cut")
    text = "unknown (cut): 9 states from a sample of 3 start states in 0.500 s"
    assert str(unknown) == text
    reports = (EngineReport("box", "unknown", 1.0, "cut"),)
    plain = VerifyResult("safe", "ic3", 0, True, 0, 0, 0.5, engines=reports).to_dict()
    report = {"method": "box", "verdict": "unknown", "seconds": 1.0, "reason": "cut", "code": None}
    assert plain["engines"] == [report]
