"""Gaps and bugs: Steinmetz et al. 2022, props. 8 and 9 and theorem 12, on random numbers."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from surefoot.objectives import (
    SAFETY,
    ZERO,
    Better,
    Bounds,
    Comparison,
    Interval,
    Value,
    compared,
    gap,
)

COST = replace(SAFETY, name="cost", range=Interval(ZERO, Value.of("inf")))
COVERAGE = replace(SAFETY, name="coverage", better=Better.HIGHER)
numbers = st.one_of(st.integers(0, 6), st.just("inf")).map(Value.of)


@st.composite
def situations(draw, better=Better.LOWER):
    """Return the best value, the policy's, and an interval around each."""
    best, policy = sorted([draw(numbers), draw(numbers)], reverse=better is Better.HIGHER)

    def around(value):
        ends = sorted([value, draw(numbers), draw(numbers)])
        return min(ends[0], value), max(ends[-1], value)

    return best, policy, Bounds(*around(best)), Interval(*around(policy))


@pytest.mark.parametrize("objective", [COST, COVERAGE])
@given(data=st.data())
def test_the_gap_is_within_its_interval_and_verdicts_are_right(objective, data):
    best, policy, bounds, interval = data.draw(situations(objective.better))
    exact = policy - best if objective.better is Better.LOWER else best - policy
    found = gap(objective, interval, bounds)
    assert found.lo <= exact <= found.hi
    verdict = compared(objective, interval, bounds)
    assert verdict != Comparison.BUG or exact > ZERO
    assert verdict != Comparison.NOT_A_BUG or exact == ZERO


@given(best=numbers, policy=numbers)
def test_exact_bounds_leave_nothing_unknown(best, policy):
    assume(best <= policy)
    verdict = compared(COST, Interval.exactly(policy), Bounds(best, best))
    assert verdict == (Comparison.BUG if best < policy else Comparison.NOT_A_BUG)


@given(here=situations(), first=situations())
def test_certified_fuzzing_bugs_are_bugs(here, first):
    """A larger gap than at the first state, for sure, is a gap (theorem 12)."""
    at_state, at_first = gap(COST, here[3], here[2]), gap(COST, first[3], first[2])
    if at_state.lo > at_first.hi:
        assert compared(COST, here[3], here[2]) is Comparison.BUG


def test_a_policy_that_cannot_win_is_not_a_bug():
    infinite = Value.of("inf")
    verdict = compared(COST, Interval.exactly(infinite), Bounds(infinite, infinite))
    assert verdict is Comparison.NOT_A_BUG


def test_a_policy_better_than_the_best_is_a_wrong_answer():
    with pytest.raises(ValueError, match="no value"):
        gap(COST, Interval.exactly(ZERO), Bounds(Value.of(1), Value.of(2)))
