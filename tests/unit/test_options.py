"""Options: merged, checked, and refused by name."""

import numpy
import pytest

from surefoot import DoctorOptions, ExploreOptions, InputError, SimulateOptions, domain, examine
from surefoot.options import MAX_INT, FaultOptions, FuzzOptions, chosen

HUGE = 10**5000


def test_keywords_change_given_options():
    given = SimulateOptions(runs=3, seed=7)
    assert chosen(SimulateOptions, given, {"seed": 8}) == SimulateOptions(runs=3, seed=8)
    assert chosen(SimulateOptions, given, {}) == given
    assert chosen(SimulateOptions, None, {}) == SimulateOptions()
    assert given.seed == 7


def test_numbers_of_other_libraries_become_plain():
    made = chosen(SimulateOptions, None, {"runs": numpy.int64(3), "max_seconds": 2})
    assert (made.runs, type(made.runs), type(made.max_seconds)) == (3, int, float)
    assert chosen(SimulateOptions, None, {"runs": None}).runs is None


def test_largest_values():
    made = chosen(ExploreOptions, None, {"memory_mb": MAX_INT, "max_seconds": 1e300})
    assert made.max_bytes == MAX_INT
    assert chosen(SimulateOptions, None, {"seed": 2**64 - 1}).seed == 2**64 - 1


@pytest.mark.parametrize(
    "name, hint",
    [("max_step", 'did you mean "max_steps"?'), ("zzz", "options are: "), ("max_states", "max_s")],
)
def test_unknown_names(name, hint):
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, None, {name: 3})
    assert caught.value.code == "unknown-option"
    assert name in caught.value.message
    assert hint in caught.value.hint


BAD_INTS = [-1, 2**64, 2.0, "3", True, None, HUGE, -HUGE, [1]]
BAD_SECONDS = [-1, float("nan"), float("inf"), "3", True, None, HUGE, [1]]


@pytest.mark.parametrize(
    "name, value",
    [
        *[("seed", value) for value in BAD_INTS],
        *[("memory_mb", value) for value in BAD_INTS],
        *[("runs", value) for value in BAD_INTS if value is not None],
        *[("max_seconds", value) for value in BAD_SECONDS],
    ],
    ids=lambda value: str(value)[:9] if value not in (HUGE, -HUGE) else "huge",
)
@pytest.mark.parametrize("as_object", [False, True])
def test_bad_values_name_the_option(name, value, as_object):
    given = SimulateOptions(**{name: value}) if as_object else None
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, given, {} if as_object else {name: value})
    assert caught.value.code == "bad-option"
    assert name in caught.value.message


def test_options_of_another_stage_are_refused():
    with pytest.raises(InputError) as caught:
        chosen(SimulateOptions, ExploreOptions(), {})
    assert caught.value.code == "bad-option"


def test_the_doctor_checks_too():
    task = domain("one-way-line", packages=1, locations=2)
    assert examine(task, options=DoctorOptions(samples=0), samples=5).sampled == 5
    for changes, code in (({"sample": 3}, "unknown-option"), ({"samples": -1}, "bad-option")):
        with pytest.raises(InputError) as caught:
            examine(task, **changes)
        assert caught.value.code == code


@pytest.mark.parametrize(
    "name, value",
    [("bias", 3), ("bias", None), ("perturb", True), ("lookahead", -1), ("runs", None)],
)
def test_bad_values_of_fuzzing_name_the_option(name, value):
    with pytest.raises(InputError) as caught:
        chosen(FuzzOptions, None, {name: value})
    assert caught.value.code == "bad-option"
    assert name in caught.value.message


@pytest.mark.parametrize("value", [1, 0, "yes", None])
def test_flags_are_true_or_false(value):
    with pytest.raises(InputError, match="bugs_only must be true or false"):
        chosen(FaultOptions, None, {"bugs_only": value})


@pytest.mark.parametrize("radius", [float("inf"), "inf", None])
def test_an_infinite_radius_is_none(radius):
    assert chosen(FaultOptions, None, {"radius": radius}).radius is None
