"""Numbers and curves as a report writes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support import campaigns

from surefoot.report import CampaignSource, chart, words

PERCENT = {0: "0 %", 1: "100 %", 0.123: "12.3 %", 1e-9: "< 0.01 %", 0.999999: "> 99.99 %"}
SECONDS = {0.1234: "0.123 s", 59.9: "59.9 s", 83.4: "1 min 23 s", 7384: "2 h 3 min"}
STEPS = {0: 1, 3: 1, 4: 1, 5: 2, 8: 2, 9: 5, 20: 5, 21: 10, 100: 50, 1_234: 500}


@pytest.mark.parametrize("fraction, text", PERCENT.items())
def test_percent_never_rounds_to_none_or_all(fraction: float, text: str) -> None:
    assert words.percent(fraction) == text


@pytest.mark.parametrize("value, text", SECONDS.items())
def test_seconds(value: float, text: str) -> None:
    assert words.seconds(value) == text


@pytest.mark.parametrize("largest, step", STEPS.items())
def test_marks_of_an_axis(largest: float, step: float) -> None:
    assert chart.nice_step(largest) == step


def test_states() -> None:
    state = {"x": 3, "wet": True, "at": 1, "v": 0.1 + 0.2, "nested": [1, 2]}
    labels = {"at": ("here", "there\x1b")}
    text = words.state_text(state, labels)
    assert text == "x=3, wet=true, at=there\\x1b, v=0.3, nested=[1, 2]"
    assert len(words.state_text({str(i): i for i in range(1_000)}, limit=50)) == 50


def test_curves(tmp_path: Path) -> None:
    charts = {one.name: one for one in chart.charts_of(campaigns.blocks(tmp_path))}
    failing = charts["failing"]
    assert [point.text for point in failing.points] == [
        "iteration 1: 60 failing runs",
        "iteration 2: 9 failing runs",
        "iteration 3: 0 failing runs",
    ]
    assert failing.summary == "failing runs: 60 in iteration 1, 0 in iteration 3"
    heights = [point.y for point in failing.points]
    assert heights == sorted(heights)
    assert heights[-1] == chart.HEIGHT - chart.BOTTOM
    assert [tick.text for tick in failing.y_ticks] == ["0", "20", "40", "60"]
    assert len(charts["changed"].points) == 2


@pytest.mark.parametrize("rounds", [0, 1, 2, 100])
def test_curves_of_any_length_stay_inside(tmp_path: Path, rounds: int) -> None:
    made = dict(campaigns.blocks(tmp_path).content)
    made["iterations"] = [campaigns.iteration(n + 1, 10 * n, n) for n in range(rounds)]
    charts = chart.charts_of(CampaignSource(made))
    assert bool(charts) == bool(rounds)
    for one in charts:
        assert len(one.x_ticks) <= chart.SHOWN_TICKS
        for point in one.points:
            assert chart.LEFT <= point.x <= chart.WIDTH - chart.RIGHT
            assert chart.TOP <= point.y <= chart.HEIGHT - chart.BOTTOM


def test_what_a_verdict_is_about() -> None:
    states = {"states": 7, "starts": 2, "all_starts": True, "boxes": 0}
    assert words.looked_at(states) == "7 states from all 2 start states"
    assert (
        words.looked_at({**states, "all_starts": False})
        == "7 states from a sample of 2 start states"
    )
    boxes = {"states": 0, "starts": 0, "all_starts": True, "boxes": 26}
    text = "26 boxes with everything that is reachable from all start states"
    assert words.looked_at(boxes) == text
    without = {name: value for name, value in states.items() if name != "boxes"}
    assert words.looked_at(without) == words.looked_at(
        states
    )  # a campaign from before there were boxes
