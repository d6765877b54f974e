"""Families: parameters and sizes, rules as plain text."""

from __future__ import annotations

import math

import pytest

from surefoot import Description, InputError, Picture
from surefoot.domains.family import Family

__doc__ += """

``name`` and :class:`Other` stand out, as does *this*; 2 * depth + 3 * steps does not.
"""


def make(*, count: int = 2, step: float = 0.5, mode: str = "plain") -> Description:
    return Description(f"made-{count}-{step}-{mode}")


def draw(state, **_):
    return Picture(text=str(state), svg="<svg/>")


SIZES = {"tiny": {"count": 2}, "large": {"count": 9, "mode": "fancy"}}
FAMILY = Family("made", make=make, draw=draw, sizes=SIZES)
DEFAULTS = {"count": 2, "step": 0.5, "mode": "plain"}


def test_rules_are_the_docstring_without_marks():
    first, second = FAMILY.rules.split("\n\n")
    assert first == FAMILY.summary == "Families: parameters and sizes, rules as plain text."
    assert second == ("name and Other stand out, as does this; 2 * depth + 3 * steps does not.")


def test_defaults_are_those_of_the_function():
    assert FAMILY.defaults == DEFAULTS
    assert FAMILY.parameters({}) == DEFAULTS


@pytest.mark.parametrize(
    "given, changed",
    [
        ({"count": 3}, {"count": 3}),
        ({"step": 1}, {"step": 1}),
        ({"size": "large"}, {"count": 9, "mode": "fancy"}),
        ({"size": "large", "count": 4}, {"count": 4, "mode": "fancy"}),
        ({"count": 4, "size": "large"}, {"count": 4, "mode": "fancy"}),
        ({"size": "large", "count": 2}, {"count": 2, "mode": "fancy"}),
    ],
)
def test_parameters_win_over_the_size_and_the_size_over_defaults(given, changed):
    assert FAMILY.parameters(given) == DEFAULTS | changed


def test_sizes_are_not_changed_by_what_is_made_of_them():
    FAMILY.parameters({"size": "tiny"})["count"] = 77
    assert FAMILY.parameters({"size": "tiny"})["count"] == 2


@pytest.mark.parametrize(
    "given, code, hint",
    [
        ({"counts": 3}, "unknown-parameter", '"count"'),
        ({"zzz": 3}, "unknown-parameter", "count, step, mode, size"),
        ({"return": 3}, "unknown-parameter", "count, step, mode, size"),
        ({"size": "larg"}, "bad-parameter", '"large"'),
        ({"size": "zzz"}, "bad-parameter", "tiny, large"),
        ({"size": 3}, "bad-parameter", None),
        ({"size": None}, "bad-parameter", None),
        ({"count": 2.0}, "bad-parameter", None),
        ({"count": True}, "bad-parameter", None),
        ({"step": True}, "bad-parameter", None),
        ({"step": "1"}, "bad-parameter", None),
        ({"step": math.nan}, "bad-parameter", None),
        ({"step": -math.inf}, "bad-parameter", None),
        ({"mode": 3}, "bad-parameter", None),
    ],
)
def test_wrong_parameters(given, code, hint):
    with pytest.raises(InputError) as caught:
        FAMILY.parameters(given)
    assert caught.value.code == code
    assert hint is None or hint in caught.value.hint


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("count", "3", 3),
        ("count", "-3", -3),
        ("step", "0.25", 0.25),
        ("step", "3", 3.0),
        ("mode", "3", "3"),
        ("mode", "", ""),
        ("size", "15", "15"),
        ("nothing", "3", "3"),
    ],
)
def test_text_becomes_the_kind_of_the_parameter(name, text, value):
    found = FAMILY.value(name, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    "name, text",
    [("count", "many"), ("count", ""), ("count", "2.5"), ("count", "9" * 5000), ("step", "x")],
)
def test_text_that_is_no_number(name, text):
    with pytest.raises(InputError) as caught:
        FAMILY.value(name, text)
    assert caught.value.code == "bad-parameter"
    assert f'"{name}"' in caught.value.message
