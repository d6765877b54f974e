"""The built-in racetrack drives as the published file's four automata do, step by step.

A step of ours is an acceleration and a silent ``drive``; in the file the same takes many forced
steps. They are followed until the car can be controlled again.
"""

from __future__ import annotations

import itertools

import pytest
from tests.support.instances import INSTANCES, needs_data

from surefoot import domain, load_task

pytestmark = pytest.mark.slow

ACTIONS = [f"accel0_{a}_{b}" for b in (-1, 0, 1) for a in (-1, 0, 1)]
CAR = ("car0_dx", "car0_dy", "car0_x", "car0_y")
TOP_SPEED = 6
# From these cells, speeds beyond any run: the way meets a half that the file's doubles just miss.
MISSED_HALVES = {(6, -1, 1, 0), (-6, -1, 4, 0), (-1, 6, 0, 1), (-1, -6, 0, 4)}


@pytest.fixture(scope="module")
def published():
    instance = INSTANCES["racetrack"]
    return load_task(instance.path, **instance.arguments)


@pytest.fixture(scope="module")
def ours():
    return domain("racetrack", size="tiny")


def grid(published) -> list[str]:
    """Return the file's track as rows of kinds."""
    start = published.initial_state()
    cells = [".#g"[start[f"map.grid[{i}]"]] for i in range(25)]
    cells[start["car0_x"] + 5 * start["car0_y"]] = "s"
    return ["".join(cells[i : i + 5]) for i in range(0, 25, 5)]


def changes_of(action: str) -> tuple[int, int]:
    """Return how an action changes the speed."""
    _, a, b = action.split("_")
    return int(a), int(b)


def published_step(published, car: dict[str, int], action: str):
    """Return the state of the file in which the car can be controlled again."""
    state = published.state({**published.initial_state().to_dict(), **car})
    (state,) = published.outcomes(state, action)
    while not state["step_completed"]:
        (forced,) = published.applicable(state)
        (state,) = published.outcomes(state, forced)
    return state


def our_step(ours, car: dict[str, int], action: str):
    """Return the state after acceleration and driving."""
    (moving,) = ours.outcomes({**car, "car0_moving": 0}, action)
    assert ours.applicable(moving) == ("drive",)
    (state,) = ours.outcomes(moving, "drive")
    return state


def compare_step(published, ours, car: dict[str, int], action: str):
    """Assert that both do the same; return the states after the step, the file's first.

    A crashed car lies on the cell it hit, ``crash_x`` and ``crash_y`` of the file. Where it leaves
    the grid along the longer axis the file does not look at the other coordinate any more.
    """
    theirs, found = published_step(published, car, action), our_step(ours, car, action)
    expected = {**{name: theirs[name] for name in CAR}, "car0_moving": 0}
    if theirs["car0_crashed"]:
        assert (theirs["car0_dx"], theirs["car0_dy"]) == (0, 0)
        assert abs(found["car0_x"] - theirs["car0_x"]) <= 1
        assert abs(found["car0_y"] - theirs["car0_y"]) <= 1
        expected |= {"car0_x": theirs["crash_x"], "car0_y": theirs["crash_y"]}
        a, b = changes_of(action)
        along_x = abs(car["car0_dx"] + a) >= abs(car["car0_dy"] + b)
        longer, other = ("car0_x", "car0_y") if along_x else ("car0_y", "car0_x")
        if expected[longer] in (-1, 5):
            expected[other] = found[other]
    assert found.to_dict() == expected, (car, action)
    assert ours.is_fail(found) == theirs["car0_crashed"]
    assert ours.is_goal(found) == theirs["car0_finished"]
    return theirs, found


@pytest.mark.data
@needs_data
def test_track_actions_and_variables_are_those_of_the_file(published, ours):
    assert domain("racetrack", track="/".join(grid(published))).sha256 == ours.sha256
    assert ours.actions == (*ACTIONS, "drive")
    assert published.actions[:9] == ours.actions[:9]
    bounds = {v.name: (v.lower, v.upper, v.initial) for v in published.variables}
    speeds, places = ours.variables[:2], ours.variables[2:4]
    assert [v.name for v in (*speeds, *places)] == [v for v in published.names if v in CAR]
    for v in speeds:
        assert (v.lower, v.upper, v.initial) == bounds[v.name]
    for v in places:  # and the cells around the track, to crash on
        assert (v.lower + 1, v.upper - 1, v.initial) == bounds[v.name]


@pytest.mark.data
@needs_data
def test_every_step_from_every_cell_at_every_speed(published, ours):
    cells = [(x, y) for y, row in enumerate(grid(published)) for x in range(5) if row[x] in ".s"]
    counts = dict.fromkeys(("fail", "goal", "open"), 0)
    speeds = range(-TOP_SPEED, TOP_SPEED + 1)
    for (x, y), dx, dy, (i, action) in itertools.product(cells, speeds, speeds, enumerate(ACTIONS)):
        a, b = changes_of(action)
        # Which action leads to a speed makes no difference to the way: two of nine will do.
        if max(abs(dx + a), abs(dy + b)) > TOP_SPEED or (i + x + y + dx + dy) % 4:
            continue
        if (dx + a, dy + b, x, y) in MISSED_HALVES:
            continue
        _, found = compare_step(
            published, ours, dict(zip(CAR, (dx, dy, x, y), strict=True)), action
        )
        kind = "fail" if ours.is_fail(found) else "goal" if ours.is_goal(found) else "open"
        counts[kind] += 1
    assert sum(counts.values()) > 5_000
    assert min(counts.values()) > 100, counts


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("values", sorted(MISSED_HALVES))
def test_where_doubles_miss_a_half_both_crash_apart(published, ours, values):
    car = dict(zip(CAR, values, strict=True))
    theirs, found = published_step(published, car, ACTIONS[4]), our_step(ours, car, ACTIONS[4])
    assert theirs["car0_crashed"]
    assert ours.is_fail(found)
    assert (found["car0_x"], found["car0_y"]) != (theirs["crash_x"], theirs["crash_y"])


@pytest.mark.data
@needs_data
def test_runs_reach_the_same_states(published, ours):
    # From the start, with all nine actions wherever the car can be controlled.
    first = {name: published.initial_state()[name] for name in CAR}
    found = [tuple(first.values())]
    seen = set(found)
    ends = dict.fromkeys(("crashed", "finished"), 0)
    for values in found:
        car = dict(zip(CAR, values, strict=True))
        for action in ACTIONS:
            theirs, _ = compare_step(published, ours, car, action)
            ends["crashed"] += theirs["car0_crashed"]
            ends["finished"] += theirs["car0_finished"]
            following = tuple(theirs[name] for name in CAR)
            if not (theirs["car0_crashed"] or theirs["car0_finished"] or following in seen):
                seen.add(following)
                found.append(following)
    assert len(found) > 100
    assert min(ends.values()) > 0
