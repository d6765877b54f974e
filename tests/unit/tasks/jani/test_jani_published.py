"""The published instances load, quickly, and mean the same after writing."""

import json
import time

import pytest
from tests.support.instances import DATA

from surefoot.tasks.jani import load_jani, write_jani

LINE = DATA / "one_way_line_15_10_det"
BLOCKS = DATA / "blocksworld_6_5_cost05"
BALL = DATA / "bouncing_ball_0.3"
PUZZLE = {"failing_probability": "0.5", "item_cost_bound": "3", "cost_terminal": "False"}

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="published instances are not here"),
]

# model, options, variables, edges, listed starts (None: a condition)
INSTANCES = {
    "npuzzle": (DATA / "npuzzle_3_3/model.jani", {"constants": PUZZLE}, 18, 64, None),
    "legacy blocksworld": (
        DATA / "blocksworld_4_3_legacy/model.jani",
        {"constants": {"failing_probability": 0.5, "item_cost_bound": 50}},
        15, 32, None,
    ),
    "blocksworld": (
        BLOCKS / "model.jani", {"properties": BLOCKS / "pa_original.jani"}, 21, 72, None
    ),
    "blocksworld by parts": (
        BLOCKS / "model.jani",
        {
            "start": BLOCKS / "start.jani",
            "goal": BLOCKS / "objective.jani",
            "fail": BLOCKS / "reach.jani",
        },
        21, 72, None,
    ),
    "bouncing ball": (
        BALL / "bouncing_ball.jani",
        {"start": BALL / "start.jani", "goal": BALL / "objective.jani", "fail": BALL / "safe.jani"},
        3, 4, 1000,
    ),
    "bouncing ball, compact": (
        BALL / "bouncing_ball.jani", {"start": BALL / "start_compact.jani"}, 3, 4, None
    ),
    "line with listed starts": (
        LINE / "one_way_line_15_10.jani",
        {"properties": LINE / "pa_one_way_line_15_10_random_starts_1000.jani"},
        14, 49, 1000,
    ),
    "two-way line": (DATA / "two_way_line_15_10_det/model.jani", {}, 14, 98, None),
    "racetrack": (DATA / "racetrack_tiny_4automata/model.jani", {}, 79, 57, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", INSTANCES)
def test_instance(name, tmp_path):
    file, options, variables, edges, starts = INSTANCES[name]
    description = load_jani(file, **options)
    assert (len(description.variables), len(description.edges)) == (variables, edges)
    listed = description.start_states
    assert (None if listed is None else len(listed)) == starts
    task = description.compile()
    write_jani(description, tmp_path / "written.jani")
    again = load_jani(tmp_path / "written.jani").compile()
    assert again.names == task.names
    for state in task.sample_starts(5, seed=1):
        assert again.is_start(state)
        assert again.applicable(state) == task.applicable(state)
        for action in task.actions:
            assert set(again.outcomes(state, action)) == set(task.outcomes(state, action))


def test_blocksworld_is_the_same_by_parts():
    tasks = []
    for name in ("blocksworld", "blocksworld by parts"):
        file, options, *_ = INSTANCES[name]
        tasks.append(load_jani(file, **options).compile())
    assert tasks[0].sha256 == tasks[1].sha256


def test_listed_starts_are_read_quickly():
    file, options, *_ = INSTANCES["line with listed starts"]
    texts = [path.read_text("utf-8") for path in (file, options["properties"])]

    def seconds(call):
        started = time.process_time()
        call()
        return time.process_time() - started

    plain = min(seconds(lambda: [json.loads(text) for text in texts]) for _ in range(5))
    ours = min(seconds(lambda: load_jani(file, **options)) for _ in range(5))
    assert ours < 10 * plain
