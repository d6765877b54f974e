"""Errors as text."""

import pytest

from surefoot import InputError
from surefoot.errors import Refusal, Unsupported, shown

WHERE = {
    (None, None): "no [code]",
    ("a.jani", None): "a.jani: no [code]",
    (None, "/edges/3"): "/edges/3: no [code]",
    ("a.jani", "/edges/3"): "a.jani:/edges/3: no [code]",
    ("a\x1b[2J", None): "a\\x1b[2J: no [code]",
}


@pytest.mark.parametrize("where", WHERE)
def test_text_begins_with_the_place_if_there_is_one(where):
    file, place = where
    assert str(InputError("code", "no", file=file, place=place)) == WHERE[where]
    assert str(InputError("code", "no").at(file=file, place=place)) == WHERE[where]


def test_hint_has_a_line_of_its_own():
    assert str(InputError("code", "no", hint="yes")) == "no [code]\n  hint: yes"


def test_shown_values_are_short():
    assert shown("x\x1b") == "'x\\x1b'"
    assert len(shown(10**5000)) < 100
    assert len(shown([0] * 10**5)) <= 200


def test_what_is_nested_too_deep_is_shown_as_that():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(deep) == "something nested thousands of levels deep"


def test_refusal_becomes_the_error_that_says_it() -> None:
    refusal = Refusal("no-goal", "the task has no goal", "give --goal")
    error = refusal.error(file="truck.jani")
    assert isinstance(error, Unsupported)
    assert str(error) == "truck.jani: the task has no goal [no-goal]\n  hint: give --goal"
    assert str(refusal) == "the task has no goal"
