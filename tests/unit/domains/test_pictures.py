"""Canvas, Picture and window: SVG that parses, numbers that are short and the same everywhere."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from surefoot import Picture
from surefoot.domains.pictures import BLUE, RED, Canvas, window

SVG = "{http://www.w3.org/2000/svg}"


def parsed(canvas):
    return ElementTree.fromstring(canvas.svg())


def attributes(canvas):
    """Return tag and attributes of the shapes."""
    return [(shape.tag.removeprefix(SVG), shape.attrib) for shape in parsed(canvas)]


def test_an_empty_canvas_has_a_size():
    root = parsed(Canvas(30, 20.5))
    assert root.tag == f"{SVG}svg"
    assert (root.get("width"), root.get("height")) == ("30", "20.5")
    assert root.get("viewBox") == "0 0 30 20.5"
    assert len(root) == 0


def test_shapes_are_drawn_in_order():
    canvas = Canvas(100, 100)
    canvas.rectangle(1, 2, 3, 4, fill=BLUE)
    canvas.circle(5, 6, 7, line=RED)
    canvas.line(1, 2, 3, 4, width=2)
    (rect, box), (circle, disc), (line, stroke) = attributes(canvas)
    assert (rect, circle, line) == ("rect", "circle", "line")
    assert [box[key] for key in ("x", "y", "width", "height", "fill")] == ["1", "2", "3", "4", BLUE]
    assert [disc[key] for key in ("cx", "cy", "r", "stroke")] == ["5", "6", "7", RED]
    assert [stroke[key] for key in ("x1", "y1", "x2", "y2")] == ["1", "2", "3", "4"]
    assert stroke["stroke-width"] == "2"


@pytest.mark.parametrize(
    "number, text",
    [(0, "0"), (-0.0, "0"), (-0.001, "0"), (1 / 3, "0.33"), (-2.5, "-2.5"), (100, "100"),
     (1234567.891, "1234567.89"), (0.1 + 0.2, "0.3")],
)  # fmt: skip
def test_numbers_are_rounded_and_never_in_scientific_form(number, text):
    canvas = Canvas(1, 1)
    canvas.circle(number, 0, 1)
    assert parsed(canvas)[0].get("cx") == text


def test_labels_are_escaped():
    canvas = Canvas(10, 10)
    canvas.label(1, 2, '<b> & "c"', fill='"><script>')
    canvas.label(1, 2, 17)
    label, number = parsed(canvas)
    assert (label.text, number.text) == ('<b> & "c"', "17")
    assert label.get("fill") == '"><script>'
    assert label.get("text-anchor") == "middle"


def test_an_arrow_has_a_head_that_points_where_it_goes():
    canvas = Canvas(50, 50)
    canvas.arrow(0, 10, 20, 10)
    shaft, left, right = (shape for _, shape in attributes(canvas))
    assert (shaft["x1"], shaft["x2"]) == ("0", "20")
    for side in (left, right):
        assert (side["x1"], side["y1"], side["x2"]) == ("20", "10", "15")
    assert {left["y2"], right["y2"]} == {"7", "13"}


def test_an_arrow_of_no_length_has_no_head():
    canvas = Canvas(50, 50)
    canvas.arrow(3, 3, 3, 3)
    assert len(attributes(canvas)) == 1


def test_a_picture_shows_its_text_and_notebooks_its_svg():
    picture = Picture(text="a\nb", svg="<svg/>")
    assert str(picture) == "a\nb"
    assert picture._repr_svg_() == "<svg/>"


@pytest.mark.parametrize(
    "at, count, most, shown",
    [
        (0, 5, 10, range(5)),
        (4, 5, 5, range(5)),
        (0, 100, 10, range(10)),
        (5, 100, 10, range(10)),
        (50, 100, 10, range(45, 55)),
        (99, 100, 10, range(90, 100)),
        (50, 100, 9, range(46, 55)),
    ],
)
def test_window(at, count, most, shown):
    assert window(at, count, most) == shown


def test_a_window_always_shows_what_it_is_around():
    for count in range(1, 12):
        for most in range(1, 12):
            for at in range(count):
                shown = window(at, count, most)
                assert at in shown
                assert len(shown) == min(count, most)
                assert shown.start >= 0 and shown.stop <= count
