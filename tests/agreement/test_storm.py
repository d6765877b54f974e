"""State and pair counts equal Storm's on instances that it finishes."""

from __future__ import annotations

import json

import pytest
from benchmarks.peers.storm import conditions_of, storm_counts
from tests.support.instances import DATA, needs_data

from surefoot import explore, load_task

CASES = {
    "blocksworld 4, cost 2": ("blocksworld_4_3_legacy/model.jani", 2),
    "blocksworld 4, cost 3": ("blocksworld_4_3_legacy/model.jani", 3),
    "one-way line": ("one_way_line_15_10_det/one_way_line_15_10.jani", None),
}


@needs_data
@pytest.mark.parametrize("name", CASES)
def test_counts_equal_storms(name):
    file, cost = CASES[name]
    constants = {} if cost is None else {"failing_probability": 0.5, "item_cost_bound": cost}
    fail, goal = conditions_of(DATA / file)
    compare(load_task(DATA / file, constants=constants), DATA / file, constants, fail, goal)


@needs_data
def test_counts_equal_storms_with_four_automata(tmp_path):
    file = DATA / "racetrack_tiny_4automata/model.jani"
    parts = {"fail": "car0_crashed", "goal": "car0_finished"}
    paths = {}
    for part, name in parts.items():
        paths[part] = tmp_path / part
        paths[part].write_text(json.dumps({"op": "state-condition", "exp": name}))
    compare(load_task(file, **paths), file, {}, **parts)


def compare(task, file, constants, fail, goal):
    pytest.importorskip("stormpy", reason="needs the extra [storm]")
    theirs = storm_counts(file, constants, 60, fail=fail, goal=goal)
    ours = explore(task, [task.initial_state()])
    assert ours.complete
    assert (ours.states, ours.pairs) == (theirs["states"], theirs["choices"])
    assert ours.outcomes == theirs["transitions"]
    assert ours.fail + ours.goal + ours.dead_ends == theirs["terminal"]


WRITTEN = {
    "deterministic line": "domain:one-way-line?packages=3&locations=5",
    "icy line with parking": "domain:one-way-line?packages=2&locations=4&variant=icy-park",
}


@pytest.mark.parametrize("name", WRITTEN)
def test_storm_reads_what_we_write(name, tmp_path):
    task = load_task(WRITTEN[name])
    path = tmp_path / "task.jani"
    task.write_jani(path)
    fail, goal = conditions_of(path)
    compare(load_task(path), path, {}, fail, goal)
    compare(task, path, {}, fail, goal)
