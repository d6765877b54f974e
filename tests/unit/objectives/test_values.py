"""Values, intervals and bounds: exact arithmetic, infinities, and what they look like in files."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot.objectives import ONE, SAFETY, ZERO, Bounds, Interval, Value

INF, MINUS_INF = Value.of(math.inf), Value.of(-math.inf)
values = st.one_of(
    st.fractions(), st.floats(allow_nan=False), st.integers(), st.sampled_from(["inf", "-inf"])
).map(Value.of)

JSON = {
    "whole": (Value.of(3), 3),
    "half": (Value.of(0.5), 0.5),
    "third": (Value.of(Fraction(1, 3)), "1/3"),
    "infinite": (INF, "inf"),
    "minus infinite": (MINUS_INF, "-inf"),
}


@pytest.mark.parametrize("name", JSON)
def test_values_stand_in_files_as_users_mean_them(name):
    value, content = JSON[name]
    assert value.to_json() == content
    assert Value.of(content) == value


@given(value=values)
def test_files_keep_a_value_exactly(value):
    assert Value.of(value.to_json()) == value


def test_a_tenth_is_the_double_and_not_the_decimal():
    assert Value.of(0.1) != Value.of("0.1") == Value.of(Fraction(1, 10))


def test_infinities_that_are_equal_have_no_difference():
    assert INF - INF == MINUS_INF - MINUS_INF == ZERO
    assert INF - ONE == INF - MINUS_INF == INF
    assert ONE - INF == MINUS_INF - INF == MINUS_INF


@given(a=values, b=values)
def test_differences_have_the_sign_of_the_order(a, b):
    assert (a < b) == (a - b < ZERO)
    assert (a == b) == (a - b == ZERO)


@pytest.mark.parametrize("nonsense", [math.nan, "nan", "much", ""])
def test_what_is_not_a_number_is_not_a_value(nonsense):
    with pytest.raises(ValueError):
        Value.of(nonsense)


def test_empty_intervals_are_refused():
    with pytest.raises(ValueError, match="at least 1 and at most 0"):
        Interval(ONE, ZERO)
    with pytest.raises(ValueError, match="at least 1 and at most 0"):
        Bounds(ONE, ZERO)


@pytest.mark.parametrize("verdict", ["safe", "unsafe", "unknown"])
def test_bounds_of_safety_and_verdicts_are_the_same(verdict):
    assert SAFETY.verdict(SAFETY.bounds(verdict)) == verdict
    assert SAFETY.document(SAFETY.bounds(verdict)) == {"verdict": verdict}


def test_texts():
    assert str(Interval(ZERO, INF)) == "[0, inf]"
    assert str(Interval.exactly(Value.of(0.5))) == "0.5"
    assert str(Value.of(Fraction(1, 3))) == "1/3"
