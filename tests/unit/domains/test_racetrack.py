"""Racetrack: ways by hand, tracks as text, what a crash and a finish are, and pictures."""

from __future__ import annotations

import itertools
import math
from xml.etree import ElementTree

import pytest
from tests.support.reachable import reachable

from surefoot import InputError, Oracle, domain, explore
from surefoot.domains import domain_family, domain_from_text
from surefoot.domains.racetrack import TRACKS, Track, drives, rectangles, way

LANE = "#######/#s...g#/#######"
# Worked out on paper; halves are rounded up, that is, to the right and downwards.
WAYS = {
    (0, 0): (),
    (1, 1): ((1, 1),),
    (-2, 0): ((-1, 0), (-2, 0)),
    (2, 1): ((1, 1), (2, 1)),
    (2, -1): ((1, 0), (2, -1)),
    (-2, -1): ((-1, 0), (-2, -1)),
    (1, -2): ((1, -1), (1, -2)),
    (-1, 2): ((0, 1), (-1, 2)),
    (3, 1): ((1, 0), (2, 1), (3, 1)),
    (3, -2): ((1, -1), (2, -1), (3, -2)),
    (-1, -4): ((0, -1), (0, -2), (-1, -3), (-1, -4)),
}


def at(x, y, dx=0, dy=0, moving=0):
    return {"car0_dx": dx, "car0_dy": dy, "car0_x": x, "car0_y": y, "car0_moving": moving}


def step(task, state, a, b):
    """Return where an acceleration and the drive lead."""
    found = set()
    for moving in task.outcomes(state, f"accel0_{a}_{b}"):
        assert task.applicable(moving) == ("drive",)
        (state,) = task.outcomes(moving, "drive")
        found.add(tuple(state.to_dict().values()))
    return found


# -- driving -------------------------------------------------------------------------------------


@pytest.mark.parametrize("speed", WAYS)
def test_ways(speed):
    assert way(speed) == WAYS[speed]


@pytest.mark.parametrize("text", [*TRACKS, LANE, "s.g", "s/g", "s##/.#g/..."])
@pytest.mark.parametrize("top_speed", [1, 4])
def test_driving_walks_cell_by_cell(text, top_speed):
    task = domain("racetrack", track=text, top_speed=top_speed)
    track = Track.read(text)
    speeds = range(-top_speed, top_speed + 1)
    for (x, y), dx, dy in itertools.product(track.free[::3], speeds, speeds):
        expected = at(*walk(track, (x, y), (dx, dy)))
        (found,) = task.outcomes(at(x, y, dx, dy, moving=1), "drive")
        assert found.to_dict() == expected
        cell = (found["car0_x"], found["car0_y"])
        assert task.is_goal(found) == (cell in track.goals)
        assert task.is_fail(found) == (cell not in track.free + track.goals)


def walk(track, cell, speed):
    """Return where a car gets to and how fast it is then, with floating-point lines."""
    (x, y), (dx, dy) = cell, speed
    count = max(abs(dx), abs(dy))
    for i in range(1, count + 1):
        here = (x + dx * i / count, y + dy * i / count)
        here = tuple(math.floor(part + 0.5) for part in here)
        if here in track.goals:
            return *here, dx, dy
        if here not in track.free:
            return *here, 0, 0
    return x + dx, y + dy, dx, dy


def test_every_cell_and_speed_is_in_one_drive():
    track = Track.read("ring")
    seen = [pair for one in drives(track, 3) for pair in itertools.product(one.cells, one.speeds)]
    speeds = itertools.product(range(-3, 4), repeat=2)
    assert sorted(seen) == sorted(itertools.product(track.free, speeds))


def test_rectangles_are_apart_and_together_the_pairs():
    pairs = [(0, 0), (1, 0), (3, 0), (0, 2), (1, 2), (3, 2), (1, 1)]
    found = rectangles(pairs)
    assert len(found) == 2
    covered = [pair for xs, ys in found for pair in itertools.product(xs, ys)]
    assert sorted(covered) == sorted(pairs)


# -- rules ---------------------------------------------------------------------------------------


