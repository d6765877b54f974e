"""Results as people read them."""

import pytest

from surefoot import Description, simulate


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
