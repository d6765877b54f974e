"""Pictures of the lines, the tunnel, the layers and the staircase: text in full, SVG by parts."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from surefoot import domain
from surefoot.domains.pictures import BLUE, GREY, PALE, RED, YELLOW

SVG = "{http://www.w3.org/2000/svg}"


def picture(name, changes, **parameters):
    """Return the picture of the initial state with these changes."""
    task = domain(name, **parameters)
    return task.picture({**task.initial_state(), **changes})


def text(*args, **parameters):
    return picture(*args, **parameters).text


def drawing(lines):
    """Return lines that are written between bars, to keep what is blank."""
    return "\n".join(line.strip().removeprefix("|") for line in lines.strip().splitlines())


def shapes(drawn, tag, **wanted):
    """Return the shapes of this kind with these attributes."""
    found = ElementTree.fromstring(drawn.svg).iter(f"{SVG}{tag}")
    return [one for one in found if all(one.get(key) == value for key, value in wanted.items())]


def labels(drawn):
    return [one.text for one in shapes(drawn, "text")]


# -- lines -------------------------------------------------------------------------------------


def test_text_of_a_line():
    state = {"location_load_0": 2, "location_load_2": 1, "truck_0": 1, "truck_vel_0": 2}
    assert text("one-way-line", state) == drawing("""
        |location   0 1 2 3
        |packages   2 . 1 .
        |truck        T--->
        |speed 2, 0 packages loaded
    """)


def test_text_of_an_icy_line():
    state = {"location_load_0": 10, "truck_0": 8, "truck_vel_0": 3, "truck_load_0": 5}
    assert text("one-way-line", state, size="15-10", variant="icy-park", icy="5,7") == drawing("""
        |location    0  1  2  3  4  5  6  7  8  9
        |packages   10  .  .  .  .  .  .  .  .  .
        |ice                        ~     ~
        |truck                               T-----!
        |speed 3, 5 packages loaded
    """)


def test_text_of_a_truck_that_drives_backwards():
    state = {"truck_0": 3, "truck_vel_0": -2, "truck_load_0": 1, "location_load_0": 2}
    assert text("two-way-line", state) == drawing("""
        |location   0 1 2 3
        |packages   2 . . .
        |truck        <---T
        |speed -2, 1 package loaded
    """)


@pytest.mark.parametrize(
    "changes, truck, words",
    [
        ({"truck_0": 0, "truck_vel_0": -1}, "     !T", "speed -1, 0 packages loaded"),
        ({"truck_0": 1, "truck_vel_0": -3}, "     !--T", "speed -3, 0 packages loaded"),
        ({"truck_0": 3, "truck_vel_0": 1}, "            T-!", "speed 1, 0 packages loaded"),
        ({"truck_0": 3, "truck_vel_0": 1, "aux_vel": -1}, "            X",
         "speed 1, 0 packages loaded, crashed"),
        ({"truck_0": 3, "parked_0": 1}, "            T", "speed 0, 0 packages loaded, parked"),
    ],
)  # fmt: skip
def test_trucks_at_the_ends(changes, truck, words):
    *_, line, last = text("two-way-line", changes, variant="icy-park").splitlines()
    assert line == f"truck{truck}"
    assert last == words


def test_long_lines_are_shown_around_the_truck():
    state = {"truck_0": 77, "truck_vel_0": 2, "location_load_76": 3, "location_load_5": 4}
    place, packages, truck, _ = text("one-way-line", state, packages=9, locations=100).splitlines()
    column = place.index(" 77") + 2
    assert truck[column] == "T"
    assert packages[column - 3] == "3"
    assert "4" not in packages
    assert max(map(len, (place, packages, truck))) <= 100


def test_svg_of_a_line():
    state = {"location_load_0": 7, "location_load_3": 1, "truck_0": 4, "truck_load_0": 7}
    drawn = picture("one-way-line", {**state, "truck_vel_0": 2}, size="15-10", variant="icy")
    assert len(shapes(drawn, "rect", fill=GREY)) == 8
    assert len(shapes(drawn, "rect", fill=PALE)) == 2  # ice
    assert len(shapes(drawn, "rect", fill=YELLOW)) == 4 + 1  # of a high stack not all are drawn
    assert len(shapes(drawn, "rect", fill=BLUE)) == 1
    assert len(shapes(drawn, "line")) == 3  # the arrow
    assert labels(drawn) == [
        *("0", "7", "1", "2", "3", "1", "4", "5", "6", "7", "8", "9"),
        *("7", "speed 2, 7 packages loaded"),
    ]


def test_svg_of_a_crash_and_of_rest():
    crashed = picture("one-way-line", {"truck_0": 3, "truck_vel_0": 1, "aux_vel": -1})
    assert len(shapes(crashed, "rect", fill=RED)) == 1
    assert not shapes(crashed, "rect", fill=BLUE)
    for drawn in (crashed, picture("one-way-line", {})):
        assert not shapes(drawn, "line")
    leaving = picture("one-way-line", {"truck_0": 3, "truck_vel_0": 1})
    assert len(shapes(leaving, "line", stroke=RED)) == 3


# -- tunnel ------------------------------------------------------------------------------------

TUNNEL = {"width": 12, "height": 3, "walls": 4, "seed": 1}


def test_text_of_a_tunnel():
    assert text("flappy-bird", {"x": 1, "y": 2}, **TUNNEL) == drawing("""
        |============
        |.>...#......
        |...#......#.
        |..........#.
        |============
        |columns 0 to 11, bird at x=1, y=2
    """)


def test_text_of_a_crash_into_a_wall():
    assert text("flappy-bird", {"x": 10, "y": 1}, **TUNNEL) == drawing("""
        |============
        |.....#......
        |...#......X.
        |..........#.
        |============
        |columns 0 to 11, bird at x=10, y=1
    """)


def test_walls_of_the_text_are_those_that_fail():
    task = domain("flappy-bird")
    rows = task.picture(task.initial_state()).text.splitlines()[8:0:-1]
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            assert (cell == "#") == task.is_fail(task.state(x=x, y=y))


def test_wide_tunnels_are_shown_around_the_bird():
    *_, row, _, words = text("flappy-bird", {"x": 500, "y": 0}, size="1000-10").splitlines()
    assert words == "columns 455 to 544, bird at x=500, y=0"
    assert (len(row), row.index(">")) == (90, 45)


def test_svg_of_a_tunnel():
    drawn = picture("flappy-bird", {"x": 1, "y": 2}, **TUNNEL)
    assert len(shapes(drawn, "rect", fill=GREY)) == 4
    (bird,) = shapes(drawn, "circle")
    assert (bird.get("cx"), bird.get("cy")) == ("22", "10")  # the second column of the top row
    assert labels(drawn) == ["0", "1", "11"]
    crashed = picture("flappy-bird", {"x": 10, "y": 1}, **TUNNEL)
    assert (len(shapes(crashed, "rect", fill=GREY)), len(shapes(crashed, "rect", fill=RED))) == (
        3,
        1,
    )


# -- layers ------------------------------------------------------------------------------------


def test_text_of_the_layers():
    assert text("layered", {"layer": 2, "side": 1}, depth=3) == drawing("""
        |root      o
        |   1    o   o
        |   2    o   *
        |   3    o   o
        |last      o
        |fail      o
    """)
    assert text("layered", {"layer": 3}, depth=1) == drawing("""
        |root      o
        |   1    o   o
        |last      o
        |fail      *
    """)


def test_a_side_that_the_root_has_by_going_back_is_no_other_place():
    assert text("layered", {"layer": 0, "side": 1}, depth=1).splitlines()[0] == "root      *"


def test_many_layers_are_shown_around_the_state():
    lines = text("layered", {"layer": 500_000}, depth=10**6).splitlines()
    assert len(lines) == 17
    assert (lines[0], lines[-1]) == ("...", "...")
    assert lines[8] == " 500000    *   o"


def test_svg_of_the_layers():
    drawn = picture("layered", {"layer": 2, "side": 1}, depth=3)
    assert len(shapes(drawn, "circle")) == 1 + 6 + 1 + 1
    assert len(shapes(drawn, "circle", fill=BLUE)) == len(shapes(drawn, "circle", fill=RED)) == 1
    assert len(shapes(drawn, "line")) == 3 * (2 + 4 + 4 + 2 + 1)
    assert labels(drawn) == ["root", "1", "2", "3", "last", "fail"]


# -- staircase ---------------------------------------------------------------------------------


def test_text_of_the_staircase():
    assert text("staircase", {}, steps=2) == drawing("""
        |root *
        |            __ landing
        |        __ 2
        |    __ 1
        |__ fail
    """)
    assert text("staircase", {"place": 1, "step": 2}, steps=2) == drawing("""
        |root
        |            __ landing
        |        __ 2 *
        |    __ 1
        |__ fail
    """)


@pytest.mark.parametrize("place, marked", [(2, "landing *"), (3, "fail *")])
def test_ends_of_the_staircase(place, marked):
    assert marked in text("staircase", {"place": place}, steps=3)


def test_high_staircases_are_shown_around_the_state():
    lines = text("staircase", {"place": 1, "step": 4990}, steps=5000).splitlines()
    assert len(lines) == 17
    assert lines[8].endswith("__ 4990 *")
    assert max(map(len, lines)) <= 100


def test_svg_of_the_staircase():
    drawn = picture("staircase", {"place": 1, "step": 2}, steps=3)
    assert labels(drawn) == ["fail", "1", "2", "3", "landing", "root"]
    assert len(shapes(drawn, "circle", fill=BLUE)) == 1
    assert len(shapes(drawn, "rect")) == 5