def test_accelerations_stop_at_the_top_speed():
    task = domain("racetrack", track=LANE, top_speed=2)
    assert task.actions[:9] == tuple(f"accel0_{a}_{b}" for b in (-1, 0, 1) for a in (-1, 0, 1))
    assert task.silent == {"drive"}
    assert len(task.applicable(at(2, 1))) == 9
    faster = {f"accel0_1_{b}" for b in (-1, 0, 1)}
    assert set(task.actions[:9]) - set(task.applicable(at(2, 1, dx=2))) == faster
    slower = {f"accel0_{a}_-1" for a in (-1, 0, 1)}
    assert set(task.actions[:9]) - set(task.applicable(at(2, 1, dy=-2))) == slower


def test_a_car_stops_in_the_goal_or_on_the_wall_it_hits():
    task = domain("racetrack", track=LANE, top_speed=6)
    assert step(task, at(1, 1), 0, 0) == {(0, 0, 1, 1, 0)}
    assert step(task, at(1, 1), 1, 0) == {(1, 0, 2, 1, 0)}
    assert step(task, at(1, 1, dx=5), 1, 0) == {(6, 0, 5, 1, 0)}  # through the goal
    assert step(task, at(3, 1, dx=-5), 0, 0) == {(0, 0, 0, 1, 0)}
    assert step(task, at(3, 1, dx=3), 0, 1) == {(0, 0, 5, 2, 0)}  # (4, 1) is free, then the wall
    assert task.is_goal(at(5, 1, dx=6))
    assert task.is_fail(at(0, 1))
    assert task.is_fail(at(5, 2))


def test_acceleration_may_slip():
    task = domain("racetrack", track=LANE, top_speed=3, variant="slip")
    assert step(task, at(1, 1, dx=1), 1, 0) == {(2, 0, 3, 1, 0), (1, 0, 2, 1, 0)}
    assert step(task, at(1, 1, dx=1), 0, 1) == {(0, 0, 2, 2, 0), (1, 0, 2, 1, 0)}
    assert len(task.outcomes(at(1, 1, dx=1), "accel0_0_0")) == 1


def test_the_distance_to_fail_counts_cells():
    task = domain("racetrack", track="corner", top_speed=2)
    track = Track.read("corner")
    for x, y in (*track.free, *track.goals):
        nearest = min(abs(x - a) + abs(y - b) for a, b in track.outside)
        for dx, moving in ((0, 0), (2, 1)):
            assert task.distance_to_fail(at(x, y, dx=dx, moving=moving)) == nearest


def test_starts_are_the_start_cells_at_rest():
    task = domain("racetrack", size="small")
    assert [dict(s) for s in task.list_starts()] == [at(x, 11) for x in range(2, 7)]


# -- tracks --------------------------------------------------------------------------------------


def counts_by_hand(text, top_speed, *, can_slip):
    """Return the numbers of states, pairs and outcomes of a race from a plain search."""
    track = Track.read(text)
    found = [(x, y, 0, 0, 0) for x, y in track.starts]
    seen, pairs, outcomes = set(found), 0, 0
    for x, y, dx, dy, moving in found:
        if (x, y) not in track.free:
            continue
        choices = [{(*walk(track, (x, y), (dx, dy)), 0)}]
        if not moving:
            speeds = [(dx + a, dy + b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
            choices = [
                {(x, y, *speed, 1)} | ({(x, y, dx, dy, 1)} if can_slip else set())
                for speed in speeds
                if max(map(abs, speed)) <= top_speed
            ]
        pairs += len(choices)
        outcomes += sum(map(len, choices))
        new = [one for one in sorted(set().union(*choices)) if one not in seen]
        found += new
        seen.update(new)
    return len(found), pairs, outcomes


@pytest.mark.parametrize("variant", ["det", "slip"])
@pytest.mark.parametrize(("track", "top_speed"), [("tiny", 6), ("corner", 3), ("ring", 5)])
def test_counts_are_those_of_a_plain_search(track, top_speed, variant):
    counts = explore(domain("racetrack", track=track, top_speed=top_speed, variant=variant))
    expected = counts_by_hand(track, top_speed, can_slip=variant == "slip")
    assert (counts.states, counts.pairs, counts.outcomes) == expected
    assert counts.dead_ends == 0


def test_counts_of_the_published_track():
    counts = explore(domain("racetrack"))
    assert (counts.states, counts.pairs) == (594, 1_554)
    assert (counts.fail, counts.goal) == (29, 3)


@pytest.mark.parametrize("variant", ["det", "slip"])
@pytest.mark.parametrize("track", TRACKS)
def test_on_every_track_one_can_stay_safe_and_also_be_lost(track, variant):
    task = domain("racetrack", track=track, top_speed=4, variant=variant)
    oracle = Oracle(task)
    states = reachable(task, task.list_starts())
    verdicts = {state: oracle.decide(state).verdict for state in states}
    assert all(verdicts[start] == "safe" for start in task.list_starts())
    lost = [s for s in states if verdicts[s] == "unsafe" and not task.is_fail(s)]
    assert len(lost) > 20
    assert any(task.is_goal(state) for state in states)


def test_rows_are_a_track():
    rows = "/".join(TRACKS["ring"].split())
    named = domain("racetrack", track="ring", top_speed=2)
    assert domain("racetrack", track=rows, top_speed=2).sha256 == named.sha256
    assert domain_from_text("domain:racetrack?track=###/sg%23/###").list_starts()
    assert [(v.lower, v.upper) for v in named.variables[2:4]] == [(0, 29), (0, 11)]
    open_ended = domain("racetrack", track="s.g", top_speed=2)
    assert [(v.lower, v.upper) for v in open_ended.variables[2:4]] == [(-1, 2), (-1, 1)]


WRONG = {
    "rign": ('there is no track "rign"', 'did you mean "ring"?'),
    "#s.g#!": ('there is no track "#s.g#!"', "tracks are: tiny, corner, ring, or rows such as"),
    "s.g/..": ('rows of track "s.g/.." differ in length', ""),
    "s../...": ("a track needs a start cell, s, and a goal cell, g", ""),
    "g../...": ("a track needs a start cell, s, and a goal cell, g", ""),
    "": ("a track needs a start cell, s, and a goal cell, g", ""),
    "sg" + "." * 63: ("a track has at most 64 rows and 64 columns", ""),
}


@pytest.mark.parametrize("text", WRONG)
def test_texts_that_are_no_track(text):
    with pytest.raises(InputError) as caught:
        domain("racetrack", track=text)
    message, hint = WRONG[text]
    assert caught.value.code == "bad-parameter"
    assert caught.value.message == message
    assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize("given", [{"top_speed": 0}, {"top_speed": 11}, {"variant": "icy"}])
def test_other_parameters_out_of_range(given):
    with pytest.raises(InputError) as caught:
        domain("racetrack", **given)
    assert caught.value.code == "bad-parameter"


@pytest.mark.parametrize("size", domain_family("racetrack").sizes)
def test_every_size_compiles(size):
    task = domain("racetrack", size=size)
    assert len(task.applicable(task.initial_state())) == 9


# -- pictures ----------------------------------------------------------------------------------

DRIVING = """\
#######
#..*..#
#..##.#
#sO#g.#
#..##.#
#.....#
#######
speed 1, -2, driving"""
CRASHED = """\
#######
#.....#
#..##.#
#s.Xg.#
#..##.#
#.....#
#######
speed 0, 0, crashed"""


def test_pictures_in_a_terminal():
    task = domain("racetrack")
    assert task.picture(at(1, 2, dx=1, dy=-2, moving=1)).text == DRIVING
    assert task.picture(at(2, 2)).text == CRASHED
    finished = task.picture(at(3, 2, dx=-1)).text.splitlines()
    assert finished[3:4] + finished[7:] == ["#s.*O.#", "speed -1, 0, finished"]
    lines = domain("racetrack", size="ring").picture(at(1, 6)).text.splitlines()
    assert lines[:-1] == [*TRACKS["ring"].split()[:6], "#Osss" + "#" * 20 + "....#", *lines[7:-1]]


def test_pictures_as_svg():
    task = domain("racetrack")
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(task.picture(at(1, 2, dx=1, dy=-2)).svg)
    assert len(list(root.iter(f"{svg}rect"))) == 7 * 7
    (car,) = root.iter(f"{svg}circle")
    assert (car.get("cx"), car.get("cy")) == ("45", "63")
    assert any(e.get("x2") == "63" and e.get("y2") == "27" for e in root.iter(f"{svg}line"))
    assert [e.text for e in root.iter(f"{svg}text")] == ["speed 1, -2"]
    crashed = ElementTree.fromstring(task.picture(at(5, 2)).svg)
    assert not list(crashed.iter(f"{svg}line"))
    assert next(crashed.iter(f"{svg}circle")).get("fill") != car.get("fill")
